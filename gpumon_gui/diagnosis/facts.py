"""Knows: the facts document (``gpumon-facts/1``) and how facts are looked up. Must not know: rules, probes, logs.

A fact is addressed by its path (``torch.cuda_build``). Absent means unknown, never false or zero; ``null`` is a value
of its own (``torch.cuda_build: null`` means "built without CUDA").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from gpumon_gui.diagnosis.versions import Version, parse_version

SCHEMA: Final = "gpumon-facts/1"
#: The subject of findings that concern no single environment.
MACHINE: Final = "machine"
#: The subject of an environment that nobody names, such as a log's.
UNNAMED: Final = "environment"
#: Keys that one Python environment has of its own; at the top level they are short for a single environment.
ENVIRONMENT_KEYS: Final = ("interpreter", "packages", "torch", "tensorflow", "onnxruntime", "jax", "cupy")
#: What people say, in their words. No rule may read it: the view does not even offer it.
UNTRUSTED_KEYS: Final = ("observed", "other", "framework")


class Unknown(Enum):
    """The one value for "not known"; it is falsy on purpose only through :func:`known`."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact or signal comes from: a probe's name, ``facts`` (a file) or ``log``; ``line`` counts from 1."""

    source: str
    line: int | None = None
    time_utc_s: float | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """Something a program printed and that means something: read from a log or from what a probe captured.

    ``kind`` is stable (``torch-driver-too-old``), ``framework`` the one that printed it (``torch``, ``tensorflow`` …
    or empty), ``values`` what the message carries (``{"found": 11040}``), ``text`` the line itself.
    """

    kind: str
    origin: Origin
    framework: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """All that is known: facts (validated, without :data:`UNTRUSTED_KEYS`), signals, and where each fact is from.

    ``origins`` maps a path to its origin; the longest path that is a prefix counts. ``log_given`` tells a log without
    signals from no log at all. ``own_signals`` are what each environment printed, in the order of
    ``facts["environments"]``; the machine's view has them too.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    signals: tuple[Signal, ...] = ()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    log_given: bool = False
    own_signals: tuple[tuple[Signal, ...], ...] = ()

    def views(self) -> Iterator[View]:
        """One view of the machine, then one per environment; an environment sees the machine's facts too."""
        shared = {key: value for key, value in self.facts.items() if key not in ("environments", *ENVIRONMENT_KEYS)}
        own = {key: self.facts[key] for key in ENVIRONMENT_KEYS if key in self.facts}
        environments = list(self.facts.get("environments", ()))
        if own or not environments:
            # A single environment at the top level, or a log alone: one subject for everything.
            yield View(MACHINE if not own else _subject(own), {**shared, **own}, self.signals, self.origins, both=True)
        elif environments:
            everything = (*self.signals, *(signal for signals in self.own_signals for signal in signals))
            yield View(MACHINE, shared, everything, self.origins)
        for index, environment in enumerate(environments):
            signals = self.own_signals[index] if index < len(self.own_signals) else ()
            yield View(
                _subject(environment), {**shared, **environment}, signals, self.origins, prefix=f"environments.{index}."
            )
        for index, job in enumerate(self.facts.get("jobs", ())):
            facts = {**{key: value for key, value in shared.items() if key != "jobs"}, "job": job}
            yield View(str(job.get("subject", "job")), facts, (), self.origins, prefix=f"jobs.{index}.", job=True)


def _subject(environment: Mapping[str, Any]) -> str:
    interpreter = environment.get("interpreter")
    path = interpreter.get("path") if isinstance(interpreter, Mapping) else None
    return str(path) if path else UNNAMED


class View:
    """What a rule may see of one subject.

    ``both``: the subject is machine and environment at once, so rules of both scopes apply. ``job``: the subject is a
    program that was watched; its facts are below ``job.`` beside the machine's.
    """

    def __init__(
        self,
        subject: str,
        facts: Mapping[str, Any],
        signals: tuple[Signal, ...] = (),
        origins: Mapping[str, Origin] | None = None,
        *,
        both: bool = False,
        prefix: str = "",
        job: bool = False,
    ) -> None:
        self.subject = subject
        self.both = both
        self.is_job = job
        self._facts = facts
        self._signals = signals
        self._origins = origins or {}
        self._prefix = prefix

    @property
    def is_environment(self) -> bool:
        """Whether rules about one Python environment apply."""
        return not self.is_job and (self.both or self.subject != MACHINE)

    @property
    def is_machine(self) -> bool:
        """Whether rules about the machine apply."""
        return not self.is_job and (self.both or self.subject == MACHINE)

    def get(self, path: str) -> Any:
        """The value at a path, ``None`` for a ``null``, or :data:`UNKNOWN`."""
        found: Any = self._facts
        for name in path.split("."):
            if not isinstance(found, Mapping) or name not in found:
                return UNKNOWN
            found = found[name]
        return found

    def known(self, path: str) -> bool:
        """Whether there is a value (``null`` included)."""
        return self.get(path) is not UNKNOWN

    def text(self, path: str) -> str | None:
        """The text at a path; None when unknown, null or no text."""
        value = self.get(path)
        return value if isinstance(value, str) else None

    def flag(self, path: str) -> bool | None:
        """True or False; None when unknown."""
        value = self.get(path)
        return value if isinstance(value, bool) else None

    def number(self, path: str) -> float | None:
        """The number at a path; None when unknown or no number."""
        value = self.get(path)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def version(self, path: str) -> Version | None:
        """The leading version in the text at a path ("3.8 (conda)" → 3.8); None when there is none."""
        value = self.get(path)
        return parse_version(value) if isinstance(value, str) else None

    def items(self, path: str) -> tuple[Any, ...]:
        """The entries of a list; empty when unknown."""
        value = self.get(path)
        return tuple(value) if isinstance(value, list | tuple) else ()

    def package(self, name: str) -> Version | None:
        """The version of an installed package; None when it is not installed or packages are unknown."""
        packages = self.get("packages")
        value = packages.get(name) if isinstance(packages, Mapping) else None
        return parse_version(value) if isinstance(value, str) else None

    def signals(self, *kinds: str) -> tuple[Signal, ...]:
        """The signals of these kinds, in the order they were printed."""
        return tuple(signal for signal in self._signals if signal.kind in kinds)

    def signal(self, *kinds: str) -> Signal | None:
        """The first signal of these kinds."""
        return next(iter(self.signals(*kinds)), None)

    def origin(self, path: str) -> Origin:
        """Where the fact at a path is from."""
        own = self._prefix + (path.removeprefix("job.") if self.is_job else path)
        for full in (own, path):  # what an environment has not of its own is the machine's
            while full:
                found = self._origins.get(full)
                if found is not None:
                    return found
                full = full.rpartition(".")[0]
        return Origin("facts")
