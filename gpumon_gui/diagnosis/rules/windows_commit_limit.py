"""Knows: Windows' limit of committed memory. Must not know: GPU memory, missing DLLs."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import WORKERS, Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "winerror-1455"


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    if said is None:
        return CLEAR if view.text("os.family") in ("linux", "macos") else Lacks(("log",))
    return Hit(Confidence.HIGH, quote(said) + cite(view, "training.num_workers", "host.memory_total_bytes"))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    workers = view.number("training.num_workers")
    few = (
        advice.say(
            N_(
                "Use fewer worker processes than the {workers} now: each one loads PyTorch and its CUDA libraries "
                "again."
            ),
            workers=f"{workers:.0f}",
        )
        if workers
        else advice.say(
            N_("Use fewer worker processes (num_workers, or 0): each one loads PyTorch and its CUDA libraries again.")
        )
    )
    return (
        few,
        advice.say(
            N_(
                "Or enlarge the page file: System Properties, Advanced, Performance, Settings, Advanced, Virtual "
                "memory. Let Windows manage its size, on a drive with free space."
            ),
            "SystemPropertiesPerformance.exe",
        ),
    )


RULE = Rule(
    code="windows-commit-limit",
    scope=Scope.MACHINE,
    step=2,
    severity=Severity.CRASHES,
    title=N_("Windows has no memory left to promise: RAM and page file together are too small"),
    help=Help(
        what=N_("Whether Windows refused memory because its commit limit was reached."),
        why=N_(
            "Windows promises no more than RAM plus page file. Worker processes that each load PyTorch with its CUDA "
            "libraries reach that limit. The DLL in the message is an accident, and GPU memory has no part in it."
        ),
        how=N_("The number 1455 in Windows' message, whatever its language."),
        wrong=N_("Another program may have taken the memory."),
        todo=N_("Start fewer workers, or enlarge the page file."),
    ),
    check=_check,
    needs=(("os.family", f"signal:{_SAID}"),),
    advise=_advise,
    short_of=(WORKERS,),
    explains=("torch-dll-dependency-missing",),
    links=("https://learn.microsoft.com/windows/win32/debug/system-error-codes--1300-1699-",),
)
