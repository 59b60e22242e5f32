"""The installer, silent: everything arrives, an upgrade ends the running copy, everything but the user's data goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpumon_gui import __version__
from tests.frozen.conftest import seen

FILES = ["_internal", "gpumon-gui.exe", "gpumon.exe", "licences", "uninstall.exe"]
ABSENT = {"files": None, "menu": False, "version": None, "autostart": None, "type": None, "command": None}


@pytest.fixture(scope="module")
def found(installer: Path) -> dict[str, Any]:
    """One life of an installation."""
    return seen("setup.py", installer, seconds=240)


def test_the_machine_was_clean(found: dict[str, Any]) -> None:
    assert found["before"] | ABSENT == found["before"]


def test_it_installs_for_the_user(found: dict[str, Any]) -> None:
    installed = found["installed"]
    assert installed["code"] == 0
    assert installed["files"] == FILES
    assert installed["menu"]
    assert installed["version"] == __version__
    assert installed["app_path"].endswith(r"\Programs\GPUMon\gpumon.exe")


def test_autostart_only_when_asked_for(found: dict[str, Any]) -> None:
    assert found["installed"]["autostart"].endswith('\\Programs\\GPUMon\\gpumon-gui.exe" --tray')
    assert found["installed"]["autostart"].startswith('"')


def test_a_recording_opens_with_it(found: dict[str, Any]) -> None:
    assert found["installed"]["type"] == "GPUMon.Recording"
    assert found["installed"]["command"].endswith('gpumon-gui.exe" --replay "%1"')
    assert found["opened"] == ["记录 1.gpumon – GPUMon"]


def test_an_upgrade_ends_the_running_copy_and_leaves_nothing_old(found: dict[str, Any]) -> None:
    upgraded = found["upgraded"]
    assert upgraded["code"] == 0
    assert found["running_ended"]
    assert upgraded["files"] == FILES
    assert not upgraded["older"]
    assert upgraded["data"]
    assert found["self_test"] == 0


def test_uninstalling_leaves_only_what_is_the_users(found: dict[str, Any]) -> None:
    gone = found["uninstalled"]
    assert found["running_ended_again"]
    assert gone["files"] == ["notes of the user.txt"]
    assert gone["data"]
    assert gone | {**ABSENT, "files": gone["files"], "app_path": None} == gone
    assert found["windows_left"] == []
