"""Knows: the gzip'd JSON lines of labelled traces. Must not know: who plays them.

Form of a file: line 1 ``{"meta": {"driver", "cpus", "ram", "gpus": [{"name", "mem_total" bytes, "power_limit_mw",
"sm_max_mhz"}]}}``, then one object per sample: ``t`` seconds, ``cpu`` busy % of each core, ``ram_used`` bytes,
``gpus[i]`` with ``util``/``memutil`` %, ``mem`` used bytes (NVML memory v1: with what the driver reserves), ``temp``,
``power_mw``, ``sm_mhz``, ``mem_mhz``, ``pstate``, ``throttle``, ``pcie_tx_kb``/``pcie_rx_kb`` (KB/s of a 20 ms
window), ``procs`` [pid, bytes], ``putil`` [pid, SM %, memory %, time stamp µs], ``gpm`` {metric id: value}; and
``procs`` with ``pid``, ``ppid``, ``cmd``, ``cpu`` % of one core, ``rss``, ``threads``, ``io_r`` bytes read so far.
Null and bare NaN are missing values. A trace has no wall clock: UTC comes from the process time stamps, else from
the file's date.

Raises UnreadableInput with file, line and field for everything else.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import check_regular_file, shown
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceKind,
    DeviceSample,
    HostSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.recording.base import RecordedFile

#: Limits against files made to fill memory; real lines have some 2 KB, an hour at 5 Hz 36 MB.
LONGEST_LINE = 4 << 20
MOST_BYTES = 256 << 20

_TRACE = "trace"  # NVML's figures; ``provenance`` knows which calls
_HOST = "host"
_MIB = float(1 << 20)

# field of a GPU → (metric, factor to canonical units, source)
_FIELDS: dict[str, tuple[str, float, str]] = {
    "util": ("gpu_utilization", 0.01, _TRACE),
    "memutil": ("memory_utilization", 0.01, _TRACE),
    "mem": ("memory_used_bytes", 1, _TRACE),
    "temp": ("temperature_c", 1, _TRACE),
    "power_mw": ("power_w", 0.001, _TRACE),
    "sm_mhz": ("clock_sm_mhz", 1, _TRACE),
    "mem_mhz": ("clock_memory_mhz", 1, _TRACE),
    "pstate": ("pstate", 1, _TRACE),
    "throttle": ("throttle_reasons", 1, _TRACE),
}
_KILOBYTES = {"pcie_tx_kb": "pcie_tx_bytes_per_s", "pcie_rx_kb": "pcie_rx_bytes_per_s"}
# nvml.h nvmlGpmMetricId_t → (metric, factor). Traffic is in MiB/s there.
_GPM_METRICS: dict[str, tuple[str, float]] = {
    "1": ("graphics_activity", 0.01),
    "2": ("sm_activity", 0.01),
    "3": ("sm_occupancy", 0.01),
    "5": ("tensor_activity", 0.01),
    "10": ("dram_activity", 0.01),
    "11": ("fp64_activity", 0.01),
    "12": ("fp32_activity", 0.01),
    "13": ("fp16_activity", 0.01),
    "20": ("pcie_tx_bytes_per_s", _MIB),
    "21": ("pcie_rx_bytes_per_s", _MIB),
    "60": ("nvlink_rx_bytes_per_s", _MIB),
    "61": ("nvlink_tx_bytes_per_s", _MIB),
}


class _Bad(Exception):  # noqa: N818 - inside this module only
    """What is wrong with the present line."""


class Trace(RecordedFile):
    """A labelled trace, whole in memory (it is whole, or refused). ``meta``: ``program`` is ``trace``, ``driver`` its
    version. Raises UnreadableInput naming file and line."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        check_regular_file(self.path)
        rows: list[_Row] = []
        head: _Head | None = None
        number = 0  # of the line in hand, also after the loop
        try:
            for number, document in _documents(self.path):  # noqa: B007 - used below
                if head is None:
                    head = _Head(document)
                else:
                    rows.append(_Row(document, head, rows[-1] if rows else None))
        except _Bad as error:
            raise UnreadableInput(
                _("{path}:{line}: {detail}").format(path=shown(self.path), line=number, detail=error)
            ) from error
        if head is None or not rows:
            raise UnreadableInput(_("{path}: a trace without samples.").format(path=shown(self.path)))
        base_s = self._utc_base(rows)
        self._samples = tuple(row.sample(index, base_s, head) for index, row in enumerate(rows))
        self._has({"program": "trace", "driver": head.driver}, [row.time_s for row in rows], complete=True)

    def sample(self, index: int) -> Sample:
        """One sample. Raises IndexError."""
        if index < 0:
            raise IndexError(index)
        return self._samples[index]

    def _utc_base(self, rows: list[_Row]) -> float:
        """UTC of t = 0: from the newest process time stamp of the first row that has one, else the file's date."""
        for row in rows:
            if row.stamp_s:
                return row.stamp_s - row.time_s
        return self.path.stat().st_mtime - rows[-1].time_s


