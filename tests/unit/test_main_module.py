"""Which program ``python -m gpumon_gui`` is."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gpumon_gui import __main__ as entry

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {"gpumon_gui.telemetry.child": "main", "gpumon_gui.cli.main": "run", "gpumon_gui.app.main": "run"}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """Which of the three programs was run with what; none of them really is."""
    calls: list[tuple[str, list[str]]] = []

    def stand_in(name: str, function: str) -> ModuleType:
        module = ModuleType(name)

        def run(argv: list[str]) -> int:
            calls.append((name.split(".")[1], argv))
            return 7

        setattr(module, function, run)
        return module

    for name, function in PROGRAMS.items():
        package, _, module_name = name.rpartition(".")
        module = stand_in(name, function)
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setattr(importlib.import_module(package), module_name, module, raising=False)
    return calls


@pytest.mark.parametrize(
    ("argv", "program"),
    [
        ([], "app"),
        (["--demo"], "app"),
        (["--screenshot", "x.png"], "app"),
        (["--sampler-child", "--parent", "1"], "telemetry"),
        (["snapshot", "--json"], "cli"),
        (["self-test"], "cli"),
        (["--lang", "zh_CN", "snapshot"], "cli"),
        (["--lang=zh_CN", "diagnose"], "cli"),
        (["--lang", "zh_CN"], "app"),
        (["--lang"], "app"),
        (["-h"], "cli"),
        (["--help"], "cli"),
        (["--version"], "cli"),
    ],
)
def test_the_first_word_decides(
    argv: list[str], program: str, ran: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpumon_gui", *argv])
    assert entry.main() == 7
    assert ran == [(program, argv)]


@pytest.mark.parametrize(
    ("file", "argv", "program"),
    [
        ("gpumon-gui.exe", [], "app"),
        ("GPUMon-GUI.EXE", ["--help"], "app"),
        ("gpumon-gui.exe", ["snapshot"], "app"),  # the window's command line refuses it
        ("gpumon-gui.exe", ["--sampler-child", "--parent", "1"], "telemetry"),
        ("gpumon.exe", [], "cli"),
        ("gpumon.exe", ["--scenario", "x"], "cli"),
        ("gpumon.exe", ["snapshot"], "cli"),
        ("gpumon.exe", ["--sampler-child", "--parent", "1"], "telemetry"),
        ("gpumon", ["self-test"], "cli"),
        ("gpumon-gui", [], "app"),
    ],
)
def test_in_a_frozen_build_the_executable_decides(
    file: str, argv: list[str], program: str, ran: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", f"/somewhere/{file}")
    monkeypatch.setattr(sys, "argv", [file, *argv])
    assert entry.main() == 7
    assert ran == [(program, argv)]


def python_m(cwd: Path, search: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``python -m gpumon_gui`` as typed in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "gpumon_gui", *words],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(search), str(ROOT)])},
        check=False,
    )


def test_the_users_own_files_are_not_taken_for_modules(tmp_path: Path) -> None:
    for name in ("argparse", "json", "platform", "psutil", "pynvml", "msgspec"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} of the user')")
    done = python_m(tmp_path, ROOT, "snapshot", "--scenario", "one-gpu-training")
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_while_modules_are_loaded_leaves_no_trace(tmp_path: Path) -> None:
    folder, search = tmp_path / "a", tmp_path / "b"
    folder.mkdir()
    search.mkdir()
    (search / "argparse.py").write_text("raise KeyboardInterrupt")
    done = python_m(folder, search, "snapshot")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_help_names_the_options_of_both_programs() -> None:
    command = [sys.executable, "-m", "gpumon_gui", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60).stdout
    assert "diagnose" in said
    assert "--demo" in said
