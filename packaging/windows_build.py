"""Knows: what the Windows programs are made into, in which order. Must not know: how each tool works.

On Linux everything Windows runs in the lab (winlab/), on Windows itself. Results, in dist/: the folder ``GPUMon``, the
same as a zip that keeps its data beside the program, the installer, and their checksums.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import audit
import environment
import licences
from environment import PYTHON, ROOT
from report import SetupFailed, say

SOURCES = ROOT / "packaging" / "windows"
MADE = ROOT / "build" / "windows"
WORK = ROOT / "build" / "pyinstaller"
DIST = ROOT / "dist"
FOLDER = DIST / "GPUMon"
PROGRAMS = {"gpumon-gui": "GPU monitor", "gpumon": "GPU monitor, command line"}
BUILD = ("requirements.txt", "requirements-build.txt")
#: What a size or time may be.
UNPACKED_MB, INSTALLER_MB, START_S = 110, 45, 3.0
_MB = 1_000_000
_PORTABLE = """GPUMon keeps its settings, data and logs in the folder "data" beside this file.
Without this file it keeps them in your user profile.
"""


class Tools(Protocol):
    """Where Windows programs run."""

    site_packages: Path
    python_folder: Path
    python_version: str

    def python(self, words: Sequence[str | Path]) -> int:
        """Windows Python; the exit code."""
        ...

    def system_dlls(self) -> set[str]:
        """What Windows brings itself, in small letters."""
        ...

    def start_seconds(self, program: Path) -> float:
        """From start to the first window of the program on a synthetic machine; the best of three runs."""
        ...


@dataclass
class Table:
    """What was made and how long each step took."""

    steps: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Say and time a step."""
        say(f"--- {name}")
        start = time.monotonic()
        yield
        self.steps.append((name, time.monotonic() - start))

    def show(self, figures: Sequence[tuple[str, float, float, str]]) -> None:
        """Print the times, then the figures beside their budgets."""
        for name, seconds in self.steps:
            say(f"{name:24} {seconds:7.1f} s")
        say("")
        for name, value, budget, unit in figures:
            say(f"{name:24} {value:7.1f} {unit:2} of {budget:5.1f} ({value / budget:4.0%})")


def build() -> int:
    """Make everything; 0 when it is well and within the budgets. Raises SetupFailed."""
    table = Table()
    with table.step("tools"):
        environment.prepare(BUILD if sys.platform == "win32" else environment.RUN)
        environment.compile_translations()
        tools = _tools()
    version = program_version()
    with table.step("icon, version"):
        _make_inputs(version)
    with table.step("programs"):
        _freeze(tools)
    with table.step("licences, audit"):
        modules = licences.frozen_modules(WORK)
        licences.gather(FOLDER / "licences", tools.site_packages, tools.python_folder, modules, tools.python_version)
        found = audit.faults(FOLDER, tools.system_dlls())
        if found:
            raise SetupFailed("the programs are not right:\n  " + "\n  ".join(found))
    sign([FOLDER / f"{name}.exe" for name in PROGRAMS])
    with table.step("portable form"):
        portable = make_portable(version)
    with table.step("installer"):
        installer = make_installer(version)
    with table.step("start"):
        start_s = tools.start_seconds(FOLDER / "gpumon-gui.exe")
        if start_s > START_S:  # perhaps only because of other work on this machine
            start_s = min(start_s, tools.start_seconds(FOLDER / "gpumon-gui.exe"))
    _write_checksums((portable, installer))
    unpacked = sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file())
    figures = [
        ("unpacked", unpacked / _MB, UNPACKED_MB, "MB"),
        ("installer", installer.stat().st_size / _MB, INSTALLER_MB, "MB"),
        ("start to window", start_s, START_S, "s"),
    ]
    say("")
    table.show(figures)
    say(f"{portable.name} {portable.stat().st_size / _MB:.1f} MB")
    over = [name for name, value, budget, _unit in figures if value > budget]
    if over:
        say(f"over the budget: {', '.join(over)}")
    return 1 if over else 0


