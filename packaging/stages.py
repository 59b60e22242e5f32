"""Knows: what is checked, in which order, and how the outcome is told. Must not know: how the tools got here."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import winlab_tests as winlab
from environment import PYTHON, ROOT
from report import SetupFailed, say

_LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_logo=True))"

QT_MODULES = ("PySide6", "shiboken6", "pyqtgraph")


@dataclass(frozen=True)
class Stage:
    """One command. ``tests`` is the folder of a pytest stage, ``leaves_out`` a part of it that says nothing new there
    (arithmetic over samples); ``without_qt`` makes Qt impossible to import; ``display`` starts a virtual one of its
    own; ``lab``: in the Windows lab, tests by Windows Python."""

    name: str
    title: str
    words: tuple[str, ...] = ()
    tests: str = ""
    leaves_out: str = ""
    without_qt: bool = False
    display: bool = False
    lab: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


_ARITHMETIC = "tests/unit/diagnosis"
_VARIED = f"{_ARITHMETIC}/test_varied_workloads.py"

STAGES: tuple[Stage, ...] = (
    Stage("ruff", "ruff", ("-m", "ruff", "check", ".")),
    Stage("ruff-format", "ruff format --check", ("-m", "ruff", "format", "--check", ".")),
    Stage("mypy", "mypy", ("-m", "mypy")),
    Stage("imports", "import contracts", ("-c", _LINT_IMPORTS)),
    Stage("translations", "translations", ("packaging/translations.py", "check")),
    Stage("unit", "unit tests", tests="tests/unit"),
    Stage("rules", "rules of the diagnosis", tests="tests/rules"),
    Stage("unit-no-qt", "unit tests, Qt not installed", tests="tests/unit", leaves_out=_ARITHMETIC, without_qt=True),
    Stage("qt-offscreen", "Qt tests, offscreen", tests="tests/qt", environment={"QT_QPA_PLATFORM": "offscreen"}),
    Stage("qt-xvfb", "Qt tests, X11", tests="tests/qt", display=True, environment={"QT_QPA_PLATFORM": "xcb"}),
    Stage("probes", "probes in real environments", tests="tests/probes"),
    Stage("windows-unit", "unit tests, Windows", tests="tests/unit", leaves_out=_VARIED, lab=True),
    Stage("windows-qt", "Qt tests, Windows", tests="tests/qt", lab=True),
    Stage("windows-sources", "Windows' sources over stand-in DLLs", tests="tests/windows", lab=True),
    Stage("frozen-build", "Windows programs and installer", ("packaging/dev.py", "build"), lab=True),
    Stage("frozen-tests", "tests of the built programs", tests="tests/frozen"),
)
CHECKS = tuple(stage for stage in STAGES if not (stage.tests or stage.lab))


@dataclass
class Outcome:
    """What became of a stage."""

    stage: Stage
    ok: bool
    seconds: float
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    remark: str = ""


def select(names: list[str]) -> tuple[Stage, ...]:
    """The stages named, in their order; ``qt`` stands for all that begin so. None named: all. Raises SetupFailed."""
    chosen: set[str] = set()
    for name in names:
        matches = {stage.name for stage in STAGES if stage.name == name or stage.name.startswith(f"{name}-")}
        if not matches:
            raise SetupFailed(f"no stage is called {name!r}; there are: {', '.join(stage.name for stage in STAGES)}")
        chosen |= matches
    return tuple(stage for stage in STAGES if stage.name in chosen or not names)


def run(stages: tuple[Stage, ...]) -> int:
    """Run them all, whatever fails; print a table. 0 when every stage is well."""
    outcomes = []
    for stage in stages:
        if stage.display and sys.platform != "linux":
            continue  # there is one real display elsewhere, and nobody should lose it to tests
        say(f"\n=== {stage.title}")
        start = time.monotonic()
        try:
            if stage.lab and (why := winlab.cannot_run()):
                outcome = Outcome(stage, ok=True, seconds=0, remark=f"not run: {why}")
            else:
                outcome = _run_tests(stage) if stage.tests else _run_check(stage)
        except SetupFailed as failure:
            outcome = Outcome(stage, ok=False, seconds=0, remark=str(failure))
            say(str(failure))
        outcome.seconds = time.monotonic() - start
        say(f"=== {stage.title}: {'ok' if outcome.ok else 'FAILED'} after {outcome.seconds:.1f} s")
        outcomes.append(outcome)
    _print_table(outcomes)
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def _run_check(stage: Stage) -> Outcome:
    code = subprocess.call([str(PYTHON), *stage.words], cwd=ROOT, stdin=subprocess.DEVNULL)
    return Outcome(stage, ok=code == 0, seconds=0, remark="" if code == 0 else f"exit code {code}")


def _run_tests(stage: Stage) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="gpumon-") as folder, _display(stage) as display:
        report = Path(folder) / "report.xml"
        words = [str(PYTHON), "-m", "pytest"] if not stage.lab else winlab.pytest_words(Path(folder))
        words += [stage.tests, "-q", f"--junit-xml={report}"]
        words += [f"--ignore={stage.leaves_out}"] if stage.leaves_out else []
        environment = {**os.environ, **stage.environment, **display}
        if stage.without_qt:
            words += ["-p", "no:pytest-qt"]
            environment["PYTHONPATH"] = str(_decoys(Path(folder) / "no-qt"))
        code = subprocess.call(words, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment)
        outcome = Outcome(stage, ok=code == 0, seconds=0)
        complete = report.is_file()
        if complete:
            _count(outcome, report)
    if code == 5 and not any((ROOT / stage.tests).rglob("test_*.py")):
        outcome.ok, outcome.remark = True, "no tests yet"
    elif code != 0 or not complete:
        outcome.ok = False
        outcome.remark = {0: "ended early", 2: "interrupted", 5: "no test was found"}.get(code, f"exit code {code}")
        outcome.failed = max(1, outcome.failed)  # a crash leaves no count, yet must not read "0 failed"
    return outcome


def _decoys(folder: Path) -> Path:
    """A folder that, first on the path, makes Qt look not installed: for started programs too."""
    folder.mkdir()
    for name in QT_MODULES:
        text = f"raise ModuleNotFoundError({f'No module named {name!r} (blocked by the tests)'!r}, name={name!r})\n"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


@contextmanager
def _display(stage: Stage) -> Iterator[dict[str, str]]:
    """A virtual X display on a number of its own, as environment variables.

    With a window manager: without one no window ever becomes the active one, and keys go nowhere.
    """
    if not stage.display:
        yield {}
        return
    words = ["Xvfb", "-displayfd", "1", "-screen", "0", "2560x1600x24", "-nolisten", "tcp", "-noreset"]
    with tempfile.TemporaryFile() as errors:
        try:
            server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        except FileNotFoundError:
            raise SetupFailed("Xvfb is not installed (Debian, Ubuntu: apt-get install xvfb)") from None
        try:
            assert server.stdout is not None
            number = server.stdout.readline().decode().strip()
            if not number:
                errors.seek(0)
                raise SetupFailed(f"Xvfb did not start: {errors.read().decode(errors='replace').strip()}")
            display = {"DISPLAY": f":{number}", "WAYLAND_DISPLAY": "", "XDG_SESSION_TYPE": "x11"}
            with _window_manager(display):
                yield display
        finally:
            server.terminate()
            server.wait()


@contextmanager
def _window_manager(display: dict[str, str]) -> Iterator[None]:
    """openbox on that display, from the moment it is ready."""
    words = ["openbox", "--sm-disable", "--startup", "echo ready"]
    try:
        manager = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **display},
        )
    except FileNotFoundError:
        raise SetupFailed("openbox is not installed (Debian, Ubuntu: apt-get install openbox)") from None
    try:
        assert manager.stdout is not None
        if not manager.stdout.readline():
            raise SetupFailed("openbox did not start on the virtual display")
        yield
    finally:
        manager.terminate()
        manager.wait()


def _count(outcome: Outcome, report: Path) -> None:
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        counts = {name: int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")}
        outcome.failed += counts["failures"] + counts["errors"]
        outcome.skipped += counts["skipped"]
        outcome.passed += counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"]


def _print_table(outcomes: list[Outcome]) -> None:
    say("")
    width = max(len(outcome.stage.title) for outcome in outcomes)
    for outcome in outcomes:
        counts = f"  {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        line = f"{'ok    ' if outcome.ok else 'FAILED'}  {outcome.stage.title:<{width}}  {outcome.seconds:7.1f} s"
        say(line + (counts if outcome.stage.tests else "") + (f"  ({outcome.remark})" if outcome.remark else ""))
    tests = [outcome for outcome in outcomes if outcome.stage.tests]
    if tests:
        passed, failed, skipped = (sum(getattr(o, name) for o in tests) for name in ("passed", "failed", "skipped"))
        say(f"{passed} passed, {failed} failed, {skipped} skipped")
