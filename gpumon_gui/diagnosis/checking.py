"""Knows: the whole way from what a person asked to the judged answer, and how far it has come.
Must not know: threads, windows, where the answer is kept.

What others use::

    result = check(ask, Tools(LiveGateway(), LiveInstruments, clock), on_step=print, cancel=Event())
    again = check_again(result, "machine", tools, on_step=print, cancel=Event())
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.files import read_start
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.again import narrowed, spliced
from gpumon_gui.diagnosis.ask import Ask, Proving, Result
from gpumon_gui.diagnosis.collect import Options, Progress, State, collect
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.environments.base import Environment, Wanted
from gpumon_gui.diagnosis.environments.search import find_environments
from gpumon_gui.diagnosis.facts import MACHINE, Document
from gpumon_gui.diagnosis.gateway import Gateway
from gpumon_gui.diagnosis.given import Given, attached, combined
from gpumon_gui.diagnosis.proof.proved import OwnInstruments, proved
from gpumon_gui.diagnosis.proof.run import Options as ProofOptions
from gpumon_gui.diagnosis.rules.table import RULES

#: Titles of the steps that are no probe's.
READING: Final[dict[str, str]] = {
    "facts": N_("Reading the facts"),
    "log": N_("Reading the log"),
    "profile": N_("Reading the profile"),
    "script": N_("Reading the script"),
}
PROCESS: Final = N_("Looking for the process's interpreter")
JUDGING: Final = N_("Judging what was found")

#: A proof's phases are together so many times as long as one of them; what comes before them takes about so long.
_PHASES: Final = 8.9
_BEFORE_S: Final = 1.5
#: Shorter phases are not seen by instruments that are renewed six times a second.
_SHORTEST_S: Final = 0.3
#: A slow card or driver is given this much more before the script ends itself.
_PATIENCE_S: Final = 20.0


class Cancelled(Exception):  # noqa: N818
    """The person does not want to know any more."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a check works with."""

    gateway: Gateway
    instruments: Callable[[], OwnInstruments]
    clock: Clock


@dataclass(frozen=True, slots=True)
class Step:
    """A step changed its state, and how far (0..1) the whole has come by that; never less than before."""

    progress: Progress
    fraction: float


def proof_options(proving: Proving) -> ProofOptions:
    """The proof's options that keep the limits a person chose."""
    phase_s = max(_SHORTEST_S, (proving.seconds - _BEFORE_S) / _PHASES)
    return ProofOptions(
        memory_share=proving.memory_share, phase_s=round(phase_s, 2), per_gpu_s=proving.seconds + _PATIENCE_S
    )


def check(ask: Ask, tools: Tools, on_step: Callable[[Step], None], cancel: Event) -> Result:
    """Look, compute, read, judge. Raises UnreadableInput for what was given, Cancelled."""
    way = _Way(ask, tools, on_step, cancel)
    ask, document = way.go()
    return _judged(ask, document, tools, way)


def check_again(
    before: Result, subject: str | None, tools: Tools, on_step: Callable[[Step], None], cancel: Event
) -> Result:
    """The same result with one subject looked at again; None: everything. Raises as :func:`check`."""
    if subject is None or not before.ask.machine:
        return check(before.ask, tools, on_step, cancel)
    way = _Way(narrowed(before.ask, before.document, subject), tools, on_step, cancel)
    _ask, document = way.go()
    return _judged(before.ask, spliced(before.document, document), tools, way)


def _judged(ask: Ask, document: Document, tools: Tools, way: _Way) -> Result:
    way.stop_if_cancelled()
    way.own_step("judge", MACHINE, JUDGING, State.RUNNING)
    diagnosis = diagnose(document, RULES)
    way.own_step("judge", MACHINE, JUDGING, State.DONE)
    # The variables of a process may hold secrets; they are read again when they are needed again.
    ask = replace(ask, environments=tuple(replace(each, variables={}) for each in ask.environments))
    return Result(ask, document, diagnosis, tools.clock.now().utc_s)


