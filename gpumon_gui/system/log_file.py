"""Knows: GPUMon's own log: a file that is turned over, and its last lines in memory. Must not know: who logs what.

Writing happens in a thread: a disk that does not answer must not hold up who logs. What cannot be written is dropped.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from logging.handlers import QueueHandler, RotatingFileHandler
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Final

NAME: Final = "gpumon.log"
MOST_BYTES: Final = 512 << 10
KEPT_FILES: Final = 3
KEPT_LINES: Final = 200
#: Far more than a second of the worst flood; what comes beyond is dropped.
_WAITING = 2000
#: Enough for the last lines.
END_S: Final = 1.0
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Quiet(RotatingFileHandler):
    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - logging's name
        """Looking at the end of the file first writes what did not fit before; as long as that fails, this line waits
        too."""
        try:
            return bool(super().shouldRollover(record))
        except OSError:
            return False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """The disk is full or another window turns the file over: this line is lost, nothing else."""


class _Queue(QueueHandler):
    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            self.queue.put_nowait(record)
        except Full:
            return


def _write(waiting: Queue[logging.LogRecord | None], writer: logging.Handler) -> None:
    """Write until None comes. Who writes also closes: any other thread would wait here for a write that hangs."""
    while (record := waiting.get()) is not None:
        writer.handle(record)
    with contextlib.suppress(OSError):  # the last lines do not fit on the disk
        writer.close()


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
        self._waiting: Queue[logging.LogRecord | None] = Queue(_WAITING)
        self._handler = _Queue(self._waiting)
        self._thread: threading.Thread | None = None

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
        # A daemon: a disk that does not answer is left behind.
        self._thread = threading.Thread(target=_write, args=(self._waiting, writer), name="log file", daemon=True)
        self._thread.start()
        self._logger.addHandler(self._handler)

    def last_lines(self, count: int = 40) -> tuple[str, ...]:
        """The newest lines, oldest first."""
        return tuple(self._lines.lines)[-count:]

    def close(self, timeout_s: float = END_S) -> bool:
        """Write what waits, for at most ``timeout_s``, then end. False: the disk does not answer."""
        self._logger.removeHandler(self._handler)
        self._logger.removeHandler(self._lines)
        self._logger.setLevel(self._before)
        thread, self._thread = self._thread, None
        if thread is None:
            return True
        while True:
            try:
                self._waiting.put_nowait(None)
                break
            except Full:  # it could not take the writer's end
                with contextlib.suppress(Empty):
                    self._waiting.get_nowait()
        thread.join(timeout_s)
        return not thread.is_alive()
