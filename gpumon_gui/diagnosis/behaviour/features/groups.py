"""Knows: several GPUs beside each other: how full, how busy, what they exchange, who works when; and GPUs of the same
kind that nobody uses. Must not know: what is bad about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpumon_gui.core.model import DeviceKey, DeviceKind, DeviceState
from gpumon_gui.diagnosis.behaviour.jobs import belong_together
from gpumon_gui.diagnosis.behaviour.rest import rest_w
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import known, mean, middle
from gpumon_gui.diagnosis.behaviour.trends import correlation
from gpumon_gui.diagnosis.behaviour.window import Series
from gpumon_gui.diagnosis.behaviour.work import Work, work_of

#: Where no moment without work was seen: cards rest with a context open at 10 to 20 % of their limit (H200 18 %).
_REST_SHARE: Final = 0.15
#: Data that GPUs exchange for each other. NVLink rests at zero; over PCIe both ways must be used alike, far above what
#: feeding a GPU takes (some 50 MB/s in, 12 MB/s out).
_TALKS_NVLINK: Final = 50e6
_TALKS_PCIE: Final = 500e6
_ALIKE: Final = 0.33
#: A GPU that nobody uses.
_UNUSED_BUSY: Final = 0.02
_UNUSED_SHARE: Final = 0.02


def of_job(scene: Scene) -> Mapping[str, Any]:
    """``devices[]`` (two and more), or one entry for a job on one; ``spare[]`` GPUs of the same kind nobody uses.

    A device: ``index``, ``name``, ``pids[]`` of the job there, ``busy`` (mean), ``sm``, ``tensor``, ``math``
    (tensor, fp32 and fp16 together), ``dram``, ``memory_load``, ``power_w``, ``power_share`` (of the limit), ``load``
    (power above rest, of what is left to the limit), ``work`` and ``work_source`` (``sm`` or ``power``), ``fill``
    (work per busy time: how full the kernels are), ``clock_mhz``, ``memory_bytes`` of the job, ``cpu_cores`` of the
    processes there, ``nvlink_bytes_per_s``, ``pcie_rx_bytes_per_s``, ``pcie_tx_bytes_per_s``.

    ``ranks``: each device has a process of its own; ``together``: these are sure to belong to one
    program. ``coupled``: the devices exchange data (absent where it cannot be told), ``coupled_by`` NVLink or PCIe,
    ``exchange_bytes_per_s`` per device, ``exchange_alike``: all take part, by a third of the most at least,
    ``exchange_steady`` (share of samples with at least a third of the mean).

    Turns: ``busy_sum`` and ``busy_sum_high`` (time with kernels, all devices together), ``busy_least`` and
    ``busy_most`` device, ``busy_spread`` (the largest standard deviation over time); ``correlation`` (mean over pairs)
    of it, ``turn_samples`` it rests on. ``sm_correlation`` of SM activity, which also falls while a rank only waits.
    ``alternation``: share of time in which exactly one device works (at least half as much as it does at most), of
    that in which any does.

    ``strays[]``: ``{pid, index, home, bytes, home_bytes, busy}`` of processes with memory on another rank's device.
    """
    job = scene.job
    if job is None:
        return {}
    works = work_of(scene.window, job, scene.others)
    works = tuple(sorted(works, key=lambda work: work.track.info.index))
    if not works:
        return {}
    mates = [_Mate(scene, work) for work in works]
    facts: dict[str, Any] = {"devices": [mate.facts() for mate in mates], "spare": _spare(scene, works) or None}
    if len(mates) < 2:
        return facts
    homes = _homes(scene)
    facts["ranks"] = len({pid for pid, _ in homes.items()}) >= len(mates) and set(homes.values()) >= {
        work.key for work in works
    }
    facts["processes"] = len(homes)
    facts["together"] = belong_together(job)
    return {**facts, **_exchange(mates), **_turns(works), "strays": _strays(scene, homes) or None}


@dataclass(frozen=True, slots=True)
class _Mate:
    """One device among those of a job."""

    scene: Scene
    work: Work

    def facts(self) -> dict[str, Any]:
        """What is known of it."""
        series = self.work.track.series
        busy = mean(self.work.busy)
        load = self._load()
        sm = self._mean("sm_activity")
        done, source = (sm, "sm") if sm is not None else (load, "power")
        if done is None:
            source = ""
        units = [self._mean(name) for name in ("tensor_activity", "fp32_activity", "fp16_activity")]
        assert self.scene.job is not None
        here = [track for track in self.scene.job.processes if self.work.key in track.uses]
        cores = [found for track in here if (found := mean(track.series.get("process_cpu"))) is not None]
        memory = [
            found
            for track in here
            if (found := middle(track.uses[self.work.key].get("process_memory_bytes"))) is not None
        ]
        power, limit = self._mean("power_w"), middle(series.get("power_limit_w"))
        return {
            "index": self.work.track.info.index,
            "name": self.work.track.info.name,
            "pids": [track.pid for track in here],
            "alone": self.work.alone,
            "busy": _round(busy),
            "sm": _round(sm),
            "tensor": _round(self._mean("tensor_activity")),
            "math": _round(sum(unit for unit in units if unit is not None))
            if any(u is not None for u in units)
            else None,
            "dram": _round(self._mean("dram_activity")),
            "memory_load": _round(self._mean("memory_utilization")),
            "power_w": _round(power, 1),
            "power_share": _round(power / limit) if power is not None and limit else None,
            "load": _round(load),
            "work": _round(done),
            "work_source": source or None,
            "fill": _round(min(1.0, done / busy)) if done is not None and busy is not None and busy >= 0.03 else None,
            "clock_mhz": middle(series.get("clock_sm_mhz", series.get("clock_graphics_mhz"))),
            "memory_bytes": sum(memory) if memory else None,
            "cpu_cores": _round(sum(cores)) if cores else None,
            "nvlink_bytes_per_s": self.nvlink(),
            "pcie_rx_bytes_per_s": self._mean("pcie_rx_bytes_per_s"),
            "pcie_tx_bytes_per_s": self._mean("pcie_tx_bytes_per_s"),
        }

    def nvlink(self) -> float | None:
        """Both ways, the larger one."""
        ways = [self._mean(f"nvlink_{way}_bytes_per_s") for way in ("rx", "tx")]
        return max((way for way in ways if way is not None), default=None)

    def pcie(self) -> float | None:
        """Both ways, the smaller one: what only goes in is data for this GPU."""
        ways = [self._mean(f"pcie_{way}_bytes_per_s") for way in ("rx", "tx")]
        known_ways = [way for way in ways if way is not None]
        return min(known_ways) if len(known_ways) == 2 else None

    def exchange(self, by: str) -> Series | None:
        """What it exchanges at each time."""
        name = "nvlink_tx_bytes_per_s" if by == "NVLink" else "pcie_tx_bytes_per_s"
        return self.work.of_device(name)

    def _mean(self, name: str) -> float | None:
        return mean(self.work.of_device(name))

    def _load(self) -> float | None:
        power = self._mean("power_w")
        limit = middle(self.work.track.series.get("power_limit_w"))
        if power is None or not limit:
            return None
        rest = rest_w(self.scene.whole, self.work)
        rest = _REST_SHARE * limit if rest is None else rest
        return max(0.0, min(1.0, (power - rest) / max(limit - rest, 1.0)))


def _homes(scene: Scene) -> dict[int, DeviceKey]:
    """Process → the device on which it holds most memory (or works most, where that is unknown)."""
    assert scene.job is not None
    homes: dict[int, DeviceKey] = {}
    for track in scene.job.processes:
        sizes = {}
        for key, series in track.uses.items():
            found = middle(series.get("process_memory_bytes"))
            if found is None:
                found = mean(series.get("process_gpu_utilization"))
            sizes[key] = found or 0.0
        if sizes:
            homes[track.pid] = max(sizes, key=lambda key: sizes[key])
    return homes


def _strays(scene: Scene, homes: Mapping[int, DeviceKey]) -> list[dict[str, Any]]:
    """Memory of a process on a device that is the home of another one."""
    assert scene.job is not None
    found = []
    for track in scene.job.processes:
        for key, series in track.uses.items():
            home = homes[track.pid]
            if key == home or key not in {homes[pid] for pid in homes if pid != track.pid}:
                continue
            held = middle(series.get("process_memory_bytes"))
            busy = mean(series.get("process_gpu_utilization"))
            at_home = middle(track.uses[home].get("process_memory_bytes"))
            if held is None or key not in scene.window.devices or home not in scene.window.devices:
                continue
            found.append(
                {
                    "pid": track.pid,
                    "index": scene.window.devices[key].info.index,
                    "home": scene.window.devices[home].info.index,
                    "bytes": held,
                    "home_bytes": at_home,
                    "busy": _round(busy),
                }
            )
    return found


def _exchange(mates: Sequence[_Mate]) -> dict[str, Any]:
    for by, rates, least in (
        ("NVLink", [mate.nvlink() for mate in mates], _TALKS_NVLINK),
        ("PCIe", [mate.pcie() for mate in mates], _TALKS_PCIE),
    ):
        talking = [rate for rate in rates if rate is not None and rate >= least]
        if len(talking) >= 2:
            # Of a group of GPUs some may do nothing; those that talk do so alike.
            steady = [_steadiness(series) for mate in mates if (series := mate.exchange(by)) is not None]
            alike = min(talking) >= _ALIKE * max(talking)
            return {
                "coupled": True,
                "coupled_by": by,
                "exchange_bytes_per_s": float(np.mean(talking)),
                "exchange_alike": alike and len(talking) == len(mates),
                "exchange_steady": _round(min(steady)) if steady else None,
            }
    if all((rate := mate.nvlink()) is not None and rate < 1e6 for mate in mates) and all(
        (rate := mate.pcie()) is not None and rate < 30e6 for mate in mates
    ):
        return {"coupled": False}
    return {}


def _steadiness(series: Series) -> float:
    seen = known(series)
    return float(np.mean(seen >= seen.mean() / 3)) if seen.size else 0.0


def _turns(works: Sequence[Work]) -> dict[str, Any]:
    kernels = [work.kernels for work in works if work.kernels is not None]
    busy = _whole(kernels if len(kernels) == len(works) else [work.busy for work in works])
    if busy is None:
        return {}
    together = busy.sum(axis=0)
    filled = [series for work in works if (series := work.of_device("sm_activity")) is not None]
    full = _whole(filled) if len(filled) == len(works) else None
    return {
        "busy_sum": _round(float(together.mean())),
        "busy_sum_high": _round(float(np.quantile(together, 0.9))),
        "busy_least": _round(float(busy.mean(axis=1).min())),
        "busy_most": _round(float(busy.mean(axis=1).max())),
        "busy_spread": _round(float(busy.std(axis=1).max())),
        "correlation": _pairs(busy),
        "sm_correlation": _pairs(full) if full is not None else None,
        "alternation": _alternation(busy if full is None else full),
        "turn_samples": int(busy.shape[1]),
    }


def _whole(series: Sequence[Series]) -> npt.NDArray[np.float64] | None:
    """Devices x samples, of the samples in which all were seen; None for too few."""
    stack = np.vstack(series)
    stack = stack[:, ~np.isnan(stack).any(axis=0)]
    return stack if stack.shape[1] >= 8 else None


def _pairs(stack: npt.NDArray[np.float64]) -> float | None:
    found = [one for a, b in combinations(stack, 2) if (one := correlation(a, b)) is not None]
    return _round(float(np.mean(found))) if found else None


def _alternation(stack: npt.NDArray[np.float64]) -> float | None:
    most = np.quantile(stack, 0.95, axis=1)
    if most.min() < 0.05:
        return None
    active = stack >= most[:, None] / 2
    any_active = active.any(axis=0)
    return _round(float((active.sum(axis=0)[any_active] == 1).mean())) if any_active.sum() >= 8 else None


def _spare(scene: Scene, works: Sequence[Work]) -> list[dict[str, Any]]:
    """Cards like those of the job that nobody uses and that could be used."""
    assert scene.job is not None
    kinds = {(work.track.info.name, work.track.info.vendor) for work in works}
    totals = [work.track.lasting("memory_total_bytes") for work in works]
    used = {key for track in scene.window.processes if track.computes for key in track.uses}
    found = []
    for key, track in scene.window.devices.items():
        info = track.info
        busy = mean(track.series.get("gpu_utilization", track.series.get("engine_utilization")))
        if key in used or key in scene.job.devices or (info.name, info.vendor) not in kinds:
            continue
        if info.kind not in (DeviceKind.DISCRETE, DeviceKind.UNKNOWN) or track.state is not DeviceState.OK:
            continue
        if busy is None or busy > _UNUSED_BUSY or info.parent is not None:
            continue
        total = track.lasting("memory_total_bytes")
        held = middle(track.series.get("memory_used_bytes"))
        # A program in another container is not listed, but its memory is.
        if held is not None and total and held > max(_UNUSED_SHARE * total, 1e9):
            continue
        if total is not None and totals and totals[0] is not None and abs(total - totals[0]) > 0.1 * totals[0]:
            continue
        found.append({"index": info.index, "name": info.name, "busy": _round(busy), "memory_bytes": held})
    return found


def _round(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)
