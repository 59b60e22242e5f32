"""Knows: GPUs of all vendors as Linux sees them on the PCI bus. Must not know: drivers' tools.

Reading these files wakes no sleeping card.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Event

from gpumon_gui.diagnosis.gateway import Gateway, info_name, matches, read_text
from gpumon_gui.diagnosis.probes.base import NOTHING, Found, known

_DEVICES = "/sys/bus/pci/devices"
_NAMES = ("/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/usr/share/pci.ids")
_NAMES_BYTES = 3_000_000
VENDORS = {"0x10de": "nvidia", "0x1002": "amd", "0x8086": "intel"}
#: PCI base class 3: VGA (00), 3D (02), other display (80) controllers.
_DISPLAY = re.compile(r"^0x03(00|02|80)")


def probe(gateway: Gateway, _cancel: Event) -> Found:
    """``gpus`` with the PCI address in ``bus``, ``driver`` (the kernel's) and ``power_state`` (D0 … D3cold)."""
    if gateway.platform != "linux":
        return NOTHING
    gpus = []
    names: str | None = None
    for folder in matches(gateway, _DEVICES, "*"):
        if not _DISPLAY.match(_value(gateway, folder, "class")):
            continue
        vendor = _value(gateway, folder, "vendor")
        if vendor not in VENDORS:
            continue
        if names is None:
            names = next((text for path in _NAMES if (text := read_text(gateway, path, _NAMES_BYTES))), "")
        address = folder.rpartition("/")[2]
        driver = gateway.info(f"{folder}/driver")
        gpus.append(
            known(
                name=_name(names, vendor, _value(gateway, folder, "device")),
                vendor=VENDORS[vendor],
                pci_id=f"{vendor[2:]}:{_value(gateway, folder, 'device')[2:]}",
                bus=address,
                kernel_driver=info_name(driver),
                power_state=_value(gateway, folder, "power_state") or None,
                # Integrated ones of Intel sit at device 2 of the first bus; AMD's cannot be told by the address.
                integrated=True if vendor == "0x8086" and address.endswith(":00:02.0") else None,
            )
        )
    if not gpus and not _is_whole(gateway):
        return NOTHING
    return Found({"gpus": gpus})


def _is_whole(gateway: Gateway) -> bool:
    """Whether no GPU on the bus means no GPU at all: not in WSL, nor on boards whose GPU is part of the processor."""
    uname = gateway.ask("uname")
    machine = uname.get("machine") if isinstance(uname, Mapping) else None
    return machine == "x86_64" and gateway.info("/dev/dxg") is None and bool(gateway.listing(_DEVICES))


def _value(gateway: Gateway, folder: str, name: str) -> str:
    return (read_text(gateway, f"{folder}/{name}", 100) or "").strip()


def _name(names: str, vendor: str, device: str) -> str | None:
    """From pci.ids: vendors at the start of a line, their devices behind a tab."""
    start = re.search(rf"^{vendor[2:]}  .*$", names, re.MULTILINE)
    if start is None:
        return None
    section = names[start.end() :]
    end = re.search(r"^[0-9a-f]{4}  ", section, re.MULTILINE)
    match = re.search(rf"^\t{device[2:]}  (.+)$", section[: end.start()] if end else section, re.MULTILINE)
    return match.group(1).strip() if match else None
