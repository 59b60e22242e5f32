"""Knows: where a line of a sentence must not end. Must not know: widgets."""

from __future__ import annotations

import re

_BEFORE_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|°[CF]|W|[KMGT]?B(?:/s)?|MHz|ms|s|min|h|秒|毫秒|分钟|小时|天)(?!\w))", re.ASCII
)


def unbroken(text: str) -> str:
    """With what keeps a figure and its unit on one line. For showing only: it is no longer what was said."""
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)
