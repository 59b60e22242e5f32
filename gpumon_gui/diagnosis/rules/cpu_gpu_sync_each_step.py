"""Knows: a CPU that waits for the GPU in each step. Must not know: the other rules."""

from __future__ import annotations

from dataclasses import replace

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, in_profile
from gpumon_gui.diagnosis.behaviour.causes import sync as behaviour
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_CODE = "cpu-gpu-sync-each-step"
_KEEP = N_("Add up on the GPU and fetch the value once in many steps ({place}):")
_KEEP_CODE = "total += loss.detach()\nif step % 100 == 0:\n    print(total.item() / 100)\n    total.zero_()"
_IN_SCRIPT = (
    Sign(
        "script-empty-cache-each-step",
        Confidence.MEDIUM,
        N_(
            "Leave torch.cuda.empty_cache() out of the loop: memory is then asked from the driver anew each time "
            "({place})."
        ),
    ),
    Sign(
        "script-synchronize-each-step",
        Confidence.MEDIUM,
        N_("Leave {call} out of the loop; measure time over many steps instead ({place})."),
    ),
    Sign(
        "script-copy-back-each-step",
        Confidence.MEDIUM,
        N_("Keep results on the GPU and copy them once after the loop ({place}):"),
        "outputs.append(output.detach())  # in the loop\noutputs = torch.cat(outputs).cpu()  # behind it",
    ),
    Sign(
        "script-stream-synchronize-each-step",
        Confidence.LOW,
        N_("Let a stream wait for the other on the GPU, instead of the CPU for both ({place}):"),
        "torch.cuda.current_stream().wait_stream(side)  # or .wait_event(event)",
    ),
    Sign("script-print-each-step", Confidence.LOW, _KEEP, _KEEP_CODE),
    Sign("script-item-each-step", Confidence.LOW, _KEEP, _KEEP_CODE),
)
#: So many places in one step are more than the usual logging of the loss.
_MANY = 3


def _check(view: View) -> Outcome:
    outcome = _in_script(view, Lacks(("log",)))
    return in_profile.weighed(in_profile.waiting_after_each_wait(view), outcome)


def _in_script(view: View, outcome: Outcome) -> Outcome:
    joined = with_script(view, outcome, _CODE, _IN_SCRIPT)
    places = sum(len(view.signals(sign.kind)) for sign in _IN_SCRIPT)
    if isinstance(joined, Hit) and joined.confidence is Confidence.LOW and places >= _MANY:
        return replace(joined, confidence=Confidence.MEDIUM)
    return joined


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if view.is_job:
        return behaviour.advise(view, hit)
    if view.known("profile"):
        return (*better(view, _IN_SCRIPT), *in_profile.better(view, "sync"))
    return (
        advice.say(
            N_("Measure before you change it: one value fetched in a step that takes 100 ms costs next to nothing.")
        ),
        *better(view, _IN_SCRIPT),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("Each training step makes the CPU wait for the GPU"),
    help=Help(
        what=N_("Whether a program waits for the GPU in each step."),
        why=N_(
            "The CPU normally prepares the next steps while the GPU computes. Fetching a value (.item(), .cpu(), "
            "print) waits until all work is done; with short steps the GPU then idles between them."
        ),
        how=N_(
            "In a script: values fetched, printed or waited for in the loop that computes gradients, in each turn and "
            "not in every N-th. In a profile: the waits for the GPU, each as far as idle time follows it, are at "
            "least 15 percent of the time. Watched: GPU and program both wait in even steps, a guess only."
        ),
        wrong=N_(
            "It is blamed more often than it is at fault: with long steps it costs a few percent at most. Only a "
            "profile (cudaStreamSynchronize) shows what it costs."
        ),
        todo=N_("Fetch values once in many steps, and add up on the GPU in between."),
    ),
    check=_check,
    watch=behaviour.watch,
    needs=((*needs(*_IN_SCRIPT), "profile.sync_count"),),
    advise=_advise,
    links=(
        "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization",
    ),
)
