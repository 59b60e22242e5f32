"""Knows: which CUDA and cuDNN the packages of ONNX Runtime want. Must not know: what is installed."""

from __future__ import annotations

from dataclasses import dataclass

from gpumon_gui.diagnosis.compat.tables import table, version
from gpumon_gui.diagnosis.versions import Version, at_least


@dataclass(frozen=True, slots=True)
class LibraryNeeds:
    """What a package wants: the major of ``cuda`` and of ``cudnn`` must be met. ``extra``: the pip extra, or ""."""

    cuda: Version
    cudnn: Version
    extra: str = ""


def onnxruntime_gpu_wants(wanted: Version) -> LibraryNeeds | None:
    """What ``onnxruntime-gpu`` of PyPI at this version wants. Releases after the table count as its last row."""
    series = wanted[:2]
    rows = table("frameworks")["onnxruntime_gpu"]
    for row in rows:
        newest = row is rows[-1]
        if at_least(series, version(row["first"])) and (newest or at_least(version(row["last"]), series)):
            extra = "cuda,cudnn" if at_least(series, version(row.get("extras_from", row["first"]))) else ""
            has_extra = "extras_from" in row or newest
            return LibraryNeeds(version(row["cuda"]), version(row["cudnn"]), extra if has_extra else "")
    return None
