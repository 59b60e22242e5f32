"""Knows: which processes have DRM files open, and how busy each kept which engine. Must not know: sensors.

Shares are differences of the counters in fdinfo over the time between two reads, divided by the engine's capacity.

* A client is counted once per device however many descriptors and processes share it; it belongs to the process it
  was first seen in, among several to the one with the lowest pid.
* A client seen for the first time has no share yet. A device's engine is the sum over the clients that have one;
  with none it is Missing(FIRST_SAMPLE). What a client did between the last read and its end is lost.
* A counter that went back: the kernel's document asks to stay with the larger value until the counter has caught up,
  so that sample is Missing; if the next one is still lower the counter was reset and counting starts anew.
* The reads of one sweep are not simultaneous, so a sum can pass 1 by a little. Up to :data:`SKEW` above 1 it is
  passed on as measured; more cannot be and is Missing(IMPLAUSIBLE). Nothing is clamped.

Only descriptors that point to ``/dev/dri`` are opened, and none of a sleeping card: xe's fdinfo wakes the card.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpumon_gui.core.identity import key_of, parse_pci_address
from gpumon_gui.core.model import DeviceKey, EngineKind, ProcessUse, UseKind
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.drm import fdinfo
from gpumon_gui.telemetry.drm.sysfs import SOURCE, read_bytes

#: Sums of shares this far above 1 come from reads that are not simultaneous: 1 s apart, jitter below 50 ms.
SKEW = 0.05
RESCAN_S = 5.0
_YOUNG_S = 60.0  # a process opens the GPU soon after its start, if ever
_OLD_EVERY = 6  # older ones are looked at in every sixth rescan, in turns

FIRST = Missing(Reason.FIRST_SAMPLE, SOURCE)
WENT_BACK = Missing(Reason.IMPLAUSIBLE, SOURCE, "counter went back")

#: Names of engines: amdgpu_fdinfo.c, i915_drm_client.c, xe_drm_client.c.
_ENGINES = {
    "gfx": EngineKind.GRAPHICS,
    "render": EngineKind.GRAPHICS,
    "rcs": EngineKind.GRAPHICS,
    "compute": EngineKind.COMPUTE,
    "ccs": EngineKind.COMPUTE,
    "dma": EngineKind.COPY,
    "copy": EngineKind.COPY,
    "bcs": EngineKind.COPY,
    "dec": EngineKind.VIDEO_DECODE,
    "jpeg": EngineKind.VIDEO_DECODE,
    "uvd": EngineKind.VIDEO_DECODE,
    "vcn_dec": EngineKind.VIDEO_DECODE,
    "enc": EngineKind.VIDEO_ENCODE,
    "enc_1": EngineKind.VIDEO_ENCODE,
    "vce": EngineKind.VIDEO_ENCODE,
    "video": EngineKind.VIDEO_DECODE,  # Intel: one engine decodes and encodes
    "vcs": EngineKind.VIDEO_DECODE,
    "video-enhance": EngineKind.VIDEO_PROCESSING,
    "vecs": EngineKind.VIDEO_PROCESSING,
    "vpe": EngineKind.VIDEO_PROCESSING,
}


def engine_kind(name: str) -> EngineKind:
    """What an engine of a driver is for."""
    return _ENGINES.get(name, EngineKind.OTHER)


def share(metric: str, raw: float) -> Value:
    """A busy share as measured; above 1 + SKEW it is Missing(IMPLAUSIBLE)."""
    if 1.0 < raw <= 1.0 + SKEW:
        return Reading(raw, SOURCE)
    return checked(metric, raw, SOURCE)


@dataclass(frozen=True, slots=True)
class Usage:
    """One scan. ``hidden``: descriptors of other users' processes could not be seen."""

    engines: Mapping[DeviceKey, Mapping[str, Value]]
    uses: tuple[ProcessUse, ...]
    active: frozenset[DeviceKey]
    hidden: bool


NOTHING = Usage({}, (), frozenset(), False)

_ClientId = tuple[DeviceKey, object]


@dataclass(slots=True)
class _Counter:
    """The last accepted reading of one engine's counter. ``clock``: ns for busy times, the engine's cycles for xe."""

    busy: int
    clock: float
    behind: bool = False


@dataclass(slots=True)
class _Known:
    """One client over time."""

    pid: int
    client: fdinfo.Client
    counters: dict[str, _Counter] = field(default_factory=dict)
    shares: dict[str, float | Missing] = field(default_factory=dict)


