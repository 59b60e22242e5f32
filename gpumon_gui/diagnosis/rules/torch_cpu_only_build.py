"""Knows: torch without CUDA in it. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import hardware, machine, remedies
from gpumon_gui.diagnosis.facts import UNKNOWN, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_EVEN_WITH = N_("Even with a GPU this PyTorch could not use it: it is a CPU build, without CUDA")
_SIGNALS = ("torch-not-compiled-with-cuda", "collect-env-torch-without-cuda", "torch-cpu-version")


def _check(view: View) -> Outcome:
    if machine.system(view) == "macos" or machine.only_other_vendors(view):
        return CLEAR  # no CUDA build would help: other rules say so
    build = view.get("torch.cuda_build")
    title = _EVEN_WITH if hardware.surely_no_gpu(view) else None
    printed = view.signal(*_SIGNALS)
    if build is None and view.text("torch.hip_build") is None:
        return Hit(Confidence.HIGH, cite(view, "torch.version", "torch.cuda_build") + quote(printed), title=title)
    if build is UNKNOWN and printed is not None:
        return Hit(Confidence.HIGH, cite(view, "torch.version") + quote(printed), title=title)
    if build is UNKNOWN and machine.torch_says_cpu(view):
        sure = view.version("torch.version") is not None
        return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, cite(view, "torch.version"), title=title)
    return Lacks(("torch.cuda_build",)) if build is UNKNOWN else CLEAR


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (*remedies.without_gpu(view), *remedies.cuda_torch(view))


RULE = Rule(
    code="torch-cpu-only-build",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("The installed PyTorch is a CPU build: there is no CUDA in it"),
    help=Help(
        what=N_("Whether the installed torch was built with CUDA."),
        why=N_(
            "A CPU build cannot use any GPU, whatever driver or toolkit is installed. On Windows and macOS "
            '"pip install torch" gives this build.'
        ),
        how=N_(
            "torch.version.cuda is None and torch.version.hip is None. A version that ends in +cpu says the same; one "
            "without it proves nothing, since conda's CPU builds have none."
        ),
        wrong=N_(
            "Not wrong where the facts come from the interpreter itself. A CPU build may be what you want on a "
            "machine without a GPU."
        ),
        todo=N_("Install the CUDA build that fits your driver, then check again."),
    ),
    check=_check,
    needs=(("torch.cuda_build", "torch.version", *(f"signal:{kind}" for kind in _SIGNALS)),),
    advise=_advise,
    explains=("code-runs-on-cpu",),
    frameworks=("torch",),
    links=("https://pytorch.org/get-started/locally/",),
)
