"""Knows: rows of lowest, mean and highest value, how they are packed, joined and made coarser. Must not know: SQLite,
which metric or device they belong to.

A row stands for one bucket of time in which there was a sample. NaN in it: sampled, but this figure was missing. No
row: nothing was sampled. Neither is ever zero.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Pauses between buckets shorter than this are no gap: at the lowest update speed a sample comes every 4 s.
GAP_S = 5.5
_HEAD = struct.Struct("<BH")
_SINGLE, _TRIPLE = 1, 3


class DamagedRow(ValueError):  # noqa: N818 - reads as a statement
    """A packed row that cannot be unpacked."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Ascending buckets. ``count`` is how many seconds with a value stand behind ``mean``."""

    start: Ints
    low: Floats
    mean: Floats
    high: Floats
    count: Floats

    def __len__(self) -> int:
        return len(self.start)

    def between(self, left_s: float, right_s: float) -> Rows:
        """Those with ``left_s`` ≤ start < ``right_s``."""
        first, last = (int(n) for n in np.searchsorted(self.start, (left_s, right_s), side="left"))
        if first == 0 and last == len(self.start):
            return self
        return self._at(slice(first, last))

    def _at(self, which: slice | Ints) -> Rows:
        return Rows(self.start[which], self.low[which], self.mean[which], self.high[which], self.count[which])


_NONE = np.empty(0)
NO_ROWS = Rows(np.empty(0, np.int64), _NONE, _NONE, _NONE, _NONE)


def pack(rows: Rows, base_s: int, step_s: int) -> bytes:
    """Rows of one stretch as bytes. Values keep 15 binary digits after the leading one (1 part in 65,000)."""
    offsets = (rows.start - base_s) // step_s
    steps = np.diff(offsets, prepend=0).astype("<u2")
    single = _same(rows.low, rows.mean) and _same(rows.high, rows.mean) and bool((rows.count <= 1).all())
    columns = (rows.mean,) if single else (rows.mean, rows.low, rows.high)
    parts = [_planes(steps)]
    if not single:
        parts.append(_planes(rows.count.astype("<u2")))
    parts += [_planes(_rounded(column))[len(column) :] for column in columns]  # the lowest byte is always 0
    return _HEAD.pack(_SINGLE if single else _TRIPLE, len(rows)) + zlib.compress(b"".join(parts), 6)


def unpack(data: bytes, base_s: int, step_s: int) -> Rows:
    """The rows that :func:`pack` packed. Raises DamagedRow."""
    try:
        form, count = _HEAD.unpack_from(data)
        flat = np.frombuffer(zlib.decompress(data[_HEAD.size :], bufsize=16 * count + 16), np.uint8)
        planes = {_SINGLE: 2 + 3, _TRIPLE: 4 + 9}[form]
        grid = flat.reshape(planes, count)
    except (struct.error, zlib.error, KeyError, ValueError) as error:
        raise DamagedRow(str(error)) from error
    start = base_s + step_s * np.cumsum(grid[0] + (grid[1].astype(np.int64) << 8), dtype=np.int64)
    if form == _SINGLE:
        mean = _floats(grid[2:5])
        return Rows(start, mean, mean, mean, np.isfinite(mean).astype(np.float64))
    seconds = grid[2] + grid[3] * 256.0
    mean, low, high = (_floats(grid[n : n + 3]) for n in (4, 7, 10))
    return Rows(start, low, mean, high, seconds)


