"""Knows: how a file becomes the signals of a script. Must not know: any one check (``table.py`` lists them).

What others use::

    found = check(path)                      # -> ScriptFacts(signals); raises UnreadableInput
    document = found.merge_into(document)    # signals are added

The file is read and parsed, never run or imported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from gpumon_gui.diagnosis.facts import Document, Signal
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.reader import Script, read, too_deep
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.table import CHECKS


@dataclass(frozen=True, slots=True)
class ScriptFacts:
    """What a script shows."""

    signals: tuple[Signal, ...] = ()

    def merge_into(self, document: Document) -> Document:
        """The document with this script's signals."""
        return replace(document, signals=document.signals + self.signals)


def check(path: Path) -> ScriptFacts:
    """Judge a script. Raises UnreadableInput with one line that names file and place."""
    script = read(path)
    try:
        return signals_of(script)
    except RecursionError as error:
        raise too_deep(path) from error


def signals_of(script: Script) -> ScriptFacts:
    """The signals of a script that was read."""
    seen, found = Seen(script), Found(script)
    for one in CHECKS:
        one(seen, found)
    return ScriptFacts(found.signals())
