"""Knows: how a file or folder named by the user becomes facts. Must not know: the command line, rules."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.facts import Document, Origin
from gpumon_gui.diagnosis.profiles import chrome, opening, snapshot, summary, xplane
from gpumon_gui.diagnosis.profiles.collect import Totals
from gpumon_gui.diagnosis.profiles.opening import Kind

#: JAX writes the same files as TensorFlow; its compiled functions are called by this name.
_JAX: Final = "PjitFunction"


def read(path: Path) -> Document:
    """The facts ``profile`` or ``memory_snapshot`` of a file, or of the newest profile in a folder.

    Raises UnreadableInput naming the file and the place in it.
    """
    if path.is_dir():
        path = opening.newest_in(path)
    kind = opening.kind_of(path)
    if kind is Kind.PICKLE:
        with opening.content(path) as source:
            return _document("memory_snapshot", snapshot.read(source, path), path)
    totals = Totals()
    if kind is Kind.XSPACE:
        about = xplane.read(path, totals)
    else:
        with opening.content(path) as source:
            about = chrome.read(source, path, totals)
    if about["framework"] != "torch" and any(name.startswith(_JAX) for name in totals.host_names):
        about["framework"] = "jax"
    if totals.events == totals.damaged:
        message = _("{path}: the trace has no events with a time and a length ({count} were left out).")
        raise UnreadableInput(message.format(path=shown(path), count=totals.damaged))
    return _document("profile", {"file": path.name, **summary.facts(totals, about)}, path)


def _document(key: str, facts: dict[str, object], path: Path) -> Document:
    return Document({key: facts}, origins={key: Origin(path.name)})
