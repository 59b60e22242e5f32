"""The machine's load, and who the processes behind pids are: real ones, started here, and recorded ones."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import psutil
import pytest

from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import DeviceKey, ProcessPresence, ProcessSample, ProcessUse, UseKind
from gpumon_gui.core.values import Missing, Reading, Reason, Value, number
from gpumon_gui.telemetry.host import HostSource
from gpumon_gui.telemetry.host.environment import environment_name, find_program, program_prefix
from gpumon_gui.telemetry.host.framework import frameworks, prefix_of
from gpumon_gui.telemetry.host.text import LONGEST_COMMAND, clean, shortened

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux' process files")

#: The interpreter itself: on Windows a venv's python is a launcher that starts another process.
PYTHON: str = getattr(sys, "_base_executable", sys.executable)
WAIT = "import sys; print('ready', flush=True); sys.stdin.readline()"
MAP = """
import mmap, sys
print('ready', flush=True)
path = sys.stdin.readline().strip()
file = open(path, 'rb')
mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
print('mapped', flush=True)
sys.stdin.readline()
"""

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts programs that say when they are ready and end when their input does."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*args: str | bytes, code: str = WAIT, program: str = PYTHON) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([program, "-S", "-c", code, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        said(process)
        return process

    yield run
    for process in started:
        pipe(process.stdin).close()
        process.wait(10)
        pipe(process.stdout).close()


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def said(process: subprocess.Popen[bytes]) -> bytes:
    return pipe(process.stdout).readline().strip()


def tell(process: subprocess.Popen[bytes], line: str = "") -> None:
    pipe(process.stdin).write(line.encode() + b"\n")
    pipe(process.stdin).flush()


def use(pid: int, device: str = "pci:00000000:01:00.0") -> ProcessUse:
    return ProcessUse(pid, DeviceKey(device), UseKind.COMPUTE)


def one(source: HostSource, clock: FakeClock, pid: int) -> ProcessSample:
    (sample,) = source.describe((use(pid),), clock.now(), cpu_processes=False)
    return sample


@pytest.fixture(
    params=[pytest.param("system", id="system"), pytest.param(None, id="psutil")],
)
def host(request: pytest.FixtureRequest) -> Iterator[HostSource]:
    """The source as this system gets it, and as a system without /proc does."""
    source = HostSource(request.param)
    source.open()
    yield source
    source.close()


# -- the machine


def test_cpu_needs_two_samples_and_memory_one(host: HostSource) -> None:
    clock = FakeClock()
    first = host.read_host(clock.now())
    assert first.values["cpu_utilization"] == Missing(Reason.FIRST_SAMPLE, "host")
    assert first.cores == ()
    assert first.values["ram_total_bytes"] == Reading(psutil.virtual_memory().total, "host")
    used = number(first.values["ram_used_bytes"])
    assert used is not None
    assert 0 < used < psutil.virtual_memory().total
    spent, begin_s = psutil.cpu_times(), time.monotonic()
    while sum(psutil.cpu_times()[:3]) - sum(spent[:3]) < 0.05:  # the counters move in steps of 10 ms
        pass
    clock.advance(max(1.0, time.monotonic() - begin_s))
    second = host.read_host(clock.now())
    load = number(second.values["cpu_utilization"])
    assert load is not None
    assert 0.0 < load <= 1.0
    assert len(second.cores) == psutil.cpu_count()
    assert all(0.0 <= core <= 1.0 for core in second.cores)


class FakeProc:
    """Linux' files, made up."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = FakeClock()
        self.source = HostSource(root)
        self.memory()
        self.stat("1 1 1 1 1 1 1 1 0 0")

    def stat(self, *cores: str) -> None:
        lines = ["cpu  1 1 1 1 1 1 1 1 0 0", *(f"cpu{i} {ticks}" for i, ticks in enumerate(cores))]
        (self.root / "stat").write_text("\n".join(lines) + "\nintr 12345 0 0\nctxt 9\nbtime 1790000000\n")

    def memory(self, available: int = 400) -> None:
        (self.root / "meminfo").write_text(
            f"MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable: {available} kB\nSwapTotal: 50 kB\nSwapFree: 30 kB\n"
        )

    def read(self, after: float = 1.0) -> tuple[Value, tuple[float, ...]]:
        self.clock.advance(after)
        sample = self.source.read_host(self.clock.now())
        return sample.values["cpu_utilization"], sample.cores

    def process(
        self, pid: int, *, name: str = "python3", start: int = 500, ticks: int = 0, state: str = "S", ppid: int = 1
    ) -> Path:
        folder = self.root / str(pid)
        folder.mkdir(exist_ok=True)
        fields = [state, str(ppid), *["0"] * 9, str(ticks), "0", *["0"] * 4, "7", "0", str(start), "0", "25"]
        (folder / "stat").write_text(f"{pid} ({name}) {' '.join(fields)} 0 0\n")
        (folder / "comm").write_text(f"{name}\n")
        (folder / "cmdline").write_bytes(name.encode() + b"\0train.py\0")
        (folder / "maps").write_text("")
        (folder / "io").write_text("rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n")
        return folder


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    return FakeProc(tmp_path)


