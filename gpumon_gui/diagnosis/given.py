"""Knows: how what a person gives (facts, logs, scripts, a profile) becomes one document, alone or as part of a
diagnosis of this machine. Must not know: who asks, what is judged.

What others use::

    document = combined(Given(logs=(Path("train.log"),), scripts=(Path("train.py"),)))
    document = attached(document_of_this_machine, combined(given), "/home/me/ml/bin/python")
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import cannot_read, shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.facts import ENVIRONMENT_KEYS, Document, Origin
from gpumon_gui.diagnosis.probes.base import merged

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.logs.decode import Stream

#: The name of a log that came without a file.
PASTED: Final = "log"
#: What is given other than logs, by the first part of its facts' paths.
_KINDS: Final = {"profile": "profile", "memory_snapshot": "profile"}


@dataclass(frozen=True, slots=True)
class Given:
    """Files by their paths; ``log_text`` is a log that was pasted. None and empty: not given."""

    facts: Path | None = None
    logs: tuple[Path, ...] = ()
    log_text: str = ""
    profile: Path | None = None
    scripts: tuple[Path, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is given."""
        return self == Given()


def combined(given: Given, onto: Document | None = None, look: Callable[[int], None] | None = None) -> Document:
    """All of it, added to ``onto`` (facts take its place). ``look`` gets the number of bytes of a log or the profile
    that have been read, before each part of it; what it raises ends the reading. What one log says counts before what
    a later one says. Raises UnreadableInput naming the file and, where there is one, the place in it."""
    document = onto or Document()
    if given.facts is not None:
        from gpumon_gui.diagnosis import facts_file  # only loaded when asked for

        document = facts_file.load(given.facts)
    for log in given.logs:
        document = with_log_file(document, log, look)
    if given.log_text.strip():
        pasted = io.BytesIO(given.log_text.encode("utf-8", "replace"))
        document = with_log(document, _Watched(pasted, look) if look else pasted, PASTED)
    if given.profile is not None:
        document = with_profile(document, given.profile, look)
    for script in given.scripts:
        document = with_script(document, script)
    return document


def with_log(document: Document, stream: Stream, name: str) -> Document:
    """The document with what a program printed. Raises OSError of the stream."""
    from gpumon_gui.diagnosis.logs.reader import read  # only loaded when asked for

    return read(stream, name).merge_into(document)


def with_log_file(document: Document, path: Path, look: Callable[[int], None] | None = None) -> Document:
    """The same from a file; pipes and terminals are fine, folders and devices are not. ``look`` as in
    :func:`combined`. Raises UnreadableInput."""
    try:
        stream = path.open("rb")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise UnreadableInput(cannot_read(path, error)) from error
    with stream:
        try:
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty()):  # some never end
                raise UnreadableInput(_("{path}: is not a regular file.").format(path=shown(path)))
            return with_log(document, _Watched(stream, look) if look else stream, _log_name(document, path))
        except OSError as error:
            raise UnreadableInput(cannot_read(path, error)) from error


def _log_name(document: Document, path: Path) -> str:
    """Of two logs with the same name the later one is known with its folder."""
    known = {*document.origins.values(), *(signal.origin for signal in document.signals)}
    is_taken = path.name in {origin.source for origin in known}
    return f"{path.absolute().parent.name}/{path.name}" if is_taken else path.name


class _Watched:
    """A stream that is looked at before each part."""

    def __init__(self, stream: BinaryIO, look: Callable[[int], None]) -> None:
        self._stream, self._look, self._done = stream, look, 0

    def read(self, size: int, /) -> bytes:
        self._look(self._done)
        data = self._stream.read(size)
        self._done += len(data)
        return data


def with_profile(document: Document, path: Path, look: Callable[[int], None] | None = None) -> Document:
    """The document with a profile's facts. ``look`` as in :func:`combined`. Raises UnreadableInput."""
    from gpumon_gui.diagnosis.profiles.read import read  # only loaded when asked for

    profile = read(path, look)
    return replace(document, facts={**document.facts, **profile.facts}, origins={**document.origins, **profile.origins})


def with_script(document: Document, path: Path) -> Document:
    """The document with what a script shows; it is read, never run. Raises UnreadableInput."""
    from gpumon_gui.diagnosis.script.check import check  # only loaded when asked for

    return check(path).merge_into(document)


def attached(document: Document, more: Document, environment: str | None) -> Document:
    """``document`` (of this machine) with what was given, as part of the environment whose interpreter has that path.

    None, or a path that is not there: it is a program in an environment that nobody names, and gets an entry of its
    own. What was found on this machine counts before what a log says of it. A log of another machine
    (``given.elsewhere`` in the facts says by what it is) joins no environment of this one, whoever was named, and keeps
    what it says of its own.
    """
    if not more.facts and not more.signals and not more.log_given:
        return document
    from gpumon_gui.diagnosis.logs.elsewhere import differences, is_of_another  # only loaded when asked for

    found = differences(document.facts, more) if more.log_given else []
    told = {**_names(more), **({"elsewhere": found} if found else {})}
    environments = [dict(facts) for facts in document.facts.get("environments", ())]
    signals = [list(own) for own in document.own_signals]
    signals += [[] for _each in range(len(environments) - len(signals))]
    is_foreign = is_of_another(found)
    index = None if is_foreign else _place(environments, environment)
    if index is None:
        index = len(environments)
        environments.append({})
        signals.append([])
    own = {key: value for key, value in more.facts.items() if key != "environments"}
    kept = {
        key: value for key, value in own.items() if key in ENVIRONMENT_KEYS or key not in document.facts or is_foreign
    }
    environments[index] = merged(environments[index], kept)
    signals[index] += more.signals
    origins: dict[str, Origin] = {
        f"environments.{index}.{path}": origin
        for path, origin in more.origins.items()
        if path.partition(".")[0] in kept
    }
    return replace(
        document,
        facts={**document.facts, "environments": environments, "given": told},
        origins={**origins, **document.origins},
        own_signals=tuple(tuple(each) for each in signals),
        log_given=document.log_given or more.log_given,
    )


def _names(more: Document) -> dict[str, list[str]]:
    """The names by which evidence from what was given is known, by its kind."""
    names: dict[str, list[str]] = {}
    for origin, kind in (
        *((signal.origin, "script" if signal.kind.startswith("script-") else "log") for signal in more.signals),
        *((origin, _KINDS.get(path.partition(".")[0], "log")) for path, origin in more.origins.items()),
    ):
        known = names.setdefault(kind, [])
        if origin.source not in known:
            known.append(origin.source)
    return names


def _place(environments: list[dict[str, Any]], path: str | None) -> int | None:
    for index, facts in enumerate(environments):
        interpreter = facts.get("interpreter")
        if path is not None and isinstance(interpreter, Mapping) and interpreter.get("path") == path:
            return index
    return None
