"""Knows: the settings file: TOML, read and repaired entry by entry, written whole or not at all. Must not know: what
any option means.

What cannot be read is told and replaced by its default; the file as it was is kept beside it (``settings.broken.toml``)
before anything is written over it. Keys that this version does not know stay in the file: an older version may have
been started for a day.
"""

from __future__ import annotations

import contextlib
import logging
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.files import cannot_write, read_start, read_whole, shown, strerror
from gpumon_gui.core.messages import _
from gpumon_gui.core.whole_file import write_whole
from gpumon_gui.settings import words
from gpumon_gui.settings.catalogue import BY_KEY, OPTIONS
from gpumon_gui.settings.option import OptionValue, WrongValue
from gpumon_gui.settings.values import Values

_log = logging.getLogger("gpumon.settings")

NAME: Final = "settings.toml"
#: Far more than all options take; a larger file is no settings file.
MOST_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Repair:
    """Something in the file that could not be used. ``key`` is empty where the whole file could not; ``detail`` is
    technical; ``found`` is what stood there (or the path of a file that cannot be read now), ``kept`` where a damaged
    file lies now."""

    key: str
    detail: str
    found: object = None
    kept: str = ""

    def text(self) -> str:
        """One line for people; empty for what they never chose."""
        if not self.key:
            return self._of_file()
        option = BY_KEY[self.key]
        if not option.section:
            return ""
        return _("The setting “{option}” cannot be “{value}”. It is now “{used}”.").format(
            option=words.title(option), value=words.written(self.found), used=words.said(option, option.default)
        )

    def _of_file(self) -> str:
        if not self.kept and self.found is None:
            return _("The settings could not be read ({detail}): the usual ones are in use.").format(detail=self.detail)
        if not self.kept:
            text = _("{path}: cannot be read ({detail}). The usual settings are in use; what you change is not kept.")
            return text.format(path=self.found, detail=self.detail)
        line = re.search(r"line (\d+)", self.detail)
        if line is None:
            text = _("The settings file is damaged: the usual settings are in use. It is kept as {file}.")
            return text.format(file=self.kept)
        text = _("The settings file is damaged in line {line}: the usual settings are in use. It is kept as {file}.")
        return text.format(line=line[1], file=self.kept)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the file says."""

    values: Values
    repairs: tuple[Repair, ...] = ()
    can_be_kept: bool = True  #: False: the file is there and cannot be read now; writing would lose what is in it


def load(folder: Path) -> Loaded:
    """Read the file of a folder; no file is no fault. Never raises for what is in it."""
    file = folder / NAME
    try:
        raw = _read(file)
    except FileNotFoundError:
        return Loaded(Values())
    except OSError as error:
        return Loaded(Values(), (Repair("", strerror(error), shown(file)),), can_be_kept=False)
    except (ValueError, RecursionError) as error:  # tomllib goes down as deep as the brackets do
        _log.warning("%s", error)
        kept = _keep_broken(file)
        if not kept:  # written over, nothing of it would be left
            return Loaded(Values(), (Repair("", strerror(error), shown(file)),), can_be_kept=False)
        return Loaded(Values(), (Repair("", strerror(error), kept=kept),))
    chosen: dict[str, OptionValue] = {}
    repairs = []
    for option in OPTIONS:
        found = _find(raw, option.key)
        if found is None:
            continue
        try:
            value = option.kind.checked(found)
        except WrongValue as error:
            _log.warning("%s: %s", option.key, error)
            repairs.append(Repair(option.key, str(error), found))
        else:
            if value != option.default:
                chosen[option.key] = value
    if repairs:
        _keep_broken(file)
    return Loaded(Values(MappingProxyType(chosen)), tuple(repairs))


def save(folder: Path, values: Values, keys: Iterable[str] = tuple(BY_KEY)) -> None:
    """Write the values of these keys: whole or not at all. Other keys, comments and unknown keys in the file stay as
    they are: another window may have written them. A file that was damaged meanwhile is kept beside it. Blocks. Raises
    OutputFailed.
    """
    import tomlkit  # only here: starting and reading do without

    file = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        document = tomlkit.document()
        try:
            text = _text(file)
            tomllib.loads(text)  # the judge of what is TOML
            document = tomlkit.parse(text)
        except FileNotFoundError:
            pass
        except (ValueError, RecursionError) as error:
            if not _keep_broken(file):
                raise OutputFailed(cannot_write(file, error)) from error
        for key in keys:
            _put(document, key, values.chosen.get(key))
    except OSError as error:
        raise OutputFailed(cannot_write(file, error)) from error
    write_whole(file, tomlkit.dumps(document).encode("utf-8"), private=True)


def _read(file: Path) -> dict[str, Any]:
    return tomllib.loads(_text(file))


def _text(file: Path) -> str:
    return read_whole(file, MOST_BYTES).decode("utf-8-sig")  # Notepad may have put a mark in front


def _find(raw: Mapping[str, Any], key: str) -> Any:
    found: Any = raw
    for name in key.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def _put(document: Any, key: str, value: OptionValue | None) -> None:
    import tomlkit

    *tables, name = key.split(".")
    place = document
    for table in tables:
        if not isinstance(place.get(table), Mapping):
            if value is None:
                return
            place[table] = tomlkit.table()
        place = place[table]
    if value is None:
        place.pop(name, None)
    else:
        place[name] = list(value) if isinstance(value, tuple) else value


def _keep_broken(file: Path) -> str:
    """The name it is kept by; empty when it cannot be."""
    with contextlib.suppress(OSError):
        content = read_start(file, MOST_BYTES + 1)
        for kept in _kept_names(file):
            if not kept.exists():
                if len(content) > MOST_BYTES:
                    file.replace(kept)  # too large for a copy
                else:
                    kept.write_bytes(content)
                return kept.name
            if read_start(kept, MOST_BYTES + 1) == content:  # the same fault as at the last start
                return kept.name
    return ""


def _kept_names(file: Path) -> Iterator[Path]:
    yield file.with_name("settings.broken.toml")
    for number in range(2, 10):
        yield file.with_name(f"settings.broken-{number}.toml")
