"""Knows: pdh.dll's functions and struct layouts. Must not know: what the counters mean.

Layouts (x64, pdh.h): ``PDH_FMT_COUNTERVALUE`` 16 bytes, CStatus at 0, the union at 8; ``PDH_FMT_COUNTERVALUE_ITEM_W``
24 bytes, szName at 0, FmtValue at 8. Fixed-width ctypes keep them right on every system, and strings are read as
UTF-16LE by hand, so that a stand-in library works anywhere. One thread per query: collect and read belong together.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from ctypes import POINTER, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, TypeAlias

from gpumon_gui.core.model import SourceState
from gpumon_gui.telemetry.base import SourceUnavailable
from gpumon_gui.telemetry.pdh.status import (
    GOOD,
    INSUFFICIENT_BUFFER,
    INVALID_ARGUMENT,
    MORE_DATA,
    NO_DATA,
    hex_status,
)

FMT_DOUBLE = 0x00000200
FMT_LARGE = 0x00000400
FMT_NOCAP100 = 0x00008000

Handle: TypeAlias = int


class CounterUnion(ctypes.Union):
    """The value inside PDH_FMT_COUNTERVALUE."""

    _fields_ = (
        ("longValue", c_int32),
        ("doubleValue", c_double),
        ("largeValue", c_int64),
        ("WideStringValue", c_void_p),
    )


class CounterValue(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE."""

    _fields_ = (("CStatus", c_uint32), ("value", CounterUnion))


