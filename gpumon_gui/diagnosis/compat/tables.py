"""Knows: how a table of ``resources/compat`` is read. Must not know: what is in it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from gpumon_gui.core.resources import resource_root
from gpumon_gui.diagnosis.versions import Version, parse_version


@cache
def table(name: str) -> Mapping[str, Any]:
    """The table ``resources/compat/<name>.toml``; read once. Raises OSError or tomllib.TOMLDecodeError."""
    with (resource_root() / "compat" / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def version(text: str) -> Version:
    """A version of a table ("13.x" → (13,)). Raises ValueError when it is none."""
    found = parse_version(text.removesuffix(".x"))
    if found is None:
        raise ValueError(f"compatibility table: {text!r} is no version")
    return found


def versions(texts: list[str]) -> tuple[Version, ...]:
    """The same for a list."""
    return tuple(version(text) for text in texts)
