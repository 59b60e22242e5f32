"""Knows: how a section of a probe script is run in an interpreter, and what its end means.
Must not know: which facts a section has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

from gpumon_gui.diagnosis import facts_file
from gpumon_gui.diagnosis.environments.base import Environment, Kind
from gpumon_gui.diagnosis.gateway import (
    RESULT,
    SCRIPTS,
    Command,
    Gateway,
    Ran,
    is_windows,
    json_of,
    matches,
    paths,
    read_text,
    search_path,
    which,
)
from gpumon_gui.diagnosis.probe_scripts import probe
from gpumon_gui.diagnosis.probe_scripts.probe import MARK, VARIABLES

#: Facts and texts of a hostile program stay within this.
_MAX_LINES = 2000
_MAX_TEXT = 8000
_TAIL = 1500
_SURROGATES = re.compile("[\ud800-\udfff]")
#: For interpreters that cannot read the script: what they are.
_WHO = "import sys; print('.'.join(str(n) for n in sys.version_info[:3]))"
_ACTIVATE = 'for f in "$0"/etc/conda/activate.d/*.sh; do . "$f" >/dev/null 2>&1; done; exec "$@"'


@dataclass(frozen=True, slots=True)
class Section:
    """What came of it. ``facts`` are nested; ``problem`` is empty when it ran to its end: ``not-found``,
    ``no-permission``, ``not-started``, ``timed-out``, ``too-much-memory``, ``cancelled``, ``crashed`` (by a signal or
    an error code of Windows) or ``failed`` (it ended by itself, too early). ``stage`` is what was being tried then."""

    facts: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    stage: str = ""
    detail: str = ""
    output: str = ""
    seconds: float = 0.0


def run_section(
    gateway: Gateway,
    environment: Environment,
    section: str,
    *,
    project: str | None,
    timeout_s: float,
    cancel: Event,
    changes: Mapping[str, str | None] | None = None,
    script: ModuleType = probe,
    settings: str = "",
) -> Section:
    """Run one section of a script in that interpreter. ``settings`` is the last word of its command (no spaces); the
    project's folder where there are none."""
    arguments = (section, *((settings,) if settings else ()))
    if project is not None and not settings and not environment.distribution:
        arguments = (section, project)
    ran = gateway.run(_command(gateway, environment, script, arguments, timeout_s, changes or {}), cancel)
    facts, stage, done, printed = _parsed(environment, ran)
    output = _clean(printed + ran.err)
    problem, detail = ("", "") if done else _problem(ran, output)
    return Section(facts, problem, stage, detail, output, ran.seconds)


def version_of(gateway: Gateway, environment: Environment, cancel: Event) -> str | None:
    """The version of an interpreter the script does not run in (Python 2); None when it says nothing sensible."""
    words = (*_reach(environment, {}), environment.path, "-c", _WHO)
    ran = gateway.run(Command(words, timeout_s=10), cancel)
    match = re.search(r"^(\d+\.\d+\.\d+)\s*$", ran.out, re.MULTILINE)
    return match.group(1) if match and ran.ok else None


def _command(
    gateway: Gateway,
    environment: Environment,
    script: ModuleType,
    arguments: tuple[str, ...],
    timeout_s: float,
    changes: Mapping[str, str | None],
) -> Command:
    changes = {"PYTHONFAULTHANDLER": "1", "PYTHONDONTWRITEBYTECODE": "1", **changes}  # not all know the options for it
    variables = {**_activation(gateway, environment), **_of_process(environment), **changes}
    if environment.distribution:
        reach = _reach(environment, {name: value for name, value in changes.items() if value is not None})
        words = (*reach, environment.path, "-", "-", *arguments)
        return Command(words, timeout_s, input=script_text(script))
    words = (environment.path, f"{SCRIPTS}/{Path(str(script.__file__)).stem}.py", RESULT, *arguments)
    scripts = f"{environment.prefix}/etc/conda/activate.d"
    if environment.kind is Kind.CONDA and not is_windows(gateway) and matches(gateway, scripts, "*.sh"):
        shell = which(gateway, "bash") or "/bin/sh"
        words = (shell, "-c", _ACTIVATE, environment.prefix, *words)
    return Command(words, timeout_s, changes=variables, takes_result=True)


def script_text(script: ModuleType = probe) -> str:
    """The script itself, for interpreters that cannot see this program's files."""
    return Path(str(script.__file__)).with_suffix(".py").read_text(encoding="utf-8")


