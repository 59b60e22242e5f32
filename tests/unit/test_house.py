"""The rules of the house hold, and a planted violation of each is found."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gpumon_gui"
BELOW_BRIDGE = ("core", "telemetry", "history", "system", "cli")  # and whatever joins them: none may know Qt
MARKERS = ("_", "N_", "ngettext")


# -- what is looked for -------------------------------------------------------------------------------------------


def modules(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def parsed(package: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in modules(package):
        yield path.relative_to(package).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def widgets_in_bridge(package: Path) -> list[str]:
    """bridge is Qt without widgets; import-linter cannot tell the parts of PySide6 apart."""
    found = []
    for name, tree in parsed(package / "bridge"):
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [
                f"bridge/{name}:{getattr(node, 'lineno', 0)}"
                for n in names
                if n.startswith("PySide6") and n.split(".")[1:2] not in (["QtCore"], ["QtGui"], ["QtNetwork"])
            ]
    return found


def bare_functions_connected_in_bridge(package: Path) -> list[str]:
    """A signal of a worker runs a lambda or a partial in the worker's thread, not in that of the receiver."""
    found = []
    for name, tree in parsed(package / "bridge"):
        for node in ast.walk(tree):
            if not (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "connect"
            ):
                continue
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                call = argument.func if isinstance(argument, ast.Call) else None
                if isinstance(argument, ast.Lambda) or (call is not None and _last_name(call) == "partial"):
                    found.append(f"bridge/{name}:{node.lineno}")
    return found


def untranslatable_texts(package: Path) -> list[str]:
    """Only plain texts can be found in a catalogue: no f-string, no ``.format`` and no sum inside the marker."""
    found = []
    for name, tree in parsed(package):
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKERS):
                continue
            texts = node.args[:2] if node.func.id == "ngettext" else node.args[:1]
            for text in texts:
                dynamic = isinstance(text, ast.JoinedStr | ast.BinOp) or (
                    isinstance(text, ast.Call) and _last_name(text.func) == "format"
                )
                if dynamic or (node.func.id != "_" and not isinstance(text, ast.Constant)):
                    found.append(f"{name}:{node.lineno}")
    return found


def undescribed_modules(package: Path) -> list[str]:
    """Each module says what it knows and what it must not know; an __init__ that only gathers or names does not."""
    found = []
    for name, tree in parsed(package):
        if name.endswith("__init__.py") and not any(isinstance(n, ast.FunctionDef | ast.ClassDef) for n in tree.body):
            continue
        words = ast.get_docstring(tree) or ""
        if "Knows:" not in words or "Must not know:" not in words:
            found.append(name)
    return found


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


Checker = Callable[[Path], list[str]]
CHECKERS: tuple[Checker, ...] = (
    widgets_in_bridge,
    bare_functions_connected_in_bridge,
    untranslatable_texts,
    undescribed_modules,
)


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda checker: checker.__name__)
def test_the_code_keeps_the_rule(checker: Checker) -> None:
    assert modules(PACKAGE / "bridge")
    assert checker(PACKAGE) == []


@pytest.mark.parametrize(
    ("checker", "file", "code"),
    [
        (widgets_in_bridge, "bridge/planted.py", "from PySide6.QtWidgets import QLabel"),
        (widgets_in_bridge, "bridge/planted.py", "from PySide6 import QtWidgets"),
        (widgets_in_bridge, "bridge/planted.py", "import PySide6.QtWidgets"),
        (widgets_in_bridge, "bridge/planted.py", "def f():\n    import PySide6.QtWidgets as w"),
        (bare_functions_connected_in_bridge, "bridge/planted.py", "a.done.connect(lambda: None)"),
        (bare_functions_connected_in_bridge, "bridge/planted.py", "a.done.connect(partial(f, 1))"),
        (bare_functions_connected_in_bridge, "bridge/planted.py", "a.done.connect(functools.partial(f, 1), q)"),
        (untranslatable_texts, "ui/planted.py", "_(f'{n} GPUs')"),
        (untranslatable_texts, "ui/planted.py", "N_(f'{n} GPUs')"),
        (untranslatable_texts, "ui/planted.py", "_('{n} GPUs'.format(n=n))"),
        (untranslatable_texts, "ui/planted.py", "_('GPU ' + name)"),
        (untranslatable_texts, "ui/planted.py", "N_(name)"),
        (untranslatable_texts, "ui/planted.py", "ngettext('one', f'{n} GPUs', n)"),
        (undescribed_modules, "ui/planted.py", '"""Draws."""'),
        (undescribed_modules, "ui/__init__.py", "def f(): ..."),
    ],
)
def test_a_planted_violation_is_found(checker: Checker, file: str, code: str, tmp_path: Path) -> None:
    copy = copy_of_package(tmp_path)
    (copy / file).write_text(code + "\n", encoding="utf-8")
    assert any(file.split("/")[-1] in place for place in checker(copy))


# -- import contracts ---------------------------------------------------------------------------------------------


def copy_of_package(folder: Path) -> Path:
    copy = folder / "gpumon_gui"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "resources"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return copy


def lint_imports(folder: Path) -> tuple[int, str]:
    """import-linter's exit code and words on the package below ``folder``."""
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_import_contracts_hold() -> None:
    code, words = lint_imports(ROOT)
    assert code == 0, words


@pytest.mark.parametrize(
    ("file", "code", "contract"),
    [
        ("core/planted.py", "import PySide6.QtCore", "no Qt below bridge"),
        ("core/planted.py", "import numpy", "core uses the standard library only"),
        ("telemetry/planted.py", "import pyqtgraph", "no Qt below bridge"),
        ("bridge/planted.py", "import pyqtgraph", "bridge draws nothing"),
        ("bridge/planted.py", "import gpumon_gui.ui", "layers"),
        ("cli/planted.py", "import gpumon_gui.ui", "the command line runs without the GUI"),
        ("telemetry/nvml/planted.py", "import gpumon_gui.telemetry.pdh", "a source does not know another source"),
        ("history/planted.py", "import gpumon_gui.telemetry", "layers"),
    ],
)
def test_a_planted_import_breaks_its_contract(file: str, code: str, contract: str, tmp_path: Path) -> None:
    copy = copy_of_package(tmp_path)
    (copy / file).write_text(code + "\n", encoding="utf-8")
    exit_code, words = lint_imports(tmp_path)
    assert exit_code == 1
    broken = [line for line in words.splitlines() if line.endswith("BROKEN")]
    assert any(line.startswith(contract) for line in broken), words


# -- what is loaded when ------------------------------------------------------------------------------------------


def test_nothing_below_bridge_loads_qt() -> None:
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for layer in BELOW_BRIDGE
        for path in modules(PACKAGE / layer)
    ]
    assert len(names) > 10
    code = f"""
import importlib, sys
for name in {names!r}:
    importlib.import_module(name)
    heavy = sorted({{m.partition(".")[0] for m in sys.modules}} & {{"PySide6", "shiboken6", "pyqtgraph"}})
    if heavy:
        sys.exit(f"{{name}} loads {{heavy}}")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_core_loads_the_standard_library_only() -> None:
    code = """
import sys
import gpumon_gui.core.metrics, gpumon_gui.core.reasons, gpumon_gui.core.identity, gpumon_gui.core.deadline
loaded = {m.partition(".")[0] for m in sys.modules}
third = sorted(loaded & {"numpy", "psutil", "pynvml", "msgspec", "platformdirs", "babel"})
sys.exit(f"core loads {third}" if third else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
