"""Knows: the DRM cards of a Linux machine and how they are doing. Must not know: NVML, or what its values are for.

A card that sleeps is not touched: of its files only ``power/runtime_status`` and ``power/control`` are opened, and no
descriptor of its clients. A card that could sleep and is idle is left alone for a while so that it can (``rest``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import (
    Demand,
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    DeviceState,
    EngineKind,
    EngineSample,
    ProcessUse,
    SourceState,
    UseKind,
)
from gpumon_gui.core.values import NOT_READ, Missing, Reading, Reason, Value, number
from gpumon_gui.telemetry.base import Note, SourceUnavailable
from gpumon_gui.telemetry.drm import kfd
from gpumon_gui.telemetry.drm.cards import Card, drives_display, find_cards, kind_of, name_of, node_addresses
from gpumon_gui.telemetry.drm.clients import FIRST, NOTHING, Clients, Usage, engine_kind, share
from gpumon_gui.telemetry.drm.rest import DEFAULT_DELAY_S, Rest
from gpumon_gui.telemetry.drm.sensors import COMMON, Plan, plan
from gpumon_gui.telemetry.drm.sysfs import SOURCE, read_word
from gpumon_gui.telemetry.runtime_pm import power_state_below

ASLEEP = Missing(Reason.ASLEEP, SOURCE)
LOST = Missing(Reason.DEVICE_LOST, SOURCE)
RESTING = Missing(Reason.NOT_READ, SOURCE, "resting")
UNSUPPORTED = Missing(Reason.NOT_SUPPORTED, SOURCE)

#: Engines that are also metrics of their own.
_ENGINE_METRICS = {"enc": "encoder_utilization", "dec": "decoder_utilization", "jpeg": "jpeg_utilization"}


@dataclass(slots=True)
class _Watched:
    """One card of the inventory and what is remembered of it."""

    card: Card
    info: DeviceInfo
    plan: Plan | None = None  # made when it is first seen awake
    lost: bool = False
    rest: Rest = field(default_factory=Rest)


class DrmSource:
    """amdgpu, i915, xe and nouveau cards below ``root`` (a recorded tree of ``sys`` and ``proc`` will do)."""

    name = SOURCE
    min_period_s = 0.5
    budget_s = 0.05

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = os.fspath(root)
        self._watched: dict[DeviceKey, _Watched] = {}
        self._listed_at: float | None = None
        self._clients = Clients(self._root)
        self._usage = NOTHING
        self._used_at: float | None = None
        self._nodes: dict[str, str] = {}
        self._kfd_ids: dict[str, DeviceKey] = {}
        self._notes: dict[str, Note] = {}
        self._told_hidden = False

    def open(self) -> None:
        """Look for cards. Raises SourceUnavailable (ABSENT) when there is none of our drivers."""
        if not find_cards(self._root):
            raise SourceUnavailable("no-drm-device", state=SourceState.ABSENT)

    def devices(self, now: Instant) -> tuple[DeviceInfo, ...]:
        """All cards seen since ``open``; one that vanished stays, marked lost in its samples."""
        self._refresh(now)
        for watched in self._watched.values():
            if watched.plan is None and not watched.lost and not power_state_below(watched.card.device).asleep:
                self._wake(watched)
        return tuple(watched.info for watched in self._watched.values())

    def read(self, now: Instant, demand: Demand) -> Mapping[DeviceKey, DeviceSample]:
        """All cards in one sweep; never raises for one card."""
        self._refresh(now)
        asleep = {
            key
            for key, watched in self._watched.items()
            if not watched.lost and power_state_below(watched.card.device).asleep
        }
        wanted = demand.details or demand.processes
        usage = self._scan(now, asleep) if wanted else NOTHING
        samples = {}
        for key, watched in self._watched.items():
            if watched.lost:
                samples[key] = DeviceSample(key, DeviceState.LOST, "", dict.fromkeys(_metrics(watched), LOST))
            elif key in asleep:
                watched.rest.slept()
                samples[key] = DeviceSample(key, DeviceState.ASLEEP, "", dict.fromkeys(_metrics(watched), ASLEEP))
            else:
                samples[key] = self._sample(watched, now, demand, usage if wanted else None)
        return samples

    def read_processes(self, now: Instant, demand: Demand) -> tuple[ProcessUse, ...]:
        """Who uses which card, from fdinfo and, for ROCm, KFD. Sleeping cards are left out: nobody works on them."""
        self._refresh(now)
        if not demand.processes:
            return ()
        asleep = {
            key
            for key, watched in self._watched.items()
            if not watched.lost and power_state_below(watched.card.device).asleep
        }
        usage = self._scan(now, asleep)
        if not self._kfd_ids:
            return usage.uses
        return _with_kfd(usage.uses, kfd.memory(self._root, self._kfd_ids), frozenset(asleep))

    def notes(self) -> tuple[Note, ...]:
        """Lost cards, cards left alone, and that other users' processes are hidden (once)."""
        notes = tuple(self._notes.values())
        self._notes.clear()
        return notes

    @property
    def remark(self) -> str:
        """Nothing."""
        return ""

    def release(self) -> None:
        """Nothing is kept open; forget counters, so that the next read starts anew."""
        self._clients = Clients(self._root)
        self._used_at = None

    def close(self) -> None:
        """Forget everything."""
        self.release()
        self._watched.clear()

    # -- inventory

    def _refresh(self, now: Instant) -> None:
        if self._listed_at == now.monotonic_s:
            return
        self._listed_at = now.monotonic_s
        cards = {card.key: card for card in find_cards(self._root)}
        changed = False
        for key, card in cards.items():
            watched = self._watched.get(key)
            if watched is None or watched.lost or watched.card != card:
                self._watched[key] = self._new(card)
                changed = True
        for key, watched in self._watched.items():
            if key not in cards and not watched.lost:
                watched.lost = True
                changed = True
                self._notes["gpu-lost"] = Note("gpu-lost", watched.info.name)
        if changed:
            self._nodes = node_addresses(self._root)
            self._kfd_ids = kfd.gpu_ids(self._root)

    def _new(self, card: Card) -> _Watched:
        awake = not power_state_below(card.device).asleep
        info = DeviceInfo(
            key=card.key,
            name=name_of(self._root, card, awake=awake),
            vendor=card.vendor.lower(),
            kind=kind_of(card),
            index=card.index,
            pci_address=card.pci_address,
            sources=(SOURCE,),
            static={"kernel_driver": Reading(card.driver, SOURCE), "memory_total_bytes": ASLEEP},
        )
        watched = _Watched(card, info)
        if awake:
            self._wake(watched)
        return watched

    def _wake(self, watched: _Watched) -> None:
        """First look at a card that is awake: what it offers, and its fixed values."""
        watched.plan = plan(watched.card)
        static: dict[str, Value] = {
            "kernel_driver": Reading(watched.card.driver, SOURCE),
            "memory_total_bytes": UNSUPPORTED,
        }
        static.update({sensor.metric: sensor.read() for sensor in watched.plan.fixed})
        watched.info = replace(
            watched.info, name=name_of(self._root, watched.card, awake=True), kind=kind_of(watched.card), static=static
        )

    # -- reading

    def _scan(self, now: Instant, asleep: set[DeviceKey]) -> Usage:
        if self._used_at == now.monotonic_s:
            return self._usage
        self._used_at = now.monotonic_s
        skip = set(asleep)
        for key, watched in self._watched.items():
            # amdgpu's fdinfo only adds up counters in memory; the others may touch the card for it.
            if watched.lost or (watched.card.driver != "amdgpu" and watched.rest.hands_off(now.monotonic_s)):
                skip.add(key)
        self._usage = self._clients.scan(now.monotonic_s, self._nodes, frozenset(self._watched), frozenset(skip))
        if self._usage.hidden and not self._told_hidden:
            self._told_hidden = True
            self._notes["other-users-hidden"] = Note("other-users-hidden")
        return self._usage

    def _sample(self, watched: _Watched, now: Instant, demand: Demand, usage: Usage | None) -> DeviceSample:
        key, rest = watched.card.key, watched.rest
        if usage is not None and key in usage.active:
            rest.worked()
        engines, values = self._engines(watched, usage)
        if rest.hands_off(now.monotonic_s) and not demand.keep_awake:
            self._notes["resting"] = Note("resting", watched.info.name, SourceState.RESTING)
            return DeviceSample(
                key, DeviceState.OK, "resting", {**dict.fromkeys(_metrics(watched), RESTING), **values}, engines
            )
        if watched.plan is None:
            self._wake(watched)
        assert watched.plan is not None
        values.update(dict.fromkeys(watched.plan.absent, UNSUPPORTED))
        for sensor in watched.plan.changing:
            values[sensor.metric] = sensor.read() if demand.details or not sensor.detail else NOT_READ
        used, total = number(values.get("memory_used_bytes")), number(watched.info.static.get("memory_total_bytes"))
        if used is not None and total is not None and used <= total:
            values["memory_free_bytes"] = Reading(total - used, SOURCE)
        if not os.path.exists(watched.card.device):  # pulled out while being read
            return DeviceSample(key, DeviceState.LOST, "", dict.fromkeys(_metrics(watched), LOST))
        self._consider_rest(watched, now.monotonic_s, values, usage)
        return DeviceSample(key, DeviceState.OK, "", values, engines)

    def _engines(self, watched: _Watched, usage: Usage | None) -> tuple[tuple[EngineSample, ...], dict[str, Value]]:
        """Engine shares, and the metrics made of them."""
        if usage is None:
            return (), {"engine_utilization": NOT_READ}
        found = usage.engines.get(watched.card.key)
        if found is None:  # not scanned: being left alone
            return (), {"engine_utilization": RESTING}
        engines = tuple(EngineSample(name, name, engine_kind(name), value) for name, value in found.items())
        values: dict[str, Value] = {
            metric: found[engine] for engine, metric in _ENGINE_METRICS.items() if engine in found
        }
        shares = [share_ for share_ in map(number, found.values()) if share_ is not None]
        if shares:
            values["engine_utilization"] = share("engine_utilization", max(shares))
        elif found:
            values["engine_utilization"] = next(iter(found.values()))
        elif usage.hidden:  # nobody seen, but not everybody could be looked at
            values["engine_utilization"] = Missing(Reason.NO_PERMISSION, SOURCE)
        else:
            values["engine_utilization"] = UNSUPPORTED if watched.card.driver == "nouveau" else FIRST
        return engines, values

    def _consider_rest(self, watched: _Watched, now_s: float, values: Mapping[str, Value], usage: Usage | None) -> None:
        """Tell the rest logic whether a card that could sleep was idle. Figures that are missing do not count."""
        device = watched.card.device
        seen = [number(values.get(metric)) for metric in ("gpu_utilization", "engine_utilization")]
        known = [value for value in seen if value is not None]
        quiet = usage is None or watched.card.key not in usage.active
        idle = (
            quiet
            and not any(known)
            and power_state_below(device).can_sleep
            and read_word(os.path.join(device, "power/runtime_usage")) in ("", "0")
            and not drives_display(watched.card)
        )
        delay = read_word(os.path.join(device, "power/autosuspend_delay_ms"))
        if delay.startswith("-"):  # negative: never suspends
            idle = False
        watched.rest.saw(now_s, idle=idle, delay_s=int(delay) / 1e3 if delay.isdecimal() else DEFAULT_DELAY_S)


