"""Knows: what of a sample stands in the tray: two levels and a few words. Must not know: how they are drawn.

With several GPUs the icon shows the busiest and the fullest; the words name each.
"""

from __future__ import annotations

from gpumon_gui.bridge.feed import FeedState, FeedStatus
from gpumon_gui.core import formatters
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceKind, DeviceSample, DeviceState, Sample
from gpumon_gui.core.values import Value, number
from gpumon_gui.telemetry.derive.adapters import Adapter, adapters
from gpumon_gui.telemetry.derive.engines import busiest
from gpumon_gui.ui.formatters import title_of
from gpumon_gui.ui.tray.meter import Meter, steps
from gpumon_gui.ui.widgets.engine_panel import engine_caption

#: Windows cuts longer tips off (NOTIFYICONDATA.szTip, 128 UTF-16 units with the end mark).
MOST_CHARACTERS = 127
_NOT_GPUS = (DeviceKind.SOFTWARE, DeviceKind.VIRTUAL, DeviceKind.NPU)
_TROUBLE = (DeviceState.LOST, DeviceState.NOT_ANSWERING)
_STATE_WORDS: dict[DeviceState, str] = {
    DeviceState.ASLEEP: N_("asleep"),
    DeviceState.LOST: N_("lost"),
    DeviceState.SICK: N_("invalid data"),
    DeviceState.NOT_ANSWERING: N_("no answer"),
}


def meter_of(sample: Sample | None, status: FeedStatus, *, light: bool | None) -> Meter:
    """What the icon shows."""
    dimmed = status.state in (FeedState.STALE, FeedState.PAUSED)
    trouble = status.state is FeedState.STALE
    if sample is None:
        return Meter(dimmed=dimmed, light=light, trouble=trouble)
    loads, fillings = [], []
    for adapter in gpus_of(sample):
        device = sample.devices.get(adapter.info.key)
        if device is None or device.state is not DeviceState.OK:
            trouble = trouble or (device is not None and device.state in _TROUBLE)
            continue
        load = number(_load(device))
        used, total = number(device.values.get("memory_used_bytes")), number(memory_total(adapter, device))
        loads += [load] if load is not None else []
        fillings += [used / total] if used is not None and total else []
    return Meter(steps(max(loads, default=None)), steps(max(fillings, default=None)), dimmed, light, trouble)


def words_of(sample: Sample | None, status: FeedStatus) -> str:
    """The tip: the state in words when it is not the present, then the GPUs."""
    lines = [line] if (line := state_line(status)) else []
    gpus = () if sample is None else gpus_of(sample)
    if sample is not None and len(gpus) == 1:
        lines += _in_full(gpus[0], sample.devices.get(gpus[0].info.key))
    elif sample is not None and gpus:
        short, named = ([_in_a_line(gpu, sample.devices.get(gpu.info.key), on) for gpu in gpus] for on in (False, True))
        lines += named if _units("\n".join([*lines, *named])) <= MOST_CHARACTERS else short
    elif sample is not None:
        lines.append(_("No GPU"))
    return _fitted(["GPUMon", *lines] if len(lines) < 2 else lines)


def gpus_of(sample: Sample) -> tuple[Adapter, ...]:
    """The adapters that are GPUs; all where none is."""
    shown = adapters(sample.inventory)
    return tuple(gpu for gpu in shown if gpu.info.kind not in _NOT_GPUS) or shown


def _load(device: DeviceSample) -> Value | None:
    engine = busiest(device)
    return device.values.get("gpu_utilization") if engine is None else engine.value


def memory_total(adapter: Adapter, device: DeviceSample) -> Value | None:
    """The device's memory: of now where it can change, else what it was made with."""
    return device.values.get("memory_total_bytes", adapter.info.static.get("memory_total_bytes"))


def state_line(status: FeedStatus) -> str:
    """What the figures are when they are not of this moment; else empty."""
    if status.state is FeedState.STALE:
        return _("Not answering: values are {age} old").format(age=formatters.duration(status.age_s))
    if status.state is FeedState.PAUSED:
        return _("Paused")
    return _("Starting…") if status.state is FeedState.STARTING else ""


def _in_full(gpu: Adapter, device: DeviceSample | None) -> list[str]:
    lines = [printable(gpu.info.name)]
    if device is None or device.state is not DeviceState.OK:
        return [*lines, state_word(device)]
    engine = busiest(device)
    share = formatters.value_text("engine_utilization", _load(device))
    lines.append(
        _("Utilization {share}").format(share=share) if engine is None else f"{engine_caption(engine)} {share}"
    )
    memory = formatters.memory_pair(device.values.get("memory_used_bytes"), memory_total(gpu, device))
    lines.append(_("Memory {amount}").format(amount=memory))
    lines.append(formatters.value_text("temperature_c", device.values.get("temperature_c")))
    return lines if lines[-1] != formatters.DASH else lines[:-1]


def _in_a_line(gpu: Adapter, device: DeviceSample | None, with_counter: bool) -> str:
    if device is None or device.state is not DeviceState.OK:
        return f"{title_of(gpu)}: {state_word(device)}"
    engine = busiest(device) if with_counter else None
    share = formatters.value_text("engine_utilization", _load(device))
    parts = [
        share if engine is None else f"{engine_caption(engine)} {share}",
        formatters.memory_pair(device.values.get("memory_used_bytes"), memory_total(gpu, device)),
        formatters.value_text("temperature_c", device.values.get("temperature_c")),
    ]
    said = _(", ").join(part for part in parts if part != formatters.DASH)
    return _("{what}: {value}").format(what=title_of(gpu), value=said)


def state_word(device: DeviceSample | None) -> str:
    """How a device is that gives no figures, in a word; empty when all is well."""
    state = DeviceState.NOT_ANSWERING if device is None else device.state
    return "" if state is DeviceState.OK else _(_STATE_WORDS[state])


def _fitted(lines: list[str]) -> str:
    text = "\n".join(lines)
    if _units(text) <= MOST_CHARACTERS:
        return text
    kept = list(lines)
    while len(kept) > 1 and _units("\n".join([*kept, "…"])) > MOST_CHARACTERS:
        kept.pop()
    text = "\n".join([*kept, "…"])
    while _units(text) > MOST_CHARACTERS:  # one line, too long by itself
        text = text[:-2] + "…"
    return text


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2
