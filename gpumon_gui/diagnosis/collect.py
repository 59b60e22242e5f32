"""Knows: in which order a machine and its environments are asked, and how the answers become one document.
Must not know: what any probe looks for, what the facts mean.

What others use::

    document = collect(LiveGateway(), Options(project="/home/me/work"), on_progress=print, cancel=Event())

Tasks run in threads, few at a time; each asks through the gateway, which ends what hangs. A task that outlives its
deadline all the same (a file system that does not answer) is given up: the rest goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Final

from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.environments.base import Environment, Kind, Wanted, absolute
from gpumon_gui.diagnosis.environments.search import find_environments
from gpumon_gui.diagnosis.facts import Document, Origin, Signal
from gpumon_gui.diagnosis.gateway import Gateway, is_windows
from gpumon_gui.diagnosis.probes import gpus
from gpumon_gui.diagnosis.probes.base import Found, merged
from gpumon_gui.diagnosis.probes.frameworks import FRAMEWORKS, Framework, Read, installed, read_framework
from gpumon_gui.diagnosis.probes.python import Section, run_section, version_of
from gpumon_gui.diagnosis.probes.table import PROBES
from gpumon_gui.diagnosis.probes.variables import that_matter

SEARCH_TITLE: Final = N_("Looking for Python environments")
DRIVER_TITLE: Final = N_("CUDA driver library")

#: Beyond a command's own time-out: a task may run several.
_GRACE_S = 60.0
_MACHINE_S = 90.0
_LOOK_S = 0.1
#: After a cancel, for commands to be ended.
_LEAVE_S = 5.0


@dataclass(frozen=True, slots=True)
class Options:
    """``frameworks`` limits which are asked; ``at_once`` how many tasks run side by side. ``given`` are facts that the
    caller measured already (telemetry): they count before the probes'. ``environments`` (chosen by a person from those
    that were found before): these are taken, none is looked for."""

    wanted: Wanted = field(default_factory=Wanted)
    machine: bool = True
    frameworks: tuple[str, ...] = tuple(framework.name for framework in FRAMEWORKS)
    interpreter_timeout_s: float = 30.0
    framework_timeout_s: float = 120.0
    at_once: int = 3
    given: Mapping[str, Any] = field(default_factory=dict)
    environments: tuple[Environment, ...] | None = None


class State(StrEnum):
    """Of one step, for people who watch."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  #: ended too early; ``detail`` is its problem
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Progress:
    """A step changed its state. ``id`` is stable (``nvidia-smi``, ``search``, ``torch``), ``subject`` the interpreter's
    path or ``machine``, ``title`` a message id or a program's name. ``total`` grows while environments are found."""

    id: str
    subject: str
    title: str
    state: State
    done: int
    total: int
    seconds: float = 0.0
    detail: str = ""


@dataclass(slots=True)
class _Task:
    id: str
    subject: str
    title: str
    work: Callable[[], Any]
    finish: Callable[[Any], str]  # takes the result; the problem's name, or empty
    limit_s: float
    begin_s: float = 0.0


def collect(
    gateway: Gateway,
    options: Options | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: Event | None = None,
    clock: Clock | None = None,
) -> Document:
    """Ask everything. ``on_progress`` is called in the calling thread. When cancelled, what is known so far comes."""
    run = _Run(gateway, options or Options(), on_progress or (lambda _progress: None), cancel or Event(), clock)
    return run.all()


@dataclass(slots=True)
class _Subject:
    """An environment and what is known of it."""

    environment: Environment
    facts: dict[str, Any]
    signals: list[Signal] = field(default_factory=list)
    works: bool | None = None  #: whether its interpreter does; None: not known yet


