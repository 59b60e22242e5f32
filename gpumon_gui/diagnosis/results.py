"""Knows: how results are kept across starts: one JSON file each in a folder, the newest :data:`MOST`.
Must not know: who shows them.

Nothing is redacted: the files are for this user on this machine. A report that is passed on is made from them anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.files import cannot_write, read_whole, shown, strerror
from gpumon_gui.core.messages import _
from gpumon_gui.core.whole_file import write_whole
from gpumon_gui.diagnosis.ask import Result

SCHEMA: Final = "gpumon-diagnosis/1"
MOST: Final = 20
#: A full document of a large machine has a few hundred kilobytes.
_MOST_BYTES: Final = 32 << 20
#: Of a log that was pasted so much is kept, half from each end.
_MOST_PASTED: Final = 1 << 20
_NAME: Final = re.compile(r"\d{8}-\d{6}(-\d+)?\.json")


@dataclass(frozen=True, slots=True)
class Kept:
    """A result and its file."""

    file: Path
    result: Result


@dataclass(frozen=True, slots=True)
class Loaded:
    """The results, newest first; ``faults`` are one translated line for each file that was passed over."""

    kept: tuple[Kept, ...] = ()
    faults: tuple[str, ...] = ()


def load(folder: Path) -> Loaded:
    """Everything in the folder. Raises nothing: what cannot be read is told in ``faults``."""
    try:
        files = sorted((file for file in folder.iterdir() if _NAME.fullmatch(file.name)), reverse=True)
    except FileNotFoundError:
        return Loaded()
    except OSError as error:
        text = _("{path}: cannot be read ({detail}).")
        return Loaded(faults=(text.format(path=shown(folder), detail=strerror(error)),))
    kept, faults = [], []
    for file in files[:MOST]:
        try:
            kept.append(Kept(file, _read(file)))
        except (OSError, ValueError, OverflowError, RecursionError) as error:
            text = _("{path}: a kept diagnosis that cannot be read ({detail}). It was passed over.")
            faults.append(text.format(path=shown(file), detail=strerror(error).splitlines()[0][:200]))
    kept.sort(key=lambda each: each.result.time_utc_s, reverse=True)
    return Loaded(tuple(kept), tuple(faults))


def keep(folder: Path, result: Result, file: Path | None = None) -> Kept:
    """Write a result (over ``file`` if it is given) and drop the oldest beyond :data:`MOST`. Raises OutputFailed."""
    plain = {"schema": SCHEMA, "result": msgspec.to_builtins(_bounded(result), enc_hook=_as_text)}
    data = json.dumps(plain, ensure_ascii=True).encode("ascii")  # escapes keep names that are no valid Unicode
    target = file or _free(folder, result.time_utc_s)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFailed(cannot_write(folder, error)) from error
    write_whole(target, data, private=True)
    _drop_old(folder)
    return Kept(target, result)


def forget(file: Path) -> None:
    """Delete one. Raises OutputFailed."""
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise OutputFailed(cannot_write(file, error)) from error


def _read(file: Path) -> Result:
    plain: Any = json.loads(read_whole(file, _MOST_BYTES))
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        raise ValueError("schema")
    result = msgspec.convert(plain.get("result"), Result, dec_hook=_from_text)
    datetime.fromtimestamp(result.time_utc_s, UTC)  # a time that cannot be shown is none
    return result


def _bounded(result: Result) -> Result:
    text = result.ask.given.log_text
    if len(text) <= _MOST_PASTED:
        return result
    text = f"{text[: _MOST_PASTED // 2]}\n[…]\n{text[-_MOST_PASTED // 2 :]}"
    return replace(result, ask=replace(result.ask, given=replace(result.ask.given, log_text=text)))


def _free(folder: Path, time_utc_s: float) -> Path:
    stem = datetime.fromtimestamp(time_utc_s, UTC).strftime("%Y%m%d-%H%M%S")
    file, number = folder / f"{stem}.json", 2
    while file.exists():
        file, number = folder / f"{stem}-{number}.json", number + 1
    return file


def _drop_old(folder: Path) -> None:
    with suppress(OSError):
        files = sorted((file for file in folder.iterdir() if _NAME.fullmatch(file.name)), reverse=True)
        for file in files[MOST:]:
            with suppress(OSError):
                file.unlink()


def _as_text(value: Any) -> Any:
    """Paths; and whatever a fact may be made of besides JSON's own types."""
    return {str(key): entry for key, entry in value.items()} if isinstance(value, Mapping) else str(value)


def _from_text(wanted: type, value: Any) -> Any:
    if wanted is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(f"unexpected {wanted.__name__}")
