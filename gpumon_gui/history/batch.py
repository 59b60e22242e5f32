"""Knows: how the seconds of one batch are packed, all metrics of a device together. Must not know: SQLite.

Packed in one piece because a batch is small and lives for minutes: stretches are packed by metric (``buckets``).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gpumon_gui.history.buckets import Rows
from gpumon_gui.history.schema import METRIC_NUMBERS

_HEAD = struct.Struct("<HB")
_KNOWN = frozenset(METRIC_NUMBERS.values())

#: Metric number → second of the stretch → lowest, mean, highest value.
Seconds = dict[int, dict[int, tuple[float, float, float]]]


def pack_batch(numbers: tuple[int, ...], seconds: Iterable[int], columns: npt.NDArray[np.float32]) -> bytes:
    """``columns`` is 3 × metrics × seconds; metrics without a value are left out."""
    at = np.array(list(seconds), "<u2")
    with_values = [row for row in range(len(numbers)) if np.isfinite(columns[1, row]).any()]
    body = bytes(numbers[row] for row in with_values) + at.tobytes() + columns[:, with_values].astype("<f4").tobytes()
    return _HEAD.pack(len(at), len(with_values)) + zlib.compress(body, 1)


def take_batch(into: Seconds, data: bytes, only: int | None = None) -> None:
    """Add a batch to others of the same device and stretch; a later one counts. Raises ValueError, TypeError,
    struct.error or zlib.error when it is damaged."""
    count, width = _HEAD.unpack_from(data)
    body = zlib.decompress(data[_HEAD.size :])
    numbers = body[:width]
    seconds = np.frombuffer(body, "<u2", count, width).tolist()
    table = np.frombuffer(body, "<f4", 3 * width * count, width + 2 * count).reshape(3, width, count)
    for row, metric in enumerate(numbers):
        if metric in _KNOWN and only in (None, metric):
            low, mean, high = table[:, row].tolist()
            into.setdefault(metric, {}).update(zip(seconds, zip(low, mean, high, strict=True), strict=True))


def rows_of(base_s: int, seconds: dict[int, tuple[float, float, float]]) -> Rows:
    """The seconds of one metric as rows."""
    at = sorted(seconds)
    low, mean, high = np.array([seconds[second] for second in at], np.float64).T
    return Rows(base_s + np.array(at, np.int64), low, mean, high, np.isfinite(mean).astype(np.float64))
