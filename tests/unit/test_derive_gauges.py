"""Why the gauges differ, on the figures of real workloads; and what is normal."""

from __future__ import annotations

import pytest

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceState, EngineSample
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.derive.gauges import Level, gauges, verdict
from gpumon_gui.telemetry.derive.indicators import Indicator, Judgement, Past, indicators
from tests.qt.samples import GIB, device_values, make_device, make_info, windows_engines


def judged(
    engines: tuple[EngineSample, ...] = (),
    state: DeviceState = DeviceState.OK,
    changed: dict[str, Value] | None = None,
    **means: float,
) -> tuple[str, Level]:
    device = make_device(0, device_values(0.5) | (changed or {}), engines, state)
    found = verdict(device, make_info(), lambda column: means.get(column.replace("engine:phys_0_", "")))
    text = _(found.message).format(**dict.fromkeys(found.params, "50 %"), **found.names)
    assert "{" not in text
    return found.code, found.level


# H200, means of the last seconds of recorded workloads: utilization, SM activity, watts.
@pytest.mark.parametrize(
    ("workload", "util", "sm", "watts", "code"),
    [
        ("ResNet-50 AMP", 1.00, 0.92, 629, "agree"),
        ("fp32", 0.99, 0.93, 585, "agree"),
        ("no data workers", 0.17, 0.12, 172, "agree"),
        ("tiny batch", 0.14, 0.011, 126, "small-kernels"),
        ("pageable copies", 0.14, 0.003, 127, "small-kernels"),
        ("on the CPU", 0.0, 0.0, 80, "idle"),
        ("matmul peak", 1.0, 0.96, 691, "agree"),
        ("DDP rank that waits", 0.91, 0.30, 273, "few-sms"),
        ("DDP rank that works", 0.97, 0.90, 692, "agree"),
    ],
)
def test_recorded_workloads(workload: str, util: float, sm: float, watts: float, code: str) -> None:
    assert judged(gpu_utilization=util, sm_activity=sm, power_w=watts)[0] == code, workload


def test_system_far_above_the_driver_is_launch_bound() -> None:
    busy = windows_engines({"Cuda": 0.97})
    assert judged(busy, gpu_utilization=0.36, eng_6=0.97) == ("launch-bound", Level.DIFFER)
    assert judged(busy, gpu_utilization=0.90, eng_6=0.97)[0] == "agree"
    assert judged(busy, gpu_utilization=0.90, eng_6=0.10)[0] == "system-blind"


def test_video_engines_are_not_in_gpu_util() -> None:
    assert judged(windows_engines({"VideoEncode": 1.0}), gpu_utilization=0.07, eng_6=0.05, eng_5=1.0) == (
        "media-engines",
        Level.DIFFER,
    )
    assert judged(gpu_utilization=0.07, encoder_utilization=1.0, power_w=80.0)[0] == "media-engines"


def test_high_utilization_at_low_power_without_sm_activity() -> None:
    assert judged(gpu_utilization=0.95, power_w=250.0) == ("low-power", Level.DIFFER)


def test_nothing_is_claimed_without_instruments() -> None:
    assert judged(gpu_utilization=0.9)[1] is Level.UNKNOWN
    assert judged(state=DeviceState.LOST, gpu_utilization=0.9, sm_activity=0.9)[0] == "no-values"
    split: dict[str, Value] = {"gpu_utilization": Missing(Reason.MIG, "nvml")}
    assert judged(changed=split, sm_activity=0.5, power_w=300.0)[0] == "mig"


def test_gauges_keep_their_reasons() -> None:
    device = make_device(0, device_values(0.5, details=False), windows_engines({"Cuda": 0.9}))
    found = {gauge.id: gauge for gauge in gauges(device, make_info())}
    assert found["sm"].value == Missing(Reason.NOT_SUPPORTED)
    assert found["os"].detail == "Cuda"
    assert found["power"].value == Reading(390.0 / 700.0, "nvml")
    assert isinstance(found["tensor"].value, Missing)


def rows(
    changed: dict[str, Value], load: float | None = 0.9, still: bool = False, holds: bool = True
) -> dict[str, Indicator]:
    past = Past(
        lambda column: load if column == "gpu_utilization" else None,
        lambda _column: 0.0 if still else 2.0 * GIB,
    )
    device = make_device(0, device_values(0.9) | changed)
    return {row.id: row for row in indicators(device, make_info(), past, holds)}


@pytest.mark.parametrize(
    ("load", "holds", "judgement"),
    [
        (0.0, True, Judgement.BAD),
        (0.0, False, Judgement.NEUTRAL),
        (0.14, True, Judgement.ATTENTION),
        (0.5, True, Judgement.GOOD),
        (0.9, True, Judgement.GOOD),
        (None, True, Judgement.UNKNOWN),
    ],
)
def test_utilization_row(load: float | None, holds: bool, judgement: Judgement) -> None:
    assert rows({}, load, holds=holds)["utilization"].judgement is judgement


def test_memory_row() -> None:
    assert rows({})["memory"].judgement is Judgement.GOOD
    assert rows({"memory_used_bytes": Reading(138 * GIB, "nvml")})["memory"].judgement is Judgement.ATTENTION
    assert rows({}, load=0.0, still=True)["memory"].judgement is Judgement.ATTENTION
    assert rows({}, load=0.9, still=True)["memory"].judgement is Judgement.GOOD  # a caching allocator stands still
    assert rows({}, holds=False)["memory"].judgement is Judgement.NEUTRAL


@pytest.mark.parametrize(
    ("state", "load", "judgement"),
    [
        (0, 0.9, Judgement.GOOD),
        (2, 0.9, Judgement.GOOD),
        (5, 0.9, Judgement.ATTENTION),
        (8, 0.9, Judgement.BAD),
        (8, 0.0, Judgement.NEUTRAL),
    ],
)
def test_pstate_row(state: int, load: float, judgement: Judgement) -> None:
    assert rows({"pstate": Reading(state, "nvml")}, load)["pstate"].judgement is judgement


@pytest.mark.parametrize(
    ("degrees", "judgement"), [(57, Judgement.GOOD), (88, Judgement.ATTENTION), (93, Judgement.BAD)]
)
def test_temperature_row(degrees: float, judgement: Judgement) -> None:
    assert rows({"temperature_c": Reading(degrees, "nvml")})["temperature"].judgement is judgement


@pytest.mark.parametrize(
    ("mask", "judgement"),
    [(0x4, Judgement.GOOD), (0x40, Judgement.BAD), (0x20, Judgement.BAD), (0x80, Judgement.BAD), (0, Judgement.GOOD)],
)
def test_power_row(mask: int, judgement: Judgement) -> None:
    assert rows({"throttle_reasons": Reading(mask, "nvml")})["power"].judgement is judgement


def test_missing_values_are_not_judged() -> None:
    values: dict[str, Value] = {
        m: Missing(Reason.NOT_SUPPORTED)
        for m in ("pstate", "temperature_c", "throttle_reasons", "memory_used_bytes", "power_w")
    }
    found = rows(values)
    assert {found[i].judgement for i in ("memory", "pstate", "temperature", "power")} == {Judgement.UNKNOWN}
