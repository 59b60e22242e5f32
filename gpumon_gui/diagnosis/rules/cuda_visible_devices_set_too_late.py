"""Knows: CUDA_VISIBLE_DEVICES set after the process opened CUDA. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script

_CODE = "cuda-visible-devices-set-too-late"
_IMPORT = {"tensorflow": "tensorflow as tf", "jax": "jax"}
_IN_SCRIPT = (
    Sign(
        "script-cuda-visible-devices-late",
        Confidence.HIGH,
        N_("Set it at the very top of the script, above the first import of a framework:"),
    ),
)


def _check(view: View) -> Outcome:
    outcome = with_script(view, Lacks(("log",)), _CODE, _IN_SCRIPT)
    if not isinstance(outcome, Hit):
        return outcome
    uses = view.signals("script-cuda-first-use")
    return Hit(outcome.confidence, outcome.evidence + quote(*uses[:2]), outcome.values)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    late, use = view.signal("script-cuda-visible-devices-late"), view.signal("script-cuda-first-use")
    given = late.values.get("value") if late is not None else None
    value = given if isinstance(given, str) else "1"
    framework = _IMPORT.get(use.framework, "torch") if use is not None else "torch"
    code = f'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "{value}"\nimport {framework}'
    return (
        *(advice.say(sign.better, code) for sign in _IN_SCRIPT),
        advice.say(
            N_("Or set it where the program is started:"), advice.set_variable(view, "CUDA_VISIBLE_DEVICES", value)
        ),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=5,
    severity=Severity.SLOWS,
    title=N_("The script sets CUDA_VISIBLE_DEVICES after line {use} has opened CUDA: it has no effect ({place})"),
    help=Help(
        what=N_("Whether a script chooses its GPUs before CUDA is opened."),
        why=N_(
            "CUDA reads the variable once, when the process first asks the driver. Later changes are ignored without a "
            "word: the program stays on GPU 0, or sees GPUs that it should not."
        ),
        how=N_(
            "The order of lines: torch.cuda.is_available(), .cuda(), tf.config.list_physical_devices() and the like "
            "open CUDA. Importing torch or TensorFlow does not, nor does torch.cuda.device_count()."
        ),
        wrong=N_("Modules of the program that are imported first may open CUDA too; one script does not show it."),
        todo=N_("Set the variable before the first import of a framework, or where the program starts."),
    ),
    check=_check,
    needs=(needs(*_IN_SCRIPT),),
    advise=_advise,
    links=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",),
)
