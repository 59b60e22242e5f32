"""Knows: how Linux tells that a PCI device sleeps, and how to ask without waking it. Must not know: any source.

The files read here are answered by the kernel's PCI and power core from memory; none of them touches the device:
``power/runtime_status`` and ``power/control`` (kernel: Documentation/ABI/testing/sysfs-devices-power), ``vendor`` and
``class`` (cached at enumeration), and NVIDIA's ``proc/driver/nvidia/gpus/<address>/information`` (kept by its kernel
module; NVIDIA's README, "PCI-Express Runtime D3", names that folder as the way to look without waking).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gpumon_gui.core.identity import parse_pci_address

_NVIDIA = "0x10de"
_DISPLAY_CLASS = "0x03"


class RuntimeStatus(StrEnum):
    """What ``power/runtime_status`` says. UNKNOWN: unreadable, or a word of another kernel."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    SUSPENDING = "suspending"
    RESUMING = "resuming"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PowerState:
    """Power state of one device. ``can_sleep``: runtime power management is on (``power/control`` is ``auto``)."""

    status: RuntimeStatus
    can_sleep: bool

    @property
    def asleep(self) -> bool:
        """Whether touching the device would wake it."""
        return self.status in (RuntimeStatus.SUSPENDED, RuntimeStatus.SUSPENDING)


def nvidia_devices(root: Path = Path("/")) -> list[tuple[str, str | None]]:
    """PCI address (``dddddddd:bb:dd.f``) and model name of every NVIDIA display device, asleep or not.

    The name is None while NVIDIA's kernel module is not loaded or does not know it. Never raises; an unreadable
    entry is left out.
    """
    found = []
    base = os.path.join(root, "sys/bus/pci/devices")
    try:
        entries = sorted(os.listdir(base))
    except OSError:
        return []
    for entry in entries:
        address = parse_pci_address(entry)
        if address is None or _line(os.path.join(base, entry, "vendor")) != _NVIDIA:
            continue
        if _line(os.path.join(base, entry, "class")).startswith(_DISPLAY_CLASS):
            found.append((address, _model(root, entry)))
    return found


def power_state(root: Path, pci_address: str) -> PowerState:
    """Power state of a PCI device, without waking it. Any spelling of the address; never raises."""
    address = parse_pci_address(pci_address)
    if address is None:
        return PowerState(RuntimeStatus.UNKNOWN, False)
    return power_state_below(os.path.join(root, "sys/bus/pci/devices", sysfs_address(address)))


def power_state_below(device: str) -> PowerState:
    """The same for a device's sysfs folder."""
    try:
        status = RuntimeStatus(_line(os.path.join(device, "power/runtime_status")))
    except ValueError:  # "error", empty, or a word of another kernel
        status = RuntimeStatus.UNKNOWN
    return PowerState(status, _line(os.path.join(device, "power/control")) == "auto")


def sysfs_address(pci_address: str) -> str:
    """``dddddddd:bb:dd.f`` as sysfs spells it: a domain of four digits (more only where it needs them)."""
    domain, rest = pci_address.split(":", 1)
    return f"{int(domain, 16):04x}:{rest}"


def _model(root: Path, entry: str) -> str | None:
    for line in _read(os.path.join(root, "proc/driver/nvidia/gpus", entry, "information")).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "Model":
            name = value.strip()
            return name if name and name != "Unknown" else None
    return None


def _line(path: str) -> str:
    return _read(path).strip()


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(65536).decode("utf-8", "replace")
    except OSError:
        return ""
