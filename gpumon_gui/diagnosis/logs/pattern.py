"""Knows: what one message of a program means. Must not know: how a log is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Pattern:
    """A message that becomes a :class:`~gpumon_gui.diagnosis.facts.Signal`.

    ``hint`` is a plain text in lower case that the line must contain before ``regex`` (searched, case ignored) is
    tried: a log can be 100 MB. Named groups become the signal's values; those in ``numbers`` as int or float. ``facts``
    maps a group to the path of the fact it states (``{"version": "torch.version"}``); ``states`` gives facts the
    message states by itself (``{"torch.cuda_build": None}``). ``framework`` is who prints it; empty: the one the
    surrounding lines belong to. ``joined`` patterns see the line together with the next few, with line breaks as
    spaces (messages that are wrapped).

    Match what a message *means* (error numbers, symbols), not one release's wording; WinError by number, since the
    words come in the language of Windows.
    """

    kind: str
    hint: str
    regex: str
    framework: str = ""
    numbers: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, object] = field(default_factory=dict)
    joined: bool = False
