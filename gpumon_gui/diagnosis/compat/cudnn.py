"""Knows: cuDNN's files and versions. Must not know: where they lie on this machine."""

from __future__ import annotations

import re

from gpumon_gui.diagnosis.compat.tables import table, version
from gpumon_gui.diagnosis.versions import Version, at_least

_FILE = re.compile(r"(?:lib)?cudnn\w*?(?:64_(\d+)\.dll|\.so\.(\d+))", re.IGNORECASE)


def cudnn_major_of(file: str) -> int | None:
    """The cuDNN major a file name belongs to: ``cudnn_ops_infer64_8.dll`` → 8, ``libcudnn.so.9.1.0`` → 9."""
    match = _FILE.search(file)
    return int(match.group(1) or match.group(2)) if match else None


def cudnn_files(major: int, *, windows: bool) -> tuple[str, ...]:
    """The file names of a major, the main library first; empty for an unknown one."""
    column = "windows" if windows else "linux"
    return next((tuple(row[column]) for row in table("cudnn")["major"] if row["version"] == major), ())


def needs_zlibwapi(cudnn: Version) -> bool:
    """Whether this cuDNN wants zlibwapi.dll on Windows (8.3 up to 9)."""
    row = table("cudnn")["zlibwapi"]
    return at_least(cudnn, version(row["first"])) and not at_least(cudnn, version(row["not_from"]))


def cudnn_serves(found: Version, built_with: Version) -> bool:
    """Whether a cuDNN that is found at run time serves a program built with another: same major, not older.

    Compared to major and minor: programs check no further (TensorFlow: same major, minor not older).
    """
    return found[0] == built_with[0] and at_least(found[:2], built_with[:2])


def version_of_number(number: int) -> Version:
    """cuDNN's version number as torch prints it: 8902 → (8, 9, 2), 90100 → (9, 1, 0)."""
    if number >= 10_000:
        return number // 10_000, number // 100 % 100, number % 100
    return number // 1000, number // 100 % 10, number % 100


def pip_package(cuda_major: int) -> str | None:
    """The pip package that holds cuDNN for a CUDA major: ``nvidia-cudnn-cu12``."""
    name = f"nvidia-cudnn-cu{cuda_major}"
    return next((name for row in table("cudnn")["pip"] if row["name"] == name), None)
