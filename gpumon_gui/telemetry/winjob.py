"""Knows: a Windows job that ends its processes with us. Must not know: which processes.

The last handle of the job is ours; Windows closes it when we end in whichever way, and with it ends every process in
the job (JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, winnt.h). A second net: the sampler also ends when its input does.
"""

from __future__ import annotations

import ctypes
import logging
import sys

_log = logging.getLogger("gpumon.sampler")

_EXTENDED_LIMIT_INFORMATION = 9  # JobObjectExtendedLimitInformation
_KILL_ON_JOB_CLOSE = 0x2000


class _BasicLimits(ctypes.Structure):
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


class _ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION, winnt.h; the counters are six 64-bit numbers."""

    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory_limit", ctypes.c_size_t),
        ("job_memory_limit", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


_jobs: list[int] = []  # one for the whole program; its handle is never closed by us


def tie(process_handle: int) -> bool:
    """Let the process end with this program. False (and a line in the log) when Windows refuses."""
    if sys.platform == "win32":
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        if not _jobs:
            kernel32.CreateJobObjectW.restype = ctypes.c_void_p
            job = kernel32.CreateJobObjectW(None, None)
            limits = _ExtendedLimits()
            limits.basic.limit_flags = _KILL_ON_JOB_CLOSE
            if not job or not kernel32.SetInformationJobObject(
                ctypes.c_void_p(job), _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
            ):
                _log.warning("no job for the sampler: error %d", ctypes.get_last_error())
                return False
            _jobs.append(job)
        if kernel32.AssignProcessToJobObject(ctypes.c_void_p(_jobs[0]), ctypes.c_void_p(process_handle)):
            return True
        _log.warning("the sampler is not tied to this program: error %d", ctypes.get_last_error())
    return False
