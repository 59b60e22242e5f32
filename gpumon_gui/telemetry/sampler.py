"""Knows: one sweep: sources in order, then merge, rates, processes, freeze. Must not know: when, where to, any source.

A source that raises, hangs up or runs over its budget never stops the others; what happened to it is in its health.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from gpumon_gui.core.clock import Clock, Instant
from gpumon_gui.core.model import (
    Demand,
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    HostSample,
    ProcessSample,
    ProcessUse,
    Sample,
    SourceHealth,
    SourceState,
)
from gpumon_gui.core.values import Missing, Reason, Value
from gpumon_gui.telemetry.base import Note, Source, SourceUnavailable
from gpumon_gui.telemetry.merge import Merged, merge_infos, merge_samples, merge_uses
from gpumon_gui.telemetry.rates import Rates

REOPEN_FAILED_S = 5.0
REOPEN_ABSENT_S = 60.0
#: Over budget so many times in a row: the source is read at a tenth of the speed and marked slow.
STRIKES = 3
SLOW_FACTOR = 10.0
#: How long a note of a source (driver restarted, a GPU lost) stays in its health.
NOTE_S = 60.0


class Host(Protocol):
    """The machine apart from its GPUs (``telemetry.host.HostSource``)."""

    def open(self) -> None:
        """Get ready."""
        ...

    def read_host(self, now: Instant) -> HostSample:
        """CPU and memory."""
        ...

    def describe(
        self, uses: tuple[ProcessUse, ...], now: Instant, *, cpu_processes: bool, pids: tuple[int, ...] = ()
    ) -> tuple[ProcessSample, ...]:
        """Who the processes are."""
        ...

    def close(self) -> None:
        """End for good."""
        ...


@dataclass(slots=True)
class _Slot:
    """What the sampler remembers of a source."""

    source: Source
    opened: bool = False
    open_due_s: float = float("-inf")
    read_due_s: float = float("-inf")
    strikes: int = 0
    slow: bool = False
    state: SourceState = SourceState.OK
    code: str = ""
    detail: str = ""
    note: Note | None = None
    note_until_s: float = float("-inf")
    duration_s: float = 0.0
    reads: int = 0
    failures: int = 0
    implausible: int = 0
    infos: tuple[DeviceInfo, ...] = ()
    devices: Mapping[DeviceKey, DeviceSample] = field(default_factory=dict)
    uses: tuple[ProcessUse, ...] = ()


class Sampler:
    """Owns the sources. One thread uses it.

    ``on_enter(name)`` is called before a source is touched and ``on_enter("")`` after, so that a watchdog can say
    which one hangs.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        host: Host,
        clock: Clock,
        on_enter: Callable[[str], None] = lambda _name: None,
    ) -> None:
        self._slots = [_Slot(source) for source in sources]
        self._host = host
        self._clock = clock
        self._on_enter = on_enter
        self._rates = Rates()
        self._merged = Merged((), {})
        self._merged_from: tuple[tuple[DeviceInfo, ...], ...] = ()
        self._sequence = 0
        self._last_s: float | None = None
        self._host_fault = ""
        self._host_open = False
        self._host_duration_s = 0.0

    def sweep(self, demand: Demand) -> Sample:
        """Read everything that is due. Never raises for the fault of a source."""
        start = self._clock.now()
        now_s = start.monotonic_s
        for slot in self._slots:
            self._visit(slot, start, demand)
        if (infos := tuple(slot.infos for slot in self._slots)) != self._merged_from:
            self._merged_from = infos
            self._merged = merge_infos({slot.source.name: slot.infos for slot in self._slots})
        devices = merge_samples(self._merged, {slot.source.name: slot.devices for slot in self._slots})
        for key, device in devices.items():
            devices[key] = replace(device, values=self._rates.extend(key, device.values, now_s))
        uses = merge_uses(self._merged, {slot.source.name: slot.uses for slot in self._slots})
        host, processes = self._visit_host(start, demand, uses)
        self._rates.forget({*devices, *(_owner(process) for process in processes)})
        interval_s = 0.0 if self._last_s is None else now_s - self._last_s
        self._last_s = now_s
        self._sequence += 1
        return Sample(
            sequence=self._sequence,
            monotonic_s=now_s,
            utc_s=start.utc_s,
            interval_s=interval_s,
            inventory=self._merged.inventory,
            devices=devices,
            processes=processes,
            host=host,
            health=(*(_health(slot, now_s) for slot in self._slots), self._host_health()),
        )

    def release(self) -> None:
        """Let go of the devices (paused, long hidden): the next sweep takes them up again."""
        for slot in self._slots:
            if slot.opened:
                self._on_enter(slot.source.name)
                with contextlib.suppress(Exception):  # it will show at the next read
                    slot.source.release()
                self._on_enter("")

    def close(self) -> None:
        """Close every source."""
        for slot in self._slots:
            if slot.opened:
                self._on_enter(slot.source.name)
                with contextlib.suppress(Exception):  # must not raise; if it does, the others are still to be closed
                    slot.source.close()
                self._on_enter("")
        self._host.close()

    def _visit(self, slot: _Slot, now: Instant, demand: Demand) -> None:
        source = slot.source
        if now.monotonic_s < (slot.read_due_s if slot.opened else slot.open_due_s):
            return
        self._on_enter(source.name)
        begin_s = self._clock.now().monotonic_s
        try:
            if not slot.opened:
                source.open()
                slot.opened = True
            slot.infos = source.devices(now)
            slot.devices = source.read(now, demand)
            slot.uses = source.read_processes(now, demand) if demand.processes else ()
            slot.state, slot.code, slot.detail = SourceState.OK, "", source.remark
            slot.reads += 1
            slot.implausible += sum(_implausible(device.values.values()) for device in slot.devices.values())
            slot.implausible += sum(_implausible(use.values.values()) for use in slot.uses)
            self._take_notes(slot, now)
        except SourceUnavailable as fault:
            self._fail(slot, now, fault.state, fault.code, fault.detail)
        except OSError as fault:  # the system's, and on Windows a crash inside a library
            self._fail(slot, now, SourceState.FAILED, "read-failed", str(fault))
        except Exception as fault:  # noqa: BLE001 - one broken source must not stop the others
            self._fail(slot, now, SourceState.FAILED, "bug", f"{type(fault).__name__}: {fault}")
        finally:
            self._on_enter("")
        self._pace(slot, now, begin_s)

    def _take_notes(self, slot: _Slot, now: Instant) -> None:
        notes = slot.source.notes()
        if slot.note is not None and slot.note.state is SourceState.RESTING:
            slot.note = None  # told again in each sweep for as long as it is so
        if notes:  # the last kind counts, with all it is about: two lost cards are both named
            details = [note.detail for note in notes if note.code == notes[-1].code and note.detail]
            slot.note = replace(notes[-1], detail=", ".join(details))
            slot.note_until_s = now.monotonic_s + NOTE_S

    def _pace(self, slot: _Slot, now: Instant, begin_s: float) -> None:
        """Duration, and when to read again."""
        slot.duration_s = self._clock.now().monotonic_s - begin_s if slot.opened else 0.0
        slot.strikes = slot.strikes + 1 if slot.duration_s > slot.source.budget_s else 0
        slot.slow = (slot.slow and slot.strikes > 0) or slot.strikes >= STRIKES
        pace_s = slot.source.min_period_s * (SLOW_FACTOR if slot.slow else 1.0)
        # A tick that comes a little early must not skip a whole period.
        slot.read_due_s = now.monotonic_s + 0.9 * pace_s

    def _fail(self, slot: _Slot, now: Instant, state: SourceState, code: str, detail: str) -> None:
        slot.state, slot.code, slot.detail = state, code, detail
        slot.failures += state is SourceState.FAILED
        slot.devices, slot.uses = _without_values(slot), ()
        if not slot.opened:
            slot.open_due_s = now.monotonic_s + (REOPEN_ABSENT_S if state is SourceState.ABSENT else REOPEN_FAILED_S)

    def _visit_host(
        self, now: Instant, demand: Demand, uses: tuple[ProcessUse, ...]
    ) -> tuple[HostSample, tuple[ProcessSample, ...]]:
        self._on_enter("host")
        begin_s = self._clock.now().monotonic_s
        try:
            if not self._host_open:
                self._host.open()
                self._host_open = True
            host = self._host.read_host(now)
            processes: tuple[ProcessSample, ...] = ()
            if demand.processes:
                found = self._host.describe(uses, now, cpu_processes=demand.cpu_processes, pids=demand.pids)
                processes = tuple(
                    replace(process, values=self._rates.extend(_owner(process), process.values, now.monotonic_s))
                    for process in found
                )
            self._host_fault = ""
        except Exception as fault:  # noqa: BLE001 - the GPUs go on without the host's figures
            self._host_fault = f"{type(fault).__name__}: {fault}"
            return HostSample(), ()
        else:
            return host, processes
        finally:
            self._host_duration_s = self._clock.now().monotonic_s - begin_s
            self._on_enter("")

    def _host_health(self) -> SourceHealth:
        state = SourceState.FAILED if self._host_fault else SourceState.OK
        code = "bug" if self._host_fault else ""
        return SourceHealth("host", state, code, self._host_fault, self._host_duration_s, self._sequence)


def _implausible(values: Iterable[Value]) -> int:
    return sum(1 for value in values if isinstance(value, Missing) and value.reason is Reason.IMPLAUSIBLE)


def _owner(process: ProcessSample) -> Hashable:
    return (process.pid, process.started_utc_s)


def _without_values(slot: _Slot) -> Mapping[DeviceKey, DeviceSample]:
    """The devices of a source that failed: still in the list, every value missing because the source is gone."""
    gone = Missing(Reason.SOURCE_GONE, slot.source.name, slot.code)
    return {
        key: replace(device, values=dict.fromkeys(device.values, gone), engines=())
        for key, device in slot.devices.items()
    }


def _health(slot: _Slot, now_s: float) -> SourceHealth:
    state, code, detail = slot.state, slot.code, slot.detail
    if not code and slot.note is not None and now_s < slot.note_until_s:
        state, code, detail = slot.note.state, slot.note.code, slot.note.detail
    if state is SourceState.OK and slot.slow and not code:
        state, code = SourceState.SLOW, "over-budget"
    return SourceHealth(
        slot.source.name, state, code, detail, slot.duration_s, slot.reads, slot.failures, slot.implausible
    )
