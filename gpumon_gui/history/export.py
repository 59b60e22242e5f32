"""Knows: how a span of the history leaves the program as CSV or JSON. Must not know: Qt, pictures.

Numbers are in canonical units: fractions, bytes, watts, degrees Celsius, megahertz. What was missing is an empty field
(CSV) or null (JSON), never 0. UUIDs and serial numbers are left out.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from gpumon_gui.core.metrics import METRICS
from gpumon_gui.history.buckets import Ints, Rows, coarser
from gpumon_gui.history.marker import Marker
from gpumon_gui.history.reading import HistoryReader, Span, StoredDevice, level_for

SCHEMA = "gpumon-history/1"
#: Rows between two looks at the clock and at whether to stop.
_STRETCH = 200


class Ended(Exception):  # noqa: N818 - reads as a statement
    """The program ends: nothing is written."""


@dataclass(frozen=True, slots=True)
class Table:
    """What is exported: for each second of ``start`` the rows of some metrics."""

    device: StoredDevice
    span: Span
    step_s: int
    start: Ints
    rows: dict[str, Rows]
    markers: tuple[Marker, ...]


def table(reader: HistoryReader, device: StoredDevice, span: Span, points: int) -> Table:
    """All metrics of a device that have a value in the span, as fine as ``points`` columns show them. Raises
    UnreadableInput."""
    level = level_for(span.length_s, points)
    found = {
        # What the level has not taken over yet comes in finer rows: all lines of a table are equally long.
        metric: coarser(rows.between(span.left_s, span.right_s), level.step_s)
        for metric, rows, _width_s in reader.rows(level, device.number, device.metrics, span)
        if np.isfinite(rows.mean).any()
    }
    found = {metric: rows for metric, rows in found.items() if len(rows)}
    start = np.unique(np.concatenate([rows.start for rows in found.values()])) if found else np.empty(0, np.int64)
    return Table(device, span, level.step_s, start, found, reader.markers(span))


def as_csv(content: Table, breathe: Callable[[], None]) -> bytes:
    """A head line, then a line for each bucket: UTC, and mean, lowest and highest value of each metric. With a byte
    order mark, without which Excel misreads what is not ASCII."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    head = ["time_utc"]
    for metric in content.rows:
        name = f"{metric} [{METRICS[metric].unit.value}]"
        head += [f"{name} mean", f"{name} min", f"{name} max"]
    writer.writerow(head)
    columns = [column for rows in content.rows.values() for column in _columns(content.start, rows)]
    for number, second in enumerate(content.start.tolist()):
        if number % _STRETCH == 0:
            breathe()
        writer.writerow([_iso(second), *("" if math.isnan(c[number]) else f"{c[number]:.7g}" for c in columns)])
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def as_json(content: Table, breathe: Callable[[], None]) -> bytes:
    """One document: what, whence, units, columns, markers."""
    metrics = {}
    for metric, rows in content.rows.items():
        mean, low, high = _columns(content.start, rows)
        unit = METRICS[metric].unit.value
        metrics[metric] = {"unit": unit, "mean": _nulls(mean), "min": _nulls(low), "max": _nulls(high)}
        breathe()
    document = {
        "schema": SCHEMA,
        "device": {"name": content.device.name, "vendor": content.device.vendor, "pci": content.device.pci},
        "from_utc": _iso(content.span.left_s),
        "until_utc": _iso(content.span.right_s),
        "step_s": content.step_s,
        "time_utc_s": content.start.tolist(),
        "metrics": metrics,
        "markers": [
            {
                "time_utc": _iso(marker.utc_s),
                "kind": marker.kind.value,
                "code": marker.code,
                "subject": marker.subject,
                "text": marker.sentence(),
            }
            for marker in content.markers
        ],
    }
    parts = []
    for number, part in enumerate(json.JSONEncoder(ensure_ascii=False).iterencode(document)):
        if number % (20 * _STRETCH) == 0:
            breathe()
        parts.append(part)
    return ("".join(parts) + "\n").encode()


def _columns(start: Ints, rows: Rows) -> list[list[float]]:
    """Mean, lowest and highest at each second of ``start``."""
    at = np.searchsorted(start, rows.start)
    found = []
    for values in (rows.mean, rows.low, rows.high):
        column = np.full(len(start), np.nan)
        column[at] = values
        found.append(column.tolist())
    return found


def _nulls(values: list[float]) -> list[float | None]:
    return [None if math.isnan(value) else float(f"{value:.7g}") for value in values]


def _iso(utc_s: float) -> str:
    return datetime.fromtimestamp(utc_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
