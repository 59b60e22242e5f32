"""Knows: devices as Windows' plug-and-play manager sees them, by cfgmgr32.dll. Must not know: adapters, sensors.

The power state comes from the device node (``DEVPKEY_Device_PowerData``: CM_POWER_DATA, 56 bytes, state at 4). The
power manager keeps it, so asking does not wake a sleeping GPU. Property keys are those of devpkey.h.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import uuid
from ctypes import POINTER, Structure, c_uint8, c_uint32, c_void_p
from typing import Any, NamedTuple, Protocol

# The values of DEVICE_POWER_STATE in wdm.h.
POWER_D0 = 1
POWER_D3 = 4

_CLASSES = (
    "{4d36e968-e325-11ce-bfc1-08002be10318}",  # display adapters
    "{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}",  # compute accelerators: NPUs
)
_PRESENT_OF_CLASS = 0x100 | 0x200  # CM_GETIDLIST_FILTER_PRESENT | CM_GETIDLIST_FILTER_CLASS
_CR_SUCCESS = 0
_DEVICE = uuid.UUID("a45c254e-df1c-4efd-8020-67d146a850e0").bytes_le
_DRIVER, _BUS_NUMBER, _ADDRESS, _POWER_DATA = 11, 23, 30, 32
_MAX_CHARS = 1 << 20


class PnpDevice(NamedTuple):
    """A present display adapter or accelerator. ``node`` is its DEVINST; ``driver_key`` its class key, if any;
    ``identity`` names vendor and model (``PCI\\VEN_10DE&DEV_…``)."""

    node: int
    address: tuple[int, int, int]
    driver_key: str
    identity: str = ""


class Pnp(Protocol):
    """What the source asks about devices."""

    def devices(self) -> tuple[PnpDevice, ...]:
        """All present devices with a PCI address."""
        ...

    def power_state(self, node: int) -> int | None:
        """1 (D0, working) to 4 (D3, off); None when it is not known."""
        ...


class PropertyKey(Structure):
    """DEVPROPKEY."""

    _fields_ = (("fmtid", c_uint8 * 16), ("pid", c_uint32))


PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "CM_Get_Device_ID_List_SizeW": (c_uint32, (POINTER(c_uint32), c_void_p, c_uint32)),
    "CM_Get_Device_ID_ListW": (c_uint32, (c_void_p, c_void_p, c_uint32, c_uint32)),
    "CM_Locate_DevNodeW": (c_uint32, (POINTER(c_uint32), c_void_p, c_uint32)),
    "CM_Get_DevNode_PropertyW": (
        c_uint32,
        (c_uint32, POINTER(PropertyKey), POINTER(c_uint32), c_void_p, POINTER(c_uint32), c_uint32),
    ),
}


class ConfigManager:
    """The real one, over a loaded cfgmgr32.dll or a stand-in. Failures are "not known", never exceptions."""

    def __init__(self, dll: Any) -> None:
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(dll, name)
            function.restype = result
            function.argtypes = arguments
        self._dll = dll

    def devices(self) -> tuple[PnpDevice, ...]:
        """All present devices with a PCI address."""
        found = []
        for class_guid in _CLASSES:
            for identity in self._identities(class_guid):
                node = c_uint32()
                if self._dll.CM_Locate_DevNodeW(ctypes.byref(node), _wide(identity), 0) != _CR_SUCCESS:
                    continue
                bus, place = self._number(node.value, _BUS_NUMBER), self._number(node.value, _ADDRESS)
                if bus is None or place is None:
                    continue
                driver = self._property(node.value, _DRIVER) or b""
                address = (bus, place >> 16, place & 0xFFFF)
                found.append(PnpDevice(node.value, address, _text(driver), identity))
        return tuple(found)

    def power_state(self, node: int) -> int | None:
        """1 (D0, working) to 4 (D3, off); None when it is not known."""
        data = self._property(node, _POWER_DATA)
        if data is None or len(data) < 8:
            return None
        state: int = struct.unpack_from("<i", data, 4)[0]
        return state if POWER_D0 <= state <= POWER_D3 else None

    def _identities(self, class_guid: str) -> list[str]:
        size = c_uint32()
        chosen = _wide(class_guid)
        status = self._dll.CM_Get_Device_ID_List_SizeW(ctypes.byref(size), chosen, _PRESENT_OF_CLASS)
        if status != _CR_SUCCESS or not 0 < size.value <= _MAX_CHARS:
            return []
        buffer = ctypes.create_string_buffer(2 * size.value)
        if self._dll.CM_Get_Device_ID_ListW(chosen, buffer, size.value, _PRESENT_OF_CLASS) != _CR_SUCCESS:
            return []
        return [identity for identity in buffer.raw.decode("utf-16-le", "replace").split("\0") if identity]

    def _number(self, node: int, pid: int) -> int | None:
        data = self._property(node, pid)
        return int.from_bytes(data, "little") if data is not None and len(data) == 4 else None

    def _property(self, node: int, pid: int) -> bytes | None:
        key = PropertyKey((c_uint8 * 16)(*_DEVICE), pid)
        kind, size = c_uint32(), c_uint32(1024)
        buffer = ctypes.create_string_buffer(size.value)
        status = self._dll.CM_Get_DevNode_PropertyW(
            node, ctypes.byref(key), ctypes.byref(kind), buffer, ctypes.byref(size), 0
        )
        return buffer.raw[: size.value] if status == _CR_SUCCESS else None


class NoPnp:
    """Stands in where cfgmgr32.dll lacks a function: nothing is known."""

    def devices(self) -> tuple[PnpDevice, ...]:
        """None known."""
        return ()

    def power_state(self, node: int) -> int | None:
        """Not known."""
        return None


def load_pnp() -> Pnp:
    """Windows' own cfgmgr32.dll; elsewhere, and where it lacks a function, one that knows nothing."""
    if sys.platform != "win32":
        return NoPnp()
    else:  # noqa: RET505 - mypy checks this branch for Windows only
        search_system32 = 0x00000800
        try:
            return ConfigManager(ctypes.WinDLL("cfgmgr32.dll", winmode=search_system32))
        except (OSError, AttributeError):
            return NoPnp()


def _wide(text: str) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(text.encode("utf-16-le") + b"\0\0")


def _text(data: bytes) -> str:
    return data.decode("utf-16-le", "replace").split("\0", 1)[0]
