"""Knows: how values below HKEY_CURRENT_USER are read and written. Must not know: which."""

from __future__ import annotations

import importlib
from typing import Any, Protocol


class UserRegistry(Protocol):
    """The door to the user's own part of the registry. Paths as ``Software\\...``."""

    def read(self, path: str, name: str) -> object | None:
        """Text, number or bytes; None when there is no such value."""
        ...

    def write(self, path: str, name: str, text: str) -> None:
        """Write a text; makes the key where it lacks. Raises OSError."""
        ...

    def delete(self, path: str, name: str) -> None:
        """Take a value away; one that is not there is no fault. Raises OSError."""
        ...


class WindowsUserRegistry:
    """The real one."""

    def __init__(self) -> None:
        self._api: Any = importlib.import_module("winreg")  # by name: type checkers know it only on Windows

    def read(self, path: str, name: str) -> object | None:
        try:
            with self._api.OpenKey(self._api.HKEY_CURRENT_USER, path) as key:
                found: object = self._api.QueryValueEx(key, name)[0]
        except OSError:
            return None
        return found

    def write(self, path: str, name: str, text: str) -> None:
        with self._api.CreateKey(self._api.HKEY_CURRENT_USER, path) as key:
            self._api.SetValueEx(key, name, 0, self._api.REG_SZ, text)

    def delete(self, path: str, name: str) -> None:
        try:
            with self._api.OpenKey(self._api.HKEY_CURRENT_USER, path, 0, self._api.KEY_SET_VALUE) as key:
                self._api.DeleteValue(key, name)
        except FileNotFoundError:
            pass
