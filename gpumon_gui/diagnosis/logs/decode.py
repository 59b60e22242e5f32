"""Knows: how the bytes of a log become text: encodings, colours, progress bars. Must not know: what the text means.

Nothing here raises for any bytes. A log may change its encoding half-way (PowerShell appends UTF-16 to a UTF-8 file,
a console page is pasted between): each part is decoded as what it is. Line numbers count ``\\n``, as editors do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

#: Bytes read at once. One chunk and its neighbours' edges are all that is held; a search through a larger one would
#: hold Python's lock so long that a window is seen to wait.
CHUNK_BYTES: Final = 1 << 18

_UTF16: Final = {"le": "utf-16-le", "be": "utf-16-be"}
_ASCII: Final = rb"[\t\n\r\x1b -~]"
#: Evidence that another encoding begins: four letters with a NUL each; a run of ASCII without any.
_TO_LE: Final = re.compile(rb"\xff\xfe|(?:" + _ASCII + rb"\x00){4}")
_TO_BE: Final = re.compile(rb"\xfe\xff|(?:\x00" + _ASCII + rb"){4}")
_TO_BYTES: Final = re.compile(rb"[\t -~]{7,60}\r?\n(?!\x00)|" + _ASCII + rb"{48}")
_EVIDENCE: Final = {"": _TO_BYTES, "le": _TO_LE, "be": _TO_BE}
#: ESC sequences, and what is left of them where ESC was lost or written out (notebooks, ``cat -v``).
_ANSI: Final = re.compile(
    r"(?:\x1b|\\u001b|\\x1b|\^\[)\[[0-?]{0,40}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[@-Z\\^_]|\x1b"
)
_BARE_COLOUR: Final = re.compile(r"\[(?:\d{1,3}(?:;\d{1,3})*)?m")
_PROGRESS: Final = re.compile(
    r"\d%|[█▏▎▍▌▋▊▉━╸]|\b(?:it/s|s/it|[kMG]i?B/s)|\d/\d+ \[|\bETA\b|\[=*>?[.=-]*\]|^[-\\|/\s]*$"
)
_LEFT_OVER: Final = re.compile(r"\r{1,4}\n")
#: Characters that break lines for ``str`` methods only; they would make the numbers disagree.
_NOT_TEXT: Final = str.maketrans({"\x00": None, "\x08": None, "\x0b": " ", "\x0c": " ", "\ufeff": None})
_NOT_TEXT_MARKS: Final = "\x00\x08\x0b\x0c\ufeff"


class Stream(Protocol):
    """What a log is read from."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Clean text. ``first_line`` counts from 1; ``is_open``: the line goes on in the next chunk (a very long one)."""

    text: str
    first_line: int
    is_open: bool = False


