"""Knows: what the utilization gauges measure and why they differ. Must not know: charts, Qt.

The gauges measure different things and are never averaged. Verdicts stand on means over a few seconds and only speak
of large, lasting gaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import DeviceInfo, DeviceSample, DeviceState, EngineKind
from gpumon_gui.core.values import NOT_READ, Missing, Reading, Reason, Value, number, text
from gpumon_gui.telemetry.derive.engine_names import engine_name
from gpumon_gui.telemetry.derive.engines import Mean

#: Means are over this many seconds (NVML's own period is up to 1 s, Windows' two collects apart).
WINDOW_S = 5.0
#: NVML reads 2 to 12 points above the engine counters in games (SidebarMonitor's notes): below this is agreement.
TOLERANCE = 0.15
#: Launch-bound 2 µs kernels: 36 % in NVML, 97 % in Task Manager (RTX 3070 measurements): a gap of this size is meant.
LARGE_GAP = 0.25
#: "High" for a share of time.
HIGH = 0.70
#: SM activity below this share of GPU-Util: few SMs used, or waiting. Measured: DDP rank waiting in NCCL 91 % / 30 %,
#: ResNet-50 100 % / 92 %, input-bound 17 % / 12 %, launch-bound 14 % / 1.1 %.
FEW_SMS = 0.5
#: Below this everything is idle.
IDLE = 0.02
#: Power below this share of the limit at high utilization. Measured on H200: waiting rank 39 %, training 84 to 99 %.
LOW_POWER = 0.45

#: Reasons for which a device never has a gauge.
_NEVER = frozenset({Reason.NOT_SUPPORTED, Reason.NOT_OFFERED_IN_VM, Reason.DRIVER_MODEL})
_ONLY_GPM = N_("Only NVIDIA's data-centre GPUs report this, from Hopper on.")

_COMPUTE_KINDS = frozenset({EngineKind.GRAPHICS, EngineKind.COMPUTE})
_MEDIA_KINDS = frozenset({EngineKind.VIDEO_DECODE, EngineKind.VIDEO_ENCODE, EngineKind.VIDEO_PROCESSING})
_MEDIA_METRICS = ("encoder_utilization", "decoder_utilization", "jpeg_utilization", "ofa_utilization")


class Level(StrEnum):
    """What a verdict amounts to."""

    AGREE = "agree"
    DIFFER = "differ"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Gauge:
    """One gauge. ``value`` is a fraction 0..1 or missing; ``detail`` names the engine it stands for, if any.

    ``metric`` is the metric behind it (for the tool tip), ``shown`` and ``limit`` are watts where the gauge is power.
    ``absent`` says why a device has no such gauge, empty when the reason of the missing value says enough.
    """

    id: str
    label: str
    measures: str
    value: Value
    metric: str
    detail: str = ""
    shown: Value = NOT_READ
    limit: Value = NOT_READ
    absent: str = ""

    @property
    def offered(self) -> bool:
        """Whether the device has this gauge, now or later."""
        return not (isinstance(self.value, Missing) and self.value.reason in _NEVER)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the gauges agree, and if not, why. ``message`` is a message id for ``str.format(**params)``.

    ``params`` are fractions 0..1, to be written as percentages; ``names`` are words that stay as they are.
    """

    code: str
    level: Level
    message: str
    params: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


def gauges(device: DeviceSample, info: DeviceInfo) -> tuple[Gauge, ...]:
    """The five gauges of a device; one that the device has not carries its reason."""
    engine, name = _os_engine(device)
    return (
        Gauge(
            "driver",
            N_("GPU-Util (driver)"),
            N_("Time in which at least one kernel was running"),
            _value(device, "gpu_utilization"),
            "gpu_utilization",
        ),
        Gauge(
            "os",
            N_("OS engine time"),
            N_("Time in which the system saw work on a 3D or compute engine"),
            engine,
            "engine_utilization",
            name,
            absent=N_("The driver gives the operating system no engine times."),
        ),
        Gauge(
            "sm",
            N_("SM activity"),
            N_("Share of the multiprocessors that had work"),
            _value(device, "sm_activity"),
            "sm_activity",
            absent=_ONLY_GPM,
        ),
        Gauge(
            "tensor",
            N_("Tensor cores"),
            N_("Time in which the matrix units were working"),
            _value(device, "tensor_activity"),
            "tensor_activity",
            absent=_ONLY_GPM,
        ),
        _power(device, info),
    )


def verdict(device: DeviceSample, info: DeviceInfo, mean: Mean) -> Verdict:
    """Whether the gauges agree. ``mean`` gives the mean of a history column over :data:`WINDOW_S`, None if unknown."""
    if device.state is not DeviceState.OK:
        return Verdict("no-values", Level.UNKNOWN, N_("No current values, so there is nothing to compare."))
    if _is_split(device, info):
        return Verdict(
            "mig",
            Level.UNKNOWN,
            N_("The card is split (MIG): GPU-Util of the whole card is undefined. Look at the instances."),
        )
    driver = mean("gpu_utilization")
    system = _highest_mean(device, mean, _COMPUTE_KINDS)
    media = max(
        (share for share in (_highest_mean(device, mean, _MEDIA_KINDS), *(mean(m) for m in _MEDIA_METRICS)) if share),
        default=0.0,
    )
    sm = mean("sm_activity")
    power = _power_share(device, info, mean)
    if sum(gauge is not None for gauge in (driver, system, sm, power)) < 2:
        return Verdict("one-instrument", Level.UNKNOWN, N_("Not enough gauges here to check one against another."))
    return (
        _driver_and_system(driver, system)
        or _driver_and_media(driver, media)
        or _driver_and_sm(driver, sm)
        or _driver_and_power(driver, sm, power)
        or _agreement(driver, system, sm)
    )


