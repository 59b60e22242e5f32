"""Knows: more memory given out than the card has. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.out_of_memory import first_numbers, written
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    found = first_numbers(view)
    if found is None:
        return Lacks(("log",))
    signal, numbers = found
    native_linux = view.text("os.family") == "linux" and view.flag("os.wsl") is not True
    if not numbers.beyond_the_card or (native_linux and view.flag("os.wsl") is False):
        return CLEAR
    # On native Linux the driver does not do this; without a word about WSL it may still be WSL.
    confidence = Confidence.MEDIUM if native_linux else Confidence.HIGH
    return Hit(confidence, quote(signal) + cite(view, "os.family", "os.wsl"), written(numbers))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    need_less = advice.say(
        N_("Need less memory: a smaller batch or image, half precision, or fewer models loaded at once.")
    )
    if view.flag("os.wsl"):
        return (
            advice.say(
                N_("WSL spills too and ignores the setting of Windows' control panel: only needing less helps.")
            ),
            need_less,
        )
    return (
        advice.say(
            N_(
                "To get an error instead of a crawl: NVIDIA Control Panel, Manage 3D settings, CUDA - Sysmem Fallback "
                'Policy, choose "Prefer No Sysmem Fallback" for the program\'s python.exe (driver 546.01 and newer).'
            )
        ),
        need_less,
    )


RULE = Rule(
    code="windows-sysmem-fallback",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_(
        "The driver moved GPU memory into the computer's memory: {allocated} are in use on a GPU that has {total}"
    ),
    help=Help(
        what=N_("Whether the driver puts GPU memory into the computer's memory when the card is full."),
        why=N_(
            "Since driver 532/535 Windows does so instead of failing; everything then crawls, about ten times slower."
        ),
        how=N_("A message says that more memory is allocated than the card has."),
        wrong=N_("While a program runs, the shared GPU memory shows it too: watch the process for that."),
        todo=N_("Need less memory, or forbid the fallback in the NVIDIA Control Panel."),
    ),
    check=_check,
    needs=(("signal:torch-out-of-memory",),),
    advise=_advise,
    explains=("oom-genuine", "oom-fragmentation", "oom-other-process", "gpu-memory-nearly-full"),
    links=("https://nvidia.custhelp.com/app/answers/detail/a_id/5490",),
)
