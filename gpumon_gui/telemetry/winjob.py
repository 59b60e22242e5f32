"""Knows: a Windows job that ends its processes with us. Must not know: which processes.

The last handle of the job is ours; Windows closes it when we end in whichever way, and with it ends every process in
the job. A second net: the sampler also ends when its input does.
"""

from __future__ import annotations

import logging
import sys

from gpumon_gui.core.windows_job import Job

_log = logging.getLogger("gpumon.sampler")

_jobs: list[Job] = []  # one for the whole program; its handle is never closed by us


def tie(process_handle: int) -> bool:
    """Let the process end with this program. False (and a line in the log) when Windows refuses."""
    if sys.platform == "win32":
        try:
            if not _jobs:
                _jobs.append(Job())
            _jobs[0].take(process_handle)
        except OSError as error:
            _log.warning("the sampler is not tied to this program: %s", error)
        else:
            return True
    return False
