"""Knows: log lines that look bad and mean nothing. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote

_KINDS = (
    "noise-factory-registered",
    "noise-placer-registered",
    "noise-tensorrt",
    "noise-numa",
    "noise-onednn",
    "noise-cpu-features",
    "noise-torch-windows",
    "noise-flash-attention",
    "noise-triton",
)


def _check(view: View) -> Outcome:
    found = [signal for kind in _KINDS if (signal := view.signal(kind)) is not None]
    return Hit(Confidence.HIGH, quote(*found)) if found else Lacks(("log",))


RULE = Rule(
    code="benign-log-noise",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.INFO,
    title=N_("Some lines that were printed look like errors and are harmless"),
    help=Help(
        what=N_("Which warnings in the log mean nothing for the GPU."),
        why=N_("People lose days with them: TensorFlow marks some of them as errors."),
        how=N_(
            "Known lines: a cuDNN, cuFFT or cuBLAS factory registered twice, TensorRT not found, NUMA node -1, oneDNN, "
            "CPU instructions, flash attention or Triton missing on Windows."
        ),
        wrong=N_("Harmless for whether the GPU is used. A missing Triton or flash attention can cost some speed."),
        todo=N_("Nothing. Other findings, if any, are the ones to follow."),
    ),
    check=_check,
    needs=(tuple(f"signal:{kind}" for kind in _KINDS),),
)
