"""Knows: whether the installed build holds code for this machine's GPU, from messages, from its list of
architectures, or from the tables. Must not know: what is advised about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpumon_gui.diagnosis import machine
from gpumon_gui.diagnosis.compat.capability import Capability, Code, capability_text, code_for, parse_capability
from gpumon_gui.diagnosis.compat.gpus import architecture
from gpumon_gui.diagnosis.compat.torch import torch_release
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Evidence
from gpumon_gui.diagnosis.remedies import tensorflow_of
from gpumon_gui.diagnosis.rule import CLEAR, Answer, cite, quote
from gpumon_gui.diagnosis.versions import at_least

#: Without a list of architectures: what no build of the last years holds any more, and what the older ones lack.
_OLD_UP_TO: Capability = (7, 0)
_NEW_FROM: Capability = (10, 0)
_NO_KERNEL = ("cuda-error-209", "torch-no-kernels", "torch-gpu-too-old")
_NAMED = ("torch-arch-incompatible", "torch-gpu-outside", "tensorflow-gpu-too-old", "ptx-target-unknown")
#: A message that a GPU is named in says so for sure only together with one of these, or by itself.
_WORD = re.compile(r"(?:sm|compute)_\d+[af]?")


@dataclass(frozen=True, slots=True)
class Gap:
    """A GPU that the build has no code for. ``newer``: the GPU is newer than the build, else older. ``built``: the
    architectures in the build, or "" when not known."""

    newer: bool
    gpu: str
    capability: Capability
    built: str
    framework: str
    confidence: Confidence
    evidence: tuple[Evidence, ...]

    def values(self) -> dict[str, str]:
        """For titles and advice."""
        return {"gpu": self.gpu, "capability": capability_text(self.capability), "built": self.built or "?"}


def find_gap(view: View) -> Gap | Answer | None:
    """The gap, :data:`CLEAR` when each known GPU has code, or None when that is not known."""
    return _printed(view) or _torch(view) or _tensorflow(view)


def _printed(view: View) -> Gap | None:
    """A message names the GPU's capability."""
    for signal in view.signals(*_NAMED):
        capability = _of(signal)
        if capability is None:
            continue
        built = _list(view)
        least, most = (parse_capability(str(signal.values.get(key, ""))) for key in ("least", "most"))
        newer: bool | None
        if least is not None and capability < least:
            newer = False
        elif (most is not None and capability > most) or signal.kind == "ptx-target-unknown":
            newer = True
        elif signal.kind == "torch-gpu-outside" and view.signal("torch-gpu-too-old") is not None:
            newer = False
        elif signal.kind == "torch-gpu-outside" and least is None:
            continue
        else:
            newer = _is_newer(capability, built or _table_list(view), view)
        if newer is None:
            newer = capability > _OLD_UP_TO
        shown = ", ".join(built) or " - ".join(capability_text(bound) for bound in (least, most) if bound)
        evidence = quote(signal, view.signal(*_NO_KERNEL)) + cite(view, "torch.version", "torch.arch_list")
        name = str(signal.values.get("gpu") or _name(view, capability))
        framework = signal.framework or "torch"
        return Gap(newer, name, capability, shown, framework, Confidence.HIGH, evidence)
    return None


def _torch(view: View) -> Gap | Answer | None:
    said = view.signal(*_NO_KERNEL)
    gpus = machine.capabilities(view)
    if not gpus or machine.torch_without_cuda(view) or view.text("torch.hip_build"):
        return None
    exact = _list(view)
    built = exact or _table_list(view)
    cuda = machine.torch_cuda(view)
    if built:
        missing = [(name, gpu) for name, gpu in gpus if code_for(built, gpu, cuda) is Code.NONE]
        if not missing:
            return None if said is not None else CLEAR
        every = len(missing) == len(gpus)
        sure = every and (bool(exact) or said is not None)
        return _gap(view, missing[0], built, Confidence.HIGH if sure else Confidence.MEDIUM, said)
    too_new = [(name, gpu) for name, gpu in gpus if cuda is not None and _cuda_before(cuda, gpu)]
    if too_new:
        return _gap(view, too_new[0], (), Confidence.HIGH if said is not None else Confidence.MEDIUM, said)
    if said is not None and all(gpu >= _NEW_FROM or gpu <= _OLD_UP_TO for _, gpu in gpus):
        return _gap(view, gpus[0], (), Confidence.MEDIUM, said)
    return None