class _Way:
    """One check. Shares of the whole: what is given and the process 10 % (alone 95 %), the proof 45 % where
    there is one."""

    def __init__(self, ask: Ask, tools: Tools, on_step: Callable[[Step], None], cancel: Event) -> None:
        self._ask = ask
        self._tools = tools
        self._on_step = on_step
        self._cancel = cancel
        self._fraction = 0.0
        self._read = 0.0  #: where what is given stood before the part that is read now
        self._from, self._to = 0.0, 0.1
        self._begin_s: dict[tuple[str, str], float] = {}

    def go(self) -> tuple[Ask, Document]:
        """What was asked, with the process's environment, and everything that is known."""
        given = self._read_given()
        if not self._ask.machine:
            return self._ask, given
        ask = self._with_process()
        self._from, self._to = 0.1, 0.95 if ask.proving is None else 0.5
        wanted = Wanted(pid=ask.pid, everywhere=False)
        options = Options(wanted, environments=ask.environments)
        document = collect(self._tools.gateway, options, self._tell, self._cancel, self._tools.clock)
        self.stop_if_cancelled()
        if ask.proving is not None:
            self._from, self._to = 0.5, 0.95
            document = proved(
                self._tools.gateway,
                document,
                self._tools.instruments,
                self._tell,
                self._cancel,
                proof_options(ask.proving),
            )
            self.stop_if_cancelled()
        return ask, attached(document, given, ask.runs_in)

    def stop_if_cancelled(self) -> None:
        """Raises Cancelled."""
        if self._cancel.is_set():
            raise Cancelled

    def own_step(self, name: str, subject: str, title: str, state: State, detail: str = "") -> None:
        """Tell of a step that is not a probe's."""
        now_s = self._tools.clock.now().monotonic_s
        begin_s = self._begin_s.setdefault((name, subject), now_s)
        seconds = round(now_s - begin_s, 3)
        self._emit(Progress(name, subject, title, state, 0, 0, seconds, detail), self._fraction)

    def _read_given(self) -> Document:
        given = self._ask.given
        document = Document()
        parts: list[tuple[str, str, Given]] = []
        if given.facts is not None:
            parts.append(("facts", given.facts.name, Given(facts=given.facts)))
        parts += [("log", log.name, Given(logs=(log,))) for log in given.logs]
        if given.log_text.strip():
            parts.append(("log", "", Given(log_text=given.log_text)))
        if given.profile is not None:
            parts.append(("profile", given.profile.name, Given(profile=given.profile)))
        parts += [("script", script.name, Given(scripts=(script,))) for script in given.scripts]
        for number, (name, subject, part) in enumerate(parts, start=1):
            self.stop_if_cancelled()
            subject = subject or _("pasted text")
            self.own_step(name, subject, READING[name], State.RUNNING)
            until = (0.1 if self._ask.machine else 0.95) * number / len(parts)
            self._read = self._fraction
            try:
                document = combined(part, document, partial(self._look, name, subject, _size(part), until))
            except GpumonError as error:
                self.own_step(name, subject, READING[name], State.FAILED, str(error))
                raise
            self._fraction = until
            self.own_step(name, subject, READING[name], State.DONE)
        return document

    def _look(self, name: str, subject: str, size: int, until: float, done: int) -> None:
        """Before each part of a log, which may have gigabytes: ends when nobody waits any more, else tells how far it
        has come. ``until`` is the share of the whole when all of it is read."""
        self.stop_if_cancelled()
        fraction = self._read + (until - self._read) * min(1.0, done / size) if size else 0.0
        if fraction > self._fraction + 0.001:
            self._fraction = fraction
            self.own_step(name, subject, READING[name], State.RUNNING)

    def _with_process(self) -> Ask:
        """The process's interpreter is among the environments, with the variables the process has."""
        ask = self._ask
        if ask.pid is None:
            return ask
        self.own_step("process", str(ask.pid), PROCESS, State.RUNNING)
        wanted = Wanted(pid=ask.pid, everywhere=False)
        found = find_environments(self._tools.gateway, wanted, self._cancel)
        state = State.DONE if found else State.FAILED
        self.own_step("process", str(ask.pid), PROCESS, state, "" if found else "not-found")
        if not found:
            return ask
        return replace(ask, environments=_joined(ask.environments, found), runs_in=ask.runs_in or found[0].path)

    def _tell(self, progress: Progress) -> None:
        share = progress.done / progress.total if progress.total else 0.0
        self._emit(progress, self._from + (self._to - self._from) * share)

    def _emit(self, progress: Progress, fraction: float) -> None:
        self._fraction = max(self._fraction, fraction)
        self._on_step(Step(progress, self._fraction))


def _joined(known: tuple[Environment, ...], more: tuple[Environment, ...]) -> tuple[Environment, ...]:
    """Each interpreter once; the process's variables go to the one that is known already."""
    new = {environment.path: environment for environment in more}
    joined = tuple(
        replace(environment, variables=new.pop(environment.path).variables) if environment.path in new else environment
        for environment in known
    )
    return (*new.values(), *joined)


def _size(given: Given) -> int:
    """Bytes of a log; 0: unknown."""
    with suppress(OSError, ValueError):
        return sum(log.stat().st_size for log in given.logs) + len(given.log_text)
    return 0


def file_kind(path: Path) -> str:
    """What a dropped file most likely is: ``script``, ``facts``, ``profile`` or ``log``."""
    name = path.name.lower()
    if name.endswith((".py", ".ipynb", ".pyw")):
        return "script"
    if path.is_dir() or name.endswith((".pb", ".pickle", ".pkl", ".xplane", ".trace", ".gz", ".zip")):
        return "profile"
    if name.endswith(".json"):
        return "facts" if _is_facts(path) else "profile"
    return "log"


def _is_facts(path: Path) -> bool:
    """By the schema near the beginning."""
    try:
        head = read_start(path, 4096)
    except (OSError, ValueError):
        return False
    return b"gpumon-facts/" in head or b"gpumon-report/" in head
