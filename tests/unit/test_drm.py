"""AMD, Intel and nouveau cards on Linux: the user sees what the kernel's files say, and a sleeping card sleeps."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import Demand, DeviceKey, DeviceKind, DeviceSample, DeviceState, ProcessUse, SourceState
from gpumon_gui.core.values import Missing, Reading, Reason, Value, number
from gpumon_gui.telemetry.base import SourceUnavailable
from gpumon_gui.telemetry.drm import DrmSource, fdinfo, sysfs
from gpumon_gui.telemetry.drm.clients import RESCAN_S
from gpumon_gui.telemetry.drm.rest import FIRST_RETRY_S, IDLE_S
from tests.unit.machine_tree import plant

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sysfs trees need symbolic links")

MACHINES = Path(__file__).resolve().parents[1] / "machines"
ALL = Demand()
CARD = DeviceKey("pci:00000000:03:00.0")


@dataclass
class Machine:
    """A tree of kernel files, a source over it, and the clock."""

    root: Path
    clock: FakeClock
    source: DrmSource

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text + "\n")

    def device(self, name: str, text: str) -> None:
        self.write(f"sys/class/drm/card0/device/{name}", text)

    def client(self, pid: int, fd: int, text: str, node: str = "renderD128") -> None:
        link = self.root / f"proc/{pid}/fd/{fd}"
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(f"/dev/dri/{node}")
        self.write(f"proc/{pid}/fdinfo/{fd}", text)

    def read(self, demand: Demand = ALL, *, after: float = 0.0) -> DeviceSample:
        self.clock.advance(after)
        return self.source.read(self.clock.now(), demand)[CARD]

    def uses(self) -> dict[int, ProcessUse]:
        return {use.pid: use for use in self.source.read_processes(self.clock.now(), ALL)}

    def shares(self, *, after: float = 0.0) -> dict[str, Value]:
        return {engine.name: engine.utilization for engine in self.read(after=after).engines}


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """One amdgpu card that is awake, cannot sleep, and has no clients."""
    made = Machine(tmp_path, FakeClock(), DrmSource(tmp_path))
    made.device("uevent", "DRIVER=amdgpu\nPCI_ID=1002:73FF\nPCI_SLOT_NAME=0000:03:00.0")
    made.device("power/runtime_status", "active")
    made.device("power/control", "on")
    made.device("gpu_busy_percent", "42")
    made.device("mem_info_vram_total", "8000000000")
    made.device("mem_info_vram_used", "1000000000")
    made.write("sys/class/drm/renderD128/device/uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0")
    (tmp_path / "proc").mkdir()
    yield made
    made.source.close()


def amd(client: int, **engines: int) -> str:
    lines = [f"drm-engine-{name}:\t{ns} ns" for name, ns in engines.items()]
    return "\n".join(["pos:\t0", "drm-driver:\tamdgpu", f"drm-client-id:\t{client}", "drm-pdev:\t0000:03:00.0", *lines])


# -- whole machines


def as_json(value: Value) -> object:
    return value.value if isinstance(value, Reading) else f"missing: {value.reason} {value.detail}".strip()


@pytest.mark.parametrize("folder", sorted(p.parent.name for p in MACHINES.glob("*-linux/tree.txt")))
def test_a_machine_reads_as_expected(folder: str, tmp_path: Path) -> None:
    recorded = MACHINES / folder
    plant((recorded / "tree.txt").read_text(encoding="utf-8"), tmp_path)
    clock, source = FakeClock(), DrmSource(tmp_path)
    source.open()
    source.devices(clock.now())
    source.read(clock.now(), ALL)
    plant((recorded / "later.txt").read_text(encoding="utf-8"), tmp_path)
    clock.advance(1.0)
    samples = source.read(clock.now(), ALL)
    found = {
        "devices": [
            {
                "key": info.key,
                "name": info.name,
                "vendor": info.vendor,
                "kind": info.kind,
                "static": {metric: as_json(value) for metric, value in sorted(info.static.items())},
                "state": samples[info.key].state,
                "values": {metric: as_json(value) for metric, value in sorted(samples[info.key].values.items())},
                "engines": {
                    engine.name: [engine.kind, as_json(engine.utilization)] for engine in samples[info.key].engines
                },
            }
            for info in source.devices(clock.now())
        ],
        "processes": [
            {
                "pid": use.pid,
                "device": use.device,
                "kind": use.kind,
                "engine": use.engine,
                "values": {metric: as_json(value) for metric, value in sorted(use.values.items())},
            }
            for use in source.read_processes(clock.now(), ALL)
        ],
    }
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    expected = recorded / "expected.json"
    if os.environ.get("GPUMON_UPDATE_MACHINES"):
        expected.write_text(text, encoding="utf-8")
    assert json.loads(text) == json.loads(expected.read_text(encoding="utf-8"))
    assert (recorded / "README.md").read_text(encoding="utf-8").startswith(("Recorded", "Composed"))


# -- which cards


def test_a_machine_without_our_drivers_is_absent_not_broken(tmp_path: Path) -> None:
    (tmp_path / "sys/class/drm/card0/device").mkdir(parents=True)
    (tmp_path / "sys/class/drm/card0/device/uevent").write_text("DRIVER=nvidia\nPCI_SLOT_NAME=0000:01:00.0\n")
    with pytest.raises(SourceUnavailable) as caught:
        DrmSource(tmp_path).open()
    assert caught.value.state is SourceState.ABSENT


def test_a_vanished_card_stays_in_the_inventory_as_lost_and_can_come_back(machine: Machine) -> None:
    machine.source.devices(machine.clock.now())
    assert machine.read().state is DeviceState.OK
    uevent = machine.root / "sys/class/drm/card0/device/uevent"
    text = uevent.read_text()
    uevent.unlink()
    lost = machine.read(after=1.0)
    assert lost.state is DeviceState.LOST
    assert {value.reason for value in lost.values.values() if isinstance(value, Missing)} == {Reason.DEVICE_LOST}
    assert [info.key for info in machine.source.devices(machine.clock.now())] == [CARD]
    assert [note.code for note in machine.source.notes()] == ["gpu-lost"]
    uevent.write_text(text)
    assert machine.read(after=1.0).state is DeviceState.OK


def test_a_card_with_nothing_to_tell_has_a_name_all_the_same(machine: Machine) -> None:
    (info,) = machine.source.devices(machine.clock.now())
    assert info.name == "AMD [1002:73ff]"
    assert info.kind is DeviceKind.INTEGRATED  # no fan, no hot spot


def test_a_broken_card_does_not_hide_the_healthy_one(machine: Machine) -> None:
    machine.write("sys/class/drm/card1/device/uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:07:00.0")
    machine.write("sys/class/drm/card1/device/gpu_busy_percent", "?")
    samples = machine.source.read(machine.clock.now(), ALL)
    assert samples[CARD].values["gpu_utilization"] == Reading(0.42, "drm")
    broken = samples[DeviceKey("pci:00000000:07:00.0")]
    assert broken.values["gpu_utilization"] == Missing(Reason.ERROR, "drm", "gpu_busy_percent: '?'")


# -- values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", Reading(0.0, "drm")),
        ("100", Reading(1.0, "drm")),
        ("101", Missing(Reason.IMPLAUSIBLE, "drm", "1.01")),
        ("4294967295", Missing(Reason.IMPLAUSIBLE, "drm", "4.29497e+07")),
        ("", Missing(Reason.ERROR, "drm", "gpu_busy_percent: empty")),
        ("4 2", Missing(Reason.ERROR, "drm", "gpu_busy_percent: '4 2'")),
    ],
)
def test_only_a_number_that_can_be_becomes_a_reading(machine: Machine, text: str, expected: Value) -> None:
    machine.device("gpu_busy_percent", text)
    assert machine.read().values["gpu_utilization"] == expected


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, ""), Reason.NO_PERMISSION),
        (PermissionError(1, ""), Reason.NO_PERMISSION),
        (OSError(19, ""), Reason.DEVICE_LOST),
        (OSError(61, ""), Reason.NOT_SUPPORTED),
        (OSError(5, ""), Reason.ERROR),
        (OSError(16, ""), Reason.ERROR),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, error: OSError, reason: Reason
) -> None:
    real = sysfs.read_bytes

    def read(path: str) -> bytes:
        if path.endswith("gpu_busy_percent"):
            raise error
        return real(path)

    monkeypatch.setattr(sysfs, "read_bytes", read)
    sample = machine.read()
    value = sample.values["gpu_utilization"]
    assert isinstance(value, Missing)
    assert value.reason is reason
    assert sample.values["memory_used_bytes"] == Reading(1e9, "drm")


def test_what_nobody_asked_for_is_not_read(machine: Machine, opened: list[str]) -> None:
    machine.device("hwmon/hwmon1/fan1_input", "1200")
    machine.client(10, 3, amd(1, gfx=5))
    machine.source.devices(machine.clock.now())
    opened.clear()
    sample = machine.read(Demand(details=False, processes=False))
    assert sample.values["fan_rpm"].reason is Reason.NOT_READ  # type: ignore[union-attr]
    assert sample.values["gpu_utilization"] == Reading(0.42, "drm")
    assert not [path for path in opened if "fan1_input" in path or "/proc/" in path]


# -- sleep


def test_a_sleeping_card_is_named_and_left_asleep(machine: Machine, opened: list[str]) -> None:
    machine.device("power/runtime_status", "suspended")
    machine.device("power/control", "auto")
    machine.device("hwmon/hwmon1/temp1_input", "30000")
    machine.device("hwmon/hwmon1/temp1_label", "edge")
    machine.client(10, 3, amd(1, gfx=5))
    opened.clear()
    machine.source.open()
    (info,) = machine.source.devices(machine.clock.now())
    for _ in range(3):
        sample = machine.read(after=RESCAN_S)
        assert machine.uses() == {}
        assert sample.state is DeviceState.ASLEEP
        assert set(sample.values.values()) == {Missing(Reason.ASLEEP, "drm")}
        assert "gpu_utilization" in sample.values
    assert info.static["memory_total_bytes"] == Missing(Reason.ASLEEP, "drm")
    touched = {Path(path).name for path in opened if "card0/device/" in path or "/proc/" in path}
    assert touched == {"uevent", "revision", "runtime_status", "control"}


def test_a_card_that_wakes_is_read_and_its_fixed_values_follow(machine: Machine) -> None:
    machine.device("power/runtime_status", "suspended")
    machine.source.devices(machine.clock.now())
    machine.read()
    machine.device("power/runtime_status", "active")
    assert machine.read(after=1.0).values["gpu_utilization"] == Reading(0.42, "drm")
    (info,) = machine.source.devices(machine.clock.now())
    assert info.static["memory_total_bytes"] == Reading(8e9, "drm")


@pytest.fixture
def sleepy(machine: Machine) -> Machine:
    """The card is idle and could sleep after 5 s."""
    machine.device("power/control", "auto")
    machine.device("power/autosuspend_delay_ms", "5000")
    machine.device("gpu_busy_percent", "0")
    return machine


def test_an_idle_card_is_left_alone_for_long_enough_to_fall_asleep(sleepy: Machine, opened: list[str]) -> None:
    sleepy.read()
    sleepy.read(after=IDLE_S)
    opened.clear()
    for _ in range(6):  # longer than the driver's 5 s
        sample = sleepy.read(after=1.0)
        assert sample.state is DeviceState.OK
        assert sample.values["gpu_utilization"] == Missing(Reason.NOT_READ, "drm", "resting")
    assert {Path(p).name for p in opened if "card0/device/" in p} <= {"uevent", "runtime_status", "control"}
    assert [note.code for note in sleepy.source.notes()] == ["resting"]
    sleepy.device("power/runtime_status", "suspended")
    assert sleepy.read(after=1.0).state is DeviceState.ASLEEP


def test_a_card_that_something_else_keeps_awake_is_read_again_and_tried_less_often(sleepy: Machine) -> None:
    sleepy.read()
    sleepy.read(after=IDLE_S)
    assert sleepy.read(after=8.0).values["gpu_utilization"] == Reading(0.0, "drm")
    sleepy.read(after=IDLE_S)
    assert sleepy.read(after=1.0).values["gpu_utilization"] == Reading(0.0, "drm")  # not again so soon
    sleepy.read(after=FIRST_RETRY_S)
    assert sleepy.read(after=1.0).values["gpu_utilization"] == Missing(Reason.NOT_READ, "drm", "resting")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("card0/device/gpu_busy_percent", "1"),
        ("card0/device/power/control", "on"),
        ("card0/device/power/runtime_usage", "2"),
        ("card0/device/power/autosuspend_delay_ms", "-1"),
        ("card0/card0-DP-1/enabled", "enabled"),
    ],
)
def test_a_card_that_works_or_cannot_sleep_is_always_read(sleepy: Machine, path: str, text: str) -> None:
    sleepy.write(f"sys/class/drm/{path}", text)
    for _ in range(4):
        assert isinstance(sleepy.read(after=IDLE_S).values["gpu_utilization"], Reading)


def test_work_ends_the_rest_at_once(sleepy: Machine) -> None:
    sleepy.client(10, 3, amd(1, gfx=5))
    sleepy.read()
    sleepy.read(after=IDLE_S)
    assert isinstance(sleepy.read(after=1.0).values["gpu_utilization"], Missing)
    sleepy.client(10, 3, amd(1, gfx=500_000_000))
    assert sleepy.read(after=1.0).values["gpu_utilization"] == Reading(0.0, "drm")


# -- engines and processes


def test_the_first_sample_has_no_share_and_the_second_is_time_over_time(machine: Machine) -> None:
    machine.client(10, 3, amd(1, gfx=1_000_000_000))
    first = machine.shares()
    assert first == {"gfx": Missing(Reason.FIRST_SAMPLE, "drm")}
    machine.client(10, 3, amd(1, gfx=1_500_000_000))
    assert machine.shares(after=2.0) == {"gfx": Reading(0.25, "drm")}
    assert machine.uses()[10].values["process_gpu_utilization"] == Reading(0.25, "drm")
    assert machine.uses()[10].engine == "gfx"
    assert machine.read().values["engine_utilization"] == Reading(0.25, "drm")


def test_a_client_counts_once_however_many_descriptors_and_processes_share_it(machine: Machine) -> None:
    for pid, fd in ((10, 3), (10, 4), (11, 3)):
        machine.client(pid, fd, amd(1, gfx=0))
    machine.read()
    for pid, fd in ((10, 3), (10, 4), (11, 3)):
        machine.client(pid, fd, amd(1, gfx=400_000_000))
    assert machine.shares(after=1.0) == {"gfx": Reading(0.4, "drm")}
    assert set(machine.uses()) == {10}


def test_the_same_client_id_on_two_cards_is_two_clients(machine: Machine) -> None:
    other = "0000:07:00.0"
    machine.write("sys/class/drm/card1/device/uevent", f"DRIVER=amdgpu\nPCI_SLOT_NAME={other}")
    machine.write("sys/class/drm/renderD129/device/uevent", f"DRIVER=amdgpu\nPCI_SLOT_NAME={other}")
    for gfx in (0, 300_000_000):
        machine.client(10, 3, amd(1, gfx=gfx))
        machine.client(10, 4, amd(1, gfx=2 * gfx).replace("0000:03:00.0", other), "renderD129")
        machine.clock.advance(1.0)
        samples = machine.source.read(machine.clock.now(), ALL)
    assert [s.engines[0].utilization for s in samples.values()] == [Reading(0.3, "drm"), Reading(0.6, "drm")]


def test_capacity_divides_and_clients_add_up(machine: Machine) -> None:
    for ns in (0, 800_000_000):
        machine.client(10, 3, amd(1, dec=ns) + "\ndrm-engine-capacity-dec:\t2")
        machine.client(11, 3, amd(2, dec=ns) + "\ndrm-engine-capacity-dec:\t2")
        sample = machine.read(after=1.0)
    assert sample.engines[0].utilization == Reading(0.8, "drm")
    assert sample.values["decoder_utilization"] == Reading(0.8, "drm")


def test_a_counter_that_went_back_is_a_gap_until_it_has_caught_up(machine: Machine) -> None:
    shares = []
    for ns in (1_000_000_000, 900_000_000, 2_000_000_000):
        machine.client(10, 3, amd(1, gfx=ns))
        shares.append(machine.shares(after=1.0)["gfx"])
    assert [value.reason for value in shares[:2]] == [Reason.FIRST_SAMPLE, Reason.IMPLAUSIBLE]  # type: ignore[union-attr]
    assert shares[2] == Reading(0.5, "drm")  # one busy second in the two since the last accepted count


def test_a_counter_that_was_reset_counts_anew(machine: Machine) -> None:
    for ns in (9_000_000_000, 0, 100_000_000, 300_000_000):
        machine.client(10, 3, amd(1, gfx=ns))
        last = machine.shares(after=1.0)["gfx"]
    assert last == Reading(0.2, "drm")


def test_a_new_client_joins_with_its_second_sample(machine: Machine) -> None:
    machine.client(10, 3, amd(1, gfx=0))
    machine.read()
    machine.client(10, 3, amd(1, gfx=100_000_000))
    machine.client(20, 3, amd(2, gfx=77_000_000_000))  # busy long before it was seen
    machine.clock.advance(RESCAN_S - 1.0)
    machine.read(after=1.0)
    machine.client(10, 3, amd(1, gfx=200_000_000))
    machine.client(20, 3, amd(2, gfx=77_300_000_000))
    assert number(machine.shares(after=1.0)["gfx"]) == pytest.approx(0.4)
    assert number(machine.uses()[20].values["process_gpu_utilization"]) == pytest.approx(0.3)


def test_an_engine_without_clients_is_idle_once_it_is_known(machine: Machine) -> None:
    machine.client(10, 3, amd(1, gfx=1_000))
    machine.read()
    for name in ("fd/3", "fdinfo/3"):
        (machine.root / "proc/10" / name).unlink()
    assert machine.shares(after=1.0) == {"gfx": Reading(0.0, "drm")}
    assert machine.uses() == {}


@pytest.mark.parametrize(
    ("ns", "expected"),
    [
        (1_040_000_000, Reading(1.04, "drm")),
        (1_060_000_000, Missing(Reason.IMPLAUSIBLE, "drm", "1.06")),
    ],
)
def test_a_share_above_one_is_passed_on_within_the_skew_and_refused_beyond(
    machine: Machine, ns: int, expected: Value
) -> None:
    machine.client(10, 3, amd(1, gfx=0))
    machine.read()
    machine.client(10, 3, amd(1, gfx=ns))
    assert machine.shares(after=1.0) == {"gfx": expected}


def test_a_descriptor_reused_for_another_file_is_no_client(machine: Machine) -> None:
    machine.client(10, 3, amd(1, gfx=1_000))
    machine.read()
    link = machine.root / "proc/10/fd/3"
    link.unlink()
    link.symlink_to("/home/u/data.bin")
    machine.write("proc/10/fdinfo/3", "pos:\t0\nflags:\t02")
    machine.read(after=1.0)
    assert machine.uses() == {}


def test_idle_descriptors_of_session_managers_are_not_users_of_the_gpu(machine: Machine) -> None:
    machine.client(10, 3, amd(1, gfx=0) + "\ndrm-resident-vram:\t0")
    machine.read()
    assert machine.uses() == {}


def test_other_users_processes_are_said_to_be_hidden(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine.root / "proc/10/fd").mkdir(parents=True)
    real = os.listdir

    def listdir(path: str) -> list[str]:
        if str(path).endswith("proc/10/fd"):
            raise PermissionError(13, "")
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    sample = machine.read()
    assert sample.values["engine_utilization"] == Missing(Reason.NO_PERMISSION, "drm")
    assert [note.code for note in machine.source.notes()] == ["other-users-hidden"]
    machine.read(after=1.0)
    assert machine.source.notes() == ()


def test_known_processes_are_read_each_time_and_the_rest_rarely(machine: Machine, opened: list[str]) -> None:
    machine.client(10, 3, amd(1, gfx=0))
    machine.read()
    machine.client(20, 3, amd(2, gfx=5))
    machine.read(after=1.0)
    assert 20 not in machine.uses()
    machine.read(after=RESCAN_S)
    assert 20 in machine.uses()
    opened.clear()
    machine.read(after=1.0)
    assert sorted(Path(p).parts[-3] for p in opened if "/proc/" in p) == ["10", "20"]


def test_rocm_processes_are_users_even_without_a_trace_in_fdinfo(machine: Machine) -> None:
    machine.write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51545")
    machine.write("sys/class/kfd/kfd/topology/nodes/1/properties", "location_id 768\ndomain 0")  # 03:00.0
    machine.write("sys/class/kfd/kfd/proc/44/vram_51545", "123456")
    machine.read()
    use = machine.uses()[44]
    assert use.device == CARD
    assert use.kind == "C"
    assert use.values["process_memory_bytes"] == Reading(123456, "drm")


# -- the text of fdinfo


def test_resident_memory_counts_before_its_older_names_and_parts_are_not_added() -> None:
    client = fdinfo.parse(
        b"drm-driver:\tamdgpu\ndrm-total-vram:\t117088 KiB\ndrm-memory-vram:\t999 KiB\ndrm-resident-vram:\t180 KiB\n"
        b"drm-shared-vram:\t8 KiB\ndrm-active-vram:\t7 MiB\ndrm-total-gtt:\t2 MiB\ndrm-memory-gtt: \t1 MiB\n"
    )
    assert client is not None
    assert client.dedicated_bytes == 180 * 1024
    assert client.shared_bytes == 1 << 20


def test_memory_without_a_unit_is_bytes_and_an_unknown_region_is_neither() -> None:
    client = fdinfo.parse(b"drm-driver: i915\ndrm-resident-system0: 122638336\ndrm-resident-oa: 5 MiB\n")
    assert client is not None
    assert client.shared_bytes == 122638336
    assert client.dedicated_bytes is None


@pytest.mark.parametrize("text", [b"", b"pos:\t0\nflags:\t02\n", b"drm-", b"\xff\xfe"])
def test_other_files_are_no_clients(text: bytes) -> None:
    assert fdinfo.parse(text) is None


def test_a_text_cut_anywhere_never_raises_and_never_invents_a_time() -> None:
    whole = amd(1, gfx=123_456_789).encode()
    for length in range(len(whole)):
        client = fdinfo.parse(whole[:length])
        times = [engine.busy_ns for engine in client.engines.values()] if client else []
        assert set(times) <= {None, 123_456_789}


def test_zero_capacity_is_not_allowed_and_counts_as_one() -> None:
    client = fdinfo.parse(b"drm-driver: x\ndrm-engine-a: 5 ns\ndrm-engine-capacity-a: 0\n")
    assert client is not None
    assert client.engines["a"].capacity == 1
