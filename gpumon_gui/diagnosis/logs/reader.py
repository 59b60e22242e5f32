"""Knows: how a log becomes signals and facts. Must not know: any one message (``table.py`` lists them).

What others use::

    found = read(data_or_binary_stream)      # -> LogFacts(signals, facts, origins, lines)
    document = found.merge_into(document)    # facts that the document has already win; signals are added

A log may have 100 MB: it is read in chunks; a plain-text search for the hints of all patterns goes first, over the
line *shapes* (without digits) that were not seen before; regular expressions only ever see lines that contain their
hint. Of each kind of signal the first :data:`KEPT` and the last one are kept. Nothing raises for any bytes.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from gpumon_gui.diagnosis.facts import UNKNOWN, Document, Origin, Signal
from gpumon_gui.diagnosis.logs import table
from gpumon_gui.diagnosis.logs.attribute import BEFORE, framework_at, framework_of
from gpumon_gui.diagnosis.logs.block import Block, Fact, Found, Gpu, Printed
from gpumon_gui.diagnosis.logs.decode import Chunk, Stream, chunks
from gpumon_gui.diagnosis.logs.gpus import merged_gpus
from gpumon_gui.diagnosis.logs.pattern import Pattern

#: The kind of signal that says that a block of the reader raised: a fault of GPUMon.
FAULT: Final = "log-reader-fault"
#: Signals kept of each kind, beside the last one.
KEPT: Final = 20
#: Characters of a line that patterns see, around the hint, and that a signal quotes. What is shown is shorter.
LINE_LIMIT: Final = 4000
#: Lines that a ``joined`` pattern sees.
JOINED_LINES: Final = 4
#: GPUs kept of all listings together.
GPUS_KEPT: Final = 500
#: Lines with one hint that said nothing new before only some of each chunk are tried; a long line counts for more.
TRIES: Final = 8000
_SAMPLE: Final = 12
#: Text before and after a chunk that attribution and blocks may look at.
_BACK_CHARS: Final = 8_000
_AHEAD_CHARS: Final = 160_000
#: Line shapes remembered, in bytes; longer lines are not remembered.
_SEEN_BYTES: Final = 6_000_000
_SEEN_LINE: Final = 2_000
_DIGITS: Final = b"0123456789"


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What a log says. ``lines`` is how many it has; ``origins`` as in ``Document``."""

    signals: tuple[Signal, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    lines: int = 0

    def merge_into(self, document: Document) -> Document:
        """The document with this log's signals, and with its facts where the document has none of its own."""
        facts = _plain(document.facts)
        origins = dict(document.origins)
        given = set(facts)
        for path, value in _leaves(self.facts):
            # A listing of GPUs that was given is whole; parts of another one would count cards twice.
            if path[0] == "gpus" and "gpus" in given:
                continue
            if _put(facts, path, value):
                name = ".".join(path)
                origins[name] = _origin_of(name, self.origins)
        return replace(document, facts=facts, signals=document.signals + self.signals, origins=origins, log_given=True)


def read(data: bytes | Stream, origin_name: str = "log") -> LogFacts:
    """Read a log from bytes or a binary stream. ``OSError`` of the stream passes through; nothing else is raised."""
    return read_log(io.BytesIO(data) if isinstance(data, bytes | bytearray) else data, _shipped(), origin_name)


def read_log(stream: Stream, messages: Messages, origin_name: str = "log") -> LogFacts:
    """Read a log with a chosen set of messages."""
    collected = _Collected(origin_name)
    scan = _Scan(messages, collected)
    lines = 0
    for window in _windows(chunks(stream)):
        scan.feed(window)
        lines = window.last_line
    return collected.result(lines)


@lru_cache(maxsize=1)
def _shipped() -> Messages:
    return Messages(table.PATTERNS, table.BLOCKS)


class Messages:
    """Patterns and blocks, made ready to search: by hint, and hints by the gate words that they contain."""

    def __init__(self, patterns: Sequence[Pattern], blocks: Sequence[Block] = (), gates: Sequence[str] = table.GATES):
        self.patterns: dict[str, list[tuple[Pattern, re.Pattern[str]]]] = {}
        self.blocks: dict[str, list[Block]] = {}
        for pattern in patterns:
            compiled = re.compile(pattern.regex, re.IGNORECASE)
            self.patterns.setdefault(pattern.hint.lower(), []).append((pattern, compiled))
        for block in blocks:
            for hint in block.hints:
                self.blocks.setdefault(hint, []).append(block)
        self.hints = tuple(dict.fromkeys((*self.patterns, *self.blocks)))
        self._gates: dict[bytes, list[tuple[str, bytes]]] = {}
        for hint in self.hints:
            shape = shape_of(hint.encode())
            gate = next((gate.encode() for gate in gates if gate.encode() in shape), shape)
            self._gates.setdefault(gate, []).append((hint, shape))

    def hints_in(self, text: bytes) -> list[tuple[str, bytes]]:
        """The hints (and their shapes) that text in lower case without digits contains."""
        found = []
        for gate, hints in self._gates.items():
            if gate in text:
                found += [(hint, shape) for hint, shape in hints if shape in text]
        return found


def shape_of(text: bytes) -> bytes:
    """A line without its digits: lines that differ in numbers only share it."""
    return text.translate(None, _DIGITS)


@dataclass(frozen=True, slots=True)
class _Window:
    """A chunk with a little of what is before and after it. ``start``..``stop`` are the chunk's own lines."""

    chunk: str
    lines: Sequence[str]
    start: int
    stop: int
    first_line: int

    def number(self, index: int) -> int:
        """The log's number of a line."""
        return self.first_line + index - self.start

    @property
    def last_line(self) -> int:
        return self.first_line + max(0, self.stop - self.start - 1)


def _windows(pieces: Iterator[Chunk]) -> Iterator[_Window]:
    """One window per chunk. A chunk in the middle of a very long line stands alone."""
    before: Chunk | None = None
    now = next(pieces, None)
    while now is not None:
        after = next(pieces, None)
        back = before.text[-_BACK_CHARS:].split("\n")[-BEFORE - 1 : -1] if before and not before.is_open else []
        own = now.text.split("\n")
        if own[-1] == "" and len(own) > 1:
            own.pop()
        ahead = after.text[:_AHEAD_CHARS].split("\n") if after and not now.is_open else []
        yield _Window(now.text, [*back, *own, *ahead], len(back), len(back) + len(own), now.first_line)
        before, now = now, after


class _Scan:
    """Finds the lines that contain a hint and lets patterns and blocks see them."""

    def __init__(self, messages: Messages, collected: _Collected) -> None:
        self._messages = messages
        self._collected = collected
        self._seen: set[bytes] = set()
        self._seen_bytes = 0
        self._known: dict[bytes, set[str]] = {}  # shapes with a hint → the hints
        self._vain: dict[str, int] = {}  # hint → lines that said nothing new
        self._taken: dict[str, int] = {}  # block → the line (of the log) behind its last one

    def feed(self, window: _Window) -> None:
        lower = window.chunk.lower()
        hints = self._candidates(lower)
        if not hints:
            return
        starts = [0, *accumulate(len(line) + 1 for line in lower.split("\n"))]
        for hint in self._messages.hints:
            if hint in hints:
                self._visit(hint, lower, starts, window)

    def _candidates(self, lower: str) -> set[str]:
        """The hints that the chunk can contain."""
        shapes = set(shape_of(lower.encode("utf-8", "replace")).split(b"\n"))
        found: set[str] = set()
        for shape in shapes & self._known.keys():
            found |= self._known[shape]
        fresh = shapes - self._seen
        if not fresh:
            return found
        text = b"\n".join(fresh)
        for hint, shape in self._messages.hints_in(text):
            found.add(hint)
            self._remember(hint, shape, text)
        for line in fresh:
            if len(line) <= _SEEN_LINE:
                self._seen.add(line)
                self._seen_bytes += len(line) + 64
        if self._seen_bytes > _SEEN_BYTES:
            self._seen.clear()
            self._known.clear()
            self._seen_bytes = 0
        return found

    def _remember(self, hint: str, shape: bytes, text: bytes) -> None:
        at = text.find(shape)
        while at >= 0:
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end
            line = text[text.rfind(b"\n", 0, at) + 1 : end]
            if len(line) <= _SEEN_LINE:
                self._known.setdefault(line, set()).add(hint)
            at = text.find(shape, end) if shape else -1

    def _visit(self, hint: str, lower: str, starts: list[int], window: _Window) -> None:
        # What was tried in vain so often will hardly say something new: a sample of the chunk's lines will do.
        sample = self._vain.get(hint, 0) >= TRIES
        for at, column in _hits(hint, lower, starts, sample):
            index = window.start + at
            if index >= window.stop:
                return
            news = False
            for pattern, regex in self._messages.patterns.get(hint, ()):
                news |= self._match(pattern, regex, window, index, column)
            for block in self._messages.blocks.get(hint, ()):
                news |= self._read(block, window, index, column)
            if not news:
                cost = 1 + min(len(window.lines[index]), LINE_LIMIT) // 100
                self._vain[hint] = self._vain.get(hint, 0) + cost

    def _match(self, pattern: Pattern, regex: re.Pattern[str], window: _Window, index: int, column: int) -> bool:
        """Let a pattern see a line; whether it said something new."""
        line = _around(window.lines[index], column)
        if pattern.joined:
            following = (text[:LINE_LIMIT].strip() for text in window.lines[index + 1 : index + JOINED_LINES])
            line = " ".join((line.rstrip(), *following))[: LINE_LIMIT + 1000]
        match = regex.search(line)
        if match is None:
            return False
        values = {
            name: _number(text) if name in pattern.numbers else text
            for name, text in match.groupdict().items()
            if text is not None
        }
        facts = [Fact(path, values[group]) for group, path in pattern.facts.items() if group in values]
        facts += [Fact(path, value) for path, value in pattern.states.items()]
        found = Found(tuple(facts), (Printed(pattern.kind, values, 0, pattern.framework),))
        return self._collected.found(found, window, index)

    def _read(self, block: Block, window: _Window, index: int, column: int) -> bool:
        """Let a block read from a line on; whether it said something new."""
        number = window.number(index)
        if number < self._taken.get(block.name, 0):
            return True
        first = _around(window.lines[index], column)
        following = (line[:LINE_LIMIT] for line in window.lines[index + 1 : index + block.lines])
        try:
            found = block.read([first, *following])
        except Exception as error:  # noqa: BLE001 - a fault of one block is told, and loses nothing else
            values = {"block": block.name, "error": f"{type(error).__name__}: {error}"}
            found = Found(signals=(Printed(FAULT, values),))
        if found is None:
            return False
        if found.length > 1 or len(window.lines[index]) <= LINE_LIMIT:  # several messages may share a very long line
            self._taken[block.name] = number + found.length
        return self._collected.found(found, window, index)


def _hits(hint: str, lower: str, starts: list[int], sample: bool) -> Iterator[tuple[int, int]]:
    """Lines (from 0) that contain the hint, with its column; in a sample only some of the first and the last."""
    at = lower.find(hint)
    left = _SAMPLE if sample else len(starts)
    last = -1
    while at >= 0 and left > 0:
        line = bisect_right(starts, at) - 1
        yield line, at - starts[line]
        last = line
        left -= 1
        # The next one on another line, or far enough behind in a very long one.
        behind = min(starts[line + 1], at + LINE_LIMIT) if line + 1 < len(starts) else at + LINE_LIMIT
        at = lower.find(hint, max(behind, at + 1))
    if at >= 0:
        at = lower.rfind(hint)
        line = bisect_right(starts, at) - 1
        if line != last:
            yield line, at - starts[line]


def _around(line: str, column: int) -> str:
    """The part of a line that patterns see."""
    if len(line) <= LINE_LIMIT:
        return line
    start = max(0, min(column - LINE_LIMIT // 2, len(line) - LINE_LIMIT))
    return line[start : start + LINE_LIMIT]


def _number(text: str) -> object:
    plain = text.replace(",", "").replace("_", "")
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        return float(plain)
    except ValueError:
        return text


class _Collected:
    """Signals, facts and GPUs found so far, bounded."""

    def __init__(self, origin_name: str) -> None:
        self._origin_name = origin_name
        self._first: dict[str, list[Signal]] = {}
        self._last: dict[str, Signal] = {}
        self._facts: dict[str, Any] = {}
        self._lines: dict[str, int] = {}
        self._gpus: list[tuple[Gpu, int]] = []

    def found(self, found: Found, window: _Window, index: int) -> bool:
        """Take what was found at a line; whether some of it is new."""
        news = False
        number = window.number(index)
        for printed in found.signals:
            news |= self._signal(printed, window, min(index + printed.offset, len(window.lines) - 1))
        for fact in found.facts:
            if _put(self._facts, tuple(fact.path.split(".")), fact.value, over=fact.newer):
                self._lines[fact.path] = number + fact.offset
                news = True
        if found.gpus and len(self._gpus) < GPUS_KEPT:
            self._gpus += [(gpu, number + gpu.offset) for gpu in found.gpus]
            news = True
        return news

    def _signal(self, printed: Printed, window: _Window, index: int) -> bool:
        kept = self._first.setdefault(printed.kind, [])
        line = window.number(index)
        if kept and kept[-1].origin.line == line and kept[-1].values == printed.values:
            return False  # two patterns of one kind saw the same words
        is_full = len(kept) >= KEPT
        framework = printed.framework or framework_of(printed.text[:LINE_LIMIT])
        if not framework and not is_full:
            framework = framework_at(window.lines, index)
        text = " ".join((printed.text or window.lines[index])[:LINE_LIMIT].split())
        signal = Signal(printed.kind, Origin(self._origin_name, line), framework, dict(printed.values), text)
        if is_full:
            self._last[printed.kind] = signal
            return False
        kept.append(signal)
        return True

    def result(self, lines: int) -> LogFacts:
        gpus, gpu_lines = merged_gpus(self._gpus)
        if gpus:
            self._facts["gpus"] = gpus
            self._lines["gpus"] = gpu_lines[0]
            self._lines |= {f"gpus.{index}": line for index, line in enumerate(gpu_lines)}
        signals = sorted(
            (*self._last.values(), *(signal for kept in self._first.values() for signal in kept)),
            key=lambda signal: signal.origin.line or 0,
        )
        origins = {path: Origin(self._origin_name, line) for path, line in self._lines.items()}
        return LogFacts(tuple(signals), self._facts, origins, lines)


def _put(facts: dict[str, Any], path: tuple[str, ...], value: object, *, over: bool = False) -> bool:
    """Set a value; what is there already stays unless ``over``. False when nothing was set."""
    for name in path[:-1]:
        inner = facts.setdefault(name, {})
        if not isinstance(inner, dict):
            return False
        facts = inner
    if path[-1] in facts and not over:
        return False
    if value is UNKNOWN:  # what was known no longer holds
        return facts.pop(path[-1], UNKNOWN) is not UNKNOWN
    facts[path[-1]] = value
    return True


def _leaves(facts: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """A copy whose mappings can be changed."""
    return {name: _plain(value) if isinstance(value, Mapping) else value for name, value in facts.items()}


def _origin_of(path: str, origins: Mapping[str, Origin]) -> Origin:
    while path:
        if path in origins:
            return origins[path]
        path = path.rpartition(".")[0]
    return Origin("log")
