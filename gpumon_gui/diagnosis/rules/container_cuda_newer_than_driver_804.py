"""Knows: a container's own libcuda that the host's driver refuses. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    refused = view.signal("cuda-error-804")
    if refused is not None:
        return Hit(Confidence.HIGH, quote(refused) + cite(view, "os.container", "gpus", "driver.version"))
    mismatch = view.signal("cuda-error-803")
    if mismatch is not None and hardware.in_container(view):
        return Hit(Confidence.MEDIUM, quote(mismatch) + cite(view, "os.container"))
    return Lacks(("log",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_REMOVE, "ls /usr/local/cuda/compat; echo $LD_LIBRARY_PATH; ldconfig -p | grep libcuda.so"),
        advice.say(_OLDER_IMAGE),
        advice.check(advice.run_python(view, "import torch; print(torch.cuda.is_available())")),
    )


_REMOVE = N_(
    "Take the folder /usr/local/cuda/compat (or the package cuda-compat) out of the container's library path. These "
    "commands show where it comes from:"
)
_OLDER_IMAGE = N_(
    "Or use an image made for the CUDA version that nvidia-smi shows on the host, or update the host's driver."
)

RULE = Rule(
    code="container-cuda-newer-than-driver-804",
    scope=Scope.MACHINE,
    step=6,
    severity=Severity.BLOCKS,
    title=N_("The container brings its own newer CUDA driver library, which this card and driver do not accept"),
    help=Help(
        what=N_("Whether a compatibility library (cuda-compat) is used on hardware that does not support it."),
        why=N_("Forward compatibility works on data-centre cards only. On others CUDA stops with error 804."),
        how=N_(
            "CUDA error 804, or error 803 inside a container. nvidia-smi in the container then shows a newer CUDA "
            "than on the host."
        ),
        wrong=N_("Error 803 can also mean that the host's driver was updated without a restart."),
        todo=N_("Remove the compatibility library from the image, use an older image, or update the host's driver."),
    ),
    check=_check,
    advise=_advise,
    explains=("driver-too-old", "code-runs-on-cpu"),
    links=("https://docs.nvidia.com/deploy/cuda-compatibility/",),
)
