"""Which program ``python -m gpumon_gui`` is."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from gpumon_gui import __main__ as entry

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
