"""Knows: who uses a device according to NVML. Must not know: the operating system's process table.

The process structs have had three layouts. ``nvmlProcessInfo_v1_t`` (16 bytes: pid, used memory) belongs to the
unsuffixed functions; ``_v2``/``_v3`` use 24 bytes (pid, used memory, GPU and compute instance); the ``_v3`` of some
R535 drivers had 32 (a protected-memory field at the end) under the same name. So the layout is verified on the data: a
wrong stride shows up as process ids that cannot be.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpumon_gui.core.model import DeviceKey, ProcessUse, UseKind
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.nvml.layouts import ProcessUtilizationSample
from gpumon_gui.telemetry.nvml.library import (
    FUNCTION_NOT_FOUND,
    INSUFFICIENT_SIZE,
    NEVER,
    NO_PERMISSION,
    NOT_FOUND,
    SESSION_OVER,
    SUCCESS,
    Library,
    NvmlError,
    error_name,
)

SOURCE = "nvml"
NOT_AVAILABLE = 0xFFFFFFFFFFFFFFFF  #: NVML_VALUE_NOT_AVAILABLE (nvml.h): WDDM manages the memory itself
PID_LIMIT = 4_194_304  #: Linux' PID_MAX_LIMIT on 64 bits; Windows' ids are far below
NO_INSTANCE = 0xFFFFFFFF
#: No new sample for so long means that all processes are idle; for less, that GPUMon asked too soon: the driver's
#: sampling period is between 1/6 and 1 s (nvml.h, nvmlUtilization_t).
QUIET_S = 2.0
#: No machine has more processes on one card; a driver that asks for more room gives rubbish.
MAX_ENTRIES = 65_536
#: The first answer reaches back many seconds; what is older than its newest sample by this is about dead processes.
FRESH_US = 2_000_000

_GENERATIONS: tuple[tuple[str, tuple[int, ...]], ...] = (("_v3", (24, 32)), ("_v2", (24, 32)), ("", (16,)))


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of a process list. ``instance`` is the GPU instance id of a MIG card, None otherwise."""

    pid: int
    memory_bytes: int
    instance: int | None


def parse(raw: bytes, count: int, stride: int) -> tuple[Listed, ...]:
    """``count`` entries of ``stride`` bytes each (16, 24 or 32)."""
    entries = []
    for index in range(count):
        pid, memory = struct.unpack_from("=I4xQ", raw, index * stride)
        instance = struct.unpack_from("=I", raw, index * stride + 16)[0] if stride > 16 else NO_INSTANCE
        entries.append(Listed(pid, memory, None if instance == NO_INSTANCE else instance))
    return tuple(entries)


def is_believable(entries: Sequence[Listed], total_bytes: float | None) -> bool:
    """Whether the entries can be right: possible pids, each once per instance, no more memory than the card has."""
    places = {(entry.pid, entry.instance) for entry in entries}
    if any(not 0 < entry.pid <= PID_LIMIT for entry in entries) or len(places) != len(entries):
        return False
    known = [entry.memory_bytes for entry in entries if entry.memory_bytes != NOT_AVAILABLE]
    return total_bytes is None or all(used <= total_bytes for used in known)


