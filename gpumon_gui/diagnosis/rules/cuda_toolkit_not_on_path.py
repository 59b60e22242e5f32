"""Knows: a CUDA toolkit that programs do not find. Must not know: the other rules."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import parse_version, same_series, text

_CUDA_HOME = "cuda-home-not-set"
_NVCC = "nvcc-not-found"
_ON_PATH = "toolkit.cuda_bin_on_path"
_FOLDER = re.compile(r"(?i)cuda[-/\\]v?(\d+\.\d+)")

_OTHER = N_("CUDA_PATH names CUDA {named}, while nvcc on the PATH is {found}")
_NO_HOME = N_("An extension could not be compiled: no CUDA toolkit was found (CUDA_HOME is not set)")


def _check(view: View) -> Outcome:
    home = view.signal(_CUDA_HOME)
    if home is not None:
        return Hit(Confidence.HIGH, quote(home), severity=Severity.CRASHES, title=_NO_HOME)
    installed = view.text("toolkit.cuda_path") or view.text("toolkit.cuda_version")
    not_found = view.signal(_NVCC)
    on_path = view.flag(_ON_PATH)
    if installed is not None and (on_path is False or (not_found is not None and on_path is None)):
        return Hit(
            Confidence.HIGH, cite(view, "toolkit.cuda_path", "toolkit.cuda_version", _ON_PATH) + quote(not_found)
        )
    named = _FOLDER.search(view.text("environment.CUDA_PATH") or "")
    nvcc = view.version("toolkit.nvcc_version")
    if named is not None and nvcc is not None:
        version = parse_version(named.group(1))
        if version is not None and not same_series(version, nvcc):
            values = {"named": text(version), "found": text(nvcc)}
            return Hit(
                Confidence.HIGH, cite(view, "environment.CUDA_PATH", "toolkit.nvcc_version"), values, title=_OTHER
            )
        return CLEAR
    if on_path is None:
        return Lacks((_ON_PATH,))
    return CLEAR


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if hit.severity is Severity.CRASHES:
        return (
            advice.say(
                N_(
                    "Only compiling needs a toolkit, ready-made wheels do not. Install the toolkit of the version that "
                    "torch was built with:"
                ),
                advice.run_python(view, "import torch; print(torch.version.cuda)"),
            ),
            advice.say(
                N_("Then name its folder, for example:"),
                advice.set_variable(
                    view,
                    "CUDA_HOME",
                    r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.6"
                    if advice.is_windows(view)
                    else "/usr/local/cuda",
                ),
            ),
        )
    return (
        advice.say(
            N_(
                "Wheels of PyTorch and of newer TensorFlow bring their own CUDA and need nothing here. For compiling, "
                "add the toolkit's bin folder to the PATH and let CUDA_PATH name the same version."
            )
        ),
        advice.check("nvcc --version"),
    )


RULE = Rule(
    code="cuda-toolkit-not-on-path",
    scope=Scope.MACHINE,
    step=8,
    severity=Severity.INFO,
    title=N_("A CUDA toolkit is installed, but its programs are not found by name"),
    help=Help(
        what=N_("Whether the installed CUDA toolkit is the one that programs find."),
        why=N_("Compiling extensions uses nvcc from the PATH or CUDA_PATH; a wrong one gives puzzling errors."),
        how=N_("The toolkit's bin folder is not on the PATH, or CUDA_PATH names another version than nvcc has."),
        wrong=N_("It does not matter for ready-made wheels."),
        todo=N_("Put the right bin folder on the PATH, or install the toolkit."),
    ),
    check=_check,
    advise=_advise,
)
