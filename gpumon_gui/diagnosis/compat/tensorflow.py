"""Knows: what each TensorFlow release needs. Must not know: what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from gpumon_gui.diagnosis.compat.tables import table, version, versions
from gpumon_gui.diagnosis.versions import Version, same_series

#: The last release whose native Windows wheel has CUDA.
LAST_WINDOWS_GPU: Final = (2, 10)


@dataclass(frozen=True, slots=True)
class TfBuild:
    """One minor release. ``extra`` is the pip extra that brings CUDA and cuDNN ("and-cuda"; "" = none).

    ``libraries`` are the files it opens by name; one that does not open drops every GPU. ``compiled`` and ``ptx`` are
    compute capabilities ("8.6"); empty when not known.
    """

    version: Version
    latest: str
    python: tuple[Version, ...]
    python_windows: tuple[Version, ...]
    cuda: Version
    cudnn: Version
    package: str
    extra: str
    windows_gpu: bool
    libraries: tuple[str, ...]
    libraries_windows: tuple[str, ...]
    min_capability: Version
    compiled: tuple[str, ...]
    ptx: tuple[str, ...]

    def has_python(self, python: Version, *, windows: bool) -> bool:
        """Whether there is a wheel for this Python."""
        return python[:2] in (self.python_windows if windows else self.python)

    def code(self) -> tuple[str, ...]:
        """The code in the wheel, as for ``code_for``; empty when not known."""
        return self.compiled + tuple(f"compute_{ptx.replace('.', '')}" for ptx in self.ptx)


@cache
def tensorflow_releases() -> tuple[TfBuild, ...]:
    """All known releases, oldest first."""
    return tuple(_build(row) for row in table("tensorflow")["release"])


def tensorflow_wants(wanted: Version) -> TfBuild | None:
    """What the minor release of this version needs; None for an unknown one (before 1.15, or newer than the table)."""
    if len(wanted) < 2:
        return None
    return next((build for build in tensorflow_releases() if same_series(build.version, wanted[:2])), None)


def newest_tensorflow(python: Version | None, *, windows_gpu: bool = False) -> TfBuild | None:
    """The newest release with a wheel for this Python; ``windows_gpu``: with CUDA on native Windows."""
    for build in reversed(tensorflow_releases()):
        if windows_gpu and not build.windows_gpu:
            continue
        if python is None or build.has_python(python, windows=windows_gpu):
            return build
    return None


def _build(row: Mapping[str, Any]) -> TfBuild:
    return TfBuild(
        version=version(row["version"]),
        latest=row["latest"],
        python=versions(row["python"]),
        python_windows=versions(row.get("python_windows", row["python"])),
        cuda=version(row["cuda"]),
        cudnn=version(row["cudnn"]),
        package=row["package"],
        extra=row["extra"],
        windows_gpu=row["windows_gpu"],
        libraries=tuple(row["libraries"]),
        libraries_windows=tuple(row.get("libraries_windows", ())),
        min_capability=version(row["min_capability"]),
        compiled=tuple(row.get("compiled", ())),
        ptx=tuple(row.get("ptx", ())),
    )
