"""The files for Linux' menus and software centres are valid and name what there is."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "packaging/linux"
METAINFO = FOLDER / "org.gpumon.GPUMon.metainfo.xml"


@pytest.mark.parametrize(
    "words",
    [
        ("desktop-file-validate", "gpumon.desktop", "gpumon-recording.desktop"),
        ("appstreamcli", "validate", "--no-net", METAINFO.name),
    ],
    ids=lambda words: words[0],
)
def test_the_systems_own_tools_find_nothing_wrong(words: tuple[str, ...]) -> None:
    if sys.platform != "linux":
        pytest.skip("Linux' own tools")
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed (Debian: desktop-file-utils, appstream)")
    done = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error" not in (done.stdout + done.stderr).lower()


def test_the_programs_named_are_those_that_pip_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    commands = {*project["scripts"], *project["gui-scripts"]}
    about = ElementTree.parse(METAINFO).getroot()
    assert {item.text for item in about.iter("binary")} == commands
    for file in FOLDER.glob("*.desktop"):
        lines = file.read_text(encoding="utf-8").splitlines()
        assert {line.split("=")[1].split()[0] for line in lines if line.startswith("Exec=")} <= commands
    assert project["license"] == about.findtext("project_license")


def test_the_window_names_the_desktop_file() -> None:
    text = (ROOT / "gpumon_gui/app/composition.py").read_text(encoding="utf-8")
    launchable = ElementTree.parse(METAINFO).getroot().findtext("launchable")
    assert launchable == "gpumon.desktop"
    assert 'setDesktopFileName("gpumon")' in text
