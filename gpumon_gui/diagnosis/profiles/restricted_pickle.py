"""Knows: how a pickle of plain data is read without running anything of it. Must not know: snapshots.

Dictionaries, lists, tuples, texts, bytes, numbers, True, False and None only. Whatever names a class or a function is
refused, and named: a pickle can otherwise run any program while it is read.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import printable, shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.profiles.opening import Bounded

#: Unpickled, a snapshot takes about ten times its size in the file.
MAX_BYTES: Final = 1 << 30


class _Refused(Exception):  # noqa: N818 - reads as a statement
    pass


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise _Refused(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        raise _Refused("persistent id")


class _Limited:
    """At most :data:`MAX_BYTES`; a length that a damaged file only claims is not believed."""

    def __init__(self, source: Bounded, path: Path) -> None:
        self._source = source
        self._path = path

    def read(self, size: int = -1) -> bytes:
        self._check(max(size, 0))
        parts = []
        while size > 0:
            part = self._source.read(min(size, 1 << 20))
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def readline(self) -> bytes:
        self._check(0)
        return self._source.readline()

    def _check(self, more: int) -> None:
        if self._source.done + more > MAX_BYTES:
            raise UnreadableInput(
                _("{path}: larger than 1 GB, or it claims to be; record fewer events (max_entries).").format(
                    path=shown(self._path)
                )
            )


def load(source: Bounded, path: Path) -> Any:
    """The plain data in a pickle. Raises UnreadableInput naming the file, and what was refused."""
    where = shown(path)
    try:
        return _Plain(_Limited(source, path)).load()
    except UnreadableInput:
        raise
    except _Refused as refused:
        raise UnreadableInput(
            _("{path}: refused: the pickle asks for “{name}”. A memory snapshot holds plain data only.").format(
                path=where, name=printable(str(refused))[:200]
            )
        ) from None
    except MemoryError as error:
        raise UnreadableInput(_("{path}: does not fit into memory.").format(path=where)) from error
    except Exception as error:  # a damaged pickle raises whatever its codes lead to
        if error is source.ended_by:
            raise
        if isinstance(error, EOFError) or "truncated" in str(error):
            message = _("{path}: the pickle ends too early, after {count} bytes: the file is incomplete.")
            raise UnreadableInput(message.format(path=where, count=source.done)) from error
        raise UnreadableInput(
            _("{path}: the pickle is damaged near byte {count} ({detail}).").format(
                path=where, count=source.done, detail=printable(f"{type(error).__name__}: {error}")[:200]
            )
        ) from error
