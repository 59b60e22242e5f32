"""Knows: a bitsandbytes that works without the GPU. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Rule, Scope, said

_SAYS = "bitsandbytes-without-gpu"


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_("It asks PyTorch for the CUDA version. This must print a version and True:"),
            advice.run_python(view, "import torch; print(torch.version.cuda, torch.cuda.is_available())"),
        ),
        advice.say(
            N_("If it does, the package has no file for that CUDA, or is old. Install the newest:"),
            advice.pip_install(view, "bitsandbytes", options="--upgrade"),
        ),
        advice.check(f"{advice.python_of(view)} -m bitsandbytes"),
    )


RULE = Rule(
    code="bitsandbytes-without-gpu",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.SLOWS,
    title=N_("bitsandbytes works without the GPU: PyTorch sees none, or the package has no file for its CUDA"),
    help=Help(
        what=N_("Whether bitsandbytes says that it has no GPU support."),
        why=N_("Models in 8 or 4 bits then do not load, or compute on the CPU."),
        how=N_("It prints that it was compiled without GPU support when it has loaded its file for the CPU."),
        wrong=N_("The sentence is misleading: usually the package is right, and PyTorch sees no GPU."),
        todo=N_("Make PyTorch see the GPU first, then renew bitsandbytes."),
    ),
    check=said(_SAYS, Confidence.MEDIUM),
    needs=((f"signal:{_SAYS}",),),
    advise=_advise,
    links=("https://huggingface.co/docs/bitsandbytes/main/en/installation",),
)
