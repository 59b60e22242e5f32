"""Knows: a DLL of torch that Windows cannot load. Must not know: cuDNN, memory limits."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, remedies
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_MISSING, _WRONG_VERSION, _WRONG_BITS, _INIT = "winerror-126", "winerror-127", "winerror-193", "winerror-1114"
_IMPORT = "dll-load-failed"
_TITLES = {
    _WRONG_VERSION: N_("Windows cannot load {library} of PyTorch: a DLL of another version is in the way"),
    _WRONG_BITS: N_("Windows cannot load {library} of PyTorch: 32-bit and 64-bit files are mixed"),
    _INIT: N_("Windows cannot start {library} of PyTorch: its C++ run-time is missing or too old"),
}
_REDISTRIBUTABLE = "https://aka.ms/vs/17/release/vc_redist.x64.exe"
#: The release whose fbgemm.dll asked for an OpenMP DLL that Windows does not have.
_BROKEN_RELEASE = (2, 4, 0)


def _check(view: View) -> Outcome:
    signal = next(
        (found for found in view.signals(_MISSING, _WRONG_VERSION, _WRONG_BITS, _INIT) if _of_torch(found)), None
    )
    loading = view.signal(_IMPORT)
    if signal is None and loading is not None and loading.values.get("module") == "_C" and not _is_other(loading):
        confidence = Confidence.MEDIUM if loading.framework == "torch" else Confidence.LOW
        return Hit(confidence, quote(loading) + cite(view, "torch.version"), {"library": "_C.pyd"})
    if signal is None:
        return CLEAR if view.signal(_MISSING, _WRONG_VERSION, _WRONG_BITS, _INIT) else Lacks(("log",))
    library = str(signal.values.get("library", ""))
    if "cudnn" in library.lower() and signal.kind != _MISSING:
        return CLEAR  # parts of two cuDNNs: another rule
    confidence = Confidence.HIGH if signal.kind == _MISSING else Confidence.MEDIUM
    evidence = quote(signal) + cite(view, "torch.version", "os.family")
    return Hit(confidence, evidence, {"library": library}, title=_TITLES.get(signal.kind))


def _is_other(signal: Signal) -> bool:
    """Whether another framework printed it: several have a module _C."""
    return signal.framework not in ("", "torch")


def _of_torch(signal: Signal) -> bool:
    path = str(signal.values.get("path", "")).lower().replace("/", "\\")
    return "\\torch\\" in path or (signal.framework == "torch" and "library" in signal.values)


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    steps = [
        advice.say(
            N_("Install the current Microsoft Visual C++ run-time (x64) and start Windows anew:"),
            f"winget install Microsoft.VCRedist.2015+.x64   # {_REDISTRIBUTABLE}",
        )
    ]
    if hit.title == _TITLES[_WRONG_BITS]:
        steps = [advice.say(N_("Use a 64-bit Python, and install PyTorch into a new environment of it."))]
    version = view.version("torch.version")
    if version is not None and version[:3] == _BROKEN_RELEASE:
        steps.insert(
            0,
            advice.say(
                N_(
                    "PyTorch 2.4.0 asks for a DLL (libomp140.x86_64.dll) that Windows does not have. Install another "
                    "release:"
                )
            ),
        )
        steps[1:1] = remedies.cuda_torch(view, keep_release=False)
    else:
        steps.append(advice.say(N_("If that does not help, install PyTorch anew:")))
        steps += remedies.cuda_torch(view)
    return tuple(steps)


RULE = Rule(
    code="torch-dll-dependency-missing",
    scope=Scope.ENVIRONMENT,
    step=2,
    severity=Severity.CRASHES,
    title=N_("Windows cannot load {library} of PyTorch: a DLL that it depends on is missing"),
    help=Help(
        what=N_("Whether Windows can load the DLLs of PyTorch."),
        why=N_(
            "The named file is usually there. What is missing is a file that it needs: the Visual C++ run-time, or for "
            "PyTorch 2.4.0 an OpenMP library. The import fails before any GPU is looked for."
        ),
        how=N_(
            "The number in Windows' message, whatever its language: 126 is a missing file, 127 a file of another "
            "version, 193 mixes 32 and 64 bit, 1114 a failed start."
        ),
        wrong=N_("An antivirus program that holds the file back leads to the same number."),
        todo=N_("Install the Visual C++ run-time and, if that does not help, another release of PyTorch."),
    ),
    check=_check,
    needs=(tuple(f"signal:{kind}" for kind in (_MISSING, _WRONG_VERSION, _WRONG_BITS, _INIT, _IMPORT)),),
    advise=_advise,
    frameworks=("torch",),
    links=("https://github.com/pytorch/pytorch/issues/131662",),
)
