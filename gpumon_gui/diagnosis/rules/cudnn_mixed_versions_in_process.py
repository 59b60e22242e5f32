"""Knows: parts of two cuDNNs in one process. Must not know: a single cuDNN of the wrong version."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_MIXED, _WRONG_VERSION = "cudnn-mixed", "winerror-127"


def _check(view: View) -> Outcome:
    wrong = next((signal for signal in view.signals(_WRONG_VERSION) if _is_cudnn(signal)), None)
    signal = view.signal(_MIXED) or wrong
    if signal is None:
        return CLEAR if view.signal(_WRONG_VERSION) is not None else Lacks(("log",))
    return Hit(Confidence.HIGH, quote(signal) + cite(view, "toolkit.cudnn_copies", "environment.LD_LIBRARY_PATH"))


def _is_cudnn(signal: Signal) -> bool:
    return "cudnn" in str(signal.values.get("library", "")).lower()


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    search = (
        advice.say(N_("List every cuDNN on the search path; keep only one:"), "where.exe cudnn*64_*.dll")
        if advice.is_windows(view)
        else advice.say(N_("Start without the folders of another cuDNN:"), "unset LD_LIBRARY_PATH")
    )
    return (
        search,
        advice.say(
            N_(
                "Import PyTorch before TensorFlow, ONNX Runtime or CTranslate2 in the same program, so that all use "
                "its cuDNN, or use versions that want the same cuDNN. Never mix files of two versions in one folder."
            )
        ),
    )


RULE = Rule(
    code="cudnn-mixed-versions-in-process",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("Parts of two different cuDNN versions meet in one program"),
    help=Help(
        what=N_("Whether files of two cuDNN versions are loaded into the same process."),
        why=N_(
            "cuDNN consists of several files that must have one version. Two frameworks in one program, or copies in "
            "the system, can bring parts of different ones; it depends on what is imported first."
        ),
        how=N_(
            "Windows error 127 for a cuDNN file, an undefined symbol between cuDNN's own files, or cuDNN's status that "
            "says so. The files are there, and do not fit together."
        ),
        wrong=N_("A damaged file can look the same."),
        todo=N_("Keep one cuDNN on the search path, and import PyTorch first."),
    ),
    check=_check,
    needs=((f"signal:{_MIXED}", f"signal:{_WRONG_VERSION}"),),
    advise=_advise,
    explains=("torch-dll-dependency-missing", "cudnn-missing-or-not-on-path"),
    links=("https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/overview.html",),
)
