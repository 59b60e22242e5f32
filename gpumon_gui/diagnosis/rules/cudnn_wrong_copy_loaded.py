"""Knows: a cuDNN that is found before the right one. Must not know: files that are missing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.compat.cudnn import cudnn_serves, version_of_number
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import Version, parse_version, text

_SAID = "cudnn-version-older-than-compiled"
_NUMBERS = re.compile(r"\d+")
#: A single number is cuDNN's own form: 5105 is 5.1.5.
_LEAST_NUMBER = 1000


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    if said is not None:
        found, built = _version(said, "found"), _version(said, "built")
        if found is None or built is None:
            return Lacks(("log",))
        evidence = quote(said) + cite(view, "environment.LD_LIBRARY_PATH", "toolkit.cudnn_version")
        values = {"found": text(found), "built": text(built)}
        # A newer one than the framework was built with is more likely another framework than meant.
        return Hit(Confidence.MEDIUM if found > built else Confidence.HIGH, evidence, values)
    return _by_copies(view)


def _by_copies(view: View) -> Outcome:
    """TensorFlow takes the first copy on the search path; torch has its own."""
    copies = [
        found
        for copy in view.items("toolkit.cudnn_copies")
        if isinstance(copy, Mapping) and (found := parse_version(str(copy.get("version", "")))) is not None
    ]
    build = remedies.tensorflow_of(view)
    if not copies:
        return Lacks(("log",))
    if build is None or machine.tensorflow_sees_gpu(view):
        return CLEAR if build is not None else Lacks(("log",))
    fitting = [copy for copy in copies if cudnn_serves(copy, build.cudnn)]
    first = copies[0]
    if first[0] == build.cudnn[0] and fitting and not cudnn_serves(first, build.cudnn):
        values = {"found": text(first), "built": text(build.cudnn)}
        return Hit(Confidence.MEDIUM, cite(view, "toolkit.cudnn_copies", "tensorflow.version"), values)
    return CLEAR


def _version(signal: Signal, key: str) -> Version | None:
    numbers = [int(number) for number in _NUMBERS.findall(str(signal.values.get(key, "")))]
    if len(numbers) == 1 and numbers[0] >= _LEAST_NUMBER:
        return version_of_number(numbers[0])
    return tuple(numbers) or None


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = []
    if advice.is_windows(view):
        steps.append(
            advice.say(
                N_(
                    "List every cuDNN on the search path, first found first; remove or rename the ones that do not fit:"
                ),
                "where.exe cudnn*64_*.dll",
            )
        )
    else:
        steps.append(
            advice.say(
                N_("See whether LD_LIBRARY_PATH leads to another cuDNN, and start without it:"),
                'echo "$LD_LIBRARY_PATH"; unset LD_LIBRARY_PATH',
            )
        )
        steps.append(advice.say(N_("List the copies that the loader knows:"), "ldconfig -p | grep cudnn"))
    if view.known("tensorflow.version"):
        build = remedies.tensorflow_of(view)
        if build is not None:
            steps.append(
                advice.say(
                    N_(
                        "TensorFlow {version} was built with cuDNN {cudnn}: the same major version, not older, must "
                        "come first."
                    ),
                    version=view.text("tensorflow.version") or build.latest,
                    cudnn=text(build.cudnn),
                )
            )
    if view.known("torch.version"):
        steps.append(
            advice.check(advice.run_python(view, "import torch; print(torch.backends.cudnn.version())")),
        )
    return tuple(steps)


RULE = Rule(
    code="cudnn-wrong-copy-loaded",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("The program loads cuDNN {found}, and was built with {built}: another copy is found first"),
    help=Help(
        what=N_("Whether the cuDNN that is loaded is one the framework was built for."),
        why=N_(
            "Several copies of cuDNN lie on most machines. LD_LIBRARY_PATH, PATH or a conda folder may put an older "
            "one before the right one. The version in cudnn.h proves nothing."
        ),
        how=N_(
            "The framework names both versions; or the first copy in search order is older than TensorFlow's, and a "
            "later one fits."
        ),
        wrong=N_("When the loaded one is newer than the one built with, the program may be another one than you mean."),
        todo=N_("Take the other copies out of the search path. PyTorch brings its own."),
    ),
    check=_check,
    needs=(("toolkit.cudnn_copies", f"signal:{_SAID}"),),
    advise=_advise,
    links=("https://docs.nvidia.com/deeplearning/cudnn/backend/latest/reference/support-matrix.html",),
)
