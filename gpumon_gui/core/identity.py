"""Knows: when two sources talk about the same card. Must not know: the sources.

PCI addresses compare by domain, bus and device, since Windows' adapter address has no domain and NVML has no function
number; a missing domain is 0. Then the 64-bit LUID, then the vendor's UUID. Never an index, never a name.
"""

from __future__ import annotations

import re

from gpumon_gui.core.model import DeviceInfo, DeviceKey

_PCI = re.compile(r"^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.([0-7]))?$")


def pci_address(domain: int, bus: int, device: int, function: int = 0) -> str:
    """``dddddddd:bb:dd.f``, lower case."""
    return f"{domain:08x}:{bus:02x}:{device:02x}.{function}"


def parse_pci_address(text: str) -> str | None:
    """Any usual spelling (``0000:01:00.0``, ``00000000:01:00.0``, ``01:00``) in our form; None if it is not one."""
    match = _PCI.match(text.strip().lower())
    if match is None:
        return None
    domain, bus, device, function = match.groups()
    return pci_address(int(domain or "0", 16), int(bus, 16), int(device, 16), int(function or "0"))


def key_of(pci: str | None = None, luid: int | None = None, uuid: str | None = None, name: str = "") -> DeviceKey:
    """The key for a device, from the strongest identity known."""
    if pci is not None:
        return DeviceKey(f"pci:{pci}")
    if uuid:
        return DeviceKey(f"uuid:{uuid}")
    if luid is not None:
        return DeviceKey(f"luid:{luid:016x}")
    return DeviceKey(f"name:{name}")


def same_device(a: DeviceInfo, b: DeviceInfo) -> bool:
    """Whether both describe one card. A MIG instance is never its parent card."""
    if (a.parent is None) != (b.parent is None):
        return False
    if a.uuid and b.uuid and a.vendor == b.vendor:
        return a.uuid == b.uuid
    if a.parent is not None:
        return False
    if a.pci_address and b.pci_address:
        return a.pci_address[:-2] == b.pci_address[:-2]
    return a.luid is not None and a.luid == b.luid