def chunks(stream: Stream, size: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """The log as clean text in pieces that end at line ends, save for lines longer than ``size``."""
    decoder = _Decoder()
    line = 1
    rest = b""
    while True:
        data = stream.read(size)
        raw = rest + data
        if not raw:
            return
        cut = len(raw) if not data else decoder.cut(raw)
        # A line longer than a chunk goes out in pieces; four bytes stay back so that no character is torn.
        is_open = bool(data) and cut == 0
        if is_open:
            if len(raw) < size:
                rest = raw
                continue
            cut = (len(raw) - 4) & ~1
        text = decoder.decode(raw[:cut])
        rest = raw[cut:]
        ends = raw[:cut].endswith((b"\n", b"\n\x00"))
        yield Chunk(text, line, is_open=bool(rest or data) and not ends)
        line += text.count("\n")
        if not data and not rest:
            return


def clean(text: str) -> str:
    """Without colours, control characters and the earlier states of progress bars."""
    if "\x1b" in text or "\\u001b[" in text or "\\x1b[" in text or "^[[" in text:
        text = _ANSI.sub("", text)
    if "[0m" in text or "[39m" in text:
        text = _BARE_COLOUR.sub("", text)
    if "\r" in text:
        text = _LEFT_OVER.sub("\n", text.replace("\r\n", "\n"))
        if "\r" in text:
            text = "\n".join(_last_state(line) if "\r" in line else line for line in text.split("\n"))
    if any(mark in text for mark in _NOT_TEXT_MARKS):
        text = text.translate(_NOT_TEXT)
    return text


def _last_state(line: str) -> str:
    """A line whose parts were printed over each other: the last one, and those before it that are no progress bar."""
    parts = line.split("\r")
    if len(parts) > len(line) // 8:
        return parts[-1]  # a few letters at a time are a spinner, not messages
    kept = [part for part in parts[:-1] if not _PROGRESS.search(part[:300])]
    return " ".join((*kept, parts[-1]))


class _Decoder:
    """Remembers the encoding that the last chunk ended in: ``""`` is one of bytes, else UTF-16."""

    def __init__(self) -> None:
        self._wide = ""

    def cut(self, raw: bytes) -> int:
        """Where the last whole line ends; 0 when there is none."""
        at = raw.rfind(b"\n")
        if at < 0:
            return 0
        following = raw[at + 1 : at + 2]
        if following not in (b"", b"\x00"):
            return at + 1
        wide = self._wide or _Switches(raw).after(0, "")[1]
        if wide != "le":
            return at + 1
        return at + 2 if following else 0  # 0: the second byte of this line end is still to come

    def decode(self, raw: bytes) -> str:
        """Text of a piece, in as many encodings as it has."""
        if not self._wide and b"\x00" not in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            return clean(_from_bytes(raw))
        parts = []
        at = 0
        switches = _Switches(raw)
        while at < len(raw):
            end, following = switches.after(at, self._wide)
            part = raw[at:end]
            if self._wide:
                parts.append(part[: len(part) & ~1].decode(_UTF16[self._wide], "replace"))
            else:
                parts.append(_from_bytes(part))
            self._wide, at = following, end
        return clean("".join(parts))


class _Switches:
    """Where bytes and UTF-16 take turns. Each kind of evidence is searched for once only: noise has much of it."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._next = dict.fromkeys(("", "le", "be"), -1)

    def after(self, at: int, wide: str) -> tuple[int, str]:
        """Where the encoding that holds at ``at`` ends, and which one follows."""
        others = ("",) if wide else ("le", "be")
        end, following = min((self._find(name, at), name) for name in others)
        return (end, following) if end < len(self._raw) else (len(self._raw), wide)

    def _find(self, name: str, at: int) -> int:
        if self._next[name] < at:
            match = _EVIDENCE[name].search(self._raw, at)
            self._next[name] = match.start() if match else len(self._raw)
        return self._next[name]


def _from_bytes(raw: bytes) -> str:
    """UTF-8; lines that are not are GBK or, failing that, Windows-1252."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return "\n".join(_line_from(line) for line in raw.split(b"\n"))


def _line_from(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        # A log that was cut in the middle of a character is still UTF-8.
        if error.reason == "unexpected end of data" and not line[: error.start].isascii():
            return line.decode("utf-8", "replace")
    if _is_chinese(line):
        return line.decode("gb18030", "replace")
    return line.translate(_CP1252).decode("cp1252")


#: Windows-1252 has no character for five bytes.
_CP1252: Final = bytes(0x3F if byte in b"\x81\x8d\x8f\x90\x9d" else byte for byte in range(256))
_PAIR: Final = re.compile(rb"[\x81-\xfe][\x30-\x39\x40-\x7e\x80-\xfe]|[\x80-\xff]")
#: A high byte between letters: never in GB 2312, which writes two of them.
_LONE: Final = re.compile(rb"[\x00-\x7f][\x80-\xff](?:[\x00-\x7f]|$)|^[\x80-\xff][\x00-\x7f]")
#: The characters of GB 2312: nearly all that simplified Chinese messages use.
_COMMON: Final = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")


def _is_chinese(line: bytes) -> bool:
    """Whether most pairs of high bytes are characters of GB 2312; in Western text a high byte is by a letter."""
    if _LONE.search(line) is None:
        return True
    pairs = _PAIR.findall(line)[:40]
    return len(_COMMON.findall(b" ".join(pairs))) * 10 >= len(pairs) * 6
