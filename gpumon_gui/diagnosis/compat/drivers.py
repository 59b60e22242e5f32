"""Knows: which NVIDIA driver a CUDA version needs, and what a driver offers. Must not know: frameworks, GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from gpumon_gui.diagnosis.compat.tables import table, version
from gpumon_gui.diagnosis.versions import Version, at_least, same_series

#: Minor-version compatibility exists from this major on; before it each version needs its own driver.
_MINOR_COMPATIBLE_FROM: Final = 11


@dataclass(frozen=True, slots=True)
class Branch:
    """A driver branch: ``cuda`` is what nvidia-smi prints as CUDA Version; the numbers start its versions."""

    name: str
    cuda: Version
    linux: int
    windows: tuple[int, ...]


@cache
def branches() -> tuple[Branch, ...]:
    """All known driver branches, oldest first."""
    return tuple(
        Branch(row["name"], version(row["cuda"]), int(row["linux"]), tuple(int(number) for number in row["windows"]))
        for row in table("drivers")["branch"]
    )


def branch_of(driver: Version) -> Branch | None:
    """The branch of a driver version. Linux and Windows numbers do not clash, so the system need not be known.

    For an unknown number: the newest branch below it, as long as a newer one is known (a driver newer than the tables
    stays unknown).
    """
    number = driver[0]
    found = None
    for branch in branches():
        if number == branch.linux or number in branch.windows:
            return branch
        if branch.linux < number:
            found = branch
    return found if found is not None and found != branches()[-1] else None


def cuda_of_driver(driver: Version) -> Version | None:
    """The CUDA level (what nvidia-smi prints) of a driver version: 550.54 → (12, 4)."""
    branch = branch_of(driver)
    return branch.cuda if branch is not None else None


def level_needed(build: Version) -> Version:
    """The lowest CUDA level of a driver on which a program built with this CUDA version starts.

    CUDA 11 and newer need only the major's first level (minor-version compatibility; PTX that must be compiled is the
    exception: it needs the build's own level).
    """
    return (build[0], 0) if build[0] >= _MINOR_COMPATIBLE_FROM else build[:2]


def driver_runs(driver_cuda: Version, build: Version) -> bool:
    """Whether a driver of this CUDA level starts programs built with this CUDA version."""
    return at_least(driver_cuda, level_needed(build))


def minimum_driver(build: Version, *, windows: bool) -> Version | None:
    """The lowest driver version for a program built with this CUDA version; None when the tables do not say."""
    column = "windows" if windows else "linux"
    if build[0] >= _MINOR_COMPATIBLE_FROM:
        rows = (row for row in table("drivers")["major"] if row["cuda"] == build[0])
    else:
        rows = (row for row in table("drivers")["toolkit"] if same_series(version(row["version"]), build[:2]))
    row = next(rows, None)
    return version(row[column]) if row is not None and column in row else None


def cuda_of_library(name: str) -> tuple[Version, ...]:
    """The CUDA versions whose run-time library has this file name ("cudart64_101.dll" → ((10, 1),)).

    An 11.1 to 11.8 entry is given as (11,): its files are the same for the whole major.
    """
    wanted = name.lower()
    found = []
    for row in table("drivers")["libraries"]:
        files = (*row["linux"].values(), *row["windows"].values())
        if any(file.lower() == wanted for file in files):
            text = row["cuda"]
            found.append((version(text.split(" ")[0])[0],) if " to " in text else version(text))
    return tuple(found)
