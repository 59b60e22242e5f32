"""The fixes that are printed for real environments, run as printed in a copy of each: the finding must be gone.

What cannot be run here stands in :data:`NOT_RUN_HERE`, by name and with the reason. The environments of
test_script.py are left out: their frameworks are a few lines of the tests' own, so there is nothing to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpumon_gui.diagnosis import remedies
from gpumon_gui.diagnosis.collect import Options, collect
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.environments.base import Wanted
from gpumon_gui.diagnosis.finding import Diagnosis, Finding
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.rules.table import RULES
from tests.probes import building
from tests.probes.test_frameworks import BESIDE_THE_MISSING_GPU, TRUE_CAUSES, facts_of, looked, without_driver

pytestmark = [pytest.mark.timeout(building.TIMEOUT_S), without_driver]

#: True of this machine whatever is installed.
ALWAYS = {"no-gpu-in-this-machine", "benign-log-noise"}


@dataclass(frozen=True)
class Fixed:
    """``printed``: what the advice's own check prints afterwards. ``next``: the causes that were hidden behind this
    one. ``judged``: whether the rule can say that all is well on a machine without a GPU."""

    printed: str
    next: frozenset[str] = frozenset()
    judged: bool = True


FIXED = {
    # The newest release wants CUDA libraries, which the package alone does not bring.
    "ort-both": Fixed("CUDAExecutionProvider", frozenset({"ort-cuda-libs-missing"})),
    # It can be imported again, and says itself that it is the CPU build.
    "protobuf-clash": Fixed("2.8.0", frozenset({"tf-cpu-only-build"})),
    "torch-numpy2": Fixed("[1.]"),
    "tensorflow-cpu": Fixed("2.21.0 []"),
    # It opens its libraries now; that it opens all of them shows only where there is a GPU.
    "tensorflow-cuda": Fixed("2.21.0 []", judged=False),
}


@dataclass(frozen=True)
class NotRun:
    """``command`` is a part of what is printed that shows the reason still holds; empty: no command but the check."""

    reason: str
    command: str


NOT_RUN_HERE = {
    "torch-cpu": NotRun(
        "the CUDA build comes from PyTorch's own index, which tests do not reach", "download.pytorch.org"
    ),
    "tensorflow-2.10": NotRun("CUDA 11.2 comes from conda-forge, into a conda environment", "conda install"),
    "torch-cuda": NotRun("it needs a GPU and its driver: nothing is wrong with the environment", ""),
    "jax-cupy": NotRun("it needs a GPU and its driver: nothing is wrong with the environment", ""),
}


def examined(python: Path) -> Diagnosis:
    diagnosis = diagnose(collect(LiveGateway(), Options(Wanted((str(python),), everywhere=False))), RULES)
    assert diagnosis.bugs == ()
    return diagnosis


def cause(diagnosis: Diagnosis, name: str) -> Finding:
    """What is wrong in the environment, behind what is wrong with the machine."""
    return diagnosis.findings[TRUE_CAUSES[name] in BESIDE_THE_MISSING_GPU]


def fix(finding: Finding) -> list[str]:
    """The commands to copy that change something. A mirror's is the same install from elsewhere."""
    return [step.command for step in finding.advice if step.command and not step.check and step.text != remedies.MIRROR]


def check(finding: Finding) -> str:
    """The command that the advice ends with, to see whether it worked."""
    (command,) = (step.command for step in finding.advice if step.check)
    return command


def shell(command: str) -> str:
    """What it prints. The command must succeed."""
    done = subprocess.run(
        command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=building.TIMEOUT_S
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}"
    return done.stdout


@pytest.fixture
def copy(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The python of a copy of the environment, which is removed afterwards."""
    try:
        source = building.made(request.param).parent.parent
    except building.NoPython as missing:
        pytest.skip(str(missing))
    folder = building.cache() / "fixes" / f"{request.param}-{os.getpid()}"
    # pip replaces files and never writes into them, so hard links are safe.
    shutil.copytree(source, folder, symlinks=True, copy_function=os.link)
    yield folder / "bin/python"
    shutil.rmtree(folder)


@pytest.mark.parametrize(("copy", "name"), [(name, name) for name in FIXED], indirect=["copy"], ids=list(FIXED))
def test_the_printed_fix_clears_the_finding(copy: Path, name: str) -> None:
    first = cause(examined(copy), name)
    assert (first.code, first.subject) == (TRUE_CAUSES[name], str(copy))
    commands = fix(first)
    assert commands
    for command in commands:
        shell(command)
    assert FIXED[name].printed in shell(check(first))

    again = examined(copy)
    assert {finding.code for finding in again.findings} <= {*ALWAYS, *FIXED[name].next}
    cleared = {clear.code for clear in again.clear if clear.subject == str(copy)}
    assert (first.code in cleared) is FIXED[name].judged


def test_an_environment_whose_python_was_removed_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    python.unlink()
    python.symlink_to(tmp_path / "removed" / "python3")
    first = examined(python).findings[0]
    assert first.code == "python-interpreter-broken"
    for command in fix(first):
        shell(command)
    assert shell(check(first)).startswith("Python 3.")
    again = examined(python)
    assert {finding.code for finding in again.findings} <= ALWAYS
    assert any(clear.code == first.code and clear.subject == str(python) for clear in again.clear)


@pytest.mark.parametrize("name", NOT_RUN_HERE)
def test_why_a_fix_is_not_run_here_still_holds(name: str) -> None:
    if name == "torch-cpu" and facts_of(name, "torch")["cuda_build"] is not None:
        pytest.skip("the index gave a CUDA build")
    first = cause(diagnose(looked(name), RULES), name)
    assert first.code == TRUE_CAUSES[name]
    wanted = NOT_RUN_HERE[name].command
    assert any(wanted in command for command in fix(first)) if wanted else fix(first) == []


def test_every_environment_is_fixed_or_says_why_not() -> None:
    assert FIXED.keys() | NOT_RUN_HERE.keys() == TRUE_CAUSES.keys()
    assert not FIXED.keys() & NOT_RUN_HERE.keys()
