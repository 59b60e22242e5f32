"""Knows: facts that Windows gives only through calls: registry, memory, versions of files. Must not know: their use.

Struct layouts from sysinfoapi.h (MEMORYSTATUSEX) and verrsrc.h (VS_FIXEDFILEINFO). On other systems every answer is
None.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from ctypes import c_uint32, c_uint64
from typing import Any

from gpumon_gui.diagnosis.gateway import RegistryKey

_HIVES = {"HKLM": "HKEY_LOCAL_MACHINE", "HKCU": "HKEY_CURRENT_USER"}


def registry_key(path: str) -> RegistryKey | None:
    """A key by ``HKLM\\…`` or ``HKCU\\…``, in the 64-bit view; None when it is not there."""
    winreg: Any = importlib.import_module("winreg")
    hive, _, rest = path.partition("\\")
    try:
        with winreg.OpenKey(getattr(winreg, _HIVES[hive]), rest, 0, winreg.KEY_READ | winreg.KEY_WOW64_64KEY) as key:
            below, count, _ = winreg.QueryInfoKey(key)
            entries = [winreg.EnumValue(key, index) for index in range(count)]
            subkeys = tuple(winreg.EnumKey(key, index) for index in range(below))
    except (OSError, KeyError):
        return None
    return RegistryKey({name: _json(data) for name, data, _ in entries}, subkeys)


def _json(data: Any) -> Any:
    return data.hex() if isinstance(data, bytes) else data


class _MemoryStatus(ctypes.Structure):
    _fields_ = (
        ("length", c_uint32),
        ("load_percent", c_uint32),
        ("total_physical", c_uint64),
        ("available_physical", c_uint64),
        ("commit_limit", c_uint64),
        ("commit_available", c_uint64),
        ("total_virtual", c_uint64),
        ("available_virtual", c_uint64),
        ("available_extended", c_uint64),
    )


def memory(_argument: str) -> dict[str, int] | None:
    """Bytes: ``total``, ``available``, ``commit_limit`` (RAM and page files together), ``commit_available``."""
    if sys.platform == "win32":
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
            return {
                "total": status.total_physical,
                "available": status.available_physical,
                "commit_limit": status.commit_limit,
                "commit_available": status.commit_available,
            }
    return None


def version(_argument: str) -> str | None:
    """``10.0.22631``."""
    if sys.platform == "win32":
        major, minor, build = sys.getwindowsversion().platform_version
        return f"{major}.{minor}.{build}"
    return None


class _FixedFileInfo(ctypes.Structure):
    _fields_ = (
        ("signature", c_uint32),
        ("struct_version", c_uint32),
        ("file_version_high", c_uint32),
        ("file_version_low", c_uint32),
        ("rest", c_uint32 * 9),
    )


def file_version(path: str) -> str | None:
    """The four numbers in a file's version resource (``6.14.11.9000`` for a cudnn64_9.dll); None without one."""
    if sys.platform == "win32":
        library = ctypes.WinDLL("version")
        size = library.GetFileVersionInfoSizeW(path, None)
        block = ctypes.create_string_buffer(size or 1)
        found, length = ctypes.c_void_p(), c_uint32()
        if (
            size
            and library.GetFileVersionInfoW(path, 0, size, block)
            and library.VerQueryValueW(block, "\\", ctypes.byref(found), ctypes.byref(length))
        ):
            info = ctypes.cast(found, ctypes.POINTER(_FixedFileInfo)).contents
            high, low = info.file_version_high, info.file_version_low
            return f"{high >> 16}.{high & 0xFFFF}.{low >> 16}.{low & 0xFFFF}"
    return None
