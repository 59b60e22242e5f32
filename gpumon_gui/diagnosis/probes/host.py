"""Knows: processor, memory, page file. Must not know: GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Event
from typing import Any

from gpumon_gui.diagnosis.gateway import Gateway, RegistryKey, is_windows, read_text
from gpumon_gui.diagnosis.probes.base import Found, known

_CPU = r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_MEMORY = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management"


def probe(gateway: Gateway, _cancel: Event) -> Found:
    """``host``. ``commit_limit_bytes`` is what all programs together may reserve: RAM and page files."""
    facts = known(cpu_count=gateway.ask("cpu-count"), usable_cpus=gateway.ask("usable-cpus"))
    facts |= _windows(gateway) if is_windows(gateway) else _linux(gateway)
    return Found({"host": facts})


def _windows(gateway: Gateway) -> dict[str, Any]:
    cpu = (gateway.registry(_CPU) or RegistryKey()).values.get("ProcessorNameString")
    memory = gateway.ask("windows-memory")
    sizes = memory if isinstance(memory, Mapping) else {}
    files = (gateway.registry(_MEMORY) or RegistryKey()).values.get("PagingFiles")
    return known(
        cpu=str(cpu).strip() if cpu else None,
        memory_total_bytes=sizes.get("total"),
        memory_available_bytes=sizes.get("available"),
        commit_limit_bytes=sizes.get("commit_limit"),
        commit_available_bytes=sizes.get("commit_available"),
        # "?:\pagefile.sys" is managed by Windows; an empty list is none at all.
        page_file=_page_file(files),
    )


def _page_file(files: Any) -> str | None:
    if not isinstance(files, list | tuple):
        return None
    named = [str(entry) for entry in files if str(entry).strip()]
    if not named:
        return "none"
    return "managed" if named[0].startswith("?") or named[0].rstrip().endswith(" 0 0") else "fixed"


def _linux(gateway: Gateway) -> dict[str, Any]:
    memory = read_text(gateway, "/proc/meminfo") or ""
    cpu = re.search(r"^(?:model name|Hardware|Model)\s*:\s*(.+)$", read_text(gateway, "/proc/cpuinfo") or "", re.M)

    def size(name: str) -> int | None:
        match = re.search(rf"^{name}:\s+(\d+) kB", memory, re.MULTILINE)
        return int(match.group(1)) * 1024 if match else None

    return known(
        cpu=cpu.group(1).strip() if cpu else None,
        memory_total_bytes=size("MemTotal"),
        memory_available_bytes=size("MemAvailable"),
        swap_total_bytes=size("SwapTotal"),
        shared_memory_bytes=None,
    )
