"""Knows: mixed precision that was asked for and does nothing. Must not know: the other rules."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, in_profile, machine
from gpumon_gui.diagnosis.behaviour.causes import precision as behaviour
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.script.sign import Sign, with_script
from gpumon_gui.diagnosis.script.sign import advise as better
from gpumon_gui.diagnosis.versions import at_least

_DISABLED = "torch-autocast-disabled"
_PRECISION = "training.precision"
_AUTOMATIC = re.compile(r"(?i)\bamp\b|automatic|mixed")
#: Automatic mixed precision came with this release (its release notes).
_TF_FIRST = (1, 14)
_CODE = "mixed-precision-not-active"
_NONE = N_("The script trains in float32: mixed precision would use the tensor cores ({place})")
#: The first NVIDIA GPUs with tensor cores (CUDA programming guide).
_TENSOR_CORES = (7, 0)
_IN_SCRIPT = (
    Sign(
        "script-torch-no-mixed-precision",
        Confidence.LOW,
        N_("Compute forward and loss under autocast, or at least let float32 products use TF32 ({place}):"),
        'with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = criterion(model(inputs), targets)\n'
        '# or, before training: torch.set_float32_matmul_precision("high")',
        title=_NONE,
        severity=Severity.INFO,
    ),
    Sign(
        "script-tf-no-mixed-precision",
        Confidence.LOW,
        N_("Before the model is made; the last layer stays in float32 ({place}):"),
        'keras.mixed_precision.set_global_policy("mixed_float16")',
        title=_NONE,
        severity=Severity.INFO,
    ),
)
_PROFILER = N_("The profiler of the framework shows whether tensor-core kernels run.")
_TF_OLD = N_("This TensorFlow is older than 1.14 and has no automatic mixed precision: the flag does nothing")


def _check(view: View) -> Outcome:
    capability = machine.first_capability(view)
    signs = _IN_SCRIPT if capability is None or capability >= _TENSOR_CORES else ()
    outcome = with_script(view, _known(view), _CODE, signs)
    return in_profile.weighed(in_profile.without_tensor_cores(view), outcome)


def _known(view: View) -> Outcome:
    disabled = view.signal(_DISABLED)
    if disabled is not None:
        return Hit(Confidence.HIGH, quote(disabled))
    precision = view.text(_PRECISION)
    if precision is None:
        return Lacks((_PRECISION,))
    if not _AUTOMATIC.search(precision):
        return CLEAR
    version = view.version("tensorflow.version")
    if version is None:
        return Lacks(("tensorflow.version",))
    if at_least(version, _TF_FIRST):
        return CLEAR
    return Hit(Confidence.MEDIUM, cite(view, "tensorflow.version", _PRECISION), title=_TF_OLD)


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if view.is_job:
        return behaviour.advise(view, hit)
    if view.known("profile"):
        return (*better(view, _IN_SCRIPT), *in_profile.better(view, "amp"))
    written = better(view, _IN_SCRIPT)
    if written:
        return (*written, advice.say(_PROFILER))
    return (
        advice.say(
            N_(
                'Name the GPU and a type that it can do: torch.autocast("cuda", dtype=torch.float16), or in TensorFlow '
                '2 tf.keras.mixed_precision.set_global_policy("mixed_float16").'
            )
        ),
        advice.say(_PROFILER),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("Mixed precision was switched off: the device or the type is not one that autocast can use"),
    help=Help(
        what=N_("Whether mixed precision was asked for and is not in effect."),
        why=N_("The program then computes in float32 on the slower units, and nothing but a warning says so."),
        how=N_(
            "torch warns that it disables autocast; releases of TensorFlow before 1.14 have no such mode; a script "
            "names none. In a profile: matrix products and convolutions are at least 30 percent of the GPU's time, "
            "and at most 10 percent of that is in kernels for tensor cores, by their names. Watched, with hardware "
            "counters (data-centre GPUs since Hopper): float32 units work at least 12 percent of the time, tensor "
            "cores at most a tenth of that."
        ),
        wrong=N_("NVIDIA's own TensorFlow 1 images have the mode earlier."),
        todo=N_("Name the device and a supported type, or use a newer release."),
    ),
    check=_check,
    watch=behaviour.watch,
    advise=_advise,
    links=("https://pytorch.org/docs/stable/amp.html",),
)
