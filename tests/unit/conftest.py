"""What several unit tests share."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

_spied: list[list[str]] = []


def _audit(event: str, args: tuple[object, ...]) -> None:
    if _spied and event == "open":
        _spied[-1].append(str(args[0]))


@pytest.fixture(scope="session")
def _audit_hook() -> None:
    sys.addaudithook(_audit)  # cannot be taken off again, so it is switched by the list


@pytest.fixture
def opened(_audit_hook: None) -> Iterator[list[str]]:
    """Paths of all files opened from here on, by whichever function of Python."""
    paths: list[str] = []
    _spied.append(paths)
    yield paths
    _spied.pop()
