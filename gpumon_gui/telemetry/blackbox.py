"""Knows: a few bytes that the sampler and the window share. Must not know: what is done with them.

The sampler notes here that it lives and which source it is about to touch. Writing costs less than a microsecond and no
system call, wakes nobody, and the note can still be read after the process was killed in the middle of a driver call.

Layout, little-endian: 0 beats u32 · 4 serial u32 · 8 name, 40 bytes UTF-8 padded with zeros · 48 serial u32 again.
A reader that finds two different serials has met a writer at work.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from dataclasses import dataclass

_SIZE = 64
_NAME_BYTES = 40
_U32 = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Pulse:
    """``beats`` grows while the process lives, ``serial`` with every source entered or left; ``busy`` is the source
    being read, empty between two."""

    beats: int = 0
    serial: int = 0
    busy: str = ""


class Blackbox:
    """Shared memory of one sampler. The window makes it and hands :attr:`address` to the sampler, which attaches."""

    def __init__(self, shared: mmap.mmap, address: str, fd: int | None) -> None:
        self._shared = shared
        self._fd = fd
        self._beats = 0
        self._serial = 0
        self._last = Pulse()
        self.address = address

    @classmethod
    def make(cls) -> Blackbox:
        """New shared bytes. Raises OSError."""
        if sys.platform == "win32":
            name = f"gpumon-{os.getpid()}-{os.urandom(8).hex()}"
            return cls(mmap.mmap(-1, _SIZE, tagname=name), f"tag:{name}", None)
        fd = _anonymous_file()
        os.ftruncate(fd, _SIZE)
        return cls(mmap.mmap(fd, _SIZE), f"fd:{fd}", fd)

    @classmethod
    def attach(cls, address: str) -> Blackbox:
        """The bytes of the window that started this process. Raises OSError or ValueError."""
        kind, _, name = address.partition(":")
        if sys.platform == "win32":
            if kind != "tag":
                raise ValueError(f"not an address: {address}")
            return cls(mmap.mmap(-1, _SIZE, tagname=name), address, None)
        if kind != "fd":
            raise ValueError(f"not an address: {address}")
        fd = int(name)
        shared = mmap.mmap(fd, _SIZE)
        os.close(fd)  # the mapping stays
        return cls(shared, address, None)

    @property
    def inherited_fds(self) -> tuple[int, ...]:
        """What the sampler must inherit to attach."""
        return () if self._fd is None else (self._fd,)

    def handed_over(self) -> None:
        """The sampler has inherited what it needs."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def beat(self) -> None:
        """Note that the process lives. Only one thread may call this."""
        self._beats = (self._beats + 1) & 0xFFFFFFFF
        self._shared[0:4] = _U32.pack(self._beats)

    def enter(self, name: str) -> None:
        """Note that a source is about to be touched; an empty name: it returned. Only one thread may call this."""
        self._serial = (self._serial + 1) & 0xFFFFFFFF
        serial = _U32.pack(self._serial)
        self._shared[4:8] = serial
        self._shared[8:48] = name.encode("utf-8", "replace")[:_NAME_BYTES].ljust(_NAME_BYTES, b"\0")
        self._shared[48:52] = serial

    def read(self) -> Pulse:
        """What the sampler noted last; the note before when it is just writing. Works after both ends closed."""
        if self._shared.closed:
            return self._last
        for _attempt in range(3):
            content = self._shared[0:52]
            if content[4:8] == content[48:52]:
                name = content[8:48].rstrip(b"\0").decode("utf-8", "replace")
                self._last = Pulse(_U32.unpack_from(content, 0)[0], _U32.unpack_from(content, 4)[0], name)
                break
        return self._last

    def close(self) -> None:
        """Let go of the bytes; what was read last stays known."""
        self.read()
        self.handed_over()
        self._shared.close()


def _anonymous_file() -> int:
    """A file without a name, open for reading and writing."""
    if sys.platform == "linux":
        try:
            return os.memfd_create("gpumon-sampler")
        except OSError:  # forbidden in some sandboxes
            pass
    import tempfile  # brings a megabyte along, for the sampler too

    fd, path = tempfile.mkstemp(prefix="gpumon-")
    os.unlink(path)  # noqa: PTH108 - a path made by the line above
    return fd