class Clients:
    """All DRM clients of the machine below one root."""

    def __init__(self, root: str) -> None:
        self._proc = os.path.join(root, "proc")
        self._seen: dict[int, float] = {}
        self._fds: dict[int, tuple[str, ...]] = {}  # pid → its descriptors of DRM files
        self._known: dict[_ClientId, _Known] = {}
        self._engines: dict[DeviceKey, set[str]] = {}  # every engine ever seen, so that an idle one reads 0
        self._scanned: set[DeviceKey] = set()
        self._last_rescan_s: float | None = None
        self._cycle = 0
        self._hidden = False

    def scan(
        self, now_s: float, nodes: Mapping[str, str], devices: frozenset[DeviceKey], skip: frozenset[DeviceKey]
    ) -> Usage:
        """Read every DRM file of the devices except the skipped ones. ``nodes``: ``renderD128`` → PCI address.
        Never raises."""
        if self._last_rescan_s is None or now_s - self._last_rescan_s >= RESCAN_S:
            self._rescan(now_s)
            self._last_rescan_s = now_s
        self._known = {ident: known for ident, known in self._known.items() if ident[0] not in skip}
        self._scanned -= skip
        fresh: dict[_ClientId, _Known] = {}
        for pid in sorted(self._fds):
            for fd in self._fds[pid]:
                found = self._read(pid, fd, nodes, devices, skip)
                if found is not None:
                    self._count(fresh, found[0], pid, found[1], now_s)
        self._known = fresh
        usage = self._usage(devices - skip)
        self._scanned |= devices - skip
        return usage

    # -- finding

    def _rescan(self, now_s: float) -> None:
        self._cycle += 1
        pids = _pids(self._proc)
        self._seen = {pid: self._seen.get(pid, now_s) for pid in pids}
        self._fds = {pid: fds for pid, fds in self._fds.items() if pid in self._seen}
        for pid, since in self._seen.items():
            due = pid in self._fds or now_s - since < _YOUNG_S or pid % _OLD_EVERY == self._cycle % _OLD_EVERY
            if due:
                self._look(pid)

    def _look(self, pid: int) -> None:
        folder = os.path.join(self._proc, str(pid), "fd")
        fds: list[str] = []
        try:
            fds.extend(fd for fd in os.listdir(folder) if _link(os.path.join(folder, fd)).startswith("/dev/dri/"))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM):
                self._hidden = True
        if fds:
            self._fds[pid] = tuple(sorted(fds, key=_as_number))
        else:
            self._fds.pop(pid, None)

    def _read(
        self,
        pid: int,
        fd: str,
        nodes: Mapping[str, str],
        devices: frozenset[DeviceKey],
        skip: frozenset[DeviceKey],
    ) -> tuple[_ClientId, fdinfo.Client] | None:
        base = os.path.join(self._proc, str(pid))
        # Looked at again each time: the number may meanwhile stand for another file, even of a sleeping card.
        target = _link(os.path.join(base, "fd", fd))
        if not target.startswith("/dev/dri/"):
            return None
        address = nodes.get(os.path.basename(target))
        if address is not None and (key_of(pci=address) in skip or key_of(pci=address) not in devices):
            return None
        if address is None and skip:
            return None  # a node we cannot place might be the sleeping card's
        try:
            client = fdinfo.parse(read_bytes(os.path.join(base, "fdinfo", fd)))
        except OSError:
            return None  # closed, or the process ended
        if client is None:
            return None
        address = parse_pci_address(client.pdev) or address
        if address is None or key_of(pci=address) not in devices or key_of(pci=address) in skip:
            return None
        ident: object = client.id if client.id is not None else (pid, fd)
        return (key_of(pci=address), ident), client

    # -- counting

    def _count(
        self, fresh: dict[_ClientId, _Known], ident: _ClientId, pid: int, client: fdinfo.Client, now_s: float
    ) -> None:
        before = self._known.get(ident)
        twin = fresh.get(ident)
        if twin is not None:
            if before is not None and before.pid == pid:
                twin.pid = pid  # shared descriptor: it stays with the process it was first seen in
            return
        known = _Known(pid, client)
        for name, engine in client.engines.items():
            old = before.counters.get(name) if before is not None else None
            if engine.busy_ns is not None:
                busy, clock = engine.busy_ns, now_s * 1e9
            elif engine.cycles is not None and engine.total_cycles is not None:
                busy, clock = engine.cycles, float(engine.total_cycles)
            else:
                continue
            known.counters[name], known.shares[name] = _advance(old, busy, clock, engine.capacity)
        fresh[ident] = known

    # -- adding up

    def _usage(self, devices: frozenset[DeviceKey]) -> Usage:
        sums: dict[DeviceKey, dict[str, float | Missing]] = {}
        active = set()
        for (device, _), known in self._known.items():
            for name, part in known.shares.items():
                self._engines.setdefault(device, set()).add(name)
                of_device = sums.setdefault(device, {})
                of_device[name] = _add(of_device.get(name), part)
                if not isinstance(part, Missing) and part > 0.0:
                    active.add(device)
        engines: dict[DeviceKey, dict[str, Value]] = {}
        for device in devices:
            none_yet: float | Missing = 0.0 if device in self._scanned else FIRST
            engines[device] = {
                name: _value("engine_utilization", sums.get(device, {}).get(name, none_yet))
                for name in sorted(self._engines.get(device, ()))
            }
        return Usage(engines, self._uses(), frozenset(active), self._hidden)

    def _uses(self) -> tuple[ProcessUse, ...]:
        grouped: dict[tuple[int, DeviceKey], list[_Known]] = {}
        for (device, _), known in self._known.items():
            if known.client.worked:
                grouped.setdefault((known.pid, device), []).append(known)
        return tuple(_use(pid, device, group) for (pid, device), group in sorted(grouped.items()))


