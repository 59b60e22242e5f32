"""Knows: how the frame buffer file of a virtual screen becomes a PNG. Must not know: who asks."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path


def png_of(frame: bytes) -> tuple[bytes, int]:
    """The picture in an XWD dump of 32 bits a pixel (XWDFile.h), and how many colours it has (up to 4096).

    Raises ValueError when it is no such dump.
    """
    fields = struct.unpack_from(">25I", frame)
    header, width, height, order, bits, stride, colours = (fields[n] for n in (0, 4, 5, 7, 11, 12, 19))
    if fields[1] != 7 or bits != 32:
        raise ValueError("not an XWD dump of 32 bits a pixel")
    start = header + colours * 12
    red, green, blue = (2, 1, 0) if order == 0 else (1, 2, 3)  # little-endian pixels are B G R x
    rows = []
    seen: set[tuple[int, ...]] = set()
    for y in range(height):
        line = frame[start + y * stride : start + y * stride + width * 4]
        row = bytearray(width * 3)
        row[0::3], row[1::3], row[2::3] = line[red::4], line[green::4], line[blue::4]
        rows.append(b"\0" + row)
        if len(seen) < 4096:
            seen.update(zip(row[0::3], row[1::3], row[2::3], strict=True))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(rows), 6)
    parts = (_chunk(b"IHDR", head), _chunk(b"IDAT", body), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts), len(seen)


def write_png(frame: Path, target: Path) -> int:
    """Write the picture; the number of colours, so that an empty desktop can be told from a drawn one."""
    data, colours = png_of(frame.read_bytes())
    target.write_bytes(data)
    return colours


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