def _driver_and_system(driver: float | None, system: float | None) -> Verdict | None:
    if driver is None or system is None:
        return None
    params = {"driver": driver, "system": system}
    if system - driver > LARGE_GAP:
        return Verdict(
            "launch-bound",
            Level.DIFFER,
            N_(
                "The system sees the engine occupied {system}, the driver sees kernels running {driver} of the time: "
                "many tiny kernels with gaps between them (launch-bound). Larger batches or CUDA graphs help."
            ),
            params,
        )
    if driver - system > LARGE_GAP:
        return Verdict(
            "system-blind",
            Level.DIFFER,
            N_(
                "The driver sees kernels running {driver} of the time, the system only {system}: with hardware "
                "scheduling or in compute mode the system does not see all work. Trust the driver's figure."
            ),
            params,
        )
    return None


def _driver_and_media(driver: float | None, media: float) -> Verdict | None:
    if driver is None or media - driver <= LARGE_GAP:
        return None
    return Verdict(
        "media-engines",
        Level.DIFFER,
        N_("A video engine is {media} busy. GPU-Util ({driver}) does not count video engines."),
        {"driver": driver, "media": media},
    )


def _driver_and_sm(driver: float | None, sm: float | None) -> Verdict | None:
    if driver is None or sm is None or driver < IDLE * 3 or sm >= driver * FEW_SMS or driver - sm <= 0.1:
        return None
    params = {"driver": driver, "sm": sm}
    if driver >= HIGH:
        return Verdict(
            "few-sms",
            Level.DIFFER,
            N_(
                "Kernels run {driver} of the time but only {sm} of the multiprocessors have work: the kernels are "
                "small, or the GPU waits in communication (NCCL). It is less busy than GPU-Util says."
            ),
            params,
        )
    return Verdict(
        "small-kernels",
        Level.DIFFER,
        N_(
            "Kernels run {driver} of the time and use {sm} of the multiprocessors: the work is too small for this GPU. "
            "A larger batch helps."
        ),
        params,
    )


def _driver_and_power(driver: float | None, sm: float | None, power: float | None) -> Verdict | None:
    if driver is None or power is None or driver < HIGH or power >= LOW_POWER or (sm is not None and sm >= HIGH):
        return None
    return Verdict(
        "low-power",
        Level.DIFFER,
        N_(
            "GPU-Util is {driver} at only {power} of the power limit: the running kernels do little work, or wait "
            "for memory or for other GPUs."
        ),
        {"driver": driver, "power": power},
    )


def _agreement(driver: float | None, system: float | None, sm: float | None) -> Verdict:
    shares = [share for share in (driver, system, sm) if share is not None]
    if not shares:
        return Verdict("one-instrument", Level.UNKNOWN, N_("Not enough gauges here to check one against another."))
    if max(shares) < IDLE:
        return Verdict("idle", Level.AGREE, N_("All gauges agree: the GPU is idle."))
    return Verdict("agree", Level.AGREE, N_("The gauges agree within what each of them measures."))


def _is_split(device: DeviceSample, info: DeviceInfo) -> bool:
    value = device.values.get("gpu_utilization")
    mode = text(device.values.get("mig_mode")) or text(info.static.get("mig_mode"))
    return mode == "enabled" or (isinstance(value, Missing) and value.reason is Reason.MIG)


def _os_engine(device: DeviceSample) -> tuple[Value, str]:
    known = [e for e in device.engines if e.kind in _COMPUTE_KINDS and number(e.utilization) is not None]
    if known:
        top = max(known, key=lambda engine: number(engine.utilization) or 0.0)
        return top.utilization, engine_name(top.name)
    listed = next((e.utilization for e in device.engines if e.kind in _COMPUTE_KINDS), None)
    return (_absent(device) if listed is None else listed), ""


def _highest_mean(device: DeviceSample, mean: Mean, kinds: frozenset[EngineKind]) -> float | None:
    shares = (mean(f"engine:{engine.id}") for engine in device.engines if engine.kind in kinds)
    return max((share for share in shares if share is not None), default=None)


def _value(device: DeviceSample, metric: str) -> Value:
    return device.values.get(metric, _absent(device))


def _absent(device: DeviceSample) -> Missing:
    """What a value is that no source gave: of a device without any reading (asleep, lost at once) nobody knows."""
    known = any(isinstance(value, Reading) for value in device.values.values())
    return Missing(Reason.NOT_SUPPORTED) if known else NOT_READ


def power_limit(device: DeviceSample, info: DeviceInfo) -> Value:
    """The limit in force, or else the default one."""
    limit = device.values.get("power_limit_w")
    return limit if isinstance(limit, Reading) else info.static.get("power_limit_default_w", NOT_READ)


def _power(device: DeviceSample, info: DeviceInfo) -> Gauge:
    power, limit = _value(device, "power_w"), power_limit(device, info)
    watts, top = number(power), number(limit)
    share: Value
    if watts is not None and top:
        share = Reading(watts / top, power.source)
    else:
        share = power if isinstance(power, Missing) else Missing(Reason.NOT_SUPPORTED, power.source)
    return Gauge(
        "power", N_("Power"), N_("Electrical power as a share of the limit"), share, "power_w", "", power, limit
    )


def _power_share(device: DeviceSample, info: DeviceInfo, mean: Mean) -> float | None:
    watts, limit = mean("power_w"), number(power_limit(device, info))
    return watts / limit if watts is not None and limit else None
