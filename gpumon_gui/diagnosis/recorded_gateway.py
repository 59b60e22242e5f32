"""Knows: a machine's answers as a folder: how they are written down and given again. Must not know: what they mean.

``gateway.jsonl`` in the folder has one answer a line, in the order of the questions; texts longer than a screen are
files of their own beside it, so that a person can read both. A question that was never asked then has the answer of a
machine where the thing is not there.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final, TypeVar

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.messages import _
from gpumon_gui.core.redact import hide_secrets
from gpumon_gui.diagnosis.gateway import Command, Failure, FileInfo, FileKind, Gateway, Ran, RegistryKey
from gpumon_gui.diagnosis.probe_scripts.probe import VARIABLES

SCHEMA: Final = "gpumon-gateway/1"
NAME: Final = "gateway.jsonl"
_LONG = 2000
#: Variables that a recording keeps: those that matter for a GPU or tell where things lie. Others may hold secrets.
_KEPT_VARIABLES = re.compile(
    r"^(PATH|HOME|LANG|USERPROFILE|LOCALAPPDATA|APPDATA|PROGRAMDATA|ALLUSERSPROFILE|PROGRAMFILES|PROGRAMW6432|"
    r"SYSTEMROOT|WORKON_HOME|WSL_DISTRO_NAME|KUBERNETES_SERVICE_HOST|CONTAINER|APPTAINER_CONTAINER|XDG_\w+_HOME|"
    r"(PYENV|CONDA|_CONDA|MAMBA|UV|POETRY|JUPYTER)(_[A-Z0-9_]*)?(ROOT|EXE|PREFIX|PATH|DIR|DIRS|ENV|VERSION|PREFIX_\d)?)$"
    rf"|{VARIABLES.pattern}",
    re.IGNORECASE,
)
_T = TypeVar("_T")


class RecordingGateway:
    """Passes every question on and remembers the answer."""

    def __init__(self, inner: Gateway) -> None:
        self._inner = inner
        self._lock = Lock()
        self._answers: dict[str, tuple[list[Any], Any]] = {}

    @property
    def platform(self) -> str:
        """``sys.platform`` of the machine."""
        return self._inner.platform

    def time_utc_s(self) -> float:
        """Seconds since 1970 there."""
        return self._inner.time_utc_s()

    def run(self, command: Command, cancel: Event | None = None) -> Ran:
        """Run a command; one that was cancelled is not remembered."""
        ran = self._inner.run(command, cancel)
        if ran.failure is not Failure.CANCELLED:
            self._keep(_run_question(command), ran)
        return ran

    def read(self, path: str, limit_bytes: int = 1_000_000) -> bytes | None:
        """The beginning of a regular file."""
        return self._kept(["read", path], self._inner.read(path, limit_bytes))

    def info(self, path: str) -> FileInfo | None:
        """What stands at a path."""
        return self._kept(["info", path], self._inner.info(path))

    def listing(self, folder: str, pattern: str = "*") -> tuple[str, ...]:
        """The names in a folder that fit."""
        return self._kept(["listing", folder, pattern], self._inner.listing(folder, pattern))

    def variables(self) -> Mapping[str, str]:
        """The user's environment variables."""
        return self._kept(["variables"], self._inner.variables())

    def registry(self, path: str) -> RegistryKey | None:
        """A registry key."""
        return self._kept(["registry", path], self._inner.registry(path))

    def ask(self, question: str, argument: str = "") -> Any:
        """A fact of the operating system."""
        return self._kept(["ask", question, argument], self._inner.ask(question, argument))

    def _kept(self, question: list[Any], answer: _T) -> _T:
        self._keep(question, answer)
        return answer

    def _keep(self, question: list[Any], answer: Any) -> None:
        with self._lock:
            self._answers[json.dumps(question)] = (question, answer)

    def save(self, folder: Path, redact: Callable[[str], str] = lambda text: text) -> None:
        """Write all answers so far. ``redact`` sees every text, in questions and answers alike, so that both keep
        fitting; it must give the same for the same. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        for old in (*folder.glob("answer-*.txt"), folder / NAME):
            old.unlink(missing_ok=True)
        lines = [{"schema": SCHEMA, "platform": self.platform, "time_utc_s": self.time_utc_s()}]
        with self._lock:
            answers = list(self._answers.values())
        for question, answer in answers:
            if answer is None or answer == ():
                continue  # the same as never asked
            plain = _without_secrets(question, _plain(answer))
            lines.append({"ask": _texts(question, redact), "answer": _texts(plain, redact)})
        for index, line in enumerate(lines):
            answer = line.get("answer")
            holders = answer if isinstance(answer, dict) else line
            for name in ("stdout", "stderr", "result", "answer"):
                text = holders.get(name)
                if isinstance(text, str) and len(text) > _LONG:
                    file = f"answer-{index:04}-{name}.txt"
                    (folder / file).write_text(text, encoding="utf-8", newline="")
                    holders[name] = {"file": file}
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / NAME).write_text(text, encoding="utf-8", newline="\n")


class RecordedGateway:
    """A machine from a folder. Raises UnreadableInput naming the file and line."""

    def __init__(self, folder: Path) -> None:
        self._answers: dict[str, Any] = {}
        path = folder / NAME
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            head = json.loads(lines[0]) if lines else {}
            if not isinstance(head, dict) or head.get("schema") != SCHEMA:
                raise UnreadableInput(_('{path}: expected schema "{schema}"').format(path=path, schema=SCHEMA))
            self._platform = str(head.get("platform", ""))
            self._time_utc_s = float(head.get("time_utc_s", 0.0))
            for line in lines[1:]:
                entry = json.loads(line)
                self._answers[json.dumps(entry["ask"])] = _resolved(entry["answer"], folder)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnreadableInput(
                _("{path}: not a recorded machine: {detail}").format(path=path, detail=error)
            ) from error

    @property
    def platform(self) -> str:
        """``sys.platform`` of the machine that was recorded."""
        return self._platform

    def time_utc_s(self) -> float:
        """When it was recorded."""
        return self._time_utc_s

    def run(self, command: Command, cancel: Event | None = None) -> Ran:
        """What the command gave then."""
        if cancel is not None and cancel.is_set():
            return Ran(None, failure=Failure.CANCELLED)
        answer = self._answers.get(json.dumps(_run_question(command)))
        if not isinstance(answer, dict):
            return Ran(None, failure=Failure.NOT_FOUND, detail="not recorded")
        failure = answer.get("failure")
        return Ran(
            answer.get("code"),
            _bytes(answer.get("stdout", "")),
            _bytes(answer.get("stderr", "")),
            _bytes(answer.get("result", "")),
            Failure(failure) if failure else None,
            str(answer.get("detail", "")),
            float(answer.get("seconds", 0.0)),
            int(answer.get("dropped_bytes", 0)),
        )

    def read(self, path: str, limit_bytes: int = 1_000_000) -> bytes | None:
        """The beginning of the file then."""
        answer = self._answers.get(json.dumps(["read", path]))
        return None if answer is None else _bytes(answer)[:limit_bytes]

    def info(self, path: str) -> FileInfo | None:
        """What stood at the path."""
        answer = self._answers.get(json.dumps(["info", path]))
        if not isinstance(answer, dict):
            return None
        return FileInfo(**{**answer, "kind": FileKind(answer["kind"])})

    def listing(self, folder: str, pattern: str = "*") -> tuple[str, ...]:
        """The names in the folder that fitted."""
        return tuple(self._answers.get(json.dumps(["listing", folder, pattern])) or ())

    def variables(self) -> Mapping[str, str]:
        """The environment variables."""
        return dict(self._answers.get(json.dumps(["variables"])) or {})

    def registry(self, path: str) -> RegistryKey | None:
        """The registry key."""
        answer = self._answers.get(json.dumps(["registry", path]))
        if not isinstance(answer, dict):
            return None
        return RegistryKey(answer.get("values", {}), tuple(answer.get("subkeys", ())))

    def ask(self, question: str, argument: str = "") -> Any:
        """The fact of the operating system."""
        return self._answers.get(json.dumps(["ask", question, argument]))


def _without_secrets(question: list[Any], answer: Any) -> Any:
    """Answers that are a whole environment lose the variables nobody needs."""
    if question == ["variables"] and isinstance(answer, dict):
        return _kept_variables(answer)
    if question[:2] == ["ask", "process"] and isinstance(answer, dict) and isinstance(answer.get("environ"), dict):
        return {**answer, "environ": _kept_variables(answer["environ"])}
    return answer


def _kept_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in variables.items() if _KEPT_VARIABLES.match(name)}
    return {name: value for name, value in kept.items() if hide_secrets(f"{name}=x") == f"{name}=x"}


def _run_question(command: Command) -> list[Any]:
    return ["run", list(command.words), dict(sorted(command.changes.items())), command.input, command.cwd]


def _plain(answer: Any) -> Any:
    if isinstance(answer, bytes):
        return _written(answer)
    if isinstance(answer, Ran):
        fields = asdict(answer)
        kept = {name: _written(value) if isinstance(value, bytes) else value for name, value in fields.items()}
        return {name: value for name, value in kept.items() if value not in ("", None, 0)} | {"code": answer.code}
    if isinstance(answer, FileInfo | RegistryKey):
        return asdict(answer)
    if isinstance(answer, Mapping):
        return dict(answer)
    return answer


def _written(data: bytes) -> Any:
    """Text as text, everything else as base64."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _bytes(value: Any) -> bytes:
    if isinstance(value, dict):
        return base64.b64decode(value["base64"])
    return str(value).encode("utf-8")


def _texts(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [_texts(entry, redact) for entry in value]
    if isinstance(value, dict):
        return {redact(key): _texts(entry, redact) for key, entry in value.items()}
    return value


def _resolved(answer: Any, folder: Path) -> Any:
    """The answer with the texts that stand in files of their own."""
    if isinstance(answer, dict):
        if set(answer) == {"file"} and str(answer["file"]).startswith("answer-"):
            return (folder / Path(answer["file"]).name).read_bytes().decode("utf-8")
        return {name: _resolved(entry, folder) for name, entry in answer.items()}
    return answer
