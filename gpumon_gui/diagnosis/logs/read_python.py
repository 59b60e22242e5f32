"""Knows: what Python says of itself in a log: tracebacks, paths of its files, its version line.
Must not know: what exceptions mean for the GPU.

The interpreter's path is not guessed from a file's path: that would end up in a command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gpumon_gui.diagnosis.logs.block import Block, Fact, Found, Printed

_FRAME: Final = re.compile(r'File "(?P<file>[^"]+)", line \d+')
_EXCEPTION: Final = re.compile(
    r"(?<![\w.])(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}?"
    r"(?:Error|Exception|Warning|Exit|Interrupt|Failure))(?:: ?(?P<message>.*))?$"
)
_PACKAGE: Final = re.compile(r"(?:site|dist)-packages[/\\](\w+)")
_UNIX: Final = re.compile(r"(?P<prefix>/[^\s:\"']{0,260}?)/lib(?:64)?/python(?P<version>\d\.\d+)(?P<free>t?)/")
_WINDOWS: Final = re.compile(r"(?P<prefix>[A-Za-z]:\\[^:\"'|<>]{0,260}?)\\lib\\", re.IGNORECASE)
_WINDOWS_VERSION: Final = re.compile(r"Python(\d)\.?(\d{1,2})(?:-32)?(?=[\\_])", re.IGNORECASE)
_BANNER: Final = re.compile(
    r"(?P<version>\d\.\d+\.\d+\w*)(?P<free> experimental free-threading build| free-threading build)?"
    r"(?P<conda> \|[^|]*\|)? ?\((?P<tags>[^)]*)\).{0,40}?"
    r"\[(?P<compiler>GCC|Clang|MSC)[^\]]*?(?P<bits>\b(?:32|64) bit\b[^\]]*)?\]"
)
_SITE: Final = ("site-packages", "dist-packages")


def place_facts(path: str, offset: int = 0) -> list[Fact]:
    """What a file's path tells of its interpreter and system."""
    unix = _UNIX.search(path)
    if unix:
        facts = [
            Fact("interpreter.version", unix["version"], offset),
            Fact("os.family", _family(unix["prefix"]), offset),
        ]
        if unix["free"]:
            facts.append(Fact("interpreter.free_threaded", True, offset))
        kind = _kind(unix["prefix"])
        return [*facts, *([Fact("interpreter.kind", kind, offset)] if kind else [])]
    windows = _WINDOWS.search(path)
    if windows:
        facts = [Fact("os.family", "windows", offset)]
        version = _WINDOWS_VERSION.search(path)
        if version:
            facts.append(Fact("interpreter.version", f"{version[1]}.{version[2]}", offset))
        kind = _kind(windows["prefix"])
        return [*facts, *([Fact("interpreter.kind", kind, offset)] if kind else [])]
    return []


def _family(path: str) -> str:
    return "macos" if path.startswith(("/Users/", "/Library/", "/opt/homebrew", "/System/")) else "linux"


def _kind(prefix: str) -> str | None:
    lower = prefix.lower()
    if "pythonsoftwarefoundation" in lower:
        return "store"
    if re.search(r"conda|mamba|miniforge|[/\\]envs[/\\]", lower):
        return "conda"
    if re.search(r"[/\\]\.?v?env\d*(?:[/\\]|$)|virtualenv", lower):
        return "venv"
    return "system" if lower in ("/usr", "/usr/local") else None


def _read_traceback(lines: Sequence[str]) -> Found | None:
    files: list[str] = []
    facts: list[Fact] = []
    for offset, line in enumerate(lines):
        frame = _FRAME.search(line)
        if frame:
            files.append(frame["file"])
            if any(name in line for name in _SITE) and not facts:
                facts = place_facts(frame["file"], offset)
            continue
        error = _EXCEPTION.search(line) if files or offset > 1 else None
        if error and not line.lstrip().startswith(("raise ", "except ", "assert ")):
            message = " ".join([error["message"] or "", *_continued(lines, offset)]).strip()
            values = {"type": error["type"], "message": message[:1000], "package": _last_package(files)}
            printed = Printed("python-exception", values, offset, text=f"{error['type']}: {message}")
            return Found(tuple(facts), (printed,), length=offset + 1)
    return Found(tuple(facts), length=1) if facts else None


def _continued(lines: Sequence[str], offset: int) -> list[str]:
    """The rest of a message of several lines."""
    rest = []
    for line in lines[offset + 1 : offset + 8]:
        if not line.strip() or "Traceback (most" in line or _EXCEPTION.match(line.strip()):
            break
        rest.append(line.strip())
    return rest


def _last_package(files: Sequence[str]) -> str:
    named = [match[1] for match in map(_PACKAGE.search, files) if match]
    return named[-1] if named else ""


def _read_place(lines: Sequence[str]) -> Found | None:
    facts = place_facts(lines[0])
    return Found(tuple(facts)) if facts else None


def _read_banner(lines: Sequence[str]) -> Found | None:
    match = _BANNER.search(lines[0])
    if match is None:
        return None
    facts = [Fact("interpreter.version", match["version"])]
    if match["free"]:
        facts.append(Fact("interpreter.free_threaded", True))
    if match["conda"] and "conda" in match["conda"].lower():
        facts.append(Fact("interpreter.kind", "conda"))
    if match["compiler"] == "MSC":
        facts.append(Fact("os.family", "windows"))
        if match["bits"]:
            facts.append(Fact("interpreter.bits", int(match["bits"][:2])))
    return Found(tuple(facts))


BLOCKS: Final = (
    Block("traceback", ("traceback (most recent call last)",), _read_traceback, lines=200),
    Block("site-packages", _SITE, _read_place),
    Block("python-banner", ("[gcc ", "[clang ", "[msc v."), _read_banner),
)
