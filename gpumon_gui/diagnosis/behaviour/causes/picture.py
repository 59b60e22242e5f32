"""Knows: the figures of a watched program that several rules share, and the questions they ask first. Must not know:
the rules.

Thresholds stand beside what they part. Shares are of time, 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpumon_gui.core.formatters import cores, share, speed
from gpumon_gui.diagnosis.evidence import measured_number
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence
from gpumon_gui.diagnosis.rule import Lacks

#: Fewer seconds of the steady part say nothing: NVML's figures look back up to one.
LEAST_S: Final = 2.5
#: A verdict of high confidence needs so many.
SURE_S: Final = 4.0
#: At least so busy a GPU is no victim of what feeds it; between both it is debatable.
FED, WELL_FED = 0.7, 0.85
#: The program's own thread is the limit when its core is full; tick accounting makes 0.85 to 1 of that.
FULL_CORE: Final = 0.85
#: More than one core's work in one process: threads that decode or compute.
SEVERAL_CORES: Final = 1.3
#: What a disk delivers at least when it is the limit (random reads of small files from a spinning disk: 10 MB/s).
READS: Final = 10e6
#: SM activity per kernel time, and power on the way from waiting to the limit, of kernels that last.
LARGE_FILL, LARGE_LOAD = 0.65, 0.45
#: Starting kernels alone moves up to about 100 MB/s of commands to the GPU: more than this is data.
DATA_RATE: Final = 150e6

#: At least so busy the GPU is in phases of work between evaluations.
PHASE: Final = 0.5
#: Phases of work between evaluations last longer.
_WORK_S: Final = 3.0
#: In a pause the program is busy itself, or it writes: a checkpoint is hundreds of megabytes.
CPU_WORKS, WRITES = 0.6, 20e6

#: Data for a GPU go in; what it answers is a tenth of that (H200: 6 %). GPUs that exchange data send what they get.
_BOTH_WAYS: Final = 0.5
#: The driver counts whole percents: busy shares that differ by one are even.
_ONE_PERCENT: Final = 0.012

#: Figures of one kind: the narrower one, and the wider one that says the same where nothing else adds to it.
_WIDER: Final = {"job.activity.kernels": "job.activity.busy", "job.cpu.main": "job.cpu.cores"}
_SAME: Final = 0.05
_ORDER: Final = (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)


@dataclass(frozen=True, slots=True)
class Picture:
    """What rules read again and again; None is unknown. ``draws``: it may be a game or a window, whose rhythm means
    nothing here."""

    seconds: float
    busy: float | None
    kernels: float | None
    size: str | None
    size_by: str | None
    fill: float | None
    load: float | None
    alone: bool | None
    card_busy: float | None
    draws: bool
    devices: int
    cores: float | None
    main: float | None
    programs: int
    workers: int
    workers_listed: int
    workers_cores: float
    workers_full: int
    reads: float | None
    rate: float | None
    both_ways: bool
    copy_time: float | None
    link_share: float | None
    engine: float | None
    copies: float | None
    variation: float | None
    idle: float | None
    turns: int | None
    gaps: int
    settled_s: float | None

    @property
    def starting(self) -> bool:
        """Whether it took most of its GPU memory a moment ago: what was seen before is no work yet."""
        return self.settled_s is not None and self.settled_s < LEAST_S

    @property
    def per_program(self) -> float | None:
        """Cores per process that uses a GPU: ranks feed a GPU each."""
        return None if self.cores is None else self.cores / max(1, self.programs)

    @property
    def uneven(self) -> bool:
        """Teeth: the busy share swings, or falls to nothing again and again."""
        return (self.variation or 0.0) >= 0.25 or (self.idle or 0.0) >= 0.15

    def even(self, most: float) -> bool:
        """Whether the busy share varies by at most so much of itself, or not more than its counter can tell."""
        varies = self.variation or 0.0
        return varies <= most or varies * (self.busy or 0.0) <= _ONE_PERCENT

    @property
    def workers_are_the_limit(self) -> bool:
        """Helper processes with (nearly) full cores."""
        return self.workers_full >= 1 or (self.workers >= 1 and self.workers_cores >= 0.7 * self.workers)

    @property
    def large(self) -> bool:
        """Kernels that fill the GPU so far that starting them cannot be what takes the time."""
        if self.size_by == "sm":
            return (self.fill or 0.0) >= LARGE_FILL
        return self.size == "full" and (self.load is None or self.load >= LARGE_LOAD)

    @property
    def traffic_known(self) -> bool:
        """Whether copies can be told from kernels at all."""
        return self.rate is not None or self.engine is not None or self.copies is not None


def look(view: View) -> Picture:
    """The picture of the subject."""
    number = view.number

    def count(path: str) -> int:
        return int(number(path) or 0)

    rates = [rate for rate in (number(f"job.transfers.{way}_bytes_per_s") for way in ("rx", "tx")) if rate is not None]
    return Picture(
        seconds=number("job.program.seconds") or 0.0,
        busy=number("job.activity.busy"),
        kernels=number("job.activity.kernels"),
        size=view.text("job.activity.size"),
        size_by=view.text("job.activity.size_by"),
        fill=number("job.activity.fill"),
        load=number("job.activity.load"),
        alone=view.flag("job.activity.alone"),
        card_busy=number("job.activity.card_busy"),
        draws=view.flag("job.activity.computes") is False,
        devices=count("job.activity.devices"),
        cores=number("job.cpu.cores"),
        main=number("job.cpu.main"),
        programs=count("job.cpu.programs"),
        workers=count("job.cpu.workers"),
        workers_listed=count("job.cpu.workers_listed"),
        workers_cores=number("job.cpu.workers_cores") or 0.0,
        workers_full=count("job.cpu.workers_full"),
        reads=number("job.cpu.read_bytes_per_s"),
        rate=max(rates, default=None),
        both_ways=len(rates) == 2 and min(rates) >= _BOTH_WAYS * max(rates),
        copy_time=number("job.transfers.time"),
        link_share=number("job.transfers.link_share"),
        engine=number("job.transfers.engine"),
        copies=number("job.transfers.copies"),
        variation=number("job.phases.variation"),
        idle=number("job.phases.idle"),
        turns=None if number("job.phases.turns") is None else count("job.phases.turns"),
        gaps=count("job.phases.gaps"),
        settled_s=number("job.memory.settled_s"),
    )


def at_work(view: View, *, alone: bool = False) -> tuple[Picture, float] | Lacks:
    """The picture of a program that computes, and how busy it keeps its GPU; or what is not known of it. ``alone``:
    nothing can be said where others may work on its GPU."""
    seen = look(view)
    if seen.busy is None:
        return Lacks(("job.activity.busy",))
    if seen.draws:
        return Lacks(("job.program.framework",))
    if alone and seen.alone is not True:
        return Lacks(("job.activity.alone",))
    return seen, seen.busy


def transfer_confidence(seen: Picture) -> Confidence | None:
    """How sure it is that copies between host and GPU take the time; None when they do not.

    Traffic alone proves nothing: copies beside kernels cost nothing. The GPU must be seen to wait for them.
    """
    if seen.busy is None or (seen.devices > 1 and seen.both_ways):
        return None
    time = max(seen.copy_time or 0.0, seen.link_share or 0.0, seen.engine or 0.0, seen.copies or 0.0)
    if seen.kernels is not None:
        if seen.kernels >= 0.6 or time < max(0.35, 1.2 * seen.kernels):
            return None
        sure = time >= 0.6 and seen.kernels <= 0.3
    else:
        if seen.size == "full" and seen.busy >= 0.5:
            return None
        if time < 0.6 and not ((seen.link_share or 0.0) >= 0.4 and seen.size == "small"):
            return None
        sure = False
    # Copies are then only as fast as the data come.
    several = seen.workers_are_the_limit or ((seen.per_program or 0.0) >= 1.8 and time < 0.6)
    if several and (seen.link_share or 0.0) < 0.5:
        return None
    if not sure and seen.kernels is None and seen.size == "full" and time < 0.8:
        return Confidence.LOW
    return lowered(Confidence.HIGH if sure else Confidence.MEDIUM, seen)


def pauses(view: View) -> bool:
    """Whether the GPU works in phases with long pauses between, in which the program itself is busy, and not those who
    prepare data: they would work all the time."""
    gaps, active = view.number("job.phases.gaps_enclosed"), view.number("job.phases.active")
    length, part = view.number("job.phases.gap_s"), view.number("job.phases.gap_share")
    if gaps is None or active is None or length is None or part is None:
        return False
    if gaps < 1 or active < PHASE or length < 1.5 or not 0.05 <= part <= 0.9:
        return False
    period = view.number("job.phases.period_s")
    if period is not None and period - length < min(_WORK_S, length):
        return False  # steps of a few seconds that wait for longer: data, not phases
    cpu, writes = view.number("job.phases.cpu_in_gaps"), view.number("job.phases.write_in_gaps")
    if (cpu is None or cpu < CPU_WORKS) and (writes is None or writes < WRITES):
        return False
    return not _queue_runs_empty(view)


def busy_at_work(view: View) -> float | None:
    """The busy share without pauses: a GPU that is well fed between them does not wait for its next batch."""
    busy, active = view.number("job.activity.busy"), view.number("job.phases.active")
    if active is None or active < WELL_FED or not view.number("job.phases.gaps") or _queue_runs_empty(view):
        return busy
    return active


def _queue_runs_empty(view: View) -> bool:
    """Loading processes, or threads of the program, that work before, in and after the pauses: what they prepare is
    used up now and then, and the GPU waits for more."""
    helpers, before = view.number("job.phases.workers_in_gaps"), view.number("job.phases.workers_in_work")
    if helpers is not None and before is not None and before >= 0.7 and helpers >= 0.7 * before:
        return True
    inside, working = view.number("job.phases.cpu_in_gaps"), view.number("job.phases.cpu_in_work")
    several = (view.number("job.phases.gaps") or 0) >= 3
    return (
        several and inside is not None and working is not None and inside >= SEVERAL_CORES and working >= 0.7 * inside
    )


def lowered(confidence: Confidence, seen: Picture) -> Confidence:
    """One step less for little time, and for a GPU that may be shared; at most medium where only the driver's count per
    process is left."""
    step = _ORDER.index(confidence)
    step += seen.seconds < SURE_S or seen.starting
    step += seen.alone is not True
    return _ORDER[min(step, len(_ORDER) - 1)]


def cautious(confidence: Confidence) -> Confidence:
    """One step less."""
    return _ORDER[min(_ORDER.index(confidence) + 1, len(_ORDER) - 1)]


def shares(view: View, *paths: str) -> tuple[Evidence, ...]:
    """Evidence from shares of time, in percent."""
    return _evidence(view, paths, share)


def speeds(view: View, *paths: str) -> tuple[Evidence, ...]:
    """Evidence from bytes per second."""
    return _evidence(view, paths, speed)


def counts(view: View, *paths: str) -> tuple[Evidence, ...]:
    """Evidence from plain numbers: cores, processes, watts, seconds."""
    return _evidence(view, paths, lambda value: f"{value:g}")


def _evidence(view: View, paths: tuple[str, ...], write: Callable[[float], str]) -> tuple[Evidence, ...]:
    known = {path: value for path in paths if (value := view.number(path)) is not None}
    return tuple(
        measured_number(view, path, value, write(value))
        for path, value in known.items()
        if not _is_said(value, known.get(_WIDER.get(path, "")))
    )


def _is_said(value: float, wider: float | None) -> bool:
    """Whether a figure says nothing besides the wider one of its kind."""
    return wider is not None and abs(value - wider) <= max(_SAME * wider, 0.01)


def amount(value: float | None) -> str:
    """Seconds in a sentence: ``2.9``, ``12``."""
    if value is None:
        return "?"
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def core_count(value: float | None) -> str:
    """Cores in a sentence."""
    return "?" if value is None else cores(value)


def part(value: float | None) -> str:
    """A share in a sentence."""
    return "?" if value is None else share(value)
