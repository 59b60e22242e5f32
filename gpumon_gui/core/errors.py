"""Knows: the kinds of failure a user can meet. Must not know: how they are shown."""

from __future__ import annotations


class GpumonError(Exception):
    """A failure that one translated line explains. The message is for the user and names what and where.

    Attributes:
        is_damage: the content of a file is damaged: trying again will not help.
    """

    is_damage: bool = False


class UnreadableInput(GpumonError):  # noqa: N818 - reads as a statement
    """A file given by the user cannot be read: broken, truncated, of another kind, or newer than this program."""


class OutputFailed(GpumonError):  # noqa: N818
    """A file cannot be written: disk full, no permission, no such folder."""
