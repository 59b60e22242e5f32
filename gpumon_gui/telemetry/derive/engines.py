"""Knows: which engines of a device can be charted and which four are worth it now. Must not know: charts, Qt.

An engine is named by its column in the history: ``engine:<id>`` for those the operating system lists, the metric id
for those that a driver gives as one figure (GPU-Util, SM activity, video engines).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.model import DeviceSample, EngineKind
from gpumon_gui.core.values import Missing, Reason, Value, number
from gpumon_gui.telemetry.derive.engine_names import engine_name
from gpumon_gui.telemetry.provenance import source_name

#: How many charts there are.
SLOTS = 4
#: An engine off show that is busier than this comes on show (mean of :data:`WINDOW_S`).
BUSY = 0.05
#: Compute comes on show earlier: the question this program answers is whether it runs.
COMPUTE_BUSY = 0.02
#: An engine on show that is less busy than this may give up its place.
IDLE = 0.01
#: Means are over this many seconds, so that one burst moves nothing.
WINDOW_S = 10.0
#: A chart that changed on its own keeps its engine this long.
HOLD_S = 30.0

#: Reasons for which an engine is not offered at all.
_NEVER = frozenset({Reason.NOT_SUPPORTED, Reason.NOT_OFFERED_IN_VM, Reason.DRIVER_MODEL})

# Metrics that read like an engine, best first; those that are never a default come last.
_METRIC_ENGINES: tuple[tuple[str, EngineKind], ...] = (
    ("gpu_utilization", EngineKind.OTHER),
    ("sm_activity", EngineKind.OTHER),
    ("tensor_activity", EngineKind.OTHER),
    ("dram_activity", EngineKind.OTHER),
    ("memory_utilization", EngineKind.OTHER),
    ("encoder_utilization", EngineKind.VIDEO_ENCODE),
    ("decoder_utilization", EngineKind.VIDEO_DECODE),
    ("jpeg_utilization", EngineKind.OTHER),
    ("ofa_utilization", EngineKind.OTHER),
    ("graphics_activity", EngineKind.OTHER),
    ("sm_occupancy", EngineKind.OTHER),
    ("fp16_activity", EngineKind.OTHER),
    ("fp32_activity", EngineKind.OTHER),
    ("fp64_activity", EngineKind.OTHER),
)
_SWAPPED_IN = frozenset({"encoder_utilization", "decoder_utilization", "jpeg_utilization", "ofa_utilization"})

# Task Manager's defaults are 3D, Copy, Video Encode, Video Decode.
_OS_ORDER: tuple[EngineKind, ...] = (
    EngineKind.GRAPHICS,
    EngineKind.COPY,
    EngineKind.VIDEO_ENCODE,
    EngineKind.VIDEO_DECODE,
    EngineKind.COMPUTE,
    EngineKind.NEURAL,
    EngineKind.VIDEO_PROCESSING,
    EngineKind.OTHER,
)
_COMPUTE = frozenset({EngineKind.COMPUTE, EngineKind.NEURAL})

GPU_UTIL = N_("GPU-Util")


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine that can be charted.

    ``series`` is its column in the history; ``label`` its name in the user's language; ``metric`` the metric id, empty
    for an engine of the operating system.
    """

    series: str
    label: str
    kind: EngineKind
    value: Value
    metric: str = ""

    @property
    def from_os(self) -> bool:
        """Whether the operating system lists it."""
        return not self.metric


def engines(device: DeviceSample) -> tuple[Engine, ...]:
    """Every engine of the device that can be charted: the operating system's first, then the driver's figures.

    What the device never offers is left out; what is missing for now (asleep, first sample) stays. A figure of the
    driver that is called as one of the system's engines says whose it is.
    """
    listed = _listed(device)
    taken = {engine.label for engine in listed}
    return (*listed, *(_told_apart(engine) if engine.label in taken else engine for engine in _figures(device)))


def busiest(device: DeviceSample) -> Engine | None:
    """The busiest engine: of those the operating system lists, else the driver's GPU-Util. None: nothing is known."""
    listed = [engine for engine in _listed(device) if number(engine.value) is not None]
    if listed:
        return max(listed, key=lambda engine: number(engine.value) or 0.0)
    return next((e for e in _figures(device) if e.metric == "gpu_utilization" and number(e.value) is not None), None)


def _listed(device: DeviceSample) -> tuple[Engine, ...]:
    names = [engine_name(engine.name) for engine in device.engines]
    seen: dict[str, int] = {}
    made = []
    for engine, name in zip(device.engines, names, strict=True):
        seen[name] = seen.get(name, 0) + 1
        # Several engines share a name (six times "Copy"): the second and later ones carry a number.
        label = name if seen[name] == 1 else f"{name} #{seen[name]}"
        made.append(Engine(f"engine:{engine.id}", label, engine.kind, engine.utilization))
    return tuple(made)


