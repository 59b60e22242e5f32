"""Knows: how instances add up to engines, devices and processes. Must not know: PDH calls, time.

The rules, in Microsoft's words for Task Manager (devblogs.microsoft.com/directx/gpus-in-the-task-manager):

- One engine: the sum over processes, per (LUID, phys, eng). Never grouped by engine type: six ``Copy`` engines would
  add up to far more than 100 %. The type is only the label.
- One device: the busiest engine. Engines of different adapters are never mixed.
- One process: its busiest engine, per device.

**Values over 100 %.** Percentages are read uncapped, since the cap hides broken counters.

- A sum up to :data:`SKEW` over 100 % comes from processes that are not sampled at exactly the same time (105 to 108 %
  in github.com/microsoft/devhome/issues/791). It is reported as 1.0 and counted in ``Counts.saturated``.
- A sum above that is no share of time (drivers that credit work late give 376 % and 1,413 % now and then): the engine
  is ``Missing(IMPLAUSIBLE)``. So is each engine that lacks a broken instance: what is left of the sum would be a
  believable number, and wrong.
- A single reading above :data:`MAX_PERCENT`, below zero or not finite is rubbish (27,007 to 279,947 % and 1.8e14 % were
  seen on Intel Arc): the instance is *broken*.

**Broken instances.** A counter that runs backwards answers with one of the "negative" statuses, or with "invalid
data" although its last reading moved. It then gives garbage that may by chance look right, so the instance is not
trusted until :data:`FORGIVE_AFTER` good readings in a row. An instance that was not there in the last sample has no
baseline: that is a first sample, not a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TypeAlias, TypeVar

from gpumon_gui.core.model import EngineSample
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.pdh.engines import engine_kind
from gpumon_gui.telemetry.pdh.instances import (
    AdapterInstance,
    EngineInstance,
    Node,
    ProcessInstance,
    User,
    parse_engine,
)
from gpumon_gui.telemetry.pdh.status import (
    BACKWARDS,
    GOOD,
    NEW_DATA,
    NO_BASELINE,
    NO_INSTANCE,
    hex_status,
    reason_of,
)

SOURCE = "pdh"
SKEW = 0.10
MAX_PERCENT = 1000.0
FORGIVE_AFTER = 10

Item: TypeAlias = tuple[str, int, float]
"""Instance name, CStatus (unsigned), value. The value means nothing unless the status is good."""

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class Counts:
    """What was not taken at face value in one sample."""

    malformed: int = 0  #: names that do not fit the grammar
    saturated: int = 0  #: sums a little over 100 %, reported as 100 %
    discarded: int = 0  #: readings that cannot be: over :data:`MAX_PERCENT`, negative, not finite, backwards
    broken: int = 0  #: instances not trusted now

    def __str__(self) -> str:
        """What is not zero: ``malformed 3, broken 1``."""
        return ", ".join(f"{part.name} {count}" for part in fields(self) if (count := getattr(self, part.name)))


class Trust:
    """Remembers which *GPU Engine* instances are broken, from sample to sample.

    An instance that is absent from a sample is forgotten: pids are used again.
    """

    def __init__(self) -> None:
        self._good_reads: dict[EngineInstance, int] = {}
        self._moving: set[EngineInstance] = set()
        self._seen: set[EngineInstance] = set()
        self._moved: set[EngineInstance] = set()

    def __len__(self) -> int:
        return len(self._good_reads)

    def begin(self) -> None:
        """A new sample starts."""
        self._moving, self._moved = self._moved, set()
        self._seen.clear()

    def moved(self, instance: EngineInstance) -> None:
        """The instance gave a good reading above zero: its counter runs, so it can run backwards."""
        self._moved.add(instance)

    def suspects(self) -> frozenset[EngineInstance]:
        """Instances that need a look even when their reading is good."""
        return frozenset(self._good_reads)

    def was_moving(self, instance: EngineInstance) -> bool:
        """Whether the instance moved in the sample before."""
        return instance in self._moving

    def is_broken(self, instance: EngineInstance) -> bool:
        """Whether the instance is not trusted."""
        return instance in self._good_reads

    def bad(self, instance: EngineInstance) -> None:
        """The instance gave rubbish."""
        self._good_reads[instance] = 0
        self._seen.add(instance)

    def good(self, instance: EngineInstance) -> bool:
        """A broken instance gave a good reading. Returns whether that reading may be used."""
        reads = self._good_reads[instance] + 1
        if reads >= FORGIVE_AFTER:
            del self._good_reads[instance]
            return True
        self._good_reads[instance] = reads
        self._seen.add(instance)
        return False

    def end(self) -> None:
        """The sample is complete: forget broken instances that were not in it."""
        for instance in self._good_reads.keys() - self._seen:
            del self._good_reads[instance]


@dataclass(slots=True)
class ProcessEngines:
    """One process on one device. ``engines`` holds the fractions above zero only."""

    utilization: Value
    engine: str = ""
    engines: dict[Node, float] = field(default_factory=dict)


@dataclass(slots=True)
class DeviceEngines:
    """All engines of one device. ``busiest`` names the engine behind ``utilization`` where one is above zero."""

    utilization: Value
    engines: tuple[EngineSample, ...] = ()
    busiest: str = ""


@dataclass(slots=True)
class EngineTable:
    """One sample of *GPU Engine*."""

    devices: dict[int, DeviceEngines]
    processes: dict[User, ProcessEngines]
    counts: Counts


@dataclass(slots=True)
class _Sums:
    """Per-engine and per-process sums while a sample is read; percent."""

    nodes: dict[Node, float] = field(default_factory=dict)
    labels: dict[Node, str] = field(default_factory=dict)
    users: dict[User, dict[Node, float]] = field(default_factory=dict)
    #: why an engine or a process cannot be told: the worst reason wins
    node_faults: dict[Node, Missing] = field(default_factory=dict)
    user_faults: dict[User, Missing] = field(default_factory=dict)
    #: engines and processes of which no instance has a value yet
    pending_nodes: dict[Node, Missing] = field(default_factory=dict)
    pending_users: dict[User, Missing] = field(default_factory=dict)

    def fault(self, instance: EngineInstance, why: Missing) -> None:
        self.labels.setdefault(instance.node, instance.engtype)
        self.node_faults[instance.node] = why
        self.user_faults[instance.user] = why

    def pending(self, instance: EngineInstance, why: Missing) -> None:
        self.labels.setdefault(instance.node, instance.engtype)
        self.pending_nodes[instance.node] = why
        self.pending_users[instance.user] = why

    def add(self, instance: EngineInstance, percent: float) -> None:
        user, node, engtype = instance
        if node in self.nodes:
            self.nodes[node] += percent
        else:
            self.nodes[node] = percent
            self.labels.setdefault(node, engtype)
        engines = self.users.get(user)
        if engines is None:
            engines = self.users[user] = {}
        if percent:
            engines[node] = engines.get(node, 0.0) + percent


def aggregate_engines(items: Iterable[Item], trust: Trust) -> EngineTable:
    """One sample of ``\\GPU Engine(*)\\Utilization Percentage`` (uncapped doubles) as devices and processes."""
    counts, sums = Counts(), _Sums()
    trust.begin()
    suspects = trust.suspects()
    nodes, users, add, moved = sums.nodes, sums.users, sums.add, trust.moved
    for name, status, percent in items:
        instance = parse_engine(name)
        if instance is None:
            counts.malformed += 1
        elif status <= NEW_DATA and 0.0 <= percent <= MAX_PERCENT and not (suspects and instance in suspects):
            if percent:
                moved(instance)
                add(instance, percent)
            elif instance.node not in nodes or instance.user not in users:
                add(instance, 0.0)
        else:
            _doubtful(instance, status, percent, trust, sums, counts)
    trust.end()
    counts.broken = len(trust)
    return EngineTable(_devices(sums, counts), _processes(sums, counts), counts)


def _doubtful(instance: EngineInstance, status: int, percent: float, trust: Trust, sums: _Sums, counts: Counts) -> None:
    if status == NO_INSTANCE:  # the process or the engine went away meanwhile
        return
    if status in GOOD:
        plausible = 0.0 <= percent <= MAX_PERCENT
        if plausible and trust.is_broken(instance):
            if trust.good(instance):
                if percent:
                    trust.moved(instance)
                sums.add(instance, percent)
            else:
                sums.fault(instance, Missing(Reason.IMPLAUSIBLE, SOURCE, "not trusted yet"))
            return
        detail = f"{percent:g} %"
    elif status in BACKWARDS or (status in NO_BASELINE and (trust.was_moving(instance) or trust.is_broken(instance))):
        detail = hex_status(status)
    else:
        sums.pending(instance, Missing(reason_of(status), SOURCE, _detail(status)))
        return
    counts.discarded += 1
    trust.bad(instance)
    sums.fault(instance, Missing(Reason.IMPLAUSIBLE, SOURCE, detail))


def _detail(status: int) -> str:
    return "" if status in NO_BASELINE else hex_status(status)


def _fraction(metric_id: str, percent: float, counts: Counts) -> Value:
    fraction = percent / 100.0
    if 1.0 < fraction <= 1.0 + SKEW:
        counts.saturated += 1
        fraction = 1.0
    return checked(metric_id, fraction, SOURCE)


def _devices(sums: _Sums, counts: Counts) -> dict[int, DeviceEngines]:
    by_luid: dict[int, list[EngineSample]] = {}
    for node in sorted(sums.labels):
        value: Value
        if node in sums.node_faults:
            value = sums.node_faults[node]
        elif node in sums.nodes:
            value = _fraction("engine_utilization", sums.nodes[node], counts)
        else:
            value = sums.pending_nodes[node]
        label = sums.labels[node]
        sample = EngineSample(f"eng_{node.phys}_{node.engine}", label, engine_kind(label), value)
        by_luid.setdefault(node.luid, []).append(sample)
    devices: dict[int, DeviceEngines] = {}
    for luid, engines in by_luid.items():
        utilization, busiest = _busiest([(e.name, e.utilization) for e in engines])
        devices[luid] = DeviceEngines(utilization, tuple(engines), busiest)
    return devices


def _processes(sums: _Sums, counts: Counts) -> dict[User, ProcessEngines]:
    processes: dict[User, ProcessEngines] = {}
    idle = ProcessEngines(Reading(0.0, SOURCE))
    for user, engines in sums.users.items():
        if user in sums.user_faults:
            continue
        if not engines:
            processes[user] = idle
            continue
        values = [
            (sums.labels[node], _fraction("process_gpu_utilization", percent, counts))
            for node, percent in engines.items()
        ]
        utilization, busiest = _busiest(values)
        processes[user] = ProcessEngines(
            utilization, busiest, {node: percent / 100.0 for node, percent in engines.items()}
        )
    for user, why in sums.pending_users.items():
        processes.setdefault(user, ProcessEngines(why))
    for user, why in sums.user_faults.items():
        processes[user] = ProcessEngines(why)
    return processes


def _busiest(engines: list[tuple[str, Value]]) -> tuple[Value, str]:
    """The highest value and its engine's name.

    With an implausible engine among them the busiest one cannot be told, unless another is fully busy: the broken
    counter is often that of the very engine that computes.
    """
    best: Reading | None = None
    name = ""
    fault: Missing | None = None
    pending: Missing | None = None
    for label, value in engines:
        if isinstance(value, Missing):
            if value.reason is Reason.IMPLAUSIBLE:
                fault = fault or Missing(Reason.IMPLAUSIBLE, SOURCE, f"{label}: {value.detail}")
            else:
                pending = pending or value
        elif best is None or _number(value) > _number(best):
            best, name = value, label
    if fault is not None and (best is None or _number(best) < 1.0):
        return fault, ""
    if best is None:
        return pending or Missing(Reason.FIRST_SAMPLE, SOURCE), ""
    return best, name if _number(best) > 0.0 else ""


def _number(reading: Reading) -> float:
    return 0.0 if isinstance(reading.value, str) else reading.value


def adapter_key(instance: AdapterInstance) -> int:
    """Cards of a linked adapter share the LUID and add up."""
    return instance.luid


def process_key(instance: ProcessInstance) -> User:
    """Cards of a linked adapter share the LUID and add up."""
    return instance.user


I = TypeVar("I")  # noqa: E741 - an instance


def sum_bytes(
    items: Iterable[Item],
    metric_id: str,
    parse: Callable[[str], I | None],
    key: Callable[[I], K],
    counts: Counts,
) -> dict[K, Value]:
    """A memory counter summed per device or per process. A bad part leaves its sum missing: half is a wrong number."""
    sums: dict[K, float] = {}
    faults: dict[K, Missing] = {}
    for name, status, value in items:
        instance = parse(name)
        if instance is None:
            counts.malformed += 1
            continue
        if status == NO_INSTANCE:
            continue
        owner = key(instance)
        if status in GOOD:
            sums[owner] = sums.get(owner, 0) + value
        else:
            faults[owner] = Missing(reason_of(status), SOURCE, _detail(status))
    values: dict[K, Value] = {owner: checked(metric_id, total, SOURCE) for owner, total in sums.items()}
    values.update(faults)
    return values


# Adapter and process counters are separate sets, read one after the other: an allocation may fall between the two.
SKEW_FACTOR = 2.0
SKEW_BYTES = 256 * 1024 * 1024


def bounded_by_adapter(used: Value, adapter_used: Mapping[str, Value]) -> Value:
    """A process's memory, or ``Missing(IMPLAUSIBLE)`` when one process is charged with far more than the whole adapter
    uses (kernel accounting leaks charge terabytes after resume: github.com/winsiderss/systeminformer/issues/2073).

    Dedicated and shared use of the adapter together are the bound: on integrated GPUs local memory is system memory.
    """
    parts = [adapter_used.get("memory_used_bytes"), adapter_used.get("shared_used_bytes")]
    known = [_number(part) for part in parts if isinstance(part, Reading)]
    if not isinstance(used, Reading) or len(known) != len(parts):
        return used
    if _number(used) > sum(known) * SKEW_FACTOR + SKEW_BYTES:
        return Missing(Reason.IMPLAUSIBLE, SOURCE, f"{used.value:g}")
    return used
