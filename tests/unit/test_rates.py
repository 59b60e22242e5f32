"""Counters become speeds: over the measured time, over a wrap, and never over a reset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.rates import Rates

COUNTER, SPEED = "pcie_tx_total_bytes", "pcie_tx_bytes_per_s"
WRAPS_AT = METRICS[COUNTER].wraps_at


def speed(rates: Rates, raw: float, now_s: float, counter: str = COUNTER) -> Value:
    values = rates.extend("card", {counter: Reading(raw, "nvml")}, now_s)
    return values[METRICS[counter].rate]


def number(value: Value) -> float:
    assert isinstance(value, Reading), value
    return float(value.value)


def test_the_first_sample_has_no_speed() -> None:
    assert speed(Rates(), 5e9, 10.0, "energy_j") == Missing(Reason.FIRST_SAMPLE, "nvml")


def test_the_speed_is_over_the_measured_time() -> None:
    rates = Rates()
    speed(rates, 1000, 10.0)
    assert number(speed(rates, 4000, 12.5)) == 1200.0


@given(st.integers(0, WRAPS_AT - 1), st.integers(1, WRAPS_AT // 2 - 1), st.floats(0.1, 60.0))
def test_a_counter_survives_its_wrap(start: int, step: int, seconds: float) -> None:
    rates = Rates()
    speed(rates, start, 0.0)
    value = speed(rates, (start + step) % WRAPS_AT, seconds)
    if isinstance(value, Missing):  # it went back from the lower half: that is a reset as far as one can tell
        assert start + step >= WRAPS_AT
        assert start <= WRAPS_AT // 2
    else:
        assert number(value) == pytest.approx(step / seconds)


@given(st.integers(0, 2**53), st.integers(0, 2**53), st.floats(0.05, 600))
def test_a_speed_is_never_negative_or_absurd(before: int, after: int, seconds: float) -> None:
    for counter in (COUNTER, "energy_j", "process_read_bytes"):
        rates = Rates()
        speed(rates, before, 0.0, counter)
        value = speed(rates, after, seconds, counter)
        if isinstance(value, Reading):
            assert 0 <= float(value.value) <= METRICS[METRICS[counter].rate].high


def test_a_reset_costs_one_sample_and_no_more() -> None:
    rates = Rates()
    speed(rates, 9e6, 0.0, "energy_j")
    assert speed(rates, 100, 1.0, "energy_j") == Missing(Reason.FIRST_SAMPLE, "nvml", "counter was reset")
    assert number(speed(rates, 350, 2.0, "energy_j")) == 250.0


def test_a_reset_of_a_counter_that_wraps_is_not_taken_for_a_wrap() -> None:
    rates = Rates()
    speed(rates, WRAPS_AT // 3, 0.0)
    assert isinstance(speed(rates, 10, 1.0), Missing)


def test_a_missing_counter_gives_a_speed_missing_for_the_same_reason_and_starts_anew() -> None:
    rates = Rates()
    speed(rates, 1000, 0.0)
    lost = Missing(Reason.DEVICE_LOST, "nvml")
    assert rates.extend("card", {COUNTER: lost}, 1.0)[SPEED] is lost
    assert speed(rates, 9000, 2.0) == Missing(Reason.FIRST_SAMPLE, "nvml")


def test_a_counter_that_was_not_read_for_a_while_starts_anew() -> None:
    """It may have wrapped several times meanwhile."""
    rates = Rates()
    speed(rates, 1000, 0.0)
    rates.extend("card", {}, 1.0)
    assert speed(rates, 9000, 2.0) == Missing(Reason.FIRST_SAMPLE, "nvml")


def test_a_reading_kept_from_an_earlier_sweep_keeps_its_speed() -> None:
    rates = Rates()
    first, second = Reading(1000.0, "nvml"), Reading(4000.0, "nvml")
    for at_s, reading in ((0.0, first), (15.0, second), (16.0, second), (17.0, second)):
        value = rates.extend("card", {"energy_j": reading}, at_s)["power_energy_w"]
    assert number(value) == 200.0


def test_a_counter_that_stands_still_is_0() -> None:
    rates = Rates()
    speed(rates, 1000, 0.0)
    assert number(speed(rates, 1000, 1.0)) == 0.0


def test_two_samples_of_one_moment_have_no_speed() -> None:
    rates = Rates()
    speed(rates, 1000, 1.0)
    assert isinstance(speed(rates, 2000, 1.0), Missing)


def test_a_speed_the_source_gives_itself_is_kept() -> None:
    own = Reading(7.0, "nvml")
    values = Rates().extend("card", {COUNTER: Reading(1.0, "nvml"), SPEED: own}, 0.0)
    assert values[SPEED] is own


def test_owners_do_not_mix_and_can_be_forgotten() -> None:
    rates = Rates()
    rates.extend("a", {COUNTER: Reading(1000.0, "nvml")}, 0.0)
    assert isinstance(rates.extend("b", {COUNTER: Reading(9000.0, "nvml")}, 1.0)[SPEED], Missing)
    rates.forget({"b"})
    assert isinstance(rates.extend("a", {COUNTER: Reading(2000.0, "nvml")}, 2.0)[SPEED], Missing)
    assert number(rates.extend("b", {COUNTER: Reading(9500.0, "nvml")}, 2.0)[SPEED]) == 500.0


def test_values_without_counters_pass_untouched() -> None:
    values = {"power_w": Reading(3.0, "nvml")}
    assert Rates().extend("card", values, 0.0) is values
