"""Knows: what the instruments saw of one process on one device while it worked and rested. Must not know: verdicts.

Another process on the device and this process on another device are kept apart from the start: nothing of theirs gets
into the figures of this process.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpumon_gui.core.identity import same_device
from gpumon_gui.core.model import DeviceInfo, DeviceKey, ProcessPresence, ProcessUse, Sample
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.proof.claims import Claims, DeviceClaim, Moment
from gpumon_gui.diagnosis.proof.series import Contrast, Steps, Window, contrast, steps, within

#: What must at least differ between load and idle. Utilizations: well above what a desktop's own work varies by over a
#: second; power: 5 W, or 5 % of the limit where that is more, above the noise of any sensor.
_ACTIVITY: Mapping[str, float] = {
    "gpu_utilization": 0.15,
    "engine_utilization": 0.15,
    "graphics_activity": 0.15,
    "sm_activity": 0.10,
    "tensor_activity": 0.05,
    "power_instant_w": 5.0,
    "power_w": 5.0,
}
_POWER_SHARE = 0.05
#: Shown, and no proof: a card raises its clocks for anybody.
_BESIDE: Mapping[str, float] = {"clock_sm_mhz": 100.0, "dram_activity": 0.05, "memory_utilization": 0.05}
#: Of a process's own work: at rest it is exactly nothing.
_OWN_LEAST = 0.03
#: Clocks of two processes of one machine agree within this, in seconds; else UTC is compared.
_SAME_CLOCK_S = 0.25


@dataclass(frozen=True, slots=True)
class Other:
    """Another process whose work rose with the loads, or this one on another device."""

    pid: int
    name: str
    device: DeviceKey
    work: Contrast


@dataclass(frozen=True, slots=True)
class Seen:
    """``device`` is None where no instrument knows the claimed one. ``own`` is this process's share of it,
    ``listed`` whether it was on the device's list of processes, ``own_memory_bytes`` the most it had there.
    ``activity`` are the device's figures, whoever worked. ``steps`` and ``own_steps``: the blocks, in the device's
    memory and in this process's. ``free_before_bytes``: before the framework was started. ``cores``: the card's
    shader cores. ``lists_anybody``, ``has_foreign``: whether there was a list, and with numbers of another
    namespace."""

    device: DeviceInfo | None = None
    by_name: bool = False
    samples: int = 0
    listed: bool = False
    lists_anybody: bool = False
    has_foreign: bool = False
    own: Contrast | None = None
    own_source: str = ""
    own_memory_bytes: int | None = None
    own_steps: Steps | None = None
    activity: Mapping[str, Contrast] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    steps: Steps | None = None
    busy_idle: float | None = None
    busy_idle_most: float | None = None
    others: tuple[Other, ...] = ()
    elsewhere: tuple[Other, ...] = ()
    pstate: int | None = None
    clock_mhz: float | None = None
    clock_max_mhz: float | None = None
    cores: float | None = None
    throttle: int = 0
    free_before_bytes: int | None = None

    @property
    def active(self) -> bool:
        """Whether the device's own figures follow the load."""
        return any(seen.rises for name, seen in self.activity.items() if name in _ACTIVITY)


