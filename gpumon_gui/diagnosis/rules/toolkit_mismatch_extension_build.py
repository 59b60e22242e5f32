"""Knows: a CUDA toolkit that does not fit torch while an extension is compiled. Must not know: wheels."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import text

_DIFFERS, _UNKNOWN_GPU = "extension-cuda-mismatch", "nvcc-unknown-gpu"
_OLD_TITLE = N_("The CUDA compiler nvcc does not know {arch}: the toolkit is older than the GPU")


def _check(view: View) -> Outcome:
    differs = view.signal(_DIFFERS)
    evidence = cite(view, "toolkit.nvcc_version", "torch.cuda_build", "torch.version")
    if differs is not None:
        toolkit, cuda = machine.toolkit_cuda(view), machine.torch_cuda(view)
        values = {
            "nvcc": str(differs.values.get("nvcc") or (text(toolkit) if toolkit else "?")),
            "torch": str(differs.values.get("torch") or (text(cuda) if cuda else "?")),
        }
        return Hit(Confidence.HIGH, quote(differs) + evidence, values)
    unknown = view.signal(_UNKNOWN_GPU)
    if unknown is not None:
        values = {"arch": str(unknown.values.get("arch", "")), "nvcc": "?", "torch": "?"}
        return Hit(Confidence.MEDIUM, quote(unknown) + evidence, values, title=_OLD_TITLE)
    return Lacks(("log",))


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    cuda = machine.torch_cuda(view)
    wanted = hit.values.get("torch", "?")
    if wanted == "?":
        wanted = text(cuda) if cuda else "12.8"
    home = (
        advice.set_variable(view, "CUDA_HOME", rf"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{wanted}")
        if advice.is_windows(view)
        else advice.set_variable(view, "CUDA_HOME", f"/usr/local/cuda-{wanted}")
    )
    return (
        advice.say(
            N_("Install the CUDA toolkit {cuda}; toolkits can stand side by side. In a conda environment:"),
            f"conda install --channel nvidia cuda-toolkit={wanted}",
            cuda=wanted,
        ),
        advice.say(N_("Or point the build to a toolkit that is installed already:"), home),
        advice.say(N_("A ready wheel of the extension for this PyTorch and CUDA saves the compiling altogether.")),
        advice.check("nvcc --version"),
    )


RULE = Rule(
    code="toolkit-mismatch-extension-build",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.CRASHES,
    title=N_("An extension is compiled with CUDA {nvcc}, and PyTorch was built with CUDA {torch}"),
    help=Help(
        what=N_("Whether the CUDA toolkit that compiles an extension is the one PyTorch was built with."),
        why=N_(
            "Only compiling needs a toolkit. Its major version must be that of PyTorch, or the build stops. PyTorch "
            "itself works without any toolkit."
        ),
        how=N_("The message of the build names both versions; or nvcc says that it does not know the GPU."),
        wrong=N_("Some extensions accept another minor version and say so in their documentation."),
        todo=N_("Compile with the toolkit of PyTorch's CUDA version, or take a ready wheel."),
    ),
    check=_check,
    needs=((f"signal:{_DIFFERS}", f"signal:{_UNKNOWN_GPU}"),),
    advise=_advise,
    links=("https://developer.nvidia.com/cuda-toolkit-archive",),
)
