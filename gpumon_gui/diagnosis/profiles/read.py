"""Knows: how a file or folder named by the user becomes facts. Must not know: the command line, rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.facts import Document, Origin
from gpumon_gui.diagnosis.profiles import chrome, opening, snapshot, summary, xplane
from gpumon_gui.diagnosis.profiles.collect import Totals
from gpumon_gui.diagnosis.profiles.opening import Kind, Look

#: JAX writes the same files as TensorFlow; its compiled functions are called by this name.
_JAX: Final = "PjitFunction"
#: TensorFlow's own calls; its operators have names of their own kind.
_TENSORFLOW: Final = ("TFE_", "EagerLocalExecute", "EagerKernelExecute")
#: So many files of a kind in a folder are tried, newest first; many things are called ``.pickle``.
_TRIES: Final = 5
#: So many of those that were left out are named.
_NAMED: Final = 10


def read(path: Path, look: Look | None = None) -> Document:
    """The facts ``profile`` or ``memory_snapshot`` of a file; of a folder both, from the newest of each that can be
    read, with ``profile_folder`` about the rest.

    ``look`` as in :func:`opening.content`. Raises UnreadableInput naming the file and the place in it.
    """
    return _folder(path, look) if path.is_dir() else _file(path, look)


def _folder(path: Path, look: Look | None) -> Document:
    facts: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    left: list[dict[str, str]] = []
    failed: list[UnreadableInput] = []
    for files in opening.candidates(path):
        found = None
        for place, file in enumerate(files):
            entry = {"file": file.relative_to(path).as_posix()}
            if found is None and place < _TRIES:
                try:
                    found = _file(file, look)
                    continue
                except UnreadableInput as error:
                    failed.append(error)
                    entry["why"] = str(error)
            left.append(entry)
        if found is not None:
            facts |= found.facts
            origins |= found.origins
    if not facts:
        raise failed[0]
    if left:
        left.sort(key=lambda entry: "why" not in entry)
        facts["profile_folder"] = {"skipped": left[:_NAMED], "skipped_count": len(left)}
    return Document(facts, origins=origins)


def _file(path: Path, look: Look | None) -> Document:
    kind = opening.kind_of(path)
    if kind is Kind.PICKLE:
        with opening.content(path, look) as source:
            return _document("memory_snapshot", snapshot.read(source, path), path)
    totals = Totals()
    if kind is Kind.XSPACE:
        about = xplane.read(path, totals, look)
    else:
        with opening.content(path, look) as source:
            about = chrome.read(source, path, totals)
    if "framework" not in about and (framework := _framework(totals.host_names, totals.says_tensorflow)):
        about["framework"] = framework
    if totals.events == totals.damaged:
        message = _("{path}: the trace has no events with a time and a length ({count} were left out).")
        raise UnreadableInput(message.format(path=shown(path), count=totals.damaged))
    return _document("profile", {"file": path.name, **summary.facts(totals, about)}, path)


def _framework(host_names: Iterable[str], says_tensorflow: bool) -> str | None:
    """Whose a trace of this format is, by names that only one has; None where none is seen."""
    for name in host_names:
        if name.startswith(_JAX):
            return "jax"
        says_tensorflow = says_tensorflow or name.startswith(_TENSORFLOW) or chrome.is_operator(name)
    return "tensorflow" if says_tensorflow else None


def _document(key: str, facts: dict[str, object], path: Path) -> Document:
    return Document({key: facts}, origins={key: Origin(path.name)})
