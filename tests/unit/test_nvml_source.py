"""The NVML source: when it starts a session, when it ends one, and what it says about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpumon_gui.core.clock import FakeClock, Instant
from gpumon_gui.core.model import Demand, DeviceInfo, DeviceKind, DeviceSample, DeviceState, SourceState
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.telemetry.base import SourceUnavailable
from gpumon_gui.telemetry.nvml.library import Library, decode, error_name, is_rubbish, load
from gpumon_gui.telemetry.nvml.source import NvmlSource
from gpumon_gui.telemetry.synthetic.cards import A100, H200, RTX_4090, card
from gpumon_gui.telemetry.synthetic.loads import steady
from gpumon_gui.telemetry.synthetic.nvml_library import (
    BEFORE_2017,
    GPU_IS_LOST,
    Card,
    Code,
    Driver,
    Instance,
    NvmlStandIn,
)
from gpumon_gui.telemetry.synthetic.scenario import NOWHERE, Tree

DETAILS = Demand()
CORE = Demand(details=False)


class Desk:
    """A source over a stand-in driver, and a clock."""

    def __init__(self, driver: Driver, root: Path = NOWHERE, platform: str = "linux") -> None:
        self.clock = FakeClock()
        self.driver = driver
        self.library = NvmlStandIn(driver, self.clock)
        self.source = NvmlSource(lambda: Library(self.library, "stand-in"), root, platform)
        self.source.open()

    def look(self, demand: Demand = DETAILS) -> list[tuple[DeviceInfo, DeviceSample]]:
        now = self.clock.now()
        infos = self.source.devices(now)
        samples = self.source.read(now, demand)
        assert {info.key for info in infos} == set(samples)
        return [(info, samples[info.key]) for info in infos]

    def watch(self, seconds: int, demand: Demand = DETAILS) -> Iterator[list[tuple[DeviceInfo, DeviceSample]]]:
        for _ in range(seconds):
            yield self.look(demand)
            self.clock.advance(1.0)

    def rest(self, seconds: int) -> None:
        for _ in self.watch(seconds):
            pass

    @property
    def starts(self) -> int:
        return self.library.calls.get("nvmlInit_v2", 0) + self.library.calls.get("nvmlInitWithFlags", 0)

    def codes(self) -> list[str]:
        return [note.code for note in self.source.notes()]


def bus_card(tree: Tree, slot: str, driver: str = "nvidia", status: str = "active") -> None:
    base = f"sys/bus/pci/devices/{slot}"
    tree.write(f"{base}/vendor", "0x10de")
    tree.write(f"{base}/class", "0x030200")
    tree.write(f"{base}/power/control", "on")
    tree.write(f"{base}/power/runtime_status", status)
    tree.write(f"sys/bus/pci/drivers/{driver}/module", "")
    tree.link(f"{base}/driver", f"sys/bus/pci/drivers/{driver}")
    tree.write(f"proc/driver/nvidia/gpus/{slot}/information", "Model: \t\t NVIDIA From The Bus")


# -- what it costs -------------------------------------------------------------------------------------------------


def test_one_session_serves_all_sweeps() -> None:
    desk = Desk(Driver([card(H200, steady(0.5))]))
    desk.rest(120)
    assert desk.starts == 1


def test_dear_figures_are_left_alone_while_nobody_looks() -> None:
    desk = Desk(Driver([card(H200, steady(0.5))]))
    for _ in desk.watch(10, CORE):
        pass
    for name in ("nvmlGpmSampleGet", "nvmlGpmMetricsGet", "nvmlDeviceGetFieldValues"):
        assert name not in desk.library.calls
    assert desk.library.calls["nvmlDeviceGetTotalEnergyConsumption"] == 1
    assert desk.library.calls["nvmlDeviceGetUtilizationRates"] == 10


def test_an_interval_nobody_looked_at_is_not_shown_as_now() -> None:
    desk = Desk(Driver([card(H200, steady(0.5))]))
    desk.rest(3)
    for _ in desk.watch(60, CORE):
        pass
    ((_info, sample),) = desk.look()
    assert sample.values["sm_activity"] == Missing(Reason.FIRST_SAMPLE, "nvml")
    desk.clock.advance(1.0)
    ((_info, sample),) = desk.look()
    assert isinstance(sample.values["sm_activity"], Reading)


def test_closing_gives_everything_back() -> None:
    desk = Desk(Driver([card(H200, steady(0.5))]))
    desk.rest(3)
    desk.source.close()
    assert not desk.library.session_open
    assert desk.library.open_samples == 0


def test_letting_go_ends_the_session_and_the_next_look_begins_one() -> None:
    desk = Desk(Driver([card(H200, steady(0.5))]))
    desk.rest(2)
    desk.source.release()
    assert not desk.library.session_open
    ((_info, sample),) = desk.look()
    assert sample.state is DeviceState.OK
    assert desk.library.session_open


# -- the PCI bus -----------------------------------------------------------------------------------------------------


def test_a_card_of_another_driver_neither_shows_up_nor_disturbs() -> None:
    tree = Tree()
    bus_card(tree, "0000:01:00.0")
    bus_card(tree, "0000:02:00.0", driver="vfio-pci")
    desk = Desk(Driver([card(A100, steady(0.5))]), tree.root)
    desk.rest(90)
    assert desk.starts == 1
    assert [info.name for info, _sample in desk.look()] == [A100.name]


def test_a_card_passed_through_to_a_guest_does_not_look_asleep() -> None:
    tree = Tree()
    bus_card(tree, "0000:01:00.0")
    bus_card(tree, "0000:02:00.0", driver="vfio-pci", status="suspended")  # vfio suspends what no guest uses
    desk = Desk(Driver([card(A100, steady(0.5))]), tree.root)
    desk.rest(3)
    assert [info.name for info, _sample in desk.look()] == [A100.name]
    assert desk.library.calls["nvmlInit_v2"] == 1, "the one awake card needs no detour"


def test_suspended_cards_without_a_driver_do_not_hide_that_it_is_not_loaded() -> None:
    tree = Tree()
    bus_card(tree, "0000:01:00.0", driver="pci-stub", status="suspended")
    desk = Desk(Driver([], outages=((-1.0, float("inf")),)), tree.root)
    with pytest.raises(SourceUnavailable) as refusal:
        desk.look()
    assert refusal.value.code == "driver-not-loaded"


def test_in_a_container_the_cards_of_others_neither_show_up_nor_disturb() -> None:
    tree = Tree()
    for number in range(8):
        bus_card(tree, f"0000:{number + 1:02x}:00.0")
    desk = Desk(Driver([card(A100, steady(0.5), number=2)]), tree.root)
    desk.rest(90)
    assert desk.starts == 1
    assert [info.pci_address for info, _sample in desk.look()] == ["00000000:03:00.0"]


def test_a_new_card_on_the_bus_is_taken_up() -> None:
    tree = Tree()
    bus_card(tree, "0000:01:00.0")
    late = card(RTX_4090, steady(0.5), number=6)
    desk = Desk(Driver([card(A100, steady(0.5)), late], fixed_count=True), tree.root)
    late.present = lambda now_s: now_s >= 20
    desk.rest(25)
    bus_card(tree, "0000:07:00.0")
    desk.rest(35)
    assert [info.name for info, _sample in desk.look()] == [A100.name, RTX_4090.name]
    assert desk.starts == 2


def test_a_card_put_in_the_place_of_another_is_taken_up() -> None:
    tree = Tree()
    bus_card(tree, "0000:01:00.0")
    bus_card(tree, "0000:02:00.0")
    late = card(RTX_4090, steady(0.5), number=6)
    old = card(RTX_4090, steady(0.5), number=1)
    desk = Desk(Driver([card(A100, steady(0.5)), old, late], fixed_count=True), tree.root)
    old.present, late.present = (lambda now_s: now_s < 20), (lambda now_s: now_s >= 20)
    desk.rest(25)
    tree.remove("sys/bus/pci/devices/0000:02:00.0")
    bus_card(tree, "0000:07:00.0")
    desk.rest(35)
    addresses = [info.pci_address for info, sample in desk.look() if sample.state is DeviceState.OK]
    assert addresses == ["00000000:01:00.0", "00000000:07:00.0"]


def test_a_sleeping_card_beside_a_busy_one_is_not_touched() -> None:
    tree = Tree()
    bus_card(tree, "0000:01:00.0")
    bus_card(tree, "0000:02:00.0", status="suspended")
    desk = Desk(Driver([card(A100, steady(0.5)), card(RTX_4090, number=1)]), tree.root)
    for looked in desk.watch(40):
        assert [sample.state for _info, sample in looked] == [DeviceState.OK, DeviceState.ASLEEP]
    assert desk.library.attached == ["00000000:01:00.0"]
    assert desk.starts == 1
    tree.write("sys/bus/pci/devices/0000:02:00.0/power/runtime_status", "active")
    desk.rest(31)
    assert [sample.state for _info, sample in desk.look()] == [DeviceState.OK, DeviceState.OK]
    assert desk.starts == 2


def test_a_card_that_could_sleep_is_let_go_unless_the_user_wants_it_read() -> None:
    for keep_awake in (False, True):
        tree = Tree()
        bus_card(tree, "0000:01:00.0")
        tree.write("sys/bus/pci/devices/0000:01:00.0/power/control", "auto")
        desk = Desk(Driver([card(RTX_4090)]), tree.root)
        for _looked in desk.watch(40, Demand(keep_awake=keep_awake)):
            pass
        assert (desk.library.calls.get("nvmlShutdown", 0) == 0) is keep_awake


def test_a_sleeping_card_is_woken_for_who_wants_it_read() -> None:
    tree = Tree()
    bus_card(tree, "0000:01:00.0", status="suspended")
    desk = Desk(Driver([card(RTX_4090)]), tree.root)
    desk.rest(5)
    assert desk.starts == 0
    for _looked in desk.watch(3, Demand(keep_awake=True)):
        pass
    assert desk.starts == 1
    ((_info, sample),) = desk.look(Demand(keep_awake=True))
    assert sample.state is DeviceState.OK


@pytest.mark.parametrize("how", ["no handle", "no answers"])
def test_the_bus_knows_a_card_that_was_lost_before_it_said_who_it_is(how: str) -> None:
    tree = Tree()
    cards = [card(A100, steady(0.5), number=number) for number in range(2)]
    for number in range(2):
        bus_card(tree, f"0000:{number + 1:02x}:00.0")
    if how == "no handle":
        cards[1].lost_from_s = 0.0
    else:
        cards[1].figures["bus_id"] = Code(GPU_IS_LOST)
    desk = Desk(Driver(cards), tree.root)
    desk.rest(3)
    (_well, (info, sample)) = desk.look()
    assert (info.name, info.pci_address) == ("NVIDIA From The Bus", "00000000:02:00.0")
    assert sample.state is DeviceState.LOST
    assert "gpu-lost" in desk.codes()


def test_a_card_without_a_name_is_forgotten_once_it_has_one() -> None:
    board = card(A100, steady(0.5))
    board.figures["bus_id"] = lambda now_s: Code(GPU_IS_LOST) if now_s < 10 else b"00000000:01:00.0"
    desk = Desk(Driver([board]))
    assert [info.name for info, _sample in desk.look()] == ["NVIDIA GPU"]
    desk.rest(80)
    ((info, sample),) = desk.look()
    assert (info.name, sample.state) == (A100.name, DeviceState.OK)


# -- coming and going ------------------------------------------------------------------------------------------------


def test_a_refused_start_is_tried_again_and_said_meanwhile() -> None:
    driver = Driver([card(A100, steady(0.5))], outages=((-1.0, 12.0),))
    desk = Desk(driver)
    for _ in range(11):
        with pytest.raises(SourceUnavailable) as refusal:
            desk.look()
        assert refusal.value.code == "driver-not-loaded"
        desk.clock.advance(1.0)
    assert desk.starts == 3  # every 5 s
    desk.clock.advance(5.0)
    ((_info, sample),) = desk.look()
    assert sample.state is DeviceState.OK


def test_after_suspend_nvml_is_started_anew() -> None:
    desk = Desk(Driver([card(A100, steady(0.5))]))
    desk.rest(3)
    desk.source.notes()
    now = desk.clock.now()
    later = Instant(now.monotonic_s + 1.0, now.utc_s + 3600.0)  # Linux' clock for arithmetic stands still in suspend
    desk.source.devices(later)
    assert desk.starts == 2
    assert "driver-restarted" not in desk.codes()


@pytest.mark.parametrize(("platform", "starts"), [("win32", 2), ("linux", 1)])
def test_a_long_silence_is_a_suspend_only_where_the_clock_runs_on_in_it(platform: str, starts: int) -> None:
    """On Linux it is somebody who records twice an hour."""
    desk = Desk(Driver([card(A100, steady(0.5))]), platform=platform)
    desk.rest(3)
    desk.clock.advance(1800.0)
    desk.look()
    assert desk.starts == starts


def test_a_split_that_changes_is_noticed() -> None:
    board = card(A100, steady(0.5))
    board.figures["mig_mode"] = 1
    board.instances = (_instance(1),)
    desk = Desk(Driver([board]))
    assert [info.kind for info, _sample in desk.look()] == [DeviceKind.DISCRETE, DeviceKind.MIG]
    board.instances = (_instance(3), _instance(5))
    desk.rest(45)
    looked = desk.look()
    assert [info.uuid for info, _sample in looked if info.kind is DeviceKind.MIG] == ["MIG-3", "MIG-5"]
    assert all(sample.state is DeviceState.OK for _info, sample in looked)
    assert "devices-changed" in desk.codes()


def _instance(number: int) -> Instance:
    gib = 1 << 30
    memory = {"memory_total": 10 * gib, "memory_reserved": 0, "memory_used": gib, "memory_free": 9 * gib}
    return Instance(number, f"MIG-{number}".encode(), b"NVIDIA A100 MIG 1g.10gb", memory)


def test_a_card_that_was_pulled_out_keeps_its_row() -> None:
    outer = card(RTX_4090, steady(0.5), number=4)
    outer.present = lambda now_s: now_s < 5
    desk = Desk(Driver([card(A100, steady(0.5)), outer]))
    desk.rest(30)
    assert [(info.name, sample.state) for info, sample in desk.look()] == [
        (A100.name, DeviceState.OK),
        (RTX_4090.name, DeviceState.LOST),
    ]


def test_no_gpu_is_told_from_no_driver() -> None:
    with pytest.raises(SourceUnavailable) as nothing:
        Desk(Driver([])).look()
    assert (nothing.value.code, nothing.value.state) == ("no-device", SourceState.ABSENT)


def test_an_old_library_gives_the_figures_it_has() -> None:
    desk = Desk(Driver([card(RTX_4090, steady(0.5))], missing=BEFORE_2017))
    ((info, sample),) = desk.look()
    assert info.pci_address == "00000000:01:00.0"
    assert isinstance(sample.values["memory_used_bytes"], Reading)
    assert isinstance(sample.values["throttle_reasons"], Reading)
    for metric in ("energy_j", "jpeg_utilization", "memory_reserved_bytes"):
        assert not isinstance(sample.values.get(metric), Reading)


def test_a_guest_reads_what_is_offered_and_says_why_not() -> None:
    board: Card = card(A100, steady(0.5))
    board.figures["virtualization"] = 2
    board.figures.pop("power")
    desk = Desk(Driver([board]))
    desk.rest(35)  # over the time after which the modes are read again
    ((info, sample),) = desk.look()
    assert sample.values["power_w"] == Missing(Reason.NOT_OFFERED_IN_VM, "nvml")
    assert info.static["mig_mode"] == Missing(Reason.NOT_OFFERED_IN_VM, "nvml")


# -- the library -----------------------------------------------------------------------------------------------------


def test_a_library_that_does_not_exist_is_no_driver(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable) as why:
        load([str(tmp_path / "libnvidia-ml.so.1"), "libno-such-library-anywhere.so.1"])
    assert (why.value.code, why.value.state) == ("no-driver", SourceState.ABSENT)


def test_a_library_that_is_there_and_cannot_be_loaded_is_damaged(tmp_path: Path) -> None:
    broken = tmp_path / "libnvidia-ml.so.1"
    broken.write_bytes(b"\x7fELF and nothing else")
    with pytest.raises(SourceUnavailable) as why:
        load([str(tmp_path / "elsewhere.so"), str(broken)])
    assert (why.value.code, why.value.state) == ("library-damaged", SourceState.FAILED)
    assert "libnvidia-ml.so.1" in why.value.detail


def test_texts_of_the_driver_never_raise() -> None:
    assert decode(b"\xff\xfe GeForce ") == "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} GeForce"
    assert is_rubbish(decode(b"\xff"))
    assert is_rubbish("")
    assert is_rubbish("GPU\x07")
    assert not is_rubbish("NVIDIA GeForce RTX 4090")
    assert error_name(15) == "NVML_ERROR_GPU_IS_LOST"
    assert error_name(4711) == "NVML error 4711"
