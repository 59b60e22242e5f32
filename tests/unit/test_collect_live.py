"""This very machine and interpreter, whatever they are: asking them works, on Windows too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpumon_gui.diagnosis.collect import Options, Progress, State, collect
from gpumon_gui.diagnosis.environments.base import Wanted
from gpumon_gui.diagnosis.facts_file import parse
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.probe_scripts import probe

on_windows = pytest.mark.skipif(sys.platform != "win32", reason="Windows' own calls")


def test_the_machine_and_the_interpreter_of_this_test() -> None:
    steps: list[Progress] = []
    wanted = Wanted((sys.executable,), everywhere=False)
    document = collect(LiveGateway(), Options(wanted, frameworks=()), steps.append)
    text = json.dumps(document.facts)
    parse({"schema": "gpumon-facts/1", **json.loads(text)})
    assert {step.detail for step in steps if step.state is State.FAILED} == set()
    (environment,) = document.facts["environments"]
    assert environment["interpreter"]["version"] == ".".join(str(part) for part in sys.version_info[:3])
    assert environment["packages"]["numpy"]
    assert document.facts["host"]["cpu_count"] == os.cpu_count()
    assert document.facts["host"]["memory_total_bytes"] > 1 << 28
    assert document.facts["os"]["family"] == {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


def test_the_process_of_this_test_is_found_by_its_number() -> None:
    # A process of its own: the test runner's variables were changed since it started.
    environ = {**os.environ, "CUDA_VISIBLE_DEVICES": "7"}
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environ)
    try:
        end_s = time.monotonic() + 10
        while time.monotonic() < end_s:
            wanted = Wanted(pid=sleeper.pid, everywhere=False)
            document = collect(LiveGateway(), Options(wanted, machine=False, frameworks=()))
            if document.facts["process"].get("environment", {}).get("CUDA_VISIBLE_DEVICES") == "7":
                break  # before it has become Python, the process is still ours
        (environment,) = document.facts["environments"]
        assert Path(environment["interpreter"]["path"]).samefile(sys.executable)
        assert document.facts["process"]["environment"]["CUDA_VISIBLE_DEVICES"] == "7"
        assert environment["interpreter"]["variables"]["CUDA_VISIBLE_DEVICES"] == "7"  # asked as the process is
    finally:
        sleeper.communicate(b"\n")


def test_the_model_for_onnxruntime_is_small_and_starts_as_one() -> None:
    model = probe.identity_model()
    assert model[:2] == b"\x08\x07"  # ir_version 7
    assert len(model) < 128
    assert b"Identity" in model


@pytest.mark.parametrize(
    ("number", "text"), [(7605, "7.6.5"), (8902, "8.9.2"), (90100, "9.1.0"), (91900, "9.19.0"), (92400, "9.24.0")]
)
def test_numbers_of_cudnn(number: int, text: str) -> None:
    assert probe.cudnn_text(number) == text


@on_windows
def test_windows_answers() -> None:
    live = LiveGateway()
    key = live.registry("HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion")
    assert key is not None
    assert key.values
    assert live.registry("HKLM\\SOFTWARE\\no such key") is None
    memory = live.ask("windows-memory")
    assert memory["total"] > 1 << 28
    assert memory["commit_limit"] >= memory["commit_available"] > 0
    assert live.ask("windows-version").count(".") == 2
    root = os.environ["SYSTEMROOT"]
    assert live.ask("file-version", f"{root}\\System32\\kernel32.dll").count(".") == 3
    assert live.ask("file-version", f"{root}\\none.dll") is None


@on_windows
def test_windows_modules_of_this_process() -> None:
    names = {Path(path).name.lower() for path in probe.loaded_files()}
    assert "kernel32.dll" in names
