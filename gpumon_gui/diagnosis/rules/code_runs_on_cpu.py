"""Knows: programs that say themselves that they leave the GPU unused. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

#: These say that a GPU is there and is not used.
_CERTAIN = ("lightning-gpu-unused", "transformers-pipeline-no-device", "spacy-gpu-unused")
#: These say only that the CPU computes: by choice, or because there is no usable GPU.
_LIKELY = ("whisper-fp16-on-cpu", "library-uses-cpu")
_WEAK = ("library-device-cpu",)
_MIXED = ("torch-tensors-on-two-devices",)
_KINDS = (*_CERTAIN, *_MIXED, *_LIKELY, *_WEAK)

_PARTLY = N_("Part of the tensors are on the CPU and part on the GPU, so the program stops")

_TODO = {
    "lightning-gpu-unused": N_('Create the trainer with Trainer(accelerator="gpu", devices=1).'),
    "transformers-pipeline-no-device": N_("Create the pipeline with pipeline(..., device=0)."),
    "whisper-fp16-on-cpu": N_('Start it with "--device cuda", or load_model(name, device="cuda").'),
    "library-device-cpu": N_('Create the model with device="cuda".'),
    "library-uses-cpu": N_("Create the reader or model with gpu=True."),
    "spacy-gpu-unused": N_("Start it again with the option --gpu-id 0."),
    "torch-tensors-on-two-devices": N_(
        "Move the model and every batch to the same device: model.to(device), batch = batch.to(device). For tensors, "
        "the result of .to() must be assigned."
    ),
}


def _check(view: View) -> Outcome:
    printed = view.signal(*_CERTAIN)
    if printed is not None:
        return Hit(Confidence.HIGH, quote(printed), {"kind": printed.kind})
    mixed = view.signal(*_MIXED)
    if mixed is not None:
        return Hit(Confidence.MEDIUM, quote(mixed), {"kind": mixed.kind}, severity=Severity.CRASHES, title=_PARTLY)
    printed = view.signal(*_LIKELY, *_WEAK)
    if printed is None:
        return Lacks(("log",))
    if view.flag("torch.cuda_available") is False or view.get("torch.cuda_build") is None:
        return CLEAR  # there is nothing else it could run on: the question is why
    sees = view.flag("torch.cuda_available")
    confidence = Confidence.MEDIUM if sees or printed.kind in _LIKELY else Confidence.LOW
    return Hit(confidence, quote(printed) + cite(view, "torch.cuda_available"), {"kind": printed.kind})


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_TODO[hit.values["kind"]]),
        advice.check(advice.run_python(view, "import torch; print(torch.cuda.is_available())")),
    )


RULE = Rule(
    code="code-runs-on-cpu",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The program computes on the CPU: nothing in it asks for the GPU"),
    help=Help(
        what=N_("Whether the program itself says that it leaves the GPU unused."),
        why=N_("Frameworks do not move models and data to the GPU by themselves: without being told they use the CPU."),
        how=N_(
            'Messages such as "GPU available: True, used: False" or "no device argument is passed to the Pipeline". A '
            "message that only says that the CPU computes counts less, and nothing when there is no usable GPU."
        ),
        wrong=N_("The CPU may have been chosen on purpose, for example by an option of the program."),
        todo=N_("Move the model and each batch to the GPU, or pass the device to the library that does it."),
    ),
    check=_check,
    needs=(tuple(f"signal:{kind}" for kind in _KINDS),),
    advise=_advise,
)
