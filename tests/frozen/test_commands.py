"""The built command line: complete, right exit codes, UTF-8."""

from __future__ import annotations

import html
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpumon_gui.telemetry.recording.reader import Recording
from tests.frozen.conftest import ROOT, in_lab, run_program, unpack_portable

MACHINE = ("--scenario", "windows-laptop")


def checkout(*words: str, code: int = 0) -> str:
    """What the checkout prints."""
    line = [sys.executable, "-m", "gpumon_gui", *words]
    done = subprocess.run(line, capture_output=True, cwd=ROOT, timeout=60)
    assert done.returncode == code, done.stderr
    return done.stdout.decode("utf-8")


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


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("watch", "--replay", "tests/data/traces/trace-d01.jsonl.gz"), "code-runs-on-cpu"),
        (("diagnose", "--script", "tests/data/scripts/tf_custom_loop.py"), "cpu-gpu-sync-each-step"),
    ],
    ids=["watch", "script"],
)
def test_it_finds_what_the_checkout_finds(folder: Path, tmp_path: Path, words: tuple[str, ...], code: str) -> None:
    line = (*words[:2], str(ROOT / words[2]), "--json")
    done = run_program(folder / "gpumon.exe", *line, "--report", str(tmp_path / "report.html"))
    assert done.returncode == 1, done.stderr
    found, wanted = (json.loads(text)["findings"] for text in (done.stdout, checkout(*line, code=1)))
    assert code in [finding["code"] for finding in found]
    assert [finding["title"] for finding in found] == [finding["title"] for finding in wanted]
    assert found[0]["title"] in html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_the_portable_form_keeps_its_data_beside_it(tmp_path: Path) -> None:
    home = unpack_portable(tmp_path)
    done = run_program(home / "gpumon.exe", "self-test", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)["folders"]
    beside = "Z:" + str(home / "data").replace("/", "\\")
    assert (found["config"], found["data"], found["logs"]) == (beside, beside, beside + "\\logs")


def test_the_licences_are_inside(folder: Path) -> None:
    listed = (folder / "licences/components.txt").read_text(encoding="utf-8")
    assert {"Python", "PySide6-Essentials", "numpy", "pyqtgraph"} <= {line.split()[0] for line in listed.splitlines()}
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (folder / "licences/LGPL-3.0.txt").read_text(encoding="utf-8")
