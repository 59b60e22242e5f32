"""Knows: TensorFlow's and JAX's ``*.xplane.pb`` (XSpace). Must not know: what follows from it.

Read directly, without the user's environment: the schema is public and small (tensorflow/tsl/profiler/protobuf/
xplane.proto, unchanged in its numbers since 2020), while the plug-ins that convert it break with each change of
protobuf. The file is mapped, not loaded. Field numbers: XSpace 1 planes; XPlane 2 name, 3 lines, 4 event_metadata,
5 stat_metadata, 6 stats; XLine 2 name, 3 timestamp_ns, 4 events; XEvent 1 metadata_id, 2 offset_ps, 3 duration_ps,
4 stats; XStat 1 metadata_id, 3 uint64, 4 int64, 5 str, 7 ref (a stat_metadata's name); XEventMetadata 1 id, 2 name,
4 display_name, 5 stats. Planes: ``/device:GPU:0`` (lines ``Stream #…``; "Steps", "XLA Ops" … repeat the same time),
``/host:CPU``, ``/host:CUPTI`` (calls into the driver), ``/host:python-tracer``.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import cannot_read, shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.profiles import opening, wire
from gpumon_gui.diagnosis.profiles.chrome import device_event, is_operator
from gpumon_gui.diagnosis.profiles.collect import Totals
from gpumon_gui.diagnosis.profiles.host import PYTHON

_GPU_PLANE: Final = re.compile(r"/device:GPU:(\d{1,6})")
_HOST_PLANES: Final = ("/host:CPU", "/host:CUPTI", "/host:ROCTRACER")
_CAPABILITY: Final = ("compute_cap_major", "compute_cap_minor")
_MAX_NAMES: Final = 1_000_000
#: A compressed file cannot be mapped: it is unpacked in memory.
_MAX_PACKED: Final = 512 << 20
_MAX_PLANES: Final = 10_000
#: Stats that say what a device event is; others are not decoded.
_WANTED: Final = frozenset({"memcpy_details", "tf_op", "hlo_op", "kernel_details"})
#: The byte that begins a stat: field 1, a number.
_METADATA_ID: Final = 0x08
_STEP: Final = "step_num"
Span = tuple[int, int]


def read(path: Path, totals: Totals, look: opening.Look | None = None) -> dict[str, Any]:
    """Add a file's events; returns ``format``. Raises UnreadableInput naming the place."""
    with opening.content(path, look) as source:
        if source.packed:
            parts, size = [], 0
            while part := source.read(1 << 20):
                parts.append(part)
                size += len(part)
                if size > _MAX_PACKED:
                    raise UnreadableInput(_("{path}: larger than 512 MB; unpack it first.").format(path=shown(path)))
            return read_space(b"".join(parts), path, totals, look)
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return read_space(data, path, totals, look)
    except (OSError, ValueError) as error:
        raise UnreadableInput(cannot_read(path, error)) from error


def read_space(data: wire.Bytes, path: Path, totals: Totals, look: opening.Look | None = None) -> dict[str, Any]:
    """The same for content that is in memory."""
    planes = 0
    try:
        for number, _value, start, end in wire.fields(data, 0, len(data)):
            if number != 1 or end == 0:
                if number > 4:
                    raise wire.Damaged(start)
                continue
            planes += 1
            if planes > _MAX_PLANES:
                raise wire.Damaged(start)
            plane = _Plane(data, start, end)
            plane.add_to(totals, look)
    except wire.Damaged as damaged:
        message = _("{path}: no complete XSpace (xplane.pb): byte {place} does not fit.")
        raise UnreadableInput(message.format(path=shown(path), place=damaged.place)) from damaged
    if not planes:
        raise UnreadableInput(_("{path}: no XSpace (xplane.pb): it has no planes.").format(path=shown(path)))
    return {"format": "xplane"}


