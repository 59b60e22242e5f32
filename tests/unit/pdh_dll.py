"""A pdh.dll for tests: takes real ctypes calls (with the prototypes of the product) and writes raw structs."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

from gpumon_gui.telemetry.pdh import status as st
from gpumon_gui.telemetry.pdh.library import FMT_DOUBLE, FMT_LARGE, FMT_NOCAP100, PROTOTYPES

UTILIZATION = r"\GPU Engine(*)\Utilization Percentage"
DEDICATED = r"\GPU Adapter Memory(*)\Dedicated Usage"
SHARED = r"\GPU Adapter Memory(*)\Shared Usage"
LOCAL = r"\GPU Process Memory(*)\Local Usage"
NON_LOCAL = r"\GPU Process Memory(*)\Non Local Usage"

Row = tuple[str, int, float]

# Handles above 32 bits: a call without argtypes would cut them.
_QUERY = 0x7FFA_0000_1000
_COUNTER = 0x7FFB_0000_2000


class FakeDll:
    """``steps`` is one dict per collect: counter path → rows of (instance, CStatus, value); the last one stays.

    ``failures`` maps a function name to the statuses its next calls return (0: works). ``absent`` maps a counter path
    to the status of adding it. ``read_status`` maps a path to the status of reading its array. ``surprises`` are rows
    that appear in the utilization between asking for the size and reading.
    """

    def __init__(self, *steps: dict[str, list[Row]]) -> None:
        self.steps = list(steps)
        self.failures: dict[str, list[int]] = {}
        self.absent: dict[str, int] = {}
        self.read_status: dict[str, int] = {}
        self.surprises: list[Row] = []
        self.small_buffer_status = st.MORE_DATA
        self.calls: list[str] = []
        self.paths: dict[int, str] = {}
        self.open_queries: set[int] = set()
        self.collects = 0  # of the query that is open
        self.step = -1
        self._next = 0
        for name, (result, arguments) in PROTOTYPES.items():
            body: Callable[..., int] = getattr(self, f"_{name}")
            setattr(self, name, ctypes.CFUNCTYPE(result, *arguments)(self._counted(name, body)))

    def _counted(self, name: str, body: Callable[..., int]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            self.calls.append(name)
            queue = self.failures.get(name)
            if queue and (status := queue.pop(0)):
                return status
            return body(*arguments)

        return call

    def _PdhOpenQueryW(self, source: int | None, user: int, out: Any) -> int:
        assert source is None
        self._next += 1
        out[0] = _QUERY + self._next
        self.open_queries.add(_QUERY + self._next)
        self.collects = 0
        return 0

    def _PdhAddEnglishCounterW(self, query: int, path: int, user: int, out: Any) -> int:
        if query not in self.open_queries:
            return st.INVALID_HANDLE
        text = _wide(path)
        if text in self.absent:
            return self.absent[text]
        self._next += 1
        out[0] = _COUNTER + self._next
        self.paths[_COUNTER + self._next] = text
        return 0

    def _PdhCollectQueryData(self, query: int) -> int:
        if query not in self.open_queries:
            return st.INVALID_HANDLE
        self.collects += 1
        self.step = min(self.step + 1, len(self.steps) - 1)
        return 0

    def _PdhCloseQuery(self, query: int) -> int:
        self.open_queries.discard(query)
        return 0

    def _PdhGetFormattedCounterArrayW(self, counter: int, flags: int, size: Any, count: Any, buffer: int | None) -> int:
        path = self.paths[counter]
        if path in self.read_status:
            return self.read_status[path]
        percent = path == UTILIZATION
        assert flags == (FMT_DOUBLE | FMT_NOCAP100 if percent else FMT_LARGE)
        if percent and self.collects < 2:
            return st.INVALID_DATA
        rows = list(self.steps[self.step].get(path, []))
        if percent and self.surprises:
            rows += self.surprises if size[0] else []
        texts = [name.encode("utf-16-le") + b"\0\0" for name, _, _ in rows]
        need = 24 * len(rows) + sum(map(len, texts))
        if not rows:
            size[0] = count[0] = 0
            return 0
        if size[0] < need:
            if size[0] and self.small_buffer_status != st.MORE_DATA:
                return self.small_buffer_status
            # After a size that was too small the answer is rubbish on purpose; after 0 it is right.
            size[0] = 1 if size[0] else need
            return st.MORE_DATA
        assert buffer is not None
        assert buffer % 8 == 0
        offset = 24 * len(rows)
        for index, ((_, status, value), text) in enumerate(zip(rows, texts, strict=True)):
            item = struct.pack("<QI4xd" if percent else "<QI4xq", buffer + offset, status, value)
            ctypes.memmove(buffer + 24 * index, item, 24)
            ctypes.memmove(buffer + offset, text, len(text))
            offset += len(text)
        size[0], count[0] = need, len(rows)
        return 0


def _wide(address: int) -> str:
    raw = b""
    while (pair := ctypes.string_at(address + len(raw), 2)) != b"\0\0":
        raw += pair
    return raw.decode("utf-16-le")
