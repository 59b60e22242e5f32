"""Knows: how names from the system become text that can be shown and stored. Must not know: whose names."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


#: Characters of a command line that are kept. Linux allows 2 MB, and a shell that expands ``*.jpg`` fills them; the
#: loaders of a training run repeat its command line, and samples travel every second.
LONGEST_COMMAND = 4096


def shortened(command: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments up to :data:`LONGEST_COMMAND` characters in all, an ellipsis where more follow."""
    left = LONGEST_COMMAND
    for position, argument in enumerate(command):
        if len(argument) > left:
            return (*command[:position], f"{argument[: max(0, left)]}…")
        left -= len(argument) + 1
    return command


def decode(raw: bytes) -> str:
    """UTF-8 from the kernel; what is not UTF-8 (a name cut in the middle of a character) becomes U+FFFD."""
    return raw.decode("utf-8", "replace")


def clean(text: str) -> str:
    """Text without lone surrogates, which no encoder accepts. Python's surrogate escapes and Windows' unpaired UTF-16
    units become U+FFFD; pairs become their character."""
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
