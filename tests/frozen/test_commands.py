"""The built command line: complete, right exit codes, UTF-8."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gpumon_gui.telemetry.recording.reader import Recording
from tests.frozen.conftest import ROOT, in_lab, run_program

MACHINE = ("--scenario", "windows-laptop")


def checkout(*words: str) -> str:
    """What the checkout prints."""
    line = [sys.executable, "-m", "gpumon_gui", *words]
    return subprocess.run(line, capture_output=True, check=True, cwd=ROOT, timeout=60).stdout.decode("utf-8")


def test_it_is_as_complete_as_the_checkout(folder: Path) -> None:
    done = run_program(folder / "gpumon.exe", "self-test", "--json")
    assert done.returncode == 0, done.stdout
    found, wanted = json.loads(done.stdout), json.loads(checkout("self-test", "--json"))
    assert found["frozen"]
    assert found["missing"] == []
    assert found["counts"] == wanted["counts"]
    assert found["program"] == wanted["program"]
    assert found["libraries"] == wanted["libraries"]


def test_a_reading_is_the_same_document(folder: Path) -> None:
    done = run_program(folder / "gpumon.exe", "snapshot", "--json", *MACHINE)
    assert done.returncode == 0, done.stderr
    found, wanted = json.loads(done.stdout), json.loads(checkout("snapshot", "--json", *MACHINE))
    assert found["schema"] == wanted["schema"]
    assert [device["name"] for device in found["devices"]] == [device["name"] for device in wanted["devices"]]
    for ours, theirs in zip(found["devices"], wanted["devices"], strict=True):
        assert set(ours["metrics"]) == set(theirs["metrics"])


def test_what_it_prints_is_utf_8(folder: Path) -> None:
    done = run_program(folder / "gpumon.exe", "snapshot", "--lang", "zh_CN", *MACHINE)
    assert done.returncode == 0
    assert "专用 GPU 内存" in done.stdout
    assert "—" in done.stdout


def test_this_machine_is_read_without_a_fault(folder: Path) -> None:
    # Nothing here stands in for a driver, so figures are missing, with reasons; the program still does its work.
    done = run_program(folder / "gpumon.exe", "snapshot", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert {"schema", "devices"} <= set(json.loads(done.stdout))
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("gpumon.exe", ()),
        ("gpumon.exe", ("nonsense",)),
        ("gpumon.exe", ("snapshot", "--scenario", "no-such-machine")),
        ("gpumon.exe", ("snapshot", "--no-such-option")),
        ("gpumon-gui.exe", ("--no-such-option",)),
        ("gpumon-gui.exe", ("--replay", "no-such-file.gpumon")),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(folder: Path, program: str, words: tuple[str, ...]) -> None:
    done = run_program(folder / program, *words)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stdout == ""


def test_a_recording_made_by_it_is_read_by_the_checkout(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "made here.gpumon"
    done = run_program(folder / "gpumon.exe", "record", "-o", str(file), "--seconds", "2", "--hz", "4", *MACHINE)
    assert done.returncode == 0, done.stderr
    recording = Recording(file)
    try:
        assert len(recording) >= 5
        assert recording.complete
    finally:
        recording.close()


def test_it_asks_another_windows_python(folder: Path) -> None:
    where = in_lab("python", "-c", "import sys; print(sys.executable)").stdout.strip()
    done = run_program(folder / "gpumon.exe", "diagnose", "--json", "--python", where)
    assert done.returncode in (0, 1), done.stderr
    verdicts = [verdict for verdict in json.loads(done.stdout)["verdicts"] if verdict["framework"] == "torch"]
    # Only an interpreter that answered can be said not to have it.
    assert [(verdict["subject"], verdict["verdict"]) for verdict in verdicts] == [(where, "not_installed")]


def test_the_portable_form_keeps_its_data_beside_it(tmp_path: Path) -> None:
    archive = next((ROOT / "dist").glob("GPUMon-*-portable.zip"))
    with zipfile.ZipFile(archive) as packed:
        assert packed.testzip() is None
        packed.extractall(tmp_path)
    home = tmp_path / "GPUMon"
    done = run_program(home / "gpumon.exe", "self-test", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)["folders"]
    beside = "Z:" + str(home / "data").replace("/", "\\")
    assert (found["config"], found["data"], found["logs"]) == (beside, beside, beside + "\\logs")


def test_the_licences_are_inside(folder: Path) -> None:
    listed = (folder / "licences/components.txt").read_text(encoding="utf-8")
    assert {"Python", "PySide6-Essentials", "numpy", "pyqtgraph"} <= {line.split()[0] for line in listed.splitlines()}
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (folder / "licences/LGPL-3.0.txt").read_text(encoding="utf-8")
