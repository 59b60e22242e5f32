"""Knows: frameworks compiled for NumPy 1 beside NumPy 2. Must not know: other import failures."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "numpy-abi-mismatch"
_AFTER = ("torch-numpy-unavailable", "numpy-import-failed")
#: First releases that were compiled for both NumPy 1 and 2 (release notes; TensorFlow up to 2.17 asks for numpy < 2).
_TORCH_FROM = (2, 3)
_TENSORFLOW_FROM = (2, 18)
_TWO = (2,)


def _check(view: View) -> Outcome:
    said, after = view.signal(_SAID), view.signal(*_AFTER)
    numpy = machine.package_version(view, "numpy")
    evidence = quote(said, after) + cite(view, "packages.numpy", "torch.version", "tensorflow.version")
    if said is not None:
        return Hit(Confidence.HIGH, evidence)
    old = _is_old(view)
    if numpy is None:
        return Hit(Confidence.LOW, evidence) if after is not None else Lacks(("packages.numpy",))
    if numpy < _TWO or old is False:
        return CLEAR
    if old is None:
        return Hit(Confidence.MEDIUM, evidence) if after is not None else Lacks(("torch.version", "tensorflow.version"))
    return Hit(Confidence.HIGH if after is not None else Confidence.MEDIUM, evidence)


def _is_old(view: View) -> bool | None:
    torch = view.version("torch.version") or machine.package_version(view, "torch")
    tensorflow = machine.tensorflow_version(view)
    if torch is None and tensorflow is None:
        return None
    return (torch is not None and torch < _TORCH_FROM) or (tensorflow is not None and tensorflow < _TENSORFLOW_FROM)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *remedies.pypi(view, remedies.quoted(view, "numpy<2")),
        advice.say(N_("Or update the framework: PyTorch 2.4.1 and TensorFlow 2.18 and newer work with NumPy 2.")),
        advice.check(advice.run_python(view, "import numpy, torch; print(torch.ones(1).numpy())"))
        if view.known("torch.version")
        else advice.check(advice.run_python(view, "import numpy; print(numpy.__version__)")),
    )


RULE = Rule(
    code="numpy-abi-mismatch",
    scope=Scope.ENVIRONMENT,
    step=2,
    severity=Severity.CRASHES,
    title=N_("A package compiled for NumPy 1 runs with NumPy 2"),
    help=Help(
        what=N_("Whether the framework was compiled for the NumPy that is installed."),
        why=N_(
            "Wheels compiled for NumPy 1.x cannot use NumPy 2. The failure may only appear later, on a line that moves "
            "data to the GPU, and looks like a GPU fault."
        ),
        how=N_(
            "NumPy's own message; or NumPy 2 is installed beside PyTorch older than 2.3 or TensorFlow older than 2.18."
        ),
        wrong=N_("Another package than the framework may be the one that was compiled for NumPy 1."),
        todo=N_("Install NumPy 1.26, or a newer framework."),
    ),
    check=_check,
    needs=(("packages.numpy", *(f"signal:{kind}" for kind in (_SAID, *_AFTER))),),
    advise=_advise,
    links=("https://numpy.org/devdocs/user/troubleshooting-importerror.html",),
)
