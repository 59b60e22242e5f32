"""The command line as a user meets it: real sampler processes, scripted machines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpumon_gui import __version__
from gpumon_gui.cli.main import run
from gpumon_gui.telemetry.recording.open import open_recording


def gpumon(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gpumon_gui", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )


def test_snapshot_is_one_document_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--json", "--scenario", "one-gpu-training"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["schema"] == "gpumon-snapshot/1"
    (device,) = document["devices"]
    busy = device["metrics"]["gpu_utilization"]
    assert 0 <= busy["value"] <= 1
    assert (busy["unit"], busy["source"], busy["counter"]) == ("ratio", "nvml", "nvmlDeviceGetUtilizationRates: gpu")
    assert device["metrics"]["sm_activity" if "sm_activity" in device["metrics"] else "fan_ratio"]
    assert err == ""


def test_snapshot_says_what_a_process_uses_in_cores_and_the_machine_in_percent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["snapshot", "--scenario", "one-gpu-training"]) == 0
    out = capsys.readouterr().out
    head, row = (next(line.split("  ") for line in out.splitlines() if word in line) for word in ("PID", "41990"))
    assert "CPU cores" in [cell.strip() for cell in head]
    assert any(10.5 < float(cell) < 12.5 for cell in row if cell.strip().replace(".", "", 1).isdecimal())
    assert next(line for line in out.splitlines() if line.startswith("CPU ")).endswith(" %")


def test_snapshot_waits_for_the_second_sample(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--json", "--scenario", "one-gpu-training"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["interval_s"] > 0
    assert document["host"]["metrics"]["cpu_utilization"]["value"] is not None


def test_missing_is_null_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--json", "--scenario", "wddm"]) == 0
    document = json.loads(capsys.readouterr().out)
    memory = [use["metrics"]["process_memory_bytes"] for p in document["processes"] for use in p["uses"]]
    assert memory
    assert all(found["value"] is None and found["missing"] == "driver_model" for found in memory)


def test_a_machine_without_a_driver_is_told_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--scenario", "no-driver"]) == 0
    out = capsys.readouterr().out
    assert "No GPU can be read." in out
    assert "install the driver from nvidia.com/drivers" in out


def test_text_shows_lost_cards_and_the_healthy_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--scenario", "lost-gpu-at-start"]) == 0
    out = capsys.readouterr().out
    assert "The driver lost this GPU." in out
    assert "GPU utilization" in out


def test_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--lang", "zh_CN", "--scenario", "process-names"]) == 0
    out = capsys.readouterr().out
    assert "显存" in out or "GPU 内存" in out
    assert "\N{CJK UNIFIED IDEOGRAPH-8BAD}" in out or "训练" in out or "python" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["snapshot", "--jsn"], "unrecognized arguments: --jsn"),
        (["nonsense"], "nonsense"),
        ([], "command"),
        (["record"], "-o/--output"),
        (["record", "-o", "x", "--hz", "100"], "“100” is not a number between 0.01 and 10"),
        (["record", "-o", "x", "--seconds", "soon"], "“soon” is not a number"),
        (["snapshot", "--scenario", "bogus"], "there is no scenario “bogus”"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"GPUMon {__version__}"


def test_record_then_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "训练.gpumon"
    assert run(["record", "-o", str(target), "--seconds", "0.5", "--hz", "10", "--scenario", "eight-gpus"]) == 0
    assert "训练.gpumon" in capsys.readouterr().err
    recording = open_recording(target)
    try:
        assert len(recording) >= 3
        assert recording.complete
        assert len(recording.sample(len(recording) - 1).devices) == 8
        assert recording.meta["scenario"] == "eight-gpus"
    finally:
        recording.close()


def test_record_refuses_a_file_that_is_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "thesis.docx"
    target.write_text("three years of work")
    assert run(["record", "-o", str(target), "--seconds", "1"]) == 2
    assert "thesis.docx" in capsys.readouterr().err
    assert target.read_text() == "three years of work"


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals on Windows")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_polite_end_closes_the_recording(name: str, tmp_path: Path) -> None:
    target = tmp_path / "run.gpumon"
    command = [sys.executable, "-m", "gpumon_gui", "record", "-o", str(target), "--scenario", "one-gpu-training"]
    # Tests that were started with nohup ignore SIGHUP, and so would their children: rightly.
    before = signal.signal(getattr(signal, name), signal.SIG_DFL)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    signal.signal(getattr(signal, name), before)
    try:
        while not target.exists() or target.stat().st_size < 12_000:  # the first samples are in
            assert process.poll() is None
            os.sched_yield()
        process.send_signal(getattr(signal, name))
        _out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "run.gpumon" in err
    recording = open_recording(target)
    assert recording.complete
    recording.close()


def test_self_test_counts_and_finds_nothing_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["self-test", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["missing"] == []
    assert document["counts"]["sources"] == 4
    assert document["counts"]["languages"] == 2


def test_no_command_needs_qt() -> None:
    found = gpumon("snapshot", "--json", "--scenario", "one-gpu-training", PYTHONPROFILEIMPORTTIME="1")
    assert found.returncode == 0
    assert "PySide6" not in found.stderr
    assert "pyqtgraph" not in found.stderr


@pytest.mark.parametrize("read", [0, 10])
def test_a_pipe_that_nobody_reads_is_no_fault(read: int) -> None:
    """As before ``| head``, or ``| select -first 1`` on Windows."""
    command = [sys.executable, "-m", "gpumon_gui", "snapshot", "--json", "--scenario", "eight-gpus"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(read)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0
    process.stderr.close()
