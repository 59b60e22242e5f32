"""Knows: how this system words its errors. Must not know: who passes them on."""

from __future__ import annotations

from pathlib import Path


def no_such_file() -> str:
    """What the system says when there is no such file: not the same words on Windows, nor in every language."""
    try:
        Path("/no such file").stat()
    except OSError as error:
        return error.strerror or ""
    raise AssertionError("there is a file that should not be")
