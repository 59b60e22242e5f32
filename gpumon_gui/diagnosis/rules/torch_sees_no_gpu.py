"""Knows: a PyTorch that says that it sees no GPU, where nothing says why. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAYS = ("torch-no-gpus", "app-cannot-use-gpu", "torch-available-printed")


def _check(view: View) -> Outcome:
    if view.flag("torch.cuda_available") is not False:
        return CLEAR if view.known("torch.cuda_available") else Lacks(("torch.cuda_available",))
    if machine.torch_without_cuda(view) or view.text("torch.hip_build") is not None:
        return CLEAR  # other rules say why
    if machine.system(view) == "macos" or machine.only_other_vendors(view) or hardware.surely_no_gpu(view):
        return CLEAR
    said = view.signal(*_SAYS)
    return Hit(Confidence.LOW, quote(said) or cite(view, "torch.cuda_available"))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    shown = "echo $env:CUDA_VISIBLE_DEVICES" if advice.is_windows(view) else "echo $CUDA_VISIBLE_DEVICES"
    build = advice.say(
        N_("If this prints None, it is a CPU build; install the one with CUDA:"),
        advice.run_python(view, "import torch; print(torch.version.cuda)"),
    )
    return (
        *(() if view.known("torch.cuda_build") else (build,)),
        advice.say(
            N_("This must list the GPU. Else the driver does not run, or a container was started without --gpus all:"),
            "nvidia-smi",
        ),
        advice.say(N_("This must be empty or name a GPU that exists; GPUs count from 0:"), shown),
    )


RULE = Rule(
    code="torch-sees-no-gpu",
    scope=Scope.ENVIRONMENT,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("PyTorch sees no GPU, and what is known does not say why"),
    help=Help(
        what=N_("Whether PyTorch says that it sees no GPU while no cause is known."),
        why=N_("A CPU build, a driver that does not run and a hidden GPU all look the same from inside a program."),
        how=N_(
            "torch.cuda.is_available() is False, or a program stops with a message that says so. The steps go "
            "through the usual causes, the most likely one first."
        ),
        wrong=N_("It says that there is a cause, not which. Where one is found, it is not shown."),
        todo=N_("Look at the build, then at nvidia-smi, then at CUDA_VISIBLE_DEVICES."),
    ),
    check=_check,
    needs=(("torch.cuda_available",),),
    advise=_advise,
    fallback=True,
    frameworks=("torch",),
)