def _reach(environment: Environment, variables: Mapping[str, str]) -> tuple[str, ...]:
    """The words before an interpreter in a WSL distribution, into which no variables are inherited."""
    if not environment.distribution:
        return ()
    settings = tuple(f"{name}={value}" for name, value in sorted(variables.items()))
    return ("wsl.exe", "-d", environment.distribution, "--exec", *(("env", *settings) if settings else ()))


def _activation(gateway: Gateway, environment: Environment) -> dict[str, str | None]:
    """What activating a conda environment changes: on Windows its libraries are found by PATH only, so without this
    imports would fail that work for the user."""
    if environment.kind is not Kind.CONDA or environment.distribution:
        return {}
    join = paths(gateway).join
    windows = is_windows(gateway)
    below = (
        ("", r"Library\mingw-w64\bin", r"Library\usr\bin", r"Library\bin", "Scripts", "bin") if windows else ("bin",)
    )
    folders = [str(join(environment.prefix, name)) if name else environment.prefix for name in below]
    changes: dict[str, str | None] = {
        "PATH": (";" if windows else ":").join((*folders, *search_path(gateway))),
        "CONDA_PREFIX": environment.prefix,
        "CONDA_DEFAULT_ENV": environment.name,
    }
    state = json_of(read_text(gateway, str(join(environment.prefix, "conda-meta", "state"))) or "")
    variables = state.get("env_vars") if isinstance(state, dict) else None
    if isinstance(variables, dict):  # conda env config vars set
        changes.update({str(name): str(value) for name, value in variables.items()})
    return changes


def _of_process(environment: Environment) -> dict[str, str | None]:
    """The variables of the process it was found by, where they matter."""
    own = {name: value for name, value in environment.variables.items() if VARIABLES.match(name) or name == "PATH"}
    return dict(own)


def _parsed(environment: Environment, ran: Ran) -> tuple[dict[str, Any], str, bool, str]:
    """Facts, the last stage, whether it came to its end, and standard output without the facts."""
    facts: dict[str, Any] = {}
    stage, done = "", False
    if environment.distribution:
        lines = [line.rstrip("\r") for line in ran.out.split("\n")]  # the mark itself ends a line for splitlines()
        text = "\n".join(line[len(MARK) :] for line in lines if line.startswith(MARK))
        printed = "\n".join(line for line in lines if not line.startswith(MARK))
    else:
        text, printed = ran.result.decode("ascii", "replace"), ran.out
    for line in text.splitlines()[:_MAX_LINES]:
        entry = json_of(line)
        if not isinstance(entry, dict):
            continue  # cut off by the process's end
        stage = str(entry.get("stage", stage))
        done = done or entry.get("done") is True
        path = entry.get("put")
        if isinstance(path, str) and "value" in entry:
            value = _clean_value(entry["value"])
            if facts_file.fits(path, value):  # the module may not be what it seems
                _put(facts, path.split("."), value)
    return facts, stage, done, printed


def _put(facts: dict[str, Any], path: list[str], value: Any) -> None:
    for name in path[:-1]:
        inner = facts.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        facts = inner
    facts[path[-1]] = value


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)[:_MAX_TEXT]
    if isinstance(value, list):
        return [_clean_value(entry) for entry in value]
    if isinstance(value, dict):
        return {_clean(str(name)): _clean_value(entry) for name, entry in value.items()}
    return value


def _clean(text: str) -> str:
    """File names that are not UTF-8 come as lone surrogates, which no report could be written with."""
    return _SURROGATES.sub("\ufffd", text).replace("\0", "")


#: As Python's faulthandler begins its account.
_FATAL = ("Fatal Python error", "Windows fatal exception")


def _problem(ran: Ran, output: str) -> tuple[str, str]:
    said = output.strip()
    # Python names the crash first, then every thread: the end alone may be that of another thread.
    crash = max(said.rfind(words) for words in _FATAL)
    tail = said[-_TAIL:] if crash < 0 else said[crash : crash + _TAIL]
    if ran.failure is not None:
        return ran.failure.value, tail or ran.detail
    code = ran.code if ran.code is not None else 0
    # Windows' error codes of crashes (NTSTATUS, 0xC0000005) are huge; Python's own are small.
    is_crash = code < 0 or code >= 0x80000000
    words = f"signal {-code}" if code < 0 else f"exit code {hex(code) if is_crash else code}"
    return "crashed" if is_crash else "failed", f"{words}\n{tail}".strip()


def shortened(text: str, limit: int = _MAX_TEXT) -> str:
    """Beginning and end of a long output."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit // 2]}\n[…]\n{text[-limit // 2 :]}"