class CounterValueItem(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE_ITEM_W."""

    _fields_ = (("szName", c_void_p), ("FmtValue", CounterValue))


_DOUBLE_ITEM = struct.Struct("<QI4xd")
_LARGE_ITEM = struct.Struct("<QI4xq")
_ITEM_SIZE = 24

#: name → result and argument types. Without them ctypes cuts handles to 32 bits. PDH_STATUS is compared unsigned.
PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "PdhOpenQueryW": (c_uint32, (c_void_p, c_size_t, POINTER(c_void_p))),
    "PdhAddEnglishCounterW": (c_uint32, (c_void_p, c_void_p, c_size_t, POINTER(c_void_p))),
    "PdhCollectQueryData": (c_uint32, (c_void_p,)),
    "PdhGetFormattedCounterArrayW": (
        c_uint32,
        (c_void_p, c_uint32, POINTER(c_uint32), POINTER(c_uint32), c_void_p),
    ),
    "PdhCloseQuery": (c_uint32, (c_void_p,)),
}

# Instances may appear between asking for the size and reading; each round asks again.
_ATTEMPTS = 5
_HEADROOM = 1.25
_MAX_BYTES = 64 * 1024 * 1024
_MAX_NAMES = 16_384


class PdhError(Exception):
    """A PDH call failed. ``status`` is the unsigned PDH_STATUS."""

    def __init__(self, function: str, status: int) -> None:
        super().__init__(f"{function}: {hex_status(status)}")
        self.function = function
        self.status = status


class Pdh:
    """The calls the source needs, over a loaded pdh.dll or a stand-in with the same functions."""

    def __init__(self, dll: Any) -> None:
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(dll, name)
            function.restype = result
            function.argtypes = arguments
        self._dll = dll
        self._buffers: dict[Handle, ctypes.Array[c_uint64]] = {}
        self._names: dict[bytes, str] = {}

    def open_query(self) -> Handle:
        """A new real-time query. Raises PdhError."""
        query = c_void_p()
        _check("PdhOpenQueryW", self._dll.PdhOpenQueryW(None, 0, ctypes.byref(query)))
        return query.value or 0

    def add_counter(self, query: Handle, path: str) -> Handle:
        """Add a counter by its English path, which works in every language of Windows. A wildcard is kept open: new
        instances show up in later collects. Raises PdhError."""
        counter = c_void_p()
        text = ctypes.create_string_buffer(path.encode("utf-16-le") + b"\0\0")
        status = self._dll.PdhAddEnglishCounterW(query, ctypes.addressof(text), 0, ctypes.byref(counter))
        _check("PdhAddEnglishCounterW", status)
        return counter.value or 0

    def collect(self, query: Handle) -> None:
        """Take a sample of all counters of the query. Raises PdhError."""
        _check("PdhCollectQueryData", self._dll.PdhCollectQueryData(query))

    def close_query(self, query: Handle) -> None:
        """Close the query and its counters. Never raises: there is nothing to be done about it."""
        self._buffers.clear()
        self._dll.PdhCloseQuery(query)

    def read_percent(self, counter: Handle) -> list[tuple[str, int, float]]:
        """All instances of a percentage as (name, CStatus, uncapped value). Raises PdhError."""
        return self._read(counter, FMT_DOUBLE | FMT_NOCAP100, _DOUBLE_ITEM)

    def read_large(self, counter: Handle) -> list[tuple[str, int, int]]:
        """All instances of a 64-bit gauge as (name, CStatus, value). Raises PdhError."""
        return self._read(counter, FMT_LARGE, _LARGE_ITEM)

    def _read(self, counter: Handle, flags: int, item: struct.Struct) -> list[Any]:
        # The buffer of the last sample almost always fits: one call. If it does not, the size that came back is
        # not to be trusted (and some releases answer INVALID_ARGUMENT), so the next round asks with size 0.
        function = self._dll.PdhGetFormattedCounterArrayW
        status = MORE_DATA
        for _attempt in range(_ATTEMPTS):
            buffer = self._buffers.get(counter)
            capacity = ctypes.sizeof(buffer) if buffer is not None else 0
            size, count = c_uint32(capacity), c_uint32(0)
            address = ctypes.addressof(buffer) if buffer is not None else None
            status = function(counter, flags, ctypes.byref(size), ctypes.byref(count), address)
            if status in GOOD:
                return [] if buffer is None else self._items(buffer, count.value, item)
            if status == NO_DATA:
                return []
            if buffer is not None and status in (MORE_DATA, INSUFFICIENT_BUFFER, INVALID_ARGUMENT):
                del self._buffers[counter]
            elif status == MORE_DATA and 0 < size.value <= _MAX_BYTES:
                self._buffers[counter] = (c_uint64 * (int(size.value * _HEADROOM) // 8 + 1))()
            else:
                break
        raise PdhError("PdhGetFormattedCounterArrayW", status)

    def _items(self, buffer: ctypes.Array[c_uint64], count: int, item: struct.Struct) -> list[Any]:
        # Names are copied out before the buffer is used again. PDH puts them behind the items in the same buffer; a
        # pointer to anywhere else is not followed.
        base = ctypes.addressof(buffer)
        data = bytes(buffer)
        if count * _ITEM_SIZE > len(data):
            raise PdhError("PdhGetFormattedCounterArrayW", INSUFFICIENT_BUFFER)
        names, find = self._names, data.find
        if len(names) > _MAX_NAMES:
            names.clear()
        items = []
        for pointer, status, value in item.iter_unpack(data[: count * _ITEM_SIZE]):
            start = pointer - base
            if not 0 <= start < len(data):
                items.append(("", status, value))
                continue
            end = find(b"\0\0", start)
            while end >= 0 and (end - start) & 1:  # the terminator is one aligned 16-bit zero
                end = find(b"\0\0", end + 1)
            raw = data[start : end if end >= 0 else len(data)]
            name = names.get(raw)
            if name is None:
                name = names[raw] = raw.decode("utf-16-le", "replace")
            items.append((name, status, value))
        return items


def load_pdh() -> Pdh:
    """Windows' own pdh.dll, from the system folder only. Raises SourceUnavailable."""
    if sys.platform != "win32":
        raise SourceUnavailable("not-on-this-system", sys.platform, SourceState.ABSENT)
    else:  # noqa: RET506 - mypy checks this branch for Windows only
        search_system32 = 0x00000800
        try:
            return Pdh(ctypes.WinDLL("pdh.dll", winmode=search_system32))
        except (OSError, AttributeError) as error:
            raise SourceUnavailable("gpu-counters-unavailable", str(error)) from error


def _check(function: str, status: int) -> None:
    if status not in GOOD:
        raise PdhError(function, status)
