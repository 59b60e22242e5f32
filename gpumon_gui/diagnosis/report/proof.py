"""Knows: a proof in sentences, both sides with figures. Must not know: how it was judged, where it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpumon_gui.core import formatters
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.metrics import METRICS

#: Placeholders: framework, subject, gpu, speed, precision, times, source.
PROVEN = N_("{framework} in {subject} computes on {gpu} – proven: {speed} in {precision}, seen by {source}.")
PROVEN_TIMES = N_(
    "{framework} in {subject} computes on {gpu} – proven: {speed} in {precision}, {times} × this processor in fp32, "
    "seen by {source}."
)
NOT_SEEN = N_("{framework} in {subject} says that it computes on {gpu} – but that was not seen: {why}.")
FAILS = N_("{framework} in {subject} fails on {gpu}: {why}.")
NOT_MEASURED = N_("{framework} in {subject} on {gpu}: could not be measured: {why}.")
CPU = N_("{framework} in {subject} computes on the CPU only ({speed}): {why}.")
ALL = N_("{framework} in {subject} could not be measured: {why}.")
ALL_FAIL = N_("{framework} in {subject} fails: {why}.")

#: What decided, in words.
WHY: dict[str, str] = {
    "own-work": N_("this process's own work on this GPU followed the loads"),
    "own-presence": N_("this process was on this GPU, and the GPU's work followed the loads"),
    "own-steps": N_("this process's memory on this GPU rose and fell with the loads"),
    "device-steps": N_(
        "processes cannot be told apart here; the GPU's memory rose and fell by exactly the blocks that were asked for"
    ),
    "device-only": N_("processes cannot be told apart here; the GPU, quiet otherwise, worked with the loads"),
    "other-device": N_("its process worked on another GPU"),
    "on-cpu": N_("the processor did the work"),
    "container": N_("inside this container processes cannot be told apart, and the GPU's own figures do not decide"),
    "wsl": N_("inside WSL processes cannot be told apart, and the GPU's own figures do not decide"),
    "no-instrument": N_("no instrument could watch this GPU"),
    "other-process": N_("the work seen on this GPU was another program's"),
    "no-rise": N_("no instrument saw this process on this GPU, and the GPU did not follow the loads"),
    "busy": N_("others keep this GPU so busy that its own figures do not decide"),
    "error": N_("the computation ended with an error"),
    "wrong-result": N_("the result is wrong"),
    "crashed": N_("its process crashed"),
    "cpu-build": N_("this build has no code for GPUs"),
    "no-gpu-seen": N_("it sees no GPU"),
    "little-memory": N_("too little memory is free on it"),
    "cancelled": N_("it was cancelled"),
    "timed-out": N_("it did not come to an end"),
    "too-much-memory": N_("its process took more and more main memory and was ended"),
    "too-short": N_("the run was too short"),
    "no-answer": N_("the interpreter gave no usable answer"),
}
#: Placeholders: speed, precision, error, tolerance, side, times.
CLAIM = N_("It says: {runs}; largest error {error} (allowed {tolerance}), on {where}.")
CLAIM_CPU = N_("The same work on this processor: {speed} in fp32, extrapolated from smaller matrices.")
CLAIM_CPU_BUSY = N_(
    "The same work on this processor, which was busy with other work: at least {speed} in fp32, extrapolated from "
    "smaller matrices."
)
#: Placeholders: framework, subject, speed, why.
CPU_BUSY = N_(
    "{framework} in {subject} computes on the CPU only (at least {speed}, the processor was busy with other work): "
    "{why}."
)
SEEN_OWN = N_("Seen: this process used {load} of the GPU under load and {idle} at rest ({source}; chance {chance}).")
SEEN_MEMORY = N_("Seen: its memory on this GPU reached {memory}.")
SEEN_STEPS = N_("Seen: {fitting} of {count} blocks of memory came and went with the loads.")
SEEN_ACTIVITY = N_("Seen on the GPU as a whole, under load and at rest: {figures}.")
SEEN_NOTHING = N_("Seen: this process was never on this GPU ({samples} readings).")
SEEN_OTHER = N_("Seen: process {pid} {name} worked on {device} meanwhile.")
MAPPING = N_("{framework} counts it as GPU {index}; PCI {bus}; GPU {number} in GPUMon's list.")
LITTLE_CONFIDENCE = N_("This is likely, not certain: {why}.")
SHARE = N_("That is {share} of what this card can do in {precision}.")
SHARE_LIMIT = N_("That is {share} of what this card can do in {precision}; {limit}.")
AT_HIGHEST_CLOCK = N_("That is {share} of what this card could do in {precision} at its highest clock ({highest}).")
AT_HIGHEST_CLOCK_LIMIT = N_(
    "That is {share} of what this card could do in {precision} at its highest clock ({highest}); {limit}."
)
IMPOSSIBLE = N_("The speed it states is {times} × what this card can do at most: it cannot be true.")
LIMITS: dict[str, str] = {
    "pstate": N_("clocks are low: {clock} of {highest}, P{pstate}"),
    "heat": N_("the card slows down because it is hot"),
    "busy": N_("other programs use the card as well"),
    "power": N_("the power limit holds the clocks down, which is normal at full load"),
    "clock": N_("clocks are low: {clock} of {highest}"),
    "small": N_("the free memory allowed only small matrices"),
}
#: Cards run above their boost clock, tables round; beyond this a speed is none.
_BELIEVABLE = 1.5
_SHOWN = ("gpu_utilization", "engine_utilization", "sm_activity", "power_w", "power_instant_w", "clock_sm_mhz")
_INSTRUMENTS = {"nvml": "NVML", "pdh": N_("Windows' counters"), "drm": "DRM"}


def sentences(proof: Mapping[str, Any], framework: str, subject: str, reason: str = "") -> list[list[str]]:
    """One list per GPU (or one for the framework): the verdict first, then both sides. ``reason`` is the cause that
    the rules found, in words."""
    devices = _mappings(proof.get("devices"))
    name = " ".join(part for part in (framework, _text(proof, "version")) if part)
    if devices and proof.get("why") != "cancelled":
        return [_device(proof, device, name, framework, subject, reason) for device in devices]
    why = reason or _(WHY.get(_text(proof, "why"), "")) or _text(proof, "why")
    error = _text(proof, "error").split("\n")[0]
    verdict = proof.get("verdict")
    values = {"framework": name, "subject": subject, "why": why}
    if verdict == "cpu":
        cpu = _mapping(proof.get("cpu"))
        form = CPU_BUSY if cpu.get("busy") is True else CPU
        return [[_(form).format(**values, speed=speed(_number(cpu, "flops_per_s"))), *([error] if error else [])]]
    sentence = _(ALL_FAIL if verdict == "fails" else ALL).format(**values)
    return [[sentence, *([error] if error else [])]]


def speed(flops_per_s: float) -> str:
    """Operations per second with a fitting unit, three digits."""
    for unit, size in (("PFLOP/s", 1e15), ("TFLOP/s", 1e12), ("GFLOP/s", 1e9)):
        if flops_per_s >= size:
            return f"{_digits(flops_per_s / size)} {unit}"
    return f"{_digits(flops_per_s / 1e6)} MFLOP/s"


def _device(
    proof: Mapping[str, Any], device: Mapping[str, Any], name: str, framework: str, subject: str, reason: str
) -> list[str]:
    claimed, seen = _mapping(device.get("claimed")), _mapping(device.get("seen"))
    verdict, why = _text(device, "verdict"), _text(device, "why")
    gpu = f"GPU {device.get('index', '?')}"
    if _text(device, "name"):
        gpu += f" ({_text(device, 'name')})"
    runs = {key: run for key, run in _mapping(claimed.get("runs")).items() if isinstance(run, Mapping)}
    fastest = _mapping(runs.get(_text(claimed, "fastest")))
    values = {
        "framework": name,
        "subject": subject,
        "gpu": gpu,
        "why": _(WHY[why]) if why in WHY else why,
        "speed": speed(_number(fastest, "flops_per_s")),
        "precision": _text(claimed, "fastest"),
        "times": _digits(_number(claimed, "times_cpu")),
        "source": _source(seen),
    }
    if verdict == "proven":
        lines = [_(PROVEN_TIMES if claimed.get("times_cpu") else PROVEN).format(**values)]
        if device.get("confidence") != "high":
            lines.append(_(LITTLE_CONFIDENCE).format(why=values["why"]))
    elif verdict == "fails" and reason:
        lines = [_(FAILS).format(**{**values, "why": reason})]
    else:
        form = {"not-seen": NOT_SEEN, "fails": FAILS}.get(verdict, NOT_MEASURED)
        lines = [_(form).format(**values)]
    error = _text(device, "error").split("\n")[0]
    if error:
        lines.append(error)
    share = _mapping(device.get("expected"))
    if verdict == "proven" or _number(share, "share") > _BELIEVABLE:
        lines += _share(share)
    if fastest:
        lines.append(_claim(claimed, runs, fastest))
    cpu = _mapping(proof.get("cpu"))
    if _number(cpu, "flops_per_s") and fastest:
        form = CLAIM_CPU_BUSY if cpu.get("busy") is True else CLAIM_CPU
        lines.append(_(form).format(speed=speed(_number(cpu, "flops_per_s"))))
    lines += _seen(seen)
    if _text(device, "bus") and isinstance(device.get("system_index"), int):
        mapping = {"index": device.get("index"), "bus": _text(device, "bus"), "number": device["system_index"]}
        lines.append(_(MAPPING).format(framework=framework, **mapping))
    return lines


def _claim(claimed: Mapping[str, Any], runs: Mapping[str, Mapping[str, Any]], fastest: Mapping[str, Any]) -> str:
    done = [(key, run) for key, run in runs.items() if "flops_per_s" in run]
    figures = _(", ").join(f"{speed(_number(run, 'flops_per_s'))} {key}" for key, run in done)
    return _(CLAIM).format(
        runs=figures,
        error=f"{_number(fastest, 'error'):.1e}",
        tolerance=f"{_number(fastest, 'tolerance'):.0e}",
        where=_text(claimed, "where") or "?",
    )


def _seen(seen: Mapping[str, Any]) -> list[str]:
    lines = []
    own = _mapping(seen.get("own_utilization"))
    if own:
        values = {"load": _percent(own, "load"), "idle": _percent(own, "idle"), "chance": _percent(own, "chance")}
        lines.append(_(SEEN_OWN).format(source=_source(seen), **values))
    elif seen.get("listed") is False and seen.get("samples"):
        lines.append(_(SEEN_NOTHING).format(samples=seen["samples"]))
    if isinstance(seen.get("own_memory_bytes"), int):
        lines.append(_(SEEN_MEMORY).format(memory=formatters.memory(seen["own_memory_bytes"])))
    steps = _mapping(seen.get("own_steps")) or _mapping(seen.get("device_steps"))
    if isinstance(steps.get("asked_bytes"), list) and (steps.get("match") is True or not own):
        lines.append(_(SEEN_STEPS).format(fitting=steps.get("fitting"), count=len(steps["asked_bytes"])))
    activity = _mapping(seen.get("activity"))
    figures = []
    for metric in _SHOWN:
        found = _mapping(activity.get(metric))
        if found and not (metric == "power_instant_w" and "power_w" in activity):
            load, idle = (_figure(metric, _number(found, key)) for key in ("load", "idle"))
            figures.append(f"{_(METRICS[metric].label)} {load} / {idle}")
    if figures:
        lines.append(_(SEEN_ACTIVITY).format(figures=_(", ").join(figures)))
    for key in ("elsewhere", "others"):
        for other in _mappings(seen.get(key)):
            words = {name: str(other.get(name) or "") for name in ("pid", "name", "device")}
            lines.append(_(SEEN_OTHER).format(**words))
    return lines


def _share(expected: Mapping[str, Any]) -> list[str]:
    share = expected.get("share")
    if not isinstance(share, int | float):
        return []
    if share > _BELIEVABLE:
        return [_(IMPOSSIBLE).format(times=_digits(share))]
    highest = formatters.megahertz(_number(expected, "clock_max_mhz"))
    plain, limited = SHARE, SHARE_LIMIT
    if expected.get("at_highest_clock") is True:
        plain, limited = AT_HIGHEST_CLOCK, AT_HIGHEST_CLOCK_LIMIT
    values = {"share": formatters.percent(share), "precision": _text(expected, "precision"), "highest": highest}
    limit = _text(expected, "limit")
    if limit not in LIMITS:
        return [_(plain).format(**values)]
    words = _(LIMITS[limit]).format(
        clock=formatters.megahertz(_number(expected, "clock_mhz")),
        highest=highest,
        pstate=expected.get("pstate", "?"),
    )
    return [_(limited).format(limit=words, **values)]


def _source(seen: Mapping[str, Any]) -> str:
    source = _text(seen, "source")
    return _(_INSTRUMENTS.get(source, source)) if source else "?"


def _figure(metric: str, value: float) -> str:
    return formatters.number_text(metric, value)


def _percent(found: Mapping[str, Any], key: str) -> str:
    return formatters.percent(_number(found, key))


def _digits(value: float) -> str:
    """Three digits at most before it becomes whole."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list | tuple) else []


def _text(found: Mapping[str, Any], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


def _number(found: Mapping[str, Any], key: str) -> float:
    value = found.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
