"""``gpumon watch`` as a user meets it: recordings, scripted machines, programs that it starts."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing as closing_connection
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.cli.main import run
from gpumon_gui.cli.sampling import PATIENCE_S
from gpumon_gui.cli.started import Started
from gpumon_gui.cli.watching import Seen, live
from gpumon_gui.core.clock import Instant
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.diagnosis.report.tables import terminal
from gpumon_gui.diagnosis.report.watch import closing, sections
from gpumon_gui.telemetry.recording.writer import RecordingWriter
from gpumon_gui.telemetry.sampler_status import Event, SampleReady
from tests.unit.diagnosis.test_made_up_workloads import FOUR_BUSY, HEALTHY, TINY
from tests.unit.diagnosis.workloads import Now, record, then

TRACES = Path(__file__).parents[1] / "data" / "traces"
DEMO = Path(__file__).parents[2] / "resources" / "demo" / "h200-training.gpumon"
STARVED = TRACES / "trace-d13.jsonl.gz"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["schema"] == "gpumon-report/1"
    return found


def python(code: str) -> list[str]:
    return ["--", sys.executable, "-c", code]


def gpumon(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "gpumon_gui", *arguments]


# -- recordings


def test_a_trace_gets_a_verdict_with_evidence_and_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", "--replay", str(STARVED)]) == 1
    out = capsys.readouterr().out
    assert out.index("input-pipeline-bound") < out.index("num_workers")
    assert "pid 549" in out
    assert "UTC" in out
    assert "Read from: NVML trace, OS." in out
    assert "Wh in that time" in out


def test_json_is_one_document_with_what_was_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", "--replay", str(STARVED), "--json"]) == 1
    found = document(capsys)
    watch = found["facts"]["watch"]
    assert watch["mode"] == "replay"
    assert watch["file"] == STARVED.name
    assert watch["samples"] == 75
    assert watch["stable"]
    first = found["findings"][0]
    assert first["code"] == "input-pipeline-bound"
    spans = [span for span in watch["spans"] if span["code"] == first["code"]]
    assert spans
    assert all(0 <= span["from_s"] < span["to_s"] <= watch["seconds"] for span in spans)


def test_a_part_of_a_recording_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    run(["watch", "--replay", str(DEMO), "--from", "5", "--to", "20", "--json"])
    assert 14 <= document(capsys)["facts"]["watch"]["seconds"] <= 15.5


@pytest.mark.parametrize(("damaged", "code"), [(60, 1), (1, 2)])
def test_a_damaged_recording_is_judged_up_to_there(
    damaged: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.gpumon"
    writer = RecordingWriter(file, {})
    for sample in record(FOUR_BUSY, seconds=60.0):
        writer.append(sample)
    writer.close()
    with closing_connection(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE sample SET body = '{' WHERE id >= ?", (damaged,))
        connection.commit()
    assert run(["watch", "--replay", str(file), "--json"]) == code
    out, err = capsys.readouterr()
    assert f"damaged at sample {damaged} of " in err
    if code == 1:
        watch = json.loads(out)["facts"]["watch"]
        assert watch["samples"] == damaged - 1
        (note,) = watch["notes"]
        assert f"(sample {damaged} of " in note
        assert "about the time before" in note


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_the_report_is_saved_and_redacted(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / f"report.{suffix}"
    assert run(["watch", "--replay", str(STARVED), "--report", str(target)]) == 1
    written = target.read_text(encoding="utf-8")
    assert "input-pipeline-bound" in written
    assert str(target) in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--report", "{}/none/report.html"], ["--report", "{}/folder.md"], ["--log", "{}/none.log"]]
)
def test_what_was_watched_is_told_although_a_file_fails(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.md").mkdir()
    words = [word.format(tmp_path) for word in arguments]
    assert run(["watch", "--replay", str(STARVED), *words]) == 2
    out, err = capsys.readouterr()
    assert "input-pipeline-bound" in out
    assert str(Path(words[1])) in err
    assert err.count("\n") == 1


def test_what_the_program_printed_is_judged_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    log.write_text("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).\n")
    assert run(["watch", "--replay", str(STARVED), "--log", str(log), "--json"]) == 1
    assert {"driver-too-old", "input-pipeline-bound"} <= {one["code"] for one in document(capsys)["findings"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--replay", "/no/such.gpumon"], str(Path("/no/such.gpumon"))),
        (["--pid", "x"], "no process id"),
        (["--pid", "-4"], "no process id"),
        (["--pid", "4194305"], "there is no process 4194305"),
        (["--pid", "1", "--replay", "x"], "not allowed with"),
        (["--pid", "1", "--", "ls"], "--pid and --replay"),
        (["--"], "there is no COMMAND"),
        (["--", "/no/such/program"], "such"),
        (["--seconds", "0"], "is not a number between"),
        (["--from", "3"], "--from and --to"),
        (["--replay", str(STARVED), "--from", "9", "--to", "8"], "--to must be later"),
        (["--replay", str(STARVED), "--from", "900"], "beyond its end"),
        (["--replay", str(STARVED), "--hz", "2"], "--hz and --scenario"),
        (["--scenario", "bogus"], "there is no scenario"),
        (["--report", "x.docx"], ".html, .md or .json"),
        (["train.py"], "unrecognized arguments"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", *arguments]) == 2
    out, err = capsys.readouterr()
    assert says in err
    assert err.count("\n") == 1
    assert out == ""


def test_only_watch_takes_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--", "ls"]) == 2
    assert "only watch" in capsys.readouterr().err


# -- live


def test_a_scripted_machine_is_watched_for_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["watch", "--scenario", "idle-holding", "--seconds", "1.5", "--hz", "10", "--json"])
    found = document(capsys)
    assert code in (0, 1)
    assert found["facts"]["watch"]["samples"] >= 5
    assert not found["facts"]["watch"]["stable"]
    assert found["facts"]["jobs"][0]["activity"]["busy"] == 0
    assert not found["bugs"]


def test_a_command_runs_untouched_and_its_end_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    code = run(["watch", "--scenario", "one-gpu-training", *python("import sys; print('mine'); sys.exit(3)")])
    out = capfd.readouterr().out
    assert code == 0
    assert out.startswith("mine")
    assert "exit code 3" in out


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere the system looks where the shell does")
@pytest.mark.parametrize("name", ["python", "conda"])
def test_a_command_is_the_one_that_the_shell_would_start(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """An environment's ``python`` although another one lies beside our own program, and a ``conda.bat``."""
    (tmp_path / f"{name}.bat").write_text("@echo mine %1\r\n@exit /b 3\r\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("PATHEXT", ".COM;.EXE;.BAT;.CMD")
    program = Started([name, "train.py"])
    assert program.wait(20)
    assert program.exit_code == 3
    assert "mine train.py" in capfd.readouterr().out


def test_with_json_the_command_prints_elsewhere(capfd: pytest.CaptureFixture[str]) -> None:
    run(["watch", "--json", *python("print('x' * 3_000_000)")])
    out, err = capfd.readouterr()
    found = json.loads(out)
    assert err.count("x") >= 3_000_000
    assert found["facts"]["watch"]["exit_code"] == 0


def test_the_arguments_of_a_command_are_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    code = "import sys; print(sys.argv[1:])"
    assert run(["watch", *python(code), "--lang", "zh_CN", "--pid", "--", "--json"]) == 0
    out = capfd.readouterr().out
    assert "['--lang', 'zh_CN', '--pid', '--', '--json']" in out
    assert "exit code 0" in out  # and the language stays ours


def test_a_command_is_seen_with_its_children_before_it_touches_a_gpu(capfd: pytest.CaptureFixture[str]) -> None:
    child = "import time; t = time.time()\nwhile time.time() - t < 2.5: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    run(["watch", "--json", "--hz", "10", *python(parent)])
    found = json.loads(capfd.readouterr().out)
    (job,) = found["facts"]["jobs"]
    assert job["program"]["pid"] == found["facts"]["watch"]["pid"]
    assert len(job["program"]["pids"]) >= 2
    assert job["cpu"]["cores"] > 0.2  # the child's


def test_a_process_that_ends_meanwhile_is_said_to_have_ended(capsys: pytest.CaptureFixture[str]) -> None:
    program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1.5)"])
    try:
        code = run(["watch", "--pid", str(program.pid), "--json", "--hz", "10"])
    finally:
        program.wait(20)
    watch = document(capsys)["facts"]["watch"]
    assert code == 0
    assert watch["ended"]
    assert watch["run_s"] >= 1
    assert watch["exit_code"] is None


