"""Knows: the verdict from both sides: what a framework claims, what instruments saw. Must not know: how either came
about, sentences.

What proves, strongest first:

1. *own work*: this process's share of this device follows the loads (NVML's process utilization, Windows' engine time).
2. *own presence*: this process is on this device's list and the device's own figures follow the loads, while no other
   process's work does.
3. *memory steps*: blocks of known unequal sizes come and go with the loads in the memory of this process, or (where
   numbers of processes mean nothing: container, WSL, a driver that lists none) of the device, and the device works.
4. *device only*: numbers of processes mean nothing and the framework gives no memory back: the device, quiet
   otherwise, follows the loads. Low confidence.

On a device on which others work its own figures may not follow the loads, whatever this process does: then 1 proves,
and 3 with less confidence; without either it cannot be told. Work of another process on this device and work of this
process on another device prove nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.finding import Confidence
from gpumon_gui.diagnosis.proof.claims import Claims, DeviceClaim
from gpumon_gui.diagnosis.proof.evidence import Seen, seen_of
from gpumon_gui.diagnosis.proof.peaks import Proportion, proportion

#: A device that was so busy in a phase in which this process rested cannot be relied on to show its work.
DISTURBED = 0.15
#: Without phases of these numbers nothing can be significant (1/126 is the least chance with four loads).
LEAST_LOADS = 4
#: Fewer samples a phase than this decide nothing.
LEAST_SAMPLES_PER_PHASE = 1.5
#: As fast as the processor within this factor, on its cores: the processor did it.
CPU_LIKE = 1.5
CPU_SHARE = 0.5


class Outcome(StrEnum):
    """The verdict on one device, or on a framework."""

    PROVEN = "proven"
    NOT_SEEN = "not-seen"  #: claimed, but not seen
    FAILS = "fails"
    CPU = "cpu"  #: it has only the processor, and says so
    NOT_MEASURED = "not-measured"


class Why(StrEnum):
    """What decided."""

    OWN_WORK = "own-work"
    OWN_PRESENCE = "own-presence"
    OWN_STEPS = "own-steps"
    DEVICE_STEPS = "device-steps"
    DEVICE_ONLY = "device-only"
    OTHER_DEVICE = "other-device"
    ON_CPU = "on-cpu"
    CONTAINER = "container"
    WSL = "wsl"
    NO_INSTRUMENT = "no-instrument"
    OTHER_PROCESS = "other-process"
    NO_RISE = "no-rise"
    BUSY = "busy"
    ERROR = "error"
    WRONG_RESULT = "wrong-result"
    CRASHED = "crashed"
    CPU_BUILD = "cpu-build"
    NO_GPU_SEEN = "no-gpu-seen"
    LITTLE_MEMORY = "little-memory"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed-out"
    TOO_MUCH_MEMORY = "too-much-memory"
    TOO_SHORT = "too-short"
    NO_ANSWER = "no-answer"


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the interpreter ran, seen from the instruments."""

    container: bool = False
    wsl: bool = False


@dataclass(frozen=True, slots=True)
class DeviceProof:
    """One GPU: the verdict, what decided, how sure, and both sides."""

    outcome: Outcome
    why: Why
    claim: DeviceClaim
    seen: Seen
    confidence: Confidence = Confidence.HIGH
    hides_processes: bool = False
    proportion: Proportion | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """One framework in one environment. Its outcome is the worst of its devices: one card that is not used counts."""

    outcome: Outcome
    why: Why
    claims: Claims
    devices: tuple[DeviceProof, ...] = ()


def judge(claims: Claims, samples: Sequence[Sample], setting: Setting | None = None) -> Proof:
    """The verdict on every device the script got to, and on the framework."""
    place = setting or Setting()
    devices = tuple(_device(claims, claim, samples, place) for claim in claims.devices)
    if claims.problem == "cancelled":
        return Proof(Outcome.NOT_MEASURED, Why.CANCELLED, claims, devices)
    if not devices:
        return Proof(*_without_devices(claims), claims)
    worst = min(devices, key=lambda device: _BAD.index(device.outcome))
    return Proof(worst.outcome, worst.why, claims, devices)


_BAD = (Outcome.FAILS, Outcome.NOT_SEEN, Outcome.NOT_MEASURED, Outcome.CPU, Outcome.PROVEN)


def _without_devices(claims: Claims) -> tuple[Outcome, Why]:
    if claims.problem == "crashed":
        return Outcome.FAILS, Why.CRASHED
    if claims.problem in ("timed-out", "too-much-memory"):
        return Outcome.NOT_MEASURED, Why(claims.problem)
    if claims.cpu_reason and claims.cpu is not None and not claims.cpu.problem:
        return Outcome.CPU, Why.CPU_BUILD if claims.cpu_reason == "cpu-build" else Why.NO_GPU_SEEN
    if claims.error:
        return Outcome.FAILS, Why.ERROR
    return Outcome.NOT_MEASURED, Why.NO_ANSWER


def _device(claims: Claims, claim: DeviceClaim, samples: Sequence[Sample], place: Setting) -> DeviceProof:
    seen = seen_of(claims, claim, samples)
    hides = _hides(claims, seen, place)
    outcome, why, confidence = _verdict(claims, claim, seen, place, hides)
    return DeviceProof(outcome, why, claim, seen, confidence, hides, proportion(claim, seen))


