"""Knows: copies to the GPU that the computation waits for. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import in_profile
from gpumon_gui.diagnosis.behaviour.causes import transfers as behaviour
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_CODE = "host-to-device-transfer-bound"
_IN_SCRIPT = (
    Sign(
        "script-loader-not-pinned",
        Confidence.LOW,
        N_("Let the loader put batches into pinned memory, and copy without waiting ({place}):"),
        "loader = DataLoader(..., pin_memory=True)\ninputs = inputs.to(device, non_blocking=True)",
        title=N_("The script copies each batch from ordinary memory: the GPU waits for every copy ({place})"),
        severity=Severity.INFO,
    ),
)


def _check(view: View) -> Outcome:
    return in_profile.weighed(in_profile.waiting_for_copies(view), _in_script(view))


def _in_script(view: View) -> Outcome:
    outcome = with_script(view, Lacks(("log",)), _CODE, _IN_SCRIPT)
    if not isinstance(outcome, Hit):
        return outcome
    copies = quote(*view.signals("script-copy-each-step")[:2])
    return Hit(outcome.confidence, outcome.evidence + copies, outcome.values, outcome.severity, outcome.title)


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if view.is_job:
        return behaviour.advise(view, hit)
    return (*better(view, _IN_SCRIPT), *in_profile.better(view, "transfers", "keep-on-gpu"))


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The time goes into copies to the GPU while its cores wait"),
    help=Help(
        what=N_("Whether a program spends its time copying data to the GPU."),
        why=N_(
            "From ordinary (pageable) memory the driver copies twice and the CPU waits; from pinned memory copies run "
            "beside the computation."
        ),
        how=N_(
            "In a script: batches copied in the loop from a DataLoader without pin_memory=True. In a profile: at "
            "least 15 percent of the time only copies between computer and GPU run, or the CPU prepares them. "
            "Watched: traffic over PCIe that keeps one core or the link busy for more than a third of the time, and "
            "for longer than kernels run. Traffic beside a busy GPU is no fault."
        ),
        wrong=N_("Small batches and long steps do not notice the copies. A measurement decides."),
        todo=N_("Use pin_memory=True and non_blocking=True, and copy small types (uint8) rather than float32."),
    ),
    check=_check,
    watch=behaviour.watch,
    needs=((*needs(*_IN_SCRIPT), "profile.gpu_copy_share"),),
    advise=_advise,
    links=("https://pytorch.org/tutorials/intermediate/pinmem_nonblock.html",),
)
