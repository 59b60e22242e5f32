"""Knows: how names from the system become text that can be shown and stored. Must not know: whose names."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def decode(raw: bytes) -> str:
    """UTF-8 from the kernel; what is not UTF-8 (a name cut in the middle of a character) becomes U+FFFD."""
    return raw.decode("utf-8", "replace")


def clean(text: str) -> str:
    """Text without lone surrogates, which no encoder accepts. Python's surrogate escapes and Windows' unpaired UTF-16
    units become U+FFFD; pairs become their character."""
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
