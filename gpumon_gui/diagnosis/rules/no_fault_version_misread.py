"""Knows: that nvcc, nvidia-smi and torch name different CUDA versions by right. Must not know: real mismatches."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import machine
from gpumon_gui.diagnosis.compat.drivers import driver_runs, minimum_driver
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite
from gpumon_gui.diagnosis.versions import Version, same_series, text

_NO_TOOLKIT = N_(
    "CUDA {driver} of the driver ({source}) and {torch} of PyTorch need not agree: the driver ({minimum} or newer is "
    "enough) runs it"
)
_ONE_TOOLKIT = N_(
    "CUDA {driver} of the driver ({source}) and {toolkit} of nvcc need not agree: the driver ({minimum} or newer is "
    "enough) runs both"
)


def _check(view: View) -> Outcome:
    driver = machine.driver_cuda(view)
    if driver is None:
        return Lacks(("driver.cuda_version",))
    toolkit, torch = machine.toolkit_cuda(view), machine.torch_cuda(view)
    works = view.flag("torch.cuda_available") is True
    if toolkit is None and (torch is None or works):
        return CLEAR if works else Lacks(("toolkit.nvcc_version", "torch.cuda_build"))
    if not all(driver_runs(driver, build) for build in (toolkit, torch) if build is not None):
        return CLEAR  # the driver is too old: a fault, of another rule
    if works and torch is not None and toolkit is not None and same_series(torch[:2], toolkit[:2]):
        return CLEAR  # it works, and only the driver is newer, as it should be
    known = [version for version in (driver, toolkit, torch) if version is not None]
    if all(same_series(version[:2], driver[:2]) for version in known):
        return CLEAR
    evidence = cite(view, "driver.cuda_version", "driver.version", "toolkit.nvcc_version", "toolkit.cuda_version")
    return Hit(
        Confidence.MEDIUM,
        evidence + cite(view, "torch.cuda_build"),
        title=_ONE_TOOLKIT if torch is None else _NO_TOOLKIT if toolkit is None else None,
        values={
            "driver": text(driver),
            "source": "nvidia-smi" if view.known("driver.cuda_version") else view.text("driver.version") or "?",
            "toolkit": text(toolkit[:2]) if toolkit is not None else "-",
            "torch": text(torch) if torch is not None else "-",
            "minimum": _minimum(view, torch or toolkit or driver),
        },
    )


def _minimum(view: View, build: Version) -> str:
    found = minimum_driver(build, windows=machine.system(view) == "windows" or machine.is_wsl(view))
    return text(found) if found is not None else "?"


RULE = Rule(
    code="no-fault-version-misread",
    scope=Scope.ENVIRONMENT,
    step=6,
    severity=Severity.INFO,
    title=N_(
        "CUDA {driver} of the driver ({source}), {toolkit} of nvcc and {torch} of PyTorch need not agree: the driver "
        "({minimum} or newer is enough) runs them"
    ),
    help=Help(
        what=N_("Whether different CUDA versions in nvidia-smi, nvcc and the framework are a fault."),
        why=N_(
            "They name different things: what the driver can run, which toolkit compiles, and which libraries the "
            "framework was built with. People change a healthy installation to make them equal."
        ),
        how=N_(
            "The driver is at or above the minimum of each CUDA major version (minor versions are compatible from CUDA "
            "11 on), and the versions differ."
        ),
        wrong=N_("Compiling extensions does need a toolkit of the framework's CUDA version."),
        todo=N_("Nothing. Look for the cause elsewhere."),
    ),
    check=_check,
    needs=(("driver.cuda_version", "driver.version"),),
    links=("https://docs.nvidia.com/deploy/cuda-compatibility/",),
)
