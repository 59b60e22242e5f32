"""Knows: how versions are written by programs and people. Must not know: which program a version belongs to."""

from __future__ import annotations

import re
from typing import TypeAlias

#: Numbers from the most significant on: ``(2, 5, 1)``. Compare with :func:`at_least`: lengths differ.
Version: TypeAlias = tuple[int, ...]

#: The oldest that the probes run in.
OLDEST_PYTHON: Version = (3, 6)

_LEADING = re.compile(r"^\s*(?:v|version\s+)?(\d+(?:\.\d+)*)", re.IGNORECASE)


def parse_version(text: str) -> Version | None:
    """The leading version: ``2.5.1+cu124`` → (2, 5, 1), ``3.8 (conda)`` → (3, 8); None for "<=2.3" or "CPU build"."""
    match = _LEADING.match(text)
    return tuple(int(part) for part in match.group(1).split(".")) if match else None


def at_least(version: Version, wanted: Version) -> bool:
    """Whether ``version`` is ``wanted`` or newer; missing parts count as 0."""
    length = max(len(version), len(wanted))
    return _padded(version, length) >= _padded(wanted, length)


def same_series(version: Version, other: Version) -> bool:
    """Whether both agree as far as the shorter one goes: 12.1.105 and 12.1."""
    length = min(len(version), len(other))
    return version[:length] == other[:length]


def text(version: Version) -> str:
    """``2.5.1``."""
    return ".".join(str(part) for part in version)


def _padded(version: Version, length: int) -> Version:
    return version + (0,) * (length - len(version))
