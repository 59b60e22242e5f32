"""Knows: how sections of lines and tables are written as plain text and as Markdown. Must not know: what is in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

#: Names of kernels are hundreds of characters long; on a screen their beginning tells.
_CELL: Final = 72


def terminal(sections: Iterable[Mapping[str, Any]]) -> list[str]:
    """One block of text per section."""
    blocks = []
    for section in sections:
        lines = [section["title"], *(f"   {line}" for line in section["lines"])]
        for table in section["tables"]:
            lines += ["", f"   {table['title']}", *(f"     {line}" for line in _aligned(table))]
        blocks.append("\n".join(lines))
    return blocks


def markdown(sections: Iterable[Mapping[str, Any]]) -> list[str]:
    """The lines of all sections."""
    lines: list[str] = []
    for section in sections:
        lines += ["", f"## {_cell(section['title'])}", "", *(f"- {_cell(line)}" for line in section["lines"])]
        for table in section["tables"]:
            lines += ["", f"**{_cell(table['title'])}**", ""]
            lines.append("| " + " | ".join(_cell(column) for column in table["columns"]) + " |")
            lines.append("|" + " --- |" * len(table["columns"]))
            lines += [
                "| " + " | ".join(_cell(cell, code=not place) for place, cell in enumerate(row)) + " |"
                for row in table["rows"]
            ]
    return lines


def quoted(line: str) -> str:
    """A line as Markdown shows it letter by letter: in more backticks than stand together in it."""
    marks = re.findall("`+", line)
    fence = "`" * (max(map(len, marks), default=0) + 1)
    room = " " if marks else ""  # of which Markdown takes one at each side
    return f"{fence}{room}{line}{room}{fence}"


def _aligned(table: Mapping[str, Any]) -> list[str]:
    """Columns side by side: words to the left, the others (numbers) to the right."""
    last = len(table["columns"]) - 1  # behind it there is room
    rows = [
        table["columns"],
        *([cell if place == last else _short(cell) for place, cell in enumerate(row)] for row in table["rows"]),
    ]
    widths = [max(_width(row[place]) for row in rows) for place in range(len(table["columns"]))]
    lines = []
    for row in rows:
        cells = []
        for place, cell in enumerate(row):
            space = " " * (widths[place] - _width(cell))
            numbers = all(other[place][:1].isdigit() or not other[place] for other in rows[1:])
            cells.append(space + cell if numbers else cell + space)
        lines.append("  ".join(cells).rstrip())
    return lines


def _short(cell: str) -> str:
    flat = " ".join(cell.split())
    return flat if len(flat) <= _CELL else flat[: _CELL - 1] + "…"


def _width(text: str) -> int:
    """Chinese characters are two columns wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _cell(text: str, *, code: bool = False) -> str:
    flat = " ".join(text.split()).replace("|", "\\|")
    return quoted(flat) if code and flat else flat
