"""Knows: where nvidia-smi lies, and how it is asked. Must not know: how its tables are read (``logs.read_smi``).

Windows: drivers since 2019 put it into System32, older ones into ``NVIDIA Corporation\\NVSMI``; some makers' packages
leave it in the driver store only. WSL: the host's, outside PATH in some shells.
"""

from __future__ import annotations

import re
from threading import Event
from typing import Any

from gpumon_gui.diagnosis.gateway import (
    Command,
    Failure,
    Gateway,
    Ran,
    is_file,
    is_windows,
    matches,
    paths,
    variable,
    which,
)
from gpumon_gui.diagnosis.probes.base import Found, heard, known, merged

#: A driver in trouble can take long to say so.
_TIMEOUT_S = 30.0
_LINUX = ("/usr/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi",
          "/run/current-system/sw/bin/nvidia-smi", "/opt/bin/nvidia-smi")  # fmt: skip
_TEXT = 2000
_QUERY = ("index", "uuid", "pci.bus_id", "compute_cap", "display_active", "compute_mode")


def probe(gateway: Gateway, cancel: Event) -> Found:
    """``driver.nvidia_smi_*``, and what it prints: driver, CUDA level, GPUs."""
    name = "nvidia-smi.exe" if is_windows(gateway) else "nvidia-smi"
    on_path = which(gateway, name)
    places = tuple(dict.fromkeys((*((on_path,) if on_path else ()), *candidates(gateway))))
    if not places:
        return Found({"driver": {"nvidia_smi_on_path": False, "nvidia_smi_found": False}})
    path = places[0]
    ran = gateway.run(Command((path, "-q"), timeout_s=_TIMEOUT_S), cancel)
    if ran.failure is Failure.CANCELLED:
        return Found()
    facts: dict[str, Any] = known(
        nvidia_smi_path=path,
        nvidia_smi_found=True,
        nvidia_smi_on_path=on_path is not None,
        nvidia_smi_works=ran.ok,
        # Only a call that never returns says that the driver hangs: other failures are answers.
        responding=True if ran.ok else False if ran.failure is Failure.TIMED_OUT else None,
        nvidia_smi_error=None if ran.ok else _error(ran),
        nvidia_smi_copies=list(places) if len(places) > 1 else None,
    )
    log = heard(ran.out if ran.ok else f"{ran.out}\n{ran.err}", "nvidia-smi")
    log_facts = dict(log.facts)
    if ran.ok and isinstance(log_facts.get("gpus"), list):
        details = _details(gateway, path, cancel)
        gpus = [
            {**gpu, **(details[index] if index < len(details) else {})} for index, gpu in enumerate(log_facts["gpus"])
        ]
        log_facts["gpus"] = gpus
    return Found(merged({"driver": facts}, log_facts), log.signals)


def candidates(gateway: Gateway) -> tuple[str, ...]:
    """Where it can lie besides PATH, existing files only; newest first in the driver store."""
    if not is_windows(gateway):
        return tuple(path for path in _LINUX if is_file(gateway, path))
    join = paths(gateway).join
    root = variable(gateway, "SystemRoot") or r"C:\Windows"
    programs = variable(gateway, "ProgramW6432") or variable(gateway, "ProgramFiles") or r"C:\Program Files"
    store = matches(gateway, str(join(root, "System32", "DriverStore", "FileRepository")), "nv*/nvidia-smi.exe")

    def age(path: str) -> float:
        info = gateway.info(path)
        return -info.modified_utc_s if info is not None else 0.0

    fixed = (join(root, "System32", "nvidia-smi.exe"), join(programs, "NVIDIA Corporation", "NVSMI", "nvidia-smi.exe"))
    return (*(str(path) for path in fixed if is_file(gateway, str(path))), *sorted(store, key=age))


def _error(ran: Ran) -> str:
    if ran.failure is not None:
        return f"{ran.failure.value}: {ran.detail}".rstrip(": ")
    words = " ".join(f"{ran.out} {ran.err}".split())
    return words[:_TEXT] or f"exit code {ran.code}"


def _details(gateway: Gateway, path: str, cancel: Event) -> list[dict[str, Any]]:
    """What -q does not print: by card in the same order. Old drivers know not all fields and then refuse all."""
    for fields in (_QUERY, tuple(name for name in _QUERY if name != "compute_cap")):
        words = (path, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits")
        ran = gateway.run(Command(words, timeout_s=_TIMEOUT_S), cancel)
        if ran.ok:
            return [
                _card(dict(zip(fields, row.split(", "), strict=False))) for row in ran.out.splitlines() if row.strip()
            ]
        if ran.failure is not None:
            break
    return []


def _card(row: dict[str, str]) -> dict[str, Any]:
    def said(name: str) -> str | None:
        value = row.get(name, "").strip()
        return None if not value or value.startswith("[") or value == "N/A" else value

    capability = said("compute_cap")
    return known(
        uuid=said("uuid"),
        bus=_address(said("pci.bus_id")),
        compute_capability=capability if capability and re.fullmatch(r"\d+\.\d+", capability) else None,
        compute_mode=said("compute_mode"),
        display_active={"Enabled": True, "Disabled": False}.get(said("display_active") or ""),
    )


def _address(bus: str | None) -> str | None:
    """``00000000:01:00.0`` as the kernel writes it: ``0000:01:00.0``."""
    match = re.fullmatch(r"([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)", bus or "")
    return f"{match.group(1)[-4:]}:{match.group(2)}".lower() if match else None
