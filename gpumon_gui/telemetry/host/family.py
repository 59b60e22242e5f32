"""Knows: which processes were started below others. Must not know: what they are."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gpumon_gui.telemetry.host.backend import Backend

#: Workers of a data loader come and go with every epoch; on Linux a look costs one folder listing.
LOOK_S = 1.0


class Families:
    """Descendants of some processes. One that was seen below another stays with it when its parent ends and the system
    gives it to a new one. This program itself and its window or command are nobody's family."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._parents: dict[int, int] = {}
        self._members: dict[int, None] = {}
        self._roots: tuple[int, ...] = ()
        self._looked_s: float | None = None

    def of(self, roots: Sequence[int], now_s: float) -> tuple[int, ...]:
        """``roots`` and what was started below them, as of at most :data:`LOOK_S` ago. Never raises."""
        if tuple(roots) != self._roots:
            self._roots, self._members, self._looked_s = tuple(roots), dict.fromkeys(roots), None
        if self._looked_s is None or now_s - self._looked_s >= 0.9 * LOOK_S:
            self._looked_s = now_s
            self._look()
        return tuple(self._members)

    def _look(self) -> None:
        try:
            # A parent is asked once: to whom an orphan is given does not matter.
            self._parents = self._backend.parents(self._parents)
        except OSError:
            return
        members = {pid: None for pid in self._members if pid in self._parents or pid in self._roots}
        children: dict[int, list[int]] = {}
        for pid, parent in self._parents.items():
            children.setdefault(parent, []).append(pid)
        own = (os.getpid(), os.getppid())
        waiting = list(members)
        while waiting:
            for pid in children.get(waiting.pop(), ()):
                if pid not in members and pid not in own:
                    members[pid] = None
                    waiting.append(pid)
        self._members = members
