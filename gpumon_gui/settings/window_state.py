"""Knows: the file that says how the window was left: JSON, read and written whole or not at all.
Must not know: windows.

Nothing in it was chosen as a setting is, so a damaged file is no trouble for anybody: the window begins as at first.
"""

from __future__ import annotations

import base64
import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.files import cannot_write, read_start
from gpumon_gui.core.whole_file import write_whole

_log = logging.getLogger("gpumon.settings")

NAME: Final = "window.json"
#: Far more than it takes.
MOST_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class WindowState:
    """``geometry`` and ``columns`` are as Qt keeps them for a window and the header of a table, empty for the usual
    ones; ``columns_of`` says which columns these are, ``columns_asked`` which of them do not give way where there is
    little room. ``span_s`` is the length of the live charts, 0 for the usual one.
    ``mini``: the mini monitor was open. ``watch_beside`` and ``watch_below``: thousandths of the room that the panel of
    a watch has beside and below the charts, 0 for the usual."""

    geometry: bytes = b""
    columns: bytes = b""
    columns_of: str = ""
    span_s: int = 0
    mini: bool = False
    watch_beside: int = 0
    watch_below: int = 0
    columns_asked: str = ""


def load(folder: Path) -> WindowState:
    """What the file of a folder says; the usual for what it does not say, or if it cannot be read. Never raises."""
    file = folder / NAME
    try:
        raw = json.loads(read_start(file, MOST_BYTES))
        if not isinstance(raw, dict):
            raise TypeError("expected a table")
        # An older version wrote fewer of them.
        return WindowState(**{name: _decoded(kind, raw[name]) for name, kind in _KINDS.items() if name in raw})
    except FileNotFoundError:
        return WindowState()
    except (OSError, ValueError, TypeError, RecursionError) as error:
        _log.warning("%s cannot be read, the window begins as at first: %s: %s", file, type(error).__name__, error)
        return WindowState()


def save(folder: Path, state: WindowState) -> None:
    """Write the file. Blocks. Raises OutputFailed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFailed(cannot_write(folder, error)) from error
    texts = {
        name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in asdict(state).items()
    }
    write_whole(folder / NAME, json.dumps(texts, indent=1).encode(), private=True)


_KINDS: Final[dict[str, type]] = {
    "geometry": bytes,
    "columns": bytes,
    "columns_of": str,
    "span_s": int,
    "mini": bool,
    "watch_beside": int,
    "watch_below": int,
    "columns_asked": str,
}


def _decoded(kind: type, raw: Any) -> Any:
    written: type = str if kind is bytes else kind
    if type(raw) is not written:
        raise TypeError(f"expected {written.__name__}")
    return base64.b64decode(str(raw), validate=True) if kind is bytes else raw
