"""The energy of devices: by their counter, else by power and time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpumon_gui.core.model import DeviceKey, Sample
from gpumon_gui.core.values import Reading, Value
from gpumon_gui.diagnosis.behaviour.energy import LONGEST_GAP_S, Energy
from tests.behaviour_samples import FULL, H200, story

BASE = story([H200, H200], [FULL, FULL], seconds=2, hz=1)[0]


def sample(at_s: float, **values: float) -> Sample:
    """Both devices read the same."""
    read: dict[str, Value] = {name: Reading(value, "test") for name, value in values.items()}
    return replace(
        BASE, monotonic_s=at_s, devices={key: replace(one, values=read) for key, one in BASE.devices.items()}
    )


READ = [sample(0, power_w=100), sample(10, power_w=100)]


def energy_of(*samples: Sample, only: tuple[DeviceKey, ...] | None = None) -> Energy:
    energy = Energy()
    for one in samples:
        energy.add(one, only)
    return energy


def test_power_times_time_without_the_time_asleep() -> None:
    later = 10 + LONGEST_GAP_S + 1
    found = energy_of(sample(0, power_w=100), sample(10, power_w=300), sample(later, power_w=300))
    assert found.named == {"GPU 0": 2000, "GPU 1": 2000}
    assert found.total_j == 4000


def test_the_counter_is_believed_before_power_and_over_a_driver_that_was_loaded_again() -> None:
    found = energy_of(
        sample(0, power_w=1, energy_j=500),
        sample(1, power_w=1, energy_j=650),  # how old the first reading was is not known
        sample(2, power_w=1, energy_j=750),
        sample(3, power_w=1),
        sample(4, power_w=1, energy_j=20),
        sample(5, power_w=1, energy_j=30),
    )
    assert found.named["GPU 0"] == 1 + 100 + 2 + 10
    assert energy_of(sample(0, energy_j=500), sample(1, energy_j=650)).named["GPU 0"] == 150


def test_a_counter_that_is_read_now_and_then_leaves_no_time_out() -> None:
    """Every 15 s, as the sampler does, for 40 s: the first and the last part are not lost, and nothing is doubled."""
    read = [sample(second, power_w=100, energy_j=7_000 + 100 * (second // 15 * 15)) for second in range(41)]
    assert energy_of(*read).named["GPU 0"] == pytest.approx(4_000)
    late = [sample(second, power_w=100, energy_j=7_000 + 100 * ((second + 7) // 15 * 15)) for second in range(41)]
    assert energy_of(*late).named["GPU 0"] == pytest.approx(4_000)


def test_only_the_devices_that_are_asked_for() -> None:
    key = BASE.inventory[1].key
    found = energy_of(sample(0, power_w=100), sample(10, power_w=100), only=(key,))
    assert found.joules == {key: 1000}
    assert found.named == {"GPU 1": 1000}


@pytest.mark.parametrize("values", [{}, {"energy_j": 7.0}])
def test_nothing_known_is_not_zero(values: dict[str, float]) -> None:
    assert energy_of(sample(0, **values), sample(1, **values)).total_j is None


def test_a_total_without_one_of_the_devices_is_none() -> None:
    blind = BASE.inventory[1].key
    seen = [replace(one, devices={**one.devices, blind: replace(one.devices[blind], values={})}) for one in READ]
    assert energy_of(*seen).named == {"GPU 0": 1000}
    assert energy_of(*seen).total_j is None


def test_a_device_that_takes_the_number_of_another_has_an_account_of_its_own() -> None:
    first, second = BASE.inventory
    early = replace(sample(0, energy_j=100), inventory=(first,))
    late = [replace(sample(at_s, energy_j=9_000 + at_s), inventory=(replace(second, index=0),)) for at_s in (10, 20)]
    assert energy_of(early, *late).joules == {second.key: 10}


def test_time_that_goes_back_uses_nothing() -> None:
    assert energy_of(sample(10, power_w=100), sample(5, power_w=100)).total_j is None
