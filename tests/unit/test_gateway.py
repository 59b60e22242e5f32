"""What a foreign program may do to the diagnosis (nothing), and that a recorded machine answers as the live one did."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.diagnosis import gateway
from gpumon_gui.diagnosis.children import Own, users_variables
from gpumon_gui.diagnosis.gateway import RESULT, Command, Failure, FileKind, Gateway
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.recorded_gateway import RecordedGateway, RecordingGateway

POSIX = sys.platform != "win32"


def python(code: str, *words: str, **options: object) -> Command:
    return Command((sys.executable, "-c", code, *words), **options)  # type: ignore[arg-type]


@pytest.fixture
def live() -> LiveGateway:
    return LiveGateway()


# -- a program's output and end -----------------------------------------------------------------------------------


def test_outputs_exit_code_and_result_come_back_apart(live: LiveGateway) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); open(sys.argv[1], 'w').write('res'); sys.exit(3)"
    ran = live.run(python(code, RESULT, takes_result=True))
    assert (ran.code, ran.out.strip(), ran.err.strip(), ran.result) == (3, "out", "err", b"res")
    assert not ran.ok
    assert ran.failure is None


def test_a_flood_of_output_is_read_to_its_end_and_only_both_ends_are_kept(live: LiveGateway) -> None:
    code = "import sys; w = sys.stdout.write; w('first\\n'); [w('x' * 99999 + '\\n') for _ in range(200)]; w('last')"
    ran = live.run(python(code, limit_bytes=10_000))
    assert ran.ok
    assert ran.stdout.startswith(b"first")
    assert ran.stdout.endswith(b"last")
    assert len(ran.stdout) < 11_000
    assert ran.dropped_bytes > 19_000_000


def test_a_program_that_hangs_is_ended_and_what_it_said_is_kept(live: LiveGateway) -> None:
    ran = live.run(python("import time; print('hello', flush=True); time.sleep(600)", timeout_s=2.0))
    assert ran.failure is Failure.TIMED_OUT
    assert ran.code is None
    assert ran.out.strip() == "hello"
    assert ran.seconds < 20


def test_cancelling_ends_a_running_program_at_once(live: LiveGateway) -> None:
    cancel = threading.Event()
    timer = threading.Timer(0.5, cancel.set)
    timer.start()
    ran = live.run(python("import time; time.sleep(600)", timeout_s=60), cancel)
    timer.join()
    assert ran.failure is Failure.CANCELLED
    assert ran.seconds < 20
    assert live.run(python("pass"), cancel).failure is Failure.CANCELLED


GRANDCHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], {options})
print(child.pid, flush=True)
{rest}
"""


@pytest.mark.parametrize("rest", ["time.sleep(600)", "sys.exit(0)"], ids=["hanging parent", "parent that ended"])
def test_grandchildren_end_with_the_program(live: LiveGateway, rest: str) -> None:
    ran = live.run(python(GRANDCHILD.format(options="", rest=rest), timeout_s=2.0))
    assert gone(int(ran.out))


@pytest.mark.skipif(sys.platform != "linux", reason="found by /proc")
def test_a_grandchild_in_a_session_of_its_own_ends_too(live: LiveGateway) -> None:
    ran = live.run(python(GRANDCHILD.format(options="start_new_session=True", rest="sys.exit(0)")))
    assert gone(int(ran.out))


