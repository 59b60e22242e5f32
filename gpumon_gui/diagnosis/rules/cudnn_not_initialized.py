"""Knows: a cuDNN that does not start under PyTorch. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Rule, Scope, said

_SAYS = "torch-cudnn-not-initialized"


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    alone = "import torch; print(torch.nn.Conv2d(1, 1, 1).cuda()(torch.ones(1, 1, 1, 1).cuda()).item())"
    return (
        advice.say(N_("See first who holds the memory: nvidia-smi lists the processes."), "nvidia-smi"),
        advice.say(N_("Then see whether cuDNN works in a small program:"), advice.run_python(view, alone)),
        advice.say(
            N_(
                "If it does not: another cuDNN may be loaded first (look at LD_LIBRARY_PATH), or the driver is older "
                "than this PyTorch needs."
            )
        ),
    )


RULE = Rule(
    code="cudnn-not-initialized",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("cuDNN could not start: mostly no GPU memory is left"),
    help=Help(
        what=N_("Whether cuDNN fails at its start under PyTorch."),
        why=N_("Convolutions then stop with an error that names no cause."),
        how=N_(
            "The message is CUDNN_STATUS_NOT_INITIALIZED. It is only a sign; the steps go through the usual causes, "
            "the most likely one first."
        ),
        wrong=N_("An earlier error of a kernel in the same process can show up here first."),
        todo=N_("Look at the memory, then at which cuDNN is loaded, then at the driver."),
    ),
    check=said(_SAYS, Confidence.LOW),
    needs=((f"signal:{_SAYS}",),),
    advise=_advise,
    fallback=True,
    frameworks=("torch",),
)
