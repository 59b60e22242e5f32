"""Knows: how looks at processes become samples; what is remembered of each. Must not know: which system answers.

Lasting facts are kept per process, told apart by pid and start time, and read again when its short name changes (it
became another program). A process that nobody asks for any more is forgotten.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import ProcessPresence, ProcessSample, ProcessUse
from gpumon_gui.core.values import Missing, Reason, Value, checked
from gpumon_gui.telemetry.host.backend import Backend, Facts, Gone, Hidden, Vital
from gpumon_gui.telemetry.host.cpu import FIRST, SHORTEST_S, SOURCE
from gpumon_gui.telemetry.host.environment import environment_name, find_program, program_prefix
from gpumon_gui.telemetry.host.family import Families
from gpumon_gui.telemetry.host.framework import frameworks, prefix_of

#: A program imports its framework some time after its start; seconds after the first look, then every last one.
LOOKS_S = (0.0, 2.0, 5.0, 15.0, 60.0)
SCAN_S = 5.0
_LABEL_YOUNG_S = 15.0  # fork, then exec: a new process changes its name soon if ever
_LABEL_OLD_EVERY = 12  # older ones are asked in every twelfth scan, in turns
_MAX_PARENTS = 16

#: Short names of programs that run Python code. PyTorch calls its threads pt_…; console scripts keep their own name.
_PYTHON_LIKE = re.compile(
    r"(?:python|pypy|ipython|jupyter|ipykernel|pt_|torchrun|accelerate|deepspeed|ray:|vllm|uvicorn|gunicorn|streamlit)",
    re.IGNORECASE,
)
_PYTHON_PROGRAM = re.compile(r"(?:python|pypy)[\d.]*w?(?:\.exe)?", re.IGNORECASE)

_VALUES = ("process_cpu", "process_rss_bytes", "process_threads", "process_read_bytes", "process_write_bytes")


@dataclass(slots=True)
class _Record:
    """What is remembered of one process."""

    start: float
    label: str
    facts: Facts
    first_look_s: float
    ppid: int = -1
    parents: tuple[str, ...] = ()
    looks: int = 0
    framework: str = ""
    environment: str = ""
    cpu: tuple[float, float] | None = None  # seconds used, monotonic seconds
    cpu_value: Value = field(default=FIRST)


@dataclass(slots=True)
class _Seen:
    """A pid met in scans, and its short name then."""

    since_s: float
    label: str


class Processes:
    """All processes of interest."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._records: dict[int, _Record] = {}
        self._seen: dict[int, _Seen] = {}
        self._candidates: tuple[int, ...] = ()
        self._scanned_s: float | None = None
        self._cycle = 0
        self._foreign: bool | None = None
        self._families = Families(backend)

    def describe(
        self, uses: tuple[ProcessUse, ...], now: Instant, *, cpu_processes: bool, pids: tuple[int, ...] = ()
    ) -> tuple[ProcessSample, ...]:
        """One sample per pid of ``uses``, in order; then those of the scan; then ``pids`` and their descendants."""
        grouped: dict[int, list[ProcessUse]] = {}
        for use in uses:
            grouped.setdefault(use.pid, []).append(use)
        samples = [self._sample(pid, tuple(of_pid), now) for pid, of_pid in grouped.items()]
        kept = set(grouped)
        if cpu_processes:
            for pid in self._python_like(now):
                if pid not in grouped:
                    kept.add(pid)
                    sample = self._sample(pid, (), now)
                    if sample.framework and sample.presence is ProcessPresence.RUNNING:
                        samples.append(sample)
        if pids:
            there = {sample.pid for sample in samples}
            for pid in self._families.of(pids, now.monotonic_s):
                kept.add(pid)
                if pid not in there:
                    sample = self._sample(pid, (), now)
                    if sample.presence in (ProcessPresence.RUNNING, ProcessPresence.ZOMBIE):
                        samples.append(sample)
        self._records = {pid: record for pid, record in self._records.items() if pid in kept}
        return tuple(samples)

    # -- one process

    def _sample(self, pid: int, uses: tuple[ProcessUse, ...], now: Instant) -> ProcessSample:
        try:
            vital = self._backend.vital(pid)
            record = self._record(pid, vital, now)
        except Hidden:
            return _bare(pid, uses, ProcessPresence.RUNNING, Missing(Reason.NO_PERMISSION, SOURCE))
        except Gone:
            return self._gone(pid, uses)
        if not vital.zombie:
            self._look_inside(pid, record, now)
        values: dict[str, Value] = {
            "process_cpu": _cpu(record, vital, now),
            "process_rss_bytes": vital.rss_bytes,
            "process_threads": vital.threads,
            "process_read_bytes": vital.read_bytes,
            "process_write_bytes": vital.write_bytes,
        }
        presence = ProcessPresence.ZOMBIE if vital.zombie else ProcessPresence.RUNNING
        return _sample(pid, uses, presence, record, values)

    def _gone(self, pid: int, uses: tuple[ProcessUse, ...]) -> ProcessSample:
        """A pid the system does not know. One that was here has exited; one that never was may be foreign."""
        record = self._records.get(pid)
        if record is not None:
            missing = Missing(Reason.NOT_READ, SOURCE, "exited")
            return _sample(pid, uses, ProcessPresence.EXITED, record, dict.fromkeys(_VALUES, missing))
        if self._foreign is None:
            self._foreign = self._backend.foreign_pids()
        presence = ProcessPresence.FOREIGN if self._foreign else ProcessPresence.EXITED
        return _bare(pid, uses, presence, Missing(Reason.NOT_READ, SOURCE, str(presence)))

    def _record(self, pid: int, vital: Vital, now: Instant) -> _Record:
        record = self._records.get(pid)
        if record is None or record.start != vital.start:
            facts = self._backend.facts(pid, vital.label)
            record = _Record(vital.start, vital.label, facts, now.monotonic_s)
            record.environment = environment_name(_prefixes(facts, ""))
            self._records[pid] = record
        elif record.label != vital.label and not vital.zombie:
            record.facts = self._backend.facts(pid, vital.label)
            record.label = vital.label
            record.environment = environment_name(_prefixes(record.facts, ""))
            record.first_look_s, record.looks, record.framework = now.monotonic_s, 0, ""
        if record.ppid != vital.ppid:
            record.ppid = vital.ppid
            record.parents = self._parents(vital.ppid)
        return record

    def _parents(self, ppid: int) -> tuple[str, ...]:
        """Names up the tree, nearest first."""
        names: list[str] = []
        while ppid > 0 and len(names) < _MAX_PARENTS:
            try:
                name, ppid = self._backend.family(ppid)
            except (Gone, PermissionError):
                break
            names.append(name)
        return tuple(names)

    def _look_inside(self, pid: int, record: _Record, now: Instant) -> None:
        """Which framework is loaded: looked up at :data:`LOOKS_S` until one is found."""
        if record.framework:
            return
        last = LOOKS_S[-1]
        due = LOOKS_S[record.looks] if record.looks < len(LOOKS_S) else last * (record.looks - len(LOOKS_S) + 2)
        if now.monotonic_s - record.first_look_s < due:
            return
        record.looks += 1
        modules = self._backend.modules(pid)
        if not modules:
            return
        record.framework = frameworks(modules)
        if record.framework:
            record.environment = environment_name(_prefixes(record.facts, prefix_of(modules)))

    # -- the scan

    def _python_like(self, now: Instant) -> tuple[int, ...]:
        """Processes with a name like Python's, this one left out; all names only once, then those of new pids."""
        if self._scanned_s is not None and now.monotonic_s - self._scanned_s < SCAN_S:
            return self._candidates
        self._scanned_s = now.monotonic_s
        self._cycle += 1
        try:
            pids = self._backend.pids()
        except OSError:
            return self._candidates
        seen: dict[int, _Seen] = {}
        for pid in pids:
            known = self._seen.get(pid)
            if known is None:
                known = _Seen(now.monotonic_s, self._label(pid))
            elif now.monotonic_s - known.since_s < _LABEL_YOUNG_S or pid % _LABEL_OLD_EVERY == (
                self._cycle % _LABEL_OLD_EVERY
            ):
                known.label = self._label(pid)
            seen[pid] = known
        self._seen = seen
        own = os.getpid()
        self._candidates = tuple(pid for pid, was in seen.items() if pid != own and _PYTHON_LIKE.match(was.label))
        return self._candidates

    def _label(self, pid: int) -> str:
        try:
            return self._backend.label(pid)
        except (Gone, PermissionError):
            return ""


