"""Knows: models of which layers were left on the CPU or disk. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_SAID = ("accelerate-offloaded", "accelerate-dispatch-refused", "accelerate-offload-needs-folder")
_REFUSED = ("accelerate-dispatch-refused", "accelerate-offload-needs-folder")
_COUNTED = ("llama-layers-offloaded", "ollama-split")
_META = "torch-meta-tensor-copied"

_LAYERS = N_("Only {on_gpu} of {layers} layers of the model are on the GPU; the CPU computes the rest")
_TOO_LARGE = N_("The model does not fit into the GPU's memory, and loading it in part was refused")


def _check(view: View) -> Outcome:
    said = view.signal(*_SAID)
    if said is not None:
        refused = said.kind in _REFUSED
        return Hit(
            Confidence.HIGH,
            quote(said),
            severity=Severity.CRASHES if refused else None,
            title=_TOO_LARGE if refused else None,
        )
    counted = view.signals(*_COUNTED)
    for signal in counted:
        hit = _partial(signal)
        if hit is not None:
            return hit
    meta = view.signal(_META)
    if meta is not None:
        return Hit(Confidence.MEDIUM, quote(meta), severity=Severity.CRASHES)
    return CLEAR if counted else Lacks(("log",))


def _partial(signal: Signal) -> Hit | None:
    if signal.kind == "ollama-split":
        return Hit(Confidence.HIGH, quote(signal)) if signal.values.get("cpu_percent", 0) else None
    on_gpu, layers = int(signal.values["on_gpu"]), int(signal.values["layers"])
    if on_gpu >= layers:
        return None
    # None at all is mostly an option left at 0, some are what fitted.
    return Hit(Confidence.HIGH, quote(signal), {"on_gpu": str(on_gpu), "layers": str(layers)}, title=_LAYERS)


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Make it fit: a smaller or quantised model (4-bit or 8-bit), a shorter context, or free the memory "
                "that other programs hold."
            )
        ),
        advice.say(
            N_(
                'Then ask for the GPU: device_map={{"": 0}} instead of "auto" (transformers), --n-gpu-layers 999 '
                "(llama.cpp), num_gpu (Ollama)."
            )
        ),
        advice.say(N_("Watch how much memory is in use while the model loads:"), "nvidia-smi"),
    )


RULE = Rule(
    code="model-offloaded-to-cpu",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("Parts of the model were put on the CPU or the disk because they did not fit on the GPU"),
    help=Help(
        what=N_("Whether a library left layers of the model outside the GPU."),
        why=N_(
            "Each step then waits for layers computed on the CPU or copied over PCIe: often ten times slower, with the "
            "GPU's memory only partly used."
        ),
        how=N_(
            'Messages of accelerate ("offloaded to the cpu"), llama.cpp ("offloaded 20/33 layers"), Ollama '
            '("48%/52% CPU/GPU"), and torch\'s "Cannot copy out of meta tensor", which offloaded weights cause.'
        ),
        wrong=N_(
            "Offloading may be wanted where the model is larger than the memory. Meta tensors have other uses too."
        ),
        todo=N_("Use a smaller or quantised model, free memory, or allow more layers on the GPU."),
    ),
    check=_check,
    needs=(tuple(f"signal:{kind}" for kind in (*_SAID, *_COUNTED, _META)),),
    advise=_advise,
    links=("https://huggingface.co/docs/accelerate/concept_guides/big_model_inference",),
)
