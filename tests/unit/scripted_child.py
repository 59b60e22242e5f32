"""A real sampler process with scripted sources ``alpha`` and ``beta``; ``--scenario`` says what goes wrong in it.

Run by tests, never imported: it must be as bare as the real one.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import signal
import sys
from collections.abc import Callable
from types import MappingProxyType

from gpumon_gui import __version__
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.model import (
    Demand,
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    SourceHealth,
    SourceState,
    UseKind,
)
from gpumon_gui.core.values import Reading
from gpumon_gui.telemetry import child, wire
from gpumon_gui.telemetry.blackbox import Blackbox


def hang() -> None:
    """A C call that does not return and holds no GIL, like a driver call."""
    if sys.platform == "win32":
        ctypes.WinDLL("kernel32").Sleep(1_000_000_000)
    else:
        ctypes.CDLL(None).pause()


def hang_with_gil() -> None:
    """A C call that does not return and lets no other thread run."""
    if sys.platform == "win32":
        ctypes.PyDLL("kernel32").Sleep(1_000_000_000)
    else:
        ctypes.PyDLL(None).pause()


class Scripted:
    """One device per source; the trouble starts in the second sweep, in ``beta``."""

    def __init__(self, scenario: str, skip: frozenset[str], clock: Clock, on_enter: Callable[[str], None]) -> None:
        self._scenario = scenario
        self._names = [name for name in ("alpha", "beta") if name not in skip]
        self._clock = clock
        self._on_enter = on_enter
        self._sweeps = 0

    def sweep(self, demand: Demand) -> Sample:
        self._sweeps += 1
        health = []
        for name in self._names:
            self._on_enter(name)
            if name == "beta" and self._sweeps == 2:
                self._misbehave()
            self._on_enter("")
            health.append(SourceHealth(name, SourceState.OK, reads=self._sweeps))
        if self._scenario == "modules":
            health = [SourceHealth("modules", SourceState.OK, detail=" ".join(sorted(sys.modules)))]
        if self._scenario == "print":
            print("a library talks")
            os.write(1, b"so does its C part\n")
        now = self._clock.now()
        return Sample(
            self._sweeps,
            now.monotonic_s,
            now.utc_s,
            0.0,
            inventory=tuple(DeviceInfo(DeviceKey(name), f"Card {name}", sources=(name,)) for name in self._names),
            devices=MappingProxyType(
                {
                    DeviceKey(name): DeviceSample(
                        DeviceKey(name), values=MappingProxyType({"power_w": Reading(100.0, name)})
                    )
                    for name in self._names
                }
            ),
            health=tuple(health),
        )

    def release(self) -> None:
        pass

    def close(self) -> None:
        if self._scenario == "hang-close":
            hang()

    def _misbehave(self) -> None:
        if self._scenario in ("hang", "hang-alone"):
            hang()
        elif self._scenario == "hang-gil":
            hang_with_gil()
        elif self._scenario == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif self._scenario == "exit":
            os._exit(3)
        elif self._scenario == "raise":
            raise RuntimeError("beta is broken")


def build(*, scenario: str | None, skip: frozenset[str], clock: Clock, on_enter: Callable[[str], None]) -> Scripted:
    """What the real child gets from ``telemetry.table``."""
    if scenario == "unbuildable":
        raise RuntimeError("no sources")
    return Scripted(scenario or "", skip, clock, on_enter)


def large() -> Sample:
    """Sixteen cards with forty metrics each and two hundred processes."""
    keys = [DeviceKey(f"pci:{number}") for number in range(16)]
    values = MappingProxyType({f"metric_{number}": Reading(float(number), "alpha") for number in range(40)})
    uses = MappingProxyType({"process_memory_bytes": Reading(1 << 30, "alpha")})
    return Sample(
        0,
        0.0,
        0.0,
        1.0,
        inventory=tuple(DeviceInfo(key, key, sources=("alpha",)) for key in keys),
        devices=MappingProxyType({key: DeviceSample(key, values=values) for key in keys}),
        processes=tuple(
            ProcessSample(
                pid,
                1.0,
                "python",
                ProcessPresence.RUNNING,
                command=("python", "train.py"),
                uses=(ProcessUse(pid, keys[pid % 16], UseKind.COMPUTE, uses),),
                values=uses,
            )
            for pid in range(200)
        ),
    )


def pretend(options: child.Options) -> int:
    """A process that speaks the beginning of the language and then something else."""
    box = Blackbox.attach(options.box)
    box.beat()
    if options.scenario == "old":
        os.write(1, wire.hello("0.0.1", os.getpid()))
        hang()
    os.write(1, wire.hello(__version__, os.getpid()))
    if options.scenario == "garbage":
        os.write(1, b"Segmentation fault\n")
        hang()
    number, base = 0, large() if options.scenario == "flood-large" else Sample(0, 0.0, 0.0, 0.0)
    while options.scenario in ("flood", "flood-large"):
        number += 1
        box.beat()
        data = memoryview(wire.frame(dataclasses.replace(base, sequence=number)))
        while data:
            data = data[os.write(1, data) :]
    return 0


def main() -> int:
    """Behave as ``--scenario`` says."""
    options = child.parse(sys.argv[1:])
    if options.scenario in ("garbage", "flood", "flood-large", "old"):
        return pretend(options)
    if options.scenario == "hang-alone":  # no signal from the kernel: the closed pipe alone must do
        child._die_with = lambda parent: None
    return child.main(sys.argv[1:], build)


if __name__ == "__main__":
    sys.exit(main())
