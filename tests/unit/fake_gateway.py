"""Knows: a machine made of a few dictionaries, for tests of what asks a gateway. Must not know: what is asked."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Mapping
from dataclasses import replace
from threading import Event
from typing import Any

from gpumon_gui.diagnosis.gateway import Command, Failure, FileInfo, FileKind, Ran, RegistryKey, fitting, lines_of


class FakeGateway:
    """``files`` maps paths to contents (``None`` for a folder, ``"-> target"`` for a link, ``"dev"`` for a device that
    this user may use, ``"dev!"`` for one that they may not); folders above them exist. ``runs`` maps the words of a
    command, joined by spaces, to what it does; an entry that is only the beginning serves as well."""

    def __init__(
        self,
        platform: str = "linux",
        files: Mapping[str, str | bytes | None] | None = None,
        variables: Mapping[str, str] | None = None,
        runs: Mapping[str, Ran | str] | None = None,
        registry: Mapping[str, Mapping[str, Any]] | None = None,
        asked: Mapping[str, Any] | None = None,
    ) -> None:
        self._platform = platform
        self._path = ntpath if platform == "win32" else posixpath
        self._files = {self._key(path): (path, content) for path, content in (files or {}).items()}
        self._variables = dict(variables or {})
        self._runs = dict(runs or {})
        self._registry = dict(registry or {})
        self._asked = dict(asked or {})
        self.commands: list[Command] = []

    @property
    def platform(self) -> str:
        return self._platform

    def time_utc_s(self) -> float:
        return 1_800_000_000.0

    def run(self, command: Command, cancel: Event | None = None) -> Ran:
        self.commands.append(command)
        words = " ".join(command.words)
        start = max((key for key in self._runs if words.startswith(key)), key=len, default=None)
        if start is None:
            return Ran(None, failure=Failure.NOT_FOUND)
        ran = self._runs[start]
        done = Ran(0, ran.encode()) if isinstance(ran, str) else ran
        return replace(done, stdout=lines_of(done.stdout, command.only_lines))

    def read(self, path: str, limit_bytes: int = 1_000_000) -> bytes | None:
        info = self.info(path)
        if info is None or info.kind is not FileKind.FILE:
            return None
        content = self._files[self._key(info.real_path)][1]
        data = content.encode() if isinstance(content, str) else content or b""
        return data[:limit_bytes]

    def info(self, path: str) -> FileInfo | None:
        real = self._real(path)
        content = self._files.get(self._key(real), ("", ""))[1] if self._key(real) in self._files else "none"
        if self._key(real) not in self._files:
            if any(key.startswith(self._key(real).rstrip("\\/") + self._path.sep) for key in self._files):
                return FileInfo(FileKind.FOLDER, 0, 0.0, real)
            return FileInfo(FileKind.DANGLING, 0, 0.0, path) if real != self._plain(path) else None
        if content is None:
            return FileInfo(FileKind.FOLDER, 0, 0.0, real)
        if content in ("dev", "dev!"):
            return FileInfo(FileKind.DEVICE, 0, 0.0, real, content == "dev", content == "dev")
        return FileInfo(FileKind.FILE, len(content), 0.0, real)

    def listing(self, folder: str, pattern: str = "*") -> tuple[str, ...]:
        start = self._key(self._real(folder)).rstrip("\\/") + self._path.sep
        names = {
            path[len(start) :].split(self._path.sep)[0]
            for key, (path, _) in self._files.items()
            if key.startswith(start)
        }
        return fitting(names, pattern, windows=self._platform == "win32")

    def variables(self) -> Mapping[str, str]:
        return self._variables

    def registry(self, path: str) -> RegistryKey | None:
        below = {key[len(path) + 1 :].split("\\")[0] for key in self._registry if key.startswith(path + "\\")}
        if path not in self._registry and not below:
            return None
        return RegistryKey(self._registry.get(path, {}), tuple(sorted(below)))

    def ask(self, question: str, argument: str = "") -> Any:
        return self._asked.get(f"{question} {argument}".strip())

    def _plain(self, path: str) -> str:
        return str(self._path.normpath(path))

    def _key(self, path: str) -> str:
        return str(self._path.normcase(self._plain(path)))

    def _real(self, path: str) -> str:
        """All links on the way resolved."""
        path = self._plain(path)
        for _ in range(20):
            parts = path.split(self._path.sep)
            for end in range(len(parts), 0, -1):
                head = self._path.sep.join(parts[:end])
                content = self._files.get(self._key(head), ("", None))[1] if head else None
                if isinstance(content, str) and content.startswith("-> "):
                    target = self._path.join(self._path.dirname(head), content[3:])
                    path = self._plain(self._path.join(target, *parts[end:]))
                    break
            else:
                return path
        return path
