"""How an interpreter is called: conda's as if activated, WSL's from outside, a process's with its variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from gpumon_gui.diagnosis import probe_scripts
from gpumon_gui.diagnosis.environments.base import Environment, Kind
from gpumon_gui.diagnosis.gateway import RESULT, Failure, Ran
from gpumon_gui.diagnosis.probe_scripts.probe import MARK
from gpumon_gui.diagnosis.probes.python import Section, run_section
from tests.unit.fake_gateway import FakeGateway

DONE = '{"done": true}\n'


def lines(*entries: object) -> bytes:
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


def section(gateway: FakeGateway, environment: Environment, **changes: str) -> Section:
    return run_section(gateway, environment, "torch", project=None, timeout_s=5, cancel=Event(), changes=changes)


def test_conda_on_windows_finds_its_libraries_by_path() -> None:
    prefix = "C:\\conda\\envs\\deep"
    files = {f"{prefix}\\conda-meta\\state": '{"env_vars": {"A": "1"}}', f"{prefix}\\python.exe": "mz"}
    gateway = FakeGateway("win32", files, {"Path": "C:\\Windows"}, {f"{prefix}\\python.exe": Ran(0, result=lines())})
    section(gateway, Environment(f"{prefix}\\python.exe", Kind.CONDA, "deep", prefix))
    changes = gateway.commands[-1].changes
    assert str(changes["PATH"]).split(";")[:4] == [
        prefix,
        f"{prefix}\\Library\\mingw-w64\\bin",
        f"{prefix}\\Library\\usr\\bin",
        f"{prefix}\\Library\\bin",
    ]
    assert str(changes["PATH"]).endswith(";C:\\Windows")
    assert (changes["CONDA_PREFIX"], changes["CONDA_DEFAULT_ENV"], changes["A"]) == (prefix, "deep", "1")


def test_inside_wsl_the_script_goes_in_and_facts_come_out_among_the_noise() -> None:
    output = (
        "Welcome to WSL\n"
        + MARK + '{"put": "torch.version", "value": "2.5.1+cu124"}\n'
        + "printed by torch\n"
        + MARK + '{"done": true}\n'
    )  # fmt: skip
    gateway = FakeGateway("win32", {}, {}, {"wsl.exe -d Ubuntu": output})
    environment = Environment("/usr/bin/python3", Kind.WSL, "Ubuntu", "/usr", distribution="Ubuntu")
    found = section(gateway, environment, TF_CPP_MIN_LOG_LEVEL="0")
    (command,) = gateway.commands
    assert command.words[:6] == ("wsl.exe", "-d", "Ubuntu", "--exec", "env", "PYTHONDONTWRITEBYTECODE=1")
    assert "TF_CPP_MIN_LOG_LEVEL=0" in command.words
    assert command.words[-4:] == ("/usr/bin/python3", "-", "-", "torch")
    assert "def main(" in command.input
    assert found.facts == {"torch": {"version": "2.5.1+cu124"}}
    assert found.problem == ""
    assert "printed by torch" in found.output
    assert MARK not in found.output


def test_an_interpreter_of_a_process_has_the_variables_of_the_process() -> None:
    variables = {"CUDA_VISIBLE_DEVICES": "2", "PATH": "/their/bin", "SECRET": "x"}
    environment = Environment("/e/bin/python", Kind.VENV, "e", "/e", variables=variables)
    gateway = FakeGateway("linux", {}, {}, {"/e/bin/python": Ran(0, result=lines())})
    section(gateway, environment)
    changes = gateway.commands[-1].changes
    assert changes["CUDA_VISIBLE_DEVICES"] == "2"
    assert changes["PATH"] == "/their/bin"
    assert "SECRET" not in changes
    assert RESULT in gateway.commands[-1].words


@pytest.mark.parametrize(
    ("ran", "problem", "detail"),
    [
        (Ran(0, result=lines({"done": True})), "", ""),
        (Ran(3, result=lines({"done": True})), "", ""),  # torn down badly after all was told
        (Ran(0, result=b""), "failed", "exit code 0"),
        (Ran(1, stderr=b"SyntaxError: x", result=b""), "failed", "exit code 1\nSyntaxError: x"),
        (Ran(-11, result=b""), "crashed", "signal 11"),
        (Ran(0xC0000005, result=b""), "crashed", "exit code 0xc0000005"),
        (Ran(None, failure=Failure.TIMED_OUT), "timed-out", ""),
        (Ran(None, failure=Failure.NOT_STARTED, detail="[WinError 193]"), "not-started", "[WinError 193]"),
    ],
)
def test_ends_are_told_apart(ran: Ran, problem: str, detail: str) -> None:
    gateway = FakeGateway("linux", {}, {}, {"/e/bin/python": ran})
    found = section(gateway, Environment("/e/bin/python", Kind.VENV, "e", "/e"))
    assert (found.problem, found.detail) == (problem, detail)


@pytest.mark.parametrize(
    "result",
    [
        b"\xff\xfe\x00",
        b'{"put": "torch.version", "value": ',
        b'[1]\n"x"\nnull\n',
        b'{"put": 5, "value": 1}\n{"put": "torch"}\n',
        b'{"put": "torch", "value": 1}\n{"put": "torch.version", "value": "1"}\n',
        b'{"put": "torch.device_count", "value": -1}\n{"put": "torch.cuda_available", "value": "yes"}\n',
        b"x" * 1_000_000,
    ],
)
def test_a_result_that_is_rubbish_gives_no_facts(result: bytes) -> None:
    gateway = FakeGateway("linux", {}, {}, {"/e/bin/python": Ran(0, result=result)})
    found = section(gateway, Environment("/e/bin/python", Kind.VENV, "e", "/e"))
    assert found.facts in ({}, {"torch": {"version": "1"}})


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows a job ends what we started")
@pytest.mark.parametrize("script", ["probe", "proof"])
@pytest.mark.parametrize("hangs", ["threading.Event().wait()", "os.kill(os.getpid(), 19)"])
def test_an_interpreter_that_hangs_does_not_outlive_us(script: str, hangs: str, tmp_path: Path) -> None:
    if "kill" in hangs and not sys.platform.startswith("linux"):
        pytest.skip("a stopped process ends with its parent on Linux only")
    (tmp_path / "torch.py").write_text(f"import os, threading\nos.write(1, b'here')\n{hangs}\n")
    (tmp_path / "result").touch()
    words = [
        sys.executable,
        str(Path(probe_scripts.__file__).with_name(f"{script}.py")),
        str(tmp_path / "result"),
        "torch",
    ]
    us = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess; subprocess.run({words!r})"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
    )
    assert us.stdout is not None
    with us.stdout:
        assert us.stdout.read(4) == b"here"
        us.kill()
        us.wait()
        assert us.stdout.read() == b""  # nobody holds its other end any more
