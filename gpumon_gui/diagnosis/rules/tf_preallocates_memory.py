"""Knows: TensorFlow taking all memory at start, and what that looks like. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import memory, percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, tuning
from gpumon_gui.diagnosis.behaviour.parts import parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_HANDLES = ("cublas-handle-failed", "cudnn-handle-failed")
_REFUSED = "tf-start-allocation-refused"
_GROWTH = "environment.TF_FORCE_GPU_ALLOW_GROWTH"
#: cuDNN says these when it finds no memory for itself; others, such as ARCH_MISMATCH, mean something else.
_NO_MEMORY = ("CUDNN_STATUS_INTERNAL_ERROR", "CUDNN_STATUS_ALLOC_FAILED", "CUDNN_STATUS_NOT_INITIALIZED", "")
#: JAX takes 75 percent of what is free, TensorFlow nearly all (their documentation); others may hold a little.
_WATCHED_SHARE = 0.6
#: At once: what comes before is the context.
_AT_ONCE = 0.7
_WATCHED = N_(
    "{framework} has reserved {size} of {gpu} from the start: that is its habit and says nothing about what the model "
    "needs"
)


def _check(view: View) -> Outcome:
    printed = next((signal for signal in view.signals(*_HANDLES, _REFUSED) if _fits(signal)), None)
    if printed is None:
        return CLEAR if view.signals(*_HANDLES) else Lacks(("log",))
    if (view.text(_GROWTH) or "").strip().lower() in ("true", "1"):
        return CLEAR
    tensorflow = printed.framework == "tensorflow" or view.version("tensorflow.version") is not None
    # cuBLAS says the same to every framework; only with TensorFlow is a full card the usual reason.
    confidence = Confidence.MEDIUM if tensorflow else Confidence.LOW
    return Hit(confidence, quote(printed) + cite(view, "tensorflow.version"))


def _fits(signal: Signal) -> bool:
    if signal.framework not in ("", "tensorflow"):
        return False
    return signal.kind != "cudnn-handle-failed" or signal.values.get("status", "") in _NO_MEMORY


def _watch(view: View) -> Outcome:
    loaded = [name for name in tuning.seen(view) if name in (tuning.TENSORFLOW, tuning.JAX)]
    if not loaded:
        return CLEAR if view.text("job.program.framework") else Lacks(("job.program.framework",))
    devices = [part for part in parts(view, "job.memory.devices") if part.number("job_share") is not None]
    if not devices:
        return Lacks(("job.memory.devices",))
    reserved = [
        part for part in devices if (part.number("job_share") or 0.0) >= _WATCHED_SHARE and part.flag("constant")
    ]
    if not reserved:
        return CLEAR
    largest = max(reserved, key=lambda part: part.number("job_bytes") or 0.0)
    size, step = largest.number("job_bytes") or 0.0, largest.number("first_step_share")
    if step is not None and step < _AT_ONCE:
        return CLEAR  # it came bit by bit
    values = {"framework": loaded[0], "size": memory(size), "gpu": largest.label}
    evidence = (
        measured(
            view,
            "job.memory.devices",
            told(
                N_("{gpu} {size} ({share}), constant"),
                gpu=largest.label,
                size=memory(size),
                share=percent(largest.number("job_share") or 0.0),
            ),
            told(N_("{share} of it in one step"), share=percent(step)) if step is not None else None,
        ),
    )
    return Hit(
        Confidence.HIGH if step is not None else Confidence.MEDIUM,
        evidence,
        values,
        severity=Severity.INFO,
        title=_WATCHED,
    )


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if view.is_job:
        return tuning.steps(view, "limit-memory")
    return (
        advice.say(
            N_("Let TensorFlow take memory as it needs it (set before Python starts):"),
            advice.set_variable(view, "TF_FORCE_GPU_ALLOW_GROWTH", "true"),
        ),
        advice.say(N_("End other programs that hold the GPU's memory, such as a second notebook:"), "nvidia-smi"),
        advice.say(N_("If it stays, the versions of CUDA and cuDNN are the next suspects.")),
    )


RULE = Rule(
    code="tf-preallocates-memory",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("No memory is left for cuBLAS or cuDNN: TensorFlow takes all of the GPU's memory at start"),
    help=Help(
        what=N_("Whether TensorFlow's habit of taking nearly all memory at start leaves none for others."),
        why=N_(
            "cuBLAS and cuDNN, a second process or a second notebook then fail with errors that look like a broken "
            "installation."
        ),
        how=N_(
            "A cuBLAS or cuDNN handle could not be created, with a status that stands for missing memory, or the first "
            "allocation was refused. Watched: TensorFlow or JAX holds at least 60 percent of the card, unchanged and "
            "all at once."
        ),
        wrong=N_(
            "A wrong cuDNN gives the same status now and then: check the versions when memory growth does not help."
        ),
        todo=N_("Set TF_FORCE_GPU_ALLOW_GROWTH=true and end other programs on the GPU."),
    ),
    check=_check,
    watch=_watch,
    needs=(tuple(f"signal:{kind}" for kind in (*_HANDLES, _REFUSED)),),
    advise=_advise,
    explains=("gpu-memory-nearly-full",),
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth",),
)
