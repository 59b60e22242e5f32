"""Knows: which kind of profile a file is, by its content, and how it is read piece by piece. Must not know: formats.

Compressed files (gzip) are read as a stream; one that grows beyond reason is refused.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import BinaryIO, Final, cast

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import cannot_read, check_regular_file, shown
from gpumon_gui.core.messages import _

#: What a profile may hold when it is unpacked. Real traces are 1 MB to a few GB.
MAX_BYTES: Final = 8 << 30
#: Traces shrink to 1/10 … 1/40. Beyond this a file is made to fill memory or time.
_MAX_RATIO: Final = 300
_RATIO_FROM_BYTES: Final = 64 << 20
_HEAD: Final = 4096
#: SQLite's application_id in a recording of ours.
_RECORDING: Final = b"GPUR"


class Kind(Enum):
    """What can be read."""

    CHROME = "chrome"  #: JSON with traceEvents: PyTorch (Kineto), TensorFlow, JAX
    XSPACE = "xspace"  #: TensorFlow's and JAX's *.xplane.pb
    PICKLE = "pickle"  #: torch.cuda.memory._dump_snapshot()


#: Told how many bytes were read; what it raises ends the reading.
Look = Callable[[int], None]


class Bounded:
    """Reads an unpacked stream. Raises UnreadableInput for what is damaged or grows beyond reason."""

    def __init__(self, raw: BinaryIO, path: Path, *, packed: bool, look: Look | None = None) -> None:
        self._raw = raw
        self._path = path
        self.packed = packed
        self._stream = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
        self.done = 0
        self._look = look
        self.ended_by: Exception | None = None  #: what ``look`` raised

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes; empty at the end."""
        if self._look is not None:
            try:
                self._look(self.done)
            except Exception as error:
                self.ended_by = error
                raise
        try:
            data = self._stream.read(size)
        except EOFError as error:
            raise UnreadableInput(
                _("{path}: the compressed file ends too early (after {count} bytes of content).").format(
                    path=shown(self._path), count=self.done
                )
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise UnreadableInput(
                _("{path}: the compressed file is damaged after {count} bytes of content ({detail}).").format(
                    path=shown(self._path), count=self.done, detail=error
                )
            ) from error
        except OSError as error:
            raise UnreadableInput(cannot_read(self._path, error)) from error
        self.done += len(data)
        if self.done > MAX_BYTES or (
            self.packed and self.done > _RATIO_FROM_BYTES and self.done > _MAX_RATIO * max(1, self._raw.tell())
        ):
            raise UnreadableInput(
                _("{path}: more than {count} bytes of content from a small file; this is no profile.").format(
                    path=shown(self._path), count=self.done
                )
                if self.done <= MAX_BYTES
                else _("{path}: larger than 8 GB; record fewer steps.").format(path=shown(self._path))
            )
        return data

    def readline(self) -> bytes:
        """One line, for pickles."""
        line = self._stream.readline(1 << 20)
        self.done += len(line)
        return line


@contextmanager
def content(path: Path, look: Look | None = None) -> Iterator[Bounded]:
    """The unpacked content of a file. ``look`` gets the number of bytes that were read, before each part; what it
    raises ends the reading. Raises UnreadableInput."""
    check_regular_file(path)
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            yield Bounded(raw, path, packed=packed, look=look)
    except OSError as error:
        raise UnreadableInput(cannot_read(path, error)) from error


def kind_of(path: Path) -> Kind:
    """What the file holds. Raises UnreadableInput naming the file for everything else."""
    with content(path) as stream:
        head = stream.read(_HEAD)
    where = shown(path)
    if not head:
        raise UnreadableInput(_("{path}: the file is empty.").format(path=where))
    if head[0] == 0x80 and len(head) > 1 and 2 <= head[1] <= 5:
        return Kind.PICKLE
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or head.lstrip()[:1] in (b"{", b"["):
        return Kind.CHROME
    if head.startswith(b"SQLite format 3") and head[68:72] == _RECORDING:
        message = _("{path}: a recording of GPUMon, no profile; gpumon watch --replay judges it.")
        raise UnreadableInput(message.format(path=where))
    if head.startswith(b"SQLite format 3") or path.suffix in (".nsys-rep", ".qdrep", ".ncu-rep"):
        message = _("{path}: a report of NVIDIA Nsight; only profiles of PyTorch, TensorFlow and JAX can be read.")
        raise UnreadableInput(message.format(path=where))
    if head.startswith(b"PK\x03\x04"):
        raise UnreadableInput(_("{path}: a zip file (perhaps a saved model); no profile.").format(path=where))
    if head[0] == 0x0A:
        return Kind.XSPACE
    raise UnreadableInput(
        _(
            "{path}: neither a profiler trace (JSON), nor TensorFlow's xplane.pb, nor a memory snapshot of PyTorch."
        ).format(path=where)
    )


#: What the profilers write into a folder, most telling first.
_TRACES: Final = ("*.xplane.pb", "*trace.json.gz", "*trace.json", "*.pt.trace.json*")
_SNAPSHOTS: Final = ("*.pickle", "*.pkl")
_MAX_FILES: Final = 100_000


def candidates(folder: Path) -> tuple[list[Path], list[Path]]:
    """The traces and the memory snapshots (by their names) in a folder, a log directory of TensorBoard, say; newest
    first. Raises UnreadableInput where there is none."""
    traces: list[tuple[float, int, str]] = []
    snapshots: list[tuple[float, str]] = []
    seen = 0
    try:
        for file in folder.rglob("*"):
            seen += 1
            if seen > _MAX_FILES:
                break
            rank = next((place for place, pattern in enumerate(_TRACES) if file.match(pattern)), None)
            if rank is not None and file.is_file():
                # Of one run all files are written within seconds: its folder decides, then the kind.
                traces.append((file.parent.stat().st_mtime, -rank, str(file)))
            elif any(file.match(pattern) for pattern in _SNAPSHOTS) and file.is_file():
                snapshots.append((file.stat().st_mtime, str(file)))
    except OSError as error:
        raise UnreadableInput(cannot_read(folder, error)) from error
    if not traces and not snapshots:
        raise UnreadableInput(
            _("{path}: no profile in this folder (*.xplane.pb, *trace.json.gz, *.pickle).").format(path=shown(folder))
        )
    return [Path(one[-1]) for one in sorted(traces, reverse=True)], [
        Path(one[-1]) for one in sorted(snapshots, reverse=True)
    ]