def join(parts: list[Rows]) -> Rows:
    """Parts one after another: each ends before the next begins."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return NO_ROWS
    if len(parts) == 1:
        return parts[0]
    return Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in Rows.__slots__))


def united(parts: list[Rows], step_s: int) -> Rows:
    """Parts of one fineness that may hold the same buckets; those become one."""
    return coarser(join(parts), step_s)


def coarser(rows: Rows, step_s: int) -> Rows:
    """The rows in buckets of ``step_s``, a multiple of their own length. Rows need not be ascending or unique: with
    the same ``step_s`` as their own, two rows of one bucket become one."""
    if not len(rows):
        return NO_ROWS
    bucket = rows.start // step_s
    if len(bucket) > 1 and not (np.diff(bucket) >= 0).all():
        order = np.argsort(bucket, kind="stable")
        rows, bucket = rows._at(order), bucket[order]
    first = np.flatnonzero(np.diff(bucket, prepend=bucket[0] - 1))
    if len(first) == len(rows):
        return Rows(bucket * step_s, rows.low, rows.mean, rows.high, rows.count)
    finite = np.isfinite(rows.mean)
    count = np.where(finite, rows.count, 0.0)
    total = np.add.reduceat(np.where(finite, rows.mean, 0.0) * count, first)
    seconds = np.add.reduceat(count, first)
    low, high = np.fmin.reduceat(rows.low, first), np.fmax.reduceat(rows.high, first)
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: a gap
        mean = total / seconds
    # A sum of rounded numbers may end a hair outside of them.
    return Rows(bucket[first] * step_s, low, np.minimum(np.maximum(mean, low), high), high, seconds)


@dataclass(frozen=True, slots=True)
class Series:
    """Points to draw, ascending: lowest, mean and highest value around ``time_s``. NaN is a gap, also the one point
    put into each pause."""

    time_s: Floats
    low: Floats
    mean: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.time_s)


NO_SERIES = Series(_NONE, _NONE, _NONE, _NONE)


def series(rows: Rows, width_s: Floats, left_s: float, right_s: float, points: int) -> Series:
    """At most about two points for each of ``points`` equal columns between ``left_s`` and ``right_s``.

    ``width_s`` is the length of each bucket. With fewer rows than columns the rows themselves come back, at the middle
    of their buckets.
    """
    if not len(rows):
        return NO_SERIES
    middle = rows.start + width_s / 2
    holes = gaps(rows.start, width_s)
    low, mean, high, count = rows.low, rows.mean, rows.high, rows.count
    if len(rows) > points > 0:
        column = np.clip(((middle - left_s) * (points / (right_s - left_s))).astype(np.int64), 0, points - 1)
        # A pause starts a new point, so that no line is drawn across it.
        begins = np.diff(column, prepend=column[0] - 1) != 0
        begins[holes + 1] = True
        first = np.flatnonzero(begins)
        finite = np.isfinite(mean)
        weight = np.where(finite, count, 0.0)
        total = np.add.reduceat(np.where(finite, mean, 0.0) * weight, first)
        with np.errstate(invalid="ignore"):
            mean = total / np.add.reduceat(weight, first)
        low, high = np.fmin.reduceat(low, first), np.fmax.reduceat(high, first)
        mean = np.minimum(np.maximum(mean, low), high)
        after = np.r_[first[1:], len(rows)] - 1
        middle = (middle[first] + middle[after]) / 2
        holes = np.searchsorted(first, holes, side="right") - 1
    if len(holes):
        between = (middle[holes] + middle[holes + 1]) / 2
        middle = np.insert(middle, holes + 1, between)
        low, mean, high = (np.insert(column, holes + 1, np.nan) for column in (low, mean, high))
    return Series(middle, low, mean, high)


def gaps(start: Ints, width_s: Floats) -> Ints:
    """Indices of the rows after which nothing was sampled for a while: the next bucket, or :data:`GAP_S`."""
    if len(start) < 2:
        return np.empty(0, np.int64)
    pause = start[1:] - start[:-1] - width_s[:-1]
    return np.flatnonzero(pause > np.where(width_s[:-1] >= 10, 0.0, GAP_S - width_s[:-1]))


@dataclass(frozen=True, slots=True)
class Figures:
    """One metric over a span: NaN for each when there was no value. ``covered_s`` is the time with values,
    ``integral`` the mean times that time (of watts: joules)."""

    mean: float
    low: float
    high: float
    covered_s: float
    integral: float


def figures(rows: Rows, width_s: Floats) -> Figures:
    """Mean (weighted by time), lowest, highest, time covered and integral."""
    finite = np.isfinite(rows.mean)
    if not finite.any():
        return Figures(np.nan, np.nan, np.nan, 0.0, np.nan)
    # A bucket of a second stands until the next one, as long as there is no gap between; longer ones for the share
    # of their seconds in which there was a value would need the update speed: they stand for themselves.
    lasts = width_s.copy()
    if len(rows) > 1:
        until_next = (rows.start[1:] - rows.start[:-1]).astype(np.float64)
        lasts[:-1] = np.where(until_next <= GAP_S, np.maximum(until_next, lasts[:-1]), lasts[:-1])
    lasts = lasts[finite]
    mean = rows.mean[finite]
    covered_s = float(lasts.sum())
    integral = float((mean * lasts).sum())
    return Figures(
        integral / covered_s,
        float(np.nanmin(rows.low[finite])),
        float(np.nanmax(rows.high[finite])),
        covered_s,
        integral,
    )


def _same(a: Floats, b: Floats) -> bool:
    return a is b or bool(np.array_equal(a, b, equal_nan=True))


def _rounded(values: Floats) -> npt.NDArray[np.uint32]:
    bits = values.astype("<f4").view("<u4")
    rounded: npt.NDArray[np.uint32] = (bits + np.uint32(0x80)) & np.uint32(0xFFFFFF00)
    return rounded


def _planes(values: npt.NDArray[np.uint16] | npt.NDArray[np.uint32]) -> bytes:
    """All lowest bytes, then all next ones …: equal bytes stand side by side and pack well."""
    return np.ascontiguousarray(values.view(np.uint8).reshape(len(values), -1).T).tobytes()


def _floats(planes: npt.NDArray[np.uint8]) -> Floats:
    bits = np.zeros((planes.shape[1], 4), np.uint8)
    bits[:, 1:] = planes.T
    return bits.view("<f4")[:, 0].astype(np.float64)
