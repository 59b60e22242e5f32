"""Where GPUMon writes: the user's folders, or beside a portable program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import pytest

from gpumon_gui.cli.main import run
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.system import paths


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a frozen program that is this one."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gpumon-gui.exe"))
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="the XDG base directories are Linux's")
def test_linux_uses_the_base_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    found = paths.folders()
    assert (found.config, found.data) == (tmp_path / "CONFIG/gpumon", tmp_path / "DATA/gpumon")
    assert found.state == tmp_path / "STATE/gpumon"
    assert found.logs.is_relative_to(found.state)
    assert not found.is_portable


@pytest.mark.skipif(sys.platform != "linux", reason="accounts of containers")
def test_an_account_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_entry(uid: int) -> NoReturn:
        raise KeyError(uid)

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", no_entry)
    with pytest.raises(GpumonError, match="set the environment variable HOME"):
        paths.folders()
    assert run(["self-test"]) == 0


@pytest.mark.skipif(sys.platform != "win32", reason="%LOCALAPPDATA% is Windows'")
def test_windows_uses_the_local_profile() -> None:
    found = paths.folders()
    assert found.config == found.data == found.state
    assert found.data.parts[-3:] == ("AppData", "Local", "GPUMon")
    assert found.logs.is_relative_to(found.data)


def test_the_mark_beside_the_program_keeps_everything_there(frozen: Path) -> None:
    (frozen / paths.PORTABLE_MARK).touch()
    found = paths.folders()
    data = frozen / "data"
    assert found == paths.Folders(data, data, data / "logs", data, is_portable=True)
    assert not found.data.exists()


def test_an_installed_program_is_not_portable(frozen: Path) -> None:
    found = paths.folders()
    assert not found.is_portable
    assert not found.data.is_relative_to(frozen)


def test_a_checkout_is_never_portable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tmp_path / paths.PORTABLE_MARK).touch()
    assert not paths.folders().is_portable