def program_version() -> str:
    """Of the checkout."""
    text = (ROOT / "gpumon_gui" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([\d.]+)', text, re.MULTILINE)
    if found is None:
        raise SetupFailed("gpumon_gui/__init__.py has no __version__")
    return found[1]


def make_portable(version: str) -> Path:
    """The folder as a zip, with the mark that keeps the data beside the program."""
    file = DIST / f"GPUMon-{version}-windows-x64-portable.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for source in sorted(FOLDER.rglob("*")):
            if source.is_file():
                target.write(source, Path("GPUMon") / source.relative_to(FOLDER))
        target.writestr("GPUMon/portable.txt", _PORTABLE.replace("\n", "\r\n"))
    return file


def make_installer(version: str, *, fast: bool = False, target: Path | None = None) -> Path:
    """The installer; ``fast`` packs less tightly. Raises SetupFailed when NSIS is missing."""
    file = target or DIST / f"GPUMon-{version}-windows-x64-setup.exe"
    values = {
        "VERSION": version,
        "SOURCE": FOLDER,
        "ICON": MADE / "gpumon.ico",
        "OUTPUT": file,
        "KILOBYTES": sum(item.stat().st_size for item in FOLDER.rglob("*") if item.is_file()) // 1024,
    }
    words = [_makensis(), "-V2", "-WX", *(f"-D{name}={value}" for name, value in values.items())]
    if fast:
        words.append("-DFAST")
    command = os.environ.get("GPUMON_SIGN")
    if command:
        words.append(f"-DSIGN={command.replace('{file}', '%1')}")
    done = subprocess.run([*words, str(SOURCES / "installer.nsi")], stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetupFailed(f"makensis failed with exit code {done.returncode}")
    sign([file])
    return file


def sign(files: Sequence[Path]) -> None:
    """Sign with the command in GPUMON_SIGN, in which ``{file}`` stands for the file; without it, not at all."""
    command = os.environ.get("GPUMON_SIGN")
    if not command:
        return
    for file in files:
        words = [word.replace("{file}", str(file)) for word in shlex.split(command, posix=os.name == "posix")]
        if subprocess.run(words, stdin=subprocess.DEVNULL).returncode != 0:
            raise SetupFailed(f"{file.name} could not be signed: {words[0]} failed")


def _make_inputs(version: str) -> None:
    shutil.rmtree(MADE, ignore_errors=True)
    MADE.mkdir(parents=True)
    words = [str(PYTHON), str(SOURCES / "icon.py"), str(ROOT / "resources/icons/app.svg"), str(MADE / "gpumon.ico")]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    if done.returncode != 0:
        raise SetupFailed("the icon could not be drawn")
    for name, title in PROGRAMS.items():
        (MADE / f"{name}.version").write_text(_version_resource(name, title, version), encoding="utf-8")


def _version_resource(name: str, title: str, version: str) -> str:
    """PyInstaller's form of the version resource: Explorer's "Details", Task Manager's names."""
    numbers = tuple([*map(int, version.split(".")), 0, 0, 0][:4])
    words = {
        "CompanyName": "The GPUMon developers",
        "FileDescription": f"GPUMon: {title}" if name == "gpumon" else "GPUMon",
        "FileVersion": version,
        "InternalName": name,
        "LegalCopyright": "GNU General Public License, version 3 or later",
        "OriginalFilename": f"{name}.exe",
        "ProductName": "GPUMon",
        "ProductVersion": version,
    }
    strings = ", ".join(f"StringStruct({key!r}, {value!r})" for key, value in words.items())
    return (
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3F, flags=0, OS=0x40004, "
        "fileType=1, subtype=0, date=(0, 0)), kids=[StringFileInfo([StringTable('040904B0', ["
        f"{strings}])]), VarFileInfo([VarStruct('Translation', [1033, 1200])])])\n"
    )


def _freeze(tools: Tools) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    quiet = ("--noconfirm", "--log-level", "WARN")
    places = ("--distpath", DIST, "--workpath", WORK)
    code = tools.python([SOURCES / "freeze.py", *quiet, *places, SOURCES / "gpumon.spec"])
    if code != 0 or not (FOLDER / "gpumon.exe").is_file():
        raise SetupFailed(f"PyInstaller failed with exit code {code}")


def _makensis() -> str:
    places = [Path(os.environ.get(name, "C:/")) / "NSIS/makensis.exe" for name in ("ProgramFiles(x86)", "ProgramFiles")]
    found = shutil.which("makensis") or next((str(place) for place in places if place.is_file()), None)
    if found is None:
        raise SetupFailed("NSIS is not installed, so there is no installer (https://nsis.sourceforge.io, version 3)")
    return found


def _write_checksums(files: Sequence[Path]) -> None:
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


def _tools() -> Tools:
    if sys.platform == "win32":
        from build_native import NativeTools

        return NativeTools()
    from build_lab import LabTools

    return LabTools()
