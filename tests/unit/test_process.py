"""The parent's side of a sampler process: latest wins, damage is noticed, the end is bounded."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.core.model import Demand
from gpumon_gui.telemetry import winjob
from gpumon_gui.telemetry.blackbox import Blackbox, Pulse
from gpumon_gui.telemetry.process import (
    SamplerProcess,
    StopOutcome,
    exit_text,
    sampler_command,
    sampler_environment,
)
from gpumon_gui.telemetry.wire import Damaged, Ended, Frame, Hello, Message

SCRIPT = str(Path(__file__).with_name("scripted_child.py"))
COMMAND = (sys.executable, SCRIPT, "--sampler-child")
PATIENCE_S = 20.0

posix = pytest.mark.skipif(sys.platform == "win32", reason="about POSIX signals")


def started(scenario: str = "") -> SamplerProcess:
    return SamplerProcess(command=COMMAND, scenario=scenario or None)


def wait_for(process: SamplerProcess, kind: type[Message]) -> list[Message]:
    """Everything that came until the first message of a kind."""
    messages: list[Message] = []
    while not any(isinstance(message, kind) for message in messages):
        came = process.receive(PATIENCE_S)
        assert came, f"nothing more: {messages} {process.tail()}"
        messages += came
    return messages


def test_a_consumer_that_sleeps_finds_the_newest_frame_only() -> None:
    process = started("flood")
    wait_for(process, Frame)
    before = process.frames_replaced
    while process.frames_replaced < before + 300:  # nobody takes any
        threading.Event().wait(0.01)
    frames = [message for message in process.receive(0.0) if isinstance(message, Frame)]
    assert len(frames) == 1
    assert frames[0].sample.sequence > 300
    assert process.kill(PATIENCE_S) is StopOutcome.KILLED


def test_garbage_is_told_once_and_nothing_is_read_after_it() -> None:
    process = started("garbage")
    messages = wait_for(process, Damaged)
    assert isinstance(messages[0], Hello)
    process.kill(PATIENCE_S)
    assert [type(message) for message in process.receive(PATIENCE_S)] == [Ended]


@pytest.mark.parametrize(
    ("scenario", "code", "text"), [("exit", 3, "exit code 3"), pytest.param("crash", -11, "SIGSEGV", marks=posix)]
)
def test_the_end_comes_last_with_its_code(scenario: str, code: int, text: str) -> None:
    process = started(scenario)
    process.send(Demand(interval_s=0.05))
    messages = wait_for(process, Ended)
    assert messages[-1] == Ended(code)
    assert exit_text(code) == text
    process.kill()


@posix
def test_stop_asks_then_makes() -> None:
    polite, rude = started(), started("hang")
    for process in (polite, rude):
        process.send(Demand(interval_s=0.05))
        wait_for(process, Frame)
    assert polite.stop(PATIENCE_S) is StopOutcome.ENDED
    while rude.pulse().busy != "beta":
        rude.receive(0.02)
    assert rude.stop(0.4) is StopOutcome.TERMINATED
    assert rude.exit_code() == -signal.SIGTERM


@posix
def test_a_stopped_process_is_killed() -> None:
    process = started()
    wait_for(process, Hello)
    subprocess.run(["kill", "-STOP", str(process.pid)], check=True)
    assert process.stop(0.4) is StopOutcome.KILLED
    assert process.exit_code() == -signal.SIGKILL


def test_what_cannot_be_killed_is_said_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    process = started()
    wait_for(process, Hello)
    with monkeypatch.context() as kernel:  # a call in the kernel that does not return
        kernel.setattr(subprocess.Popen, "kill", lambda self: None)
        kernel.setattr(subprocess.Popen, "terminate", lambda self: None)
        kernel.setattr(process, "_write", lambda data: None)
        kernel.setattr(process._stdin, "close", lambda: None)
        assert process.stop(0.2) is StopOutcome.STUCK
        assert process.exit_code() is None
    assert process.kill(PATIENCE_S) is StopOutcome.KILLED


@posix
def test_demands_to_a_process_that_does_not_read_never_block() -> None:
    process = started()
    wait_for(process, Hello)
    subprocess.run(["kill", "-STOP", str(process.pid)], check=True)
    for number in range(5000):  # far more than a pipe holds
        process.send(Demand(interval_s=60.0 + number))
    subprocess.run(["kill", "-CONT", str(process.pid)], check=True)
    process.send(Demand(interval_s=0.05))
    frames: list[Message] = []
    while not frames:  # the newest demand arrives once it lives again
        frames = [message for message in process.receive(0.1) if isinstance(message, Frame)]
    process.stop(PATIENCE_S)


def test_poke_ends_a_wait() -> None:
    process = started()
    wait_for(process, Hello)
    process.poke()
    assert process.receive(PATIENCE_S) == ()
    process.stop(PATIENCE_S)


def test_a_program_that_does_not_exist_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        SamplerProcess(command=("/no-such-program",))


def test_the_command_is_this_program(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sampler_command() == (sys.executable, "-P", "-m", "gpumon_gui", "--sampler-child")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert sampler_command() == (sys.executable, "--sampler-child")


def test_a_frozen_sampler_starts_as_if_by_hand() -> None:
    given = {
        "PATH": "/bin",
        "_MEIPASS2": "/tmp/x",
        "_PYI_APPLICATION_HOME_DIR": "/tmp/x",
        "LD_LIBRARY_PATH": "/tmp/x",
        "LD_LIBRARY_PATH_ORIG": "/opt/cuda/lib",
    }
    assert sampler_environment(given, frozen=True) == {
        "PATH": "/bin",
        "LD_LIBRARY_PATH": "/opt/cuda/lib",
        "PYINSTALLER_RESET_ENVIRONMENT": "1",
    }
    del given["LD_LIBRARY_PATH_ORIG"]
    assert "LD_LIBRARY_PATH" not in sampler_environment(given, frozen=True)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "exit code 0"),
        pytest.param(-9, "SIGKILL", marks=posix),
        (-200, "signal 200"),
        (0xC0000005, "0xc0000005 access violation"),
        (0xC0001234, "0xc0001234"),
        (None, "closed its pipe"),
    ],
)
def test_how_a_process_ended_in_a_technical_word(code: int | None, text: str) -> None:
    assert exit_text(code) == text


class TestBlackbox:
    @pytest.fixture
    def box(self) -> Any:
        made = Blackbox.make()
        yield made
        made.close()

    def test_notes_are_read_as_written(self, box: Blackbox) -> None:
        assert box.read() == Pulse(0, 0, "")
        box.beat()
        box.enter("nvml")
        assert box.read() == Pulse(1, 1, "nvml")
        box.enter("")
        assert box.read() == Pulse(1, 2, "")

    def test_a_name_that_is_too_long_is_cut_and_a_strange_one_survives(self, box: Blackbox) -> None:
        box.enter("显" * 30)
        assert box.read().busy.startswith("显显显")
        box.enter("a" * 100)
        assert box.read().busy == "a" * 40

    def test_a_half_written_note_is_not_believed(self, box: Blackbox) -> None:
        box.enter("nvml")
        before = box.read()
        box._shared[4:8] = b"\x09\0\0\0"  # the writer is at work: the second serial is still the old one
        box._shared[8:12] = b"junk"
        assert box.read() == before

    def test_the_last_note_is_known_after_closing(self, box: Blackbox) -> None:
        box.enter("nvml")
        box.close()
        assert box.read().busy == "nvml"

    def test_an_address_of_another_kind_is_refused(self) -> None:
        with pytest.raises(ValueError, match="not an address"):
            Blackbox.attach("elsewhere")


@pytest.mark.skipif(sys.platform != "win32", reason="jobs are Windows'")
def test_a_sampler_is_tied_to_this_program_by_a_job() -> None:
    process = started()
    assert winjob.tie(int(process._process._handle))  # type: ignore[attr-defined]
    process.stop(PATIENCE_S)
    assert not winjob.tie(0)
