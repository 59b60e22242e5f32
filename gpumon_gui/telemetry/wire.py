"""Knows: the messages between the window and its sampler as bytes. Must not know: pipes, processes, policy.

A message is a header (magic ``GPM``, one byte for the kind, body length as unsigned 32 bits, little-endian) and a
MessagePack body. After a byte that does not fit nothing can be trusted, so the stream is given up, never searched for
the next header.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import msgspec

from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.telemetry import codec

_MAGIC = b"GPM"
_HEADER = struct.Struct("<3scI")
#: A sample of 16 GPUs with 2,000 processes is about 1 MB.
MAX_BODY = 16 << 20
_MAX_TEXT = 16_000

# sampler → window
HELLO = b"H"
FRAME = b"S"
FAULT = b"F"
BYE = b"B"
# window → sampler
DEMAND = b"D"
STOP = b"Q"
_KINDS = frozenset({HELLO, FRAME, FAULT, BYE, DEMAND, STOP})


class DamagedStream(ValueError):  # noqa: N818 - reads as a statement
    """Bytes that no sampler sends. The message is technical."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The sampler runs: its program version and process id."""

    version: str
    pid: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One sample."""

    sample: Sample


@dataclass(frozen=True, slots=True)
class Fault:
    """A sweep raised: the traceback, told once per process for each different one."""

    text: str


@dataclass(frozen=True, slots=True)
class Bye:
    """The sampler ends because it was asked to."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """What came is not a message; nothing more will be read from this sampler."""

    detail: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The process is over, or closed its pipe: exit code (negative: the signal), None when it cannot be known."""

    code: int | None


Message = Hello | Frame | Fault | Bye | Damaged | Ended


class Splitter:
    """Cuts a stream of bytes into messages.

    Attributes:
        damage: what was found that is no message; empty as long as the stream is sound. Nothing comes after it.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.damage = ""

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Kind and body of every message that is complete now."""
        found: list[tuple[bytes, bytes]] = []
        if self.damage:
            return found
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _HEADER.size:
            magic, kind, length = _HEADER.unpack_from(buffer, start)
            end = start + _HEADER.size + length
            if magic != _MAGIC or kind not in _KINDS or length > MAX_BODY or end > len(buffer):
                break
            found.append((kind, bytes(buffer[start + _HEADER.size : end])))
            start = end
        del buffer[:start]
        if not _begins_well(buffer):
            self.damage = f"not a message: {bytes(buffer[:16])!r}"
            buffer.clear()
        return found


def _begins_well(buffer: bytearray) -> bool:
    """Whether this may become a message; said at the first wrong byte, not when a header is complete."""
    if len(buffer) < _HEADER.size:
        return _MAGIC.startswith(bytes(buffer[:3])) and (len(buffer) < 4 or bytes(buffer[3:4]) in _KINDS)
    magic, kind, length = _HEADER.unpack_from(buffer)
    return magic == _MAGIC and kind in _KINDS and length <= MAX_BODY


def hello(version: str, pid: int) -> bytes:
    """The first message of a sampler."""
    return _message(HELLO, msgspec.msgpack.encode([version, pid]))


def frame(sample: Sample) -> bytes:
    """A sample on its way to the window."""
    return _message(FRAME, codec.pack(sample))


def fault(text: str) -> bytes:
    """A traceback; of a long one the end, which says what happened."""
    printable = text[-_MAX_TEXT:].encode("utf-8", "backslashreplace").decode("utf-8")
    return _message(FAULT, msgspec.msgpack.encode(printable))


def bye() -> bytes:
    """The last message of a sampler that was asked to end."""
    return _message(BYE, b"")


def demand(wanted: Demand) -> bytes:
    """What is to be read from now on."""
    return _message(DEMAND, msgspec.msgpack.encode(codec.demand_to_plain(wanted)))


def stop() -> bytes:
    """Asks the sampler to end."""
    return _message(STOP, b"")


def parse(kind: bytes, body: bytes) -> Hello | Frame | Fault | Bye:
    """A message from the sampler. Raises DamagedStream."""
    try:
        if kind == FRAME:
            return Frame(codec.unpack(body))
        if kind == HELLO:
            version, pid = msgspec.msgpack.decode(body, type=tuple[str, int])
            return Hello(version, pid)
        if kind == FAULT:
            return Fault(msgspec.msgpack.decode(body, type=str))
    except (msgspec.MsgspecError, ValueError) as error:
        raise DamagedStream(f"message {kind!r}: {error}") from error
    if kind == BYE:
        return Bye()
    raise DamagedStream(f"message {kind!r} from a sampler")


def parse_demand(body: bytes) -> Demand:
    """The body of a demand. Raises DamagedStream."""
    try:
        return codec.demand_from_plain(msgspec.msgpack.decode(body, type=dict[str, float | bool | list[int]]))
    except (msgspec.MsgspecError, ValueError) as error:
        raise DamagedStream(f"demand: {error}") from error


def _message(kind: bytes, body: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, kind, len(body)) + body
