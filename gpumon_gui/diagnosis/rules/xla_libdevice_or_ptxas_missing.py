"""Knows: parts of the CUDA toolkit that XLA needs to compile. Must not know: libraries that computing needs."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, remedies
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_LIBDEVICE, _PTXAS, _FAILED = "xla-libdevice-missing", "xla-ptxas-missing", "xla-compile-failed"


def _check(view: View) -> Outcome:
    libdevice, ptxas = view.signal(_LIBDEVICE), view.signal(_PTXAS)
    signal = libdevice or ptxas
    if signal is None:
        return Lacks(("log",))
    failed = view.signal(_FAILED)
    # A line about ptxas alone is often followed by a way around it.
    confidence = Confidence.HIGH if libdevice is not None or failed is not None else Confidence.MEDIUM
    evidence = quote(libdevice, ptxas, failed) + cite(view, "tensorflow.version", "toolkit.cuda_version")
    return Hit(confidence, evidence, {"part": "libdevice" if libdevice is not None else "ptxas"})


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if advice.is_windows(view):
        steps = [
            advice.say(
                N_("Point XLA to the folder of the CUDA toolkit, the one that contains nvvm:"),
                r'$env:XLA_FLAGS = "--xla_gpu_cuda_data_dir=$($env:CUDA_PATH -replace '
                r"'\\','/')"
                r'"',
            )
        ]
    else:
        build = remedies.tensorflow_of(view)
        major = build.cuda[0] if build is not None else 12
        package = f"nvidia-cuda-nvcc-cu{major}"
        conda = view.text("interpreter.kind") == "conda"
        steps = [
            advice.say(
                N_("Install the compiler parts of CUDA into this environment:"),
                advice.conda(view, "install", "--channel nvidia cuda-nvcc")
                if conda
                else advice.pip_install(view, package),
            ),
            advice.say(
                N_("Then point XLA to the folder that contains nvvm:"),
                "export XLA_FLAGS=--xla_gpu_cuda_data_dir="
                + (
                    "$CONDA_PREFIX"
                    if conda
                    else f"$({advice.python_of(view)} -c \"import sysconfig; print(sysconfig.get_path('purelib') + "
                    "'/nvidia/cuda_nvcc')\")"
                ),
            ),
        ]
    signal = view.signal(_LIBDEVICE, _PTXAS)
    if signal is not None and signal.framework == "jax":
        steps.append(advice.check(advice.run_python(view, "import jax; print(jax.jit(lambda x: x + 1)(1.0))")))
        return tuple(steps)
    steps.append(
        advice.check(
            advice.run_python(
                view, "import tensorflow as tf; print(tf.function(lambda x: tf.sin(x), jit_compile=True)(tf.ones(2)))"
            )
        )
    )
    return tuple(steps)


RULE = Rule(
    code="xla-libdevice-or-ptxas-missing",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("XLA does not find {part}, which it needs to compile for the GPU"),
    help=Help(
        what=N_("Whether XLA (TensorFlow, JAX, Keras) finds libdevice and ptxas of the CUDA toolkit."),
        why=N_(
            "The GPU is there and simple operations work. Compiling needs nvvm/libdevice and ptxas, which belong to "
            "the toolkit; fit() or a compiled function fails without them."
        ),
        how=N_('"libdevice not found", "Can\'t find libdevice directory", or a message that ptxas cannot be started.'),
        wrong=N_("A warning about ptxas alone may be harmless: the driver can compile in its place."),
        todo=N_("Install cuda-nvcc, and point XLA_FLAGS=--xla_gpu_cuda_data_dir to it."),
    ),
    check=_check,
    needs=((f"signal:{_LIBDEVICE}", f"signal:{_PTXAS}"),),
    advise=_advise,
    frameworks=("tensorflow", "jax"),
    links=("https://openxla.org/xla/flags_guidance",),
)
