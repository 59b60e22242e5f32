"""Knows: an NCCL that cannot set up its connections. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Rule, Scope, said

_SAYS = "nccl-system-error"


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_("Let NCCL tell what failed; a line with WARN before the error names it:"),
            advice.set_variable(view, "NCCL_DEBUG", "INFO"),
        ),
        advice.say(
            N_("In a container it is mostly /dev/shm, with 64 MB by default. Start it with more:"),
            "docker run --gpus all --shm-size=8g IMAGE",
        ),
        advice.say(
            N_("With several computers, name the network between them (ip addr lists them):"),
            advice.set_variable(view, "NCCL_SOCKET_IFNAME", "eth0"),
        ),
    )


RULE = Rule(
    code="nccl-system-error",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("NCCL could not connect the GPUs, and what is known does not say why"),
    help=Help(
        what=N_("Whether NCCL stopped with a system error."),
        why=N_("NCCL connects the GPUs of a training; without it several GPUs cannot work together."),
        how=N_(
            'The message is "unhandled system error". The steps go through the usual causes, the most likely one first.'
        ),
        wrong=N_("When one process ends first, the others show this error as a consequence: read the first one."),
        todo=N_("Start again with NCCL_DEBUG=INFO, and look at /dev/shm and at the network."),
    ),
    check=said(_SAYS, Confidence.LOW),
    needs=((f"signal:{_SAYS}",),),
    advise=_advise,
    fallback=True,
    links=("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",),
)