class _Head:
    """Line 1."""

    def __init__(self, document: dict[str, Any]) -> None:
        meta = _object(document, "meta")
        self.driver = _string(meta, "driver")
        self.ram = _value("ram_total_bytes", _number(meta, "ram"), 1, _HOST)
        self.limits: list[Value] = []
        infos: list[DeviceInfo] = []
        for index, gpu in enumerate(_objects(meta, "gpus")):
            where = f"gpus[{index}]."
            static = {
                "memory_total_bytes": _value("memory_total_bytes", _number(gpu, "mem_total", where), 1, _TRACE),
                "clock_sm_max_mhz": _value("clock_sm_max_mhz", _number(gpu, "sm_max_mhz", where), 1, _TRACE),
                "driver_version": Reading(self.driver, _TRACE),
            }
            self.limits.append(_value("power_limit_w", _number(gpu, "power_limit_mw", where), 0.001, _TRACE))
            infos.append(
                DeviceInfo(
                    key=DeviceKey(f"trace:{index}"),
                    name=_string(gpu, "name", where),
                    vendor="nvidia",
                    kind=DeviceKind.DISCRETE,
                    index=index,
                    sources=(_TRACE,),
                    static=MappingProxyType(static),
                )
            )
        self.inventory = tuple(infos)


class _Row:
    """One sample line, checked. ``stamp_s`` is the newest process time stamp in UTC seconds, 0 without one."""

    def __init__(self, document: dict[str, Any], head: _Head, before: _Row | None) -> None:
        time_s: float | None = _number(document, "t")
        if time_s is None or not math.isfinite(time_s):
            raise _Bad(_("field {field} is missing").format(field="t"))
        if before is not None and time_s < before.time_s:
            raise _Bad(_("the time goes back (from {before} s to {now} s)").format(before=before.time_s, now=time_s))
        self.time_s: float = time_s
        self.interval_s = 0.0 if before is None else time_s - before.time_s
        self.stamp_s = 0.0
        self.read_bytes: dict[int, float] = {}
        self.host = self._host(document, head)
        gpus = _objects(document, "gpus")
        if len(gpus) != len(head.inventory):
            raise _Bad(
                _("{found} GPUs where the first line names {expected}").format(
                    found=len(gpus), expected=len(head.inventory)
                )
            )
        self.uses: dict[int, list[ProcessUse]] = {}
        self.devices = MappingProxyType(
            {
                info.key: self._device(gpu, info.key, limit, f"gpus[{info.index}].")
                for info, gpu, limit in zip(head.inventory, gpus, head.limits, strict=True)
            }
        )
        self.processes = self._processes(document, {} if before is None else before.read_bytes)

    def sample(self, index: int, base_s: float, head: _Head) -> Sample:
        """The sample of this row."""
        return Sample(
            sequence=index,
            monotonic_s=self.time_s,
            utc_s=base_s + self.time_s,
            interval_s=self.interval_s,
            inventory=head.inventory,
            devices=self.devices,
            processes=self.processes,
            host=self.host,
        )

    def _host(self, document: dict[str, Any], head: _Head) -> HostSample:
        cores = [_typed_number(core, f"cpu[{i}]") for i, core in enumerate(_list(document, "cpu"))]
        known = [core / 100 for core in cores if core is not None and math.isfinite(core)]
        values = {
            "cpu_utilization": (
                checked("cpu_utilization", sum(known) / len(known), _HOST) if known else _absent(_HOST)
            ),
            "ram_used_bytes": _value("ram_used_bytes", _number(document, "ram_used"), 1, _HOST),
            "ram_total_bytes": head.ram,
        }
        # Cores cannot be missing one by one.
        return HostSample(MappingProxyType(values), tuple(known) if len(known) == len(cores) else ())

    def _device(self, gpu: dict[str, Any], key: DeviceKey, limit: Value, where: str) -> DeviceSample:
        values: dict[str, Value] = {"power_limit_w": limit}
        for name, (metric, factor, source) in _FIELDS.items():
            values[metric] = _value(metric, _number(gpu, name, where), factor, source)
        for name, metric in _KILOBYTES.items():
            values[metric] = _value(metric, _number(gpu, name, where), 1000.0, _TRACE)
        gpm = gpu.get("gpm")
        if gpm is not None and not isinstance(gpm, dict):
            raise _Bad(_wrong(f"{where}gpm", gpm))
        for name, (metric, factor) in _GPM_METRICS.items():
            raw = _number(gpm or {}, name, f"{where}gpm.")
            value = _value(metric, raw, factor, _TRACE)
            # The mean since the last sample is better than a window of 20 ms, where there is one.
            if isinstance(value, Reading) or not isinstance(values.get(metric), Reading):
                values[metric] = value
        self._take_uses(gpu, key, where)
        return DeviceSample(key, values=MappingProxyType(values))

    def _take_uses(self, gpu: dict[str, Any], key: DeviceKey, where: str) -> None:
        found: dict[int, dict[str, Value]] = {}
        for pid, used in _tuples(gpu, "procs", 2, where):
            found.setdefault(_pid(pid, where), {})["process_memory_bytes"] = _value(
                "process_memory_bytes", _typed_number(used, f"{where}procs"), 1, _TRACE
            )
        for pid, sm, memory, stamp_us in _tuples(gpu, "putil", 4, where):
            values = found.setdefault(_pid(pid, where), {})
            for metric, raw in (("process_gpu_utilization", sm), ("process_memory_utilization", memory)):
                values[metric] = _value(metric, _typed_number(raw, f"{where}putil"), 0.01, _TRACE)
            stamp = _typed_number(stamp_us, f"{where}putil")
            if stamp is not None and math.isfinite(stamp):
                self.stamp_s = max(self.stamp_s, stamp / 1e6)
        for number, values in found.items():
            use = ProcessUse(number, key, UseKind.COMPUTE, MappingProxyType(values))
            self.uses.setdefault(number, []).append(use)

    def _processes(self, document: dict[str, Any], read_before: Mapping[int, float]) -> tuple[ProcessSample, ...]:
        samples: list[ProcessSample] = []
        uses = dict(self.uses)
        for index, process in enumerate(_objects(document, "procs", optional=True)):
            where = f"procs[{index}]."
            pid = _pid(process.get("pid"), where)
            command = _string(process, "cmd", where)
            read = _number(process, "io_r", where)
            if read is not None and math.isfinite(read):
                self.read_bytes[pid] = read
            values = {
                "process_cpu": _value("process_cpu", _number(process, "cpu", where), 0.01, _HOST),
                "process_rss_bytes": _value("process_rss_bytes", _number(process, "rss", where), 1, _HOST),
                "process_threads": _value("process_threads", _number(process, "threads", where), 1, _HOST),
                "process_read_bytes": _value("process_read_bytes", read, 1, _HOST),
                "process_read_bytes_per_s": self._read_speed(read, read_before.get(pid)),
            }
            samples.append(
                ProcessSample(
                    pid=pid,
                    started_utc_s=None,
                    name=PurePosixPath(command.split(" ", 1)[0]).name,
                    presence=ProcessPresence.RUNNING,
                    ppid=_pid(process["ppid"], where) if process.get("ppid") is not None else None,
                    command=tuple(command.split(" ")),
                    uses=tuple(uses.pop(pid, ())),
                    values=MappingProxyType(values),
                )
            )
        # Traces list the workload only: whatever else uses the GPU is known by its pid alone.
        samples += [
            ProcessSample(pid, None, "", ProcessPresence.FOREIGN, uses=tuple(found)) for pid, found in uses.items()
        ]
        return tuple(samples)

    def _read_speed(self, read: float | None, before: float | None) -> Value:
        if read is None or not math.isfinite(read):
            return _absent(_HOST)
        if before is None or self.interval_s <= 0 or read < before:
            return Missing(Reason.FIRST_SAMPLE, _HOST)
        return checked("process_read_bytes_per_s", (read - before) / self.interval_s, _HOST)


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of each line. Raises _Bad inside the iteration, for the line it was about to give."""
    number = 0
    total = 0
    problem = ""
    document: Any = None
    try:
        with gzip.open(path, "rb") as file:
            while True:
                number += 1
                line = file.readline(LONGEST_LINE + 1)
                if not line:
                    return
                total += len(line)
                if len(line) > LONGEST_LINE or total > MOST_BYTES:
                    problem = _("too long for a trace")
                    break
                if line.isspace():
                    continue
                try:
                    document = json.loads(line)
                except (ValueError, RecursionError) as error:
                    problem = _("no JSON ({detail})").format(detail=error)
                    break
                if not isinstance(document, dict):
                    problem = _wrong(_("line"), document)
                    break
                yield number, document
    except EOFError:
        problem = _("the file is cut off here")
    except (gzip.BadGzipFile, zlib.error) as error:
        problem = _("the compressed data are damaged ({detail})").format(detail=error)
    except OSError as error:
        raise UnreadableInput(
            _("{path}: cannot be read ({detail}).").format(path=shown(path), detail=error.strerror or error)
        ) from error
    raise UnreadableInput(_("{path}:{line}: {detail}").format(path=shown(path), line=number, detail=problem))


def _absent(source: str) -> Missing:
    return Missing(Reason.NOT_READ, source)


def _value(metric: str, raw: float | None, factor: float, source: str) -> Value:
    """Null is not read; NaN and the impossible become Missing in ``checked``."""
    if raw is None:
        return _absent(source)
    # Integers stay integers: bit masks and byte counts.
    return checked(metric, raw if factor == 1 else raw * factor, source)


def _wrong(field: str, found: object) -> str:
    return _("field {field} has the wrong type ({found})").format(field=field, found=type(found).__name__)


def _typed_number(found: object, field: str) -> float | None:
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise _Bad(_wrong(field, found))
    if isinstance(found, int) and found.bit_length() > 64:
        return math.inf  # beyond every counter; ``checked`` refuses it
    return found


def _number(document: Mapping[str, Any], field: str, where: str = "") -> float | None:
    return _typed_number(document.get(field), where + field)


def _string(document: Mapping[str, Any], field: str, where: str = "") -> str:
    found = document.get(field)
    if not isinstance(found, str):
        raise _Bad(_wrong(where + field, found))
    return found


def _object(document: Mapping[str, Any], field: str) -> dict[str, Any]:
    found = document.get(field)
    if not isinstance(found, dict):
        raise _Bad(_wrong(field, found))
    return found


def _list(document: Mapping[str, Any], field: str, where: str = "", *, optional: bool = False) -> list[Any]:
    found = document.get(field)
    if found is None and optional:
        return []
    if not isinstance(found, list):
        raise _Bad(_wrong(where + field, found))
    return found


def _objects(document: Mapping[str, Any], field: str, *, optional: bool = False) -> list[dict[str, Any]]:
    found = _list(document, field, optional=optional)
    for index, item in enumerate(found):
        if not isinstance(item, dict):
            raise _Bad(_wrong(f"{field}[{index}]", item))
    return found


def _tuples(document: Mapping[str, Any], field: str, length: int, where: str) -> list[list[Any]]:
    found = _list(document, field, where, optional=True)
    for item in found:
        if not isinstance(item, list) or len(item) != length:
            raise _Bad(_wrong(where + field, item))
    return found


def _pid(found: object, where: str) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 1 << 32:
        raise _Bad(_wrong(f"{where}pid", found))
    return found
