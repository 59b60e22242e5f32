"""What a killed GPUMon left running is ended by the next one; what a living one started is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gpumon_gui.diagnosis import orphans

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc; on Windows a job ends what was started")

STUBBORN = """#!/bin/sh
trap '' TERM INT HUP
echo $$ > "$1"
while :; do sleep 3601; done
"""
ASKS = """
import sys
from gpumon_gui.diagnosis.gateway import Command, RESULT
from gpumon_gui.diagnosis.live_gateway import LiveGateway
LiveGateway().run(Command((sys.argv[1], sys.argv[2], RESULT), timeout_s=600, takes_result=True))
"""


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process that waits for a program which listens to nobody, and that program's number."""
    script, number = tmp_path / "stubborn", tmp_path / "pid"
    script.write_text(STUBBORN)
    script.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-c", ASKS, str(script), str(number)], env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    while not (number.exists() and number.read_text().strip()):
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.02)  # it waits for the program
    pid = int(number.read_text())
    yield process, pid
    process.kill()
    process.communicate()
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def test_what_a_killed_one_left_is_ended_and_removed(
    asking: tuple[subprocess.Popen[bytes], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, pid = asking
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stubborn = psutil.Process(pid)
    family = [stubborn, *stubborn.children(recursive=True)]
    assert list(tmp_path.glob("gpumon-*"))
    orphans.end_orphans.__wrapped__()  # its own, and still waited for
    assert all(each.is_running() for each in family)
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    assert stubborn.is_running()
    orphans.end_orphans.__wrapped__()
    assert psutil.wait_procs(family, timeout=20)[1] == []
    assert list(tmp_path.glob("gpumon-*")) == []


def test_a_number_that_was_given_again_is_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mark names when its owner was started: our own number with another beginning is not us."""
    mark = orphans.new_mark()
    number, born, token = mark.split("-")
    assert int(number) == os.getpid()
    command = [sys.executable, "-c", "input()"]
    old = {**os.environ, orphans.MARK: f"{number}-{int(born) - 1}-{token}"}
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, env=old) as left,
        subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, orphans.MARK: mark}) as mine,
    ):
        orphans.end_orphans.__wrapped__()
        assert left.wait(20) == -signal.SIGKILL
        assert orphans.marked(mark) == [mine.pid]
        mine.communicate(b"\n", timeout=20)


def test_an_owner_that_cannot_be_looked_at_is_there(
    asking: tuple[subprocess.Popen[bytes], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many open files, or a /proc that hides it."""
    _process, pid = asking
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(orphans, "_born_of", lambda _pid: "")
    orphans.end_orphans.__wrapped__()
    assert psutil.Process(pid).is_running()
    assert list(tmp_path.glob("gpumon-*"))


def test_without_a_place_for_temporary_files_nothing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A full disk: nobody who opens a window can do anything about that here."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "none")])
    orphans.end_orphans.__wrapped__()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="makes a pid namespace")
def test_what_another_namespace_started_is_left_alone() -> None:
    """Its owner's number is not one of ours: a container's process may well be alive."""
    mark = f"{2**22 + 1}-1-0"  # nobody here has that number
    ready = "print('ready', flush=True); input()"
    command = ["unshare", "--pid", "--fork", sys.executable, "-c", ready]
    environ = {**os.environ, orphans.MARK: mark}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as made:
        assert made.stdout is not None
        if made.stdout.readline() != b"ready\n":
            pytest.skip("this container may not make namespaces")
        (inside,) = psutil.Process(made.pid).children()
        orphans.end_orphans.__wrapped__()
        assert inside.is_running()
        assert inside.status() != psutil.STATUS_ZOMBIE
        made.communicate(b"\n", timeout=20)
