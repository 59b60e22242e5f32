"""Knows: what PyTorch publishes and which build fits a machine. Must not know: what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from gpumon_gui.diagnosis.compat.capability import Capability, torch_supports
from gpumon_gui.diagnosis.compat.drivers import driver_runs
from gpumon_gui.diagnosis.compat.tables import table, version, versions
from gpumon_gui.diagnosis.versions import Version, at_least, same_series

System = Literal["linux", "windows", "macos"]

#: The driver level taken for granted when it is not known: CUDA 12 drivers exist since December 2022.
_USUAL_LEVEL: Final[Version] = (12, 0)
#: Among the builds that such a driver starts, the newest that has code for old and for most new GPUs.
_USUAL_CHOICE: Final[Version] = (12, 6)


@dataclass(frozen=True, slots=True)
class TorchRelease:
    """One minor release. ``variants`` are CUDA builds ("cu126"), oldest CUDA first. Lists of capabilities are binary
    code, in the form "8.6"."""

    version: Version
    latest: str
    python: Mapping[str, tuple[Version, ...]]
    python_free_threaded: tuple[str, ...]
    variants: tuple[str, ...]
    default: Mapping[str, str]
    cudnn: Mapping[str, str]
    arch: Mapping[str, Mapping[str, tuple[str, ...]]]
    ptx_linux: Mapping[str, str]
    rocm: tuple[str, ...]

    def has_python(self, python: Version, system: System) -> bool:
        """Whether there is a wheel for this Python (its first two numbers count)."""
        return python[:2] in self.python[system]

    def code(self, variant: str, system: System, *, aarch64: bool = False) -> tuple[str, ...]:
        """The code in a variant, as for :func:`torch_supports`: "8.6" and, for PTX, "compute_120"."""
        table_of = self.arch["aarch64" if aarch64 else system]
        ptx = self.ptx_linux.get(variant) if system == "linux" and not aarch64 else None
        return table_of.get(variant, ()) + ((f"compute_{ptx.replace('.', '')}",) if ptx else ())


@dataclass(frozen=True, slots=True)
class TorchChoice:
    """A build to install: ``index`` for ``--index-url``, ``release`` such as "2.14.1"."""

    index: str
    release: str
    variant: str


@cache
def torch_releases() -> tuple[TorchRelease, ...]:
    """All known releases, oldest first."""
    return tuple(_release(row) for row in table("torch")["release"])


def torch_release(wanted: Version) -> TorchRelease | None:
    """The minor release a version belongs to."""
    return next((release for release in torch_releases() if same_series(release.version, wanted[:2])), None)


def cuda_of_variant(variant: str) -> Version:
    """``cu126`` → (12, 6), ``cu92`` → (9, 2)."""
    digits = variant.removeprefix("cu")
    return int(digits[:-1]), int(digits[-1])


def index_url(variant: str) -> str:
    """The address for ``--index-url``."""
    return f"{table('torch')['index']}/{variant}"


def best_torch_index(
    driver_cuda: Version | None,
    compute_capability: Capability | None,
    system: System,
    python: Version | None,
    *,
    release: Version | None = None,
    aarch64: bool = False,
) -> TorchChoice | None:
    """The newest CUDA build that this driver starts, this GPU has code in, and this Python has a wheel of.

    What is None does not restrict, except that an unknown driver counts as CUDA 12.0. ``release`` keeps to that minor
    release. None when nothing fits (macOS, a Python that is too new or old, a driver before CUDA 9.2 …).
    """
    if system == "macos":
        return None
    level = driver_cuda or _USUAL_LEVEL
    for candidate in reversed(torch_releases()):
        if release is not None and not same_series(candidate.version, release[:2]):
            continue
        if python is not None and not candidate.has_python(python, system):
            continue
        fitting = [
            variant
            for variant in candidate.variants
            if driver_runs(level, cuda_of_variant(variant))
            and _has_code(candidate, variant, compute_capability, system, aarch64)
        ]
        if fitting:
            variant = _preferred(fitting, driver_cuda or _USUAL_CHOICE)
            return TorchChoice(index_url(variant), candidate.latest, variant)
    return None


def newest_with_python(python: Version, system: System) -> TorchRelease | None:
    """The newest release with a wheel for this Python."""
    return next((found for found in reversed(torch_releases()) if found.has_python(python, system)), None)


def bundled_cudnn(torch_version: Version, cuda: Version | None) -> Version | None:
    """The cuDNN in the wheel of this release and CUDA version (None: any of them, its major counts); None when the
    tables do not say."""
    release = torch_release(torch_version)
    if release is None:
        return None
    texts = [release.cudnn.get(f"cu{cuda[0]}{cuda[1] if len(cuda) > 1 else 0}")] if cuda else [*release.cudnn.values()]
    found = {version(text) for text in texts if text}
    # Variants of one release agree in the major at least; then the oldest stands for all.
    return min(found) if len({one[0] for one in found}) == 1 else None


def _has_code(
    release: TorchRelease, variant: str, capability: Capability | None, system: System, aarch64: bool
) -> bool:
    if capability is None:
        return True
    return torch_supports(release.code(variant, system, aarch64=aarch64), capability, cuda_of_variant(variant))


def _preferred(variants: list[str], level: Version) -> str:
    """The newest CUDA not above the driver's own level; else the oldest of those that start by compatibility."""
    within = [variant for variant in variants if at_least(level, cuda_of_variant(variant))]
    return max(within, key=cuda_of_variant) if within else min(variants, key=cuda_of_variant)


def _release(row: Mapping[str, Any]) -> TorchRelease:
    linux = versions(row["python"])
    arch = {key: tuple(value) for key, value in row.get("arch", {}).items()}
    of_windows = {key: tuple(value) for key, value in row.get("arch_windows", {}).items()}
    aarch64 = {key: tuple(value) for key, value in row.get("arch_aarch64", {}).items()}
    return TorchRelease(
        version=version(row["version"]),
        latest=row["latest"],
        python={
            "linux": linux,
            "windows": versions(row["python_windows"]) if "python_windows" in row else linux,
            "macos": versions(row["python_macos"]) if "python_macos" in row else linux,
        },
        python_free_threaded=tuple(row["python_free_threaded"]),
        variants=tuple(row["variants"]),
        default={
            "linux": row["default_linux"],
            "linux_aarch64": row["default_linux_aarch64"],
            "windows": row["default_windows"],
            "macos": "cpu",
        },
        cudnn=row["cudnn"],
        arch={"linux": arch, "windows": {**arch, **of_windows}, "macos": {}, "aarch64": aarch64},
        ptx_linux=row.get("ptx_linux", {}),
        rocm=tuple(row["rocm"]),
    )