@linux
def test_load_is_busy_over_all_ticks_and_waiting_for_disks_is_not_busy(proc: FakeProc) -> None:
    proc.stat("100 0 100 1000 50 0 0 0 0 0", "0 0 0 1000 0 0 0 0 0 0")
    proc.read()
    # core 0: 20 user, 10 system, 10 steal, 50 idle, 10 iowait; core 1 idle
    proc.stat("120 0 110 1050 60 0 0 10 20 0", "0 0 0 1100 0 0 0 0 0 0")
    load, cores = proc.read()
    assert number(load) == pytest.approx(0.2)
    assert cores == pytest.approx((0.4, 0.0))


@linux
def test_after_a_suspend_counting_starts_anew(proc: FakeProc) -> None:
    proc.stat("0 0 0 1000")
    proc.read()
    proc.clock._utc_s += 3600.0  # the wall clock went on, the monotonic one did not
    proc.stat("0 0 0 1100")
    assert proc.read()[0] == Missing(Reason.FIRST_SAMPLE, "host", "suspend")
    proc.stat("50 0 0 1150")
    assert proc.read() == (Reading(0.5, "host"), (0.5,))


@linux
@pytest.mark.parametrize("ticks", ["0 0 0 10", "0 0 0 900000"])
def test_ticks_that_went_back_or_outran_the_clock_are_no_load(proc: FakeProc, ticks: str) -> None:
    proc.stat("0 0 0 1000")
    proc.read()
    proc.stat(ticks)
    assert proc.read() == (Missing(Reason.IMPLAUSIBLE, "host", "cpu times"), ())


@linux
def test_a_core_that_came_or_went_starts_anew(proc: FakeProc) -> None:
    proc.stat("0 0 0 1000", "0 0 0 1000")
    proc.read()
    proc.stat("0 0 0 1100")
    assert proc.read() == (Missing(Reason.FIRST_SAMPLE, "host", "cores changed"), ())


@linux
def test_two_reads_at_once_give_the_same(proc: FakeProc) -> None:
    proc.stat("0 0 0 1000")
    proc.read()
    proc.stat("50 0 0 1050")
    assert proc.read() == (Reading(0.5, "host"), (0.5,))
    assert proc.read(after=0.001) == (Reading(0.5, "host"), (0.5,))


@linux
def test_broken_files_are_missing_values_and_do_not_hide_each_other(proc: FakeProc) -> None:
    (proc.root / "stat").write_text("cpu0 what\n")
    sample = proc.source.read_host(proc.clock.now())
    assert sample.values["cpu_utilization"] == Missing(Reason.ERROR, "host", "ValueError")
    assert sample.values["ram_used_bytes"] == Reading(600 * 1024, "host")
    assert sample.values["swap_used_bytes"] == Reading(20 * 1024, "host")
    (proc.root / "meminfo").unlink()
    proc.stat("0 0 0 1")
    sample = proc.source.read_host(proc.clock.now())
    assert sample.values["ram_total_bytes"] == Missing(Reason.ERROR, "host", "FileNotFoundError")


# -- real processes


