"""Knows: what a test of the window must leave behind. Must not know: the window.

After each test no QThread runs, no QTimer is active and no top-level widget exists that was not there before.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QThread, QTimer
from PySide6.QtGui import QWindow
from PySide6.QtWidgets import QApplication, QWidget

# Qt lists neither its threads nor its timers, so starting one leaves a note here.
_threads: weakref.WeakSet[QThread] = weakref.WeakSet()
_timers: weakref.WeakSet[QTimer] = weakref.WeakSet()


def _noting(start: Callable[..., None], started: weakref.WeakSet[Any]) -> Callable[..., None]:
    def wrapper(self: QObject, *args: Any, **kwargs: Any) -> None:
        started.add(self)
        start(self, *args, **kwargs)

    return wrapper


@pytest.fixture(scope="session", autouse=True)
def catalogue(translations: ModuleType) -> None:
    """The compiled Chinese catalogue lies where the program looks for it."""
    translations.compile_catalogues()


@pytest.fixture(scope="session", autouse=True)
def qts_own_dialogs() -> None:
    """No test can work Windows' file dialog, which has a thread of its own."""
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)


@pytest.fixture(scope="session", autouse=True)
def helper_window_of_trees(qapp: QApplication) -> Iterator[None]:
    """Windows' style makes a hidden window for its first tree. Wine makes it the active one, Windows does not."""
    if os.name != "nt":
        yield
        return
    user32 = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    user32.GetForegroundWindow.restype = ctypes.c_void_p
    user32.GetClassNameW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_int]
    before: list[QWindow] = []

    def on_change(window: QWindow | None) -> None:
        kind = ctypes.create_unicode_buffer(256)
        if window is not None:
            before[:] = [window]
            return
        user32.GetClassNameW(user32.GetForegroundWindow(), kind, 256)
        if kind.value.endswith("ThemeHelperWindowClass") and before and shiboken6.isValid(before[0]):
            before[0].requestActivate()

    qapp.focusWindowChanged.connect(on_change)
    yield
    qapp.focusWindowChanged.disconnect(on_change)


@pytest.fixture(scope="session", autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a live window keeps stays out of the folders of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def notes_of_starts() -> Iterator[None]:
    """Every start of a QThread or QTimer is noted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QThread, "start", _noting(QThread.start, _threads))
        patch.setattr(QTimer, "start", _noting(QTimer.start, _timers))
        yield


@pytest.fixture
def uncaught(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """What nobody caught, in any thread. Without this fixture such a fault fails the test."""
    found: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: found.append(error))
    return found


@pytest.fixture(autouse=True)
def nothing_of_qt_left(notes_of_starts: None) -> Iterator[None]:
    """No QThread, QTimer or top-level widget outlives the test."""
    before = _alive()
    yield
    _settle()
    left = _new(before)
    if left:  # a cycle may hold what nobody uses any more; collecting on every test would be slow
        del left
        gc.collect()
        _settle()
        left = _new(before)
    names = sorted(f"{_kind(thing)} {_name(thing)}" for thing in left)
    for thing in left:  # the next test starts clean
        if isinstance(thing, QTimer):
            thing.stop()
        elif isinstance(thing, QWidget):
            thing.close()
            thing.deleteLater()
        elif isinstance(thing, QThread):
            thing.quit()
            thing.wait(2000)
    del left
    assert not names, f"left alive after the test: {', '.join(names)}"


def _settle() -> None:
    if QCoreApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QCoreApplication.processEvents()


def _alive() -> list[QObject]:
    threads = [thread for thread in _threads if shiboken6.isValid(thread) and thread.isRunning()]
    timers = [timer for timer in _timers if shiboken6.isValid(timer) and timer.isActive()]
    widgets: list[QWidget] = []
    if isinstance(QApplication.instance(), QApplication):
        widgets = [w for w in QApplication.topLevelWidgets() if shiboken6.isValid(w) and not _is_of_qt(w)]
    return [*threads, *timers, *widgets]


def _new(before: list[QObject]) -> list[QObject]:
    return [thing for thing in _alive() if not any(thing is old for old in before)]


def _is_of_qt(widget: QWidget) -> bool:
    return widget.metaObject().className() in {"QTipLabel", "QComboBoxPrivateContainer", "QDesktopScreenWidget"}


def _kind(thing: QObject) -> str:
    return "QThread" if isinstance(thing, QThread) else "QTimer" if isinstance(thing, QTimer) else "widget"


def _name(thing: QObject) -> str:
    parent = thing.parent()
    owner = f" of {type(parent).__name__}" if parent is not None else ""
    return f"{type(thing).__name__} {thing.objectName()!r}{owner}"
