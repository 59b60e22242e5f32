"""Knows: how the events of a profile add up, in bounded memory. Must not know: file formats, rules, sentences.

A reader calls :meth:`Totals.kernel`, :meth:`Totals.copy`, :meth:`Totals.host` and :meth:`Totals.step` in any order;
``summary.py`` turns the result into facts. Times are microseconds.
"""

from __future__ import annotations

import heapq
import math
from array import array
from dataclasses import dataclass, field
from typing import Final

from gpumon_gui.diagnosis.profiles.host import READS_ONE_NUMBER, Doing, doing
from gpumon_gui.diagnosis.profiles.intervals import Collector
from gpumon_gui.diagnosis.profiles.kernels import is_collective, is_heavy, uses_tensor_cores

#: Different names that are told apart; the rest counts as "other". Real traces have hundreds.
MAX_NAMES: Final = 20_000
MAX_NAME_LENGTH: Final = 300
#: Events that are linked (kernel to operator) and whose times are kept: 12 to 20 bytes each.
MAX_LINKS: Final = 4_000_000
MAX_DEVICES: Final = 64
#: Threads that are told apart.
MAX_THREADS: Final = 10_000
#: The longest events on the CPU, to name what ran during a gap.
MAX_LONGEST: Final = 2_000
OTHER: Final = "(other)"


@dataclass(slots=True)
class Named:
    """What is known and added up of one kernel or operator."""

    name: str
    count: int = 0
    total_us: float = 0.0
    heavy: bool = False
    tensor: bool = False
    collective: bool = False


@dataclass(slots=True)
class Copies:
    """Copies of one direction."""

    count: int = 0
    total_us: float = 0.0
    size: int = 0
    pageable_us: float = 0.0
    pinned_us: float = 0.0


@dataclass(slots=True)
class Device:
    """One GPU."""

    name: str = ""
    capability: tuple[int, int] | None = None
    kernels: Collector = field(default_factory=Collector)
    copying: Collector = field(default_factory=Collector)
    communicating: Collector = field(default_factory=Collector)
    computing: Collector = field(default_factory=Collector)  #: kernels that are no collectives
    kernel_count: int = 0
    kernel_us: float = 0.0