def _metrics(watched: _Watched) -> tuple[str, ...]:
    """Every changing metric of a card, known or not: what is missing while it cannot be read."""
    known = tuple(sensor.metric for sensor in watched.plan.changing) if watched.plan is not None else ()
    return tuple(dict.fromkeys((*COMMON, *known, "engine_utilization")))


def _with_kfd(
    uses: tuple[ProcessUse, ...], memory: Mapping[tuple[int, DeviceKey], int | None], asleep: frozenset[DeviceKey]
) -> tuple[ProcessUse, ...]:
    """Processes that compute through KFD, joined with what fdinfo says of them. The larger memory figure counts: newer
    kernels include KFD's buffers in fdinfo, older ones do not."""
    joined = {(use.pid, use.device): use for use in uses}
    for (pid, device), size in memory.items():
        if device in asleep:
            continue
        use = joined.get((pid, device))
        values: dict[str, Value] = dict(use.values) if use is not None else {"process_gpu_utilization": UNSUPPORTED}
        seen = number(values.get("process_memory_bytes"))
        if size is not None and (seen is None or size > seen):
            values["process_memory_bytes"] = Reading(size, SOURCE)
        kind = UseKind.BOTH if use is not None and use.kind in (UseKind.GRAPHICS, UseKind.BOTH) else UseKind.COMPUTE
        engine = use.engine if use is not None else EngineKind.COMPUTE.value
        joined[pid, device] = ProcessUse(pid, device, kind, values, engine)
    return tuple(joined[key] for key in sorted(joined))
