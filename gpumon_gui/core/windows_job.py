"""Knows: Windows' job objects, which end all processes in them at once. Must not know: which processes, and why.

Layouts and constants from winnt.h. Nothing here may be called on another system.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_EXTENDED_LIMIT_INFORMATION = 9  # JobObjectExtendedLimitInformation
_KILL_ON_JOB_CLOSE = 0x2000


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION, winnt.h."""

    _fields_ = (
        ("per_process_user_time", ctypes.c_int64),
        ("per_job_user_time", ctypes.c_int64),
        ("limit_flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_process_limit", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION, winnt.h; the counters are six 64-bit numbers."""

    _fields_ = (
        ("basic", BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory_limit", ctypes.c_size_t),
        ("job_memory_limit", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class Job:
    """A job whose processes end when it is closed or ended, or when this program ends in whichever way.

    Raises OSError when Windows refuses.
    """

    def __init__(self) -> None:
        self._kernel32: Any = None
        self._handle: int | None = None
        if sys.platform == "win32":
            self._kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
            self._kernel32.CreateJobObjectW.restype = ctypes.c_void_p
            self._handle = self._kernel32.CreateJobObjectW(None, None)
            limits = ExtendedLimits()
            limits.basic.limit_flags = _KILL_ON_JOB_CLOSE
            if not self._handle or not self._kernel32.SetInformationJobObject(
                ctypes.c_void_p(self._handle), _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
            ):
                raise ctypes.WinError(ctypes.get_last_error())
        else:
            raise OSError("jobs exist on Windows only")

    def take(self, process_handle: int) -> None:
        """Put a process into the job; its later children are in it too. Raises OSError."""
        if sys.platform == "win32" and not self._kernel32.AssignProcessToJobObject(
            ctypes.c_void_p(self._handle), ctypes.c_void_p(process_handle)
        ):
            raise ctypes.WinError(ctypes.get_last_error())

    def end(self) -> None:
        """End all processes in the job and give it up."""
        if self._handle:
            self._kernel32.TerminateJobObject(ctypes.c_void_p(self._handle), 1)
            self._kernel32.CloseHandle(ctypes.c_void_p(self._handle))
            self._handle = None