class Totals:
    """Everything that is remembered of a profile."""

    def __init__(self) -> None:
        self.events = 0
        self.damaged = 0  #: events left out: no time, no length, not a number, negative
        self.start = math.inf
        self.end = -math.inf
        self.steps: list[tuple[float, float]] = []
        self.devices: dict[int, Device] = {}
        self.copies: dict[str, Copies] = {}
        self.kernels: dict[str, Named] = {}
        self.operators: dict[str, Named] = {}
        self.lengths: array[float] = array("f")  #: of kernels
        self.starts: array[float] = array("d")  #: of the same kernels
        self.doing: dict[Doing, Collector] = {kind: Collector() for kind in Doing}
        self.wait_starts: array[float] = array("d")  #: calls in which the CPU waits for the GPU
        self.item_starts: array[float] = array("d")  #: reads of one number
        self.says_tensorflow = False  #: a kernel named an operator of TensorFlow as its own
        self.longest: list[tuple[float, float, str]] = []
        self.host_names: list[str] = []
        self.op_links: array[int] = array("q")
        self.op_names: array[int] = array("i")
        self.op_starts: array[float] = array("d")
        self.op_lengths: array[float] = array("f")
        self.op_threads: array[int] = array("i")
        self.kernel_links: array[int] = array("q")
        self.kernel_link_us: array[float] = array("f")
        self.links_cut = False
        self._host: dict[str, tuple[int, Doing]] = {}
        self._threads: dict[object, int] = {}

    def kernel(
        self, device: int, name: str, start: float, length: float, *, link: int | None, operator: str = ""
    ) -> None:
        """One kernel (or memset). ``link``: what its operator has too; ``operator``: its name where it is known."""
        if not self._fits(start, length):
            return
        end = start + length
        one = self.device(device)
        known = self._named(self.kernels, name, kernel=True)
        known.count += 1
        known.total_us += length
        one.kernels.add(start, end)
        (one.communicating if known.collective else one.computing).add(start, end)
        one.kernel_count += 1
        one.kernel_us += length
        if len(self.lengths) < MAX_LINKS:
            self.lengths.append(length)
            self.starts.append(start)
        if operator:
            of = self._named(self.operators, operator)
            of.count += 1
            of.total_us += length
        elif link is not None and len(self.kernel_links) < MAX_LINKS:
            self.kernel_links.append(link)
            self.kernel_link_us.append(length)

    def copy(self, device: int, direction: str, start: float, length: float, *, size: int, pinned: bool | None) -> None:
        """One copy; ``direction`` is ``htod``, ``dtoh``, ``dtod`` or ``other``; ``pinned`` None: not said."""
        if not self._fits(start, length):
            return
        one = self.copies.setdefault(direction, Copies())
        one.count += 1
        one.total_us += length
        one.size += max(0, size)
        if pinned is not None:
            one.pinned_us += length if pinned else 0.0
            one.pageable_us += 0.0 if pinned else length
        # A copy within the GPU keeps it as busy as a kernel does.
        target = self.device(device)
        (target.copying if direction in ("htod", "dtoh") else target.computing).add(start, start + length)
        if direction not in ("htod", "dtoh"):
            target.kernels.add(start, start + length)

    def host(self, name: str, start: float, length: float, thread: object, *, link: int | None, operator: bool) -> None:
        """Something on the CPU. ``operator``: one of the framework's, for the list of operators."""
        if not self._fits(start, length):
            return
        known = self._host.get(name)
        if known is None:
            known = self._new_host(name)
        index, kind = known
        self.doing[kind].add(start, start + length)
        if kind is Doing.SYNCHRONISE and len(self.wait_starts) < MAX_LINKS:
            self.wait_starts.append(start)
        if name == READS_ONE_NUMBER and len(self.item_starts) < MAX_LINKS:
            self.item_starts.append(start)
        if len(self.longest) < MAX_LONGEST:
            heapq.heappush(self.longest, (length, start, self.host_names[index]))
        elif length > self.longest[0][0]:
            heapq.heapreplace(self.longest, (length, start, self.host_names[index]))
        if not operator:
            return
        if len(self.op_links) >= MAX_LINKS:
            self.links_cut = True
            return
        self.op_links.append(-1 if link is None else link)
        self.op_names.append(index)
        self.op_starts.append(start)
        self.op_lengths.append(length)
        number = self._threads.get(thread)
        if number is None:
            number = len(self._threads)
            if number < MAX_THREADS:
                self._threads[thread] = number
        self.op_threads.append(number)

    def step(self, start: float, length: float) -> None:
        """One training step that the program marked."""
        if self._fits(start, length) and len(self.steps) < MAX_LINKS // 10:
            self.steps.append((start, start + length))

    def device(self, index: int) -> Device:
        """The GPU of this number."""
        known = self.devices.get(index)
        if known is None:
            if len(self.devices) >= MAX_DEVICES:
                return next(iter(self.devices.values()))
            known = self.devices[index] = Device()
        return known

    def _fits(self, start: float, length: float) -> bool:
        """Whether an event's times can be true; it then belongs to the window."""
        self.events += 1
        end = start + length
        if not (math.isfinite(end) and length >= 0 and abs(start) < 1e18):
            self.damaged += 1
            return False
        if start < self.start:
            self.start = start
        if end > self.end:
            self.end = end
        return True

    def _named(self, table: dict[str, Named], name: str, *, kernel: bool = False) -> Named:
        known = table.get(name)
        if known is None:
            full, name = name, name[:MAX_NAME_LENGTH]
            if len(table) >= MAX_NAMES:
                return table.setdefault(OTHER, Named(OTHER))
            known = table.setdefault(name, Named(name))
            if kernel:
                known.heavy, known.tensor = is_heavy(full), uses_tensor_cores(full)
                known.collective = is_collective(full)
        return known

    def _new_host(self, name: str) -> tuple[int, Doing]:
        if len(self._host) >= MAX_NAMES:
            name = OTHER
            if name in self._host:
                return self._host[name]
        self.host_names.append(name[:MAX_NAME_LENGTH])
        known = (len(self.host_names) - 1, doing(name))
        self._host[name] = known
        return known