@posix
def test_a_signal_ends_a_command_by_its_own_means() -> None:
    code = "import signal, sys, time\ndef end(*_):\n    print('cleaned', flush=True)\n    sys.exit(7)\n"
    code += "signal.signal(signal.SIGTERM, end)\n"
    code += "print('ready', flush=True)\ntime.sleep(60)"
    process = subprocess.Popen(
        gpumon("watch", *python(code)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        out, _err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert out.startswith("cleaned\n")
    assert "exit code 7" in out
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("watch", "says"),
    [
        ({"turns": [{"from_s": 1.0, "title": "x"}], "mode": "replay"}, "Something changed shortly before the end"),
        ({"turns": [], "mode": "replay"}, "Too little was seen for a verdict."),
        ({"turns": [], "mode": "pid"}, "watch for longer"),
    ],
)
def test_what_could_not_be_judged_says_why(watch: dict[str, Any], says: str) -> None:
    (line,) = closing({"findings": [], "facts": {"jobs": [{}], "watch": {"stable": False, **watch}}})
    assert says in line


def test_before_a_verdict_no_causes_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    run(["watch", "--replay", str(STARVED), "--to", "3"])
    early = capsys.readouterr().out
    assert "Watched for 3 s.\n" in early
    assert "Causes" not in early
    run(["watch", "--replay", str(STARVED)])
    assert "Causes that were looked for" in capsys.readouterr().out


def test_how_bad_it_was_is_told_with_each_change() -> None:
    turns = [
        {"from_s": 0.0, "code": None, "severity": None, "title": "nothing"},
        {"from_s": 95.0, "code": "input-pipeline-bound", "severity": "slows", "title": "waits"},
        {"from_s": 99.0, "code": "gpu-memory-held-idle", "severity": "slows", "title": "holds"},
    ]
    (part,) = sections({"watch": {"seconds": 100.4, "steady_s": 9.0, "turns": turns}})
    assert part["lines"][0].startswith("Watched for 1 min 40 s; the verdict is about the last 9 s")
    assert [row[:2] for row in part["tables"][0]["rows"]] == [
        ["0 s", ""],
        ["1 min 35 s", "input-pipeline-bound · Slow"],
        ["1 min 39 s", "gpu-memory-held-idle · Holds memory"],
    ]


def test_a_long_verdict_is_not_cut_in_the_table_of_changes() -> None:
    title = "The program holds 24.6 GB of GPU 0 and did nothing for 17 seconds, neither there nor on the CPU"
    turns = [{"from_s": 0.0, "code": "a", "title": "x"}, {"from_s": 9.0, "code": "b", "title": title}]
    (block,) = terminal(sections({"watch": {"seconds": 20.0, "steady_s": 9.0, "turns": turns}}))
    assert title in block


def test_nothing_is_said_of_work_that_was_not_seen() -> None:
    (part,) = sections({"watch": {"seconds": 0.0, "steady_s": 0.0}})
    assert part["lines"] == ["Watched for 0 s."]


def deaf(folder: Path) -> Started:
    """A program that hears no signal."""
    ready = folder / "ready"
    os.mkfifo(ready)
    program = Started(["sh", "-c", f"trap '' HUP INT TERM; echo > {ready}; exec sleep 60"])
    ready.read_text()  # its traps stand
    return program


@posix
@pytest.mark.parametrize(("name", "times"), [("SIGTERM", 1), ("SIGHUP", 1), ("SIGINT", 3)])
def test_a_command_that_hears_no_signal_is_left(name: str, times: int, tmp_path: Path) -> None:
    program = deaf(tmp_path)
    try:
        with program.passing_signals_on(0.2) as unheard:
            for _time in range(times):
                assert not unheard.is_set()
                os.kill(os.getpid(), getattr(signal, name))
            assert unheard.wait(10)
            assert not program.ended()
    finally:
        os.kill(program.pid, signal.SIGKILL)
        assert program.wait(10)


class Silent:
    """A sampler that gives these samples and then nothing, at a second each; also the clock, and the program (of ours,
    or somebody's) that ends after so long."""

    pid, started_utc_s, exit_code = 549, None, None

    def __init__(self, samples: Sequence[Sample], *, is_ours: bool, lasts_s: float) -> None:
        self.is_ours, self._lasts_s, self._now_s = is_ours, lasts_s, 0.0
        self._left = list(samples)

    def now(self) -> Instant:
        return Instant(self._now_s, 1e9 + self._now_s)

    def ended(self) -> bool:
        return self._now_s >= self._lasts_s

    def step(self, _timeout_s: float) -> list[Event]:
        self._now_s += 1.0
        return [SampleReady(self._left.pop(0))] if self._left else []

    def set_demand(self, _demand: Demand) -> None:
        pass

    def watched(self, monkeypatch: pytest.MonkeyPatch) -> Seen:
        @contextmanager
        def supervised(*_: object) -> Iterator[Silent]:
            yield self

        monkeypatch.setattr("gpumon_gui.cli.watching.supervised", supervised)
        return live(self, None, None, None, self, threading.Event(), lambda *_: None)


def test_a_command_is_followed_to_its_end_although_the_sampler_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = Silent([], is_ours=True, lasts_s=3 * PATIENCE_S)
    assert silent.watched(monkeypatch).notes == [
        "The sampler gave no reading in the last 3 min: what was done then is not known."
    ]
    assert silent.ended()
    err = capsys.readouterr().err
    assert err.count("gave no reading") == 1
    assert "waits for its end" in err


def test_a_sampler_that_falls_silent_takes_no_verdict_away(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = record(FOUR_BUSY, seconds=30.0)
    seen = Silent(samples, is_ours=False, lasts_s=1e6).watched(monkeypatch)
    assert seen.samples == len(samples)
    assert seen.verdict is not None
    assert "The sampler gave no reading" in seen.notes[-1]
    with pytest.raises(GpumonError, match="no reading within 60 s"):
        Silent([], is_ours=False, lasts_s=1e6).watched(monkeypatch)


def test_a_command_is_waited_for_although_watching_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> Seen:
        raise ZeroDivisionError

    monkeypatch.setattr("gpumon_gui.cli.watch.live", fails)
    done = tmp_path / "done"
    code = f"import pathlib, time; time.sleep(0.5); pathlib.Path({str(done)!r}).touch()"
    assert run(["watch", *python(code)]) == 3
    assert done.exists()
    assert "GPUMon waits for its end" in capfd.readouterr().err


@posix
def test_ctrl_c_is_the_commands_own_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = deaf(tmp_path)
    try:
        with program.passing_signals_on(0.05) as unheard:
            for _time in range(2):
                os.kill(os.getpid(), signal.SIGINT)
            assert not unheard.wait(0.3)
            assert not program.ended()
        assert "Press Ctrl+C once more to leave it running" in capsys.readouterr().err
    finally:
        os.kill(program.pid, signal.SIGKILL)
        assert program.wait(10)


@posix
def test_ctrl_c_in_a_terminal_reaches_the_command_once() -> None:
    code = (
        "import signal, sys, time\nseen = []\nsignal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('ready', flush=True)\nend = time.time() + 1.5\n"
        "while not seen or time.time() < end: time.sleep(0.05)\nprint('asked', len(seen), flush=True)"
    )
    controller, terminal = os.openpty()
    process = subprocess.Popen(
        gpumon("watch", *python(code)),
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: _control(terminal),
    )
    os.close(terminal)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.write(controller, b"\x03")
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        os.close(controller)
    assert out.startswith("asked 1\n"), err
    assert "Ctrl+C is for" in err
    assert "exit code 0" in out


def _control(terminal: int) -> None:
    """In the new process: its terminal is this one."""
    import fcntl  # POSIX only
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def test_no_watch_needs_qt() -> None:
    found = subprocess.run(
        gpumon("watch", "--replay", str(STARVED)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        check=False,
    )
    assert found.returncode == 1
    assert "PySide6" not in found.stderr


def test_a_log_of_nvidia_smi_is_judged_without_knowing_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "gpu.csv"
    rows = "".join(f"2026/11/30 12:00:{second:02}.000, 97 %, 40 %, 620.10 W\n" for second in range(40))
    log.write_text(f"timestamp, utilization.gpu [%], utilization.memory [%], power.draw [W]\n{rows}2026/11/30 12")
    assert run(["watch", "--replay", str(log)]) == 0
    out = capsys.readouterr().out
    assert "Log of nvidia-smi: GPU busy 97 % of the time" in out
    assert "Line 42" in out  # the line that was cut off
    log.write_text(rows)
    assert run(["watch", "--replay", str(log)]) == 2
    assert "without its header" in capsys.readouterr().err


def test_what_another_users_process_hides_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("psutil.Process.username", lambda _self: "somebody")
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    if hasattr(os, "geteuid"):
        monkeypatch.setattr("os.geteuid", lambda: 1000)
    run(["watch", "--pid", str(os.getpid()), "--seconds", "0.5", "--hz", "10"])
    assert "belongs to somebody" in capsys.readouterr().err


def test_a_process_of_a_scripted_machine_is_followed(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--scenario", "one-gpu-training", "--pid", "41207", "--seconds", "1", "--hz", "10", "--json"]
    run(["watch", *arguments])
    found = document(capsys)
    (job,) = found["facts"]["jobs"]
    assert job["subject"] == "pid 41207"
    assert job["program"]["framework"] == "PyTorch"
    assert found["facts"]["gpus"]
    assert found["facts"]["os"]["family"] in ("linux", "windows", "macos")
    assert found["facts"]["watch"]["energy_j"]["GPU 0"] > 0


def test_what_changed_on_the_way_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.gpumon"
    writer = RecordingWriter(file, {"system": "Windows 11"})
    for sample in record(then(TINY, 40.0, FOUR_BUSY), seconds=75.0):
        writer.append(sample)
    writer.close()
    assert run(["watch", "--replay", str(file)]) == 1
    out = capsys.readouterr().out
    assert out.index("input-pipeline-bound") < out.index("What changed meanwhile") < out.index("workload-too-small")
    run(["watch", "--replay", str(file), "--json"])
    found = document(capsys)
    assert [turn["code"] for turn in found["facts"]["watch"]["turns"]] == ["workload-too-small", "input-pipeline-bound"]
    assert found["facts"]["os"]["family"] == "windows"


def test_the_report_says_what_the_verdict_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pauses that returned are held for a while; the last minute alone saw one."""

    def pausing(now_s: float) -> Now:
        return Now(main=1.0) if now_s % 20 >= 15 and now_s < 120 else HEALTHY(now_s)

    file = tmp_path / "run.gpumon"
    writer = RecordingWriter(file, {})
    for sample in record(pausing, seconds=165.0, hertz=2.0):
        writer.append(sample)
    writer.close()
    run(["watch", "--replay", str(file), "--json"])
    found = document(capsys)
    assert found["facts"]["watch"]["turns"][-1]["severity"] == "slows"
    assert [(one["code"], one["severity"], one["rank"]) for one in found["findings"]] == [
        ("gpu-idle-gaps-cpu-phase", "slows", 1)
    ]


@posix
def test_ctrl_c_ends_watching_a_process_with_the_report() -> None:
    process = subprocess.Popen(
        gpumon("watch", "--pid", str(os.getpid()), "--scenario", "one-gpu-training", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()  # the first verdict: it has samples
        process.send_signal(signal.SIGINT)
        out, _err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert line.startswith("gpumon: ")
    assert json.loads(out)["facts"]["watch"]["samples"] > 10