def _tensorflow(view: View) -> Gap | Answer | None:
    build = tensorflow_of(view)
    gpus = machine.capabilities(view)
    if build is None or not gpus or view.flag("tensorflow.built_with_cuda") is False:
        return None
    if machine.system(view) == "windows" and not build.windows_gpu:
        return None
    if machine.tensorflow_sees_gpu(view):
        return CLEAR
    code = build.code()
    if not code:
        return None
    missing = [(name, gpu) for name, gpu in gpus if code_for(code, gpu) is Code.NONE]
    if len(missing) < len(gpus):
        broken = view.signal("cuda-invalid-ptx")
        late = [(name, gpu) for name, gpu in gpus if code_for(code, gpu) is Code.PTX]
        if broken is None or not late:
            return CLEAR
        name, gpu = late[0]
        evidence = quote(broken) + cite(view, "tensorflow.version", "gpus")
        return Gap(True, name, gpu, ", ".join(code), "tensorflow", Confidence.HIGH, evidence)
    name, gpu = missing[0]
    newer = _is_newer(gpu, code, view)
    evidence = cite(view, "tensorflow.version", "gpus")
    return Gap(bool(newer), name, gpu, ", ".join(code), "tensorflow", Confidence.MEDIUM, evidence)


def _gap(
    view: View, found: tuple[str, Capability], built: tuple[str, ...], confidence: Confidence, said: Signal | None
) -> Gap:
    name, capability = found
    newer = _is_newer(capability, built, view)
    evidence = quote(said) + cite(view, "gpus", "torch.version", "torch.cuda_build", "torch.arch_list")
    return Gap(bool(newer), name, capability, ", ".join(built), "torch", confidence, evidence)


def _is_newer(capability: Capability, built: tuple[str, ...], view: View) -> bool | None:
    """Newer than what is in the build; None when that cannot be said."""
    capabilities = [found for found in map(parse_capability, built) if found is not None]
    if capabilities:
        return capability > min(capabilities)
    cuda = machine.torch_cuda(view)
    if cuda is not None and _cuda_before(cuda, capability):
        return True
    if capability >= _NEW_FROM:
        return True
    return False if capability <= _OLD_UP_TO else None


def _cuda_before(cuda: tuple[int, ...], capability: Capability) -> bool:
    """Whether a CUDA version is too old to compile for a GPU generation; code of the same major may still run."""
    first = architecture((capability[0], 0)) or architecture(capability)
    return first is not None and first.first_cuda is not None and not at_least(cuda, first.first_cuda)


def _list(view: View) -> tuple[str, ...]:
    known = tuple(arch for arch in view.items("torch.arch_list") if isinstance(arch, str))
    printed = view.signal("torch-arch-list")
    if not known and printed is not None:
        known = tuple(_WORD.findall(str(printed.values.get("archs", ""))))
    return known


def _table_list(view: View) -> tuple[str, ...]:
    """What the official wheel of the installed version holds."""
    version, cuda = view.version("torch.version"), machine.torch_cuda(view)
    release = torch_release(version) if version is not None and len(version) > 1 else None
    if release is None or cuda is None or len(cuda) < 2 or view.text("interpreter.kind") == "conda":
        return ()
    variant = f"cu{cuda[0]}{cuda[1]}"
    system = machine.system(view) or "linux"
    code = release.code(variant, system, aarch64=machine.is_aarch64(view))
    return tuple(entry if entry.startswith("compute") else f"sm_{entry.replace('.', '')}" for entry in code)


def _of(signal: Signal) -> Capability | None:
    sm = signal.values.get("sm")
    text = f"sm_{sm}" if sm is not None else str(signal.values.get("arch", ""))
    return parse_capability(text)


def _name(view: View, capability: Capability) -> str:
    return next((name for name, found in machine.capabilities(view) if found == capability), "GPU")
