"""Knows: the values of one device, sweep by sweep. Must not know: the other devices, sessions, sleep.

Which figures the device has is found out once: a getter that answers "not supported" leaves the plan and its metric
stays Missing(NOT_SUPPORTED). What is read rarely keeps its last value between reads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.model import DeviceInfo, DeviceSample, DeviceState, ProcessUse
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked, number, text
from gpumon_gui.telemetry.nvml.frozen import FrozenPower
from gpumon_gui.telemetry.nvml.getters import FIELDS, PCIE_FIELDS, SCALARS, Field, Group
from gpumon_gui.telemetry.nvml.gpm import Gpm
from gpumon_gui.telemetry.nvml.layouts import MEMORY_V2_VERSION, FieldValue, Memory, MemoryV2, Utilization
from gpumon_gui.telemetry.nvml.library import (
    LOST,
    NEVER,
    SESSION_OVER,
    SUCCESS,
    DeviceLost,
    Library,
    NvmlError,
    error_name,
)
from gpumon_gui.telemetry.nvml.processes import ProcessReader
from gpumon_gui.telemetry.nvml.static import SOURCE, missing

#: Above it, ``checked`` looks closer: the catalogue's bound and the "no value" patterns.
PLAUSIBLE_BYTES = 64 << 40
#: Board power above twice the highest limit the board accepts is a broken sensor: real excursions stay below 1.5.
POWER_MARGIN = 2.0
_NOTHING = Reading("", SOURCE)
#: So many impossible core values in one sweep mean that the driver returns rubbish as a whole (555.85 on WSL).
SICK_COUNT = 3


@dataclass(slots=True)
class _Call:
    """A getter with its bound arguments and result buffer, and the last number in it that could be: most say the same
    again in the next sweep."""

    metric: str
    function: Any
    arguments: tuple[Any, ...]
    out: Any
    per: int
    low: float
    high: float
    raw: int | None = None
    reading: Reading = _NOTHING


class DeviceReader:
    """Reads one device. ``gpm`` is None where the card has none. An info with a parent is a MIG instance."""

    def __init__(self, library: Library, handle: Any, info: DeviceInfo, *, gpm: Gpm | None) -> None:
        self.info = info
        self._library = library
        self.handle = handle
        self._gpm = gpm
        self._is_mig_parent = text(info.static.get("mig_mode")) == "Enabled"
        self._is_mig_instance = info.parent is not None
        self._unsupported: dict[str, Value] = {}
        self._kept: dict[str, Value] = {}
        self._base: dict[str, Value] = {}
        self._base_is_stale = True
        self._base_impossible = 0
        self._has_doubt = False
        self._core_calls = self._bind(Group.CORE)
        self._rare_calls = {group: self._bind(group) for group in (Group.RARE, Group.SLOW)}
        self._rare_due_s = dict.fromkeys(self._rare_calls, 0.0)
        self._next_due_s = 0.0
        self._utilization = Utilization()
        self._utilization_ref = ctypes.byref(self._utilization)
        self._utilization_seen: tuple[int, int] | None = None
        self._utilization_readings: dict[str, Value] = {}
        self._memory = MemoryV2()
        self._memory.version = MEMORY_V2_VERSION
        self._memory_ref = ctypes.byref(self._memory)
        self._read_memory = library.find("nvmlDeviceGetMemoryInfo_v2")
        self._memory_seen: tuple[int, int, int, int | None] | None = None
        self._memory_readings: dict[str, Value] = {}
        self._memory_impossible = 0
        fields = FIELDS if gpm is not None else FIELDS + PCIE_FIELDS
        self._fields: tuple[Field, ...] = () if self._is_mig_instance else fields
        self._field_buffer = (FieldValue * max(1, len(self._fields)))()
        wddm = text(info.static.get("driver_model")) == "WDDM"
        self._processes = ProcessReader(library, handle, info.key, wddm=wddm)
        self._limits = tuple(number(info.static.get(f"power_limit_{kind}_w")) for kind in ("max", "default"))
        self._power_bound_w = float("inf")
        self._power_watch = FrozenPower()
        self.is_power_frozen = False

    def read(self, now_s: float, *, details: bool) -> DeviceSample:
        """All values of this moment. Raises DeviceLost, and NvmlError when the whole session is over."""
        if now_s >= self._next_due_s or self._base_is_stale:
            self._rarely(now_s)
        values = self._base.copy()
        self._has_doubt = self._base_impossible > 0
        self._core(values)
        # Counted without the details: a hardware counter that is NaN for a moment is not a sick driver.
        is_sick = self._has_doubt and _impossible(values) >= SICK_COUNT
        state = DeviceState.SICK if is_sick else DeviceState.OK
        if details:
            self._details(values)
            self._bound(values, "power_instant_w")
        elif self._gpm is not None:
            self._gpm.forget()
        self._bound(values, "power_w")
        self._freeze(values, now_s)
        return DeviceSample(self.info.key, state, "", values)

    def read_processes(self, now_s: float, *, utilization: bool) -> tuple[ProcessUse, ...]:
        """Who uses the device."""
        return self._processes.read(now_s, number(self._total()), utilization=utilization)

    @property
    def may_not_list(self) -> bool:
        """Whether the driver refused to list the processes for want of rights."""
        return self._processes.may_not_list

    def close(self) -> None:
        """Free what NVML allocated for this device."""
        if self._gpm is not None:
            self._gpm.close()

    def _total(self) -> Value:
        return self._kept.get("memory_total_bytes", Missing(Reason.NOT_READ, SOURCE))

    def _bind(self, group: Group) -> list[_Call]:
        calls = []
        for scalar in SCALARS:
            if scalar.group is not group:
                continue
            found = None if self._is_mig_instance else self._library.first(*scalar.symbols)
            if found is None:
                self._unsupported[scalar.metric] = Missing(Reason.NOT_SUPPORTED, SOURCE)
                continue
            out = scalar.ctype()
            fixed = tuple(ctypes.c_uint(argument) for argument in scalar.arguments)
            arguments = (self.handle, *fixed, ctypes.byref(out))
            if scalar.extra_out:
                arguments = (*arguments, ctypes.byref(ctypes.c_uint()))
            metric = METRICS[scalar.metric]
            calls.append(_Call(scalar.metric, found[1], arguments, out, scalar.per, metric.low, metric.high))
        return calls

    def _core(self, values: dict[str, Value]) -> None:
        self._memory_values(values)
        if self._is_mig_parent or self._is_mig_instance:
            # nvml.h: utilization is undefined while MIG is on; 0 or garbage comes back.
            for metric in ("gpu_utilization", "memory_utilization"):
                values[metric] = Missing(Reason.MIG, SOURCE)
        elif "gpu_utilization" not in self._unsupported:
            self._utilization_values(values)
        self._run(self._core_calls, values)

    def _run(self, calls: list[_Call], values: dict[str, Value]) -> None:
        """The hot loop: one C call and one comparison per figure, a new reading where it is another."""
        retire: list[_Call] | None = None
        for call in calls:
            code = call.function(*call.arguments)
            if code == SUCCESS:
                raw = call.out.value
                if raw != call.raw:
                    found = raw if call.per == 1 else raw / call.per
                    if not call.low <= found <= call.high or found >= 0x7FFFFFF0:
                        call.raw = None
                        values[call.metric] = _unusual(call.metric, found)
                        self._has_doubt = True
                        continue
                    call.raw, call.reading = raw, Reading(found, SOURCE)
                values[call.metric] = call.reading
                continue
            values[call.metric] = self._failed(call.metric, code)
            if code in NEVER:
                retire = [*(retire or ()), call]
        for call in retire or ():
            calls.remove(call)
            self._retire(call.metric, values[call.metric])

    def _utilization_values(self, values: dict[str, Value]) -> None:
        code = self._library.call("nvmlDeviceGetUtilizationRates", self.handle, self._utilization_ref)
        if code == SUCCESS:
            seen = self._utilization.gpu, self._utilization.memory
            if seen != self._utilization_seen:
                self._utilization_seen = seen
                self._utilization_readings = {
                    "gpu_utilization": checked("gpu_utilization", seen[0] / 100, SOURCE),
                    "memory_utilization": checked("memory_utilization", seen[1] / 100, SOURCE),
                }
            self._has_doubt = self._has_doubt or max(seen) > 100
            values.update(self._utilization_readings)
            return
        for metric in ("gpu_utilization", "memory_utilization"):
            values[metric] = self._failed(metric, code)
            if code in NEVER:
                self._retire(metric, values[metric])

    def _memory_values(self, values: dict[str, Value]) -> None:
        """Version 2 keeps what the driver reserves apart; version 1 (old drivers) counts it as used."""
        if self._read_memory is not None:
            memory = self._memory
            code = self._read_memory(self.handle, self._memory_ref)
            if code == SUCCESS:
                self._store_memory(values, memory.total, memory.used, memory.free, memory.reserved)
                return
            if code not in NEVER:
                for metric in ("memory_used_bytes", "memory_total_bytes"):
                    values[metric] = self._failed(metric, code)
                return
            self._read_memory = None
        old = Memory()
        code = self._library.call("nvmlDeviceGetMemoryInfo", self.handle, ctypes.byref(old))
        if code == SUCCESS:
            self._store_memory(values, old.total, old.used, old.free, None)
        else:
            for metric in ("memory_used_bytes", "memory_total_bytes"):
                values[metric] = self._failed(metric, code)

    def _store_memory(self, values: dict[str, Value], total: int, used: int, free: int, reserved: int | None) -> None:
        seen = total, used, free, reserved
        if seen != self._memory_seen:
            self._memory_seen = seen
            self._memory_readings = _memory_readings(total, used, free, reserved)
            self._memory_impossible = _impossible(self._memory_readings)
            self._kept["memory_total_bytes"] = self._memory_readings["memory_total_bytes"]
        self._has_doubt = self._has_doubt or self._memory_impossible > 0
        values.update(self._memory_readings)

    def _rarely(self, now_s: float) -> None:
        """Read what is due of the figures that are not read in every sweep, and prepare what a sweep starts from."""
        for group, calls in self._rare_calls.items():
            if now_s >= self._rare_due_s[group]:
                self._rare_due_s[group] = now_s + group.value
                self._run(calls, self._kept)
                self._base_is_stale = True
        self._next_due_s = min(self._rare_due_s.values())
        if self._base_is_stale:
            self._base_is_stale = False
            self._base = {**self._unsupported, **self._kept}
            self._base_impossible = _impossible(self._base)
            # Laptops often tell only the limit in force.
            limits = (*self._limits, number(self._kept.get("power_limit_w")))
            self._power_bound_w = POWER_MARGIN * max((limit for limit in limits if limit), default=float("inf"))

    def _retire(self, metric: str, value: Value) -> None:
        """This card has no such figure: it is not asked again."""
        self._unsupported[metric] = value
        self._base_is_stale = True

    def _details(self, values: dict[str, Value]) -> None:
        if self._fields:
            self._field_values(values)
        if self._gpm is not None:
            self._gpm.read(values)

    def _field_values(self, values: dict[str, Value]) -> None:
        buffer = self._field_buffer
        for index, field in enumerate(self._fields):
            buffer[index].fieldId, buffer[index].scopeId = field.field_id, 0
        code = self._library.call(
            "nvmlDeviceGetFieldValues", self.handle, ctypes.c_int(len(self._fields)), ctypes.byref(buffer)
        )
        for index, field in enumerate(self._fields):
            answer = buffer[index]
            each = code if code != SUCCESS else answer.nvmlReturn
            if each == SUCCESS:
                values[field.metric] = checked(field.metric, _field_number(answer) / field.per, SOURCE)
            else:
                values[field.metric] = self._failed(field.metric, each)
        lasting = [f for f in self._fields if _is_never(values[f.metric])]
        if lasting:
            for field in lasting:
                self._retire(field.metric, values[field.metric])
            self._fields = tuple(f for f in self._fields if f not in lasting)

    def _bound(self, values: dict[str, Value], metric: str) -> None:
        """What is impossible for this very card although it is possible for some card."""
        power = number(values.get(metric))
        if power is not None and power > self._power_bound_w:
            values[metric] = Missing(Reason.IMPLAUSIBLE, SOURCE, f"{power:.0f} W")

    def _freeze(self, values: dict[str, Value], now_s: float) -> None:
        power = number(values.get("power_w"))
        clock, heat = number(values.get("clock_sm_mhz")), number(values.get("temperature_c"))
        self.is_power_frozen = self._power_watch.saw(now_s, power, clock, heat)
        if self.is_power_frozen:
            values["power_w"] = Missing(Reason.IMPLAUSIBLE, SOURCE, f"frozen at {power:.1f} W")

    def _failed(self, metric: str, code: int) -> Value:
        if code in LOST:
            raise DeviceLost(error_name(code))
        if code in SESSION_OVER:
            raise NvmlError(metric, code)
        return missing(code)


def _memory_readings(total: int, used: int, free: int, reserved: int | None) -> dict[str, Value]:
    """Bytes of a card as readings; ``reserved`` None: this driver counts it as used."""
    bytes_of = {"total": total, "used": used, "free": free}
    if reserved is not None:
        bytes_of["reserved"] = reserved
    if total == 0:  # unified-memory devices answer 0: the card has no memory of its own, not "0 bytes"
        none = Missing(Reason.NOT_SUPPORTED, SOURCE, "unified memory")
        return {f"memory_{metric}_bytes": none for metric in ("total", "used", "free", "reserved")}
    if 0 < total < PLAUSIBLE_BYTES and max(used, free, reserved or 0) <= total:
        return {f"memory_{metric}_bytes": Reading(raw, SOURCE) for metric, raw in bytes_of.items()}
    readings = {
        f"memory_{metric}_bytes": checked(f"memory_{metric}_bytes", raw, SOURCE) for metric, raw in bytes_of.items()
    }
    if used > total and not _is_impossible(readings["memory_used_bytes"]):
        readings["memory_used_bytes"] = Missing(Reason.IMPLAUSIBLE, SOURCE, f"{used} > {total}")
    return readings


def _is_impossible(value: Value) -> bool:
    return isinstance(value, Missing) and value.reason is Reason.IMPLAUSIBLE


def _impossible(values: Mapping[str, Value]) -> int:
    return sum(map(_is_impossible, values.values()))


def _is_never(value: Value) -> bool:
    return isinstance(value, Missing) and value.reason is Reason.NOT_SUPPORTED


def _unusual(metric: str, raw: float) -> Value:
    """Out of the fast path's bounds. P-state 32 is NVML's word for "unknown" (nvml.h NVML_PSTATE_UNKNOWN)."""
    if metric == "pstate" and raw == 32:
        return Missing(Reason.NOT_SUPPORTED, SOURCE, "NVML_PSTATE_UNKNOWN")
    return checked(metric, raw, SOURCE)


def _field_number(answer: Any) -> float:
    """The member of the value union that ``nvmlValueType_t`` names."""
    members = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
    kind = answer.valueType
    return float(getattr(answer.value, members[kind])) if 0 <= kind < len(members) else float("nan")
