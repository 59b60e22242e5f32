"""Knows: how one process is asked to end, and how it is made sure that it is that process. Must not know: Qt.

A pid is only a number that the system gives away again. The start time pins it: it is compared immediately before the
signal is sent.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gpumon_gui.core.boot import boot_first

if TYPE_CHECKING:
    import psutil

#: Between two looks at one process from two programs the start time may differ by this much on Linux: it is computed
#: from the boot time, which the kernel gives in whole seconds. No pid comes round again that fast.
SAME_START_S = 1.5
#: How long a process gets to end by itself before killing is offered.
PATIENCE_S = 3.0
_STEP_S = 0.1


class EndResult(StrEnum):
    """What came of it."""

    ENDED = "ended"
    STILL_RUNNING = "still_running"  #: was asked, has not ended within PATIENCE_S
    GONE = "gone"  #: had ended before
    RECYCLED = "recycled"  #: the pid belongs to another process now; nothing was done
    DENIED = "denied"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class EndRequest:
    """Which process to end. ``force``: kill, without a chance to save."""

    pid: int
    started_utc_s: float
    name: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class EndOutcome:
    """The result of a request; ``detail`` is technical."""

    request: EndRequest
    result: EndResult
    detail: str = ""


def end_process(request: EndRequest, stop: threading.Event) -> EndOutcome:
    """End a process and wait for it, at most :data:`PATIENCE_S` or until ``stop`` is set. Blocks; raises nothing."""
    import psutil  # only when a process is ended: the window itself does without

    try:
        first = boot_first()
        # Psutil counts from the boot time of now, which follows a clock that was set meanwhile.
        moved_s = 0.0 if first is None else psutil.boot_time() - first
        process = psutil.Process(request.pid)
        if abs(process.create_time() - moved_s - request.started_utc_s) > SAME_START_S:
            return EndOutcome(request, EndResult.RECYCLED)
        # psutil compares the start time once more itself before it signals.
        if request.force:
            process.kill()
        else:
            process.terminate()
        return EndOutcome(request, EndResult.ENDED if _ended(process, stop) else EndResult.STILL_RUNNING)
    except psutil.NoSuchProcess:
        return EndOutcome(request, EndResult.GONE)
    except psutil.AccessDenied:
        return EndOutcome(request, EndResult.DENIED)
    except (psutil.Error, OSError) as error:
        return EndOutcome(request, EndResult.FAILED, f"{type(error).__name__}: {error}")


def _ended(process: psutil.Process, stop: threading.Event) -> bool:
    for _step in range(round(PATIENCE_S / _STEP_S)):
        if not process.is_running() or process.status() == "zombie":
            return True
        if stop.wait(_STEP_S):
            break
    return False
