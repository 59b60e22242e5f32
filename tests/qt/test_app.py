"""The program as a user starts it: a process of its own, its output, its exit code, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gpumon_gui.app.signals import EndSignals
from gpumon_gui.diagnosis.orphans import MARK

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60


def environment(**changes: str | None) -> dict[str, str]:
    """This process's environment without a display, with changes; None takes a variable away."""
    result = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    result["QT_QPA_PLATFORM"] = "offscreen"
    result["PYTHONPATH"] = str(ROOT)
    for name, value in changes.items():
        result.pop(name, None)
        if value is not None:
            result[name] = value
    return result


def run(*words: str, **changes: str | None) -> subprocess.CompletedProcess[str]:
    """Run the window with this command line."""
    return subprocess.run(
        [sys.executable, "-m", "gpumon_gui", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        env=environment(**changes),
        check=False,
    )


@pytest.mark.parametrize("page", ["performance", "processes"])
def test_a_picture_of_a_page_without_a_display(tmp_path: Path, page: str) -> None:
    file = tmp_path / f"{page} 图.png"
    done = run("--screenshot", str(file), "--after", "0.5", "--page", page, "--size", "1000x700", QT_QPA_PLATFORM=None)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    image = QImage(str(file))
    assert (image.width(), image.height()) == (1000, 700)
    colours = {image.pixelColor(x, y).rgb() for x in range(0, 1000, 20) for y in range(0, 700, 20)}
    assert len(colours) > 3  # something is drawn


def test_the_picture_follows_theme_and_scale(tmp_path: Path) -> None:
    file = tmp_path / "x.png"
    words = ("--screenshot", str(file), "--after", "0.3", "--size", "1000x600", "--theme", "dark", "--lang", "zh_CN")
    assert run(*words, QT_SCALE_FACTOR="2").returncode == 0
    image = QImage(str(file))
    assert (image.width(), image.height()) == (2000, 1200)
    assert image.pixelColor(1000, 16).lightness() < 60


def test_the_demo_plays_the_recording_that_is_shipped(tmp_path: Path) -> None:
    file = tmp_path / "demo.png"
    done = run("--demo", "--screenshot", str(file), "--after", "2", "--size", "1000x700")
    assert (done.returncode, done.stderr) == (0, "")
    assert not QImage(str(file)).isNull()


@pytest.mark.skipif(sys.platform != "linux", reason="names of bytes")
def test_a_picture_goes_into_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"bilder\xff")
    folder.mkdir()
    file = folder / "图.png"
    done = run("--demo", "--screenshot", str(file), "--after", "0", "--size", "800x600")
    assert (done.returncode, done.stderr) == (0, "")
    assert not QImage.fromData(file.read_bytes()).isNull()


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
def test_a_picture_that_cannot_be_written_says_why() -> None:
    done = run("--demo", "--screenshot", "/dev/full", "--after", "0", "--size", "800x600")
    said = "gpumon-gui: /dev/full: cannot be written (No space left on device).\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_talkative_qt_does_not_crash_the_end(tmp_path: Path) -> None:
    words = ("--demo", "--screenshot", str(tmp_path / "x.png"), "--after", "0", "--size", "800x600")
    assert run(*words, QT_LOGGING_RULES="*=true").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends processes without asking them")
def test_ctrl_c_while_the_window_is_made_ends_without_a_trace() -> None:
    script = (
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs ignore it
        "from gpumon_gui.app import main\n"
        "main.parse = lambda words: os.kill(os.getpid(), signal.SIGINT)\n"
        "main.run([])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=environment(),
        check=False,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.skipif(sys.platform == "win32", reason="a Windows session always has a display")
def test_no_display_says_so_and_names_the_ways_without_one() -> None:
    done = run(QT_QPA_PLATFORM=None)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    for word in ("No display", "gpumon snapshot", "gpumon record", "--screenshot"):
        assert word in line


@pytest.mark.skipif(sys.platform == "win32", reason="X11")
def test_a_display_that_is_not_there_does_not_abort() -> None:
    done = run(QT_QPA_PLATFORM=None, DISPLAY=":4093")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "DISPLAY=:4093" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--page", "nowhere"), "nowhere"),
        (("--replay", "no-such-file.gpumon"), "no-such-file.gpumon"),
        (("--replay", str(ROOT / "pyproject.toml")), "pyproject.toml"),
        (("--scenario", "no-such-machine"), "no-such-machine"),
        (("--screenshot", "/no/such/folder/x.png"), str(Path("/no/such/folder"))),
    ],
)
def test_wrong_usage_and_unreadable_input_are_one_line(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("gpumon-gui: ")
    assert said in line


def test_wrong_usage_in_the_users_language() -> None:
    done = run("--lang", "zh_CN", "--replay", "no-such-file.gpumon")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_missing_qt_names_the_command(tmp_path: Path) -> None:
    blocker = "raise ModuleNotFoundError(\"No module named 'PySide6'\", name='PySide6')"
    package = tmp_path / "PySide6"
    package.mkdir()
    (package / "__init__.py").write_text(blocker, encoding="utf-8")
    done = run("--theme", "dark", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "pip install 'gpumon-gui[gui]'" in line


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends processes without asking them")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_window_and_sampler(name: str) -> None:
    number = signal.Signals[name]
    process = subprocess.Popen(
        [sys.executable, "-m", "gpumon_gui"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(QT_QPA_PLATFORM="offscreen"),
    )
    try:
        window = psutil.Process(process.pid)
        sampler = _wait_for_child(window)
        process.send_signal(number)
        _out, errors = process.communicate(timeout=TIMEOUT_S)
        assert (process.returncode, errors) == (0, b"")
        psutil.wait_procs([sampler], timeout=5)
        assert not sampler.is_running()
    finally:
        process.kill()
        process.communicate()


def test_a_signal_that_is_ignored_stays_so(qapp: QApplication) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a shell's trap
    try:
        signals = EndSignals()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        signals.close()
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform != "linux", reason="on Windows a job ends what was started")
def test_a_window_ends_what_a_killed_one_left() -> None:
    mark = {MARK: f"{2**22 + 1}-1-0"}  # nobody has that number
    left = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={**os.environ, **mark})
    window = subprocess.Popen(
        [sys.executable, "-m", "gpumon_gui", "--scenario", "one-gpu-training"],
        stderr=subprocess.PIPE,
        env=environment(QT_QPA_PLATFORM="offscreen"),
    )
    try:
        assert left.wait(TIMEOUT_S) == -signal.SIGKILL
        window.terminate()
        assert window.communicate(timeout=TIMEOUT_S)[1] == b""
    finally:
        for process in (left, window):
            process.kill()
            process.communicate()


def _wait_for_child(process: psutil.Process) -> psutil.Process:
    """The sampler of a window, as soon as it runs."""
    for _attempt in range(TIMEOUT_S * 20):
        found = [child for child in process.children() if "--sampler-child" in child.cmdline()]
        if found:
            return found[0]
        try:
            process.wait(0.05)
        except psutil.TimeoutExpired:
            continue
        break
    raise AssertionError("no sampler was started")
