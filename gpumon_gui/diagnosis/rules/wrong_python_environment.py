"""Knows: programs that run in another Python than the one set up. Must not know: builds, drivers."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_MISSING, _SHADOWED = "framework-not-found", "framework-shadowed"
_SHADOW_TITLE = N_("A file of your own hides the module {module}")
_INACTIVE_TITLE = N_("The program runs outside the Python environment that was set up")
_OUTSIDE_TITLE = N_("An environment is activated, and the program runs in a Python outside it")
_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_INACTIVE = "not activated"


def _check(view: View) -> Outcome:
    shadowed = view.signal(_SHADOWED)
    if shadowed is not None:
        values = {"module": str(shadowed.values.get("module", ""))}
        return Hit(Confidence.MEDIUM, quote(shadowed), values, title=_SHADOW_TITLE)
    kind = view.text("interpreter.kind") or ""
    if _INACTIVE in kind.lower():
        return Hit(Confidence.HIGH, cite(view, "interpreter.kind", "interpreter.path"), title=_INACTIVE_TITLE)
    missing = view.signal(_MISSING)
    if missing is None:
        return _by_variables(view)
    module = str(missing.values.get("module", ""))
    packages = machine.known_packages(view)
    installed = view.text(f"{module}.version") is not None or (packages is not None and module in packages)
    evidence = quote(missing) + cite(view, "interpreter.path", f"{module}.version")
    # The same module is installed in the environment that was looked at: then another Python printed this.
    return Hit(Confidence.HIGH if installed else Confidence.LOW, evidence, {"module": module})


def _by_variables(view: View) -> Outcome:
    """An environment is activated, and the program's Python lies outside it. Of a single program only: the variables
    of one shell say nothing about the other environments of a machine."""
    path = _plain(view.text("interpreter.path"))
    if not path:
        return Lacks(("interpreter.path", "log"))
    for name in _VARIABLES:
        folder = _plain(view.text(f"environment.{name}"))
        if view.both and folder and not path.startswith(folder):
            evidence = cite(view, "interpreter.path", f"environment.{name}")
            return Hit(Confidence.LOW, evidence, title=_OUTSIDE_TITLE)
    return CLEAR


def _plain(path: str | None) -> str:
    return (path or "").replace("\\", "/").rstrip("/").lower()


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if hit.title == _SHADOW_TITLE:
        module = hit.values["module"]
        return (
            advice.say(
                N_("Rename the file {module}.py in the folder of your program, and delete its __pycache__ folder."),
                module=module,
            ),
            advice.check(advice.run_python(view, f"import {module}; print({module}.__file__)")),
        )
    module = hit.values.get("module", "torch")
    return (
        advice.say(
            N_(
                "Put this line at the top of the program or notebook that fails, and compare the path with the Python "
                "where you installed the packages:"
            ),
            "import sys; print(sys.executable)",
        ),
        advice.say(
            N_("Then select that Python in the IDE or notebook, activate the environment, or install into this one.")
        ),
        advice.say(
            N_("For Jupyter, register the right environment as a kernel, from inside it:"),
            "python -m pip install ipykernel && python -m ipykernel install --user --name gpu",
        ),
        advice.check(f'python -c "import sys, {module}; print(sys.executable, {module}.__file__)"'),
    )


RULE = Rule(
    code="wrong-python-environment",
    scope=Scope.ENVIRONMENT,
    step=1,
    severity=Severity.BLOCKS,
    title=N_("The program may run in another Python than the one set up: it has no {module}"),
    help=Help(
        what=N_("Whether the program runs in the Python environment where the framework was installed."),
        why=N_(
            "A terminal, an IDE and a notebook can each use another Python. What is installed in one is not there, or "
            "is another version, in the next."
        ),
        how=N_(
            "The module is not found although the environment that was examined has it; the environment is known not "
            "to be activated; or a file with the module's own name is imported instead of it."
        ),
        wrong=N_("The module may simply not be installed anywhere: then this finding is uncertain."),
        todo=N_("Compare sys.executable inside the failing program with the Python where the packages are."),
    ),
    check=_check,
    needs=(("interpreter.path", "interpreter.kind", f"signal:{_MISSING}", f"signal:{_SHADOWED}"),),
    advise=_advise,
    explains=("cudnn-wrong-copy-loaded", "tf-cuda-version-mismatch", "code-runs-on-cpu"),
    links=("https://packaging.python.org/en/latest/guides/installing-using-pip-and-virtual-environments/",),
)
