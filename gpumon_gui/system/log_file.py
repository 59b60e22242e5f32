"""Knows: GPUMon's own log: a file that is turned over, and its last lines in memory. Must not know: who logs what.

Writing happens in a thread: a disk that does not answer must not hold up who logs. What cannot be written is dropped.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Final

NAME: Final = "gpumon.log"
MOST_BYTES: Final = 512 << 10
KEPT_FILES: Final = 3
KEPT_LINES: Final = 200
#: Far more than a second of the worst flood; what comes beyond is dropped.
_WAITING = 2000
_END_S = 1.0
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Quiet(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """The disk is full or another window turns the file over: this line is lost, nothing else."""


class _Queue(QueueHandler):
    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            self.queue.put_nowait(record)
        except Full:
            return


class _Listener(QueueListener):
    def stop_within(self, seconds: float) -> None:
        """End what writes; a disk that does not answer is left behind (the thread is a daemon)."""
        self.enqueue_sentinel()
        if self._thread is not None:
            self._thread.join(seconds)
            self._thread = None


class _Lines(logging.Handler):
    """The last lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.extend(self.format(record).splitlines())


class LogFile:
    """Takes what is logged below ``gpumon`` from :meth:`open` to :meth:`close`."""

    def __init__(self, folder: Path | None, logger: str = "gpumon", level: int = logging.INFO) -> None:
        """``folder`` None: only the last lines are kept."""
        self.file = None if folder is None else folder / NAME
        self._logger = logging.getLogger(logger)
        self._level = level
        self._before = self._logger.level
        self._lines = _Lines()
        self._lines.setFormatter(logging.Formatter(_FORM))
        self._queue: Queue[logging.LogRecord] = Queue(_WAITING)
        self._handler = _Queue(self._queue)
        self._listener: _Listener | None = None

    def open(self) -> None:
        """Begin. A folder that cannot be made leaves the lines in memory alone."""
        self._logger.setLevel(self._level)
        self._logger.addHandler(self._lines)
        if self.file is None:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            writer = _Quiet(
                self.file,
                maxBytes=MOST_BYTES,
                backupCount=KEPT_FILES,
                encoding="utf-8",
                errors="backslashreplace",
                delay=True,
            )
        except OSError as error:
            self.file = None
            self._logger.info("no log file: %s", error)
            return
        writer.setFormatter(logging.Formatter(_FORM))
        self._listener = _Listener(self._queue, writer)
        self._listener.start()
        self._logger.addHandler(self._handler)

    def last_lines(self, count: int = 40) -> tuple[str, ...]:
        """The newest lines, oldest first."""
        return tuple(self._lines.lines)[-count:]

    def close(self) -> None:
        """Write what waits, then end."""
        self._logger.removeHandler(self._handler)
        self._logger.removeHandler(self._lines)
        self._logger.setLevel(self._before)
        if self._listener is not None:
            # A full queue could not take the listener's own end.
            while self._queue.full():
                try:
                    self._queue.get_nowait()
                except Empty:
                    break
            self._listener.stop_within(_END_S)
            for handler in self._listener.handlers:
                with contextlib.suppress(OSError):  # the last lines do not fit on the disk
                    handler.close()
            self._listener = None
