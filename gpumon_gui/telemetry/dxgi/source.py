"""Knows: when adapters are listed again and which may be asked for sensors. Must not know: NVML, counters.

Adapters keep their handles between reads. They are listed anew when their number changes or a handle goes stale, which
is what a driver restart does: the LUIDs are new then, the PCI addresses (and so our keys) the same. A GPU in a
low-power state is shown asleep and not asked for sensors: that question goes to the driver and wakes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import Demand, DeviceInfo, DeviceKey, DeviceKind, DeviceSample, DeviceState, ProcessUse
from gpumon_gui.core.values import Missing, Reason
from gpumon_gui.telemetry.base import Note, SourceUnavailable
from gpumon_gui.telemetry.dxgi.adapters import (
    HYBRID_DISCRETE,
    SOURCE,
    Adapter,
    describe,
    gather,
    no_sensors,
    sensor_fault,
    sensors,
)
from gpumon_gui.telemetry.dxgi.library import (
    UNKNOWN_QUESTION,
    AdapterPerfDataCaps,
    D3dkmt,
    KmtError,
    load_d3dkmt,
)
from gpumon_gui.telemetry.dxgi.pnp import POWER_D0, Pnp, PnpDevice, load_pnp
from gpumon_gui.telemetry.dxgi.registry import (
    ClassFacts,
    Registry,
    WindowsRegistry,
    class_facts,
    class_facts_by_name,
    directx_facts,
)

#: A second look within this time shows the same state of things.
MIN_INTERVAL_S = 0.4


@dataclass(frozen=True, slots=True)
class Windows:
    """The three places the source reads from; tests pass stand-ins."""

    kmt: D3dkmt
    registry: Registry
    pnp: Pnp


def load_windows() -> Windows:
    """gdi32.dll, the registry and cfgmgr32.dll. Raises SourceUnavailable elsewhere."""
    kmt = load_d3dkmt()
    return Windows(kmt, WindowsRegistry(), load_pnp())


@dataclass(slots=True)
class _Live:
    """One adapter that is there, with its open handle."""

    handle: int
    adapter: Adapter
    info: DeviceInfo
    node: int | None  # of the plug-and-play manager
    caps: AdapterPerfDataCaps | None = None
    caps_asked: bool = False
    no_sensors: Missing | None = None  # the driver does not know the question; not asked again


class DxgiSource:
    """Inventory of all adapters (names, limits, addresses, drivers) and the sensors Windows has for any vendor."""

    name = SOURCE
    min_period_s = 2.0
    budget_s = 0.03

    def __init__(self, load: Callable[[], Windows] = load_windows) -> None:
        self._load = load
        self._windows: Windows | None = None
        self._live: dict[DeviceKey, _Live] = {}
        self._known: dict[DeviceKey, DeviceInfo] = {}  # all that were listed and are not forgotten, lost ones included
        self._missing: frozenset[DeviceKey] = frozenset()
        self._count = 0
        self._looked_s: float | None = None
        self._notes: list[Note] = []

    @property
    def adapters(self) -> tuple[Adapter, ...]:
        """All that was asked of the adapters present, engines by the driver's own description included."""
        return tuple(live.adapter for live in self._live.values())

    # -- the contract

    def open(self) -> None:
        """Load the libraries and list the adapters. Raises SourceUnavailable with the NTSTATUS in hexadecimal."""
        if self._windows is None:
            self._windows = self._load()
        self._list(self._windows)

    def devices(self, now: Instant) -> tuple[DeviceInfo, ...]:
        """Every adapter, software, virtual, sleeping and lost ones included, in Task Manager's order. Raises
        SourceUnavailable."""
        self._look(now)
        return tuple(self._known.values())

    def read(
        self,
        now: Instant,
        demand: Demand,
    ) -> Mapping[DeviceKey, DeviceSample]:
        """``temperature_c``, ``fan_rpm``, ``clock_memory_mhz``, and whether an adapter sleeps. Raises
        SourceUnavailable."""
        windows = self._look(now)
        samples = {key: self._sample(windows, live) for key, live in self._live.items()}
        lost = no_sensors(Missing(Reason.DEVICE_LOST, SOURCE))
        for key in self._known.keys() - self._live.keys():
            samples[key] = DeviceSample(key, DeviceState.LOST, values=lost)
        return samples

    def read_processes(
        self,
        now: Instant,
        demand: Demand,
    ) -> tuple[ProcessUse, ...]:
        """None: the counters know the processes."""
        return ()

    def notes(self) -> tuple[Note, ...]:
        """``driver-restarted`` when a card came back under another LUID, ``gpu-lost`` when one went away."""
        notes, self._notes = tuple(self._notes), []
        return notes

    @property
    def remark(self) -> str:
        """Nothing."""
        return ""

    def release(self) -> None:
        """Close all handles; the next read opens them again."""
        if self._windows is not None:
            self._close_handles(self._windows.kmt)
        self._looked_s = None

    def close(self) -> None:
        """End for good."""
        self.release()
        self._windows = None

    # -- listing

    def _look(self, now: Instant) -> Windows:
        """See whether the adapters are still the same, once per moment."""
        if self._windows is None:
            self._windows = self._load()
        if self._looked_s is None or now.monotonic_s - self._looked_s >= MIN_INTERVAL_S:
            if not self._live or self._changed(self._windows.kmt):
                self._list(self._windows)
            self._looked_s = now.monotonic_s
        return self._windows

    def _changed(self, kmt: D3dkmt) -> bool:
        try:
            if kmt.count() != self._count:
                return True
            for live in self._live.values():
                if live.adapter.type_bits is not None:  # it answered this once, so a refusal means a stale handle
                    kmt.adapter_type(live.handle)
        except KmtError:
            return True
        return False

    def _list(self, windows: Windows) -> None:
        kmt = windows.kmt
        try:
            opened = kmt.enumerate()
            self._count = kmt.count()
        except KmtError as error:
            raise SourceUnavailable("read-failed", f"0x{error.status:08X}") from error
        self._close_handles(kmt)
        handles: dict[int, int] = {}
        for handle, luid in opened:
            if luid in handles:
                kmt.close(handle)
            else:
                handles[luid] = handle
        adapters = [gather(kmt, handle, luid) for luid, handle in handles.items()]
        nodes = {device.address: device for device in windows.pnp.devices()}
        found = {
            adapter.luid: nodes[adapter.address]
            for adapter in adapters
            if adapter.address is not None and adapter.address in nodes
        }
        described = describe(
            adapters,
            directx_facts(windows.registry, handles.keys()),
            {adapter.luid: _class_facts(windows.registry, adapter, found.get(adapter.luid)) for adapter in adapters},
        )
        self._live = {
            key: _Live(handles[adapter.luid], adapter, info, _node(found.get(adapter.luid)))
            for key, (adapter, info) in described.items()
        }
        self._follow({key: live.info for key, live in self._live.items()})

    def _follow(self, present: dict[DeviceKey, DeviceInfo]) -> None:
        known, self._known = self._known, dict(present)
        names = {info.name for key, info in present.items() if key not in known}
        restarted = any(key in present and present[key].luid != info.luid for key, info in known.items())
        lost = False
        for key, info in known.items():
            if key in present or info.kind in (DeviceKind.SOFTWARE, DeviceKind.VIRTUAL):
                continue
            if info.pci_address is None and info.name in names:  # no address: a new LUID is all that tells
                restarted = True
                continue
            self._known[key] = info
            lost = lost or key not in self._missing
        self._missing = frozenset(self._known.keys() - present.keys())
        if restarted:
            self._notes.append(Note("driver-restarted"))
        if lost:
            self._notes.append(Note("gpu-lost"))

    def _close_handles(self, kmt: D3dkmt) -> None:
        for live in self._live.values():
            kmt.close(live.handle)
        self._live = {}

    # -- sensors

    def _sample(self, windows: Windows, live: _Live) -> DeviceSample:
        key = live.info.key
        if live.info.kind in (DeviceKind.SOFTWARE, DeviceKind.VIRTUAL):
            return DeviceSample(key, values=no_sensors(Missing(Reason.NOT_SUPPORTED, SOURCE)))
        power = windows.pnp.power_state(live.node) if live.node is not None else None
        if power is not None and power != POWER_D0:
            values = no_sensors(Missing(Reason.ASLEEP, SOURCE))
            return DeviceSample(key, DeviceState.ASLEEP, f"D{power - POWER_D0}", values)
        if power is None and (live.adapter.type_bits or 0) & HYBRID_DISCRETE:
            # A laptop's second GPU that may be asleep: not knowing is no reason to wake it.
            return DeviceSample(key, values=no_sensors(Missing(Reason.NOT_READ, SOURCE, "power state unknown")))
        if live.no_sensors is not None:
            return DeviceSample(key, values=no_sensors(live.no_sensors))
        try:
            if not live.caps_asked:
                live.caps_asked = True
                live.caps = _caps(windows.kmt, live.handle)
            return DeviceSample(key, values=sensors(windows.kmt.perf_data(live.handle), live.caps))
        except KmtError as error:
            why = sensor_fault(error)
            if error.status in UNKNOWN_QUESTION:
                live.no_sensors = why
            return DeviceSample(key, values=no_sensors(why))


def _class_facts(registry: Registry, adapter: Adapter, device: PnpDevice | None) -> ClassFacts:
    if device is not None and device.driver_key:
        return class_facts(registry, device.driver_key)
    return class_facts_by_name(registry, adapter.name) if adapter.name else ClassFacts()


def _caps(kmt: D3dkmt, handle: int) -> AdapterPerfDataCaps | None:
    try:
        return kmt.perf_data_caps(handle)
    except KmtError:
        return None


def _node(device: PnpDevice | None) -> int | None:
    return None if device is None else device.node
