"""Standard streams that are closed, full or gone: the work is done all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpumon_gui.telemetry.recording.open import open_recording

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a shell and /dev/full")

ROOT = Path(__file__).resolve().parents[2]
MACHINE = ("--scenario", "one-gpu-training")


def shell(redirections: str, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The program started by a shell with these redirections."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "gpumon_gui", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=cwd,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_closed_stream_does_not_cost_the_snapshot(closed: str) -> None:
    done = shell(closed, "snapshot", *MACHINE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("GPU 0 ")


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", "2>/dev/full"])
def test_a_recording_needs_no_stream(closed: str, tmp_path: Path) -> None:
    file = tmp_path / "x.gpumon"
    assert shell(closed, "record", "-o", str(file), "--seconds", "0.5", *MACHINE).returncode == 0
    recording = open_recording(file)
    assert recording.complete
    recording.close()


@pytest.mark.parametrize(("place", "why"), [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")])
@pytest.mark.parametrize("words", [("snapshot", *MACHINE), ("snapshot", "--json", *MACHINE), ("self-test",)])
def test_output_that_cannot_be_written_is_one_line(words: tuple[str, ...], place: str, why: str) -> None:
    done = shell(place, *words)
    assert (done.returncode, done.stderr) == (2, f"gpumon: the output cannot be written ({why}).\n")


def test_the_window_starts_without_streams(tmp_path: Path) -> None:
    pytest.importorskip("PySide6")
    file = tmp_path / "x.png"
    done = shell("<&- >&- 2>&-", "--demo", "--screenshot", str(file), "--after", "0", "--size", "800x600")
    assert done.returncode == 0
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_deleted_working_folder_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = [sys.executable, "-m", "gpumon_gui", "record", "-o", "x.gpumon", *MACHINE]
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=gone,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "gpumon: x.gpumon: cannot be written (No such file or directory).\n",
    )


def test_a_name_with_a_line_end_is_told_in_one_line(tmp_path: Path) -> None:
    done = shell("", "record", "-o", "no\nwhere/x.gpumon", *MACHINE, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"gpumon: {tmp_path}/no\\nwhere: no such folder.\n")
