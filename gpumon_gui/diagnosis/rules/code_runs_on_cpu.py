"""Knows: programs that say themselves that they leave the GPU unused. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, remedies
from gpumon_gui.diagnosis.behaviour.causes import cpu_only as behaviour
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better
from gpumon_gui.diagnosis.versions import at_least

#: These say that a GPU is there and is not used.
_CERTAIN = ("lightning-gpu-unused", "transformers-pipeline-no-device", "spacy-gpu-unused")
#: These say only that the CPU computes: by choice, or because there is no usable GPU.
_LIKELY = ("whisper-fp16-on-cpu", "library-uses-cpu")
_WEAK = ("library-device-cpu",)
#: transformers' pipelines take the GPU by themselves from this release on.
_PIPELINE_TAKES_GPU = (4, 47)
_MIXED = ("torch-tensors-on-two-devices",)
_KINDS = (*_CERTAIN, *_MIXED, *_LIKELY, *_WEAK)

_CODE = "code-runs-on-cpu"
_FORCED = N_("The script keeps the computation on the CPU ({place})")
_ONE_SIDE = N_("The script moves only one of model and data to the GPU, so it stops ({place})")
_NOTHING = N_("The script makes a model and never moves it to the GPU ({place})")
_UNLESS = N_("Started without its option {option}, the script computes on the CPU ({place})")
_IN_SCRIPT = (
    Sign(
        "script-tf-device-cpu",
        Confidence.HIGH,
        N_("Leave tf.device out: TensorFlow takes the GPU by itself. Or name it:"),
        'with tf.device("/GPU:0"):',
        title=_FORCED,
    ),
    Sign(
        "script-tf-gpu-hidden",
        Confidence.HIGH,
        N_("Remove the line that hides the GPUs from TensorFlow ({place}). To check what is visible:"),
        'print(tf.config.get_visible_devices("GPU"))',
        title=_FORCED,
    ),
    Sign(
        "script-trainer-cpu",
        Confidence.HIGH,
        N_("Remove {option}=True from the training arguments: the Trainer then takes the GPU by itself."),
        title=_FORCED,
    ),
    Sign(
        "script-lightning-cpu",
        Confidence.HIGH,
        N_("Let Lightning take the GPU:"),
        'trainer = Trainer(accelerator="gpu", devices=1)',
        title=_FORCED,
    ),
    Sign(
        "script-library-cpu",
        Confidence.HIGH,
        N_("Instead of {argument}, pass {better} ({place})."),
        title=_FORCED,
    ),
    Sign(
        "script-ort-cpu-provider",
        Confidence.HIGH,
        N_("Ask for the GPU first, the CPU as the fallback:"),
        'session = onnxruntime.InferenceSession(path, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])',
        title=_FORCED,
    ),
    Sign(
        "script-jax-cpu",
        Confidence.HIGH,
        N_("Remove the line that restricts JAX to the CPU ({place}): JAX takes the GPU by itself. To check:"),
        "print(jax.devices())",
        title=_FORCED,
    ),
    Sign(
        "script-device-cpu",
        Confidence.HIGH,
        N_("Take the GPU where there is one ({place}):"),
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        title=_FORCED,
    ),
    Sign(
        "script-to-not-assigned",
        Confidence.HIGH,
        N_("For tensors .to() makes a copy; without an assignment it is thrown away ({place}):"),
        "batch = batch.to(device, non_blocking=True)",
        title=_ONE_SIDE,
        severity=Severity.CRASHES,
    ),
    Sign(
        "script-model-cpu",
        Confidence.MEDIUM,
        N_("Leave {name}.cpu() out where the model is used afterwards ({place}), or move it back:"),
        "model = model.to(device)",
        title=_FORCED,
    ),
    Sign(
        "script-batch-not-moved",
        Confidence.MEDIUM,
        N_("Move each batch to the device of the model, before the model is called ({place}):"),
        "inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)",
        title=_ONE_SIDE,
        severity=Severity.CRASHES,
    ),
    Sign(
        "script-model-not-moved",
        Confidence.MEDIUM,
        N_("Move the model too, before the optimizer is made ({place}):"),
        "model = model.to(device)",
        title=_ONE_SIDE,
        severity=Severity.CRASHES,
    ),
    Sign(
        "script-torch-no-gpu",
        Confidence.MEDIUM,
        N_("PyTorch moves nothing by itself. Move the model once and each batch in the loop ({place}):"),
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "model = model.to(device)\n"
        "inputs, targets = inputs.to(device), targets.to(device)  # in the loop",
        title=_NOTHING,
    ),
    Sign(
        "script-to-lost",
        Confidence.MEDIUM,
        N_("For tensors .to() makes a copy; without an assignment it is thrown away ({place}):"),
        "batch = batch.to(device, non_blocking=True)",
        title=_NOTHING,
    ),
    Sign(
        "script-map-location-cpu",
        Confidence.MEDIUM,
        N_("What is loaded to the CPU stays there. Move the model after it was loaded ({place}):"),
        "model = model.to(device)",
        title=_FORCED,
    ),
    Sign(
        "script-tf-model-on-cpu",
        Confidence.MEDIUM,
        N_("Make the model outside of tf.device: its weights are put where it is made ({place})."),
        title=N_("The script makes its model on the CPU ({place})"),
    ),
    Sign(
        "script-ort-no-providers",
        Confidence.MEDIUM,
        N_("Without providers ONNX Runtime may take the CPU. Name them:"),
        'session = onnxruntime.InferenceSession(path, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])',
        title=N_("The script asks ONNX Runtime for no GPU ({place})"),
    ),
    Sign(
        "script-gpu-switch-off",
        Confidence.MEDIUM,
        N_("Let the switch follow the machine ({place}):"),
        "use_cuda = torch.cuda.is_available()",
        title=_FORCED,
    ),
    Sign(
        "script-pipeline-no-device",
        Confidence.LOW,
        N_("Releases of transformers before 4.47 leave a pipeline without a device on the CPU. Name it ({place}):"),
        "pipe = pipeline(..., device=0)",
        title=N_("The script makes a pipeline without a device ({place})"),
    ),
    Sign(
        "script-option-cpu",
        Confidence.LOW,
        N_("Start the script with {option}, or let the default follow the machine ({place})."),
        title=_UNLESS,
        severity=Severity.INFO,
    ),
)

#: The framework that a sign in a script is about, by how its name begins; the others are about PyTorch.
_SEES = (
    ("script-tf-", remedies.TF_WORKS),
    ("script-jax-", "import jax; print(jax.devices())"),
    ("script-ort-", "import onnxruntime; print(onnxruntime.get_available_providers())"),
)
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
    return with_script(view, _printed(view), _CODE, _signs(view))


def _signs(view: View) -> tuple[Sign, ...]:
    """Those that count with what is known of the packages."""
    transformers = view.package("transformers")
    if transformers is None or not at_least(transformers, _PIPELINE_TAKES_GPU):
        return _IN_SCRIPT
    return tuple(sign for sign in _IN_SCRIPT if sign.kind != "script-pipeline-no-device")


def _printed(view: View) -> Outcome:
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
    if view.is_job:
        return behaviour.advise(view, hit)
    return (
        *(advice.say(_TODO[kind]) for kind in (hit.values["kind"],) if kind in _TODO),
        *better(view, _signs(view)),
        advice.check(advice.run_python(view, _sees(view))),
    )


def _sees(view: View) -> str:
    """The line that shows whether the framework in question sees a GPU."""
    for prefix, line in _SEES:
        if any(view.signal(sign.kind) is not None for sign in _IN_SCRIPT if sign.kind.startswith(prefix)):
            return line
    return "import torch; print(torch.cuda.is_available())"


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The program computes on the CPU: nothing in it asks for the GPU"),
    help=Help(
        what=N_("Whether the program itself says that it leaves the GPU unused."),
        why=N_("Frameworks do not move models and data to the GPU by themselves: without being told they use the CPU."),
        how=N_(
            'Messages such as "GPU available: True, used: False" or "no device argument is passed to the Pipeline". A '
            "message that only says that the CPU computes counts less, and nothing when there is no usable GPU. In a "
            "script: devices that are named as CPU, and models or batches that no line moves. Watched: the program "
            "keeps cores busy for seconds and has nothing on the GPU."
        ),
        wrong=N_("The CPU may have been chosen on purpose, for example by an option of the program."),
        todo=N_("Move the model and each batch to the GPU, or pass the device to the library that does it."),
    ),
    check=_check,
    watch=behaviour.watch,
    needs=((*(f"signal:{kind}" for kind in _KINDS), *needs(*_IN_SCRIPT)),),
    advise=_advise,
)
