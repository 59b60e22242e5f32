"""Knows: what Windows' registry says about adapters. Must not know: how adapters are found.

``HKLM\\SOFTWARE\\Microsoft\\DirectX\\{guid}`` has one key per adapter that ever was; only those whose AdapterLuid is
alive are true now. The class key (named by the device's Driver property) has the driver's date and the card's memory
before the driver withholds its share. Never ``AdapterRAM``: it has 32 bits.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

_DIRECTX = r"SOFTWARE\Microsoft\DirectX"
_CLASS = r"SYSTEM\CurrentControlSet\Control\Class"
_DISPLAY = "{4d36e968-e325-11ce-bfc1-08002be10318}"


class Registry(Protocol):
    """Read access below HKEY_LOCAL_MACHINE. A key that is not there is empty."""

    def subkeys(self, path: str) -> tuple[str, ...]:
        """Names of the keys below."""
        ...

    def values(self, path: str) -> Mapping[str, object]:
        """Names and data."""
        ...


@dataclass(frozen=True, slots=True)
class DirectxFacts:
    """What DirectX noted about a live adapter; None where it noted nothing (an adapter it never initialised)."""

    description: str | None = None
    vendor_id: int | None = None
    device_id: int | None = None
    driver_version: int | None = None
    d3d12_level: int | None = None
    d3d11_level: int | None = None


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """What the device's class key says. ``memory_bytes`` is all the memory on the card."""

    driver_date: str | None = None
    memory_bytes: int | None = None


def directx_facts(registry: Registry, luids: Collection[int]) -> dict[int, DirectxFacts]:
    """Facts of the live adapters by LUID."""
    facts: dict[int, DirectxFacts] = {}
    for name in registry.subkeys(_DIRECTX):
        values = registry.values(rf"{_DIRECTX}\{name}")
        luid = _whole(values.get("AdapterLuid"))
        if luid is None or luid not in luids:
            continue
        description = values.get("Description")
        facts[luid] = DirectxFacts(
            description if isinstance(description, str) and description else None,
            _whole(values.get("VendorId")),
            _whole(values.get("DeviceId")),
            _whole(values.get("DriverVersion")),
            _whole(values.get("MaxD3D12FeatureLevel")) or None,
            _whole(values.get("MaxD3D11FeatureLevel")) or None,
        )
    return facts


def class_facts(registry: Registry, driver_key: str) -> ClassFacts:
    """Facts of the class key ``{class guid}\\000N``."""
    return _class_facts(registry.values(rf"{_CLASS}\{driver_key}"))


def class_facts_by_name(registry: Registry, name: str) -> ClassFacts:
    """Facts of the display adapter with this description, where the device's own key is not known; none when two
    adapters share the description."""
    display = rf"{_CLASS}\{_DISPLAY}"
    described = [registry.values(rf"{display}\{key}") for key in registry.subkeys(display)]
    same = [values for values in described if values.get("DriverDesc") == name]
    return _class_facts(same[0]) if len(same) == 1 else ClassFacts()


def _class_facts(values: Mapping[str, object]) -> ClassFacts:
    written = values.get("DriverDate")
    memory = _whole(values.get("HardwareInformation.qwMemorySize"))
    return ClassFacts(iso_date(written) if isinstance(written, str) else None, memory or None)


def iso_date(text: str) -> str | None:
    """``M-D-YYYY``, as drivers' INF files give it, in ISO form; None when it is no date."""
    try:
        month, day, year = (int(part) for part in text.strip().replace("/", "-").split("-"))
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _whole(value: object) -> int | None:
    # Some drivers write QWORDs as 8 bytes of binary data.
    if isinstance(value, bytes) and len(value) in (4, 8):
        return int.from_bytes(value, "little")
    return value & 0xFFFFFFFF_FFFFFFFF if isinstance(value, int) else None


class WindowsRegistry:
    """The real one, through the standard library's ``winreg``."""

    def __init__(self) -> None:
        self._winreg: Any = importlib.import_module("winreg")

    def subkeys(self, path: str) -> tuple[str, ...]:
        """Names of the keys below."""
        winreg = self._winreg
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path, 0, self._access()) as key:
                return tuple(winreg.EnumKey(key, index) for index in range(winreg.QueryInfoKey(key)[0]))
        except OSError:
            return ()

    def values(self, path: str) -> Mapping[str, object]:
        """Names and data."""
        winreg = self._winreg
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path, 0, self._access()) as key:
                entries = [winreg.EnumValue(key, index) for index in range(winreg.QueryInfoKey(key)[1])]
        except OSError:
            return {}
        return {name: data for name, data, _ in entries}

    def _access(self) -> int:
        return int(self._winreg.KEY_READ | self._winreg.KEY_WOW64_64KEY)
