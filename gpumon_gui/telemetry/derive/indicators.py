"""Knows: what is normal for five indicators that guides tell people to watch. Must not know: charts, Qt.

The ranges are those of the guides people follow (GPU-Util above 30 % while training, ideally above 70 %; memory that
moves with the run; P0 to P2 under load; 50 to 85 °C), corrected where the hardware says more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from gpumon_gui.core.messages import N_
from gpumon_gui.core.metrics import ClockReason
from gpumon_gui.core.model import DeviceInfo, DeviceSample, DeviceState
from gpumon_gui.core.values import NOT_READ, Missing, Value, number
from gpumon_gui.telemetry.derive.engines import Mean
from gpumon_gui.telemetry.derive.gauges import power_limit

#: Judgements look back this many seconds.
WINDOW_S = 30.0
#: The guides: above 30 % the GPU takes part, above 70 % it is well used.
UTIL_LOW = 0.30
UTIL_GOOD = 0.70
#: NVML rounds to whole percent; a mean below this is "0 % throughout".
UTIL_ZERO = 0.005
#: Memory this full is close to an out-of-memory error.
MEMORY_FULL = 0.95
#: Memory that moves by less than this share of the card over the window stands still.
MEMORY_STILL = 0.0005
#: P0 to P2 are the states of work (P2 is usual for CUDA on GeForce), P8 and above those of rest.
PSTATE_WORK = 2
PSTATE_REST = 8
#: The guides' range; most cards slow down between 83 and 95 °C.
TEMPERATURE_LOW = 50.0
TEMPERATURE_WARM = 85.0
TEMPERATURE_HOT = 90.0
#: nvml.h nvmlClocksEventReason*: HW slowdown, SW thermal, HW thermal, power brake.
_HARDWARE = ClockReason.HARDWARE_SLOWDOWN | ClockReason.POWER_BRAKE


class Judgement(StrEnum):
    """How an indicator looks."""

    GOOD = "good"
    NEUTRAL = "neutral"  #: nothing to say: idle
    ATTENTION = "attention"
    BAD = "bad"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Indicator:
    """One row. Texts are message ids; ``params`` (fractions by name) go into ``sign`` and ``advice``, ``degrees`` (°C)
    into ``normal``.

    ``now`` and ``limit`` are values of ``metric``. ``sign`` says what is seen, ``advice`` what to do; either may be
    empty.
    """

    id: str
    label: str
    metric: str
    now: Value
    normal: str
    judgement: Judgement
    sign: str = ""
    advice: str = ""
    limit: Value = NOT_READ
    params: Mapping[str, float] = field(default_factory=dict)
    degrees: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Past:
    """What the history says over :data:`WINDOW_S`.

    ``mean`` of a column (None: too few values), ``spread`` the difference between largest and smallest.
    """

    mean: Mean
    spread: Mean


def indicators(device: DeviceSample, info: DeviceInfo, past: Past, holds_memory: bool) -> tuple[Indicator, ...]:
    """The five rows. ``holds_memory``: a compute process uses this device, so it ought to be working."""
    alive = device.state is DeviceState.OK
    load = past.mean("gpu_utilization")
    if load is None:
        load = past.mean("engine_utilization")
    rows = (
        _utilization(device, load, holds_memory),
        _memory(device, info, load, past, holds_memory),
        _pstate(device, load),
        _temperature(device, info),
        _power(device, info, load),
    )
    if alive:
        return rows
    return tuple(replace(row, judgement=Judgement.UNKNOWN, sign="", advice="", params={}) for row in rows)


def _utilization(device: DeviceSample, load: float | None, holds_memory: bool) -> Indicator:
    metric = "gpu_utilization" if number(device.values.get("gpu_utilization")) is not None else "engine_utilization"
    now = device.values.get(metric, device.values.get("gpu_utilization", NOT_READ))
    judgement, sign, advice = Judgement.UNKNOWN, "", ""
    if load is not None:
        if load < UTIL_ZERO and holds_memory:
            judgement = Judgement.BAD
            sign = N_("0 % throughout although a process holds GPU memory: the GPU is not called.")
            advice = N_("Check that the program moves its model and its data to the GPU.")
        elif load < UTIL_LOW and not holds_memory:
            judgement, sign = Judgement.NEUTRAL, N_("No compute process is running on this GPU.")
        elif load < UTIL_LOW:
            judgement = Judgement.ATTENTION
            sign = N_("{load} on average: the GPU waits most of the time.")
            advice = N_("Look at data loading (more workers, prefetch) and at the batch size.")
        elif load < UTIL_GOOD:
            judgement = Judgement.GOOD
            sign = N_("{load} on average: in use, with room left.")
            advice = N_("A larger batch or faster data loading may raise it.")
        else:
            judgement, sign = Judgement.GOOD, N_("{load} on average: well used.")
    return Indicator(
        "utilization",
        N_("GPU utilization"),
        metric,
        now,
        N_("Training: above 30 %, good above 70 %"),
        judgement,
        sign,
        advice,
        params={"load": load or 0.0},
    )


def _memory(device: DeviceSample, info: DeviceInfo, load: float | None, past: Past, holds_memory: bool) -> Indicator:
    now = device.values.get("memory_used_bytes", NOT_READ)
    total = device.values.get("memory_total_bytes") or info.static.get("memory_total_bytes", NOT_READ)
    used, size = number(now), number(total)
    spread = past.spread("memory_used_bytes")
    judgement, sign, advice = Judgement.UNKNOWN, "", ""
    share = used / size if used is not None and size else 0.0
    if used is not None and size:
        if share >= MEMORY_FULL:
            judgement = Judgement.ATTENTION
            sign = N_("{share} full: the next allocation may fail.")
            advice = N_("Smaller batch, mixed precision or gradient accumulation.")
        elif not holds_memory:
            judgement, sign = Judgement.NEUTRAL, N_("No compute process holds memory.")
        elif spread is not None and spread < size * MEMORY_STILL and load is not None and load < UTIL_LOW:
            judgement = Judgement.ATTENTION
            sign = N_("Stands still while the GPU does little: the run may be waiting for data.")
            advice = N_("Look at the input pipeline: are batches arriving?")
        else:
            judgement, sign = Judgement.GOOD, N_("{share} in use.")
    return Indicator(
        "memory",
        N_("GPU memory"),
        "memory_used_bytes",
        now,
        N_("Moves with the run, stays below 95 %"),
        judgement,
        sign,
        advice,
        total,
        {"share": share},
    )


def _pstate(device: DeviceSample, load: float | None) -> Indicator:
    now = device.values.get("pstate", NOT_READ)
    state = number(now)
    judgement, sign, advice = Judgement.UNKNOWN, "", ""
    if state is not None and load is not None:
        if load < UTIL_LOW:
            judgement, sign = Judgement.NEUTRAL, N_("Little load: any state is normal.")
        elif state <= PSTATE_WORK:
            judgement, sign = Judgement.GOOD, N_("Full performance under load.")
        elif state < PSTATE_REST:
            judgement = Judgement.ATTENTION
            sign = N_("Reduced performance under load.")
            advice = N_("Look at the power row and at the power mode of the system.")
        else:
            judgement = Judgement.BAD
            sign = N_("A rest state under load: the GPU is not boosting.")
            advice = N_("Set the power mode to maximum performance; on a laptop plug in the charger.")
    return Indicator(
        "pstate", N_("P-state"), "pstate", now, N_("P0 to P2 under load, P8 at rest"), judgement, sign, advice
    )


def _temperature(device: DeviceSample, info: DeviceInfo) -> Indicator:
    now = device.values.get("temperature_c", NOT_READ)
    degrees, slowdown = number(now), number(info.static.get("temperature_slowdown_c"))
    hot = TEMPERATURE_HOT if slowdown is None else min(TEMPERATURE_HOT, slowdown)
    judgement, sign, advice = Judgement.UNKNOWN, "", ""
    if degrees is not None:
        if degrees > hot:
            judgement = Judgement.BAD
            sign = N_("Too hot: the card slows itself down.")
            advice = N_("Check fans, dust and air flow, or lower the power limit.")
        elif degrees > TEMPERATURE_WARM:
            judgement = Judgement.ATTENTION
            sign = N_("Warm: little reserve left.")
            advice = N_("Check cooling before long runs.")
        else:
            judgement, sign = Judgement.GOOD, N_("Within the normal range.")
    return Indicator(
        "temperature",
        N_("Temperature"),
        "temperature_c",
        now,
        N_("{low} to {high} under load; above {hot} check cooling"),
        judgement,
        sign,
        advice,
        degrees={"low": TEMPERATURE_LOW, "high": TEMPERATURE_WARM, "hot": TEMPERATURE_HOT},
    )


def _power(device: DeviceSample, info: DeviceInfo, load: float | None) -> Indicator:
    now, limit = device.values.get("power_w", NOT_READ), power_limit(device, info)
    reasons = device.values.get("throttle_reasons")
    mask = number(reasons)
    judgement, sign, advice = Judgement.UNKNOWN, "", ""
    if mask is not None:
        bits = int(mask)
        if bits & ClockReason.HEAT:
            judgement = Judgement.BAD
            sign = N_("Clocks are lowered because of heat.")
            advice = N_("Check fans, dust and air flow, or lower the power limit.")
        elif bits & _HARDWARE:
            judgement = Judgement.BAD
            sign = N_("The hardware lowers the clocks (power supply or heat).")
            advice = N_("Check power cables, power supply and cooling.")
        elif bits & ClockReason.POWER_CAP:
            judgement = Judgement.GOOD
            sign = N_("At the power limit: normal at full load.")
        elif load is not None and load < UTIL_LOW:
            judgement, sign = Judgement.NEUTRAL, N_("Little load; nothing limits the clocks.")
        else:
            judgement, sign = Judgement.GOOD, N_("Nothing limits the clocks.")
    elif isinstance(reasons, Missing) and number(now) is not None:
        sign = N_("This device does not say what limits its clocks.")
    return Indicator(
        "power",
        N_("Power and clocks"),
        "power_w",
        now,
        N_("Below or at the limit, not slowed by heat"),
        judgement,
        sign,
        advice,
        limit,
    )