def test_a_running_process_is_described(host: HostSource, start: Start) -> None:
    clock = FakeClock()
    child = start("--epochs", "3")
    real = psutil.Process(child.pid)
    sample = one(host, clock, child.pid)
    assert sample.presence is ProcessPresence.RUNNING
    assert sample.name.lower().startswith("python")
    assert sample.command[-2:] == ("--epochs", "3")
    assert Path(sample.executable).samefile(real.exe())
    assert sample.user.endswith(getpass.getuser())
    assert sample.ppid == os.getpid()
    assert sample.parents[0] == clean(psutil.Process().name())
    assert sample.started_utc_s == pytest.approx(real.create_time(), abs=0.02)
    assert sample.uses == (use(child.pid),)
    assert sample.values["process_threads"] == Reading(real.num_threads(), "host")
    assert number(sample.values["process_rss_bytes"]) == pytest.approx(real.memory_info().rss, rel=0.3)
    assert isinstance(sample.values["process_read_bytes"], Reading)
    assert sample.values["process_cpu"] == Missing(Reason.FIRST_SAMPLE, "host")
    clock.advance(1.0)
    load = number(one(host, clock, child.pid).values["process_cpu"])
    assert load is not None
    assert 0.0 <= load < 1.0


def test_uses_of_several_devices_are_one_process(host: HostSource, start: Start) -> None:
    child = start()
    uses = (use(child.pid, "pci:a"), use(os.getpid(), "pci:a"), use(child.pid, "pci:b"))
    samples = host.describe(uses, FakeClock().now(), cpu_processes=False)
    assert [sample.pid for sample in samples] == [child.pid, os.getpid()]
    assert samples[0].uses == (uses[0], uses[2])


def test_cpu_is_a_fraction_of_one_core(host: HostSource, start: Start) -> None:
    child = start(
        code="import sys, time\nprint('ready', flush=True)\nsys.stdin.readline()\n"
        "end = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
        "print('done', flush=True)\nsys.stdin.readline()"
    )
    clock = FakeClock()
    one(host, clock, child.pid)
    tell(child)
    assert said(child) == b"done"
    clock.advance(1.0)
    assert number(one(host, clock, child.pid).values["process_cpu"]) == pytest.approx(0.3, abs=0.06)


@linux
def test_a_chinese_name_with_emoji_is_whole_although_the_kernel_cuts_it(
    host: HostSource, start: Start, tmp_path: Path
) -> None:
    program = tmp_path / "训练程序🚀第二版"
    program.symlink_to(os.path.realpath(sys.executable))
    child = start("数据集/猫🐱.py", program=str(program))
    sample = one(host, FakeClock(), child.pid)
    assert sample.command[0] == str(program)
    assert sample.command[-1] == "数据集/猫🐱.py"
    if host._proc is not None:  # psutil gives the name up where the cut falls into a character
        assert sample.name == "训练程序🚀第二版"
    sample.name.encode("utf-8")


@linux
def test_bytes_that_are_no_text_become_text_that_can_be_stored(host: HostSource, start: Start) -> None:
    child = start(b"model-\xff\xfe.pt")
    sample = one(host, FakeClock(), child.pid)
    assert sample.command[-1] == "model-\ufffd\ufffd.pt"
    " ".join(sample.command).encode("utf-8")


@linux
def test_a_zombie_is_a_zombie_and_keeps_what_was_known(host: HostSource, start: Start) -> None:
    child = start("job-7")
    clock = FakeClock()
    before = one(host, clock, child.pid)
    tell(child)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, not collected
    clock.advance(1.0)
    sample = one(host, clock, child.pid)
    assert sample.presence is ProcessPresence.ZOMBIE
    assert (sample.name, sample.command) == (before.name, before.command)
    assert sample.values["process_rss_bytes"] == Missing(Reason.NOT_READ, "host", "zombie")


def test_a_process_that_ended_is_exited_and_keeps_its_name_while_it_is_asked_for(
    host: HostSource, start: Start
) -> None:
    child = start("job-8")
    clock = FakeClock()
    before = one(host, clock, child.pid)
    tell(child)
    child.wait(10)
    clock.advance(1.0)
    sample = one(host, clock, child.pid)
    assert sample.presence is ProcessPresence.EXITED
    assert (sample.name, sample.command) == (before.name, before.command)
    assert set(sample.values.values()) == {Missing(Reason.NOT_READ, "host", "exited")}
    host.describe((), clock.now(), cpu_processes=False)
    assert one(host, clock, child.pid).name == ""  # nobody asked meanwhile: forgotten


