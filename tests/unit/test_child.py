"""The sampler as a real process: what it says, what it costs, and that it never stays behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpumon_gui import __version__
from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.telemetry import child
from gpumon_gui.telemetry.process import SamplerProcess, StopOutcome, sampler_command, sampler_environment
from gpumon_gui.telemetry.wire import Bye, Ended, Fault, Frame, Hello, Message

SCRIPT = str(Path(__file__).with_name("scripted_child.py"))
COMMAND = (sys.executable, SCRIPT, "--sampler-child")
PATIENCE_S = 20.0
FAST = Demand(interval_s=0.05)


class Running:
    """A sampler process and everything it has said."""

    def __init__(
        self, scenario: str = "", skip: frozenset[str] = frozenset(), command: tuple[str, ...] = COMMAND
    ) -> None:
        self.process = SamplerProcess(skip, command=command, scenario=scenario or None)
        self.messages: list[Message] = []

    def until(self, kind: type[Message], count: int = 1) -> Message:
        """Wait for the count-th message of a kind."""
        while sum(isinstance(message, kind) for message in self.messages) < count:
            came = self.process.receive(PATIENCE_S)
            assert came, f"nothing more from the sampler: {self.messages} {self.process.tail()}"
            self.messages += came
        return [message for message in self.messages if isinstance(message, kind)][count - 1]

    def sample(self, count: int = 1) -> Sample:
        message = self.until(Frame, count)
        assert isinstance(message, Frame)
        return message.sample


def test_says_hello_then_samples_then_goodbye() -> None:
    running = Running()
    running.process.send(FAST)
    hello = running.until(Hello)
    assert hello == Hello(__version__, running.process.pid)
    assert [info.name for info in running.sample(3).inventory] == ["Card alpha", "Card beta"]
    assert running.process.stop(PATIENCE_S) is StopOutcome.ENDED
    running.until(Ended)
    assert running.messages[-2:] == [Bye(), Ended(0)]


def test_reads_nothing_before_the_first_demand_and_while_paused() -> None:
    running = Running()
    running.until(Hello)
    beats = running.process.pulse().beats
    while running.process.pulse().beats < beats + 3:  # it lives, and beats do not count as messages
        running.messages += running.process.receive(0.1)
    assert not any(isinstance(message, Frame) for message in running.messages)
    running.process.send(FAST)
    running.sample(2)
    running.process.send(Demand(interval_s=0.0))
    serial = -1
    while serial != running.process.pulse().serial:  # sweeps come to rest: two beats without one
        serial, beats = running.process.pulse().serial, running.process.pulse().beats
        while running.process.pulse().beats < beats + 2:
            running.process.receive(0.1)
    running.process.stop(PATIENCE_S)


@pytest.mark.parametrize("interval_s", [0.0, -1.0, float("inf"), float("nan")])
def test_an_interval_that_is_no_positive_number_pauses(interval_s: float) -> None:
    assert child.interval(Demand(interval_s=interval_s)) == 0.0


def test_no_demand_makes_it_spin() -> None:
    assert child.interval(Demand(interval_s=1e-9)) == child.MIN_INTERVAL_S


def test_a_source_to_skip_is_not_read() -> None:
    running = Running(skip=frozenset({"beta"}))
    running.process.send(FAST)
    assert [health.name for health in running.sample().health] == ["alpha"]
    running.process.stop(PATIENCE_S)


def test_tells_its_own_cost_in_each_sample() -> None:
    running = Running()
    running.process.send(FAST)
    first = running.sample().cost
    assert isinstance(first.cpu, Missing)
    assert first.cpu.reason is Reason.FIRST_SAMPLE
    assert isinstance(first.rss_bytes, Reading)
    later = running.sample(3).cost
    assert isinstance(later.cpu, Reading)
    assert isinstance(later.cpu.value, float)
    assert 0.0 <= later.cpu.value <= 2.0
    running.process.stop(PATIENCE_S)


def test_is_lean_no_qt_no_numpy_little_memory() -> None:
    running = Running("modules")
    running.process.send(FAST)
    sample = running.sample()
    loaded = {name.partition(".")[0] for name in sample.health[0].detail.split()}
    assert not loaded & {"PySide6", "shiboken6", "numpy", "pyqtgraph"}
    assert isinstance(sample.cost.rss_bytes, Reading)
    assert isinstance(sample.cost.rss_bytes.value, int)
    assert sample.cost.rss_bytes.value <= 45 << 20
    running.process.stop(PATIENCE_S)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_real_sampler_is_lean_too() -> None:
    running = Running(command=sampler_command())
    running.process.send(FAST)
    sample = running.sample(2)
    mapped = Path(f"/proc/{running.process.pid}/maps").read_text(encoding="utf-8")
    running.process.stop(PATIENCE_S)
    assert not [word for word in ("PySide6", "shiboken6", "numpy", "pyqtgraph", "libQt6") if word in mapped]
    assert isinstance(sample.cost.rss_bytes, Reading)
    assert isinstance(sample.cost.rss_bytes.value, int)
    assert sample.cost.rss_bytes.value <= 45 << 20


def test_what_libraries_print_does_not_damage_the_stream() -> None:
    running = Running("print")
    running.process.send(FAST)
    running.sample(3)
    assert running.process.stop(PATIENCE_S) is StopOutcome.ENDED
    assert "so does its C part" in running.process.tail()
    assert "a library talks" in running.process.tail()


def test_a_raising_sweep_is_told_once_and_the_next_one_comes() -> None:
    running = Running("raise")
    running.process.send(FAST)
    assert running.sample(3).sequence >= 4  # the second raised
    faults = [message for message in running.messages if isinstance(message, Fault)]
    assert len(faults) == 1
    assert "RuntimeError: beta is broken" in faults[0].text
    running.process.stop(PATIENCE_S)


def test_a_sampler_that_cannot_be_built_says_why_and_ends() -> None:
    running = Running("unbuildable")
    running.until(Ended)
    assert any(isinstance(message, Fault) and "no sources" in message.text for message in running.messages)
    assert running.messages[-1] == Ended(1)
    running.process.kill()


def test_the_busy_source_can_be_read_while_it_hangs_and_after_it_was_killed() -> None:
    running = Running("hang")
    running.process.send(FAST)
    running.sample()
    beats = running.process.pulse().beats
    while not (running.process.pulse().busy == "beta" and running.process.pulse().beats > beats + 2):
        running.process.receive(0.05)  # beats go on while the main thread hangs
    assert running.process.kill(PATIENCE_S) is StopOutcome.KILLED
    assert running.process.pulse().busy == "beta"


@pytest.mark.skipif(sys.platform == "win32", reason="dies of a signal")
def test_a_crash_in_a_source_leaves_its_name_and_the_line_that_crashed() -> None:
    running = Running("crash")
    running.process.send(FAST)
    assert running.until(Ended) == Ended(-signal.SIGSEGV)
    assert running.process.pulse().busy == "beta"
    running.process.kill()
    assert "_misbehave" in running.process.tail()


@pytest.mark.skipif(sys.platform != "linux", reason="needs pidfd")
@pytest.mark.parametrize("scenario", ["steady", "hang", "hang-alone", "hang-close"])
def test_no_sampler_outlives_a_killed_window(scenario: str) -> None:
    window = (
        "import sys\n"
        "from gpumon_gui.core.model import Demand\n"
        "from gpumon_gui.telemetry.process import SamplerProcess\n"
        "p = SamplerProcess(command=tuple(sys.argv[2:]), scenario=sys.argv[1])\n"
        "p.send(Demand(interval_s=0.05))\n"
        "frames = 0\n"
        "while frames < 1 or (sys.argv[1].startswith('hang-a') and p.pulse().busy != 'beta'):\n"
        "    frames += sum(hasattr(m, 'sample') for m in p.receive(0.05))\n"
        "print(p.pid, flush=True)\n"
        "while True: p.receive(1.0)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", window, scenario, *COMMAND],
        env=sampler_environment(os.environ, frozen=False),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    handle = os.pidfd_open(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    try:
        ended, _, _ = select.select([handle], [], [], PATIENCE_S)
        assert ended, "the sampler is still there"
    finally:
        os.close(handle)


def test_the_command_line_is_read_strictly() -> None:
    options = child.parse(["--sampler-child", "--parent", "7", "--box", "fd:3", "--skip", "a,b", "--scenario", "x"])
    assert options == child.Options(7, "fd:3", "x", frozenset({"a", "b"}))
    for wrong in (["--parent"], ["--parent", "1"], ["--parent", "1", "--box", "fd:3", "--speed", "9"]):
        with pytest.raises(ValueError, match="sampler arguments"):
            child.parse(wrong)
