"""Knows: a PyTorch for NVIDIA on a machine that has only Intel graphics. Must not know: the other rules."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    makers = hardware.vendors(view)
    if hardware.has_nvidia(view) is True or (makers and None not in makers and "intel" not in makers):
        return CLEAR
    if "intel" not in makers or hardware.has_nvidia(view) is None:
        return Lacks(("gpus",))
    if _XPU.search(view.text("torch.version") or ""):
        return CLEAR
    facts = cite(view, "gpus", "torch.version", "torch.cuda_build", "torch.hip_build", "torch.cuda_available")
    said = view.signal(*hardware.LOOKS_FOR_CUDA)
    values = {"gpu": hardware.name_of(view, "intel")}
    cuda = machine.torch_cuda(view) is not None or machine.torch_without_cuda(view)
    if cuda or said is not None:
        # Beside a discrete card of another maker, integrated graphics are not what the user means.
        return Hit(Confidence.HIGH if makers == {"intel"} else Confidence.MEDIUM, facts + quote(said), values)
    if view.flag("torch.cuda_available") is False:
        return Hit(Confidence.MEDIUM, facts, values)
    return Lacks(("torch.cuda_build",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            _INSTALL, advice.pip_install(view, "torch torchvision torchaudio", index=f"{advice.PYTORCH_INDEX}/xpu")
        ),
        advice.say(_CODE),
        advice.check(advice.run_python(view, "import torch; print(torch.xpu.is_available())")),
    )


_XPU = re.compile(r"\+xpu")
_INSTALL = N_("Arc and newer Core Ultra graphics work with the XPU build of PyTorch:")
_CODE = N_(
    'In the code, write "xpu" where it says "cuda". Older Intel graphics cannot train; OpenVINO runs finished models '
    "on them."
)

RULE = Rule(
    code="intel-gpu-with-cuda-build",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("This PyTorch is not made for Intel graphics, and {gpu} is the only GPU"),
    help=Help(
        what=N_("Whether a CUDA or CPU build of PyTorch runs on a machine whose GPUs are from Intel."),
        why=N_("CUDA works with NVIDIA cards only. A message about a driver that is too old misleads here."),
        how=N_("The makers of all GPUs that are known, and what torch was built for."),
        wrong=N_("Where the NVIDIA card was just not listed. XPU and OpenVINO builds are not CUDA builds."),
        todo=N_("Install the XPU build and use the device xpu."),
    ),
    check=_check,
    advise=_advise,
    explains=(
        "torch-cpu-only-build",
        "driver-too-old",
        "driver-module-not-loaded",
        "code-runs-on-cpu",
        "cuda-visible-devices-hides-gpu",
    ),
    frameworks=("torch",),
    links=("https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html",),
)
