"""Knows: Linux' files about processes. Must not know: what is made of them.

Two small reads per process and look (``stat``, ``io``); psutil's equivalents read and parse the same files several
times over. Format: kernel, Documentation/filesystems/proc.rst and proc_pid_stat(5).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from gpumon_gui.core.boot import boot_first, boot_now
from gpumon_gui.core.values import Missing, Reason, Value, checked
from gpumon_gui.telemetry.host.backend import Facts, Gone, Hidden, Vital
from gpumon_gui.telemetry.host.cpu import SOURCE, TICKS_PER_S
from gpumon_gui.telemetry.host.text import clean, decode, shortened

_PAGE = os.sysconf("SC_PAGE_SIZE") if sys.platform != "win32" else 4096
_COMM_LENGTH = 15  # TASK_COMM_LEN less the final zero
_INIT_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO, include/linux/proc_ns.h
_ENDED = Missing(Reason.NOT_READ, SOURCE, "zombie")


class Procfs:
    """Asks the files below ``proc``."""

    def __init__(self, proc: str) -> None:
        self._proc = proc
        self._boot_utc_s: float | None = None
        self._users: dict[int, str] = {}

    def vital(self, pid: int) -> Vital:
        """From ``stat`` and ``io``."""
        try:
            label, fields = self._stat(pid)
        except PermissionError:
            raise Hidden(pid) from None
        except Gone:
            if self._exists(pid):  # /proc mounted with hidepid=2
                raise Hidden(pid) from None
            raise
        zombie = fields[0] in (b"Z", b"X")
        if zombie:
            rss: Value = _ENDED
            threads: Value = _ENDED
            read: Value = _ENDED
            write: Value = _ENDED
        else:
            rss = checked("process_rss_bytes", int(fields[21]) * _PAGE, SOURCE)
            threads = checked("process_threads", int(fields[17]), SOURCE)
            read, write = self._io(pid)
        return Vital(
            start=int(fields[19]) / TICKS_PER_S,
            label=label,
            ppid=int(fields[1]),
            zombie=zombie,
            cpu_s=(int(fields[11]) + int(fields[12])) / TICKS_PER_S,
            rss_bytes=rss,
            threads=threads,
            read_bytes=read,
            write_bytes=write,
        )

    def facts(self, pid: int, label: str) -> Facts:
        """From ``cmdline``, ``exe``, ``environ`` (its PATH only) and the owner of the folder."""
        start = int(self._stat(pid)[1][19]) / TICKS_PER_S
        command = tuple(self._optional(pid, "cmdline").rstrip(b"\0").split(b"\0"))
        if command == (b"",):
            command = ()
        executable = self._executable(pid)
        return Facts(
            started_utc_s=self._boot() + start,
            name=_full_name(label, command, executable),
            command=shortened(tuple(decode(argument) for argument in command)),
            executable=executable,
            user=self._user(pid),
            search_path=self._search_path(pid),
        )

    def modules(self, pid: int) -> str | None:
        """``maps``."""
        try:
            return decode(self._read(pid, "maps"))
        except PermissionError:
            return None

    def pids(self) -> list[int]:
        """Folders with a number for a name."""
        return [int(name) for name in os.listdir(self._proc) if name.isdecimal()]

    def label(self, pid: int) -> str:
        """``comm``."""
        return decode(self._read(pid, "comm").rstrip(b"\n"))

    def family(self, pid: int) -> tuple[str, int]:
        """From ``stat``."""
        label, fields = self._stat(pid)
        return label, int(fields[1])

    def parents(self, known: Mapping[int, int]) -> dict[int, int]:
        """One folder listing, and ``stat`` of those that are new."""
        found = {}
        for pid in self.pids():
            parent = known.get(pid)
            if parent is None:
                try:
                    parent = self.family(pid)[1]
                except (Gone, PermissionError):
                    continue
            found[pid] = parent
        return found

    def foreign_pids(self) -> bool:
        """Another pid namespace than the machine's first one, or Microsoft's kernel."""
        try:
            if os.readlink(os.path.join(self._proc, "self/ns/pid")) != _INIT_PID_NAMESPACE:
                return True
            with open(os.path.join(self._proc, "sys/kernel/osrelease"), "rb") as file:
                return b"microsoft" in file.read().lower()
        except OSError:
            return False

    def _stat(self, pid: int) -> tuple[str, list[bytes]]:
        raw = self._read(pid, "stat")
        # The name stands in brackets and may hold spaces, brackets and line ends.
        first, last = raw.find(b"("), raw.rfind(b")")
        fields = raw[last + 2 :].split()
        if first < 0 or len(fields) < 22:
            raise Gone(pid)  # cut short: it ended while being read
        return decode(raw[first + 1 : last]), fields

    def _exists(self, pid: int) -> bool:
        if self._proc != "/proc" or sys.platform == "win32" or pid <= 0:
            return False
        try:
            os.kill(pid, 0)  # signal 0 only asks
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return False  # it just ended, or just began: the next look tells

    def _io(self, pid: int) -> tuple[Value, Value]:
        try:
            raw = self._read(pid, "io")
        except PermissionError:
            denied = Missing(Reason.NO_PERMISSION, SOURCE)
            return denied, denied
        except Gone:
            absent = Missing(Reason.NOT_SUPPORTED, SOURCE)  # a kernel without I/O accounting
            return absent, absent
        found = dict(line.split(b": ", 1) for line in raw.splitlines() if b": " in line)
        values: list[Value] = []
        for key, metric in ((b"read_bytes", "process_read_bytes"), (b"write_bytes", "process_write_bytes")):
            text = found.get(key, b"")
            values.append(
                checked(metric, int(text), SOURCE) if text.isdigit() else Missing(Reason.NOT_SUPPORTED, SOURCE)
            )
        return values[0], values[1]

    def _read(self, pid: int, name: str) -> bytes:
        try:
            fd = os.open(f"{self._proc}/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError:
            raise
        except OSError:
            raise Gone(pid) from None
        try:
            data = b""
            while more := os.read(fd, 1 << 17):
                data += more
            return data
        except PermissionError:
            raise
        except OSError:  # ESRCH: ended between opening and reading
            raise Gone(pid) from None
        finally:
            os.close(fd)

    def _optional(self, pid: int, name: str) -> bytes:
        try:
            return self._read(pid, name)
        except (PermissionError, Gone):  # a zombie has none
            return b""

    def _executable(self, pid: int) -> str:
        try:
            path = clean(os.readlink(f"{self._proc}/{pid}/exe"))
        except OSError:
            return ""
        return path.removesuffix(" (deleted)")

    def _search_path(self, pid: int) -> str:
        for variable in self._optional(pid, "environ").split(b"\0"):
            if variable.startswith(b"PATH="):
                return decode(variable[5:])
        return ""

    def _user(self, pid: int) -> str:
        try:
            uid = os.stat(f"{self._proc}/{pid}").st_uid
        except OSError:
            raise Gone(pid) from None
        if uid not in self._users:
            self._users[uid] = _user_name(uid)
        return self._users[uid]

    def _boot(self) -> float:
        if self._boot_utc_s is None:
            first = boot_first() if self._proc == "/proc" else None
            self._boot_utc_s = boot_now(self._proc) if first is None else first
        return self._boot_utc_s


def _full_name(label: str, command: tuple[bytes, ...], executable: str) -> str:
    """The kernel keeps 15 bytes of a name; the command line or the executable has the rest. PyTorch renames the main
    thread to ``pt_main_thread``, which tells a user nothing: then the executable's name is the name."""
    program = os.path.basename(executable)
    if label.startswith("pt_") and program:
        return program
    if len(label.encode("utf-8", "replace")) < _COMM_LENGTH:
        return label
    start = label.rstrip("\ufffd")
    argument = decode(os.path.basename(command[0])) if command else ""
    return next((name for name in (argument, program) if name.startswith(start)), label)


def _user_name(uid: int) -> str:
    if sys.platform == "win32":
        return str(uid)
    import pwd  # not on Windows

    try:
        return clean(pwd.getpwuid(uid).pw_name)
    except KeyError:
        return str(uid)
