"""Knows: what must not be in a built Windows program, and what must. Must not know: how it was built."""

from __future__ import annotations

import re
import struct
from collections.abc import Set
from pathlib import Path

# Parts of Windows 10 that Wine has no file for.
_WINDOWS_ONLY = {"icuuc.dll", "icuin.dll", "icu.dll"}
_WINE_MARKS = (b"Wine builtin DLL", b"Wine placeholder", b"Wine copied DLL")
_LAB_MARKS = (b"ucrtwine.", b"mscmswine.")
_NEEDED = (
    "gpumon.exe",
    "gpumon-gui.exe",
    "_internal/PySide6/plugins/platforms/qwindows.dll",
    "_internal/PySide6/translations/qtbase_zh_CN.qm",
    "_internal/gpumon_gui/diagnosis/probe_scripts/probe.py",
    "_internal/gpumon_gui/diagnosis/probe_scripts/proof.py",
    "_internal/resources/icons/app.svg",
    "_internal/resources/locale/zh_CN/LC_MESSAGES/gpumon.mo",
    "licences/components.txt",
    "licences/LGPL-3.0.txt",
)
_UNWANTED = re.compile(r"opengl32sw\.dll|Qt6WebEngine|libcrypto|^_internal/(tensorflow|torch|babel|pytest)/")


def faults(folder: Path, system: Set[str]) -> list[str]:
    """What is wrong with the folder, one line each. ``system``: the DLLs that Windows has, in small letters."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = [f"{name} is missing" for name in _NEEDED if not (folder / name).is_file()]
    ours = {file.name.lower() for file in files}
    for file in files:
        name = file.relative_to(folder).as_posix()
        if _UNWANTED.search(name):
            found.append(f"{name} has no place here")
        data = file.read_bytes()
        if not data.startswith(b"MZ"):
            continue
        if any(mark in data[:256] for mark in _WINE_MARKS) or any(mark in data for mark in _LAB_MARKS):
            found.append(f"{name} comes from the lab, not from Windows")
        missing = sorted(imports(data) - ours - system - _WINDOWS_ONLY)
        found += [
            f"{name} needs {library}, which is neither here nor in Windows"
            for library in missing
            if not library.startswith(("api-ms-", "ext-ms-"))
        ]
    return found


def imports(image: bytes) -> set[str]:
    """The DLLs that a 64-bit Windows program or DLL (PE32+, winnt.h) loads at its start or, delayed, later."""
    header = struct.unpack_from("<I", image, 0x3C)[0]
    if image[header : header + 4] != b"PE\0\0":
        return set()
    count, optional_size = struct.unpack_from("<H12xH", image, header + 6)
    optional = header + 24
    sections = [struct.unpack_from("<IIII", image, optional + optional_size + 40 * n + 8) for n in range(count)]

    def place(address: int) -> int:
        _size, start, _raw_size, raw = next(s for s in sections if s[1] <= address < s[1] + max(s[0], s[2]))
        return int(raw + address - start)

    found = set()
    for directory, entry_size, name_at in ((1, 20, 12), (13, 32, 4)):  # imports, delayed imports
        table = struct.unpack_from("<I", image, optional + 112 + 8 * directory)[0]
        if not table:
            continue
        at = place(table)
        while name := struct.unpack_from("<I", image, at + name_at)[0]:
            start = place(name)
            found.add(image[start : image.index(b"\0", start)].decode("ascii").lower())
            at += entry_size
    return found
