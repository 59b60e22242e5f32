"""Knows: interpreters inside Windows' Linux distributions. Must not know: other finders.

Asking inside a stopped distribution would start its virtual machine, so that needs the user's consent. ``wsl.exe``
prints UTF-16; state words are in the user's language, so running distributions are asked for by option.
"""

from __future__ import annotations

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted
from gpumon_gui.diagnosis.gateway import Command, Gateway, is_windows

#: docker's own have no Python and no user.
_NOT_FOR_USERS = ("docker-desktop", "docker-desktop-data", "rancher-desktop", "podman-machine-default")
#: One path a line, the one that a terminal finds first.
_SCRIPT = (
    'for p in "$(command -v python3)" "$(command -v python)" "$HOME"/*/bin/python "$HOME"/*/.venv/bin/python '
    '"$HOME"/*/envs/*/bin/python "$HOME"/.pyenv/versions/*/bin/python /opt/conda/bin/python; do '
    '[ -x "$p" ] && echo "$p"; done'
)
_LIST_S, _ASK_S = 10.0, 30.0


def find(gateway: Gateway, wanted: Wanted) -> list[Candidate]:
    """In distributions that run, or in all with the user's consent."""
    if not is_windows(gateway):
        return []
    found = []
    for name in distributions(gateway, running=not wanted.starts_wsl):
        ran = gateway.run(Command(("wsl.exe", "-d", name, "--exec", "sh", "-lc", _SCRIPT), timeout_s=_ASK_S))
        if not ran.ok:
            continue
        lines = dict.fromkeys(line.strip() for line in ran.out.splitlines())
        found += [Candidate(path, "WSL", distribution=name) for path in lines if path.startswith("/")]
    return found


def distributions(gateway: Gateway, *, running: bool) -> tuple[str, ...]:
    """Names of the distributions, or of those that run now; starts nothing."""
    words = ("wsl.exe", "--list", "--quiet", *(("--running",) if running else ()))
    ran = gateway.run(Command(words, timeout_s=_LIST_S))
    names = (line.strip("\0\r\n ") for line in ran.out.splitlines()) if ran.ok else ()
    return tuple(name for name in names if name and name not in _NOT_FOR_USERS)
