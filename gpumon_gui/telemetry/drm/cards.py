"""Knows: which DRM cards there are and who they are. Must not know: their changing values.

Only files answered from the kernel's memory are opened (``uevent``, ``revision``, ``product_name`` of a card that is
awake), so that finding a card never wakes it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from gpumon_gui.core.identity import key_of, parse_pci_address
from gpumon_gui.core.model import DeviceKey, DeviceKind
from gpumon_gui.telemetry.drm.sysfs import names, read_word

#: Kernel drivers read here. ``nvidia`` belongs to the nvml source, the rest (virtio, ast, simpledrm) has no figures.
DRIVERS = frozenset({"amdgpu", "i915", "xe", "nouveau"})

_VENDORS = {"1002": "AMD", "8086": "Intel", "10de": "NVIDIA", "1022": "AMD"}
_CARD = re.compile(r"card(\d+)")
_NODE = re.compile(r"(?:card|renderD)\d+")
_PCI_IDS = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids")
_AMD_IDS = "usr/share/libdrm/amdgpu.ids"


@dataclass(frozen=True, slots=True)
class Card:
    """One card. ``path`` is ``sys/class/drm/cardN``, ``device`` its PCI device's folder below it."""

    key: DeviceKey
    index: int
    path: str
    device: str
    driver: str
    vendor_id: str
    device_id: str
    pci_address: str | None

    @property
    def vendor(self) -> str:
        """The maker's name, or its PCI id."""
        return _VENDORS.get(self.vendor_id, self.vendor_id)


def find_cards(root: str) -> tuple[Card, ...]:
    """All cards of our drivers, in the kernel's order. Never raises."""
    base = os.path.join(root, "sys/class/drm")
    found = []
    for name in names(base):
        match = _CARD.fullmatch(name)  # connectors are called card0-DP-1
        if match is not None:
            card = _card(os.path.join(base, name), int(match.group(1)))
            if card is not None:
                found.append(card)
    return tuple(sorted(found, key=lambda card: card.index))


def node_addresses(root: str) -> dict[str, str]:
    """``renderD128`` / ``card0`` → the PCI address of its device, for all DRM nodes."""
    base = os.path.join(root, "sys/class/drm")
    found = {}
    for name in names(base):
        if _NODE.fullmatch(name):
            address = _address(os.path.join(base, name, "device"), _uevent(os.path.join(base, name, "device")))
            if address is not None:
                found[name] = address
    return found


def kind_of(card: Card) -> DeviceKind:
    """Discrete or integrated, from what the driver offers; UNKNOWN where that does not tell.

    Intel: the integrated GPU is always on bus 0 (00:02.0). amdgpu creates fan, hot-spot and ``pcie_bw`` files for
    boards only, never for APUs (amdgpu_pm.c, ``hwmon_attributes_visible``). nouveau: bus 0 is an nForce chipset.
    """
    on_bus_0 = card.pci_address is not None and card.pci_address.split(":")[1] == "00"
    if card.driver in ("i915", "xe", "nouveau") and card.pci_address is not None:
        return DeviceKind.INTEGRATED if on_bus_0 else DeviceKind.DISCRETE
    if card.driver == "amdgpu":
        files = set(names(card.device))
        for hwmon in names(os.path.join(card.device, "hwmon")):
            files.update(names(os.path.join(card.device, "hwmon", hwmon)))
        if files & {"fan1_input", "temp2_input", "mem_busy_percent", "pcie_bw"}:
            return DeviceKind.DISCRETE
        if "gpu_busy_percent" in files:
            return DeviceKind.INTEGRATED
    return DeviceKind.UNKNOWN


def name_of(root: str, card: Card, *, awake: bool) -> str:
    """The model's name: the card's own, libdrm's list (AMD, exact to the revision), pci.ids, else vendor and ids."""
    if awake and card.driver == "amdgpu" and (own := read_word(os.path.join(card.device, "product_name"))):
        return own
    if card.vendor_id == "1002":
        revision = read_word(os.path.join(card.device, "revision")).removeprefix("0x")
        if name := _amd_name(os.path.join(root, _AMD_IDS), card.device_id, revision):
            return name
    for path in _PCI_IDS:
        if name := _pci_name(os.path.join(root, path), card.vendor_id, card.device_id):
            return f"{card.vendor} {name}"
    return f"{card.vendor} [{card.vendor_id}:{card.device_id}]"


def upstream_port(card: Card) -> str:
    """The folder whose PCIe link is the one to the mainboard.

    AMD (since Vega) and Intel Arc boards have a PCIe switch on board: the GPU's own link ends there and always shows
    the same figure. The switch's ports are bridges of the card's vendor; the port below the root port is the one.
    """
    real = os.path.realpath(card.device)
    best = real
    parent = os.path.dirname(real)
    while parse_pci_address(os.path.basename(parent)) and parse_pci_address(os.path.basename(os.path.dirname(parent))):
        if read_word(os.path.join(parent, "vendor")) != f"0x{card.vendor_id}":
            break
        best, parent = parent, os.path.dirname(parent)
    return best


def drives_display(card: Card) -> bool:
    """Whether one of its connectors is lit. The kernel answers from memory; nothing is probed."""
    prefix = os.path.basename(card.path) + "-"
    return any(
        read_word(os.path.join(card.path, name, "enabled")) == "enabled"
        for name in names(card.path)
        if name.startswith(prefix)
    )


def _card(path: str, index: int) -> Card | None:
    device = os.path.join(path, "device")
    uevent = _uevent(device)
    driver = uevent.get("DRIVER") or os.path.basename(os.path.realpath(os.path.join(device, "driver")))
    if driver not in DRIVERS:
        return None
    vendor, _, model = uevent.get("PCI_ID", "").lower().partition(":")
    vendor = vendor or read_word(os.path.join(device, "vendor")).removeprefix("0x")
    model = model or read_word(os.path.join(device, "device")).removeprefix("0x")
    address = _address(device, uevent)
    key = key_of(pci=address, name=f"drm-{os.path.basename(os.path.realpath(device))}")
    return Card(key, index, path, device, driver, vendor, model, address)


def _address(device: str, uevent: dict[str, str]) -> str | None:
    slot = uevent.get("PCI_SLOT_NAME") or os.path.basename(os.path.realpath(device))
    return parse_pci_address(slot)


def _uevent(device: str) -> dict[str, str]:
    lines = read_word(os.path.join(device, "uevent")).splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _amd_name(path: str, device_id: str, revision: str) -> str:
    """libdrm's amdgpu.ids: ``73FF,<tab>C7,<tab>AMD Radeon RX 6600``; device and revision in hex."""
    for line in _lines(path):
        fields = [part.strip() for part in line.split(",", 2)]
        if len(fields) == 3 and fields[0].lower() == device_id and fields[1].lower().zfill(2) == revision.zfill(2):
            return fields[2]
    return ""


def _pci_name(path: str, vendor_id: str, device_id: str) -> str:
    """pci.ids: vendors at the margin, devices behind one tab, subsystems behind two."""
    inside = False
    for line in _lines(path):
        if not line.startswith(("\t", "#")) and line.strip():
            inside = line[:4].lower() == vendor_id
        elif inside and line.startswith(f"\t{device_id}"):
            return line[5:].strip()
    return ""


def _lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
