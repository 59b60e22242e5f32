"""Knows: how programs write sizes of memory. Must not know: which message they stand in."""

from __future__ import annotations

import re
from typing import Final

#: A size as a regular expression without groups.
SIZE: Final = r"[\d.,]+ ?(?:[KMGT]i?B|bytes?|B)\b"
_PARTS: Final = re.compile(r"([\d.,]+)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
_POWERS: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def bytes_of(text: str) -> int | None:
    """``7.92 GiB`` → 8504035246; None for what is no size. NVIDIA's and PyTorch's KB, MB, GB are powers of 1024 too."""
    match = _PARTS.match(text.strip())
    if match is None:
        return None
    try:
        number = float(match.group(1).replace(",", ""))
    except ValueError:
        return None
    unit = "" if text.lower().rstrip().endswith(("bytes", "byte")) else match.group(2).upper()
    size = number * 1024 ** _POWERS[unit]
    return round(size) if size < 1e18 else None
