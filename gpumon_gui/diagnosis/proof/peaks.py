"""Knows: what a card can do at most (``gpu_peaks.toml``), and what share of it was reached and why not more.
Must not know: verdicts, sentences.

Figures are dense: without the doubling that structured sparsity would bring. For GeForce cards tensor cores count with
sums in 32 bits, which is what frameworks ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpumon_gui.core.metrics import ClockReason
from gpumon_gui.diagnosis.compat.gpus import plain_name
from gpumon_gui.diagnosis.compat.tables import table
from gpumon_gui.diagnosis.proof.claims import DeviceClaim
from gpumon_gui.diagnosis.proof.evidence import Seen

PRECISIONS = ("fp32", "tf32", "fp16", "bf16")
#: A clock below this share of the highest one is low.
LOW_CLOCK = 0.75
#: From this P-state on the card is not in a state for work (NVML: P0 is the highest; compute runs in P0 to P3).
LOW_PSTATE = 5


@dataclass(frozen=True, slots=True)
class Proportion:
    """``share`` of the card's ``peak_flops_per_s`` in ``precision``; both None for a card of which too little is known.
    ``limit`` is why it was not more: ``pstate``, ``power``, ``heat``, ``clock``, ``busy``, ``small``, or empty.
    ``at_highest_clock``: the peak is no figure of a data sheet (at boost clock) but what the card's cores would do at
    its highest clock, which no card holds under full load."""

    precision: str
    flops_per_s: float
    peak_flops_per_s: float | None = None
    share: float | None = None
    limit: str = ""
    at_highest_clock: bool = False


def peak(name: str, precision: str) -> float | None:
    """Operations per second of a product at most, by its data sheet; None when unknown."""
    return _peaks().get(plain_name(name), {}).get(precision)


def peak_at(name: str, capability: str, cores: float | None, clock_mhz: float | None, precision: str) -> float | None:
    """What ``cores`` shader cores of that family and compute capability do per second at that clock; None when unknown.
    This is how the cards that no data sheet can state are judged: those of laptops."""
    if not cores or not clock_mhz:
        return None
    plain = plain_name(name)
    for row in table("gpu_peaks")["rate"]:
        if plain.startswith(plain_name(row["family"])) and capability in row["compute_capabilities"]:
            rate = row.get(precision)
            return None if rate is None else float(rate) * cores * clock_mhz * 1e6
    return None


def proportion(claim: DeviceClaim, seen: Seen) -> Proportion | None:
    """For the fastest precision measured."""
    fastest = claim.fastest
    if fastest is None:
        return None
    name = claim.name or (seen.device.name if seen.device is not None else "")
    named = peak(name, fastest.precision)
    most = named or peak_at(name, claim.capability, seen.cores, seen.clock_max_mhz, fastest.precision)
    return Proportion(
        precision=fastest.precision,
        flops_per_s=fastest.flops_per_s,
        peak_flops_per_s=most,
        share=fastest.flops_per_s / most if most else None,
        limit=_limit(fastest.side, seen),
        at_highest_clock=most is not None and named is None,
    )


def _limit(side: int, seen: Seen) -> str:
    low = bool(seen.clock_mhz and seen.clock_max_mhz and seen.clock_mhz < LOW_CLOCK * seen.clock_max_mhz)
    if seen.pstate is not None and seen.pstate >= LOW_PSTATE and (low or seen.clock_mhz is None):
        return "pstate"
    if seen.throttle & ClockReason.HEAT:
        return "heat"
    if seen.busy_idle is not None and seen.busy_idle >= 0.5:
        return "busy"
    if seen.throttle & ClockReason.POWER:
        return "power"
    if low:
        return "clock"
    return "small" if side < 2048 else ""


@cache
def _peaks() -> Mapping[str, Mapping[str, float]]:
    return {
        plain_name(name): {key: float(row[key]) * 1e12 for key in PRECISIONS if key in row}
        for row in table("gpu_peaks")["gpu"]
        for name in row["names"]
    }