def _advance(old: _Counter | None, busy: int, clock: float, capacity: int) -> tuple[_Counter, float | Missing]:
    if old is None:
        return _Counter(busy, clock), FIRST
    if busy < old.busy or clock < old.clock:
        if old.behind:
            return _Counter(busy, clock), WENT_BACK
        return _Counter(old.busy, old.clock, behind=True), WENT_BACK
    if clock == old.clock:  # the engine's clock stands still: nothing to divide by, and nothing done
        return old, 0.0 if busy == old.busy else FIRST
    return _Counter(busy, clock), (busy - old.busy) / (clock - old.clock) / capacity


def _add(total: float | Missing | None, part: float | Missing) -> float | Missing:
    """A counter that went back spoils the sum; a client without a share yet only does so while it is alone."""
    if total is None or total == WENT_BACK:
        return part if total is None else WENT_BACK
    if isinstance(part, Missing):
        return part if part == WENT_BACK else total
    return part if isinstance(total, Missing) else total + part


def _value(metric: str, raw: float | Missing) -> Value:
    return raw if isinstance(raw, Missing) else share(metric, raw)


def _use(pid: int, device: DeviceKey, group: list[_Known]) -> ProcessUse:
    parts: dict[str, float | Missing] = {}
    for known in group:
        for name, part in known.shares.items():
            parts[name] = _add(parts.get(name), part)
    numbers = {name: part for name, part in parts.items() if not isinstance(part, Missing)}
    busiest = max(numbers, key=lambda name: numbers[name], default="")
    values: dict[str, Value] = {
        "process_memory_bytes": _bytes("process_memory_bytes", [known.client.dedicated_bytes for known in group]),
        "process_shared_bytes": _bytes("process_shared_bytes", [known.client.shared_bytes for known in group]),
    }
    if busiest:
        values["process_gpu_utilization"] = share("process_gpu_utilization", numbers[busiest])
    else:
        values["process_gpu_utilization"] = next(
            (part for part in parts.values() if isinstance(part, Missing)), Missing(Reason.NOT_SUPPORTED, SOURCE)
        )
    for metric, engine in (("process_encoder_utilization", "enc"), ("process_decoder_utilization", "dec")):
        if engine in parts:
            values[metric] = _value(metric, parts[engine])
    engine = busiest if busiest and numbers[busiest] > 0.0 else ""
    return ProcessUse(pid, device, _use_kind(group), values, engine)


def _use_kind(group: list[_Known]) -> UseKind:
    used = {
        engine_kind(name)
        for known in group
        for name, engine in known.client.engines.items()
        if engine.busy_ns or engine.cycles
    }
    if {EngineKind.COMPUTE, EngineKind.GRAPHICS} <= used:
        return UseKind.BOTH
    if EngineKind.COMPUTE in used:
        return UseKind.COMPUTE
    return UseKind.GRAPHICS if EngineKind.GRAPHICS in used else UseKind.UNKNOWN


def _bytes(metric: str, sizes: list[int | None]) -> Value:
    known = [size for size in sizes if size is not None]
    return checked(metric, sum(known), SOURCE) if known else Missing(Reason.NOT_SUPPORTED, SOURCE)


def _pids(proc: str) -> list[int]:
    try:
        return [int(name) for name in os.listdir(proc) if name.isdecimal()]
    except OSError:
        return []


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _as_number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
