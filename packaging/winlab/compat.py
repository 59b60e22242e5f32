"""Knows: how the DLLs that Wine 10 lacks are made (compat/*.c say what for). Must not know: who loads them.

They live on the lab's Windows disk only and are never shipped.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from places import HERE, LabError

_TOOL = "x86_64-w64-mingw32-"
_BARE = ("-O2", "-Wall", "-shared", "-nostdlib", "-s", "-e", "DllMainCRTStartup")
_WINE_MARK = b"Wine builtin DLL"


def build(wine_dlls: Path, system32: Path, work: Path) -> None:
    """Make them and put them into system32. Raises LabError."""
    work.mkdir(exist_ok=True)
    _forwarder("ucrtbase", "ucrtwine", "ucrtcomplex.c", ("-lmingwex", "-lgcc"), wine_dlls, system32, work)
    _forwarder("mscms", "mscmswine", "mscms.c", (), wine_dlls, system32, work)
    _tool("gcc", *_BARE, "-o", system32 / "icuuc.dll", HERE / "compat/icuuc.c")


def _forwarder(
    name: str, renamed: str, source: str, libraries: Sequence[str], wine_dlls: Path, system32: Path, work: Path
) -> None:
    """A DLL that hands everything to a renamed copy of Wine's, but for the functions in ``source``."""
    _tool("gcc", "-O2", "-Wall", "-c", HERE / "compat" / source, "-o", work / f"{name}.o")
    ours = set(re.findall(r"\bT lab_(\w+)", _tool("nm", work / f"{name}.o")))
    theirs = (wine_dlls / f"{name}.dll").read_bytes()
    front, behind = [f"LIBRARY {name}.dll", "EXPORTS"], [f"LIBRARY {renamed}.dll", "EXPORTS"]
    for export, is_data in _exports(theirs):
        # FOOl is FOO's twin for long double, which is double in Microsoft's C.
        short = export[:-1] if export.endswith("l") and export[:-1] in ours else export
        if short in ours:
            front.append(f"  {export} = lab_{short}")
        else:  # quoted: C++ names hold '?' and '@'
            kind = " DATA" if is_data else ""
            front.append(f'  "{export}" = "{renamed}.{export}"{kind}')
            behind.append(f'  "{export}"{kind}')
    (work / f"{name}.def").write_text("\n".join(front) + "\n", encoding="ascii")
    (work / f"{renamed}.def").write_text("\n".join(behind) + "\n", encoding="ascii")
    _tool("dlltool", "-d", work / f"{renamed}.def", "-l", work / f"lib{renamed}.a")
    group = ("-Wl,--start-group", *libraries, f"-l{renamed}", "-Wl,--end-group")
    made = work / f"{name}.dll"
    _tool("gcc", *_BARE, "-o", made, work / f"{name}.o", work / f"{name}.def", f"-L{work}", *group)
    # Without its mark, or the loader looks for the copy in Wine's own folder.
    (system32 / f"{renamed}.dll").write_bytes(theirs.replace(_WINE_MARK, b"Wine copied DLL\0", 1))
    target = system32 / f"{name}.dll"
    target.unlink(missing_ok=True)  # it may be a link into Wine's own folder
    target.write_bytes(made.read_bytes())


def _exports(image: bytes) -> list[tuple[str, bool]]:
    """Name and whether it is data, of all exports of a 64-bit DLL (PE32+, winnt.h)."""
    header = struct.unpack_from("<I", image, 0x3C)[0]
    count, optional_size = struct.unpack_from("<H12xH", image, header + 6)
    optional = header + 24
    sections: list[tuple[int, int, int, bool]] = []
    for n in range(count):
        at = optional + optional_size + 40 * n
        size, address, raw_size, raw = struct.unpack_from("<IIII", image, at + 8)
        is_code = bool(struct.unpack_from("<I", image, at + 36)[0] & 0x20000000)
        sections.append((address, max(size, raw_size), raw, is_code))

    def place(address: int) -> int:
        start, _size, raw, _code = next(s for s in sections if s[0] <= address < s[0] + s[1])
        return raw + address - start

    table, table_size = struct.unpack_from("<II", image, optional + 112)
    names_count, functions, names, ordinals = struct.unpack_from("<IIII", image, place(table) + 24)
    found = []
    for n in range(names_count):
        at = place(struct.unpack_from("<I", image, place(names) + 4 * n)[0])
        ordinal = struct.unpack_from("<H", image, place(ordinals) + 2 * n)[0]
        address = struct.unpack_from("<I", image, place(functions) + 4 * ordinal)[0]
        is_code = any(s[0] <= address < s[0] + s[1] and s[3] for s in sections)
        is_forward = table <= address < table + table_size
        found.append((image[at : image.index(b"\0", at)].decode(), not (is_code or is_forward)))
    return found


def _tool(name: str, *words: str | Path) -> str:
    done = subprocess.run([_TOOL + name, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"{_TOOL}{name} failed: {done.stderr.strip()}")
    return done.stdout
