"""Knows: where the window logs to. Must not know: what is logged."""

from __future__ import annotations

import logging

from gpumon_gui import __version__
from gpumon_gui.app.arguments import Arguments
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.system.log_file import LogFile
from gpumon_gui.system.paths import folders


def open_log(arguments: Arguments) -> LogFile:
    """The log of this window, open. A picture leaves no trace, an account without a home only lines in memory."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    folder = None
    if arguments.screenshot is None:
        try:
            folder = folders().logs
        except GpumonError as error:
            logging.getLogger("gpumon").info("no log file: %s", error)
    log = LogFile(folder)
    log.open()
    # The terminal hears of faults only; the file of everything.
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)
    logging.getLogger("gpumon").info("GPUMon %s starts", __version__)
    return log
