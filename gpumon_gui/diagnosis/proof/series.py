"""Knows: whether a series follows the phases of a load, and by how much. Must not know: what the series is of.

Instruments answer late (NVML's utilization is the mean of its last sampling period of 1/6 to 1 s, power on many cards
that of one second), so each test looks at several delays. How likely the best of them is by chance is found by exact
permutation: all ways to call as many of the phases "load" are tried, each with its own best delay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

#: Delays of an instrument behind the load, in seconds.
DELAYS_S = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
#: After an edge a reading is a mixture of both phases: it is left out for so long, a quarter of the phase at most.
SETTLE_S = 0.15
#: Chance below which a series counts as following the load: small, since several figures are looked at. Four loads
#: among nine phases: the least possible is 1/126.
SIGNIFICANT = 0.02
#: A step of memory is as large as the block within this share, or this much where that is more: allocators and
#: instruments round to 1 or 2 MiB.
STEP_SHARE, STEP_BYTES = 0.1, 6 << 20
#: Blocks below this say nothing.
LEAST_STEP_BYTES = 24 << 20
_MAX_WAYS = 20_000

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Window:
    """A phase on the instruments' clock, in seconds."""

    begin_s: float
    end_s: float
    load: bool
    block_bytes: int = 0

    @property
    def settled_s(self) -> float:
        """From here on a reading is about this phase alone."""
        return self.begin_s + min(SETTLE_S, (self.end_s - self.begin_s) / 4)


@dataclass(frozen=True, slots=True)
class Contrast:
    """``load`` and ``idle`` are medians over the phases, ``idle_most`` the highest of the idle ones, ``chance`` the
    probability of a contrast as large without any connection, ``delay_s`` the delay with the largest one. ``rises``:
    significant, and at least the size asked for."""

    load: float
    idle: float
    chance: float
    delay_s: float
    rises: bool
    idle_most: float = 0.0


@dataclass(frozen=True, slots=True)
class Steps:
    """Memory that came with the loads and went after them, in bytes: what was asked for, what was seen, and how many
    of the steps fit. With each load comes also what the products themselves need (results, work space): the same each
    time, so a constant ``more`` is allowed."""

    asked: tuple[int, ...]
    seen: tuple[int, ...]
    fitting: int
    more: int = 0

    @property
    def match(self) -> bool:
        """Whether these are the steps of this very process: their sizes differ, so that no other makes them."""
        return self.fitting >= 3 and self.fitting >= 0.75 * len(self.asked)


def contrast(
    windows: Sequence[Window], times: Sequence[float], values: Sequence[float], least: float, *, silent_is_zero: bool
) -> Contrast | None:
    """Whether the values are higher under load by at least ``least``; None where too few phases have values.

    NaN is no value. ``silent_is_zero``: the source says nothing of the idle, nor when it is asked sooner than it
    measures, so where it is silent it counts as 0 for the test; the figures given are means of what it said.
    """
    loads = np.array([window.load for window in windows], dtype=bool)
    if loads.sum() < 2 or (~loads).sum() < 2 or not times:
        return None
    at, numbers = np.asarray(times, float), np.asarray(values, float)
    if not np.isfinite(numbers).any():
        return None
    filled = np.nan_to_num(numbers, nan=0.0) if silent_is_zero else numbers
    table = np.array([_means(windows, at, filled, delay) for delay in DELAYS_S])
    usable = np.isfinite(table).all(axis=1)
    if not usable.any():
        return None
    table, delays = table[usable], np.asarray(DELAYS_S)[usable]
    differences = table[:, loads].mean(axis=1) - table[:, ~loads].mean(axis=1)
    best = int(differences.argmax())
    shown = np.nan_to_num(np.array(_means(windows, at, numbers, float(delays[best]))), nan=0.0)
    load, idle = float(np.median(shown[loads])), float(np.median(shown[~loads]))
    chance = _chance(table, int(loads.sum()), float(differences[best]))
    rises = chance <= SIGNIFICANT and load - idle >= least
    return Contrast(load, idle, chance, float(delays[best]), rises, float(shown[~loads].max()))


def steps(windows: Sequence[Window], times: Sequence[float], values: Sequence[float]) -> Steps | None:
    """Whether the memory follows the blocks: each load against the idle phases beside it. None without blocks."""
    at, numbers = np.asarray(times, float), np.asarray(values, float)
    asked: list[int] = []
    seen: list[int] = []
    for index, window in enumerate(windows):
        if not window.load or window.block_bytes < LEAST_STEP_BYTES or not 0 < index < len(windows) - 1:
            continue
        during = _median(window, at, numbers)
        beside = [_median(windows[index + off], at, numbers) for off in (-1, 1)]
        if all(math.isfinite(value) for value in (during, *beside)):
            asked.append(window.block_bytes)
            seen.append(int(during - sum(beside) / 2))
    if not asked:
        return None
    off = [step - block for step, block in zip(seen, asked, strict=True)]
    more = max(0, int(np.median(off)))
    if more > max(asked):  # a constant larger than what should be told by it
        more = 0
    close = (abs(each - more) <= max(STEP_BYTES, STEP_SHARE * block) for each, block in zip(off, asked, strict=True))
    return Steps(tuple(asked), tuple(seen), sum(close), more)


def within(windows: Sequence[Window], times: Sequence[float], values: Sequence[float], *, load: bool) -> Numbers:
    """The values (no NaN) inside the phases of one kind."""
    at, numbers = np.asarray(times, float), np.asarray(values, float)
    mask = np.zeros(len(at), dtype=bool)
    for window in windows:
        if window.load == load:
            mask |= (at >= window.settled_s) & (at <= window.end_s)
    found: Numbers = numbers[mask & np.isfinite(numbers)]
    return found


def _means(windows: Sequence[Window], at: Numbers, numbers: Numbers, delay_s: float) -> list[float]:
    means = []
    for window in windows:
        mask = (at >= window.settled_s + delay_s) & (at <= window.end_s + delay_s)
        inside = numbers[mask & np.isfinite(numbers)]
        means.append(float(inside.mean()) if inside.size else math.nan)
    return means


def _median(window: Window, at: Numbers, numbers: Numbers) -> float:
    inside = numbers[(at >= window.settled_s) & (at <= window.end_s) & np.isfinite(numbers)]
    return float(np.median(inside)) if inside.size else math.nan


def _chance(table: Numbers, loads: int, seen: float) -> float:
    """The share of all labellings whose best difference is as large as the one seen."""
    count = table.shape[1]
    if math.comb(count, loads) > _MAX_WAYS:  # many repeats: what differs then needs no exact count
        ways = [np.random.default_rng(0).choice(count, loads, replace=False) for _ in range(_MAX_WAYS // 10)]
    else:
        ways = [np.array(way) for way in combinations(range(count), loads)]
    labels = np.zeros((len(ways), count))
    for row, way in enumerate(ways):
        labels[row, way] = 1.0
    in_load = table @ labels.T / loads
    in_idle = (table.sum(axis=1, keepdims=True) - table @ labels.T) / (count - loads)
    best = (in_load - in_idle).max(axis=0)
    return float((best >= seen - 1e-12).sum()) / len(ways)
