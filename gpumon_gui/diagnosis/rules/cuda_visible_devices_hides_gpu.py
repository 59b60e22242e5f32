"""Knows: a CUDA_VISIBLE_DEVICES that names no GPU of this machine. Must not know: the other rules."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import UNKNOWN, View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_INDEX = re.compile(r"-?[0-9]{1,9}")
_VARIABLE = "environment.CUDA_VISIBLE_DEVICES"
_CODE = "cuda-visible-devices-hides-gpu"
_IN_SCRIPT = (
    Sign(
        "script-cuda-visible-devices-hidden",
        Confidence.HIGH,
        N_("Remove the line of the script that hides every GPU, or name a GPU in it ({place}):"),
        'os.environ["CUDA_VISIBLE_DEVICES"] = "0"',
        title=N_("The script itself sets CUDA_VISIBLE_DEVICES to {value}: that hides every GPU ({place})"),
    ),
)
_SOME_HIDDEN = N_("CUDA_VISIBLE_DEVICES is {value}: it names a GPU that does not exist, and all after it are hidden")


def _check(view: View) -> Outcome:
    return with_script(view, _known(view), _CODE, _IN_SCRIPT)


def _known(view: View) -> Outcome:
    hides_all = view.signal("cuda-visible-devices-hides-all")
    if hides_all is not None:
        return Hit(Confidence.HIGH, quote(hides_all), {"value": str(hides_all.values.get("value", "")) or '""'})
    seen = view.signal("cuda-visible-devices-seen")  # what the process itself has counts more than a shell's
    value = str(seen.values["value"]) if seen is not None else view.text(_VARIABLE)
    if value is None or value.strip().lower() in ("none", "unset", "not set"):
        return Lacks((_VARIABLE,)) if view.get(_VARIABLE) is UNKNOWN and seen is None else CLEAR
    evidence = cite(view, _VARIABLE) + quote(seen)
    shown = {"value": value or '""'}
    names = [name.strip() for name in value.split(",")]
    if names[0] in ("", "-1", "NoDevFiles"):
        return Hit(Confidence.HIGH, evidence, shown)
    if not _INDEX.fullmatch(names[0]):
        return Lacks(("gpus.uuid",))
    return _judge_indexes(view, names, shown, evidence)


def _judge_indexes(view: View, names: list[str], shown: dict[str, str], evidence: tuple[Evidence, ...]) -> Outcome:
    """CUDA takes the names up to the first that does not exist (CUDA programming guide, environment variables)."""
    claims = view.flag("torch.cuda_available") or (view.number("torch.device_count") or 0) > 0
    missing = view.signal("cuda-no-device")
    count = view.number("gpu_count")
    certain = count is not None
    if count is None:
        count = float(len(view.items("gpus"))) or None
    first = int(names[0])
    if claims and (count is None or first >= count):
        return CLEAR  # CUDA found it: the variable is another process' or the count is wrong
    if count is None:
        if missing is not None and first > 0:
            return Hit(Confidence.MEDIUM, evidence + quote(missing), shown)
        return CLEAR if first == 0 else Lacks(("gpu_count",))
    if not 0 <= first < count:
        sure = certain or missing is not None
        counted = cite(view, "gpu_count" if certain else "gpus")
        return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, evidence + counted + quote(missing), shown)
    if certain and any(_INDEX.fullmatch(name) and not 0 <= int(name) < count for name in names):
        return Hit(
            Confidence.HIGH, evidence + cite(view, "gpu_count"), shown, severity=Severity.SLOWS, title=_SOME_HIDDEN
        )
    return CLEAR


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *better(view, _IN_SCRIPT),
        advice.say(
            N_(
                "Remove the variable, or set it to a GPU that exists; GPUs count from 0. Do it where the program "
                "starts:"
            ),
            advice.unset_variable(view, "CUDA_VISIBLE_DEVICES"),
        ),
        advice.say(
            N_(
                "If it comes back, look for os.environ['CUDA_VISIBLE_DEVICES'] in the program and for the device "
                "option that it was started with: some libraries set the variable from it."
            )
        ),
        advice.check(advice.run_python(view, "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES'))")),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=5,
    severity=Severity.BLOCKS,
    title=N_("CUDA_VISIBLE_DEVICES is {value}: that hides every GPU from the program"),
    help=Help(
        what=N_("Whether CUDA_VISIBLE_DEVICES names a GPU that exists."),
        why=N_(
            "CUDA shows a program only the GPUs that the variable lists. Empty, -1 or a number that does not exist "
            "hide them all, without any message: the program just finds no GPU."
        ),
        how=N_(
            "The value is compared with the number of GPUs, which count from 0. Everything behind the first name that "
            "does not exist is hidden as well. A value printed by the program counts more than a shell's."
        ),
        wrong=N_(
            "The variable of the failing process may differ from the one seen here: a program, an IDE or a job "
            "scheduler can set its own."
        ),
        todo=N_("Remove the variable or name an existing GPU before the program starts."),
    ),
    check=_check,
    needs=(
        (_VARIABLE, "signal:cuda-visible-devices-seen", "signal:cuda-visible-devices-hides-all", *needs(*_IN_SCRIPT)),
    ),
    advise=_advise,
    explains=("code-runs-on-cpu", "mixed-precision-not-active"),
    links=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",),
)