def gone(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        process.wait(5)
    except (psutil.NoSuchProcess, psutil.TimeoutExpired):
        pass
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.skipif(not POSIX, reason="signals")
def test_a_crash_is_told_by_its_signal(live: LiveGateway) -> None:
    assert live.run(python("import os; os.kill(os.getpid(), 11)")).code == -11


def test_what_cannot_be_started_is_told(live: LiveGateway, tmp_path: Path) -> None:
    assert live.run(Command((str(tmp_path / "none"),))).failure is Failure.NOT_FOUND
    plain = tmp_path / "plain.exe"
    plain.write_text("no program")
    if POSIX:
        assert live.run(Command((str(plain),))).failure is Failure.NO_PERMISSION
        plain.chmod(0o755)
    assert live.run(Command((str(plain),))).failure is Failure.NOT_STARTED
    assert live.run(Command(("a\0b",))).failure is Failure.NOT_STARTED


def test_only_the_wanted_lines_of_an_output_pass(live: LiveGateway) -> None:
    ran = live.run(python("print('NVRM: one\\nprivate\\nnvrm: two')", only_lines="nvrm"))
    assert ran.out.splitlines() == ["NVRM: one", "nvrm: two"]


def test_input_reaches_the_program_and_one_that_ignores_it_is_no_fault(live: LiveGateway) -> None:
    assert live.run(python("import sys; print(sys.stdin.read().upper())", input="abc")).out.strip() == "ABC"
    assert live.run(python("pass", input="x" * 1_000_000)).ok


# -- variables ----------------------------------------------------------------------------------------------------


def test_an_account_without_a_home_runs_programs_too(live: LiveGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_user: str = "~") -> str:
        return "~"  # as for a number without an entry, in a container

    monkeypatch.setattr(os.path, "expanduser", homeless)
    with pytest.raises(RuntimeError):
        Path.home()
    assert live.run(python("print(1)")).ok


def test_variables_are_changed_for_the_command_only(live: LiveGateway) -> None:
    code = "import os; print(os.environ.get('GPUMON_A'), os.environ.get('PATH') is None)"
    ran = live.run(python(code, changes={"GPUMON_A": "1", "PATH": None}))
    assert ran.out.split()[0] == "1"
    assert "GPUMON_A" not in os.environ


def test_a_frozen_program_hands_on_nothing_of_itself() -> None:
    bundle = str(Path(os.sep, "opt", "gpumon", "_internal").absolute())
    environ = {
        "LD_LIBRARY_PATH": bundle,
        "LD_LIBRARY_PATH_ORIG": "/usr/lib/cuda",
        "_MEIPASS2": bundle,
        "_PYI_ARCHIVE_FILE": "x",
        "PATH": os.pathsep.join((bundle, "/usr/bin", str(Path(bundle, "PySide6")))),
        "QT_PLUGIN_PATH": str(Path(bundle, "plugins")),
        "CUDA_VISIBLE_DEVICES": "0",
    }
    assert users_variables(environ, Own(bundle)) == {
        "LD_LIBRARY_PATH": "/usr/lib/cuda",
        "PATH": "/usr/bin",
        "CUDA_VISIBLE_DEVICES": "0",
    }
    assert "LD_LIBRARY_PATH" not in users_variables({"LD_LIBRARY_PATH": bundle}, Own(bundle))


def test_a_program_that_is_not_frozen_changes_nothing_of_the_users() -> None:
    environ = {"LD_LIBRARY_PATH": "/a", "LD_LIBRARY_PATH_ORIG": "/b", "PYTHONPATH": "/theirs", "PYTHONHOME": "/theirs"}
    assert users_variables(environ, Own(None, ("/ours",), "/code")) == environ


def test_our_own_python_does_not_leak() -> None:
    ours, code = (str(Path(os.sep, name).absolute()) for name in ("ours", "code"))
    environ = {"PYTHONHOME": ours, "PYTHONPATH": os.pathsep.join((code, "/theirs")), "__PYVENV_LAUNCHER__": "x"}
    assert users_variables(environ, Own(None, (ours,), code)) == {"PYTHONPATH": "/theirs"}
    assert users_variables({"PYTHONPATH": str(Path(code, "x"))}, Own(None, (ours,), code)) == {}


# -- files --------------------------------------------------------------------------------------------------------


def test_files_are_read_up_to_the_limit_and_nothing_that_blocks_is_opened(live: LiveGateway, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert live.read(str(tmp_path / "file"), 4) == b"0123"
    assert live.read(str(tmp_path)) is None
    assert live.read(str(tmp_path / "none")) is None
    assert live.read("a\0b") is None
    if POSIX:
        os.mkfifo(tmp_path / "pipe")
        assert live.read(str(tmp_path / "pipe")) is None
        info = live.info(str(tmp_path / "pipe"))
        assert info is not None
        assert info.kind is FileKind.OTHER


def test_a_link_to_nothing_is_told_from_nothing(live: LiveGateway, tmp_path: Path) -> None:
    assert live.info(str(tmp_path / "none")) is None
    if POSIX:
        (tmp_path / "link").symlink_to(tmp_path / "none")
        info = live.info(str(tmp_path / "link"))
        assert info is not None
        assert info.kind is FileKind.DANGLING


def test_patterns_match_one_folder_a_level(live: LiveGateway, tmp_path: Path) -> None:
    for name in ("nv_a/nvidia-smi.exe", "nv_b/other", "intel/nvidia-smi.exe"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert gateway.matches(live, str(tmp_path), "nv*/nvidia-smi.exe") == (str(tmp_path / "nv_a" / "nvidia-smi.exe"),)
    assert gateway.matches(live, str(tmp_path / "none"), "*") == ()


@pytest.mark.parametrize(
    "data",
    ["Läuft: 找不到".encode(), "Läuft: 找不到".encode("utf-16"), "找不到指定的模块".encode("gbk"), b"\xff\xff broken"],
)
def test_text_of_any_encoding_becomes_text(data: bytes) -> None:
    assert gateway.decoded(data)


def test_utf16_without_a_mark_is_read() -> None:
    assert gateway.decoded("Ubuntu-22.04\r\n".encode("utf-16-le")) == "Ubuntu-22.04\r\n"


# -- recorded -----------------------------------------------------------------------------------------------------


def test_a_recorded_machine_answers_as_the_live_one_did(live: LiveGateway, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text\xff" + b"z" * 5000)
    command = python(
        "import sys; print('o' * 5000); open(sys.argv[1], 'wb').write(b'\\xff\\0')", RESULT, takes_result=True
    )
    recording = RecordingGateway(live)
    asked: tuple[Callable[[Gateway], object], ...] = (
        lambda g: g.run(command),
        lambda g: g.run(Command((str(tmp_path / "none"),))).failure,
        lambda g: g.read(str(tmp_path / "file")),
        lambda g: g.info(str(tmp_path / "file")),
        lambda g: g.listing(str(tmp_path)),
        lambda g: g.variables()["PATH"],
        lambda g: g.ask("cpu-count"),
        lambda g: g.registry("HKLM\\SOFTWARE\\none"),
    )
    before = [question(recording) for question in asked]
    recording.save(tmp_path / "machine")
    recorded = RecordedGateway(tmp_path / "machine")
    assert [question(recorded) for question in asked] == before
    assert recorded.platform == sys.platform
    assert recorded.time_utc_s() > 1_700_000_000


def test_what_was_never_asked_is_not_there(live: LiveGateway, tmp_path: Path) -> None:
    RecordingGateway(live).save(tmp_path)
    recorded = RecordedGateway(tmp_path)
    assert recorded.run(Command(("nvidia-smi",))).failure is Failure.NOT_FOUND
    assert recorded.read("/etc/os-release") is None
    assert recorded.info("/etc") is None
    assert recorded.listing("/") == ()
    assert recorded.variables() == {}
    assert recorded.registry("HKLM\\SOFTWARE") is None
    assert recorded.ask("cpu-count") is None


def test_names_are_redacted_in_questions_and_answers_alike(live: LiveGateway, tmp_path: Path) -> None:
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "file").write_text("by secret")
    recording = RecordingGateway(live)
    recording.read(str(folder / "file"))
    recording.save(tmp_path / "machine", lambda text: text.replace("secret", "user"))
    everything = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "machine").iterdir())
    assert "secret" not in everything
    recorded = RecordedGateway(tmp_path / "machine")
    assert recorded.read(str(folder / "file").replace("secret", "user")) == b"by user"


def test_a_recording_keeps_no_secrets_of_the_environment(tmp_path: Path) -> None:
    environ = {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "LD_LIBRARY_PATH": "/x",
        "CONDA_PREFIX": "/c",
        "AWS_SECRET_ACCESS_KEY": "hidden-1",
        "HF_TOKEN": "hidden-2",
        "DATABASE_URL": "hidden-3",
        "UV_PUBLISH_TOKEN": "hidden-4",
    }
    recording = RecordingGateway(LiveGateway(environ))
    recording.variables()
    recording.save(tmp_path)
    assert "hidden" not in (tmp_path / "gateway.jsonl").read_text()
    kept = set(RecordedGateway(tmp_path).variables())
    assert kept == {"PATH", "HOME", "LD_LIBRARY_PATH", "CONDA_PREFIX"}


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '{"schema": "gpumon-gateway/1"}\n{', '{"schema": "gpumon-gateway/1"}\n{"ask": 1}', "\x00"],
)
def test_a_folder_that_is_no_machine_is_one_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "gateway.jsonl").write_text(text)
    with pytest.raises(UnreadableInput, match=r"gateway\.jsonl"):
        RecordedGateway(tmp_path)
    with pytest.raises(UnreadableInput, match=r"gateway\.jsonl"):
        RecordedGateway(tmp_path / "none")


def test_a_recording_names_no_file_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "answer-x").write_text("outside")
    machine = tmp_path / "machine"
    machine.mkdir()
    lines = [{"schema": "gpumon-gateway/1"}, {"ask": ["read", "x"], "answer": {"file": "answer-/../../answer-x"}}]
    (machine / "gateway.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    with pytest.raises(UnreadableInput):
        RecordedGateway(machine)
