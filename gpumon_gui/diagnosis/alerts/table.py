"""Knows: every kind of alert. Must not know: how any is told from the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from gpumon_gui.diagnosis.alerts import held_idle, lost, memory_full, run_ended, spill, temperature, throttle
from gpumon_gui.diagnosis.alerts.alert import Watch


class Kind(NamedTuple):
    """``name`` is also the table ``[alerts.name]`` of the settings."""

    name: str
    make: Callable[[], Watch]
    title: str
    text: str


KINDS: Final[tuple[Kind, ...]] = (
    Kind(run_ended.KIND, run_ended.RunEnded, run_ended.TITLE, run_ended.TEXT),
    Kind(held_idle.KIND, held_idle.HeldIdle, held_idle.TITLE, held_idle.TEXT),
    Kind(memory_full.KIND, memory_full.MemoryFull, memory_full.TITLE, memory_full.TEXT),
    Kind(spill.KIND, spill.Spill, spill.TITLE, spill.TEXT),
    Kind(throttle.KIND, throttle.Throttle, throttle.TITLE, throttle.TEXT),
    Kind(temperature.KIND, temperature.Temperature, temperature.TITLE, temperature.TEXT),
    Kind(lost.KIND, lost.Lost, lost.TITLE, lost.TEXT),
)
