"""Knows: the zlib DLL that cuDNN 8 wants on Windows. Must not know: cuDNN's own files."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine
from gpumon_gui.diagnosis.compat.cudnn import needs_zlibwapi
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "zlibwapi-missing"
_BITS_TITLE = N_("cuDNN finds a zlibwapi.dll that it cannot load: a 32-bit copy")


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    evidence = cite(view, "toolkit.zlibwapi_found", "toolkit.cudnn_version")
    if said is not None:
        wrong_bits = "193" in str(said.values.get("rest", ""))
        return Hit(Confidence.HIGH, quote(said) + evidence, title=_BITS_TITLE if wrong_bits else None)
    cudnn, found = view.version("toolkit.cudnn_version"), view.flag("toolkit.zlibwapi_found")
    if machine.system(view) in ("linux", "macos") or found is True or (cudnn is not None and not needs_zlibwapi(cudnn)):
        return CLEAR
    # PyTorch brings the file with it; other programs want it as soon as cuDNN computes.
    brought = bool(machine.torch_version_text(view)) and not machine.torch_without_cuda(view)
    if found is False and cudnn is not None and machine.system(view) == "windows" and not brought:
        return Hit(Confidence.LOW, evidence)
    return Lacks(("log",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Put the 64-bit zlibwapi.dll into a folder on PATH, for instance beside cudnn64_8.dll. conda-forge has "
                "it as libzlib-wapi; PyTorch's CUDA wheels for Windows have it in torch\\lib:"
            ),
            "conda install --channel conda-forge libzlib-wapi",
        ),
        advice.say(N_("Or use a release of the program that works with cuDNN 9, which does not want this file.")),
        advice.check("where.exe zlibwapi.dll"),
    )


RULE = Rule(
    code="cudnn-zlibwapi-missing",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("cuDNN does not find zlibwapi.dll, which it needs"),
    help=Help(
        what=N_("Whether cuDNN on Windows finds the zlib library."),
        why=N_(
            "cuDNN 8.3 up to 8.9 loads zlibwapi.dll and does not bring it. The program may end without any Python "
            "error."
        ),
        how=N_("cuDNN's own message. Error code 193 in it means that the file found is a 32-bit one."),
        wrong=N_("Not wrong where the message was printed."),
        todo=N_("Put the 64-bit file on PATH."),
    ),
    check=_check,
    needs=(("toolkit.cudnn_version", "toolkit.zlibwapi_found", f"signal:{_SAID}"),),
    advise=_advise,
    links=("https://docs.nvidia.com/deeplearning/cudnn/archives/cudnn-896/install-guide/index.html",),
)
