"""Knows: the checkout's .venv: made, kept at the pinned versions, remade when broken. Must not know: who runs in it."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from report import SetupFailed, say, warn
from system_packages import apt_install

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
RUN = ("requirements.txt",)
DEVELOP = ("requirements.txt", "requirements-dev.txt")  # the last one names the first


def prepare(files: tuple[str, ...]) -> None:
    """Afterwards .venv holds exactly the versions of ``files`` and finds this checkout. Needs no network when it
    already does. Raises SetupFailed."""
    if not _works():
        _create()
    if not all(_is_installed(files[: n + 1]) for n in range(len(files))):
        _install(files)
    _point_at_checkout()


def compile_translations() -> None:
    """Compile the catalogues that changed since they were compiled."""
    sources = list((ROOT / "resources" / "locale").glob("*/LC_MESSAGES/*.po"))
    stale = [
        po
        for po in sources
        if not po.with_suffix(".mo").is_file() or po.with_suffix(".mo").stat().st_mtime < po.stat().st_mtime
    ]
    if stale and _call([str(PYTHON), str(ROOT / "packaging" / "translations.py"), "compile"]).returncode != 0:
        warn("The translations cannot be compiled, so everything is in English.")


def _works() -> bool:
    """Whether .venv's Python starts and is new enough: it may have been removed from the system."""
    probe = "import sys; sys.exit(sys.version_info < (3, 11))"
    if not (PYTHON.is_file() and (VENV / "pyvenv.cfg").is_file()):
        return False
    try:
        return _call([str(PYTHON), "-c", probe]).returncode == 0
    except OSError:
        return False


def _create() -> None:
    if importlib.util.find_spec("ensurepip") is None:  # Debian ships it apart
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        is_root = sys.platform != "win32" and os.geteuid() == 0
        if is_root:
            say(f"Installing system packages: {package}")
        if not (is_root and apt_install([package])):
            raise SetupFailed(f"Python's venv module is missing. Install it:  sudo apt-get install {package}")
    say(f"{'Remaking' if VENV.exists() else 'Creating'} {VENV}")
    # Not this interpreter itself when it is a virtual one: --clear must not remove what runs.
    base = getattr(sys, "_base_executable", None) or sys.executable
    made = _call([base, "-m", "venv", "--clear", str(VENV)])
    if made.returncode != 0:
        raise SetupFailed(f"{VENV} cannot be made: {_last_line(made)}")


def _install(files: tuple[str, ...]) -> None:
    for name in DEVELOP:
        _stamp(name).unlink(missing_ok=True)
    if _call([str(PYTHON), "-c", "import pip"]).returncode != 0:  # an interrupted creation
        _create()
    requirements = ROOT / "packaging" / files[-1]
    say(f"Installing {requirements.name} into {VENV} (the first time about 200 MB, minutes)")
    words = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"]
    done = _call([*words, "-r", str(requirements)])
    if done.returncode != 0:
        raise SetupFailed(
            f"pip could not install {requirements.name}: {_last_line(done)}\n"
            "Check the network, and the index and proxy that 'pip config list' shows; then start again. "
            "To see all that pip says:\n"
            f"  {PYTHON} -m pip install -r {requirements}"
        )
    for count in range(len(files)):
        stamp = _stamp(files[count])
        partial = stamp.with_name(stamp.name + ".partial")
        partial.write_text(_digest(files[: count + 1]), encoding="ascii")
        partial.replace(stamp)


def _is_installed(files: tuple[str, ...]) -> bool:
    try:
        return _stamp(files[-1]).read_text(encoding="ascii") == _digest(files)
    except (OSError, UnicodeDecodeError):
        return False


def _stamp(name: str) -> Path:
    return VENV / f".installed-{name}"


def _digest(files: tuple[str, ...]) -> str:
    # Without the line ends, which a checkout on Windows may change.
    texts = [(ROOT / "packaging" / name).read_text(encoding="utf-8") for name in files]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _point_at_checkout() -> None:
    """Let .venv import this checkout from any folder. A relative line: it survives a move and has no encoding."""
    folders = [VENV / "Lib" / "site-packages", *VENV.glob("lib/python3.*/site-packages")]
    for folder in folders:
        link = folder / "gpumon-checkout.pth"
        line = Path(os.path.relpath(ROOT, folder)).as_posix() + "\n"
        if folder.is_dir() and not (link.is_file() and link.read_text(encoding="ascii", errors="replace") == line):
            link.write_text(line, encoding="ascii")


def _call(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The line that says most: pip's last ERROR, otherwise the last one."""
    lines = [line.strip() for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [f"exit code {done.returncode}"])[-1]
