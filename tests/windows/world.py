"""Knows: how the machine that the stand-in DLLs play is written down. Must not know: what GPUMon makes of it.

The form of the file is stated in standins/world.h and the .c files. ``write`` moves the world on for this process and
for the programs it starts.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from pathlib import Path

GIB, MIB = 1 << 30, 1 << 20
FOLDER = Path(os.environ.get("GPUMON_STAND_INS", "."))  #: where the compiled stand-ins lie

Keys = Mapping[str, object]

NVIDIA: Keys = {
    "name": "NVIDIA GeForce RTX 4090",
    "luid": "0x0:0xC7A5",
    "vendor": "0x10DE",
    "device": "0x2684",
    "type": "0x3",  # render, display
    "address": "1 0 0",
    "dedicated": "24215MiB",
    "shared": "32GiB",
    "kmd": "32.0.15.8142",
    "wddm": 3200,
    "caps": 3,  # scheduling by the GPU: supported, enabled
    "identity": "PCI\\VEN_10DE&DEV_2684&SUBSYS_889D1043&REV_A1\\4&1D81E16&0&0008",
    "power": 1,
}
INTEL: Keys = {
    "name": "Intel(R) Iris(R) Xe Graphics",
    "luid": "0x0:0x9D41",
    "vendor": "0x8086",
    "device": "0x9A49",
    "type": "0x23",  # render, display, hybrid integrated
    "address": "0 2 0",
    "dedicated": "128MiB",
    "shared": "16GiB",
    "wddm": 3100,
    "identity": "PCI\\VEN_8086&DEV_9A49&SUBSYS_0A5C1028&REV_01\\3&11583659&0&10",
    "power": 1,
}
RADEON: Keys = {
    "name": "AMD Radeon RX 7900 XTX",
    "luid": "0x0:0x16626",
    "vendor": "0x1002",
    "device": "0x744C",
    "type": "0x3",
    "address": "3 0 0",
    "dedicated": "24GiB",
    "shared": "16GiB",
    "wddm": 3100,
    "perf": "2000000000 900 0 610",
    "max_fan": 3300,
}
NPU: Keys = {
    "name": "Intel(R) AI Boost",
    "luid": "0x0:0xA5A5",
    "vendor": "0x8086",
    "device": "0x7D1D",
    "type": "0x801",  # render, compute only
    "address": "0 11 0",
    "dedicated": 0,
    "shared": "16GiB",
    "wddm": 3200,
}
BASIC: Keys = {
    "name": "Microsoft Basic Render Driver",
    "luid": "0x0:0xD0D0",
    "vendor": "0x1414",
    "device": "0x8C",
    "type": "0x5",  # render, software
    "dedicated": 0,
    "shared": "16GiB",
}
GEFORCE: Keys = {
    "name": "NVIDIA GeForce RTX 4090",
    "uuid": "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
    "pci": "00000000:01:00.0",
    "memory": "24564MiB 2048MiB 400MiB",
    "utilization": "36 10",
    "temperature": 68,
    "power": 212_000,
    "power_limit": 450_000,
    "clocks": "2745 2745 10501 1185",
    "pstate": 2,
    "fan": 40,
    "model": 0,
}


class World:
    """A machine. Change what is in it, then ``write``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.driver: dict[str, object] | None = None
        self.gpus: list[dict[str, object]] = []
        self.adapters: list[dict[str, object]] = []
        self.counters: dict[str, object] = {}
        self.faults: list[str] = []  # lines of [counters] that are no counter

    def nvidia(self, *gpus: Keys, **lines: object) -> World:
        """NVIDIA's driver with these GPUs."""
        self.driver = {"version": "581.42", "cuda": 13000, **lines}
        self.gpus = [dict(gpu) for gpu in gpus]
        return self

    def windows(self, *adapters: Keys) -> World:
        """These adapters."""
        self.adapters = [dict(adapter) for adapter in adapters]
        return self

    def engine(self, pid: int, luid: str, number: int, kind: str, percent: object) -> World:
        """One instance of *GPU Engine*."""
        name = f"pid_{pid}_{_instance(luid)}_eng_{number}_engtype_{kind}"
        self.counters[rf"\GPU Engine({name})\Utilization Percentage"] = percent
        return self

    def memory(self, luid: str, dedicated: int, shared: int = 0) -> World:
        """An adapter's memory in use."""
        place = _instance(luid)
        self.counters[rf"\GPU Adapter Memory({place})\Dedicated Usage"] = dedicated
        self.counters[rf"\GPU Adapter Memory({place})\Shared Usage"] = shared
        return self

    def process(self, pid: int, luid: str, local: int, non_local: int = 0, committed: int | None = None) -> World:
        """A process's memory; ``committed`` is what *Dedicated Usage* says."""
        place = f"pid_{pid}_{_instance(luid)}"
        for counter, amount in (
            ("Local Usage", local),
            ("Non Local Usage", non_local),
            ("Dedicated Usage", local if committed is None else committed),
            ("Shared Usage", non_local),
        ):
            self.counters[rf"\GPU Process Memory({place})\{counter}"] = amount
        return self

    def without(self, part: str) -> World:
        """Take away the counters whose path holds this text."""
        self.counters = {path: value for path, value in self.counters.items() if part not in path}
        return self

    def fault(self, line: str) -> World:
        """A line of [counters] as it stands: ``status``, ``fail``, ``missing`` …"""
        self.faults.append(line)
        return self

    def write(self) -> World:
        """From now on it is so."""
        text: list[str] = []
        if self.driver is not None:
            text += ["[driver]", *_lines(self.driver)]
        for heading, things in (("[gpu]", self.gpus), ("[adapter]", self.adapters)):
            for thing in things:
                text += [heading, *_lines(thing)]
        text += ["[counters]", *_lines(self.counters), *self.faults]
        self.path.write_bytes("\n".join([*text, ""]).encode("utf-8", "surrogateescape"))
        forget()
        return self


def forget() -> None:
    """Let the stand-ins of this process read the file again, changed or not."""
    if sys.platform == "win32":
        for name in ("pdh", "nvml"):
            handle = ctypes.windll.kernel32.GetModuleHandleW(f"{name}.dll")
            if handle:
                ctypes.CDLL(f"{name}.dll").gpumon_forget()


def _lines(keys: Keys) -> list[str]:
    text = []
    for key, value in keys.items():
        lines = value if isinstance(value, list) else [value]
        text += [f"{key} = {line}" if line != "" else key for line in lines]
    return text


def _instance(luid: str) -> str:
    high, low = (int(part, 16) for part in luid.split(":"))
    return f"luid_0x{high & 0xFFFFFFFF:08X}_0x{low:08X}_phys_0"