# -- recorded processes


@linux
@pytest.mark.parametrize(
    ("namespace", "kernel", "presence"),
    [
        ("pid:[4026531836]", "6.8.0-generic", ProcessPresence.EXITED),
        ("pid:[4026532201]", "6.8.0-generic", ProcessPresence.FOREIGN),
        ("pid:[4026531836]", "5.15.153.1-microsoft-standard-WSL2", ProcessPresence.FOREIGN),
    ],
)
def test_an_unknown_pid_is_foreign_only_where_drivers_see_other_namespaces(
    proc: FakeProc, namespace: str, kernel: str, presence: ProcessPresence
) -> None:
    (proc.root / "self/ns").mkdir(parents=True)
    (proc.root / "self/ns/pid").symlink_to(namespace)
    (proc.root / "sys/kernel").mkdir(parents=True)
    (proc.root / "sys/kernel/osrelease").write_text(kernel + "\n")
    sample = one(proc.source, proc.clock, 4242)
    assert sample.presence is presence
    assert sample.started_utc_s is None
    assert all(isinstance(value, Missing) for value in sample.values.values())


@linux
def test_a_recycled_pid_is_somebody_else(proc: FakeProc) -> None:
    proc.process(77, ticks=9_000, start=500)
    first = one(proc.source, proc.clock, 77)
    proc.process(77, name="blender", ticks=50, start=900)
    proc.clock.advance(1.0)
    second = one(proc.source, proc.clock, 77)
    assert second.name == "blender"
    assert second.command == ("blender", "train.py")
    assert first.started_utc_s is not None
    assert second.started_utc_s == pytest.approx(first.started_utc_s + 4.0)
    assert second.values["process_cpu"] == Missing(Reason.FIRST_SAMPLE, "host")


@linux
def test_a_process_that_became_another_program_is_read_again(proc: FakeProc) -> None:
    proc.process(77, name="bash")
    assert one(proc.source, proc.clock, 77).name == "bash"
    proc.process(77, name="python3")
    assert one(proc.source, proc.clock, 77).command == ("python3", "train.py")


@linux
def test_a_name_with_brackets_and_spaces_does_not_shift_the_fields(proc: FakeProc) -> None:
    proc.process(77, name="a) S (b", ticks=150, ppid=9)
    sample = one(proc.source, proc.clock, 77)
    assert (sample.name, sample.ppid) == ("a) S (b", 9)
    assert sample.values["process_threads"] == Reading(7, "host")
    assert sample.values["process_read_bytes"] == Reading(4096, "host")
    assert sample.values["process_write_bytes"] == Reading(8192, "host")


@linux
def test_parents_go_up_to_the_first_process(proc: FakeProc) -> None:
    proc.process(1, name="systemd", ppid=0)
    proc.process(5, name="sshd", ppid=1)
    proc.process(6, name="bash", ppid=5)
    proc.process(77, ppid=6)
    assert one(proc.source, proc.clock, 77).parents == ("bash", "sshd", "systemd")


@linux
def test_what_may_not_be_read_says_so_and_the_rest_is_there(proc: FakeProc, monkeypatch: pytest.MonkeyPatch) -> None:
    proc.process(77)
    real = os.open

    def deny(path: str, flags: int) -> int:
        if Path(path).name in ("io", "maps", "environ"):
            raise PermissionError(13, "")
        return real(path, flags)

    monkeypatch.setattr("gpumon_gui.telemetry.host.procfs.os.open", deny)
    sample = one(proc.source, proc.clock, 77)
    assert sample.values["process_read_bytes"] == Missing(Reason.NO_PERMISSION, "host")
    assert sample.values["process_threads"] == Reading(7, "host")
    assert (sample.executable, sample.framework, sample.environment) == ("", "", "")


