"""Knows: worker processes that start by running the program anew. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_CERTAIN = "spawn-bootstrapping"
_WINDOWS = "spawn-child-failed"
_PICKLE = "spawn-pickle-failed"
_CODE = "windows-dataloader-spawn"
_NO_GUARD = N_(
    "The script starts workers without a main guard: on Windows each worker runs the whole script again ({place})"
)
_GUARD = N_("Start the training under the main guard, so that workers can import the file ({place}):")
_GUARD_CODE = 'def main():\n    ...\n\n\nif __name__ == "__main__":\n    main()'
_ON_WINDOWS = Sign("script-no-main-guard", Confidence.HIGH, _GUARD, _GUARD_CODE, title=_NO_GUARD)
_PERHAPS = (
    Sign("script-windows-path", Confidence.MEDIUM, _GUARD, _GUARD_CODE, title=_NO_GUARD),
    Sign("script-no-main-guard", Confidence.LOW, _GUARD, _GUARD_CODE, title=_NO_GUARD, severity=Severity.INFO),
)
_EACH_EPOCH = Sign(
    "script-loader-not-persistent",
    Confidence.LOW,
    N_("Keep the workers between epochs ({place}):"),
    "DataLoader(..., persistent_workers=True)",
    title=N_("Workers start anew in each epoch, which takes long on Windows ({place})"),
    severity=Severity.SLOWS,
)


def _check(view: View) -> Outcome:
    return with_script(view, _printed(view), _CODE, _signs(view))


def _signs(view: View) -> tuple[Sign, ...]:
    """On Linux workers are forked: nothing runs twice."""
    if advice.is_windows(view):
        return (_ON_WINDOWS, _EACH_EPOCH)
    return () if view.known("os.family") else _PERHAPS


def _printed(view: View) -> Outcome:
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


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *better(view, _signs(view)[:1] if view.signal("script-no-main-guard") else _signs(view)),
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
    code=_CODE,
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
        how=N_(
            'The error about the "bootstrapping phase", or a failed start in popen_spawn_win32.py; in a script '
            "workers without guard."
        ),
        wrong=N_("A failed start of a child can also come from missing memory (WinError 1455)."),
        todo=N_("Use the main guard and persistent workers."),
    ),
    check=_check,
    needs=(
        (f"signal:{_CERTAIN}", f"signal:{_WINDOWS}", f"signal:{_PICKLE}", *needs(_ON_WINDOWS, *_PERHAPS, _EACH_EPOCH)),
    ),
    advise=_advise,
    links=("https://pytorch.org/docs/stable/notes/windows.html#multiprocessing-error-without-if-clause-protection",),
)
