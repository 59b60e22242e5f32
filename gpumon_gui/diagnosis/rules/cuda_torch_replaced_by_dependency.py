"""Knows: a CUDA torch that a later installation replaced. Must not know: torch that never had CUDA."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import Version

_CUDA = re.compile(r"\+cu\d+")
_COMPANIONS = ("torchvision", "torchaudio", "xformers", "torchtext")
_REMOVED = ("pip-uninstalled", "pip-found-existing")
_CONFLICT = "pip-torch-conflict"
_CPU_PRINTED = ("torch-not-compiled-with-cuda", "collect-env-torch-without-cuda", "torch-cpu-version")


def _check(view: View) -> Outcome:
    without = machine.torch_without_cuda(view) or view.signal(*_CPU_PRINTED) is not None
    removed = _removed(view)
    if removed is not None:
        installed = _installed_after(view, removed)
        if installed is not None and _CUDA.search(installed[1]):
            return CLEAR
        evidence = quote(removed, installed[0] if installed else None)
        if without or (installed is not None and _is_cpu(installed[1], view)):
            return Hit(Confidence.HIGH, evidence + cite(view, "torch.version", "torch.cuda_build"))
        if machine.system(view) == "windows":
            return Hit(Confidence.MEDIUM, evidence)
        # Elsewhere PyPI's own torch has CUDA: another version than before, not necessarily a CPU one.
        return Hit(Confidence.LOW, evidence)
    if not without:
        return CLEAR if view.known("torch.cuda_build") else Lacks(("torch.cuda_build",))
    conflict = next(
        (found for found in view.signals(_CONFLICT) if not _CUDA.search(str(found.values.get("version", "")))), None
    )
    if conflict is not None:
        return Hit(Confidence.HIGH, quote(conflict) + cite(view, "torch.version", "torch.cuda_build"))
    left = _left_behind(view)
    if left:
        return Hit(Confidence.MEDIUM, cite(view, "torch.version", "torch.cuda_build") + left)
    return CLEAR if machine.known_packages(view) is not None else Lacks(("packages",))


def _removed(view: View) -> Signal | None:
    """The last CUDA torch that was uninstalled."""
    found = [
        signal
        for signal in view.signals(*_REMOVED)
        if signal.values.get("package") == "torch" and _CUDA.search(str(signal.values.get("version", "")))
    ]
    return found[-1] if found else None


def _installed_after(view: View, removed: Signal) -> tuple[Signal, str] | None:
    found = None
    for signal in view.signals("pip-installed"):
        packages = signal.values.get("packages") or {}
        version = packages.get("torch")
        if version and (signal.origin.line or 0) >= (removed.origin.line or 0):
            found = (signal, str(version))
    return found


def _is_cpu(version: str, view: View) -> bool:
    return "+cpu" in version or (machine.system(view) == "windows" and "+" not in version)


def _left_behind(view: View) -> tuple[Evidence, ...]:
    """Companions with CUDA in their version, of another release than torch, or torch's CUDA libraries."""
    packages = machine.known_packages(view) or {}
    origin = view.origin("packages")
    for name in _COMPANIONS:
        version = packages.get(name)
        if isinstance(version, str) and _CUDA.search(version):
            return (Evidence(f"packages.{name}", version, origin),)
    torch, vision = machine.package_version(view, "torch"), machine.package_version(view, "torchvision")
    torch = torch or view.version("torch.version")
    wanted = _vision_of(torch) if torch else None
    if vision is not None and wanted is not None and vision[:2] < wanted:
        return (Evidence("packages.torchvision", str(packages["torchvision"]), origin),)
    return ()


def _vision_of(torch: Version) -> tuple[int, int] | None:
    """torchvision 0.(N+15) goes with torch 2.N, 0.(N+1) with 1.N (since 1.3)."""
    if len(torch) < 2 or torch[0] not in (1, 2) or torch < (1, 3):
        return None
    return 0, torch[1] + (15 if torch[0] == 2 else 1)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *remedies.cuda_torch(view),
        advice.say(
            N_(
                "So that it does not happen again: install the CUDA build of PyTorch last, or give pip a constraints "
                "file that holds its exact version, with the +cu part, when you install other packages."
            )
        ),
    )


RULE = Rule(
    code="cuda-torch-replaced-by-dependency",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("A later installation replaced the CUDA build of PyTorch"),
    help=Help(
        what=N_("Whether PyTorch once had CUDA here and another package's installation took it away."),
        why=N_(
            "Packages ask for some torch version; pip then removes the CUDA build and takes what the default index "
            "has. On Windows that is a CPU build."
        ),
        how=N_(
            "The log of pip or uv shows a torch with +cu in its version being uninstalled and none installed after it; "
            "or torch has no CUDA while torchvision, torchaudio or xformers beside it are CUDA builds or too old for "
            "it."
        ),
        wrong=N_(
            "On Linux the torch of the default index has CUDA too: there this finding is uncertain unless torch itself "
            "says that it has none."
        ),
        todo=N_("Install the CUDA build again, and keep it from being replaced."),
    ),
    check=_check,
    needs=(
        (
            "torch.cuda_build",
            "torch.version",
            *(f"signal:{kind}" for kind in (*_REMOVED, *_CPU_PRINTED)),
        ),
    ),
    advise=_advise,
    explains=("torch-cpu-only-build", "code-runs-on-cpu"),
    frameworks=("torch",),
    links=("https://pytorch.org/get-started/locally/", "https://pip.pypa.io/en/stable/user_guide/#constraints-files"),
)
