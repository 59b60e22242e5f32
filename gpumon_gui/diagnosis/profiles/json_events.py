"""Knows: how a trace's JSON is read event by event in bounded memory. Must not know: what the events mean.

The standard library's decoder reads one value after the other from a window over the text; no file is held as a whole.
The streaming parser ijson was measured beside it: with its compiled part it is as fast (100 MB in 1.1 s), and it would
be one more dependency whose messages name no line. Both forms of Chrome's trace format are read: an object with
``traceEvents``, and a bare list, which may lack its last bracket.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.profiles.opening import Bounded

_CHUNK: Final = 1 << 20
#: The largest single value: an event with a long stack is a few hundred kB.
_MAX_VALUE: Final = 16 << 20
#: What a value that only goes on behind the window may leave unread before its end (``\\u12``, ``fals``).
_NEAR_END: Final = 100
_MAX_HEADER_KEYS: Final = 1_000
_SPACE: Final[re.Pattern[str]] = WHITESPACE
#: What is kept of what stands before the events.
HEADER: Final = frozenset({"deviceProperties", "distributedInfo"})


class TraceReader:
    """``events()`` yields what stands in traceEvents; ``header`` then holds what stood before it."""

    def __init__(self, source: Bounded, path: Path) -> None:
        self._source = source
        self._path = path
        self._decode: codecs.IncrementalDecoder | None = None
        self._json = json.JSONDecoder(strict=False)
        self._text = ""
        self._at = 0
        self._lines = 1
        self._ended = False
        self.header: dict[str, Any] = {}
        self.count = 0

    def events(self) -> Iterator[dict[str, Any]]:
        """Every event that is an object. Raises UnreadableInput naming the file and the line."""
        bare = self._open_list()
        first = True
        while True:
            character = self._peek()
            if character == "]":
                return
            if character == "" and bare and self.count:
                return  # the format allows it: a program that was killed writes no end
            if not first:
                if character != ",":
                    raise self._broken(_("a comma or the end of the list was expected"))
                self._at += 1
                character = self._peek()
                if character == "]" or (character == "" and bare):
                    return
            first = False
            event = self._value()
            self.count += 1
            if isinstance(event, dict):
                yield event

    def _open_list(self) -> bool:
        """Move behind the bracket that opens the events; whether there is no object around it."""
        opening = self._peek()
        if opening == "[":
            self._at += 1
            return True
        if opening != "{":
            raise self._foreign()
        self._at += 1
        for _number in range(_MAX_HEADER_KEYS):
            if self._peek() == "}":
                break
            name = self._value()
            if not isinstance(name, str) or self._peek() != ":":
                raise self._broken(_("a name and a colon were expected"))
            self._at += 1
            if name == "traceEvents":
                if self._peek() != "[":
                    raise self._broken(_("traceEvents is not a list"))
                self._at += 1
                return False
            value = self._value()
            if name in HEADER:
                self.header[name] = value
            if self._peek() == ",":
                self._at += 1
        raise self._foreign()

    def _peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match is not None else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def _value(self) -> Any:
        """The JSON value that starts here."""
        if self._peek() == "":
            raise self._cut()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                # Either the window ends within the value, or the value is broken.
                unterminated = error.msg.startswith("Unterminated")
                if len(self._text) - self._at > _MAX_VALUE:
                    raise self._broken(
                        _("one value is longer than 16 MB, or its text never ends"), error.pos
                    ) from error
                if len(self._text) - error.pos > _NEAR_END and not unterminated:
                    raise self._broken(error.msg, error.pos) from error
                within = error.pos - self._at  # taking more moves the window
                if not self._fill():
                    if unterminated or self._at + within >= len(self._text.rstrip()):
                        raise self._cut() from error
                    raise self._broken(error.msg, self._at + within) from error
            except RecursionError as error:
                raise self._broken(_("nested too deeply")) from error
            except ValueError as error:  # an integer of thousands of digits
                raise self._broken(str(error)) from error
            else:
                # A number at the end of the window may go on behind it.
                if end == len(self._text) and self._fill():
                    continue
                self._at = end
                return value

    def _fill(self) -> bool:
        """Take more text into the window; False at the end of the file."""
        if self._ended:
            return False
        data = self._source.read(_CHUNK)
        if self._decode is None:
            self._decode = _decoder(data)
        try:
            more = self._decode.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise self._broken(_("this is not text: {detail}").format(detail=error.reason), len(self._text)) from error
        self._ended = not data
        self._lines += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + more
        self._at = 0
        return bool(more) or not self._ended

    def _line(self, position: int) -> int:
        return self._lines + self._text.count("\n", 0, position)

    def _broken(self, detail: str, position: int | None = None) -> UnreadableInput:
        line = self._line(self._at if position is None else position)
        return UnreadableInput(
            _("{path}:{line}: the trace is broken after {count} events: {detail}").format(
                path=shown(self._path), line=line, count=self.count, detail=detail
            )
        )

    def _cut(self) -> UnreadableInput:
        line = self._line(len(self._text))
        return UnreadableInput(
            _("{path}:{line}: the trace ends too early, after {count} events: the file is incomplete.").format(
                path=shown(self._path), line=line, count=self.count
            )
        )

    def _foreign(self) -> UnreadableInput:
        return UnreadableInput(
            _("{path}: JSON, but no profiler trace: it has no traceEvents.").format(path=shown(self._path))
        )


def _decoder(start: bytes) -> codecs.IncrementalDecoder:
    """UTF-8, or UTF-16 with a mark. A single broken byte in a name is no reason to refuse a trace."""
    name = "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return codecs.getincrementaldecoder(name)(errors="replace")