def _figures(device: DeviceSample) -> tuple[Engine, ...]:
    made = []
    for metric, kind in _METRIC_ENGINES:
        value = device.values.get(metric)
        if value is None or (isinstance(value, Missing) and value.reason in _NEVER):
            continue
        label = GPU_UTIL if metric == "gpu_utilization" else METRICS[metric].label
        made.append(Engine(metric, _(label), kind, value, metric))
    return tuple(made)


def _told_apart(engine: Engine) -> Engine:
    source = engine.value.source
    return replace(engine, label=f"{engine.label} ({source_name(source)})") if source else engine


def default_order(offered: Sequence[Engine]) -> tuple[Engine, ...]:
    """Candidates for the charts, best first: one of each kind as in Task Manager, then the rest."""
    listed = [engine for engine in offered if engine.from_os]
    if not listed:
        return tuple(offered)
    ranked = sorted(listed, key=lambda engine: _OS_ORDER.index(engine.kind))
    firsts: list[Engine] = []
    for engine in ranked:
        if all(engine.kind is not other.kind for other in firsts):
            firsts.append(engine)
    rest = [engine for engine in ranked if engine not in firsts]
    figures = [engine for engine in offered if not engine.from_os]
    return (*firsts, *rest, *figures)


Mean = Callable[[str], float | None]


class EngineChoice:
    """Which engine each chart of one device shows. What the user chose stays; the rest follows the work, slowly."""

    def __init__(self) -> None:
        self._slots: list[str] = []
        self._chosen: set[int] = set()
        self._changed_s: list[float] = []
        self._has_listed = False
        #: Whether a busy engine takes the place of an idle one.
        self.follows = True

    @property
    def slots(self) -> tuple[str, ...]:
        """The series on show, in order."""
        return tuple(self._slots)

    def choose(self, slot: int, series: str) -> None:
        """The user's choice for one chart; it is never changed again."""
        self._slots[slot] = series
        self._chosen.add(slot)

    def update(self, offered: Sequence[Engine], mean: Mean, now_s: float) -> tuple[str, ...]:
        """The series to show now.

        ``mean`` gives the mean busy share of a series over :data:`WINDOW_S` (None: unknown), ``now_s`` the monotonic
        time of the sample. A busy engine that is off show takes the place of an idle one; compute takes the place of
        the least busy one.
        """
        order = default_order(offered)
        known = {engine.series for engine in order}
        listed = any(engine.from_os for engine in order)
        # The first samples come without those of the operating system: their counters are rates.
        if not self._slots or (listed and not self._has_listed and not self._chosen):
            self._slots = [engine.series for engine in order[:SLOTS]]
            self._changed_s = [float("-inf")] * len(self._slots)
        self._has_listed = self._has_listed or listed
        self._replace_gone(order, known, now_s)
        if not self.follows:
            return self.slots
        kinds = {engine.series: engine.kind for engine in order}
        compute_shown = any(
            kinds.get(series) in _COMPUTE and (mean(series) or 0.0) >= COMPUTE_BUSY for series in self._slots
        )
        for engine in sorted(order, key=lambda e: -(mean(e.series) or 0.0)):
            if engine.series in self._slots or not _may_come(engine, listed):
                continue
            share = mean(engine.series) or 0.0
            is_compute = engine.kind in _COMPUTE
            if share < (COMPUTE_BUSY if is_compute else BUSY):
                continue
            slot = self._weakest(mean, kinds, now_s)
            if slot is None:
                break
            if (mean(self._slots[slot]) or 0.0) < IDLE or (is_compute and not compute_shown):
                self._slots[slot] = engine.series
                self._changed_s[slot] = now_s
                compute_shown = compute_shown or is_compute
        return self.slots

    def _replace_gone(self, order: Sequence[Engine], known: set[str], now_s: float) -> None:
        spare = [engine.series for engine in order if engine.series not in self._slots]
        for slot, series in enumerate(self._slots):
            if series not in known and spare:
                self._slots[slot] = spare.pop(0)
                self._chosen.discard(slot)
                self._changed_s[slot] = now_s
        while len(self._slots) < SLOTS and spare:
            self._slots.append(spare.pop(0))
            self._changed_s.append(float("-inf"))

    def _weakest(self, mean: Mean, kinds: dict[str, EngineKind], now_s: float) -> int | None:
        free = [
            slot
            for slot in range(len(self._slots))
            if slot not in self._chosen
            and now_s - self._changed_s[slot] >= HOLD_S
            and kinds.get(self._slots[slot]) not in _COMPUTE
            and self._slots[slot] not in ("gpu_utilization", "sm_activity")
        ]
        # Of equally idle ones the last in order goes first.
        return min(free, key=lambda slot: (round(mean(self._slots[slot]) or 0.0, 2), -slot)) if free else None


def _may_come(engine: Engine, listed: bool) -> bool:
    return engine.from_os or (not listed and engine.series in _SWAPPED_IN)
