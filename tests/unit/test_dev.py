"""The tools of packaging/ tell apart what is there from what is missing, and a crash from a pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import packaging_module

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def packaging(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of packaging/ import each other; nothing of it stays behind."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    for name in ("report", "system_packages", "environment", "stages"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.fixture
def stages(packaging: None) -> ModuleType:
    return packaging_module("stages")


@pytest.fixture
def system_packages(packaging: None) -> ModuleType:
    return packaging_module("system_packages")


@pytest.fixture
def checkout(packaging: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """packaging/environment.py over a checkout of two small requirement files."""
    environment = packaging_module("environment")
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging" / "requirements.txt").write_text("a==1\n", encoding="utf-8")
    (tmp_path / "packaging" / "requirements-dev.txt").write_text("b==1\n", encoding="utf-8")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    (tmp_path / ".venv").mkdir()
    return environment


class Calls:
    """Stands in for started programs: answers all with one exit code and keeps what was asked."""

    def __init__(self, code: int = 0, words: str = "") -> None:
        self.asked: list[list[str]] = []
        self.code, self.words = code, words

    def __call__(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        self.asked.append(words)
        code = self.code if "install" in words else 0
        return subprocess.CompletedProcess(words, code, "", self.words)

    @property
    def installs(self) -> list[str]:
        return [Path(words[-1]).name for words in self.asked if "install" in words]


def with_calls(environment: ModuleType, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> Calls:
    monkeypatch.setattr(environment, "_call", calls)
    monkeypatch.setattr(environment, "_works", lambda: True)
    return calls


def test_it_installs_once_and_again_when_a_pin_changes(checkout: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = with_calls(checkout, Calls(), monkeypatch)
    checkout.prepare(checkout.RUN)
    checkout.prepare(checkout.RUN)
    assert calls.installs == ["requirements.txt"]
    checkout.prepare(checkout.DEVELOP)
    checkout.prepare(checkout.RUN)  # part of what is there
    assert calls.installs == ["requirements.txt", "requirements-dev.txt"]
    (checkout.ROOT / "packaging" / "requirements.txt").write_text("a==2\n", encoding="utf-8")
    checkout.prepare(checkout.RUN)
    checkout.prepare(checkout.RUN)
    assert calls.installs[2:] == ["requirements.txt"]
    checkout.prepare(checkout.DEVELOP)
    assert calls.installs[3:] == ["requirements-dev.txt"]


def test_a_failed_install_is_not_taken_for_done(checkout: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = with_calls(checkout, Calls(1, "WARNING: x\nERROR: No matching distribution found for a==1\n"), monkeypatch)
    for _attempt in range(2):
        with pytest.raises(Exception, match=r"No matching distribution found for a==1\n.*pip config list"):
            checkout.prepare(checkout.RUN)
    assert len(calls.installs) == 2


def test_an_interrupted_install_is_not_taken_for_done(checkout: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with_calls(checkout, Calls(), monkeypatch)
    checkout.prepare(checkout.RUN)
    (checkout.ROOT / "packaging" / "requirements.txt").write_text("a==2\n", encoding="utf-8")

    def interrupted(words: list[str]) -> subprocess.CompletedProcess[str]:
        if "install" in words:
            raise KeyboardInterrupt
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(checkout, "_call", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checkout.prepare(checkout.RUN)
    (checkout.ROOT / "packaging" / "requirements.txt").write_text("a==1\n", encoding="utf-8")  # what was there before
    calls = with_calls(checkout, Calls(), monkeypatch)
    checkout.prepare(checkout.RUN)
    assert calls.installs == ["requirements.txt"]


def test_everything_installed_is_pinned() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = (ROOT / "packaging" / name).read_text(encoding="utf-8").splitlines()
        wanted = [line for line in lines if line and not line.startswith(("#", "-r "))]
        assert wanted
        assert [line for line in wanted if "==" not in line] == []


def test_stages_are_chosen_by_name_and_keep_their_order(stages: ModuleType) -> None:
    def names(*words: str) -> list[str]:
        return [stage.name for stage in stages.select(list(words))]

    assert names() == [stage.name for stage in stages.STAGES]
    assert names("qt", "unit") == ["unit", "unit-no-qt", "qt-offscreen", "qt-xvfb"]
    assert names("qt-xvfb") == ["qt-xvfb"]
    with pytest.raises(Exception, match=r"no stage is called 'quick'; there are: ruff, "):
        stages.select(["quick"])


def run_stage(
    stages: ModuleType, folder: Path, code: str | None, monkeypatch: pytest.MonkeyPatch, **how: bool
) -> object:
    (folder / "t").mkdir()
    if code is not None:
        (folder / "t" / "test_a.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(stages, "ROOT", folder)
    monkeypatch.setattr(stages, "PYTHON", Path(sys.executable))
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # pytest-qt fails where Qt is blocked for this test itself
    outcome = stages._run_tests(stages.Stage("t", "t", tests="t", environment=bare, **how))
    return outcome.ok, outcome.passed, outcome.failed, outcome.skipped


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("def test_a(): pass\nimport pytest\n@pytest.mark.skip\ndef test_b(): pass", (True, 1, 0, 1)),
        ("def test_a(): pass\ndef test_b(): assert 0", (False, 1, 1, 0)),
        ("import os\ndef test_a(): os._exit(0)", (False, 0, 1, 0)),  # ends the run, says that all is well
        ("import os, signal\ndef test_a(): os.abort()", (False, 0, 1, 0)),
        ("import nothing_of_this_name", (False, 0, 1, 0)),
        ("x = 1", (False, 0, 1, 0)),  # a file of tests without one
        (None, (True, 0, 0, 0)),  # no file of tests yet
    ],
)
def test_a_stage_tells_what_happened(
    stages: ModuleType, code: str | None, outcome: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_stage(stages, tmp_path, code, monkeypatch) == outcome


def test_without_qt_nothing_can_import_it_not_even_a_started_program(
    stages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
import subprocess, sys
import pytest
@pytest.mark.parametrize("name", ["PySide6", "PySide6.QtCore", "shiboken6", "pyqtgraph"])
def test_a(name):
    with pytest.raises(ModuleNotFoundError):
        __import__(name)
    assert subprocess.run([sys.executable, "-c", f"import {name}"], stderr=subprocess.DEVNULL).returncode == 1
"""
    assert run_stage(stages, tmp_path, code, monkeypatch, without_qt=True) == (True, 4, 0, 0)


def test_a_library_that_is_not_there_is_missing(system_packages: ModuleType) -> None:
    gone = system_packages.Need("libof-no-such-name.so.1", "libno1", "libno")
    assert system_packages.missing([gone]) == [gone]
    if sys.platform == "linux":
        assert system_packages.missing([system_packages.Need("libc.so.6", "libc6", "glibc")]) == []


def test_the_command_is_the_systems_own(system_packages: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_packages, "_is_root", lambda: False)
    needs = (system_packages.GRAPHICS[0], system_packages.XVFB)
    assert system_packages.command(needs, "debian") == "sudo apt-get install libegl1 xvfb"
    assert system_packages.command(needs, "fedora") == "sudo dnf install 'libEGL.so.1()(64bit)' xorg-x11-server-Xvfb"
    assert system_packages.command(needs, "arch") == "sudo pacman -S --needed libglvnd xorg-server-xvfb"
    assert "libEGL.so.1" in system_packages.command(needs, "")


def test_a_machine_that_cannot_have_the_lab_is_told_so(
    stages: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stages.winlab, "cannot_run", lambda: "no root here")
    assert stages.run((stages.Stage("w", "Windows", tests="t", lab=True),)) == 0
    assert "(not run: no root here)" in capsys.readouterr().out
