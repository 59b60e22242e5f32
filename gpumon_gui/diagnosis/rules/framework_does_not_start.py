"""Knows: a framework that hangs or crashes before it can be asked. Must not know: why; other rules know single causes.

A code of its own: without it an environment whose import never returns had a verdict and no finding.
"""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite

#: The framework's key in the facts, and the name of its module.
_MODULES = {"torch": "torch", "tensorflow": "tensorflow", "jax": "jax", "onnxruntime": "onnxruntime", "cupy": "cupy"}
_HANGS = N_('{name} does not come back from "{stage}": it was ended after a while')
_CRASHES = N_('{name} crashes Python at "{stage}"')
_EATS = N_('{name} takes more and more memory at "{stage}": it was ended before the system ran out')
_TITLES = {"timed-out": _HANGS, "crashed": _CRASHES, "too-much-memory": _EATS}


def _check(view: View) -> Outcome:
    for key, module in _MODULES.items():
        problem = view.text(f"{key}.problem")
        if problem not in _TITLES:
            continue
        values = {"name": module, "stage": view.text(f"{key}.problem_stage") or f"import {module}"}
        evidence = cite(view, f"{key}.problem", f"{key}.problem_stage", f"{key}.error", f"{key}.version")
        # A slow disk or a virus scanner's first look can outlast the limit too.
        sure = Confidence.HIGH if problem == "crashed" else Confidence.MEDIUM
        return Hit(sure, evidence, values, title=_TITLES[problem])
    asked = [key for key in _MODULES if view.known(f"{key}.import_ok")]
    return CLEAR if asked else Lacks(tuple(f"{key}.import_ok" for key in _MODULES))


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    module = hit.values["name"]
    trace = f"import faulthandler; faulthandler.dump_traceback_later(60); import {module}"
    steps = [advice.say(_SEE_WHERE, advice.run_python(view, trace))]
    version = view.text(f"{module}.version") or ""
    # A local version (+cu124) comes from another index than PyPI, and other packages have other names there.
    if module in _SAME_NAME and version and "+" not in version:
        again = advice.pip_install(view, f"{module}=={version}", options="--force-reinstall --no-deps")
        steps.append(advice.say(_REINSTALL, again))
    steps.append(advice.check(advice.run_python(view, f"import {module}; print({module}.__version__)")))
    return tuple(steps)


_SAME_NAME = ("torch", "tensorflow", "jax")
_SEE_WHERE = N_("This shows after a minute where it waits, or at once where it crashes:")
_REINSTALL = N_(
    "If the place is inside the framework, its files may be damaged or mixed from two versions. Install the same "
    "version anew:"
)

RULE = Rule(
    code="framework-does-not-start",
    scope=Scope.ENVIRONMENT,
    step=2,
    severity=Severity.CRASHES,
    title=_CRASHES,
    help=Help(
        what=N_("Whether the framework can be imported and asked at all."),
        why=N_("While its import hangs or crashes, no program can use it, with or without a GPU."),
        how=N_(
            "GPUMon imports it in a process of its own, with a time limit. The process was ended by a signal or an "
            "error of Windows, or did not finish in time; the last step it began is named."
        ),
        wrong=N_("A slow network drive, a virus scanner or a first start that compiles kernels can outlast the limit."),
        todo=N_("Find the place where it stops; often a library of another version is loaded first."),
    ),
    check=_check,
    needs=(tuple(f"{key}.{name}" for key in _MODULES for name in ("import_ok", "problem")),),
    advise=_advise,
)
