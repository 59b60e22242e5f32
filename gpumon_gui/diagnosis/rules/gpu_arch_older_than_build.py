"""Knows: a GPU whose code was dropped from the build. Must not know: GPUs that are too new."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, gpu_code, machine, remedies
from gpumon_gui.diagnosis.compat.capability import Code, code_for
from gpumon_gui.diagnosis.compat.tensorflow import tensorflow_releases
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope
from gpumon_gui.diagnosis.versions import text

_SIGNALS = (
    "torch-arch-incompatible",
    "torch-gpu-outside",
    "tensorflow-gpu-too-old",
    "cuda-error-209",
    "torch-no-kernels",
)


def _check(view: View) -> Outcome:
    gap = gpu_code.find_gap(view)
    if gap is None:
        return Lacks(("torch.arch_list", "gpus.compute_capability"))
    if not isinstance(gap, gpu_code.Gap) or gap.newer:
        return CLEAR
    return Hit(gap.confidence, gap.evidence, gap.values())


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    gap = gpu_code.find_gap(view)
    if not isinstance(gap, gpu_code.Gap):
        return ()
    if gap.framework != "tensorflow":
        return remedies.cuda_torch(view, capability=gap.capability, force=True)
    python = machine.python_version(view)
    for build in reversed(tensorflow_releases()):
        if not build.code() or code_for(build.code(), gap.capability) is Code.NONE:
            continue
        if python is not None and not build.has_python(python, windows=advice.is_windows(view)):
            continue
        package = f"{build.package}[{build.extra}]" if build.extra else build.package
        return (
            advice.say(
                N_(
                    "TensorFlow {version} is the last release with code for this GPU here; it needs CUDA {cuda} and "
                    "cuDNN {cudnn}."
                ),
                version=build.latest,
                cuda=text(build.cuda),
                cudnn=text(build.cudnn),
            ),
            *remedies.pypi(view, remedies.quoted(view, f"{package}=={build.latest}")),
            advice.check(advice.run_python(view, remedies.TF_WORKS)),
        )
    return (
        advice.say(
            N_(
                "No TensorFlow wheel for this Python has code for compute capability {capability}. An older Python may "
                "have one; otherwise only a build of your own, or another GPU, helps."
            ),
            **gap.values(),
        ),
    )


RULE = Rule(
    code="gpu-arch-older-than-build",
    scope=Scope.ENVIRONMENT,
    step=7,
    severity=Severity.BLOCKS,
    title=N_("The installed build has no code any more for {gpu} (compute capability {capability})"),
    help=Help(
        what=N_("Whether the installed build still contains code for the GPU's compute capability."),
        why=N_(
            "Frameworks drop old GPU generations, and not in all variants at once: PyTorch 2.8 has code for 5.0 to 6.1 "
            "in its CUDA 12.6 variant and not in the 12.8 one."
        ),
        how=N_(
            "The build's list of architectures (torch.cuda.get_arch_list()), the message that names it, or the list of "
            "the official wheel is compared with the GPU. Code for X.y runs on X.z with z >= y, never on an older one."
        ),
        wrong=N_("A build by somebody else may hold other code than the official one."),
        todo=N_("Install the newest build that still has code for this GPU."),
    ),
    check=_check,
    needs=(("torch.arch_list", "torch.version", "tensorflow.version", *(f"signal:{kind}" for kind in _SIGNALS)),),
    advise=_advise,
    frameworks=("torch", "tensorflow"),
    links=("https://pytorch.org/get-started/previous-versions/", "https://developer.nvidia.com/cuda-gpus"),
)