def seen_of(claims: Claims, claim: DeviceClaim, samples: Sequence[Sample]) -> Seen:
    """What the samples say of this claim."""
    windows = windows_of(claims, claim, samples)
    found = find_device(claim, samples)
    if found is None:
        return Seen(samples=len(samples), elsewhere=_elsewhere(claims, None, windows, samples))
    info, by_name = found
    inside = _inside(windows, samples)
    times = [sample.monotonic_s for sample in inside]
    pids = own_pids(claims, inside)
    uses = [[use for use in _uses(sample) if use.device == info.key] for sample in inside]
    own_uses = [[use for use in at if use.pid in pids] for at in uses]
    own = _work(windows, times, own_uses, _OWN_LEAST)
    memory = [_sum(at, "process_memory_bytes") for at in own_uses]
    known_memory = [value for value in memory if math.isfinite(value)]
    activity, sources = _activity(info, windows, inside)
    used = _device_series(info.key, "memory_used_bytes", inside)
    busy = [name for name in ("gpu_utilization", "engine_utilization") if name in activity]
    device_now = {name: _device_series(info.key, name, inside) for name in ("pstate", "clock_sm_mhz")}
    under_load = {name: within(windows, times, values, load=True) for name, values in device_now.items()}
    return Seen(
        device=info,
        by_name=by_name,
        samples=len(inside),
        listed=any(own_uses),
        lists_anybody=any(uses),
        has_foreign=any(_foreign(sample, info.key) for sample in inside),
        own=own,
        own_source=_source(own_uses, "process_gpu_utilization"),
        own_memory_bytes=int(max(known_memory)) if known_memory else None,
        own_steps=steps(windows, times, memory),
        activity=activity,
        sources=sources,
        steps=steps(windows, times, used),
        busy_idle=max((activity[name].idle for name in busy), default=None),
        busy_idle_most=max((activity[name].idle_most for name in busy), default=None),
        others=_others(pids, info.key, windows, inside),
        elsewhere=_elsewhere(claims, info.key, windows, samples),
        pstate=int(max(under_load["pstate"])) if under_load["pstate"].size else None,
        clock_mhz=float(sorted(under_load["clock_sm_mhz"])[under_load["clock_sm_mhz"].size // 2])
        if under_load["clock_sm_mhz"].size
        else None,
        clock_max_mhz=number(info.static.get("clock_sm_max_mhz")),
        cores=number(info.static.get("core_count")),
        throttle=_bits(info.key, windows, inside),
        free_before_bytes=_first(info.key, "memory_free_bytes", samples),
    )


def windows_of(claims: Claims, claim: DeviceClaim, samples: Sequence[Sample]) -> tuple[Window, ...]:
    """The finished phases on the samples' monotonic clock. Both clocks of a script on this machine run alike; inside
    WSL only UTC does."""
    if not samples:
        return ()
    offset_s = samples[-1].utc_s - samples[-1].monotonic_s
    same = claims.clock is not None and abs(claims.clock.utc_s - claims.clock.monotonic_s - offset_s) < _SAME_CLOCK_S

    def here(moment: Moment) -> float:
        return moment.monotonic_s if same else moment.utc_s - offset_s

    return tuple(
        Window(here(phase.begin), here(phase.end), phase.load, phase.block_bytes)
        for phase in claim.phases
        if phase.end is not None
    )


def find_device(claim: DeviceClaim, samples: Sequence[Sample]) -> tuple[DeviceInfo, bool] | None:
    """The device by identity; by its name (True) only where neither side has one and no other device could be meant."""
    inventory = samples[-1].inventory if samples else ()
    wanted = claim.info()
    for info in inventory:
        if same_device(wanted, info):
            return info, False
        if claim.uuid and info.uuid and claim.uuid.lower() == info.uuid.lower():
            return info, False  # an instance of a split card
        if claim.pci and info.pci_address and info.parent is None and claim.pci[:-2] == info.pci_address[:-2]:
            return info, False  # another spelling of the UUID
    if claim.pci or claim.uuid:
        return None
    same_name = [info for info in inventory if info.name and info.name == claim.name]
    return (same_name[0], True) if len(same_name) == 1 else None


def own_pids(claims: Claims, samples: Sequence[Sample]) -> frozenset[int]:
    """The process and what it started, as far as the samples know."""
    pids = set(claims.pids)
    for sample in samples:
        while True:
            born = {process.pid for process in sample.processes if process.ppid in pids} - pids
            if not born:
                break
            pids |= born
    return frozenset(pids)


def _inside(windows: Sequence[Window], samples: Sequence[Sample]) -> list[Sample]:
    """Samples from the first edge to two seconds after the last: instruments are late."""
    if not windows:
        return []
    begin, end = windows[0].begin_s, windows[-1].end_s + 2.0
    return [sample for sample in samples if begin <= sample.monotonic_s <= end]


def _uses(sample: Sample) -> list[ProcessUse]:
    return [use for process in sample.processes for use in process.uses]


def _first(key: DeviceKey, metric: str, samples: Sequence[Sample]) -> int | None:
    values = (value for value in _device_series(key, metric, samples) if math.isfinite(value))
    return next((int(value) for value in values), None)


def _sum(uses: Sequence[ProcessUse], metric: str) -> float:
    found = [value for value in (number(use.values.get(metric)) for use in uses) if value is not None]
    return float(sum(found)) if found else math.nan


def _work(
    windows: Sequence[Window], times: Sequence[float], uses: Sequence[Sequence[ProcessUse]], least: float
) -> Contrast | None:
    values = [_sum(at, "process_gpu_utilization") for at in uses]
    return contrast(windows, times, values, least, silent_is_zero=True)


def _source(uses: Sequence[Sequence[ProcessUse]], metric: str) -> str:
    for at in uses:
        for use in at:
            value = use.values.get(metric)
            if value is not None and number(value) is not None:
                return value.source
    return ""


def _foreign(sample: Sample, key: DeviceKey) -> bool:
    return any(
        process.presence is ProcessPresence.FOREIGN and any(use.device == key for use in process.uses)
        for process in sample.processes
    )


def _device_series(key: DeviceKey, metric: str, samples: Sequence[Sample]) -> list[float]:
    series = []
    for sample in samples:
        device = sample.devices.get(key)
        value = number(device.values.get(metric)) if device is not None else None
        series.append(math.nan if value is None else float(value))
    return series


def _activity(
    info: DeviceInfo, windows: Sequence[Window], samples: Sequence[Sample]
) -> tuple[dict[str, Contrast], dict[str, str]]:
    times = [sample.monotonic_s for sample in samples]
    limit = next(
        iter(value for value in reversed(_device_series(info.key, "power_limit_w", samples)) if value > 0), 0.0
    )
    found, sources = {}, {}
    for metric, least in (*_ACTIVITY.items(), *_BESIDE.items()):
        if metric.startswith("power"):
            least = max(least, _POWER_SHARE * limit)
        seen = contrast(windows, times, _device_series(info.key, metric, samples), least, silent_is_zero=False)
        if seen is not None:
            found[metric] = seen
            values = (sample.devices[info.key].values.get(metric) for sample in samples if info.key in sample.devices)
            sources[metric] = next((value.source for value in values if number(value) is not None and value), "")
    return found, sources


def _others(
    pids: frozenset[int], key: DeviceKey, windows: Sequence[Window], samples: Sequence[Sample]
) -> tuple[Other, ...]:
    strangers = {use.pid for sample in samples for use in _uses(sample) if use.device == key} - pids
    return _rising(strangers, key, windows, samples)


def _elsewhere(
    claims: Claims, key: DeviceKey | None, windows: Sequence[Window], samples: Sequence[Sample]
) -> tuple[Other, ...]:
    inside = _inside(windows, samples)
    pids = own_pids(claims, inside)
    keys = {use.device for sample in inside for use in _uses(sample) if use.pid in pids and use.device != key}
    return tuple(other for each in sorted(keys) for other in _rising(pids, each, windows, inside))


def _rising(
    pids: set[int] | frozenset[int], key: DeviceKey, windows: Sequence[Window], samples: Sequence[Sample]
) -> tuple[Other, ...]:
    times = [sample.monotonic_s for sample in samples]
    found = []
    for pid in sorted(pids):
        uses = [[use for use in _uses(sample) if use.device == key and use.pid == pid] for sample in samples]
        work = _work(windows, times, uses, _OWN_LEAST)
        if work is not None and work.rises:
            found.append(Other(pid, _name(pid, samples), key, work))
    return tuple(found)


def _name(pid: int, samples: Sequence[Sample]) -> str:
    return next((p.name for sample in samples for p in sample.processes if p.pid == pid and p.name), "")


def _bits(key: DeviceKey, windows: Sequence[Window], samples: Sequence[Sample]) -> int:
    """Reasons for low clocks that were given in at least a third of the samples under load."""
    times = [sample.monotonic_s for sample in samples]
    values = within(windows, times, _device_series(key, "throttle_reasons", samples), load=True)
    found = 0
    for bit in range(32):
        if values.size and sum(int(value) >> bit & 1 for value in values) * 3 >= values.size:
            found |= 1 << bit
    return found