def _cpu(record: _Record, vital: Vital, now: Instant) -> Value:
    """CPU seconds per second since the look before; 1.0 is one core."""
    if isinstance(vital.cpu_s, Missing):
        return vital.cpu_s
    before = record.cpu
    if before is None:
        record.cpu, record.cpu_value = (vital.cpu_s, now.monotonic_s), FIRST
        return FIRST
    elapsed = now.monotonic_s - before[1]
    if elapsed < SHORTEST_S:
        return record.cpu_value
    record.cpu = (vital.cpu_s, now.monotonic_s)
    used = vital.cpu_s - before[0]
    record.cpu_value = checked("process_cpu", used / elapsed, SOURCE) if used >= 0.0 else FIRST
    return record.cpu_value


def _prefixes(facts: Facts, of_modules: str) -> Iterable[str]:
    """Where the process's Python may live, best witness first: a venv's python is a link, so what was typed tells
    more than the executable; a bare name is resolved as its shell did; where libraries come from; the executable.

    A name that was not typed like Python's is a console script, whose folder tells as much."""
    typed = facts.command[0] if facts.command else ""
    if os.path.dirname(typed):
        yield program_prefix(typed)
    elif typed and _PYTHON_PROGRAM.fullmatch(typed):
        yield program_prefix(find_program(typed, facts.search_path))
    yield of_modules
    if facts.executable:
        yield program_prefix(facts.executable)


def _sample(
    pid: int, uses: tuple[ProcessUse, ...], presence: ProcessPresence, record: _Record, values: dict[str, Value]
) -> ProcessSample:
    facts = record.facts
    return ProcessSample(
        pid=pid,
        started_utc_s=facts.started_utc_s,
        name=facts.name,
        presence=presence,
        ppid=record.ppid,
        parents=record.parents,
        command=facts.command,
        executable=facts.executable,
        user=facts.user,
        framework=record.framework,
        environment=record.environment,
        uses=uses,
        values=values,
    )


def _bare(pid: int, uses: tuple[ProcessUse, ...], presence: ProcessPresence, missing: Missing) -> ProcessSample:
    return ProcessSample(pid, None, "", presence, uses=uses, values=dict.fromkeys(_VALUES, missing))