def _hides(claims: Claims, seen: Seen, place: Setting) -> bool:
    """Whether this process could not be on the list by its number even if it worked."""
    if seen.listed:
        return False
    return place.wsl or seen.has_foreign or place.container or claims.namespaces > 1 or not seen.lists_anybody


def _verdict(
    claims: Claims, claim: DeviceClaim, seen: Seen, place: Setting, hides: bool
) -> tuple[Outcome, Why, Confidence]:
    early = _not_run(claims, claim)
    if early is not None:
        return (*early, Confidence.HIGH)
    proof = _proving(seen, hides)
    if proof is not None:
        wrong = [run for run in claim.runs if not run.problem and not run.right]
        if wrong:
            return Outcome.FAILS, Why.WRONG_RESULT, Confidence.HIGH
        return (Outcome.PROVEN, *proof)
    return _not_seen(claims, claim, seen, place, hides)


def _not_run(claims: Claims, claim: DeviceClaim) -> tuple[Outcome, Why] | None:
    """Where the computation itself did not come to its end."""
    if claim.problem == "little-memory" or (claim.runs and all(run.problem == "little-memory" for run in claim.runs)):
        return Outcome.NOT_MEASURED, Why.LITTLE_MEMORY
    if claim.problem or (claim.runs and all(run.problem for run in claim.runs)):
        return Outcome.FAILS, Why.ERROR
    loads = sum(phase.load and phase.end is not None for phase in claim.phases)
    if loads >= LEAST_LOADS:
        return None
    if claims.problem == "crashed":
        return Outcome.FAILS, Why.CRASHED
    if claims.problem in ("timed-out", "too-much-memory", "cancelled"):
        return Outcome.NOT_MEASURED, Why(claims.problem)
    return Outcome.NOT_MEASURED, Why.TOO_SHORT if claim.phases else Why.NO_ANSWER


def _proving(seen: Seen, hides: bool) -> tuple[Why, Confidence] | None:
    if seen.device is None:
        return None
    sure = Confidence.MEDIUM if seen.by_name else Confidence.HIGH
    if seen.own is not None and seen.own.rises:
        return Why.OWN_WORK, sure
    disturbed = _disturbed(seen)
    own_steps = seen.own_steps is not None and seen.own_steps.match
    if seen.listed and seen.active and not seen.others and not seen.elsewhere:
        # A utilization of its own that was read and did not rise speaks against it, unless its memory speaks for it.
        if seen.own is None:
            return Why.OWN_PRESENCE, sure if own_steps else Confidence.MEDIUM
        if own_steps:
            return Why.OWN_STEPS, Confidence.MEDIUM
    if own_steps and seen.own is None and disturbed:
        return Why.OWN_STEPS, Confidence.MEDIUM
    if not hides or seen.others:
        return None
    if seen.steps is not None and seen.steps.match and (seen.active or disturbed):
        return Why.DEVICE_STEPS, Confidence.MEDIUM if seen.active else Confidence.LOW
    if seen.steps is None and seen.active and not disturbed:
        return Why.DEVICE_ONLY, Confidence.LOW
    return None


def _disturbed(seen: Seen) -> bool:
    return seen.busy_idle_most is not None and seen.busy_idle_most >= DISTURBED


def _not_seen(
    claims: Claims, claim: DeviceClaim, seen: Seen, place: Setting, hides: bool
) -> tuple[Outcome, Why, Confidence]:
    not_seen = Outcome.NOT_SEEN
    if seen.elsewhere:
        return not_seen, Why.OTHER_DEVICE, Confidence.HIGH
    if _looks_like_cpu(claims, claim):
        return not_seen, Why.ON_CPU, Confidence.HIGH
    loads = sum(phase.end is not None for phase in claim.phases)
    if (
        seen.device is None
        or seen.samples < LEAST_SAMPLES_PER_PHASE * loads
        or not (seen.activity or seen.lists_anybody)
    ):
        return not_seen, Why.NO_INSTRUMENT, Confidence.LOW
    if seen.others:
        return not_seen, Why.OTHER_PROCESS, Confidence.MEDIUM if hides else Confidence.HIGH
    disturbed = _disturbed(seen)
    if not hides:
        # It is on the list, and nothing measures what it does there.
        untold = seen.listed and seen.own is None and disturbed
        return (not_seen, Why.BUSY, Confidence.LOW) if untold else (not_seen, Why.NO_RISE, Confidence.HIGH)
    if seen.active or (disturbed and seen.steps is None):
        # Something worked, and nothing tells whether it was this process.
        return not_seen, Why.WSL if place.wsl else Why.CONTAINER if place.container else Why.BUSY, Confidence.LOW
    return not_seen, Why.NO_RISE, Confidence.MEDIUM if disturbed else Confidence.HIGH


def _looks_like_cpu(claims: Claims, claim: DeviceClaim) -> bool:
    """The result lies on the processor by the framework's own word, or the cores worked while it was no faster."""
    fastest = claim.fastest
    if fastest is None:
        return False
    if "cpu" in (claim.where or fastest.where).lower():
        return True
    loads = [phase for phase in claim.phases if phase.load and phase.end is not None]
    seconds = sum(phase.end.monotonic_s - phase.begin.monotonic_s for phase in loads if phase.end is not None)
    if not claims.cpu or claims.cpu.problem or seconds <= 0 or claims.cores < 2:
        return False
    worked = sum(phase.cpu_s for phase in loads) / seconds / claims.cores
    return fastest.flops_per_s < CPU_LIKE * claims.cpu.flops_per_s and worked >= CPU_SHARE
