"""Knows: a framework that says it computed on a GPU on which no instrument saw it. Must not know: the other rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpumon_gui.core.formatters import number_text
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.evidence import AMOUNT, in_words, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step, Words
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

_FRAMEWORKS = {"torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "cupy": "CuPy"}

#: By what decided; the placeholders are filled for all.
_TITLES = {
    "no-rise": N_("{framework} says that it computed on {gpu}, but that GPU did not work meanwhile"),
    "other-device": N_("{framework} says that it computed on {gpu}, but its process worked on another GPU"),
    "on-cpu": N_("{framework} says that it computed on {gpu}, but the processor did the work"),
    "other-process": N_("{framework} says that it computed on {gpu}, but the work seen there was another program's"),
    "container": N_(
        "{framework} says that it computed on {gpu}; from inside this container its work cannot be told from others'"
    ),
    "wsl": N_("{framework} says that it computed on {gpu}; inside WSL its work cannot be told from that of others"),
    "busy": N_("{framework} says that it computed on {gpu}; that GPU is too busy to tell whether it did"),
    "no-instrument": N_("{framework} says that it computed on {gpu}; nothing on this machine could watch that GPU"),
}
#: What is only a gap of the instruments is no fault of the set-up.
_UNDECIDED = ("container", "wsl", "busy", "no-instrument")
_ACTIVITY = {
    "gpu_utilization": N_("GPU busy {load} under load, {idle} at rest"),
    "engine_utilization": N_("engines busy {load} under load, {idle} at rest"),
    "power_w": N_("{load} under load, {idle} at rest"),
}
_CONFIDENCES = {entry.value: entry for entry in Confidence}
_TODO = {
    "no-rise": N_(
        "See which files are really imported: a stub, a shim or a file of your own may stand for the framework. "
        "Reinstall it in a fresh environment."
    ),
    "other-device": N_(
        "The numbers that the framework counts GPUs by are not those of nvidia-smi. Set CUDA_DEVICE_ORDER=PCI_BUS_ID, "
        "and choose the GPU with CUDA_VISIBLE_DEVICES before the program starts."
    ),
    "on-cpu": N_("Move the model and each batch to the GPU, and look where the result lies."),
    "other-process": N_("End the other program, then let GPUMon prove it again."),
    "container": N_("Run the diagnosis on the host, or start the container with --pid=host."),
    "wsl": N_("Run the diagnosis while no other program uses the GPU."),
    "busy": N_("Run the diagnosis while no other program uses the GPU."),
    "no-instrument": N_("Look at what the driver answers, since GPUMon reads the GPU through it:"),
}


def _check(view: View) -> Outcome:
    judged = False
    hits: list[Hit] = []
    for framework, name in _FRAMEWORKS.items():
        for device in _devices(view, framework):
            verdict = device.get("verdict")
            judged = judged or verdict in ("proven", "not-seen")
            why = device.get("why")
            if verdict == "not-seen" and isinstance(why, str) and why in _TITLES:
                hits.append(_hit(view, framework, name, device, why))
    if hits:
        return min(hits, key=lambda hit: hit.severity is not None)  # a fault before a gap of the instruments
    return CLEAR if judged else Lacks(tuple(f"{framework}.proof" for framework in _FRAMEWORKS))


def _hit(view: View, framework: str, name: str, device: Mapping[str, Any], why: str) -> Hit:
    gpu = f"GPU {device.get('index', '?')}"
    if isinstance(device.get("name"), str):
        gpu += f" ({device['name']})"
    path = f"{framework}.proof"
    evidence = [
        in_words(f"{path}.{part}", view.origin(path), *words)
        for part, words in (("claimed", _claimed(device)), ("seen", _seen(device)))
        if words
    ]
    evidence.append(Evidence(f"{path}.why", why, view.origin(path)))
    undecided = why in _UNDECIDED
    return Hit(
        Confidence.LOW if undecided else _CONFIDENCES.get(str(device.get("confidence")), Confidence.MEDIUM),
        tuple(evidence),
        {"framework": name, "gpu": gpu, "reason": why, "module": framework},
        severity=Severity.INFO if undecided else None,
        title=_TITLES[why],
    )


def _devices(view: View, framework: str) -> Iterator[Mapping[str, Any]]:
    for device in view.items(f"{framework}.proof.devices"):
        if isinstance(device, Mapping):
            yield device


def _claimed(device: Mapping[str, Any]) -> tuple[Words, ...]:
    claimed = device.get("claimed")
    if not isinstance(claimed, Mapping):
        return ()
    runs = claimed.get("runs")
    run = runs.get(str(claimed.get("fastest"))) if isinstance(runs, Mapping) else None
    words = [
        told(AMOUNT, amount=str(claimed[key])) for key in ("where", "fastest") if isinstance(claimed.get(key), str)
    ]
    if isinstance(run, Mapping):
        if isinstance(run.get("flops_per_s"), int | float):
            words.append(told(AMOUNT, amount=f"{run['flops_per_s'] / 1e12:.4g} TFLOP/s"))
        if isinstance(run.get("error"), int | float):
            words.append(told(N_("error {size}"), size=f"{run['error']:.1e}"))
    return tuple(words)


def _seen(device: Mapping[str, Any]) -> tuple[Words, ...]:
    seen = device.get("seen")
    if not isinstance(seen, Mapping):
        return ()
    words = []
    if isinstance(seen.get("samples"), int):
        words.append(told(N_("{count} readings"), count=str(seen["samples"])))
    if seen.get("listed") is False:
        words.append(told(N_("process not on this GPU")))
    activity = seen.get("activity")
    for metric, text in _ACTIVITY.items():
        found = activity.get(metric) if isinstance(activity, Mapping) else None
        if isinstance(found, Mapping):
            load, idle = (_figure(metric, found.get(name)) for name in ("load", "idle"))
            words.append(told(text, load=load, idle=idle))
    for key in ("elsewhere", "others"):
        others = seen.get(key)
        words += [
            told(
                N_("process {pid} worked on {device}"),
                pid=str(other.get("pid", "?")),
                device=str(other.get("device", "?")),
            )
            for other in (others if isinstance(others, list) else ())
            if isinstance(other, Mapping)
        ]
    return tuple(words)


def _figure(metric: str, value: Any) -> str:
    return number_text(metric, value) if isinstance(value, int | float) else "?"


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    why, module = hit.values["reason"], hit.values["module"]
    if why == "no-instrument":
        return (advice.say(_TODO[why], "nvidia-smi"),)
    steps = [advice.say(_TODO[why])]
    if why == "no-rise":
        steps.append(advice.check(advice.run_python(view, f"import {module}; print({module}.__file__)")))
    return tuple(steps)


RULE = Rule(
    code="gpu-claimed-but-not-seen",
    scope=Scope.ENVIRONMENT,
    step=7,
    severity=Severity.SLOWS,
    title=_TITLES["no-rise"],
    help=Help(
        what=N_("Whether instruments saw this very process work on this very GPU while the framework said it did."),
        why=N_("A framework, a wrapper or a setting can report a GPU while the work is done elsewhere or not at all."),
        how=N_(
            "GPUMon lets the framework compute known matrix products, checks the results, and alternates four loads "
            "with five rests. Meanwhile it reads, five times a second, what this process does on this GPU (found by "
            "its PCI address), and what the GPU does. What follows the loads counts when chance explains it in less "
            "than 2 % of all ways to name the phases. Work of other programs and work on other GPUs do not count."
        ),
        wrong=N_(
            "Where numbers of processes mean nothing (containers, WSL) only the steps of the GPU's memory tell, and a "
            "framework that keeps its memory makes none. Instruments that answer more rarely than once a second see "
            "too little."
        ),
        todo=N_("See which files are imported, which device numbers are meant, and where the result lies."),
    ),
    check=_check,
    needs=(tuple(f"{framework}.proof" for framework in _FRAMEWORKS),),
    advise=_advise,
)