@linux
def test_a_process_that_may_not_be_looked_at_runs_all_the_same(proc: FakeProc, monkeypatch: pytest.MonkeyPatch) -> None:
    proc.process(77)

    def deny(path: str, flags: int) -> int:
        raise PermissionError(13, "")

    monkeypatch.setattr("gpumon_gui.telemetry.host.procfs.os.open", deny)
    sample = one(proc.source, proc.clock, 77)
    assert sample.presence is ProcessPresence.RUNNING
    assert set(sample.values.values()) == {Missing(Reason.NO_PERMISSION, "host")}


@linux
def test_a_file_cut_short_is_a_process_that_ends_not_an_error(proc: FakeProc) -> None:
    folder = proc.process(77)
    text = (folder / "stat").read_text()
    for length in range(0, len(text), 7):
        (folder / "stat").write_text(text[:length])
        assert one(proc.source, proc.clock, 77).pid == 77


@linux
def test_pytorchs_thread_name_is_not_the_name_of_the_program(proc: FakeProc) -> None:
    folder = proc.process(77, name="pt_main_thread")
    (folder / "exe").symlink_to("/opt/conda/envs/ml/bin/python3.11")
    assert one(proc.source, proc.clock, 77).name == "python3.11"


# -- frameworks


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A file that only PyTorch would load."""
    path = tmp_path / "env/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\0" * 4096)
    return path


@linux
def test_a_framework_imported_later_is_found_at_the_next_look(host: HostSource, start: Start, library: Path) -> None:
    child = start(code=MAP)
    clock = FakeClock()
    assert one(host, clock, child.pid).framework == ""
    tell(child, str(library))
    assert said(child) == b"mapped"
    clock.advance(1.9)
    assert one(host, clock, child.pid).framework == ""  # maps are long: not read each time
    clock.advance(0.1)
    assert one(host, clock, child.pid).framework == "PyTorch"


@linux
def test_looks_become_rare_but_do_not_end(proc: FakeProc, opened: list[str]) -> None:
    proc.process(77)
    looked = []
    opened.clear()
    for second in range(200):
        before = sum(path.endswith("/maps") for path in opened)
        one(proc.source, proc.clock, 77)
        if sum(path.endswith("/maps") for path in opened) > before:
            looked.append(second)
        proc.clock.advance(1.0)
    assert looked == [0, 2, 5, 15, 60, 120, 180]


@linux
def test_a_training_left_on_the_cpu_is_found_without_any_gpu_use(host: HostSource, start: Start, library: Path) -> None:
    trains, plain = start(code=MAP), start()
    tell(trains, str(library))
    assert said(trains) == b"mapped"
    clock = FakeClock()
    found = {sample.pid: sample for sample in host.describe((), clock.now(), cpu_processes=True)}
    assert trains.pid in found
    assert plain.pid not in found
    assert os.getpid() not in found
    assert found[trains.pid].framework == "PyTorch"
    assert found[trains.pid].uses == ()
    assert found[trains.pid].values["process_cpu"] == Missing(Reason.FIRST_SAMPLE, "host")
    clock.advance(1.0)
    again = {sample.pid: sample for sample in host.describe((), clock.now(), cpu_processes=True)}
    assert isinstance(again[trains.pid].values["process_cpu"], Reading)
    clock.advance(1.0)
    samples = host.describe((use(trains.pid),), clock.now(), cpu_processes=True)
    assert [sample.pid for sample in samples].count(trains.pid) == 1
    assert trains.pid not in [sample.pid for sample in host.describe((), clock.now(), cpu_processes=False)]


@linux
def test_all_names_are_read_once_and_then_only_new_ones(proc: FakeProc, opened: list[str]) -> None:
    for pid in range(100, 140):
        proc.process(pid, name="bash")
    proc.source.describe((), proc.clock.now(), cpu_processes=True)
    proc.clock.advance(60.0)
    proc.source.describe((), proc.clock.now(), cpu_processes=True)
    opened.clear()
    proc.clock.advance(4.0)
    proc.source.describe((), proc.clock.now(), cpu_processes=True)
    assert opened == []
    (proc.process(200, name="python3") / "maps").write_text("7f00 r-xp 0 0 0 /x/jaxlib/libjax_common.so\n")
    proc.clock.advance(1.0)
    (sample,) = proc.source.describe((), proc.clock.now(), cpu_processes=True)
    assert (sample.pid, sample.framework) == (200, "JAX")
    assert sum(path.endswith("/comm") for path in opened) <= 1 + 40 / 12 + 1


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/e/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so", "PyTorch"),
        ("/e/lib/python3.11/site-packages/torch/lib/libtorch_python.so", "PyTorch"),
        ("/usr/lib/libtorch.so.2.5", "PyTorch"),
        (r"C:\e\Lib\site-packages\torch\lib\torch_cpu.dll", "PyTorch"),
        ("/e/lib/python3.11/site-packages/tensorflow/libtensorflow_framework.so.2", "TensorFlow"),
        (r"C:\e\Lib\site-packages\tensorflow\python\_pywrap_tensorflow_internal.pyd", "TensorFlow"),
        ("/e/lib/python3.11/site-packages/jaxlib/xla_extension.so", "JAX"),
        ("/e/lib/python3.11/site-packages/cupy/_core/core.cpython-311-x86_64-linux-gnu.so", "CuPy"),
        (
            "/e/site-packages/onnxruntime/capi/onnxruntime_pybind11_state.cpython-311-x86_64-linux-gnu.so",
            "ONNX Runtime",
        ),
        (r"C:\e\Lib\site-packages\onnxruntime\capi\onnxruntime.dll", "ONNX Runtime"),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.1", ""),
        ("/home/u/pytorch/notes.txt", ""),
        ("/home/u/my_jaxlib_notes/readme.md", ""),
    ],
)
def test_frameworks_are_known_by_their_files(path: str, expected: str) -> None:
    assert frameworks(f"7f00-7f01 r-xp 00000000 08:01 42    {path}\n") == expected


def test_several_frameworks_in_one_process_are_all_named() -> None:
    assert frameworks("/a/libtorch_cpu.so\n/b/libonnxruntime.so\n") == "PyTorch, ONNX Runtime"


# -- environments


def make_venv(prefix: Path, config: str = "home = /usr/bin\n") -> Path:
    (prefix / "bin").mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text(config)
    python = prefix / "bin/python"
    python.symlink_to(os.path.realpath(sys.executable))
    return python


@linux
def test_a_venv_is_known_by_what_was_typed_not_by_the_executable_behind(
    host: HostSource, start: Start, tmp_path: Path
) -> None:
    python = make_venv(tmp_path / "项目/.venv")
    assert one(host, FakeClock(), start(program=str(python)).pid).environment == "项目/.venv"


@linux
def test_a_bare_python_is_the_one_its_own_path_finds(start: Start, tmp_path: Path) -> None:
    python = make_venv(tmp_path / "ml")
    child = subprocess.Popen(
        ["python", "-S", "-c", WAIT],
        executable=str(python),
        env={"PATH": f"/nowhere:{python.parent}:/usr/bin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    said(child)
    try:
        assert one(HostSource(), FakeClock(), child.pid).environment == "ml"
    finally:
        child.communicate(b"\n", 10)


@linux
def test_libraries_tell_the_environment_where_the_command_does_not(proc: FakeProc, tmp_path: Path) -> None:
    prefix = tmp_path / "opt/conda/envs/深度学习"
    (prefix / "conda-meta").mkdir(parents=True)
    folder = proc.process(77, name="jupyter-lab")
    library = prefix / "lib/python3.11/site-packages/torch/lib/libtorch_cpu.so"
    (folder / "maps").write_text(f"7f00-7f01 r-xp 00000000 08:01 42  {library}\n")
    sample = one(proc.source, proc.clock, 77)
    assert (sample.framework, sample.environment) == ("PyTorch", "深度学习")


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (["envs/ml/conda-meta/history"], "ml"),
        (["envs/ml/conda-meta/history", "envs/ml/condabin/conda"], "base"),
        (["envs/ml/bin/python"], ""),
    ],
)
def test_conda_environments_are_called_by_their_folder(tmp_path: Path, files: list[str], name: str) -> None:
    for file in files:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert environment_name([str(tmp_path / "envs/ml")]) == name


@pytest.mark.parametrize(
    ("folder", "config", "name"),
    [
        ("train", "home = /usr/bin\n", "train"),
        ("proj/.venv", "home = /usr/bin\n", "proj/.venv"),
        ("proj/.venv", "home = /usr/bin\nprompt = 'nice'\n", "nice"),
    ],
)
def test_venvs_are_called_by_prompt_or_folder(tmp_path: Path, folder: str, config: str, name: str) -> None:
    make_venv(tmp_path / folder, config)
    assert environment_name(["", str(tmp_path / "none"), str(tmp_path / folder)]) == name


def test_prefixes(tmp_path: Path) -> None:
    assert program_prefix("/opt/ml/bin/python3") == "/opt/ml"
    assert prefix_of("r-xp /opt/ml/lib/python3.12/site-packages/torch/x.so") == "/opt/ml"
    assert prefix_of(r"C:\Users\u\ml\Lib\site-packages\torch\lib\torch_cpu.dll") == r"C:\Users\u\ml"
    assert find_program("python", "") == ""
    assert find_program("python", f"relative{os.pathsep}{tmp_path}") == ""


# -- text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("训练🚀.py", "训练🚀.py"),
        ("a\udcffb", "a\ufffdb"),
        ("\ud83d\ude80", "🚀"),  # a pair as Windows stores it
        ("\ud83dx", "\ufffdx"),
        ("x\ud83d", "x\ufffd"),
    ],
)
def test_lone_surrogates_become_storable_text(text: str, expected: str) -> None:
    assert clean(text) == expected
    clean(text).encode("utf-8")


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ((), ()),
        (("python", "train.py"), ("python", "train.py")),
        (("x" * LONGEST_COMMAND,), ("x" * LONGEST_COMMAND,)),
        (("x" * (LONGEST_COMMAND + 1),), ("x" * LONGEST_COMMAND + "…",)),
        (("a" * 4094, "b", "c"), ("a" * 4094, "b", "…")),
    ],
)
def test_a_command_line_of_megabytes_keeps_its_beginning(command: tuple[str, ...], kept: tuple[str, ...]) -> None:
    assert shortened(command) == kept


def test_a_process_with_many_arguments_travels_short(host: HostSource, start: Start) -> None:
    process = start(*(f"image-{number}.jpg" for number in range(1000)))
    command = one(host, FakeClock(), process.pid).command
    assert command[1:6] == ("-S", "-c", WAIT, "image-0.jpg", "image-1.jpg")
    assert sum(map(len, command)) <= LONGEST_COMMAND + 1
    assert command[-1].endswith("…")


@linux
def test_what_is_watched_is_there_with_its_children_whatever_it_does(proc: FakeProc, opened: list[str]) -> None:
    for pid in range(300, 340):
        proc.process(pid, name="bash")
    proc.process(100, name="train")
    proc.process(101, name="loader", ppid=100)
    proc.process(102, name="sh", ppid=101)

    def seen() -> list[int]:
        found = proc.source.describe((), proc.clock.now(), cpu_processes=False, pids=(100,))
        return sorted(sample.pid for sample in found)

    assert seen() == [100, 101, 102]
    shutil.rmtree(proc.root / "101")  # the system gives its child to pid 1; it stays with the program
    proc.process(102, name="sh", ppid=1)
    proc.process(103, name="loader", ppid=100)
    opened.clear()
    proc.clock.advance(1.0)
    assert seen() == [100, 102, 103]
    assert not any(f"/{pid}/" in path for path in opened for pid in range(300, 340))  # old ones are not asked again
    shutil.rmtree(proc.root / "100")
    proc.clock.advance(1.0)
    assert seen() == [102, 103]


def test_a_program_and_its_child_are_seen_on_the_real_machine(host: HostSource, start: Start) -> None:
    code = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE);"
        "print('ready'); print(child.pid, flush=True); sys.stdin.read(); child.communicate(b'x')"
    )
    parent = start(code=code)
    child = int(said(parent))
    found = host.describe((), FakeClock().now(), cpu_processes=False, pids=(parent.pid,))
    assert {parent.pid, child} <= {sample.pid for sample in found}
