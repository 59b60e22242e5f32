"""Knows: builds without machine code for this GPU that the driver compiles at first use. Must not know: other rules."""

from __future__ import annotations

from collections.abc import Mapping

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.causes import compiling as behaviour
from gpumon_gui.diagnosis.compat.capability import Capability, Code, capability_text, code_for, parse_capability
from gpumon_gui.diagnosis.compat.gpus import architecture, product
from gpumon_gui.diagnosis.compat.tensorflow import tensorflow_wants
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import at_least, same_series

_SAID = "kernels-jit-from-ptx"


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    if said is not None:
        return Hit(Confidence.HIGH, quote(said), {"capability": _named(_capabilities(view))})
    capabilities = _capabilities(view)
    if not capabilities:
        return Lacks(("gpus.compute_capability",))
    known = False
    for judge in (_torch, _tensorflow, _by_cuda):
        code, confidence, evidence = judge(view, capabilities)
        known = known or code is not None
        if code is Code.PTX:
            return Hit(confidence, evidence + cite(view, "gpus"), {"capability": _named(capabilities)})
        if code is not None:
            break
    return CLEAR if known else Lacks(("torch.arch_list", "tensorflow.version"))


_Judged = tuple[Code | None, Confidence, tuple[Evidence, ...]]


def _torch(view: View, capabilities: list[Capability]) -> _Judged:
    """get_arch_list() names machine code (sm_) and PTX (compute_)."""
    archs = [arch for arch in view.items("torch.arch_list") if isinstance(arch, str)]
    if not archs:
        return None, Confidence.LOW, ()
    return _worst(archs, capabilities), Confidence.HIGH, cite(view, "torch.arch_list")


def _tensorflow(view: View, capabilities: list[Capability]) -> _Judged:
    """A release with the CUDA that its wheels were built with has the code that its build file lists."""
    version, cuda = view.version("tensorflow.version"), view.version("tensorflow.cuda_build")
    release = tensorflow_wants(version) if version else None
    if release is None or not release.code() or (cuda is not None and not same_series(cuda, release.cuda)):
        return None, Confidence.LOW, ()
    return _worst(release.code(), capabilities), Confidence.MEDIUM, cite(view, "tensorflow.version")


def _by_cuda(view: View, capabilities: list[Capability]) -> _Judged:
    """TensorFlow always ships PTX; a CUDA older than the GPU's generation cannot have made machine code for it."""
    cuda = view.version("tensorflow.cuda_build")
    first = [found.first_cuda for cc in capabilities if (found := architecture((cc[0], 0))) and found.first_cuda]
    if cuda is None or not first:
        return None, Confidence.LOW, ()
    older = not all(at_least(cuda, wanted) for wanted in first)
    return (Code.PTX if older else Code.BINARY), Confidence.HIGH, cite(view, "tensorflow.cuda_build")


def _worst(archs: list[str] | tuple[str, ...], capabilities: list[Capability]) -> Code:
    codes = {code_for(archs, capability) for capability in capabilities}
    return Code.PTX if Code.PTX in codes else Code.NONE if Code.NONE in codes else Code.BINARY


def _capabilities(view: View) -> list[Capability]:
    found = []
    for gpu in view.items("gpus"):
        if not isinstance(gpu, Mapping):
            continue
        stated = parse_capability(gpu["compute_capability"]) if isinstance(gpu.get("compute_capability"), str) else None
        named = product(gpu["name"]) if isinstance(gpu.get("name"), str) else None
        if stated is not None:
            found.append(stated)
        elif named is not None and named.certain:
            found.append(named.capability)
    return found


def _named(capabilities: list[Capability]) -> str:
    return ", ".join(sorted({capability_text(capability) for capability in capabilities})) or "?"


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if view.is_job:
        return behaviour.advise(view, hit)
    return (
        advice.say(
            N_(
                "Wait: the first start can take many minutes on one CPU core. The result is cached, and the next start "
                "is fast. Make the cache large enough (4 GB):"
            ),
            advice.set_variable(view, "CUDA_CACHE_MAXSIZE", "4294967296"),
        ),
        advice.say(N_("Do not set CUDA_CACHE_DISABLE=1. A newer build of the framework has code for this GPU.")),
    )


RULE = Rule(
    code="ptx-jit-first-start",
    scope=Scope.ENVIRONMENT,
    step=7,
    severity=Severity.SLOWS,
    title=N_(
        "The build has no machine code for this GPU (compute capability {capability}): kernels are compiled at the "
        "first start"
    ),
    help=Help(
        what=N_("Whether the driver must compile the framework's kernels before it can start."),
        why=N_(
            "Each new GPU generation needs machine code of its own. Builds older than the GPU carry PTX, which the "
            "driver compiles at first use: minutes without a message, one CPU core busy, the GPU idle."
        ),
        how=N_(
            "The framework says so, or the architectures in the build hold only PTX for this GPU, or the build's CUDA "
            "is older than the GPU's generation. Watched: a program that started minutes ago keeps one core busy and "
            "has not used the GPU yet, a guess."
        ),
        wrong=N_("A build made by somebody else may contain other architectures than the official one."),
        todo=N_("Wait once and keep the cache, or install a build that knows this GPU."),
    ),
    check=_check,
    watch=behaviour.watch,
    advise=_advise,
    links=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",),
)
