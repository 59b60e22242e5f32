"""Knows: worker processes that start by running the program anew. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_CERTAIN = "spawn-bootstrapping"
_WINDOWS = "spawn-child-failed"
_PICKLE = "spawn-pickle-failed"


def _check(view: View) -> Outcome:
    certain = view.signal(_CERTAIN)
    if certain is not None:
        return Hit(Confidence.HIGH, quote(certain))
    child, pickle = view.signal(_WINDOWS), view.signal(_PICKLE)
    if child is not None and pickle is not None:
        return Hit(Confidence.HIGH, quote(pickle, child))
    if child is not None:  # a child could not be started; why, the rest of the traceback would say
        return Hit(Confidence.MEDIUM, quote(child))
    if pickle is None:
        return Lacks(("log",))
    if not view.known("os.family"):
        return Lacks(("os.family",))
    if not advice.is_windows(view):
        return CLEAR
    return Hit(Confidence.LOW, quote(pickle) + cite(view, "os.family"))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                'Put everything that starts the training into a function and call it under if __name__ == "__main__":. '
                "Dataset, transforms and collate functions must be defined at module level, not inside functions."
            )
        ),
        advice.say(N_("Keep the workers between epochs: DataLoader(..., persistent_workers=True).")),
        advice.say(N_("To see whether the rest works, run once with num_workers=0.")),
    )


RULE = Rule(
    code="windows-dataloader-spawn",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("Worker processes start by running the program anew, and the program is not written for that"),
    help=Help(
        what=N_("Whether data-loading workers fail because each one runs the main program again."),
        why=N_(
            'Windows (and macOS) start workers by "spawn": each imports the program again and receives the data set '
            "through pickle. Without the main guard that fails, and it costs time at each epoch."
        ),
        how=N_('The error about the "bootstrapping phase", or a failed start in popen_spawn_win32.py.'),
        wrong=N_("A failed start of a child can also come from missing memory (WinError 1455)."),
        todo=N_("Use the main guard and persistent workers."),
    ),
    check=_check,
    needs=((f"signal:{_CERTAIN}", f"signal:{_WINDOWS}", f"signal:{_PICKLE}"),),
    advise=_advise,
    links=("https://pytorch.org/docs/stable/notes/windows.html#multiprocessing-error-without-if-clause-protection",),
)
