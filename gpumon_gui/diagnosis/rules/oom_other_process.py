"""Knows: memory that other processes hold. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, Confidence, Severity, Step
from gpumon_gui.diagnosis.out_of_memory import first_numbers, written
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

#: From half of the card on it is no longer a matter of estimates (context, desktop).
_SURE_SHARE = 0.5


def _check(view: View) -> Outcome:
    found = first_numbers(view)
    if found is None:
        return Lacks(("log",))
    signal, numbers = found
    if numbers.beyond_the_card or not numbers.others_are_the_cause:
        return CLEAR
    sure = numbers.others >= _SURE_SHARE * numbers.total
    return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, quote(signal), written(numbers))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if advice.is_windows(view):
        return (
            advice.say(
                N_("Find the process: Task Manager, Details, column Dedicated GPU memory. End it if nobody needs it."),
            ),
            advice.check("nvidia-smi"),
        )
    return (
        advice.say(
            N_(
                "Find the processes. The list of nvidia-smi can be empty: children of a killed program, or processes "
                "in containers, are only seen by the files they hold open."
            ),
            "sudo fuser -v /dev/nvidia*",
        ),
        advice.say(N_("End those that nobody needs, by their number:"), "kill PID"),
        advice.check("nvidia-smi"),
    )


RULE = Rule(
    code="oom-other-process",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("Other processes hold {others} of the GPU's {total}: this one has {held} and cannot get {request} more"),
    help=Help(
        what=N_("Whether others hold the memory that this program lacks."),
        why=N_(
            "A program that was killed can leave children that keep the GPU's memory; a notebook or a second training "
            "does the same."
        ),
        how=N_(
            "From the numbers in the message: total minus free memory is much more than this process holds (others "
            "have at least 30 percent), and what was asked for would have fitted without them."
        ),
        wrong=N_(
            "What one process holds beside its tensors is estimated for old versions of torch, so that small shares of "
            "others are not judged. A second framework in the same process counts as another."
        ),
        todo=N_("Find the other processes and end them, or choose another GPU."),
    ),
    check=_check,
    needs=(("signal:torch-out-of-memory",),),
    advise=_advise,
    short_of=(GPU_MEMORY,),
    explains=("gpu-memory-nearly-full",),
)
