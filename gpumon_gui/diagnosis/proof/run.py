"""Knows: how frameworks are put to the proof one after another, and how the answers join a document.
Must not know: what is computed, how the verdict is found.

What others use::

    targets = targets_of(document)
    proofs = prove(LiveGateway(), targets, instruments, on_progress=print, cancel=Event())
    document = with_proofs(document, proofs)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, Final, Protocol

from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.collect import Progress, State
from gpumon_gui.diagnosis.environments.base import Environment, Kind
from gpumon_gui.diagnosis.facts import Document, Origin, Signal
from gpumon_gui.diagnosis.gateway import Gateway
from gpumon_gui.diagnosis.probe_scripts import proof as script
from gpumon_gui.diagnosis.probes.base import heard
from gpumon_gui.diagnosis.probes.frameworks import FRAMEWORKS
from gpumon_gui.diagnosis.probes.python import run_section
from gpumon_gui.diagnosis.proof.claims import claims_of
from gpumon_gui.diagnosis.proof.facts import facts_of
from gpumon_gui.diagnosis.proof.judge import Outcome, Proof, Setting, judge

#: In the order in which they are tried.
PROVABLE: Final = ("torch", "tensorflow", "jax", "cupy")
#: Memory is given back block by block, so that its steps can be seen.
_VARIABLES: Final = {"jax": {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}}
#: Instruments are late: so long they are read after the last phase.
_AFTER_S = 1.0


class Instruments(Protocol):
    """What watches from outside, five to ten times a second, with details and processes."""

    def start(self, cancel: Event) -> None:
        """Begin; returns when samples come, when it is clear that none will, or soon after the cancelling."""
        ...

    def samples(self) -> Sequence[Sample]:
        """All since the start."""
        ...

    def stop(self) -> None:
        """End for this time."""
        ...


class NoInstruments:
    """Nothing watches: what is claimed stays a claim."""

    def start(self, cancel: Event) -> None:
        """Nothing to begin."""

    def samples(self) -> Sequence[Sample]:
        """None."""
        return ()

    def stop(self) -> None:
        """Nothing to end."""


@dataclass(frozen=True, slots=True)
class Options:
    """``memory_share`` of the free memory is used at most (never above a quarter). ``phase_s`` is the mean length of a
    phase, ``repeats`` the number of loads (at least 4 are needed for significance at their best), ``start_s`` the
    patience for import and first computation, ``per_gpu_s`` that for each GPU."""

    memory_share: float = 0.25
    phase_s: float = 1.0
    repeats: int = 4
    measure_s: float = 0.25
    block_mib: int = 512
    start_s: float = 120.0
    per_gpu_s: float = 30.0
    only_gpu: int = -1

    def limit_s(self, gpus: int) -> float:
        """How long a process for so many GPUs may take."""
        return self.start_s + max(1, gpus) * self.per_gpu_s

    def words(self, gpus: int = 1) -> str:
        """For the script."""
        share = min(0.25, max(0.0, self.memory_share))
        return (
            f"share={share:g},phase={self.phase_s:g},repeats={self.repeats},measure={self.measure_s:g},"
            f"block_mib={self.block_mib},only={self.only_gpu},limit={self.limit_s(gpus):g}"
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A framework in an environment. ``index`` is the place in the document's list of environments."""

    index: int
    environment: Environment
    framework: str
    gpus: int = 1
    setting: Setting = field(default_factory=Setting)


@dataclass(frozen=True, slots=True)
class Proven:
    """A target's proof, what its process printed, and when."""

    target: Target
    proof: Proof
    signals: tuple[Signal, ...] = ()
    time_utc_s: float | None = None


def targets_of(document: Document) -> tuple[Target, ...]:
    """What is worth a proof: each framework whose import went well, in each environment whose interpreter works."""
    machine = document.facts.get("os", {})
    found = []
    for index, facts in enumerate(document.facts.get("environments", ())):
        interpreter = facts.get("interpreter", {})
        if interpreter.get("problem") or not interpreter.get("path"):
            continue
        system = {**machine, **facts.get("os", {})}
        setting = Setting(container=bool(system.get("container")), wsl=bool(system.get("wsl")))
        environment = environment_of(interpreter)
        for framework in PROVABLE:
            own = facts.get(framework, {})
            if own.get("version") and own.get("import_ok") is not False and not own.get("problem"):
                found.append(Target(index, environment, framework, _gpus(own), setting))
    return tuple(found)


