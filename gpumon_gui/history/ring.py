"""Knows: the last hour of one device's numbers, ready to draw. Must not know: samples, widgets.

Columns grow in one block and are always read as one contiguous view: the block is twice the capacity, and when it is
full the newest half moves to the front (once per ``capacity`` samples, microseconds). Blocks are not filled in
advance: memory that no row has reached yet costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float64]


class Ring:
    """Time column plus named value columns of equal length; what was not given is NaN.

    ``capacity`` is the number of newest rows that can be read.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 2:
            raise ValueError(f"a ring needs room for 2 rows, got {capacity}")
        self._capacity = capacity
        self._times: Column = np.empty(2 * capacity)
        self._columns: dict[str, Column] = {}
        self._end = 0

    def __len__(self) -> int:
        return min(self._end, self._capacity)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns seen so far."""
        return tuple(self._columns)

    def append(self, time_s: float, values: Mapping[str, float]) -> None:
        """Add a row. ``values`` are floats; NaN or absence is a gap."""
        if self._end == 2 * self._capacity:
            self._compact()
        row = self._end
        self._times[row] = time_s
        for name in values:
            if name not in self._columns:
                column = self._columns[name] = np.empty(2 * self._capacity)
                column[:row] = np.nan
        for name, column in self._columns.items():
            column[row] = values.get(name, np.nan)
        self._end = row + 1

    def clear(self) -> None:
        """Forget all rows."""
        self._end = 0

    def times(self, newest: int | None = None) -> Column:
        """View of the newest rows' times, oldest first."""
        return self._times[self._start(newest) : self._end]

    def column(self, name: str, newest: int | None = None) -> Column:
        """View of a column; all NaN when it was never given."""
        column = self._columns.get(name)
        if column is None:
            return np.full(self._end - self._start(newest), np.nan)
        return column[self._start(newest) : self._end]

    def since(self, time_s: float) -> int:
        """How many of the newest rows are not older than ``time_s``."""
        times = self.times()
        return len(times) - int(np.searchsorted(times, time_s, side="left"))

    def _start(self, newest: int | None) -> int:
        wanted = self._capacity if newest is None else min(newest, self._capacity)
        return max(0, self._end - wanted)

    def _compact(self) -> None:
        half = self._capacity
        for column in (self._times, *self._columns.values()):
            column[:half] = column[half:]
        self._end = half
