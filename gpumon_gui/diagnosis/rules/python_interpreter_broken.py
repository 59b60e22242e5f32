"""Knows: a Python that does not start, or does not answer as a Python does. Must not know: packages, GPUs.

A code of its own: while the interpreter does not run, nothing else about its environment can be asked.
"""

from __future__ import annotations

import shlex

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite
from gpumon_gui.diagnosis.versions import OLDEST_PYTHON

_PROBLEM, _DETAIL = "interpreter.problem", "interpreter.problem_detail"
_TITLES = {
    "not-found": N_("There is no Python at {path}: the file, or the one it links to, is gone"),
    "no-python": N_("{path} holds no Python"),
    "no-permission": N_("The Python {path} may not be started by this user"),
    "not-started": N_("The file {path} is no program that this system can start"),
    "crashed": N_("The Python {path} crashes when it starts"),
    "timed-out": N_("The Python {path} did not answer in time"),
    "too-much-memory": N_("The Python {path} takes more and more memory when it starts: it was ended"),
}
_FOLDERS = ("/bin/", "\\scripts\\")


def _check(view: View) -> Outcome:
    problem = view.text(_PROBLEM)
    if problem is None:
        return CLEAR if view.known("interpreter.version") else Lacks((_PROBLEM,))
    if problem == "cancelled":
        return Lacks((_PROBLEM,))
    version = view.version("interpreter.version")
    if version is not None and version[:2] < OLDEST_PYTHON:
        return CLEAR  # it cannot be asked, and may be sound
    sure = problem != "timed-out"  # a slow disk does that too
    values = {"path": view.text("interpreter.path") or "python"}
    evidence = cite(view, _PROBLEM, _DETAIL, "interpreter.path")
    return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, evidence, values, title=_TITLES.get(problem))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    problem = view.text(_PROBLEM)
    python = advice.python_of(view)
    check = advice.check(f"{python} --version")
    if problem == "no-permission" and not advice.is_windows(view):
        return (advice.say(_ALLOW, f"ls -lL {python}; chmod +x {python}"), check)
    if problem == "timed-out":
        return (advice.say(_SLOW), check)
    if problem == "no-python":
        return (advice.say(_NAME_ANOTHER),)
    folder = _folder(view)
    if folder is None:
        return (advice.say(_NAME_ANOTHER), check)
    make = f'py -m venv --clear "{folder}"' if advice.is_windows(view) else f"python3 -m venv --clear {folder}"
    if view.text("interpreter.kind") == "conda":
        return (advice.say(_ANEW_CONDA, "conda env list"), check)
    return (advice.say(_NAME_ANOTHER), advice.say(_ANEW, make), check)


def _folder(view: View) -> str | None:
    """The folder of an environment, by where its interpreter lies; quoted for the shell. Never that of a system."""
    path = view.text("interpreter.path") or ""
    plain = path.lower()
    cut = max(plain.rfind(name) for name in _FOLDERS)
    if cut <= 0 or view.text("interpreter.kind") not in ("venv", "conda"):
        return None
    return path[:cut] if advice.is_windows(view) else shlex.quote(path[:cut])


_ALLOW = N_("See who may start the file; if it is yours, allow it:")
_SLOW = N_(
    "Start it by hand and wait. A network drive, a virus scanner, or code in sitecustomize.py that waits can hold it "
    "up."
)
_NAME_ANOTHER = N_("If the program runs in another Python, examine that one: name it with --python.")
_ANEW = N_(
    "If this is a virtual environment: the Python it was made from was removed, moved or damaged. Make the environment "
    "anew, then install its packages again. This command empties the folder first:"
)
_ANEW_CONDA = N_("Remove this conda environment and create it anew. This lists the environments:")

RULE = Rule(
    code="python-interpreter-broken",
    scope=Scope.ENVIRONMENT,
    step=1,
    severity=Severity.CRASHES,
    title=N_("{path} does not answer as a Python does"),
    help=Help(
        what=N_("Whether the interpreter starts and answers."),
        why=N_("While it does not run, no framework in it can, and nothing can be found out about them."),
        how=N_("It is started with a small program of the standard library. What became of that is the evidence."),
        wrong=N_("A very slow disk looks like an interpreter that hangs. The path may have been mistyped."),
        todo=N_("Make the environment anew with a Python that is there, or name the right interpreter."),
    ),
    check=_check,
    needs=(("interpreter.problem", "interpreter.version"),),
    advise=_advise,
    explains=("wrong-python-environment",),
    links=("https://docs.python.org/3/library/venv.html",),
)
