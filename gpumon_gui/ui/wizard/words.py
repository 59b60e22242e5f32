"""Knows: the wizard's words for states, kinds and marks. Must not know: widgets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.collect import Progress, State
from gpumon_gui.diagnosis.environments.base import Environment, Kind
from gpumon_gui.diagnosis.facts import MACHINE
from gpumon_gui.diagnosis.report import text, words

PROBLEM: Final[dict[str, str]] = {
    "not-found": N_("there is nothing at this path"),
    "no-python": N_("there is no Python in this folder"),
    "silent": N_("it does not answer as a Python does"),
}
STATE: Final[dict[State, str]] = {
    State.RUNNING: N_("running"),
    State.DONE: N_("done"),
    State.FAILED: N_("ended with a problem"),
    State.TIMED_OUT: N_("took too long"),
    State.CANCELLED: N_("cancelled"),
}
#: Verdict → its mark.
VERDICT_MARK: Final[dict[str, str]] = {
    "proven": "good",
    "claimed": "info",
    "fails": "bad",
    "not_measured": "attention",
    "not_installed": "none",
}
PROOF: Final = N_("Proof: {framework}")
_PROOF: Final = "proof-"


def step_title(progress: Progress) -> str:
    """What a step does, in words."""
    if progress.id.startswith(_PROOF):
        name = progress.id.removeprefix(_PROOF)
        return _(PROOF).format(framework=words.FRAMEWORK.get(name, name))
    if progress.id == "interpreter":
        return _("Interpreter and packages")
    return words.FRAMEWORK.get(progress.id) or _(progress.title)


def step_subject(progress: Progress, names: dict[str, str]) -> str:
    """What a step is about: an environment by its name."""
    if progress.subject == MACHINE:
        return _(words.MACHINE)
    return names.get(progress.subject) or text.subject(progress.subject)


def environment_title(environment: Environment, frameworks: Iterable[tuple[str, str]]) -> str:
    """Its name, and what is installed in it."""
    installed = (f"{words.FRAMEWORK.get(name, name)} {version}" for name, version in frameworks)
    return printable(" · ".join((environment.name, *installed)))


def environment_line(environment: Environment, version: str, *, is_silent: bool = False) -> str:
    """Kind, version and path, or what is wrong. ``is_silent``: it was asked for its version and did not say it."""
    problem = environment.problem or ("silent" if is_silent else "")
    parts = []
    if not problem or environment.kind is not Kind.SYSTEM:  # nothing says that it is one
        parts.append(_(words.ENVIRONMENT_KIND.get(environment.kind.value, environment.kind.value)))
    if version:
        parts.append(f"Python {version}")
    if problem:
        parts.append(_(PROBLEM.get(problem, problem)))
    if environment.name != environment.path:
        parts.append(text.subject(environment.path))
    return " · ".join(parts)
