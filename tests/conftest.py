"""Knows: what every test may rely on and must leave behind. Must not know: what is tested.

English, a UTF-8 environment, no window on anybody's screen; and after each test no thread and no child process of its
own is left. The unit tests also run where Qt is not installed, so nothing here imports it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from gpumon_gui.core import messages
from tests.windows import limits

ROOT = Path(__file__).resolve().parents[1]
GRACE_S = 3.0  # a thread or process that was told to end gets this long to do so

# Before any test starts a program or Qt: children inherit it.
for _variable in ("LANGUAGE", "LC_MESSAGES", "LANG"):
    os.environ.pop(_variable, None)
os.environ["LC_ALL"] = "C.UTF-8"
os.environ["PYTHONUTF8"] = "1"
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"
# A shell's background job or nohup has them ignored, and children inherit that too.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Without pytest-qt its settings in pyproject.toml would be unknown, which strict mode refuses."""
    if not pluginmanager.hasplugin("pytest-qt"):
        for name in ("qt_api", "qt_log_level_fail", "qt_log_ignore"):
            parser.addini(name, "of pytest-qt, which is not loaded")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """By Windows Python, skip by name what cannot run there."""
    if sys.platform == "win32":
        wine = hasattr(ctypes.WinDLL("ntdll"), "wine_get_version")
        for item in items:
            why = limits.reason(item.nodeid, wine=wine)
            if why is not None:
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def translations() -> ModuleType:
    """packaging/translations.py."""
    return packaging_module("translations")


def packaging_module(name: str) -> ModuleType:
    """A file of packaging/, which is no package: another one has that name."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Texts are English unless the test switches, and English again for the next one."""
    messages.set_language("en")
    yield
    messages.set_language("en")


@pytest.fixture(autouse=True)
def no_stray_threads() -> Iterator[None]:
    """The test ends every thread it started. Threads of Qt are watched in tests/qt."""
    before = set(threading.enumerate())
    yield
    strays = [thread for thread in threading.enumerate() if thread not in before and _is_ours(thread)]
    for thread in strays:
        thread.join(GRACE_S)
    alive = sorted(thread.name for thread in strays if thread.is_alive())
    assert not alive, f"threads still running after the test: {', '.join(alive)}"


@pytest.fixture(autouse=True)
def no_stray_children() -> Iterator[None]:
    """The test ends every process it started; what it leaves is killed, so that the next test starts clean."""
    this = psutil.Process()
    before = set(this.children(recursive=True))
    yield
    strays = [child for child in this.children(recursive=True) if child not in before and not _is_helper(child)]
    if not strays:
        return
    _gone, alive = psutil.wait_procs(strays, timeout=GRACE_S)
    named = sorted(f"{child.pid} ({_command(child)})" for child in alive)
    for child in alive:
        child.kill()
    psutil.wait_procs(alive, timeout=GRACE_S)
    assert not named, f"processes still running after the test: {', '.join(named)}"


def _is_ours(thread: threading.Thread) -> bool:
    # Dummy threads are Python's view of foreign ones and stay listed for ever; pytest-timeout waits in its own.
    return not isinstance(thread, threading._DummyThread) and not thread.name.startswith("pytest_timeout")


def _is_helper(child: psutil.Process) -> bool:
    # multiprocessing keeps these until the interpreter ends.
    return any(name in _command(child) for name in ("multiprocessing.resource_tracker", "multiprocessing.forkserver"))


def _command(child: psutil.Process) -> str:
    try:
        return " ".join(child.cmdline()) or child.name()
    except psutil.Error:
        return "gone"
