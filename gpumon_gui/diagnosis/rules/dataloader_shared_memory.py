"""Knows: workers that load data and run out of shared memory. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import WORKERS, Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Rule, Scope, said

_SAYS = "dataloader-bus-error"


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(N_("See how large it is; a container has 64 MB by default:"), "df -h /dev/shm"),
        advice.say(
            N_("Start the container with more. In Kubernetes, mount an emptyDir of medium Memory at /dev/shm."),
            "docker run --gpus all --shm-size=8g IMAGE",
        ),
        advice.say(N_("Until then fewer workers need less of it; num_workers=0 needs none.")),
    )


RULE = Rule(
    code="dataloader-shared-memory",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("A worker that loads data was stopped: mostly /dev/shm, the memory between processes, is full"),
    help=Help(
        what=N_("Whether workers that load data were stopped by a bus error."),
        why=N_("Workers hand batches over through /dev/shm. When it is full, the system stops them."),
        how=N_("The message of the DataLoader names a bus error. In a container /dev/shm has 64 MB by default."),
        wrong=N_("In rare cases a bus error comes from a file that was truncated while it was read."),
        todo=N_("Give the container more shared memory, or use fewer workers."),
    ),
    check=said(_SAYS, Confidence.MEDIUM),
    needs=((f"signal:{_SAYS}",),),
    advise=_advise,
    short_of=(WORKERS,),
    links=("https://docs.docker.com/reference/cli/docker/container/run/",),
)
