"""Knows: what a card can do at most (``gpu_peaks.toml``), and what share of it was reached and why not more.
Must not know: verdicts, sentences.

Figures are dense: without the doubling that structured sparsity would bring. For GeForce cards tensor cores count with
sums in 32 bits, which is what frameworks ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpumon_gui.diagnosis.compat.gpus import plain_name
from gpumon_gui.diagnosis.compat.tables import table
from gpumon_gui.diagnosis.proof.claims import DeviceClaim
from gpumon_gui.diagnosis.proof.evidence import Seen

PRECISIONS = ("fp32", "tf32", "fp16", "bf16")
#: A clock below this share of the highest one is low.
LOW_CLOCK = 0.75
#: From this P-state on the card is not in a state for work (NVML: P0 is the highest; compute runs in P0 to P3).
LOW_PSTATE = 5
#: Bits of NVML's clock event reasons: power cap and brake, heat (software and hardware).
_POWER, _HEAT = 0x4 | 0x80, 0x20 | 0x40


@dataclass(frozen=True, slots=True)
class Proportion:
    """``share`` of the card's ``peak_flops_per_s`` in ``precision``; both None for a card that is not in the table.
    ``limit`` is why it was not more: ``pstate``, ``power``, ``heat``, ``clock``, ``busy``, ``small``, or empty."""

    precision: str
    flops_per_s: float
    peak_flops_per_s: float | None = None
    share: float | None = None
    limit: str = ""


def peak(name: str, precision: str) -> float | None:
    """Operations per second of a product at most; None when unknown."""
    return _peaks().get(plain_name(name), {}).get(precision)


def proportion(claim: DeviceClaim, seen: Seen) -> Proportion | None:
    """For the fastest precision measured."""
    fastest = claim.fastest
    if fastest is None:
        return None
    name = claim.name or (seen.device.name if seen.device is not None else "")
    most = peak(name, fastest.precision)
    share = fastest.flops_per_s / most if most else None
    return Proportion(fastest.precision, fastest.flops_per_s, most, share, _limit(fastest.side, seen))


def _limit(side: int, seen: Seen) -> str:
    low = bool(seen.clock_mhz and seen.clock_max_mhz and seen.clock_mhz < LOW_CLOCK * seen.clock_max_mhz)
    if seen.pstate is not None and seen.pstate >= LOW_PSTATE and (low or seen.clock_mhz is None):
        return "pstate"
    if seen.throttle & _HEAT:
        return "heat"
    if seen.busy_idle is not None and seen.busy_idle >= 0.5:
        return "busy"
    if seen.throttle & _POWER:
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
