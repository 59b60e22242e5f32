"""The wheel carries what the program reads."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the checkout, built with what is installed: no network."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("gpumon_gui", "resources", "packaging"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.mo"))
    for name in ("pyproject.toml", "README.md", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (built,) = (folder / "dist").glob("*.whl")
    return built


def test_it_holds_every_module_and_every_resource(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "gpumon_gui").rglob("*.py")}
    wanted |= {
        f"gpumon_gui/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "resources").rglob("*")
        if path.is_file() and path.suffix != ".mo"
    }
    assert sorted(wanted - held) == []


def test_chinese_works_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = """
import sys
from gpumon_gui.core import messages
assert messages.__file__.startswith(sys.argv[1]), messages.__file__
assert messages.set_language("zh_CN") == "zh_CN"
assert messages._("Power limit") == "功耗上限"
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_both_commands_are_declared(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
    text = archive.read(name).decode()
    assert "[console_scripts]\ngpumon = " in text
    assert "[gui_scripts]\ngpumon-gui = " in text
