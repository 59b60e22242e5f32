"""One NVIDIA card: every figure in canonical units, asked for as seldom as it may be, and never a number for none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import DeviceSample, DeviceState
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.nvml.frozen import FROZEN_S, FrozenPower
from gpumon_gui.telemetry.nvml.getters import FIELDS, GPM_METRICS, PCIE_FIELDS, SCALARS, Group
from gpumon_gui.telemetry.nvml.library import Library, NvmlError
from gpumon_gui.telemetry.nvml.session import Session
from gpumon_gui.telemetry.synthetic.cards import A100, H200, RTX_4090, card
from gpumon_gui.telemetry.synthetic.loads import idle, steady
from gpumon_gui.telemetry.synthetic.nvml_library import (
    ALL_ONES_32,
    GPU_IS_LOST,
    NO_PERMISSION,
    UNINITIALIZED,
    Card,
    Code,
    Driver,
    Fault,
    NvmlStandIn,
)
from gpumon_gui.telemetry.synthetic.scenario import NOWHERE

GIB = 1 << 30


class Bench:
    """A session over one card."""

    def __init__(self, board: Card, **driver: Any) -> None:
        self.clock = FakeClock()
        self.library = NvmlStandIn(Driver([board], **driver), self.clock)
        self.session = Session(Library(self.library, "stand-in"), NOWHERE, asleep=frozenset())

    def read(self, *, details: bool = True) -> DeviceSample:
        (sample,) = self.session.read(self.clock.now().monotonic_s, details=details).values()
        return sample

    def values(self, *, details: bool = True) -> dict[str, Value]:
        return dict(self.read(details=details).values)

    def static(self) -> dict[str, Value]:
        return dict(self.session.infos[0].static)


def value_of(value: Value) -> float:
    assert isinstance(value, Reading), value
    assert not isinstance(value.value, str)
    return value.value


# -- figures ---------------------------------------------------------------------------------------------------------


def test_each_figure_comes_in_canonical_units() -> None:
    board = card(A100)
    board.figures.update(
        {
            "utilization": 95,
            "memory_utilization": 41,
            "temperature.0": 61,
            "power": 312_456,
            "clock.0": 1410,
            "clock.1": 1405,
            "clock.2": 1593,
            "clock.3": 1290,
            "pstate": 2,
            "throttle": 0x24,
            "encoder": 3,
            "decoder": 4,
            "jpeg": 5,
            "ofa": 6,
            "power_limit": 400_000,
            "fan": 37,
            "pcie_gen": 4,
            "pcie_width": 16,
            "pcie_replays": 7,
            "energy": 123_456_789,
            "ecc.0.0": 8,
            "ecc.1.0": 1,
            "memory_total": 80 * GIB,
            "memory_used": 21 * GIB,
            "memory_free": 57 * GIB,
            "memory_reserved": 2 * GIB,
            "field.82": 71,
            "field.186": 320_000,
            "field.197": 11,
            "field.198": 12,
        }
    )
    values = {metric: value_of(value) for metric, value in Bench(board).values().items()}
    assert values == {
        "gpu_utilization": 0.95,
        "memory_utilization": 0.41,
        "temperature_c": 61,
        "power_w": 312.456,
        "clock_graphics_mhz": 1410,
        "clock_sm_mhz": 1405,
        "clock_memory_mhz": 1593,
        "clock_video_mhz": 1290,
        "pstate": 2,
        "throttle_reasons": 0x24,
        "encoder_utilization": 0.03,
        "decoder_utilization": 0.04,
        "jpeg_utilization": 0.05,
        "ofa_utilization": 0.06,
        "power_limit_w": 400.0,
        "fan_ratio": 0.37,
        "pcie_gen": 4,
        "pcie_width": 16,
        "pcie_replays": 7,
        "energy_j": 123_456.789,
        "ecc_corrected": 8,
        "ecc_uncorrected": 1,
        "memory_total_bytes": 80 * GIB,
        "memory_used_bytes": 21 * GIB,
        "memory_free_bytes": 57 * GIB,
        "memory_reserved_bytes": 2 * GIB,
        "memory_temperature_c": 71,
        "power_instant_w": 320.0,
        "pcie_tx_total_bytes": 11,
        "pcie_rx_total_bytes": 12,
    }


def test_every_getter_of_the_tables_is_read_on_a_card_that_has_all() -> None:
    board = card(A100, steady(0.5))
    board.figures["fan"] = 30
    values = Bench(board).values()
    metrics = [scalar.metric for scalar in SCALARS] + [field.metric for field in FIELDS + PCIE_FIELDS]
    for metric in metrics:
        assert isinstance(values[metric], Reading), metric


def test_what_a_card_is() -> None:
    static = Bench(card(A100)).static()
    expected = {
        "driver_version": "580.159.03",
        "cuda_driver_version": "13.0",
        "architecture": "Ampere",
        "compute_capability": "8.0",
        "core_count": 6912,
        "memory_bus_bits": 5120,
        "power_limit_max_w": 400.0,
        "power_limit_min_w": 120.0,
        "temperature_slowdown_c": 95,
        "pcie_gen_max": 4,
        "persistence_mode": "Enabled",
        "ecc_mode": "Enabled",
        "virtualization": "None",
        "bar1_total_bytes": 256 << 20,
    }
    assert {name: static[name].value for name in expected} == expected  # type: ignore[union-attr]


def test_hardware_counters_are_of_the_interval_between_two_looks() -> None:
    board = card(H200)
    board.figures.update({f"gpm.{metric.gpm_id}": 25.0 for metric in GPM_METRICS})
    board.figures["gpm.2"] = lambda now_s: 100.0 if now_s < 1 else 20.0
    bench = Bench(board)
    for metric in GPM_METRICS:
        assert bench.read().values[metric.metric] == Missing(Reason.FIRST_SAMPLE, "nvml")
        break
    bench.clock.advance(1.0)
    values = bench.values()
    assert value_of(values["sm_activity"]) == 1.0
    assert value_of(values["tensor_activity"]) == 0.25
    assert value_of(values["pcie_rx_bytes_per_s"]) == 25.0 * (1 << 20)
    bench.clock.advance(1.0)
    assert value_of(bench.values()["sm_activity"]) == 0.2


# -- how often -------------------------------------------------------------------------------------------------------


def test_what_is_not_supported_is_asked_once() -> None:
    board = card(RTX_4090)
    for name in ("encoder", "power_limit", "utilization", "field.82", "energy"):
        board.figures.pop(name, None)
    bench = Bench(board)
    for _ in range(40):
        values = bench.values()
        bench.clock.advance(1.0)
    for metric in ("encoder_utilization", "power_limit_w", "gpu_utilization", "memory_temperature_c", "energy_j"):
        assert values[metric] == Missing(Reason.NOT_SUPPORTED, "nvml")
    for symbol in (
        "nvmlDeviceGetEncoderUtilization",
        "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetTotalEnergyConsumption",
    ):
        assert bench.library.calls[symbol] == 1, symbol


def test_dear_figures_keep_their_value_between_rare_reads() -> None:
    bench = Bench(card(A100, steady(0.5)))
    energies = []
    for _ in range(31):
        energies.append(bench.values()["energy_j"])
        bench.clock.advance(1.0)
    assert len({id(value) for value in energies}) == 3
    assert bench.library.calls["nvmlDeviceGetTotalEnergyConsumption"] == 3  # every 15 s
    assert bench.library.calls["nvmlDeviceGetCurrPcieLinkGeneration"] == 7  # every 5 s


def test_no_call_is_made_that_costs_21_ms() -> None:
    bench = Bench(card(A100, steady(0.5)))
    bench.read()
    assert "nvmlDeviceGetPcieThroughput" not in bench.library.calls


# -- trouble ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "reason", "detail"),
    [
        (NO_PERMISSION, Reason.NO_PERMISSION, ""),
        (999, Reason.ERROR, "NVML_ERROR_UNKNOWN"),
        (10, Reason.ERROR, "NVML_ERROR_TIMEOUT"),
    ],
)
def test_a_failing_getter_says_why_and_is_tried_again(code: int, reason: Reason, detail: str) -> None:
    board = card(A100, steady(0.5))
    board.figures["power"] = lambda now_s: Code(code) if now_s < 2 else 300_000
    bench = Bench(board)
    assert bench.values()["power_w"] == Missing(reason, "nvml", detail)
    bench.clock.advance(3.0)
    assert value_of(bench.values()["power_w"]) == 300.0


def test_a_lost_card_is_a_sample_too() -> None:
    board = card(A100, steady(0.5))
    board.lost_from_s = 1.0
    bench = Bench(board)
    assert bench.read().state is DeviceState.OK
    bench.clock.advance(1.0)
    sample = bench.read()
    assert sample.state is DeviceState.LOST
    assert sample.values["power_w"] == Missing(Reason.DEVICE_LOST, "nvml", "NVML_ERROR_GPU_IS_LOST")


def test_the_end_of_the_session_is_told_from_the_loss_of_a_card() -> None:
    bench = Bench(card(A100), faults=(Fault(lambda: UNINITIALIZED, "nvmlDeviceGetPowerUsage"),))
    with pytest.raises(NvmlError) as error:
        bench.read()
    assert error.value.code == UNINITIALIZED


@pytest.mark.parametrize("symbol", ["nvmlDeviceGetFieldValues", "nvmlDeviceGetUtilizationRates"])
def test_loss_is_noticed_in_whichever_call(symbol: str) -> None:
    bench = Bench(card(A100), faults=(Fault(lambda: GPU_IS_LOST, symbol),))
    assert bench.read().state is DeviceState.LOST


def test_memory_of_an_old_driver_counts_what_is_reserved() -> None:
    board = card(A100)
    board.figures["memory_used"] = board.figures["memory_used_v1"] = 0
    board.figures["memory_used_v1"] = 3 * GIB
    values = Bench(board, missing=frozenset({"nvmlDeviceGetMemoryInfo_v2"})).values()
    assert value_of(values["memory_used_bytes"]) == 3 * GIB
    assert "memory_reserved_bytes" not in values


def test_more_memory_in_use_than_there_is_cannot_be() -> None:
    board = card(A100)
    board.figures["memory_used"] = 81 * GIB
    assert isinstance(Bench(board).values()["memory_used_bytes"], Missing)


def test_an_unknown_pstate_is_no_number() -> None:
    board = card(A100)
    board.figures["pstate"] = 32  # nvml.h: NVML_PSTATE_UNKNOWN
    assert Bench(board).values()["pstate"] == Missing(Reason.NOT_SUPPORTED, "nvml", "NVML_PSTATE_UNKNOWN")


@pytest.mark.parametrize(("known", "bound_w"), [("power_limit_max", 800), ("power_limit", 300), (None, None)])
def test_power_is_bounded_by_what_the_board_may_draw(known: str | None, bound_w: int | None) -> None:
    board = card(A100)
    for name in ("power_limit", "power_limit_default", "power_limit_min", "power_limit_max"):
        board.figures.pop(name)
    if known is not None:
        board.figures[known] = 400_000 if known == "power_limit_max" else 150_000
        board.figures["power_limit_min"] = board.figures.get("power_limit_max", 0)
    for power_w in (100, 299, 790, 2000):
        board.figures["power"] = 1000 * power_w
        value = Bench(board).values()["power_w"]
        if bound_w is None or power_w < bound_w:
            assert value_of(value) == power_w
        else:
            assert value == Missing(Reason.IMPLAUSIBLE, "nvml", f"{power_w} W")


def test_one_impossible_figure_is_a_fault_of_the_figure_three_are_one_of_the_driver() -> None:
    board = card(A100)
    board.figures["temperature.0"] = ALL_ONES_32
    assert Bench(board).read().state is DeviceState.OK
    board.figures.update({"power": ALL_ONES_32, "utilization": ALL_ONES_32})
    assert Bench(board).read().state is DeviceState.SICK


def test_what_cannot_be_is_told_in_every_sweep_and_what_can_be_returns() -> None:
    board = card(A100)
    right = {"temperature.0": 61, "utilization": 40, "memory_used": 9 * GIB}
    board.figures.update(right)
    wrong = {"temperature.0": ALL_ONES_32, "utilization": 101, "memory_used": 81 * GIB}
    bench = Bench(board)
    before = bench.read()
    for figures, state in ((wrong, DeviceState.SICK), (wrong, DeviceState.SICK), (right, DeviceState.OK)):
        board.figures.update(figures)
        bench.clock.advance(1.0)
        sample = bench.read()
        assert sample.state is state
        for metric in ("temperature_c", "gpu_utilization", "memory_used_bytes"):
            if state is DeviceState.OK:
                assert sample.values[metric] == before.values[metric]
            else:
                value = sample.values[metric]
                assert isinstance(value, Missing)
                assert value.reason is Reason.IMPLAUSIBLE


def test_hardware_counters_that_are_nan_do_not_make_the_card_sick() -> None:
    board = card(H200)
    board.figures.update({f"gpm.{metric.gpm_id}": math.nan for metric in GPM_METRICS})
    bench = Bench(board)
    bench.read()
    bench.clock.advance(1.0)
    sample = bench.read()
    assert sample.state is DeviceState.OK
    assert sample.values["sm_activity"] == Missing(Reason.IMPLAUSIBLE, "nvml", "NaN")


def test_utilization_of_a_split_card_is_undefined_not_0() -> None:
    board = card(A100)
    board.figures.update({"mig_mode": 1, "utilization": 0})
    values = Bench(board).values()
    assert values["gpu_utilization"] == Missing(Reason.MIG, "nvml")
    assert values["memory_utilization"] == Missing(Reason.MIG, "nvml")


def test_groups_have_the_cadence_their_cost_allows() -> None:
    assert {scalar.metric for scalar in SCALARS if scalar.group is Group.SLOW} == {
        "pcie_replays",
        "energy_j",
        "ecc_corrected",
        "ecc_uncorrected",
    }


# -- frozen power ----------------------------------------------------------------------------------------------------


def frozen(readings: Sequence[tuple[float, float | None, float, float]]) -> bool:
    watch = FrozenPower()
    return [watch.saw(*reading) for reading in readings][-1]


def test_power_that_stands_still_under_changing_load_is_frozen() -> None:
    assert frozen([(float(s), 34.2, 210.0 if s < 10 else 2500.0, 40.0) for s in range(int(FROZEN_S) + 1)])
    assert frozen([(float(s), 34.2, 2000.0, 40.0 + s / 2) for s in range(int(FROZEN_S) + 1)])


def test_power_that_stands_still_on_an_idle_card_is_believed() -> None:
    assert not frozen([(float(s), 34.2, 210.0, 40.0) for s in range(600)])


def test_one_other_reading_thaws() -> None:
    readings = [(float(s), 34.2, 210.0 if s < 10 else 2500.0, 40.0) for s in range(60)]
    assert frozen(readings)
    assert not frozen([*readings, (60.0, 34.3, 2500.0, 40.0)])


def test_zero_and_missing_power_are_not_frozen() -> None:
    assert not frozen([(float(s), 0.0, 210.0 if s < 10 else 2500.0, 40.0) for s in range(60)])
    assert not frozen([(float(s), None, 210.0 if s < 10 else 2500.0, 40.0) for s in range(60)])


def test_idle_card_reads_zero_where_zero_is_true() -> None:
    values = Bench(card(RTX_4090, idle)).values()
    assert value_of(values["gpu_utilization"]) == 0.0
    assert value_of(values["fan_ratio"]) == 0.0
