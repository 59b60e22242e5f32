"""Knows: how a fix is written down for this user's system, installer and shell. Must not know: which cause it fixes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Step

PYTORCH_INDEX = "https://download.pytorch.org/whl"

RUN_IN_ENVIRONMENT = N_("In this environment, run:")
REMOVE = N_("Remove what is installed in this environment now:")
CHECK = N_("Then check:")


def is_windows(view: View) -> bool:
    """Native Windows; WSL is Linux."""
    return view.text("os.family") == "windows"


def python_of(view: View) -> str:
    """The interpreter to write in a command: its full path where it is known, quoted for the shell."""
    path = view.text("interpreter.path")
    if path is None:
        return "python"
    if is_windows(view):
        return f'& "{path}"' if " " in path else path
    return shlex.quote(path)


def uses_uv(view: View) -> bool:
    """Whether uv made the environment."""
    return view.text("interpreter.install_source") == "uv"


def pip_install(view: View, packages: str, *, index: str = "", options: str = "") -> str:
    """The command that installs packages into this very environment, with its installer."""
    tail = " ".join(part for part in (options, packages, f"--index-url {index}" if index else "") if part)
    if uses_uv(view):
        return f"uv pip install --python {python_of(view)} {tail}"
    return f"{python_of(view)} -m pip install {tail}"


def pip_uninstall(view: View, packages: str) -> str:
    """The command that removes packages from this very environment."""
    if uses_uv(view):
        return f"uv pip uninstall --python {python_of(view)} {packages}"
    return f"{python_of(view)} -m pip uninstall -y {packages}"


def remove(view: View, *packages: str) -> Step:
    """The step that removes those of some packages that are installed; all of them where that is not known."""
    known = view.get("packages")
    there = [name for name in packages if name in known] if isinstance(known, Mapping) else []
    return Step(
        REMOVE,
        command=pip_uninstall(view, " ".join(there or (packages[:1] if isinstance(known, Mapping) else packages))),
    )


def conda(view: View, verb: str, words: str) -> str:
    """The conda command that changes this very environment, where it is one of conda's; else the active one."""
    prefix = view.text("interpreter.prefix") if view.text("interpreter.kind") == "conda" else None
    if prefix is None:
        return f"conda {verb} {words}"
    folder = f'"{prefix}"' if is_windows(view) else shlex.quote(prefix)
    return f"conda {verb} --prefix {folder} {words}"


def run_python(view: View, code: str) -> str:
    """The command that runs a line of Python in this environment."""
    return f'{python_of(view)} -c "{code}"'


def step(command: str, text: str = RUN_IN_ENVIRONMENT) -> Step:
    """A step with a command to copy."""
    return Step(text, command=command)


def check(command: str) -> Step:
    """A step that verifies."""
    return Step(CHECK, command=command, check=True)


def say(text: str, command: str = "", **values: str) -> Step:
    """A step in words, with what they name and perhaps a command."""
    return Step(text, values, command)


def set_variable(view: View, name: str, value: str) -> str:
    """The command that sets a variable for programs started from this shell; PowerShell on Windows."""
    return f'$env:{name} = "{value}"' if is_windows(view) else f"export {name}={shlex.quote(value)}"


def unset_variable(view: View, name: str) -> str:
    """The command that removes a variable from this shell."""
    return f"Remove-Item Env:{name}" if is_windows(view) else f"unset {name}"
