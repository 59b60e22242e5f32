"""What a recording promises: all samples back, one file, readable after a kill, a full disk told once, damage named."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpumon_gui.core.errors import OutputFailed, UnreadableInput
from gpumon_gui.core.metrics import DEVICE_METRICS, HOST_METRICS, PROCESS_METRICS, Kind, Unit
from gpumon_gui.core.model import (
    Cost,
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    DeviceState,
    EngineKind,
    EngineSample,
    HostSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    SourceHealth,
    SourceState,
    UseKind,
)
from gpumon_gui.core.redact import Private, redact_text
from gpumon_gui.core.resources import resource_root
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.recording import size_hint
from gpumon_gui.telemetry.recording.open import open_recording
from gpumon_gui.telemetry.recording.reader import Recording
from gpumon_gui.telemetry.recording.writer import BATCH_SAMPLES, RecordingWriter

UUID = "GPU-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals, mounts, resource limits")


def reading(metric_unit: Unit, metric_id: str) -> Reading:
    numbers = {Unit.RATIO: 0.4375, Unit.BYTES: 61234567890, Unit.BYTES_PER_S: 51234.5}
    return Reading(numbers.get(metric_unit, 42), "nvml")


def make_sample(index: int, devices: int = 1, step_s: float = 1.0, user: str = "mira") -> Sample:
    """Every gauge of the catalogue on each device, four processes."""
    gauges: dict[str, Value] = {
        m.id: reading(m.unit, m.id) for m in DEVICE_METRICS if m.kind is not Kind.STATIC and m.unit is not Unit.TEXT
    }
    gauges["sm_activity"] = Missing(Reason.IMPLAUSIBLE, "nvml", "NaN")
    gauges["power_w"] = Reading(100.0 + index, "nvml")
    inventory = tuple(
        DeviceInfo(
            DeviceKey(f"pci:0000000{i}:01:00.0"),
            "NVIDIA H200",
            "NVIDIA",
            index=i,
            uuid=UUID,
            sources=("nvml",),
            static=MappingProxyType({"memory_total_bytes": Reading(150 << 30, "nvml")}),
        )
        for i in range(devices)
    )
    engine = EngineSample("0", "Compute_0", EngineKind.COMPUTE, Reading(0.5, "pdh"))
    use = ProcessUse(7, inventory[0].key, UseKind.COMPUTE, {"process_memory_bytes": Reading(1 << 30, "nvml")})
    return Sample(
        sequence=index,
        monotonic_s=1000.0 + index * step_s,
        utc_s=1.8e9 + index * step_s,
        interval_s=0.0 if index == 0 else step_s,
        inventory=inventory,
        devices={i.key: DeviceSample(i.key, DeviceState.OK, "", gauges, (engine,)) for i in inventory},
        processes=tuple(
            ProcessSample(
                pid,
                1.7e9,
                "python3",
                ProcessPresence.RUNNING,
                ppid=1,
                parents=("bash",),
                command=("python3", f"/home/{user}/训练/train.py", "--host=node17.lab"),
                executable="/usr/bin/python3",
                user=user,
                uses=(use,),
                values={m.id: Reading(1234567, "host") for m in PROCESS_METRICS},
            )
            for pid in range(7, 11)
        ),
        host=HostSample({m.id: Reading(1234567890, "host") for m in HOST_METRICS}, (0.25,) * 16),
        health=(SourceHealth("nvml", SourceState.OK, "", "", 0.001, index, 0, 0),),
        cost=Cost(Reading(0.002, "host"), Reading(40_000_000, "host"), 0.004),
    )


def record(path: Path, count: int, step_s: float = 1.0, close: bool = True) -> RecordingWriter:
    writer = RecordingWriter(path, {"machine": "lab"})
    for index in range(count):
        writer.append(make_sample(index, step_s=step_s))
    if close:
        writer.close()
    return writer


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    path = tmp_path / "训练 一.gpumon"
    record(path, 5)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    recording = open_recording(path)
    assert len(recording) == 5
    assert recording.complete
    assert recording.meta["machine"] == "lab"
    assert list(recording.times) == [0, 1, 2, 3, 4]
    assert [recording.sample(i) for i in range(5)] == [make_sample(i) for i in range(5)]
    assert recording.sample(0).inventory is recording.sample(4).inventory
    assert [recording.index_at(t) for t in (-1, 0, 0.99, 1, 3.5, 99)] == [0, 0, 0, 1, 3, 4]
    for outside in (-1, 5):
        with pytest.raises(IndexError):
            recording.sample(outside)
    recording.close()
    recording.close()


def test_inventory_changes_are_kept_in_their_place(tmp_path: Path) -> None:
    path = tmp_path / "x"
    writer = RecordingWriter(path, {})
    samples = [make_sample(0, 2), make_sample(1, 1), make_sample(2, 1), make_sample(3, 2)]
    for sample in samples:
        writer.append(sample)
    writer.close()
    recording = Recording(path)
    assert [len(recording.sample(i).inventory) for i in range(4)] == [2, 1, 1, 2]
    recording.close()


def test_a_running_recording_can_be_read_but_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x"
    writer = record(path, 3, close=False)
    script = (
        "import sys; from pathlib import Path\n"
        "from gpumon_gui.telemetry.recording.open import open_recording\n"
        "from gpumon_gui.telemetry.recording.writer import RecordingWriter\n"
        "r = open_recording(Path(sys.argv[1])); print(len(r), r.complete, flush=True)\n"
        "RecordingWriter(Path(sys.argv[1]), {})\n"
    )
    other = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=60)
    assert other.stdout.split() == ["3", "False"]
    assert "in use by another program" in other.stderr
    writer.append(make_sample(3))
    writer.close()
    assert len(open_and_read(path)) == 4


def test_batches_a_kill_loses_a_second_at_most(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "x", {})
    committed = []
    for index in range(25):
        writer.append(make_sample(index, step_s=0.1))
        committed.append(writer.written)
    assert all(index + 1 - written <= 10 for index, written in enumerate(committed))
    for index in range(25, 25 + 2 * BATCH_SAMPLES):
        writer.append(make_sample(index, step_s=0.1))
        assert index + 1 - writer.written <= BATCH_SAMPLES
    writer.close()
    assert writer.written == 25 + 2 * BATCH_SAMPLES


def test_a_file_that_is_no_recording_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "thesis.docx"
    path.write_bytes(b"PK important")
    with pytest.raises(OutputFailed, match=r"thesis\.docx: exists and was not made by this command"):
        RecordingWriter(path, {})
    assert path.read_bytes() == b"PK important"


def test_no_samples_at_all(tmp_path: Path) -> None:
    record(tmp_path / "x", 0)
    with pytest.raises(UnreadableInput, match="a recording without samples"):
        open_recording(tmp_path / "x")


def test_newer_versions(tmp_path: Path) -> None:
    path = tmp_path / "x"
    record(path, 2)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {1 | 3 << 16}")
    connection.execute("CREATE TABLE news (a)")
    connection.execute("ALTER TABLE sample ADD COLUMN extra TEXT")
    connection.commit()
    assert len(open_and_read(path)) == 2
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()
    with pytest.raises(UnreadableInput, match=r"made by a newer GPUMon \(format 2\.0, this one reads up to 1\.x\)"):
        open_recording(path)


def test_other_kinds_of_files(tmp_path: Path) -> None:
    text, empty = tmp_path / "a.gpumon", tmp_path / "b.gpumon"
    text.write_text("hello")
    empty.touch()
    for path, words in (
        (text, r"a\.gpumon: not a GPUMon recording or trace"),
        (empty, r"b\.gpumon: the file is empty"),
        (tmp_path, "is a folder"),
        (tmp_path / "没有", "没有: cannot be read"),
    ):
        with pytest.raises(UnreadableInput, match=words) as caught:
            open_recording(path)
        assert "\n" not in str(caught.value)


@posix_only
def test_fifos_and_devices_do_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/tty")):
        with pytest.raises(UnreadableInput, match="not a regular file"):
            open_recording(path)


@posix_only
def test_a_file_without_permission(tmp_path: Path) -> None:
    record(tmp_path / "x", 1)
    (tmp_path / "x").chmod(0)
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    with pytest.raises(UnreadableInput, match="Permission denied"):
        open_recording(tmp_path / "x")


WRITE_FOR_EVER = """
import itertools, sys
from pathlib import Path
from gpumon_gui.telemetry.recording.writer import RecordingWriter
from tests.unit.test_recording import make_sample
writer = RecordingWriter(Path(sys.argv[1]), {})
for index in itertools.count():
    writer.append(make_sample(index))
    sys.stdout.write("."); sys.stdout.flush()
