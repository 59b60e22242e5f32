"""Knows: how samples reach a slow disk without delaying anybody. Must not know: the format of the file, who samples."""

from __future__ import annotations

import contextlib
import logging
import queue
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import Signal

from gpumon_gui.bridge.worker import Worker
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.model import Sample

_log = logging.getLogger("gpumon.recording")

#: A minute at the fastest update speed.
CAPACITY = 120
_LOOK_S = 0.5


class SampleWriter(Protocol):
    """Where samples go (``telemetry.recording.writer.RecordingWriter``)."""

    def append(self, sample: Sample) -> None:
        """Take a sample. Raises GpumonError when it cannot be kept."""
        ...

    def close(self) -> None:
        """Finish the file. Raises GpumonError."""
        ...


class Recorder(Worker):
    """Takes samples from the sampling thread, writes them in its own.

    Attributes:
        dropped: samples that did not fit into the queue because the disk was too slow.

    Signals:
        failed(str): the file cannot be written; one sentence for the user. Nothing is recorded after it.
    """

    failed = Signal(str)

    def __init__(self, make: Callable[[], SampleWriter], capacity: int = CAPACITY) -> None:
        """``make`` opens the file; it runs in the recorder's thread and may raise GpumonError."""
        super().__init__()
        self._make = make
        self._waiting: queue.Queue[Sample | None] = queue.Queue(capacity)
        self.dropped = 0

    def offer(self, sample: Sample) -> None:
        """Take a sample, or count it as dropped. From the sampling thread; never blocks."""
        try:
            self._waiting.put_nowait(sample)
        except queue.Full:
            self.dropped += 1

    def run(self) -> None:
        """Write what comes until asked to stop, then what is left."""
        try:
            writer = self._make()
            try:
                self._write_all(writer)
            finally:
                writer.close()
        except GpumonError as error:
            _log.error("recording: %s", error)
            self.failed.emit(str(error))

    def wake(self) -> None:
        """See :meth:`Worker.wake`."""
        with contextlib.suppress(queue.Full):  # then there is enough to wake up for
            self._waiting.put_nowait(None)

    def _write_all(self, writer: SampleWriter) -> None:
        while True:
            try:
                sample = self._waiting.get(timeout=_LOOK_S)
            except queue.Empty:
                sample = None
            if sample is not None:
                writer.append(sample)
            elif self.stop_event.is_set():
                return
