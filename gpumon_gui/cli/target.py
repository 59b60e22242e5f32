"""Knows: what is watched: one running program, or whatever uses a GPU. Must not know: samples, verdicts."""

from __future__ import annotations

import getpass
import os
from typing import Protocol

import psutil

from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import _


class Target(Protocol):
    """What is watched."""

    @property
    def pid(self) -> int | None:
        """The process; None: everything."""
        ...

    @property
    def started_utc_s(self) -> float | None:
        """When it began."""
        ...

    @property
    def exit_code(self) -> int | None:
        """Known of programs we started only."""
        ...

    @property
    def is_ours(self) -> bool:
        """Whether we started it: then it is not left before its end."""
        ...

    def ended(self) -> bool:
        """Whether it is over."""
        ...


class Everything:
    """Whatever uses a GPU; never over."""

    pid: int | None = None
    started_utc_s: float | None = None
    exit_code: int | None = None
    is_ours = False

    def ended(self) -> bool:
        """Never."""
        return False


class Running:
    """A process that runs already, pinned to its start: another one with the same pid later is another one."""

    exit_code: int | None = None
    is_ours = False

    def __init__(self, pid: int) -> None:
        """Raises GpumonError when there is no such process."""
        try:
            self._process = psutil.Process(pid)
            if self._process.status() == psutil.STATUS_ZOMBIE:
                raise psutil.NoSuchProcess(pid)
            self.started_utc_s: float | None = self._process.create_time()
        except (psutil.NoSuchProcess, ValueError, OverflowError):
            raise GpumonError(_("there is no process {pid}.").format(pid=pid)) from None
        except psutil.AccessDenied:
            self.started_utc_s = None
        self.pid: int | None = pid

    def ended(self) -> bool:
        """Whether this very process is over."""
        try:
            return not self._process.is_running() or self._process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True
        except psutil.AccessDenied:
            return False

    def hidden(self) -> str | None:
        """What this account may not see of it, as a sentence; None when it may."""
        try:
            user = self._process.username()
            if user.rpartition("\\")[2] == getpass.getuser() or (hasattr(os, "geteuid") and os.geteuid() == 0):
                return None
        except (psutil.AccessDenied, KeyError, OSError):
            user = _("another user")
        except psutil.NoSuchProcess:
            return None
        message = _(
            "Process {pid} belongs to {user}: which framework it has loaded and what it reads cannot be seen from this "
            "account. Run GPUMon as that user or as administrator to see them."
        )
        return message.format(pid=self.pid, user=user)
