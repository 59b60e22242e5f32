"""Which NVIDIA cards sleep, without touching them; in doubt a card is awake."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from gpumon_gui.telemetry.dxgi.pnp import PnpDevice
from gpumon_gui.telemetry.nvml.bus import LinuxBus, NoBus, WindowsBus
from gpumon_gui.telemetry.runtime_pm import RuntimeStatus
from gpumon_gui.telemetry.synthetic.scenario import Tree
from tests.unit.test_nvml_source import bus_card

INTEL = PnpDevice(1, (0, 2, 0), "", r"PCI\VEN_8086&DEV_46A6&SUBSYS_0&REV_0C\3&11583659&0&10")
NVIDIA = PnpDevice(2, (1, 0, 0), "", r"pci\ven_10de&dev_249d&subsys_0&rev_a1\4&2e2a4e7&0&0008")
ADDRESS = "00000000:01:00.0"


@dataclass
class FakePnp:
    present: tuple[PnpDevice, ...] = (INTEL, NVIDIA)
    state: dict[int, int] = field(default_factory=dict)

    def devices(self) -> tuple[PnpDevice, ...]:
        return self.present

    def power_state(self, node: int) -> int | None:
        return self.state.get(node)


def windows(pnp: FakePnp, *, battery: bool = True) -> WindowsBus:
    bus = WindowsBus(pnp, lambda: battery)
    bus.cards()
    return bus


def test_windows_lists_only_nvidias_cards() -> None:
    assert WindowsBus(FakePnp(), lambda: True).cards() == [(ADDRESS, None)]
    assert WindowsBus(FakePnp((INTEL,)), lambda: True).cards() == []


@pytest.mark.parametrize(("state", "asleep"), [(1, False), (2, True), (3, True), (4, True)])
def test_a_laptops_second_gpu_sleeps_in_every_state_but_d0(state: int, asleep: bool) -> None:
    power = windows(FakePnp(state={2: state})).power(ADDRESS)
    assert power.asleep is asleep
    assert power.can_sleep


def test_an_unknown_state_is_awake() -> None:
    power = windows(FakePnp()).power(ADDRESS)
    assert (power.status, power.asleep, power.can_sleep) == (RuntimeStatus.UNKNOWN, False, True)


@pytest.mark.parametrize(("pnp", "battery"), [(FakePnp(state={2: 4}), False), (FakePnp((NVIDIA,), {2: 4}), True)])
def test_a_desktop_or_an_only_gpu_is_never_hidden_by_what_its_driver_reports(pnp: FakePnp, battery: bool) -> None:
    power = windows(pnp, battery=battery).power(ADDRESS)
    assert not power.asleep
    assert not power.can_sleep


def test_a_card_that_is_not_listed_is_awake() -> None:
    assert not windows(FakePnp(state={2: 4})).power("00000000:99:00.0").asleep
    assert NoBus().cards() == []
    assert not NoBus().power(ADDRESS).asleep


def test_linux_lists_the_cards_of_the_driver_and_their_states() -> None:
    tree = Tree()
    bus_card(tree, "0000:01:00.0", status="suspended")
    bus_card(tree, "0000:02:00.0", driver="nouveau")
    bus = LinuxBus(tree.root)
    assert bus.cards() == [(ADDRESS, "NVIDIA From The Bus")]
    assert bus.power(ADDRESS).asleep
