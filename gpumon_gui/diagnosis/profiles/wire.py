"""Knows: the wire format of protocol buffers. Must not know: any message.

Source: protobuf.dev/programming-guides/encoding. Only what lies within the given bounds is read; what does not fit
raises :class:`Damaged` with the place.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap

Bytes = bytes | mmap
#: A field: its number, a number (varint, fixed) or -1, and where its bytes begin and end (length-delimited only).
Field = tuple[int, int, int, int]


class Damaged(Exception):  # noqa: N818 - reads as a statement
    """The bytes are no message; ``place`` is where."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def fields(data: Bytes, start: int, end: int) -> Iterator[Field]:
    """The fields of the message between two places. Raises Damaged."""
    place = start
    while place < end:
        begin = place
        key = data[place]
        place += 1
        if key >= 0x80:
            key, place = varint(data, place - 1, end)
        kind, number = key & 7, key >> 3
        if number == 0:
            raise Damaged(begin)
        if kind == 0:
            if place >= end:
                raise Damaged(begin)
            value = data[place]
            place += 1
            if value >= 0x80:
                value, place = varint(data, place - 1, end)
            yield number, value, 0, 0
        elif kind == 2:
            if place >= end:
                raise Damaged(begin)
            length = data[place]
            place += 1
            if length >= 0x80:
                length, place = varint(data, place - 1, end)
            if length > end - place:
                raise Damaged(begin)
            yield number, -1, place, place + length
            place += length
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
            if length > end - place:
                raise Damaged(begin)
            yield number, int.from_bytes(data[place : place + length], "little"), 0, 0
            place += length
        else:
            raise Damaged(begin)


def varint(data: Bytes, place: int, end: int) -> tuple[int, int]:
    """A number of up to 64 bits, and the place behind it. Raises Damaged."""
    value = shift = 0
    begin = place
    while place < end and shift < 70:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place
        shift += 7
    raise Damaged(begin)


def signed(value: int) -> int:
    """An int64 as it is written: two's complement."""
    return value - (1 << 64) if value >= 1 << 63 else value


def text(data: Bytes, start: int, end: int, limit: int = 1_000) -> str:
    """A string, shortened."""
    return bytes(data[start : min(end, start + limit)]).decode("utf-8", "replace")
