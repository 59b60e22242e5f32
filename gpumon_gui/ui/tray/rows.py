"""Knows: what the mini monitor says of each GPU, and which program is the busiest. Must not know: how it looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.core import formatters
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKey, Sample
from gpumon_gui.core.values import number
from gpumon_gui.telemetry.derive.adapters import Adapter, short_name_of
from gpumon_gui.telemetry.derive.engines import busiest
from gpumon_gui.telemetry.derive.process_state import busiest as busiest_use
from gpumon_gui.ui.charts.decimate import Array
from gpumon_gui.ui.charts.spark import POINTS
from gpumon_gui.ui.formatters import title_of
from gpumon_gui.ui.tray.reading import memory_total, state_word
from gpumon_gui.ui.widgets.engine_panel import engine_caption, engine_tip

_EMPTY: Final[Array] = np.empty(0)


@dataclass(frozen=True, slots=True)
class Row:
    """One GPU. ``spark``: its past (0..1, newest last); ``filling``: of its memory, None where nobody knows."""

    key: DeviceKey
    title: str
    name: str
    full_name: str
    load: str
    figures: str
    spark: Array
    filling: float | None
    dimmed: bool
    counter: str = ""  #: what the load is
    tip: str = ""


def row_of(gpu: Adapter, sample: Sample, feed: Feed, *, dimmed: bool) -> Row:
    """What is said of a GPU; ``dimmed``: it is not of this moment."""
    device = sample.devices.get(gpu.info.key)
    word = state_word(device)
    names = (title_of(gpu), printable(short_name_of(gpu)), printable(gpu.info.name))
    if device is None or word:
        return Row(gpu.info.key, *names, "", word, _EMPTY, None, dimmed=True, tip=names[-1])
    engine = busiest(device)
    load = device.values.get("gpu_utilization") if engine is None else engine.value
    series = "gpu_utilization" if engine is None else engine.series
    ring = feed.ring(gpu.info.key)
    spark = _EMPTY if ring is None else ring.column(series, POINTS)
    used, total = number(device.values.get("memory_used_bytes")), number(memory_total(gpu, device))
    figures = [
        formatters.memory_pair(device.values.get("memory_used_bytes"), memory_total(gpu, device)),
        formatters.value_text("temperature_c", device.values.get("temperature_c")),
    ]
    return Row(
        gpu.info.key,
        *names,
        formatters.value_text("engine_utilization", load),
        "  ".join(figure for figure in figures if figure != formatters.DASH),
        spark,
        used / total if used is not None and total else None,
        dimmed,
        "" if engine is None else engine_caption(engine),
        names[-1] if engine is None else f"{names[-1]}\n{engine_caption(engine)}\n{engine_tip(engine)}",
    )


def top_process(sample: Sample) -> str:
    """The program that uses a GPU most; empty where none does or nobody can tell."""
    best: tuple[float, str] | None = None
    for process in sample.processes:
        share = number(busiest_use(process.uses).utilization) if process.uses else None
        if share is not None and share >= 0.005 and (best is None or share > best[0]):
            best = share, _("{program} (PID {pid})").format(program=process.name or "?", pid=process.pid)
    return "" if best is None else printable(f"{best[1]}  {formatters.percent(best[0])}")
