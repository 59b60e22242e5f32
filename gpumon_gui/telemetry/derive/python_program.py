"""Knows: which processes run Python, and what one is called. Must not know: where it is shown."""

from __future__ import annotations

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import ProcessPresence, ProcessSample


def is_python(process: ProcessSample) -> bool:
    """Whether a process runs Python, as far as its names and modules tell."""
    names = (process.name, process.executable.replace("\\", "/").rpartition("/")[2])
    is_called = any(name.lower().startswith("python") for name in names)
    return process.presence is ProcessPresence.RUNNING and bool(is_called or process.framework)


def program_label(process: ProcessSample) -> str:
    """``train.py (PID 4711, PyTorch)``."""
    script = next((word for word in process.command[1:] if word.endswith(".py")), "")
    name = script.replace("\\", "/").rpartition("/")[2] or process.name
    if process.framework:
        text = _("{name} (PID {pid}, {framework})")
        return printable(text.format(name=name, pid=process.pid, framework=process.framework))
    return printable(_("{name} (PID {pid})").format(name=name, pid=process.pid))