def environment_of(interpreter: Any) -> Environment:
    """The environment behind an ``interpreter`` fact."""
    kinds = {kind.value: kind for kind in Kind}
    return Environment(
        path=str(interpreter["path"]),
        kind=kinds.get(str(interpreter.get("kind")), Kind.SYSTEM),
        name=str(interpreter.get("name", "")),
        prefix=str(interpreter.get("prefix", "")),
        distribution=str(interpreter.get("wsl_distribution") or ""),
    )


def prove(
    gateway: Gateway,
    targets: Sequence[Target],
    instruments: Instruments,
    options: Options | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: Event | None = None,
    clock: Clock | None = None,
) -> tuple[Proven, ...]:
    """One after another. A cancel ends the process at work and leaves out the rest."""
    tell = on_progress or (lambda _progress: None)
    stop = cancel or Event()
    time = clock or SystemClock()
    done: list[Proven] = []
    for number, target in enumerate(targets):
        begin_s = time.now().monotonic_s

        def step(
            state: State, detail: str = "", *, at: Target = target, count: int = number, since: float = begin_s
        ) -> None:
            seconds = round(time.now().monotonic_s - since, 3)
            ended = count + (state is not State.RUNNING)
            subject = at.environment.path
            tell(Progress(f"proof-{at.framework}", subject, at.framework, state, ended, len(targets), seconds, detail))

        if stop.is_set():
            step(State.CANCELLED, "cancelled")
            continue
        step(State.RUNNING)
        proven = prove_one(gateway, target, instruments, options or Options(), stop)
        done.append(proven)
        problem = proven.proof.claims.problem
        ended = {"timed-out": State.TIMED_OUT, "cancelled": State.CANCELLED, "": State.DONE}
        step(ended.get(problem, State.FAILED), problem)
    return tuple(done)


def prove_one(gateway: Gateway, target: Target, instruments: Instruments, options: Options, cancel: Event) -> Proven:
    """One framework, watched."""
    framework = next(entry for entry in FRAMEWORKS if entry.name == target.framework)
    instruments.start(cancel)
    try:
        section = run_section(
            gateway,
            target.environment,
            target.framework,
            project=None,
            timeout_s=options.limit_s(target.gpus),
            cancel=cancel,
            changes={**framework.variables, **_VARIABLES.get(target.framework, {})},
            script=script,
            settings=options.words(target.gpus),
        )
        if section.facts.get("proof", {}).get("devices"):
            cancel.wait(_AFTER_S)
        samples = instruments.samples()
    finally:
        instruments.stop()
    claims = claims_of(target.framework, section.facts, section.problem, section.stage, section.detail)
    setting = replace(target.setting, wsl=target.setting.wsl or bool(target.environment.distribution))
    proof = judge(claims, samples, setting)
    errors = [claims.error, *(device.error for device in claims.devices)]
    errors += [run.error_text for device in claims.devices for run in device.runs]
    said = "\n".join(text for text in (section.output if section.problem else "", *errors) if text)
    signals = heard(said, f"{target.framework}.proof").signals if said.strip() else ()
    return Proven(target, proof, signals, gateway.time_utc_s())


def with_proofs(document: Document, proofs: Sequence[Proven]) -> Document:
    """The document with each proof below its framework (``torch.proof``), and what the processes printed."""
    environments = [dict(facts) for facts in document.facts.get("environments", ())]
    signals = [list(own) for own in document.own_signals]
    signals += [[] for _ in range(len(environments) - len(signals))]
    origins = dict(document.origins)
    for proven in proofs:
        if proven.proof.claims.problem == "cancelled" and proven.proof.outcome is not Outcome.PROVEN:
            continue
        name, index = proven.target.framework, proven.target.index
        environments[index][name] = {**environments[index].get(name, {}), "proof": facts_of(proven.proof)}
        signals[index] += proven.signals
        origins[f"environments.{index}.{name}.proof"] = Origin("proof", time_utc_s=proven.time_utc_s)
    facts = {**document.facts, "environments": environments} if environments else document.facts
    return replace(document, facts=facts, own_signals=tuple(tuple(own) for own in signals), origins=origins)


def _gpus(own: Any) -> int:
    for key in ("device_count", "gpu_count"):
        if isinstance(own.get(key), int):
            return int(own[key])
    return 1
