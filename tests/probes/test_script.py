"""The probe script runs in every Python there is, and nothing a framework does at its import can hurt the diagnosis.

Frameworks here are made of a few lines each; the real ones are in test_frameworks.py.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.diagnosis import facts_file
from gpumon_gui.diagnosis.collect import Options, Progress, State, collect
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.environments.base import Environment, Kind, Wanted
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.probe_scripts import probe
from gpumon_gui.diagnosis.probes.python import run_section
from gpumon_gui.diagnosis.recorded_gateway import RecordedGateway, RecordingGateway
from gpumon_gui.diagnosis.rules.table import RULES
from tests.probes.building import NoPython, interpreter

PYTHONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")

Make = Callable[..., Path]


def python(version: str) -> Path:
    try:
        return interpreter(version)
    except NoPython as missing:
        pytest.skip(str(missing))


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A virtual environment with these modules in it: name (``torch`` or ``torch/sub.py``) to source text."""

    def build(name: str = "env", version: str = "3.11", **modules: str) -> Path:
        folder = tmp_path / name
        subprocess.run([python(version), "-m", "venv", "--without-pip", str(folder)], check=True, capture_output=True)
        site = next(folder.glob("lib/python*/site-packages"))
        for module, text in modules.items():
            if module == "sitecustomize":
                (site / "sitecustomize.py").write_text(text, encoding="utf-8")
                continue
            (site / module).mkdir()
            (site / module / "__init__.py").write_text(text, encoding="utf-8")
            (site / f"{module}-1.0.dist-info").mkdir()
        return folder / "bin/python"

    return build


def look(*pythons: Path | str, timeout_s: float = 30.0, project: Path | None = None, **more: Any) -> Document:
    """What is found out about these interpreters; it always is a valid facts document that JSON can hold."""
    wanted = Wanted(tuple(str(path) for path in pythons), str(project) if project else None, everywhere=False)
    options = Options(wanted, machine=False, framework_timeout_s=timeout_s, interpreter_timeout_s=timeout_s)
    document = collect(LiveGateway(), options, **more)
    text = json.dumps(document.facts)
    text.encode("utf-8")
    facts_file.parse({"schema": "gpumon-facts/1", **json.loads(text)})
    return document


def only(document: Document) -> dict[str, Any]:
    (environment,) = document.facts["environments"]
    assert isinstance(environment, dict)
    return environment


HEALTHY = "__version__ = '1.0'\nclass version:\n    cuda = None\n    hip = None\n"


# -- every Python -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", PYTHONS)
def test_the_script_runs_in_every_python(version: str) -> None:
    path = python(version)
    facts = only(look(path))
    assert facts["interpreter"]["version"].startswith(version + ".")
    assert facts["interpreter"]["bits"] == 64
    assert facts["interpreter"]["path"] == str(path)
    assert "problem" not in facts["interpreter"]
    assert facts["torch"] == {"version": None}


@pytest.mark.parametrize("version", PYTHONS)
def test_all_of_the_script_is_syntax_of_every_python(version: str) -> None:
    code = "import sys; compile(open(sys.argv[1], encoding='utf-8').read(), 'probe.py', 'exec')"
    subprocess.run([python(version), "-W", "error", "-c", code, probe.__file__], check=True, capture_output=True)


def test_python_2_is_named_and_refused() -> None:
    facts = only(look(python("2.7")))["interpreter"]
    assert facts["problem"] == "failed"
    assert facts["version"].startswith("2.7.")
    assert "SyntaxError" in facts["problem_detail"]


def test_an_environment_tells_its_packages_and_who_made_it(make: Make) -> None:
    path = make(torch=HEALTHY, secret_project="")
    facts = only(look(path))
    assert facts["packages"]["torch"] == "1.0"
    assert "secret-project" not in facts["packages"]
    assert (facts["interpreter"]["kind"], facts["interpreter"]["install_source"]) == ("venv", "pip")
    assert facts["torch"]["version"] == "1.0"
    assert facts["torch"]["cuda_build"] is None
    assert facts["interpreter"]["module_files"]["torch"].endswith("site-packages/torch/__init__.py")


