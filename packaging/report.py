"""Knows: how these tools talk to the person who runs them. Must not know: what they do."""

from __future__ import annotations

import sys


class SetupFailed(Exception):  # noqa: N818 - reads as a statement
    """The work cannot go on; the message says what is wrong and what to do."""


def say(line: str) -> None:
    """One line, at once: the output of started programs must not overtake it."""
    print(line, flush=True)


def warn(line: str) -> None:
    """One line on stderr."""
    sys.stdout.flush()
    print(line, file=sys.stderr, flush=True)
