"""Knows: how foreign text becomes a tool tip. Must not know: whose text."""

from __future__ import annotations

import textwrap

_WIDEST = 100  # characters of a line; Qt never breaks plain text
_MOST_LINES = 25


def escaped(text: str) -> str:
    """Text for a place that takes HTML. Python's own ``html.escape`` comes with half a megabyte of names."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain(text: str) -> str:
    """A tool tip that shows the text as it is, in lines of bearable length.

    Qt takes what looks like HTML for HTML, a process called ``<img src=…>`` included, and makes a tip as wide as a
    command line of 100,000 characters.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        lines += textwrap.wrap(
            line[: _WIDEST * _MOST_LINES], _WIDEST, replace_whitespace=False, drop_whitespace=False
        ) or [""]
        if len(lines) > _MOST_LINES:
            lines = [*lines[:_MOST_LINES], "…"]
            break
    shown = "\n".join(lines) if len(lines) > 1 else text
    if "<" in shown:
        return f'<span style="white-space: pre">{escaped(shown)}</span>'
    return shown
