"""Knows: how a command gets samples: the sampler process and its supervisor. Must not know: what is done with them."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Demand
from gpumon_gui.core.status_text import left_behind_text, status_text
from gpumon_gui.system import console
from gpumon_gui.telemetry.process import SamplerProcess
from gpumon_gui.telemetry.sampler_status import SamplerState, SamplerStatus
from gpumon_gui.telemetry.supervisor import Supervisor

#: NVML's own utilization figure is renewed at most six times a second.
FASTEST_HZ: Final = 10.0
#: Without a single sample for so long a command gives up.
PATIENCE_S: Final = 60.0


def no_reading(seconds: float) -> GpumonError:
    """What is raised when the sampler gave nothing for so long."""
    return GpumonError(_("the sampler gave no reading within {seconds} s.").format(seconds=round(seconds)))


def check_scenario(name: str | None) -> None:
    """Refuse an unknown scenario before a process is started for it. Raises GpumonError."""
    if name is None:
        return
    from gpumon_gui.telemetry.synthetic.names import UnknownScenario, check_name  # only loaded when asked for

    try:
        check_name(name)
    except UnknownScenario as error:
        raise GpumonError(str(error)) from error


@contextmanager
def supervised(scenario: str | None, demand: Demand, clock: Clock) -> Iterator[Supervisor]:
    """A running sampler; ended afterwards in any case."""
    supervisor = Supervisor(lambda skip: SamplerProcess(skip, scenario=scenario), clock, demand)
    try:
        yield supervisor
    finally:
        for pid in supervisor.close().stuck_pids:
            say(left_behind_text(pid))


@contextmanager
def until_interrupted() -> Iterator[threading.Event]:
    """An event that Ctrl+C, a polite end (SIGTERM) and the end of the terminal (SIGHUP) set, so that files are closed
    properly."""
    stop = threading.Event()

    def ask(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # ignored: under nohup
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, ask) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def tell(status: SamplerStatus, now_s: float) -> None:
    """Say on stderr that the sampler is in trouble, or out of it."""
    if status.state in (SamplerState.STARTING, SamplerState.STOPPED, SamplerState.RESTARTING) or not status.code:
        return
    next_s = None if status.next_try_s is None else status.next_try_s - now_s
    say(
        status_text(
            status.code, source=status.source, seconds=now_s - status.since_s, next_s=next_s, detail=status.detail
        )
    )


def say(text: str) -> None:
    """One line for the person; stdout stays the command's output."""
    console.say(f"gpumon: {text}")
