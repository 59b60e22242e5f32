"""Knows: what everything that can be replayed offers. Must not know: files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gpumon_gui.core.model import Sample

Times = npt.NDArray[np.float64]


class Recorded(Protocol):
    """A recording or a trace. Belongs to the thread that opened it.

    ``times`` are the samples' seconds from the first one, ascending, at least one. ``meta`` is what the recorder noted
    about itself and the machine. ``complete`` is False when the recorder was killed.
    """

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def meta(self) -> Mapping[str, str]:
        """Notes of the recorder."""
        ...

    @property
    def times(self) -> Times:
        """Seconds from the first sample."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the recorder came to a proper end."""
        ...

    def __len__(self) -> int:
        """How many samples there are."""
        ...

    def sample(self, index: int) -> Sample:
        """One sample. Raises IndexError, and UnreadableInput where the file is damaged."""
        ...

    def index_at(self, time_s: float) -> int:
        """The last sample not later than ``time_s`` seconds from the start; the first one for earlier times."""
        ...

    def close(self) -> None:
        """Let go of the file. May be called twice."""
        ...


class RecordedFile:
    """What everything that is read from a file has in common. Readers say what there is by :meth:`_has`."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.meta: Mapping[str, str] = {}
        self.times: Times = np.zeros(0)
        self.complete = True

    def _has(self, meta: Mapping[str, str], moments: Sequence[float], *, complete: bool) -> None:
        """``moments`` are seconds from anywhere, ascending, at least one."""
        times = np.array(moments, dtype=np.float64)
        times -= times[0]
        times.setflags(write=False)
        self.meta, self.times, self.complete = MappingProxyType(dict(meta)), times, complete

    def __len__(self) -> int:
        return len(self.times)

    def index_at(self, time_s: float) -> int:
        """The last sample not later than ``time_s`` seconds from the start; the first one for earlier times."""
        return index_at(self.times, time_s)

    def close(self) -> None:
        """Nothing is held."""


def index_at(times: Times, time_s: float) -> int:
    """The last index whose time is not later than ``time_s``, at least 0."""
    return max(0, int(np.searchsorted(times, time_s, side="right")) - 1)