"""


@pytest.mark.parametrize("seed", range(6))
def test_killed_while_writing(tmp_path: Path, seed: int) -> None:
    """Killed for real at a random moment; what was committed is there, whole, in order, and can be recorded over."""
    path = tmp_path / "x.gpumon"
    dice = random.Random(seed)
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, path], stdout=subprocess.PIPE, cwd=root) as child:
        assert child.stdout is not None
        told = sum(len(child.stdout.read(1)) for _ in range(dice.randrange(1, 60)))
        for _ in range(dice.randrange(20_000)):  # a moment of its own between two commits
            pass
        child.kill()
        told += len(child.stdout.read())
    recording = Recording(path)
    assert told <= len(recording) <= told + 1
    assert not recording.complete
    for index in range(len(recording)):
        assert recording.sample(index) == make_sample(index)
    recording.close()
    record(path, 1)  # what a half commit may have left goes as well
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A file system with room for 256 KB; a child with a file size limit does not show a full disk."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("needs root")
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("this container may not mount")
    return folder


def test_a_full_disk_is_told_once_and_the_file_stays_readable(small_disk: Path, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: subprocess.run(["umount", small_disk], check=True))
    path = small_disk / "满.gpumon"
    writer = RecordingWriter(path, {})
    index = 0
    failures = []
    while not writer.closed:
        try:
            writer.append(make_sample(index))
            index += 1
        except OutputFailed as error:
            failures.append(str(error))
    assert failures == [f"{path}: the disk is full."]
    writer.append(make_sample(index + 1))
    writer.flush()
    writer.close()
    assert writer.dropped == 2
    samples = open_and_read(path)
    assert samples == [make_sample(i) for i in range(index)]
    assert len(samples) > 10
    with pytest.raises(OutputFailed, match="the disk is full"):
        RecordingWriter(small_disk / "second", {})
    assert [entry.name for entry in small_disk.iterdir()] == [path.name]


@posix_only
def test_a_file_deleted_meanwhile_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.gpumon"
    writer = RecordingWriter(path, {})
    writer.append(make_sample(0))
    path.unlink()
    with pytest.raises(OutputFailed, match=r"x\.gpumon: was moved or deleted meanwhile\.$"):
        writer.append(make_sample(1))
    writer.close()


@pytest.mark.skipif(sys.platform != "linux", reason="a folder where even root makes no files")
def test_a_folder_that_takes_no_files_says_why() -> None:
    with pytest.raises(OutputFailed, match=r"/proc/x\.gpumon: cannot be written \(No such file or directory\)\.$"):
        RecordingWriter(Path("/proc/x.gpumon"), {})


@posix_only
def test_a_file_size_limit_is_told_once_and_the_file_stays_readable(tmp_path: Path) -> None:
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from gpumon_gui.core.errors import OutputFailed\n"
        "from gpumon_gui.telemetry.recording.writer import RecordingWriter\n"
        "from tests.unit.test_recording import make_sample\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "writer, failures = RecordingWriter(Path(sys.argv[1]), {}), 0\n"
        "for index in range(300):\n"
        "    try: writer.append(make_sample(index))\n"
        "    except OutputFailed as error: failures += 1; print(error)\n"
        "writer.close(); print(failures, writer.written, writer.dropped)\n"
    )
    path = tmp_path / "x"
    root = Path(__file__).parents[2]
    child = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, cwd=root, timeout=60)
    line, counts = child.stdout.splitlines()
    failures, written, dropped = map(int, counts.split())
    assert (failures, written + dropped) == (1, 300)
    assert "the disk" in line
    assert open_and_read(path) == [make_sample(i) for i in range(written)]


def open_and_read(path: Path) -> list[Sample]:
    recording = open_recording(path)
    try:
        return [recording.sample(i) for i in range(len(recording))]
    finally:
        recording.close()


def read_damaged(path: Path) -> str:
    """The line a damaged file is refused with; empty when the damage is in what nobody reads. All else fails."""
    try:
        open_and_read(path)
    except UnreadableInput as error:
        line = str(error)
        assert "\n" not in line
        assert str(path) in line
        return line
    return ""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "x"
    record(path, 12)
    return path


def test_cut_off_anywhere(tmp_path: Path, whole: Path) -> None:
    data = whole.read_bytes()
    for length in [*range(0, 120, 7), *range(120, len(data), 1009), len(data) - 1]:
        path = tmp_path / f"{length}"
        path.write_bytes(data[:length])
        assert read_damaged(path), length


# Half of the damage in the first page (header and schema), half anywhere (as a share of the length).
PLACES = st.integers(0, 1023) | st.floats(0, 1, exclude_max=True)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(PLACES, st.integers(0, 255)), min_size=1, max_size=20))
def test_flipped_bytes_are_refused_in_one_line_or_do_not_matter(
    tmp_path: Path, whole: Path, changes: list[tuple[int | float, int]]
) -> None:
    damaged = bytearray(whole.read_bytes())
    for place, byte in changes:
        damaged[place if isinstance(place, int) else int(place * len(damaged))] = byte
    path = tmp_path / "x"
    path.write_bytes(damaged)
    read_damaged(path)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE sample SET body = '{' WHERE id = 3", r"damaged at sample 3 of 4, 2\.0 s from the start"),
        ("UPDATE sample SET body = '[]' WHERE id = 3", r"damaged at sample 3 of 4"),
        ("UPDATE sample SET body = 5 WHERE id = 3", r"damaged at sample 3 of 4"),
        ("UPDATE sample SET body = x'ff00' WHERE id = 1", r"damaged at sample 1 of 4"),
        ("UPDATE sample SET body = json(body) + 1.5 WHERE id = 1", r"damaged at sample 1 of 4"),
        ("UPDATE sample SET body = json_set(body, '$.proc[0].name', 5) WHERE id = 2", r"sample 2 .*proc\[0?.*name"),
        ("UPDATE sample SET body = json_set(body, '$.n', json('1e400')) WHERE id = 2", r"sample 2 "),
        ("UPDATE sample SET body = printf('%.*c', 200000, '[') WHERE id = 2", r"sample 2 "),
        ("UPDATE sample SET inventory = 9 WHERE id = 2", r"sample 2 .*no inventory 9"),
        ("UPDATE inventory SET body = '[1]'", r"sample 1 .*inventory 1"),
        ("UPDATE sample SET monotonic_s = 5 WHERE id = 2", r"damaged at sample 2 \(the time goes back"),
        ("UPDATE sample SET monotonic_s = 9e999 WHERE id = 2", r"damaged at sample 2 \(no time"),
        ("UPDATE sample SET monotonic_s = 'noon' WHERE id = 2", r"damaged at sample 2 \(no time"),
        (
            "UPDATE sample SET body = json_set(body, '$.host.v.cpu_utilization[0]', 'busy') WHERE id = 2",
            r"sample 2 .*cpu_utilization: str",
        ),
        (
            "UPDATE inventory SET body = json_set(body, '$[0].v.driver_version', json('[5, \"nvml\"]'))",
            r"sample 1 .*inventory 1: driver_version: int",
        ),
        ("DROP TABLE inventory", "no table inventory"),
        ("DROP TABLE sample", "no table sample"),
        ("ALTER TABLE sample RENAME COLUMN body TO bodx", "no column sample.body"),
    ],
)
def test_damage_is_named_with_its_place(tmp_path: Path, statement: str, words: str) -> None:
    path = tmp_path / "x"
    record(path, 4)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(UnreadableInput, match=words) as caught:
        open_and_read(path)
    assert len(str(caught.value).splitlines()) == 1


def test_a_view_in_place_of_a_table_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "x"
    record(path, 1)
    connection = sqlite3.connect(path)
    connection.executescript(
        "DROP TABLE sample; CREATE VIEW sample AS WITH RECURSIVE s(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM s) "
        "SELECT id, 1.0 AS monotonic_s, 1.0 AS utc_s, 1 AS inventory, '' AS body FROM s;"
    )
    connection.close()
    with pytest.raises(UnreadableInput, match="no table sample"):
        open_recording(path)


def test_the_size_stated_in_the_help_is_that_of_a_real_recording() -> None:
    [path, *_rest] = sorted((resource_root() / "demo").glob("*.gpumon"))
    recording = open_recording(path)
    seconds, devices = float(recording.times[-1]), len(recording.sample(0).inventory)
    hz = (len(recording) - 1) / seconds
    recording.close()
    assert path.stat().st_size == pytest.approx(size_hint(devices, hz, seconds), rel=0.25)


def test_the_size_stated_for_each_further_device_is_right(tmp_path: Path) -> None:
    sizes = []
    for devices in (1, 8):
        writer = RecordingWriter(tmp_path / str(devices), {})
        for index in range(200):
            writer.append(make_sample(index, devices))
        writer.close()
        sizes.append((tmp_path / str(devices)).stat().st_size)
    assert sizes[1] - sizes[0] == pytest.approx(size_hint(8, 1.0, 200.0) - size_hint(1, 1.0, 200.0), rel=0.25)


# -- redaction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/mira/x.py", "~/x.py"),
        ("--out=/home/mira", "--out=~"),
        ("/home/miranda/x", "/home/user/x"),
        ("C:\\Users\\李雷\\ml\\train.py", "C:\\Users\\user\\ml\\train.py"),
        ("c:/users/Jo Ann/x", "c:/users/user/x"),
        ("wandb --entity mira", "wandb --entity user"),
        ("run_MIRA_3", "run_user_3"),
        ("admiral miracle", "admiral miracle"),
        ("--master=node17.lab:29500", "--master=host:29500"),
        ("node17", "host"),
        ("node170", "node170"),
        ("李雷的实验", "user的实验"),
        ("file:///%E6%9D%8E%E9%9B%B7/x", "file:///user/x"),
        ("python3 train.py", "python3 train.py"),
    ],
)
def test_private_words_are_replaced(text: str, expected: str) -> None:
    private = Private(("mira", "李雷"), ("/home/mira",), ("node17.lab", "node17"))
    assert redact_text(text, private) == expected


def test_names_in_other_unicode_forms() -> None:
    private = Private(("zoë",))
    assert redact_text("zoe\u0308/x", private) == "user/x"


def test_common_account_names_are_left() -> None:
    assert redact_text("root cause", Private(("root",), (), ("localhost",))) == "root cause"


@pytest.mark.parametrize("user", ["mira", "李雷", "LAB\\mira"])
def test_a_redacted_recording_holds_no_private_byte(tmp_path: Path, user: str) -> None:
    path = tmp_path / "demo.gpumon"
    name = user.split("\\")[-1]
    private = Private((name,), (f"/home/{name}",), ("node17.lab", "node17"))
    writer = RecordingWriter(path, {"note": f"on node17 for {name}"}, redact=True, private=private)
    sample = make_sample(0, user=user)
    process = replace(sample.processes[0], command=("ssh", f"{name}@10.1.2.3", "127.0.0.1", f"D:\\Users\\{name}\\x"))
    writer.append(replace(sample, processes=(process,)))
    writer.close()
    data = path.read_bytes()
    for secret in (name, "node17", "10.1.2.3", UUID[4:]):
        assert secret.encode() not in data
    recording = open_recording(path)
    assert recording.meta["redacted"] == "yes"
    assert recording.meta["note"] == "on host for user"
    back = recording.sample(0)
    recording.close()
    assert back.processes[0].command == ("ssh", "user@0.0.0.0", "127.0.0.1", "D:\\Users\\user\\x")
    assert back.processes[0].user == "user"
    assert back.devices == sample.devices
    assert back.inventory[0].uuid is not None
    assert back.inventory[0].uuid.startswith("GPU-0000")
