"""Knows: GPUs of all vendors as Windows' registry lists them. Must not know: drivers' tools, live counters.

The class keys keep cards that were taken out, so only what a driver's service has started counts, and devices that are
present but not started (switched off, code 43) are told apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Event
from typing import Any

from gpumon_gui.diagnosis.gateway import Gateway, RegistryKey
from gpumon_gui.diagnosis.probes.base import Found, known

_CONTROL = r"HKLM\SYSTEM\CurrentControlSet"
_DISPLAY = "{4d36e968-e325-11ce-bfc1-08002be10318}"
_VENDORS = {"10DE": "nvidia", "1002": "amd", "8086": "intel"}
_DISABLED = 0x1  # CONFIGFLAG_DISABLED, regstr.h


def probe(gateway: Gateway, _cancel: Event) -> Found:
    """``gpus``, and ``driver.version`` of NVIDIA's."""
    gpus: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    for device in _subkeys(gateway, rf"{_CONTROL}\Enum\PCI"):
        vendor = _VENDORS.get(device[4:8].upper())
        if vendor is None:
            continue
        for instance in _subkeys(gateway, rf"{_CONTROL}\Enum\PCI\{device}"):
            values = _values(gateway, rf"{_CONTROL}\Enum\PCI\{device}\{instance}")
            if str(values.get("ClassGUID", "")).lower() != _DISPLAY:
                continue
            service = str(values.get("Service", ""))
            is_started = _is_started(gateway, service, rf"PCI\{device}\{instance}")
            is_disabled = bool(int(values.get("ConfigFlags", 0) or 0) & _DISABLED)
            if not is_started and not is_disabled:
                continue  # taken out, or not started: the registry cannot tell
            class_key = _values(gateway, rf"{_CONTROL}\Control\Class\{values.get('Driver', '')}")
            gpus.append(_gpu(vendor, device, class_key, is_disabled))
            version = nvidia_version(str(class_key.get("DriverVersion", "")))
            if vendor == "nvidia" and version and is_started:
                facts.setdefault("driver", {"version": version})
    if gpus:
        facts["gpus"] = gpus
    return Found(facts)


def _gpu(vendor: str, device: str, class_key: Mapping[str, Any], is_disabled: bool) -> dict[str, Any]:
    ids = re.match(r"VEN_(\w{4})&DEV_(\w{4})", device, re.IGNORECASE)
    return known(
        name=class_key.get("DriverDesc"),
        vendor=vendor,
        pci_id=f"{ids.group(1)}:{ids.group(2)}".lower() if ids else None,
        memory_total_bytes=_whole(class_key.get("HardwareInformation.qwMemorySize")),
        driver_version=class_key.get("DriverVersion"),
        disabled=True if is_disabled else None,
    )


def nvidia_version(windows: str) -> str | None:
    """NVIDIA's number in Windows' (``32.0.15.6636`` → 566.36): the last five digits."""
    parts = windows.split(".")
    digits = "".join(parts[-2:])[-5:] if len(parts) == 4 and all(part.isdigit() for part in parts) else ""
    return f"{int(digits[:3])}.{digits[3:]}" if len(digits) == 5 else None


def _is_started(gateway: Gateway, service: str, instance: str) -> bool:
    """A service lists the devices it runs, in a key that does not outlive a restart."""
    values = _values(gateway, rf"{_CONTROL}\Services\{service}\Enum") if service else {}
    return any(str(value).upper() == instance.upper() for value in values.values())


def _subkeys(gateway: Gateway, path: str) -> tuple[str, ...]:
    return (gateway.registry(path) or RegistryKey()).subkeys


def _values(gateway: Gateway, path: str) -> Mapping[str, Any]:
    return (gateway.registry(path) or RegistryKey()).values


def _whole(value: Any) -> int | None:
    # Some drivers write QWORDs as binary data, which comes as hexadecimal text.
    if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{16}", value):
        return int.from_bytes(bytes.fromhex(value), "little") or None
    return value if isinstance(value, int) and value > 0 else None