# -- broken interpreters ------------------------------------------------------------------------------------------


def test_broken_interpreters_are_told_apart(make: Make, tmp_path: Path) -> None:
    files = {
        "not-executable": ("#!/bin/sh\n", 0o644),
        "no-program": ("no program", 0o755),
        "fails": ("#!/bin/sh\necho 'python: bad' >&2\nexit 3\n", 0o755),
        "silent": ("#!/bin/sh\nexit 0\n", 0o755),
        "dies": ("#!/bin/sh\nkill -SEGV $$\n", 0o755),
        "hangs": ("#!/bin/sh\nsleep 600\n", 0o755),
    }
    for name, (text, mode) in files.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    orphan = make("orphan")
    orphan.unlink()
    orphan.symlink_to(tmp_path / "removed/bin/python3.11")
    document = look(*(tmp_path / name for name in files), orphan, tmp_path / "none", timeout_s=5)
    found = {Path(entry["interpreter"]["path"]): entry["interpreter"] for entry in document.facts["environments"]}
    assert {path.name if path != orphan else "orphan": facts["problem"] for path, facts in found.items()} == {
        "not-executable": "no-permission",
        "no-program": "not-started",
        "fails": "failed",
        "silent": "failed",
        "dies": "crashed",
        "hangs": "timed-out",
        "orphan": "not-found",
        "none": "not-found",
    }
    assert "python: bad" in found[tmp_path / "fails"]["problem_detail"]
    assert "signal 11" in found[tmp_path / "dies"]["problem_detail"]


def test_an_interpreter_without_its_library_says_why(make: Make) -> None:
    path = make()
    path.unlink()
    shutil.copy(python("3.11"), path)  # a copy far from its library, as after moving an installation
    (path.parent.parent / "pyvenv.cfg").write_text("home = /gone/bin\n")
    facts = only(look(path))["interpreter"]
    if "problem" in facts:  # it finds the library by the path compiled into it where that still exists
        assert "encodings" in facts["problem_detail"] or "Fatal" in facts["problem_detail"]


def test_errors_in_sitecustomize_change_nothing(make: Make) -> None:
    noisy = "import sys\nprint('hello from sitecustomize', flush=True)\nraise RuntimeError('broken on purpose')\n"
    facts = only(look(make(sitecustomize=noisy, torch=HEALTHY)))
    assert facts["torch"]["import_ok"] is True
    assert "problem" not in facts["interpreter"]


def test_a_conda_environment_is_asked_as_if_it_were_activated(tmp_path: Path) -> None:
    real = python("3.11").resolve()
    prefix = tmp_path / "conda" / "envs" / "deep"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").mkdir()
    shutil.copy(real, prefix / "bin/python")
    library = real.parent.parent / "lib"
    (prefix / "lib/python3.11").symlink_to(library / "python3.11")
    for shared in library.glob("libpython3*.so*"):
        (prefix / "lib" / shared.name).symlink_to(shared)
    (prefix / "conda-meta").mkdir()
    for name in ("history", "pytorch-2.2.2-py3.11_cpu_0.json", "cudatoolkit-11.8.0-h6a678d5_0.json", "six-1.0-0.json"):
        (prefix / "conda-meta" / name).write_text("{}")
    (prefix / "conda-meta/state").write_text('{"env_vars": {"TF_GPU_ALLOCATOR": "cuda_malloc_async"}}')
    scripts = prefix / "etc/conda/activate.d"
    scripts.mkdir(parents=True)
    (scripts / "cuda.sh").write_text("export LD_LIBRARY_PATH=$CONDA_PREFIX/lib\necho noise\n")
    facts = only(look(prefix))["interpreter"]
    assert (facts["kind"], facts["install_source"], facts["name"]) == ("conda", "conda", "deep")
    assert facts["conda_packages"] == {"pytorch": "2.2.2 py3.11_cpu_0", "cudatoolkit": "11.8.0 h6a678d5_0"}
    assert facts["variables"]["LD_LIBRARY_PATH"] == f"{prefix}/lib"
    assert facts["variables"]["TF_GPU_ALLOCATOR"] == "cuda_malloc_async"


