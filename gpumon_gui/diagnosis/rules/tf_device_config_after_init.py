"""Knows: TensorFlow devices configured after they were started. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Outcome, Rule, Scope, said
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_SAID = "tf-device-config-after-init"
_CODE = "tf-device-config-after-init"
_IN_SCRIPT = (
    Sign(
        "script-tf-config-late",
        Confidence.HIGH,
        N_("Move the lines that configure the GPUs above line {use}, the first that uses a device ({place}):"),
        'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)',
        title=N_("The script configures TensorFlow's devices after their first use in line {use} ({place})"),
    ),
)


_printed = said(_SAID, Confidence.HIGH)


def _check(view: View) -> Outcome:
    return with_script(view, _printed(view), _CODE, _IN_SCRIPT)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *better(view, _IN_SCRIPT),
        advice.say(
            N_(
                "Configure the devices right after importing TensorFlow, before any tensor, model or import of project "
                "code. In a notebook, restart the kernel and run that cell first and once."
            )
        ),
        advice.say(
            N_("Or leave it to a variable, set before Python starts:"),
            advice.set_variable(view, "TF_FORCE_GPU_ALLOW_GROWTH", "true"),
        ),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=8,
    severity=Severity.CRASHES,
    title=N_("TensorFlow's devices were configured after it had already started them"),
    help=Help(
        what=N_("Whether memory growth or visible devices are set too late."),
        why=N_("TensorFlow opens the GPUs at the first operation; after that the settings cannot change."),
        how=N_(
            'TensorFlow raises "devices cannot be modified after being initialized"; in a script the order of lines.'
        ),
        wrong=N_("Not wrong: the message is certain."),
        todo=N_("Move the configuration to the very beginning of the program."),
    ),
    check=_check,
    needs=((f"signal:{_SAID}", *needs(*_IN_SCRIPT)),),
    advise=_advise,
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/guide/gpu",),
)
