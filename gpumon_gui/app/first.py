"""Knows: when a start is handed to the window that is there already. Must not know: Qt, what the window does."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass

from gpumon_gui.app.arguments import Arguments
from gpumon_gui.system.single_instance import Claim, Request, ask_first, claim, find_place

_log = logging.getLogger("gpumon.instance")


@dataclass(frozen=True, slots=True)
class Entry:
    """How a start goes on. ``handed_over``: the first window does what was asked, this process ends. ``is_alone``
    False: there is a first window but it does not answer."""

    handed_over: bool = False
    claim: Claim | None = None
    is_alone: bool = True


def enter(arguments: Arguments) -> Entry:
    """Be the first, or ask the first. Recordings, scripted machines and pictures are windows of their own."""
    if arguments.demo or arguments.replay is not None or arguments.scenario is not None or arguments.screenshot:
        return Entry()
    place = find_place()
    if place is None:
        return Entry()
    try:
        ours = claim(place)
    except OSError as error:
        _log.info("not known whether there is another window: %s", error)
        return Entry()
    if ours is not None:
        return Entry(claim=ours)
    token = os.environ.get("XDG_ACTIVATION_TOKEN", "")
    request = Request(not arguments.tray, arguments.page or "", token, arguments.watch or 0)
    if ask_first(place, request):
        return Entry(handed_over=True)
    return Entry(is_alone=False)
