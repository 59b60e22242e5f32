"""Knows: a scripted machine's processor, memory and process table. Must not know: the real one.

Has the methods of ``telemetry.host.source.HostSource``: it stands in its place in the sampler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpumon_gui.core.clock import Clock, Instant
from gpumon_gui.core.model import HostSample, ProcessPresence, ProcessSample, ProcessUse
from gpumon_gui.core.values import Missing, Reason, Value, checked
from gpumon_gui.telemetry.synthetic.loads import Load, idle, mean, steady

SOURCE = "host"
GIB = 1 << 30

#: Cores in use over so long by a process that does anything.
_WORKS, _LONG_S = 0.05, 600.0


@dataclass(frozen=True, slots=True)
class Person:
    """A process as the operating system knows it. ``cpu``: cores busy. ``from_s``/``until_s``: when this process has
    the pid; ``presence`` is what it is in that time. ``age_s``: how long it had run when the machine was built."""

    pid: int
    name: str
    command: tuple[str, ...] = ()
    cpu: Load = idle
    rss_gib: float = 0.6
    threads: int = 12
    user: str = "ada"
    executable: str = ""
    framework: str = ""
    environment: str = ""
    parents: tuple[str, ...] = ("bash", "systemd")
    presence: ProcessPresence = ProcessPresence.RUNNING
    age_s: float = 3600.0
    from_s: float = float("-inf")
    until_s: float = float("inf")
    on_gpu: bool = True


class SyntheticHost:
    """The operating system of a scripted machine. Its cores do what ``people`` do, and ``load`` with what is left. A
    pid that nobody of ``people`` has is one that has exited, or with ``foreign`` one of another namespace (container,
    WSL)."""

    def __init__(
        self,
        clock: Clock,
        people: Sequence[Person] = (),
        *,
        cores: int = 8,
        ram_gib: int = 32,
        load: Load | None = None,
        foreign: bool = False,
    ) -> None:
        now = clock.now()
        self._begin_s = now.monotonic_s
        self._begin_utc_s = now.utc_s
        self._people = tuple(people)
        self._cores = cores
        self._ram_gib = ram_gib
        self._load = load or steady(0.22, 0.12)
        self._foreign = foreign
        self._before_s: float | None = None
        self.keeps: tuple[object, ...] = ()  #: what must live as long as the machine does

    def open(self) -> None:
        """Nothing to find."""

    def read_host(self, now: Instant) -> HostSample:
        """Processor and memory; the first read has no busy shares yet, as on a real machine."""
        at_s = now.monotonic_s - self._begin_s
        first = self._before_s is None
        self._before_s = now.monotonic_s
        cores = () if first else tuple(self._core(at_s, number) for number in range(self._cores))
        busy: Value = Missing(Reason.FIRST_SAMPLE, SOURCE)
        if cores:
            busy = checked("cpu_utilization", sum(cores) / len(cores), SOURCE)
        return HostSample(
            {
                "cpu_utilization": busy,
                "ram_used_bytes": checked("ram_used_bytes", int((0.31 + 0.02 * self._load(at_s)) * self._ram), SOURCE),
                "ram_total_bytes": checked("ram_total_bytes", self._ram, SOURCE),
                "swap_used_bytes": checked("swap_used_bytes", 0, SOURCE),
                "swap_total_bytes": checked("swap_total_bytes", 8 * GIB, SOURCE),
            },
            cores,
        )

    def describe(
        self, uses: tuple[ProcessUse, ...], now: Instant, *, cpu_processes: bool, pids: tuple[int, ...] = ()
    ) -> tuple[ProcessSample, ...]:
        """The processes that use a GPU, and with ``cpu_processes`` those with a framework that do not; and ``pids``."""
        at_s = now.monotonic_s - self._begin_s
        by_pid: dict[int, list[ProcessUse]] = {}
        for use in uses:
            by_pid.setdefault(use.pid, []).append(use)
        found = [self._one(pid, tuple(mine), at_s) for pid, mine in by_pid.items()]
        if cpu_processes:
            found += [
                self._sample(person, (), at_s)
                for person in self._people
                if not person.on_gpu and person.pid not in by_pid and person.from_s <= at_s < person.until_s
            ]
        there = {sample.pid for sample in found}
        found += [
            self._sample(person, (), at_s)
            for person in self._people
            if person.pid in pids and person.pid not in there and person.from_s <= at_s < person.until_s
        ]
        return tuple(found)

    def close(self) -> None:
        """Nothing to close."""

    @property
    def _ram(self) -> int:
        return self._ram_gib * GIB

    def _core(self, at_s: float, number: int) -> float:
        there = (person for person in self._people if person.from_s <= at_s < person.until_s)
        listed = sum(person.cpu(at_s) for person in there) / self._cores
        others = min(1.0, max(0.0, self._load(at_s + 2.7 * number) * (0.6 + 0.1 * (number % 8))))
        return min(1.0, listed + (1.0 - listed) * others)

    def _one(self, pid: int, uses: tuple[ProcessUse, ...], at_s: float) -> ProcessSample:
        for person in self._people:
            if person.pid == pid and person.from_s <= at_s < person.until_s:
                return self._sample(person, uses, at_s)
        presence = ProcessPresence.FOREIGN if self._foreign else ProcessPresence.EXITED
        return ProcessSample(pid, None, "", presence, uses=uses)

    def _sample(self, person: Person, uses: tuple[ProcessUse, ...], at_s: float) -> ProcessSample:
        started_s = self._begin_utc_s + (person.from_s if person.from_s > 0 else -person.age_s)
        sample = ProcessSample(
            pid=person.pid,
            started_utc_s=started_s,
            name=person.name,
            presence=person.presence,
            ppid=1,
            parents=person.parents,
            command=person.command,
            executable=person.executable,
            user=person.user,
            framework=person.framework,
            environment=person.environment,
            uses=uses,
        )
        if person.presence is not ProcessPresence.RUNNING:
            return sample
        # Who does nothing reads and writes nothing.
        moved_s = max(0.0, at_s) if mean(person.cpu, _LONG_S, _LONG_S) >= _WORKS else 0.0
        return replace(
            sample,
            values={
                "process_cpu": checked("process_cpu", person.cpu(at_s), SOURCE),
                "process_rss_bytes": checked("process_rss_bytes", int(person.rss_gib * GIB), SOURCE),
                "process_threads": checked("process_threads", person.threads, SOURCE),
                "process_read_bytes": checked("process_read_bytes", int(moved_s * 9e6), SOURCE),
                "process_write_bytes": checked("process_write_bytes", int(moved_s * 4e5), SOURCE),
            },
        )