class _Run:
    def __init__(
        self,
        gateway: Gateway,
        options: Options,
        on_progress: Callable[[Progress], None],
        cancel: Event,
        clock: Clock | None,
    ) -> None:
        if options.wanted.project is not None:
            wanted = replace(options.wanted, project=absolute(gateway, options.wanted.project))
            options = replace(options, wanted=wanted)
        self._gateway = gateway
        self._options = options
        self._on_progress = on_progress
        self._cancel = cancel
        self._clock = clock or SystemClock()
        self._waiting: deque[_Task] = deque()
        self._running: dict[int, _Task] = {}
        self._ended: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self._threads: dict[int, Thread] = {}
        self._next = self._done = self._total = 0
        self._machine: dict[str, Found] = {}
        self._subjects: list[_Subject] = []
        self._driver: dict[str, Any] = {}
        self._driver_asked = False
        self._utc_s: dict[str, float] = {}

    # -- the loop -------------------------------------------------------------------------------------------------

    def all(self) -> Document:
        if self._options.machine:
            for probe in PROBES:
                if probe.of_windows and not is_windows(self._gateway):
                    continue
                work = lambda probe=probe: probe.probe(self._gateway, self._cancel)  # noqa: E731
                finish = lambda found, probe=probe: self._of_machine(probe.id, found)  # noqa: E731
                self._add(_Task(probe.id, "machine", probe.title, work, finish, _MACHINE_S))
        if self._options.environments is not None:
            self._of_search(self._options.environments)
        else:
            search = lambda: find_environments(self._gateway, self._options.wanted, self._cancel)  # noqa: E731
            self._add(_Task("search", "machine", SEARCH_TITLE, search, self._of_search, _MACHINE_S))
        while (self._waiting or self._running) and not self._cancel.is_set():
            self._start_some()
            self._take(_LOOK_S)
            self._give_up()
        self._leave()
        return self._document()

    def _add(self, task: _Task, *, first: bool = False) -> None:
        self._total += 1
        if first:
            self._waiting.appendleft(task)
        else:
            self._waiting.append(task)

    def _start_some(self) -> None:
        while self._waiting and len(self._running) < self._options.at_once:
            task = self._waiting.popleft()
            number = self._next = self._next + 1
            task.begin_s = self._clock.now().monotonic_s
            self._running[number] = task
            self._tell(task, State.RUNNING)
            thread = Thread(target=self._perform, args=(number, task.work), name=f"gpumon-probe-{task.id}", daemon=True)
            self._threads[number] = thread
            thread.start()

    def _perform(self, number: int, work: Callable[[], Any]) -> None:
        """Thread."""
        try:
            result: Any = work()
        except Exception as error:  # noqa: BLE001 - a fault of ours in one probe must not lose the others
            result = error
        self._ended.put((number, result))

    def _take(self, wait_s: float) -> None:
        try:
            number, result = self._ended.get(timeout=wait_s)
        except Empty:
            return
        self._threads.pop(number).join()
        task = self._running.pop(number, None)
        if task is None:
            return  # given up before
        if isinstance(result, Exception):
            problem = f"{type(result).__name__}: {result}"
        else:
            self._utc_s[f"{task.subject}|{task.id}"] = self._gateway.time_utc_s()
            problem = task.finish(result)
        self._done += 1
        state = State.FAILED if problem else State.DONE
        if problem in ("timed-out", "cancelled"):
            state = State(problem)
        self._tell(task, state, problem)

    def _give_up(self) -> None:
        now_s = self._clock.now().monotonic_s
        for number, task in list(self._running.items()):
            if now_s - task.begin_s > task.limit_s:
                del self._running[number]
                self._done += 1
                self._tell(task, State.TIMED_OUT, "timed-out")

    def _leave(self) -> None:
        end_s = self._clock.now().monotonic_s + _LEAVE_S
        while self._running and self._clock.now().monotonic_s < end_s:
            self._take(_LOOK_S)
        for task in (*self._running.values(), *self._waiting):
            self._done += 1
            self._tell(task, State.CANCELLED, "cancelled")

    def _tell(self, task: _Task, state: State, detail: str = "") -> None:
        seconds = round(self._clock.now().monotonic_s - task.begin_s, 3) if task.begin_s else 0.0
        self._on_progress(Progress(task.id, task.subject, task.title, state, self._done, self._total, seconds, detail))

    # -- what came back -------------------------------------------------------------------------------------------

    def _of_machine(self, name: str, found: Found) -> str:
        self._machine[name] = found
        return ""

    def _of_search(self, environments: tuple[Environment, ...]) -> str:
        for environment in environments:
            subject = _Subject(environment, _place(environment))
            self._subjects.append(subject)
            if environment.problem:
                subject.works = False
                continue
            work = lambda environment=environment: self._ask_interpreter(environment)  # noqa: E731
            finish = lambda section, subject=subject: self._of_interpreter(subject, section)  # noqa: E731
            limit_s = self._options.interpreter_timeout_s + _GRACE_S
            self._add(_Task("interpreter", environment.path, environment.name, work, finish, limit_s))
        return ""

    def _ask_interpreter(self, environment: Environment) -> Section:
        section = self._section(environment, "interpreter")
        if section.problem == "failed" and "interpreter" not in section.facts:
            version = version_of(self._gateway, environment, self._cancel)
            if version is not None:
                section.facts["interpreter"] = {"version": version}
        return section

    def _section(self, environment: Environment, name: str) -> Section:
        return run_section(
            self._gateway,
            environment,
            name,
            project=self._options.wanted.project,
            timeout_s=self._options.interpreter_timeout_s,
            cancel=self._cancel,
        )

    def _of_interpreter(self, subject: _Subject, section: Section) -> str:
        environment = subject.environment
        facts = merged(section.facts, subject.facts)
        # The path to call it by; sys.executable may name another file behind a link or a launcher.
        told = facts["interpreter"].pop("path", None)
        facts["interpreter"]["path"] = environment.path
        if told and told != environment.path:
            facts["interpreter"]["executable"] = told
        if section.problem:
            facts["interpreter"]["problem"] = section.problem
            facts["interpreter"]["problem_detail"] = section.detail
        subject.facts = facts
        subject.works = not section.problem
        self._ask_driver()
        if section.problem:
            return section.problem
        for framework in FRAMEWORKS:
            if framework.name not in self._options.frameworks:
                continue
            if not installed(facts, framework):
                facts[framework.name] = {"version": None}
                continue
            self._add(self._framework_task(subject, framework))
        return ""

    def _ask_driver(self) -> None:
        """By the first interpreter that works, whichever answers first: twice the same machine, twice the same way."""
        native = (subject for subject in self._subjects if not subject.environment.distribution)
        first = next((subject for subject in native if subject.works is not False), None)
        if first is None or first.works is None or self._driver_asked or not self._options.machine:
            return
        self._driver_asked = True
        environment = first.environment
        work = lambda: self._section(environment, "driver")  # noqa: E731
        limit_s = self._options.interpreter_timeout_s + _GRACE_S
        self._add(_Task("driver", "machine", DRIVER_TITLE, work, self._of_driver, limit_s), first=True)

    def _framework_task(self, subject: _Subject, framework: Framework) -> _Task:
        def work() -> Read:
            return read_framework(
                self._gateway,
                subject.environment,
                framework,
                subject.facts,
                project=self._options.wanted.project,
                timeout_s=self._options.framework_timeout_s,
                cancel=self._cancel,
            )

        def finish(read: Read) -> str:
            if read.problem != "cancelled":
                subject.facts[framework.name] = read.facts
                subject.signals += read.signals
            return read.problem

        limit_s = 2 * self._options.framework_timeout_s + _GRACE_S
        return _Task(framework.name, subject.environment.path, framework.name, work, finish, limit_s)

    def _of_driver(self, section: Section) -> str:
        self._driver = dict(section.facts.get("driver", {}))
        if section.problem:
            self._driver["cuda_library_problem"] = section.problem
            self._driver["cuda_library_stage"] = section.stage
        return section.problem

    # -- the document ---------------------------------------------------------------------------------------------

    def _document(self) -> Document:
        parts = {name: dict(found.facts) for name, found in self._machine.items()}
        lists = {name: part.pop("gpus") for name, part in parts.items() if "gpus" in part}
        given = dict(self._options.given)
        driver = dict(self._driver)
        level = driver.get("cuda_library_level")
        if level and self._machine:
            driver.setdefault("cuda_version", level)  # nvidia-smi's own word counts first
        machine = [parts[probe.id] for probe in PROBES if probe.id in parts]
        facts = merged(given, *machine, {"driver": driver} if driver else {})
        facts |= self._of_gpus(given, lists)
        if "pci" in lists or "registry" in lists:
            facts["host"] = {**facts.get("host", {}), "hybrid_graphics": gpus.is_hybrid(facts.get("gpus", ()))}
        origins = {
            path: Origin(probe.id, time_utc_s=self._utc_s.get(f"machine|{probe.id}"))
            for probe in reversed(PROBES)
            for path in _leaves(self._machine[probe.id].facts if probe.id in self._machine else {})
        }
        for path in _leaves({"driver": self._driver} if self._driver else {}):
            origins.setdefault(path, Origin("driver", time_utc_s=self._utc_s.get("machine|driver")))
        if self._options.wanted.pid is not None:
            facts["process"] = self._process_facts(self._options.wanted.pid)
        if self._subjects:
            facts["environments"] = [subject.facts for subject in self._subjects]
        for index, subject in enumerate(self._subjects):
            for name in subject.facts:
                source = name if name in self._options.frameworks else "interpreter"
                time_utc_s = self._utc_s.get(f"{subject.environment.path}|{source}")
                origins[f"environments.{index}.{name}"] = Origin(source, time_utc_s=time_utc_s)
        signals = tuple(signal for found in self._machine.values() for signal in found.signals)
        own = tuple(tuple(subject.signals) for subject in self._subjects)
        return Document(facts, signals, origins, own_signals=own)

    def _of_gpus(self, given: Mapping[str, Any], lists: Mapping[str, Any]) -> dict[str, Any]:
        if "gpus" in given:
            return {}
        by_driver = lists.get("nvidia-smi", [])
        by_system = lists.get("pci", lists.get("registry"))
        if not by_driver and by_system is None:
            return {}
        found = gpus.joined(by_driver, by_system or [])
        facts: dict[str, Any] = {"gpus": found, "gpu_count": gpus.count(found)}
        return facts

    def _process_facts(self, pid: int) -> dict[str, Any]:
        found: dict[str, Any] = {"pid": pid}
        for subject in self._subjects:
            if subject.environment.variables:
                found["interpreter"] = subject.environment.path
                found["environment"] = that_matter(subject.environment.variables, windows=is_windows(self._gateway))
        return found


def _place(environment: Environment) -> dict[str, Any]:
    """What is known of an environment before its interpreter ran."""
    interpreter: dict[str, Any] = {
        "path": environment.path,
        "kind": environment.kind.value,
        "name": environment.name,
        "found_by": list(environment.origins),
    }
    if environment.on_path_as:
        interpreter["on_path_as"] = list(environment.on_path_as)
    if environment.base:
        interpreter["base"] = environment.base
    if environment.problem:
        interpreter["problem"] = environment.problem
    if environment.kind is Kind.WSL:
        interpreter["wsl_distribution"] = environment.distribution
        return {"interpreter": interpreter, "os": {"family": "linux", "name": environment.distribution, "wsl": True}}
    return {"interpreter": interpreter}


def _leaves(facts: Mapping[str, Any], path: str = "") -> list[str]:
    found = []
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            found += _leaves(value, f"{path}{name}.")
        else:
            found.append(f"{path}{name}")
    return found
