"""Knows: what the script in the user's interpreter claims, in a checked form. Must not know: what anybody saw.

Everything here comes from a foreign process: what has the wrong form is left out, never trusted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from gpumon_gui.core.identity import parse_pci_address
from gpumon_gui.core.model import DeviceInfo, DeviceKey

#: Speeds outside are none, and ratios of them no figures; what a liar's clock can show (2e22) is within.
_SLOWEST, _FASTEST = 1e3, 1e30
#: Devices, precisions and phases of a device that are looked at; the script stays far below.
_MOST: Final = 64
#: Digits of a number in a key: longer ones are none, and Python refuses to read very long ones.
_MOST_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant on the script's two clocks, in seconds."""

    monotonic_s: float
    utc_s: float


@dataclass(frozen=True, slots=True)
class Run:
    """Matrix products in one precision. ``error`` is the largest deviation of the checked elements as a share of their
    root mean square, ``right`` whether it is within ``tolerance``. ``where`` is the framework's word for the place of
    the result. ``busy``: others had the processor, it can do more. With a ``problem`` (``little-memory``, ``failed``)
    there is no figure."""

    precision: str
    side: int = 0
    error: float = math.inf
    tolerance: float = 0.0
    right: bool = False
    flops_per_s: float = 0.0
    seconds: float = 0.0
    busy: bool = False
    where: str = ""
    problem: str = ""
    error_text: str = ""


@dataclass(frozen=True, slots=True)
class Phase:
    """Load or idle. ``end`` is None where the process ended first. ``cpu_s``: processor time used in it."""

    load: bool
    begin: Moment
    end: Moment | None = None
    block_bytes: int = 0
    flops_per_s: float = 0.0
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class DeviceClaim:
    """One GPU as the framework sees it. ``index`` is the framework's own count."""

    index: int
    name: str = ""
    pci: str | None = None
    uuid: str | None = None
    capability: str = ""
    free_bytes: int = 0
    total_bytes: int = 0
    budget_bytes: int = 0
    runs: tuple[Run, ...] = ()
    phases: tuple[Phase, ...] = ()
    where: str = ""
    problem: str = ""
    error: str = ""

    @property
    def fastest(self) -> Run | None:
        """The precision with the most operations per second."""
        done = [run for run in self.runs if not run.problem]
        return max(done, key=lambda run: run.flops_per_s, default=None)

    def info(self) -> DeviceInfo:
        """The same as an inventory entry, for comparing identities."""
        return DeviceInfo(DeviceKey("claim"), self.name, "nvidia", pci_address=self.pci, uuid=self.uuid)


@dataclass(frozen=True, slots=True)
class Claims:
    """Everything one framework's process said. ``pids`` are all numbers of the process in the namespaces it knows of.

    ``cpu_reason`` is set where it saw no GPU: ``cpu-build`` (its build has no GPU code) or ``no-gpu-seen``. ``problem``
    is the end of the process as in :class:`gpumon_gui.diagnosis.probes.python.Section`, ``stage`` what was tried then.
    """

    framework: str
    version: str = ""
    pids: frozenset[int] = frozenset()
    namespaces: int = 1
    clock: Moment | None = None
    cores: int = 0
    devices: tuple[DeviceClaim, ...] = ()
    cpu: Run | None = None
    cpu_reason: str = ""
    error: str = ""
    problem: str = ""
    stage: str = ""
    detail: str = ""


def claims_of(framework: str, facts: Mapping[str, Any], problem: str = "", stage: str = "", detail: str = "") -> Claims:
    """From what ``run_section`` read of the script's lines."""
    said = _mapping(facts.get("proof"))
    namespace = said.get("namespace_pids")
    numbers = [number for number in namespace if _is_count(number)] if isinstance(namespace, list) else []
    pid = said.get("pid")
    pids = frozenset([*numbers, *([pid] if _is_count(pid) else [])])
    devices = (_device(number, _mapping(value)) for number, value in _numbered(said.get("devices")))
    return Claims(
        framework=framework,
        version=_text(said, "version"),
        pids=pids,
        namespaces=max(1, len(numbers)),
        clock=_moment(said.get("clock")),
        cores=int(_number(said, "cores")),
        devices=tuple(sorted(devices, key=lambda device: device.index)),
        cpu=_run("fp32", _mapping(said.get("cpu"))) if isinstance(said.get("cpu"), Mapping) else None,
        cpu_reason=_text(said, "cpu_reason"),
        error=_text(said, "error"),
        problem=problem,
        stage=stage,
        detail=detail,
    )


def _device(number: int, said: Mapping[str, Any]) -> DeviceClaim:
    memory = _mapping(said.get("memory"))
    read = (_phase(_mapping(value)) for _number, value in _numbered(said.get("phases")))
    return DeviceClaim(
        index=number,
        name=_text(said, "name"),
        pci=parse_pci_address(_text(said, "pci")),
        uuid=_text(said, "uuid") or None,
        capability=_text(said, "compute_capability"),
        free_bytes=int(_number(memory, "free_bytes")),
        total_bytes=int(_number(memory, "total_bytes")),
        budget_bytes=int(_number(memory, "budget_bytes")),
        runs=tuple(_run(str(name), _mapping(run)) for name, run in islice(_mapping(said.get("runs")).items(), _MOST)),
        phases=tuple(phase for phase in read if phase is not None),
        where=_text(said, "where"),
        problem=_text(said, "problem"),
        error=_text(said, "error"),
    )


def _run(precision: str, said: Mapping[str, Any]) -> Run:
    error_text = _text(said, "error_text")
    speed = _number(said, "flops_per_s")
    believable = _SLOWEST <= speed <= _FASTEST
    problem = _text(said, "problem") or ("failed" if error_text or not believable else "")
    return Run(
        precision=precision,
        side=int(_number(said, "side")),
        error=_number(said, "error", math.inf),
        tolerance=_number(said, "tolerance"),
        right=said.get("right") is True,
        flops_per_s=speed,
        seconds=_number(said, "seconds"),
        busy=said.get("busy") is True,
        where=_text(said, "where"),
        problem=problem,
        error_text=error_text,
    )


def _phase(said: Mapping[str, Any]) -> Phase | None:
    begin = _moment(said.get("begin"))
    if begin is None or said.get("kind") not in ("load", "idle"):
        return None
    return Phase(
        load=said["kind"] == "load",
        begin=begin,
        end=_moment(said.get("end")),
        block_bytes=int(_number(said, "block_bytes")),
        flops_per_s=_number(said, "flops_per_s"),
        cpu_s=_number(said, "cpu_s"),
    )


def _moment(value: Any) -> Moment | None:
    said = _mapping(value)
    if "monotonic_s" not in said or "utc_s" not in said:
        return None
    return Moment(_number(said, "monotonic_s"), _number(said, "utc_s"))


def _numbered(value: Any) -> list[tuple[int, Any]]:
    """What stands under numbers, in their order."""
    found = ((key, entry) for key, entry in _mapping(value).items() if key.isdecimal() and len(key) <= _MOST_DIGITS)
    return sorted(((int(key), entry) for key, entry in islice(found, _MOST)), key=lambda item: item[0])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(said: Mapping[str, Any], key: str) -> str:
    value = said.get(key)
    return value if isinstance(value, str) else ""


def _number(said: Mapping[str, Any], key: str, default: float = 0.0) -> float:
    value = said.get(key)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable and value is not None else default


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
