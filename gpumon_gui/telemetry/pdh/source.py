"""Knows: when Windows' GPU counters are collected and what their failures mean. Must not know: NVML, DXGI.

One query stays open with one wildcard counter per figure: processes that start later show up by themselves. The first
collect gives memory only; utilization needs two. Devices are named by LUID, which the driver changes whenever it
restarts: nothing is kept by LUID longer than the adapter lives. Names, limits and PCI addresses come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.identity import key_of
from gpumon_gui.core.model import (
    Demand,
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    DeviceState,
    ProcessUse,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reason, Value, number
from gpumon_gui.telemetry.base import Note, SourceUnavailable
from gpumon_gui.telemetry.pdh.aggregate import (
    SOURCE,
    Counts,
    DeviceEngines,
    EngineTable,
    ProcessEngines,
    Trust,
    adapter_key,
    aggregate_engines,
    bounded_by_adapter,
    process_key,
    sum_bytes,
)
from gpumon_gui.telemetry.pdh.instances import User, parse_adapter, parse_process
from gpumon_gui.telemetry.pdh.library import Handle, Pdh, PdhError, load_pdh
from gpumon_gui.telemetry.pdh.status import (
    ABSENT,
    ACCESS_DENIED,
    NO_DATA,
    REOPEN,
    hex_status,
    reason_of,
)

I = TypeVar("I")  # noqa: E741 - an instance
K = TypeVar("K", bound=Hashable)

_UTILIZATION = r"\GPU Engine(*)\Utilization Percentage"
#: Metric → counter. A process's "Dedicated Usage" is commitment, not residency, and leaks upwards (48 GB card: the
#: processes sum up to 81 GiB): Local and Non Local Usage are what Task Manager's process columns mean.
_ADAPTER_COUNTERS = {
    "memory_used_bytes": r"\GPU Adapter Memory(*)\Dedicated Usage",
    "shared_used_bytes": r"\GPU Adapter Memory(*)\Shared Usage",
}
_PROCESS_COUNTERS = {
    "process_memory_bytes": r"\GPU Process Memory(*)\Local Usage",
    "process_shared_bytes": r"\GPU Process Memory(*)\Non Local Usage",
}

#: A second look within this time shows the same sample: over a shorter interval rates are noise. Task Manager's
#: fastest speed is 0.5 s; Microsoft advises 1 s and more.
MIN_INTERVAL_S = 0.4
#: Failed collects in a row before the query is opened anew.
_PATIENCE = 3


@dataclass(slots=True)
class _Snapshot:
    """What one collect gave, read out."""

    engines: EngineTable
    engines_fault: Missing | None
    memory: Mapping[str, Mapping[int, Value] | Missing]
    failure: Missing | None = None

    def luids(self) -> set[int]:
        """Every adapter that any counter names."""
        known = set(self.engines.devices)
        for values in self.memory.values():
            if not isinstance(values, Missing):
                known.update(values)
        return known


@dataclass(slots=True)
class _Query:
    handle: Handle
    counters: dict[str, Handle] = field(default_factory=dict)
    absent: dict[str, Missing] = field(default_factory=dict)


class PdhSource:
    """Engine utilization, adapter memory and per-process use of every WDDM GPU and MCDM NPU, for any vendor."""

    name = SOURCE
    min_period_s = 1.0
    budget_s = 0.02

    def __init__(self, load: Callable[[], Pdh] = load_pdh) -> None:
        self._load = load
        self._pdh: Pdh | None = None
        self._query: _Query | None = None
        self._collected_s: float | None = None
        self._snapshot: _Snapshot | None = None
        self._had_data = False
        self._failures = 0
        self._trust = Trust()
        self._devices: dict[int, DeviceInfo] = {}
        self._lost: set[int] = set()
        self._notes: list[Note] = []
        self.counts = Counts()
        self._ever = Counts()

    # -- the contract

    def open(self) -> None:
        """Load pdh.dll and add the counters. Raises SourceUnavailable with the PDH status in hexadecimal."""
        if self._pdh is None:
            self._pdh = self._load()
        self._ready(self._pdh)

    def devices(self, now: Instant) -> tuple[DeviceInfo, ...]:
        """One entry per LUID. A vanished adapter keeps its entry until another one appears: that is how a restarted
        driver looks. Raises SourceUnavailable."""
        self._sweep(now)
        return tuple(self._devices[luid] for luid in sorted(self._devices))

    def read(
        self,
        now: Instant,
        demand: Demand,
    ) -> Mapping[DeviceKey, DeviceSample]:
        """``engine_utilization`` (the busiest engine), memory and the engines of each device. Raises
        SourceUnavailable."""
        snapshot = self._sweep(now)
        return {info.key: self._sample(luid, info, snapshot) for luid, info in self._devices.items()}

    def read_processes(
        self,
        now: Instant,
        demand: Demand,
    ) -> tuple[ProcessUse, ...]:
        """Every process that has work or memory on a device, or a broken counter. Windows also lists each program that
        merely opened the adapter; those are left out."""
        snapshot = self._sweep(now)
        if self._failures or self._query is None or self._pdh is None:  # the arrays would be those of an older collect
            return ()
        memory = {
            metric: self._bytes(self._pdh, self._query, metric, parse_process, process_key)
            for metric in _PROCESS_COUNTERS
        }
        users: set[User] = set(snapshot.engines.processes)
        for values in memory.values():
            if not isinstance(values, Missing):
                users.update(values)
        uses = (self._use(user, snapshot, memory) for user in sorted(users))
        return tuple(use for use in uses if use is not None)

    def notes(self) -> tuple[Note, ...]:
        """``driver-restarted`` when new LUIDs took the place of vanished ones."""
        notes, self._notes = tuple(self._notes), []
        return notes

    @property
    def remark(self) -> str:
        """What was not taken at face value: names and broken counters now, values since the start."""
        now, ever = self.counts, self._ever
        return str(Counts(now.malformed, ever.saturated, ever.discarded, now.broken))

    def release(self) -> None:
        """Close the query. Counters do not keep a GPU awake, but nothing is read while nobody looks."""
        self._drop_query()

    def close(self) -> None:
        """End for good."""
        self._drop_query()
        self._pdh = None

    # -- the query

    def _ready(self, pdh: Pdh) -> _Query:
        if self._query is None:
            query = _Query(_guarded(pdh.open_query))
            self._query = query
            try:
                query.counters[_UTILIZATION] = pdh.add_counter(query.handle, _UTILIZATION)
            except PdhError as error:
                self._drop_query()
                raise _unavailable(error) from error
            for metric, path in (*_ADAPTER_COUNTERS.items(), *_PROCESS_COUNTERS.items()):
                try:
                    query.counters[metric] = pdh.add_counter(query.handle, path)
                except PdhError as error:  # this figure is missing then, the others go on
                    query.absent[metric] = Missing(reason_of(error.status), SOURCE, hex_status(error.status))
        return self._query

    def _drop_query(self) -> None:
        if self._query is not None and self._pdh is not None:
            self._pdh.close_query(self._query.handle)
        self._query = None
        self._collected_s = None
        self._snapshot = None
        self._trust = Trust()

    def _sweep(self, now: Instant) -> _Snapshot:
        """Collect once per moment; later calls with the same moment get the same sample."""
        if (
            self._snapshot is not None
            and self._collected_s is not None
            and now.monotonic_s - self._collected_s < MIN_INTERVAL_S
        ):
            return self._snapshot
        if self._pdh is None:
            self._pdh = self._load()
        self._snapshot = self._collect(self._pdh)
        self._collected_s = now.monotonic_s
        if self._snapshot.failure is None:
            self._follow(self._snapshot.luids())
        return self._snapshot

    def _collect(self, pdh: Pdh) -> _Snapshot:
        query = self._ready(pdh)
        try:
            pdh.collect(query.handle)
        except PdhError as error:
            if error.status not in REOPEN:
                return self._collect_failed(error)
            self._drop_query()
            query = self._ready(pdh)
            try:
                pdh.collect(query.handle)
            except PdhError as again:
                return self._collect_failed(again)
        self._failures = 0
        self._had_data = True
        return self._read_out(pdh, query)

    def _collect_failed(self, error: PdhError) -> _Snapshot:
        self._failures += 1
        if error.status in ABSENT or error.status == ACCESS_DENIED or not self._had_data:
            self._drop_query()
            raise _unavailable(error) from error
        if self._failures % _PATIENCE == 0:
            self._drop_query()
        if error.status == NO_DATA:  # every instance is gone: a driver that restarts
            return _Snapshot(_no_engines(), None, {metric: {} for metric in _ADAPTER_COUNTERS})
        if self._failures >= _PATIENCE:
            raise SourceUnavailable("read-failed", hex_status(error.status)) from error
        why = Missing(Reason.ERROR, SOURCE, hex_status(error.status))
        return _Snapshot(_no_engines(), why, dict.fromkeys(_ADAPTER_COUNTERS, why), why)

    def _read_out(self, pdh: Pdh, query: _Query) -> _Snapshot:
        fault: Missing | None = None
        try:
            engines = aggregate_engines(pdh.read_percent(query.counters[_UTILIZATION]), self._trust)
        except PdhError as error:
            engines, fault = _no_engines(), _missing(error)
        self.counts = engines.counts
        self._ever.saturated += engines.counts.saturated
        self._ever.discarded += engines.counts.discarded
        memory = {metric: self._bytes(pdh, query, metric, parse_adapter, adapter_key) for metric in _ADAPTER_COUNTERS}
        return _Snapshot(engines, fault, memory)

    def _bytes(
        self, pdh: Pdh, query: _Query, metric: str, parse: Callable[[str], I | None], key: Callable[[I], K]
    ) -> Mapping[K, Value] | Missing:
        if metric in query.absent:
            return query.absent[metric]
        try:
            return sum_bytes(pdh.read_large(query.counters[metric]), metric, parse, key, self.counts)
        except PdhError as error:
            return _missing(error)

    # -- devices

    def _follow(self, present: set[int]) -> None:
        known = self._devices.keys()
        appeared = present - known
        self._lost = known - present
        if not appeared:
            return
        if self._lost:
            self._notes.append(Note("driver-restarted"))
            self._lost = set()
        self._devices = {luid: _info(luid, index) for index, luid in enumerate(sorted(present))}

    def _sample(self, luid: int, info: DeviceInfo, snapshot: _Snapshot) -> DeviceSample:
        if luid in self._lost and snapshot.failure is None:
            lost = Missing(Reason.DEVICE_LOST, SOURCE)
            return DeviceSample(
                info.key, DeviceState.LOST, values=dict.fromkeys(("engine_utilization", *_ADAPTER_COUNTERS), lost)
            )
        engines = snapshot.engines.devices.get(luid)
        if engines is None:
            # Instances exist per process: without one nobody has opened the adapter, and nothing was measured.
            why = snapshot.engines_fault or Missing(Reason.NOT_SUPPORTED, SOURCE, "no instances")
            engines = DeviceEngines(why)
        values: dict[str, Value] = {"engine_utilization": engines.utilization}
        for metric in _ADAPTER_COUNTERS:
            values[metric] = _pick(snapshot.memory[metric], luid)
        return DeviceSample(info.key, values=values, engines=engines.engines)

    def _use(
        self, user: User, snapshot: _Snapshot, memory: Mapping[str, Mapping[User, Value] | Missing]
    ) -> ProcessUse | None:
        engines = snapshot.engines.processes.get(user)
        if engines is None:
            engines = ProcessEngines(snapshot.engines_fault or Missing(Reason.NOT_SUPPORTED, SOURCE, "no instances"))
        adapter = {metric: _pick(snapshot.memory[metric], user.luid) for metric in _ADAPTER_COUNTERS}
        values: dict[str, Value] = {"process_gpu_utilization": engines.utilization}
        for metric in _PROCESS_COUNTERS:
            values[metric] = bounded_by_adapter(_pick(memory[metric], user), adapter)
        if not any(_tells(value) for value in values.values()):
            return None
        return ProcessUse(user.pid, key_of(luid=user.luid), UseKind.UNKNOWN, values, engines.engine)


def _info(luid: int, index: int) -> DeviceInfo:
    return DeviceInfo(key_of(luid=luid), f"LUID 0x{luid:x}", index=index, luid=luid, sources=(SOURCE,))


def _pick(values: Mapping[K, Value] | Missing, key: K) -> Value:
    if isinstance(values, Missing):
        return values
    return values.get(key, Missing(Reason.NOT_SUPPORTED, SOURCE, "no instance"))


def _tells(value: Value) -> bool:
    if isinstance(value, Missing):
        return value.reason is Reason.IMPLAUSIBLE
    return number(value) != 0


def _no_engines() -> EngineTable:
    return EngineTable({}, {}, Counts())


def _missing(error: PdhError) -> Missing:
    reason = reason_of(error.status)
    return Missing(reason, SOURCE, "" if reason is Reason.FIRST_SAMPLE else hex_status(error.status))


def _guarded(open_query: Callable[[], Handle]) -> Handle:
    try:
        return open_query()
    except PdhError as error:
        raise _unavailable(error) from error


def _unavailable(error: PdhError) -> SourceUnavailable:
    code = "counters-no-permission" if error.status == ACCESS_DENIED else "gpu-counters-unavailable"
    return SourceUnavailable(code, hex_status(error.status))
