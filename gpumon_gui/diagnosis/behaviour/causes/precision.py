"""Knows: kernels that leave the tensor cores unused, by hardware counters. Must not know: the other causes."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import LEAST_S, look, lowered, part, shares
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Hit, Lacks, Outcome

#: Of the time with kernels. Matrix products in float32 keep those units busy for a quarter and more; kernels that only
#: move data stay below a tenth. Programs that use tensor cores keep them busy longer than the float32 units; a tenth of
#: that is a kernel here and there, such as a library's attention.
_MUCH, _SOME = 0.2, 0.12
_UNUSED = 0.1
#: Where memory is the limit, faster units gain nothing.
_MEMORY_LIMIT = 0.5
#: Where the GPU waits, its arithmetic is not what takes the time.
_BUSY = 0.6

_SINGLE = N_(
    "Tensor cores are hardly used: they work {tensor} of the time, while float32 units work {fp32}; mixed precision is "
    "off"
)
_DOUBLE = N_("The program computes in double precision (float64 units work {fp64} of the time), and hardly needs to")
_PATHS = tuple(f"job.precision.{unit}" for unit in ("tensor", "fp32", "fp64", "fp16", "dram"))


def watch(view: View) -> Outcome:
    """Judge a program by its behaviour."""
    seen = look(view)
    tensor, fp32, fp64, dram = (view.number(f"job.precision.{unit}") for unit in ("tensor", "fp32", "fp64", "dram"))
    kernels = view.number("job.precision.kernels")
    if tensor is None or fp32 is None or kernels is None:
        return Lacks(("job.precision.tensor",))
    if seen.seconds < LEAST_S:
        return Lacks(("job.program.seconds",))
    if view.flag("job.precision.tensor_cores") is False or kernels < _BUSY or seen.size == "small":
        return CLEAR
    framework = view.text("job.program.framework")
    if framework is not None and not any(name in framework for name in tuning.LEARNING):
        return CLEAR  # arrays and simulations have a type for a reason
    values = {"tensor": part(tensor), "fp32": part(fp32), "fp64": part(fp64), "kind": "single"}
    evidence = shares(view, "job.activity.busy", "job.activity.sm", *_PATHS)
    if (fp64 or 0.0) >= _SOME and (fp64 or 0.0) > fp32 and (fp64 or 0.0) > tensor:
        # Simulations mean it; programs that learn hardly ever do.
        learns = framework is not None
        values["kind"] = "double"
        confidence = Confidence.MEDIUM if learns else Confidence.LOW
        return Hit(confidence, evidence, values, None if learns else Severity.INFO, _DOUBLE)
    if fp32 < _SOME or tensor > _UNUSED * fp32 or (dram or 0.0) >= _MEMORY_LIMIT:
        return CLEAR
    confidence = Confidence.HIGH if fp32 >= _MUCH and dram is not None else Confidence.MEDIUM
    return Hit(lowered(confidence, seen), evidence, values, title=_SINGLE)


def advise(view: View, hit: Hit) -> tuple[Step, ...]:
    """By which type is used."""
    topics = ("single-precision", "amp") if hit.values.get("kind") == "double" else ("amp", "convolutions")
    return tuning.steps(view, *topics)