class _Plane:
    """One plane; names stand behind the lines in the file, so the lines are read in a second pass."""

    def __init__(self, data: wire.Bytes, start: int, end: int) -> None:
        self._data = data
        self.name = ""
        self.names: dict[int, str] = {}
        self._own_stats: dict[int, list[Span]] = {}
        self._lines: list[Span] = []
        self._stat_names: dict[int, str] = {}
        self._stats: list[Span] = []
        for number, _value, begin, behind in wire.fields(data, start, end):
            if number == 2:
                self.name = wire.text(data, begin, behind)
            elif number == 3 and behind:
                self._lines.append((begin, behind))
            elif number == 4 and behind:
                self._event_metadata(begin, behind)
            elif number == 5 and behind:
                self._stat_metadata(begin, behind)
            elif number == 6 and behind:
                self._stats.append((begin, behind))

    def add_to(self, totals: Totals, look: opening.Look | None = None) -> None:
        """Add this plane's events, where it is one of a GPU or of the program's threads."""
        gpu = _GPU_PLANE.search(self.name)
        if gpu is not None:
            index = int(gpu.group(1))
            self._describe(index, totals)
            for line in self._lines:
                if look is not None:
                    look(line[0])
                self._device_line(index, line, totals)
        elif self.name in _HOST_PLANES:
            for line in self._lines:
                if look is not None:
                    look(line[0])
                self._host_line(line, totals)

    def _describe(self, index: int, totals: Totals) -> None:
        found: dict[str, Any] = {}
        for start, end in self._stats:
            name, value = self._stat(start, end)
            found[name] = value
        major, minor = (found.get(name) for name in _CAPABILITY)
        if isinstance(major, int) and isinstance(minor, int):
            totals.device(index).capability = (major, minor)

    def _device_line(self, index: int, line: Span, totals: Totals) -> None:
        name, origin = self._head(line)
        if "Stream" not in name:
            return
        data = self._data
        # Nearly all stats have a number below 128: those that nobody wants are left by their second byte.
        wanted = {key for key, stat in self._stat_names.items() if stat in _WANTED or key >= 0x80}
        for start, end in self._events(line):
            metadata, begin, length, stats = self._event(start, end)
            args = dict(
                self._stat(*stat)
                for stat in (*self._own_stats.get(metadata, ()), *stats)
                if data[stat[0]] != _METADATA_ID or data[stat[0] + 1] in wanted or data[stat[0] + 1] >= 0x80
            )
            called = self.names.get(metadata, "")
            device_event(totals, index, called, origin + begin / 1e6, length / 1e6, args)

    def _host_line(self, line: Span, totals: Totals) -> None:
        name, origin = self._head(line)
        marks_steps = _STEP in self._stat_names.values()
        for start, end in self._events(line):
            metadata, begin, length, stats = self._event(start, end)
            called = self.names.get(metadata, "")
            at, took = origin + begin / 1e6, length / 1e6
            if marks_steps and self._is_step(stats):
                totals.step(at, took)
            elif not called.startswith(PYTHON):
                totals.host(called, at, took, (self.name, name, line[0]), link=None, operator=is_operator(called))

    def _is_step(self, stats: list[Span]) -> bool:
        """Whether an event is a step that the program marked (``tf.profiler.experimental.Trace(…, step_num=…)``)."""
        return any(
            number == 1 and self._stat_names.get(value) == _STEP
            for stat in stats
            for number, value, _start, _end in wire.fields(self._data, *stat)
        )

    def _head(self, line: Span) -> tuple[str, float]:
        """Name and start in microseconds."""
        name, origin = "", 0.0
        for number, value, start, end in wire.fields(self._data, *line):
            if number == 4 and name and origin:
                break  # what follows are its events, perhaps millions
            if number == 2:
                name = wire.text(self._data, start, end)
            elif number == 3:
                origin = wire.signed(value) / 1e3
        return name, origin

    def _events(self, line: Span) -> Iterator[Span]:
        """The places of a line's events."""
        return ((start, end) for number, _value, start, end in wire.fields(self._data, *line) if number == 4 and end)

    def _event(self, start: int, end: int) -> tuple[int, float, float, list[Span]]:
        """Metadata, offset and length in picoseconds, places of the stats."""
        metadata, offset, length, stats = 0, 0, 0, []
        for number, value, begin, behind in wire.fields(self._data, start, end):
            if number == 1:
                metadata = value
            elif number == 2:
                offset = wire.signed(value)
            elif number == 3:
                length = wire.signed(value)
            elif number == 4 and behind:
                stats.append((begin, behind))
        return metadata, float(offset), float(length), stats

    def _stat(self, start: int, end: int) -> tuple[str, Any]:
        """Name and value (text or whole number; None for others)."""
        metadata, found = 0, None
        for number, value, begin, behind in wire.fields(self._data, start, end):
            if number == 1:
                metadata = value
                if self._stat_names.get(metadata) not in (*_WANTED, *_CAPABILITY):
                    return "", None
            elif number == 5:
                found = wire.text(self._data, begin, behind)
            elif number == 7:
                found = self._stat_names.get(value)
            elif number in (3, 4):
                found = wire.signed(value)  # type: ignore[assignment]
        return self._stat_names.get(metadata, ""), found

    def _event_metadata(self, start: int, end: int) -> None:
        if len(self.names) >= _MAX_NAMES:
            return
        key, value = self._entry(start, end)
        if value is None:
            return
        stats = []
        for number, _value, begin, behind in wire.fields(self._data, *value):
            if number == 2:
                self.names[key] = wire.text(self._data, begin, behind)
            elif number == 5 and behind:
                stats.append((begin, behind))
        if stats:
            self._own_stats[key] = stats

    def _stat_metadata(self, start: int, end: int) -> None:
        if len(self._stat_names) >= _MAX_NAMES:
            return
        key, value = self._entry(start, end)
        for number, _value, begin, behind in wire.fields(self._data, *value) if value is not None else ():
            if number == 2:
                self._stat_names[key] = wire.text(self._data, begin, behind)

    def _entry(self, start: int, end: int) -> tuple[int, Span | None]:
        """An entry of a map: its key and where its value stands."""
        key, place = 0, None
        for number, value, begin, behind in wire.fields(self._data, start, end):
            if number == 1:
                key = value
            elif number == 2:
                place = (begin, behind)
        return key, place
