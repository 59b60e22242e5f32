"""Knows: TensorFlow devices configured after they were started. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote

_SAID = "tf-device-config-after-init"


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    return Hit(Confidence.HIGH, quote(said)) if said is not None else Lacks(("log",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
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
    code="tf-device-config-after-init",
    scope=Scope.MACHINE,
    step=8,
    severity=Severity.CRASHES,
    title=N_("TensorFlow's devices were configured after it had already started them"),
    help=Help(
        what=N_("Whether memory growth or visible devices are set too late."),
        why=N_("TensorFlow opens the GPUs at the first operation; after that the settings cannot change."),
        how=N_('TensorFlow raises "devices cannot be modified after being initialized".'),
        wrong=N_("Not wrong: the message is certain."),
        todo=N_("Move the configuration to the very beginning of the program."),
    ),
    check=_check,
    needs=((f"signal:{_SAID}",),),
    advise=_advise,
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/guide/gpu",),
)
