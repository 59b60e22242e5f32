"""Knows: a GPU that is newer than the code in the build. Must not know: GPUs that were dropped."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, gpu_code, remedies
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

_SIGNALS = ("torch-arch-incompatible", "torch-gpu-outside", "ptx-target-unknown", "cuda-error-209", "torch-no-kernels")


def _check(view: View) -> Outcome:
    gap = gpu_code.find_gap(view)
    if gap is None:
        return Lacks(("torch.arch_list", "gpus.compute_capability"))
    if not isinstance(gap, gpu_code.Gap) or not gap.newer:
        return CLEAR
    return Hit(gap.confidence, gap.evidence, gap.values())


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    gap = gpu_code.find_gap(view)
    if not isinstance(gap, gpu_code.Gap):
        return ()
    if gap.framework == "tensorflow":
        return (
            advice.say(
                N_(
                    "No TensorFlow wheel up to 2.21 has code for compute capability {capability}. Use NVIDIA's "
                    "container nvcr.io/nvidia/tensorflow, or build TensorFlow yourself with CUDA 12.8 or newer."
                ),
                **gap.values(),
            ),
        )
    return (
        *remedies.cuda_torch(view, capability=gap.capability, force=True),
        advice.say(
            N_(
                "Packages that carry CUDA code of their own (torchvision, xformers, flash-attn …) must know this GPU "
                "too."
            )
        ),
    )


RULE = Rule(
    code="gpu-arch-newer-than-build",
    scope=Scope.ENVIRONMENT,
    step=7,
    severity=Severity.BLOCKS,
    title=N_("The installed build is older than this GPU: no code for {gpu} (compute capability {capability}) in it"),
    help=Help(
        what=N_("Whether the installed build contains code for the GPU's compute capability."),
        why=N_(
            'Code is compiled for GPU generations. Without it the first computation fails with "no kernel image is '
            'available", although torch.cuda.is_available() says True.'
        ),
        how=N_(
            "The build's list of architectures (torch.cuda.get_arch_list()), the message that names it, or the list of "
            "the official wheel is compared with the GPU. Code for X.y runs on X.z with z >= y; PTX on any newer GPU."
        ),
        wrong=N_(
            "A build by somebody else may hold other code than the official one. Another library than PyTorch may be "
            "the one without code."
        ),
        todo=N_(
            "Install a build with code for this GPU. The release alone does not decide: its CUDA variant does too."
        ),
    ),
    check=_check,
    needs=(("torch.arch_list", "torch.version", "tensorflow.version", *(f"signal:{kind}" for kind in _SIGNALS)),),
    advise=_advise,
    explains=("ptx-jit-first-start",),
    frameworks=("torch", "tensorflow"),
    links=("https://pytorch.org/get-started/locally/", "https://developer.nvidia.com/cuda-gpus"),
)
