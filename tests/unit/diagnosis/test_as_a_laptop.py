"""The labelled recordings as a small card would show them: 60 W, 6 GB, half the link, no hardware counters, nothing
counted per process. The same is wrong with the programs, so the same must be said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest

from gpumon_gui.core.model import DeviceInfo, DeviceSample, ProcessSample, Sample
from gpumon_gui.core.values import Reading, Value
from gpumon_gui.diagnosis.behaviour.judge import judge
from tests.benchmarks.score_traces import TRACES, Labelled, Scored, load, one_hertz, said, samples_of, without_both

#: What the recorded card draws without and with a program, and at most; and the small one. Watts.
_ASLEEP, _WAITING, _MOST = 100.0, 124.0, 691.0
_SMALL_ASLEEP, _SMALL_WAITING, _SMALL_MOST = 9.0, 15.0, 58.0
_MEMORY, _CLOCK, _LINK = 6 / 141, 1700 / 1980, 0.6
#: Without hardware counters nobody can tell which units compute.
UNDECIDABLE = {"fp32_no_tensor_cores"}


def watts(value: float) -> float:
    if value < _ASLEEP:
        return _SMALL_ASLEEP
    return _SMALL_WAITING + (value - _WAITING) / (_MOST - _WAITING) * (_SMALL_MOST - _SMALL_WAITING)


SCALES: Mapping[str, Callable[[float], float]] = {
    "power_w": watts,
    **dict.fromkeys(
        ("power_limit_w", "power_limit_default_w", "power_limit_min_w", "power_limit_max_w"), lambda _value: 60.0
    ),
    **dict.fromkeys(("power_instant_w", "power_average_w", "power_energy_w"), watts),
    **dict.fromkeys(("clock_sm_mhz", "clock_sm_max_mhz", "clock_graphics_mhz"), lambda value: value * _CLOCK),
    **dict.fromkeys(("pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s"), lambda value: value * _LINK),
    **dict.fromkeys(
        (
            *("memory_used_bytes", "memory_free_bytes", "memory_total_bytes", "memory_reserved_bytes"),
            "process_memory_bytes",
        ),
        lambda value: value * _MEMORY,
    ),
}


def scaled(values: Mapping[str, Value]) -> Mapping[str, Value]:
    return MappingProxyType({name: _scaled(name, value) for name, value in values.items()})


def _scaled(name: str, value: Value) -> Value:
    if name not in SCALES or not isinstance(value, Reading) or isinstance(value.value, str):
        return value
    return Reading(SCALES[name](value.value), value.source)


def as_laptop(samples: Sequence[Sample]) -> list[Sample]:
    """The same work on a small card."""

    def info(one: DeviceInfo) -> DeviceInfo:
        return replace(one, name="NVIDIA GeForce RTX 3060 Laptop GPU", static=scaled(one.static))

    def device(one: DeviceSample) -> DeviceSample:
        return replace(one, values=scaled(one.values))

    def process(one: ProcessSample) -> ProcessSample:
        return replace(one, uses=tuple(replace(use, values=scaled(use.values)) for use in one.uses))

    return [
        replace(
            sample,
            inventory=tuple(info(one) for one in sample.inventory),
            devices=MappingProxyType({key: device(one) for key, one in sample.devices.items()}),
            processes=tuple(process(one) for one in sample.processes),
        )
        for sample in without_both(samples)
    ]


@pytest.mark.parametrize("label", load(TRACES), ids=lambda label: label.workload)
def test_the_same_is_said_of_a_small_card(label: Labelled) -> None:
    samples = as_laptop(samples_of(label.path))
    for name, copy in (("whole", samples), ("1 Hz", one_hertz(samples))):
        diagnosis = judge(copy).diagnosis
        scored = Scored(label, name, diagnosis.findings, tuple(bug.error for bug in diagnosis.bugs))
        assert not scored.bugs
        assert not scored.wrong, f"{name}: {said(scored)}"
        if label.workload not in UNDECIDABLE:
            assert not scored.missing, f"{name}: {said(scored)}"
