"""Knows: which kind of recording a file is, by its content. Must not know: how it is played."""

from __future__ import annotations

from pathlib import Path

from gpumon_gui.core.database import MAGIC, reading
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import check_regular_file, shown
from gpumon_gui.core.messages import _
from gpumon_gui.telemetry.recording.base import Recorded
from gpumon_gui.telemetry.recording.reader import Recording
from gpumon_gui.telemetry.recording.smi_csv import HEAD_BYTES, SmiLog, looks_like_log
from gpumon_gui.telemetry.recording.traces import Trace

_GZIP = b"\x1f\x8b"


def open_recording(path: Path) -> Recorded:
    """Open a recording, a trace or a log of nvidia-smi, whatever its name. Reads the file: not for the GUI thread.

    Raises UnreadableInput with one line: missing, a folder, no regular file (never opened, so a FIFO cannot hang),
    empty, of another kind, newer, damaged, without samples.
    """
    check_regular_file(path)
    with reading(path), path.open("rb") as file:
        header = file.read(HEAD_BYTES)
    if header.startswith(MAGIC):
        return Recording(path)
    if header.startswith(_GZIP):
        return Trace(path)
    if not header:
        raise UnreadableInput(_("{path}: the file is empty.").format(path=shown(path)))
    if looks_like_log(header):
        return SmiLog(path)
    raise UnreadableInput(
        _(
            "{path}: not a GPUMon recording or trace, and no log of nvidia-smi --query-gpu=… --format=csv "
            "(compressed files must be unpacked first)."
        ).format(path=shown(path))
    )
