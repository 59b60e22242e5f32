"""Knows: how busy a GPU is over time: training with epochs, bursts of inference, a desktop. Must not know: NVML.

A load is a function of the machine's seconds that always gives the same value for the same second, so that a test can
rely on it; it wanders a little, so that a chart looks alive. Levels and ripple follow recordings of an H200.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

Load: TypeAlias = Callable[[float], float]
"""Seconds since the machine was switched on → busy share, 0 to 1."""


def ripple(now_s: float, seed: int = 0) -> float:
    """A wandering number between -1 and 1: three waves whose periods have no common multiple."""
    phase = now_s + 17.3 * seed
    return (math.sin(phase / 1.7) + math.sin(phase / 4.3 + seed) + math.sin(phase / 11.9)) / 3


def steady(level: float, swing: float = 0.0, seed: int = 0) -> Load:
    """A level with a ripple of ``swing`` around it, kept between 0 and 1."""
    return lambda now_s: min(1.0, max(0.0, level + swing * ripple(now_s, seed)))


def cores(busy: float, swing: float = 0.0, seed: int = 0) -> Load:
    """Processor cores that a process keeps busy: more than 1 for one that has many threads."""
    return lambda now_s: max(0.0, busy + swing * ripple(now_s, seed))


def training(level: float = 0.96, epoch_s: float = 24.0, pause_s: float = 3.0, seed: int = 0) -> Load:
    """Epochs at a level; between two the validation data are loaded and the GPU has little to do."""

    def load(now_s: float) -> float:
        wander = ripple(now_s, seed)
        if (now_s + 5.0 * seed) % epoch_s >= epoch_s - pause_s:
            return 0.14 + 0.06 * wander
        return min(1.0, level + 0.03 * wander)

    return load


def bursts(level: float = 0.78, every_s: float = 9.0, length_s: float = 3.5, seed: int = 0) -> Load:
    """Requests that come in bunches."""

    def load(now_s: float) -> float:
        if (now_s + 3.1 * seed) % every_s < length_s:
            return level + 0.12 * ripple(now_s, seed)
        return max(0.0, 0.03 + 0.03 * ripple(now_s, seed))

    return load


def desktop(seed: int = 0) -> Load:
    """A browser and windows being moved."""
    return lambda now_s: max(0.0, 0.06 + 0.05 * ripple(now_s, seed) + (0.18 if now_s % 13 < 1.5 else 0.0))


def idle(_now_s: float) -> float:
    """Nothing at all."""
    return 0.0


def mean(load: Load, now_s: float, over_s: float) -> float:
    """Mean of a load over the last seconds: temperatures and averages follow it slowly."""
    steps = 8
    return sum(load(max(0.0, now_s - over_s * step / steps)) for step in range(steps)) / steps
