"""Knows: a CUDA toolkit whose programs are not found, or another one than CUDA_PATH names. Must not know: the other rules."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import parse_version, same_series

_IN_PATH = re.compile(r"(?:cuda-|[/\\\\]v)(\d+\.\d+)", re.IGNORECASE)


def _check(view: View) -> Outcome:
    on_path = view.flag("toolkit.cuda_bin_on_path")
    installed = (
        view.known("toolkit.cuda_version") or view.known("toolkit.nvcc_version") or view.text("toolkit.cuda_path")
    )
    named = view.text("toolkit.cuda_path") or view.text("environment.CUDA_PATH") or view.text("environment.CUDA_HOME")
    said = view.signal("nvcc-not-found")
    facts = cite(
        view,
        "toolkit.cuda_bin_on_path",
        "toolkit.cuda_version",
        "toolkit.nvcc_version",
        "toolkit.cuda_path",
        "environment.CUDA_PATH",
    )
    nvcc = view.version("toolkit.nvcc_version")
    match = _IN_PATH.search(named or "")
    other = match is not None and nvcc is not None and not same_series(nvcc, parse_version(match[1]) or nvcc)
    if other:
        return Hit(Confidence.MEDIUM, facts, title=_OTHER_TITLE)
    if on_path is False and installed:
        return Hit(Confidence.HIGH, facts + quote(said))
    if said is not None and (installed or named):
        return Hit(Confidence.MEDIUM, quote(said) + facts)
    if on_path is True:
        return CLEAR
    return Lacks(("toolkit.cuda_bin_on_path",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    where = view.text("toolkit.cuda_path") or view.text("environment.CUDA_PATH")
    if advice.is_windows(view):
        add = f'$env:CUDA_PATH = "{where or _WINDOWS}"; $env:Path = "{where or _WINDOWS}\\bin;" + $env:Path'
    else:
        add = f"export CUDA_HOME={where or _LINUX}; export PATH=$CUDA_HOME/bin:$PATH"
    return (advice.say(_NOT_NEEDED), advice.say(_ADD, add), advice.check("nvcc --version"))


_WINDOWS = r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.6"
_LINUX = "/usr/local/cuda"
_OTHER_TITLE = N_("CUDA_PATH names another CUDA toolkit than the one whose nvcc is found first")
_NOT_NEEDED = N_(
    "PyTorch and current TensorFlow bring their own CUDA: this matters only for compiling and for programs that use the toolkit's files."
)
_ADD = N_("Put the toolkit first (adapt the folder; this is for the open shell, the system's settings make it last):")

RULE = Rule(
    code="cuda-toolkit-not-on-path",
    scope=Scope.MACHINE,
    step=8,
    severity=Severity.INFO,
    title=N_("A CUDA toolkit is installed, but its programs are not found by name"),
    help=Help(
        what=N_("Whether the installed toolkit's bin folder is on PATH and CUDA_PATH names the same toolkit."),
        why=N_("Compilers of extensions and TensorFlow up to 2.10 on Windows find the toolkit's files that way."),
        how=N_("PATH, CUDA_PATH and the version that nvcc prints."),
        wrong=N_("No fault for PyTorch and for TensorFlow installed with its CUDA packages."),
        todo=N_("Add the bin folder to PATH; let CUDA_PATH name the same toolkit."),
    ),
    check=_check,
    advise=_advise,
)