# -- frameworks that misbehave ------------------------------------------------------------------------------------


def test_an_import_that_hangs_is_ended_with_all_it_started(make: Make, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)
open({str(pid_file)!r}, 'w').write(str(child.pid))
print('about to hang', flush=True)
time.sleep(600)
"""
    document = look(make(torch=code, onnxruntime="__version__ = '2'\n"), timeout_s=4)
    facts = only(document)
    assert facts["torch"]["problem"] == "timed-out"
    assert facts["torch"]["problem_stage"] == "import torch"
    assert facts["torch"]["version"] == "1.0"  # from the package: the import never told
    assert "about to hang" in facts["torch"]["log"]
    found = [finding for finding in diagnose(document, RULES).findings if finding.code == "framework-does-not-start"]
    assert [finding.values["stage"] for finding in found] == ["import torch"]
    assert facts["onnxruntime"]["version"] == "2"  # the others are not held up
    assert not running(int(pid_file.read_text()))


def running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_fifty_megabytes_printed_at_import_cost_neither_memory_nor_facts(make: Make) -> None:
    flood = "import sys\nfor s in (sys.stdout, sys.stderr):\n    for _ in range(25): s.write('x' * 1048575 + '\\n')\n"
    path = make(torch=flood + HEALTHY)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    facts = only(look(path))
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert facts["torch"]["import_ok"] is True
    assert grown_kb < 60_000
    assert len(json.dumps(facts)) < 40_000


@pytest.mark.parametrize(
    ("code", "problem", "words"),
    [
        ("import os; os._exit(7)", "failed", "exit code 7"),
        ("import os; os.abort()", "crashed", "signal 6"),
        ("import ctypes; ctypes.string_at(0)", "crashed", "Segmentation fault"),  # told by faulthandler
    ],
    ids=["_exit", "abort", "segfault"],
)
def test_an_import_that_ends_the_process_is_told(make: Make, code: str, problem: str, words: str) -> None:
    facts = only(look(make(torch=code)))["torch"]
    assert facts["problem"] == problem
    assert facts["problem_stage"] == "import torch"
    assert words in facts["error"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import sys; sys.exit('bye')", "SystemExit: bye"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("try:\n    1 / 0\nexcept Exception as e:\n    raise ImportError('outer') from e", "ImportError: outer\nZero"),
        ("class E(Exception):\n    def __str__(self): raise ValueError\nraise E", "E: (its text cannot be read)"),
        ("def f(:", "SyntaxError"),
    ],
)
def test_an_import_that_raises_is_told_with_its_causes(make: Make, code: str, error: str) -> None:
    facts = only(look(make(torch=code)))["torch"]
    assert facts["import_ok"] is False
    assert facts["error"].startswith(error)
    assert "problem" not in facts


def test_output_that_is_no_utf8_and_names_that_are_none_are_survived(make: Make, tmp_path: Path) -> None:
    code = "import os\nos.write(1, b'\\xff\\xfe\\x80 raw')\nos.write(2, b'\\xce\\xde\\xb7\\xa8\\x00')\n" + HEALTHY
    plain = make(torch=code).parent.parent
    odd = plain.rename(tmp_path / os.fsdecode(b"n\xff\xe9me"))
    facts = only(look(odd))
    assert facts["torch"]["import_ok"] is True


def test_an_import_that_closes_all_files_is_survived(make: Make) -> None:
    facts = only(look(make(torch="import os; os.closerange(0, 256)\n" + HEALTHY)))
    assert facts["torch"]["import_ok"] is True
    assert facts["torch"]["device_count"] == 0


def test_a_program_of_the_users_own_that_is_called_torch_is_found(make: Make, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "torch.py").write_text("raise RuntimeError('must not run')\n")
    (project / "numpy").mkdir()  # a folder of data hides nothing
    facts = only(look(make(torch=HEALTHY), project=project))
    assert facts["interpreter"]["shadowed_modules"] == {"torch": str(project / "torch.py")}
    assert facts["torch"]["import_ok"] is True


def test_a_folder_left_behind_is_not_the_framework(make: Make) -> None:
    path = make()
    site = next(path.parent.parent.glob("lib/python*/site-packages"))
    (site / "torch/lib").mkdir(parents=True)
    facts = only(look(path))["torch"]
    assert facts["import_ok"] is False
    assert "not the framework" in facts["error"]


def test_lies_about_versions_do_no_harm(make: Make) -> None:
    hostile = "__version__ = chr(0) + '\\ud800' * 100000\nclass version:\n    cuda = 12\n    hip = []\n"
    document = look(make(torch=hostile), timeout_s=20)
    assert len(json.dumps(document.facts)) < 200_000


def test_an_interpreter_behind_wsl_is_asked_through_its_streams(make: Make, tmp_path: Path) -> None:
    noisy = make(torch="print('noise on import')\n" + HEALTHY)
    wsl = tmp_path / "bin/wsl.exe"
    wsl.parent.mkdir()
    wsl.write_text('#!/bin/sh\nshift 3\nexec env -i PATH="$PATH" "$@"\n')  # -d NAME --exec
    wsl.chmod(0o755)
    live = LiveGateway({**os.environ, "PATH": f"{wsl.parent}:{os.environ['PATH']}"})
    environment = Environment(str(noisy), Kind.WSL, "Ubuntu", "", distribution="Ubuntu")
    section = run_section(
        live, environment, "torch", project=None, timeout_s=30, cancel=threading.Event(), changes={"TF_X": "1"}
    )
    assert section.problem == ""
    assert section.facts["torch"]["version"] == "1.0"
    assert "noise on import" in section.output


# -- the whole run ------------------------------------------------------------------------------------------------


def test_cancelling_ends_everything_soon_and_gives_what_is_known(make: Make) -> None:
    path = make(torch="import time; time.sleep(600)")
    cancel = threading.Event()
    seen: list[Progress] = []

    def progress(step: Progress) -> None:
        seen.append(step)
        if step.id == "torch" and step.state is State.RUNNING:
            cancel.set()

    begin = time.monotonic()
    facts = only(look(path, on_progress=progress, cancel=cancel))
    assert time.monotonic() - begin < 15
    assert facts["interpreter"]["version"].startswith("3.11.")
    assert "torch" not in facts
    assert seen[-1].state is State.CANCELLED
    assert seen[-1].done == seen[-1].total


def test_progress_tells_every_step_once_as_it_begins_and_ends(make: Make) -> None:
    seen: list[Progress] = []
    look(make(torch=HEALTHY), on_progress=seen.append)
    begun = [step.id for step in seen if step.state is State.RUNNING]
    ended = [step.id for step in seen if step.state is State.DONE]
    assert begun == ["search", "interpreter", "torch"]
    assert sorted(ended) == sorted(begun)
    assert seen[-1].done == seen[-1].total == 3


def test_a_recorded_run_gives_the_same_document_again(make: Make, tmp_path: Path) -> None:
    crash = make("crash", torch="import os; os.abort()")
    wanted = Wanted((str(make(torch=HEALTHY, jax="raise ImportError('no')")), str(crash), "/none"), everywhere=False)
    recording = RecordingGateway(LiveGateway())
    document = collect(recording, Options(wanted))
    recording.save(tmp_path / "machine")
    again = collect(RecordedGateway(tmp_path / "machine"), Options(wanted))
    assert again.facts == document.facts
    assert again.own_signals == document.own_signals
    assert again.signals == document.signals