class ProcessReader:
    """Lists and utilization of one device's processes."""

    def __init__(self, library: Library, handle: Any, key: DeviceKey, *, wddm: bool) -> None:
        self._library = library
        self._handle = handle
        self._key = key
        self._wddm = wddm
        self._buffer = ctypes.create_string_buffer(64 * 32)
        self._samples: Any = (ProcessUtilizationSample * 64)()
        self._last_seen_us = 0
        self._heard_s = float("-inf")
        self._strides: dict[str, int] = {}
        self.may_not_list = False  #: the last list was refused for want of rights

    def read(self, now_s: float, total_bytes: float | None, *, utilization: bool) -> tuple[ProcessUse, ...]:
        """All processes of the device. Memory and utilization are Missing with a reason where NVML has none."""
        self.may_not_list = False
        compute = self._list("nvmlDeviceGetComputeRunningProcesses", total_bytes)
        graphics = self._list("nvmlDeviceGetGraphicsRunningProcesses", total_bytes)
        busy = self._utilization(now_s) if utilization else Missing(Reason.NOT_READ, SOURCE)
        uses = []
        for pid in sorted(compute.keys() | graphics.keys()):
            kind = UseKind.BOTH if pid in compute and pid in graphics else UseKind.GRAPHICS
            if pid not in graphics:
                kind = UseKind.COMPUTE
            entry = compute.get(pid) or graphics[pid]
            values: dict[str, Value] = {"process_memory_bytes": self._memory(entry.memory_bytes)}
            if isinstance(busy, Missing):
                values["process_gpu_utilization"] = busy
            else:
                values.update(busy.get(pid) or _IDLE)
            uses.append(ProcessUse(pid, self._key, kind, values))
        return tuple(uses)

    def _memory(self, used: int) -> Value:
        if used == NOT_AVAILABLE:
            return Missing(Reason.DRIVER_MODEL if self._wddm else Reason.NOT_SUPPORTED, SOURCE)
        return checked("process_memory_bytes", used, SOURCE)

    def _list(self, function: str, total_bytes: float | None) -> dict[int, Listed]:
        for suffix, strides in _GENERATIONS:
            code, count = self._fetch(function + suffix)
            if code == FUNCTION_NOT_FOUND:
                continue
            self.may_not_list = self.may_not_list or code == NO_PERMISSION
            if code in SESSION_OVER:
                raise NvmlError(function, code)
            if code != SUCCESS:
                return {}
            raw = self._buffer.raw
            known = self._strides.get(suffix)
            for stride in (known,) if known else strides:
                entries = parse(raw, count, stride)
                if is_believable(entries, total_bytes):
                    # One entry looks right in every layout: only two or more tell them apart.
                    if count > 1:
                        self._strides[suffix] = stride
                    return _by_pid(entries)
            self._strides.pop(suffix, None)
            return {}
        return {}

    def _fetch(self, symbol: str) -> tuple[int, int]:
        """Fill the buffer; returns NVML's code and the number of entries."""
        for _ in range(3):  # the list may grow between the two calls
            count = ctypes.c_uint(len(self._buffer) // 32)
            code = self._library.call(symbol, self._handle, ctypes.byref(count), self._buffer)
            if code != INSUFFICIENT_SIZE or count.value > MAX_ENTRIES:
                return code, min(count.value, len(self._buffer) // 32)
            self._buffer = ctypes.create_string_buffer((count.value + 16) * 32)
        return INSUFFICIENT_SIZE, 0

    def _utilization(self, now_s: float) -> dict[int, dict[str, Value]] | Missing:
        """Per pid, the mean of the driver's samples since the last call.

        Samples outside the time asked for or above 100 % are old samples of dead processes (seen with several
        drivers): they become Missing(IMPLAUSIBLE) unless a good one exists.
        """
        for _ in range(3):
            count = ctypes.c_uint(len(self._samples))
            code = self._library.call(
                "nvmlDeviceGetProcessUtilization",
                self._handle,
                self._samples,
                ctypes.byref(count),
                ctypes.c_ulonglong(self._last_seen_us),
            )
            if code != INSUFFICIENT_SIZE or count.value > MAX_ENTRIES:
                break
            self._samples = (ProcessUtilizationSample * (count.value + 16))()
        if code == NOT_FOUND:  # no new samples since last time: not a failure
            if now_s - self._heard_s >= QUIET_S:
                return {}
            return Missing(Reason.NOT_READ, SOURCE, "no new samples")
        if code != SUCCESS:
            reason = Reason.NO_PERMISSION if code == NO_PERMISSION else Reason.ERROR
            return Missing(Reason.NOT_SUPPORTED if code in NEVER else reason, SOURCE, error_name(code))
        self._heard_s = now_s
        since_us = self._last_seen_us
        by_pid: dict[int, list[Any]] = {}
        for sample in self._samples[: count.value]:
            if sample.pid and sample.timeStamp > since_us:
                by_pid.setdefault(sample.pid, []).append(sample)
                self._last_seen_us = max(self._last_seen_us, sample.timeStamp)
        if since_us == 0:  # only the newest is about now
            newest = {pid: max(samples, key=_time_stamp) for pid, samples in by_pid.items()}
            limit_us = self._last_seen_us - FRESH_US
            by_pid = {pid: [sample] for pid, sample in newest.items() if sample.timeStamp >= limit_us}
        return {pid: _means(samples) for pid, samples in by_pid.items()}


def _by_pid(entries: Sequence[Listed]) -> dict[int, Listed]:
    """One entry per process: a split card lists a process once per instance it runs in."""
    found: dict[int, Listed] = {}
    for entry in entries:
        before = found.get(entry.pid)
        if before is not None and NOT_AVAILABLE not in (entry.memory_bytes, before.memory_bytes):
            entry = Listed(entry.pid, entry.memory_bytes + before.memory_bytes, None)
        found[entry.pid] = entry
    return found


# nvml.h, nvmlDeviceGetProcessUtilization: one sample per process "that had some non-zero utilization during the last
# sample period". A process that is listed and has none was idle.
_PROCESS_SHARES = (
    ("process_gpu_utilization", "smUtil"),
    ("process_memory_utilization", "memUtil"),
    ("process_encoder_utilization", "encUtil"),
    ("process_decoder_utilization", "decUtil"),
)


_IDLE: dict[str, Value] = {metric: Reading(0.0, SOURCE) for metric, _field in _PROCESS_SHARES}


def _time_stamp(sample: Any) -> int:
    return int(sample.timeStamp)


def _means(samples: Sequence[Any]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for metric, field in _PROCESS_SHARES:
        all_of_them = [checked(metric, getattr(sample, field) / 100, SOURCE) for sample in samples]
        good = [value.value for value in all_of_them if not isinstance(value, Missing)]
        numbers = [float(number) for number in good]
        values[metric] = checked(metric, sum(numbers) / len(numbers), SOURCE) if numbers else all_of_them[-1]
    return values
