"""A raw number becomes a reading only when it can be true; otherwise it is missing, with the reason."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.core.metrics import METRICS, Kind, Unit
from gpumon_gui.core.values import Missing, Reading, Reason, checked, is_blank, number, text

NUMERIC = [metric for metric in METRICS.values() if metric.unit is not Unit.TEXT]
BLANKS = [
    0xFFFFFFFF,
    0xFFFFFFFFFFFFFFFF,
    *range(0x7FFFFFF0, 0x7FFFFFF4),  # DCGM: blank, not found, not supported, not permissioned
    *range(0x7FFFFFFFFFFFFFF0, 0x7FFFFFFFFFFFFFF4),
    float(2**47),
]


def refused(raw: float) -> set[str]:
    """The metrics for which ``raw`` cannot be."""
    values = {metric.id: checked(metric.id, raw, "nvml") for metric in NUMERIC}
    missing = {id_: value for id_, value in values.items() if isinstance(value, Missing)}
    assert {(value.reason, value.source) for value in missing.values()} <= {(Reason.IMPLAUSIBLE, "nvml")}
    return set(missing)


def test_both_bounds_are_readings() -> None:
    for metric in NUMERIC:
        for raw in (metric.low, metric.high if math.isfinite(metric.high) else 1e18):
            assert checked(metric.id, raw, "nvml") == Reading(raw, "nvml"), metric.id


@pytest.mark.parametrize("raw", [math.nan, math.inf, -math.inf, -1e9])
def test_nan_infinite_and_negative_are_implausible_everywhere(raw: float) -> None:
    assert refused(raw) == {metric.id for metric in NUMERIC}


@pytest.mark.parametrize("raw", BLANKS)
def test_patterns_for_no_value_are_implausible_everywhere(raw: float) -> None:
    assert refused(raw) >= {metric.id for metric in NUMERIC if metric.unit is not Unit.BITMASK}


def test_blanks_are_known_and_their_neighbours_are_not() -> None:
    assert all(is_blank(raw) for raw in BLANKS)
    assert not any(is_blank(raw) for raw in (0, 1, 0x7FFFFFEF, 0x7FFFFFF4, 0xFFFFFFFE, 0x100000000, 2**47 - 1))


def test_all_ones_is_no_set_of_throttle_reasons_but_single_high_bits_are() -> None:
    assert isinstance(checked("throttle_reasons", 0xFFFFFFFF, "nvml"), Missing)
    assert checked("throttle_reasons", 0x80000000, "nvml") == Reading(0x80000000, "nvml")


@pytest.mark.parametrize(
    ("metric", "raw"),
    [
        ("gpu_utilization", 1.01),  # percent passed as a fraction would be 37
        ("gpu_utilization", 37),
        ("temperature_c", 511),
        ("temperature_c", -41),
        ("power_w", 4_294_967.295),  # all-ones milliwatts, already divided
        ("pstate", 32),  # NVML_PSTATE_UNKNOWN
        ("memory_used_bytes", 2.0**60),
        ("clock_sm_mhz", 20_001),
        ("fan_ratio", 2.01),
    ],
)
def test_beyond_the_bounds_is_implausible_and_the_raw_number_is_kept(metric: str, raw: float) -> None:
    assert checked(metric, raw, "nvml") == Missing(Reason.IMPLAUSIBLE, "nvml", f"{raw:g}")


def test_nan_is_named() -> None:
    assert checked("power_w", math.nan, "nvml") == Missing(Reason.IMPLAUSIBLE, "nvml", "NaN")


@given(raw=st.one_of(st.floats(), st.integers(min_value=-(2**70), max_value=2**70)))
def test_a_number_is_kept_as_it_is_or_missing_never_clamped(raw: float) -> None:
    for metric in NUMERIC:
        value = checked(metric.id, raw, "pdh")
        if isinstance(value, Reading):
            assert value.value == raw
            assert metric.low <= raw <= metric.high
        else:
            assert value.reason is Reason.IMPLAUSIBLE


def test_zero_is_a_reading() -> None:
    assert checked("gpu_utilization", 0, "nvml") == Reading(0, "nvml")


def test_an_unknown_metric_is_a_bug() -> None:
    with pytest.raises(KeyError):
        checked("gpu_utilisation", 0.5, "nvml")


def test_number_and_text_give_none_for_missing() -> None:
    assert number(Reading(0, "nvml")) == 0
    assert number(Reading("WDDM", "nvml")) is None
    assert number(Missing(Reason.ASLEEP)) is None
    assert number(None) is None
    assert text(Reading("WDDM", "nvml")) == "WDDM"
    assert text(Missing(Reason.ASLEEP)) is None
    assert text(None) is None


def test_there_are_numeric_metrics_of_every_kind() -> None:
    assert {metric.kind for metric in NUMERIC} == set(Kind)
