"""Knows: where drivers put NVIDIA's management library. Must not know: how it is loaded.

Windows: drivers since 2019 put ``nvml.dll`` into System32, older ones into ``NVIDIA Corporation\\NVSMI``; some laptop
makers' packages leave it in the driver store only, in a folder named after their INF (``nv_dispi``, ``nvlt``, ``nvdm``,
``nvhm`` …). Paths are absolute: a bare name would load whatever lies in the current folder.
Linux: the soname, which the loader finds; inside WSL the host's library comes first, since a driver package installed
in the guest by mistake has one that cannot work.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath

WINDOWS_NAME = "nvml.dll"
LINUX_NAME = "libnvidia-ml.so.1"

_WSL = "/usr/lib/wsl/lib"
_ELSEWHERE = (
    "/usr/local/nvidia/lib64",  # containers of Google's Kubernetes
    "/run/opengl-driver/lib",  # NixOS
)


def candidates(platform: str, environ: Mapping[str, str], root: Path | None = None) -> tuple[str, ...]:
    """What to try, best first; empty where there is no such library.

    ``platform`` is ``sys.platform``; ``root`` stands for the file system's root (the system drive on Windows) and is
    looked into for the parts that depend on the machine. Entries need not exist.
    """
    if platform == "win32":
        return _windows(environ, root)
    if platform == "linux":
        return _linux(root)
    return ()


def _windows(environ: Mapping[str, str], root: Path | None) -> tuple[str, ...]:
    variables = {name.upper(): value for name, value in environ.items()}
    system32 = _folder(variables, ("SYSTEMROOT", "WINDIR"), r"C:\Windows") / "System32"
    # ProgramW6432 is the 64-bit folder in a 32-bit process too.
    programs = _folder(variables, ("PROGRAMW6432", "PROGRAMFILES"), r"C:\Program Files")
    return (
        str(system32 / WINDOWS_NAME),
        str(programs / "NVIDIA Corporation" / "NVSMI" / WINDOWS_NAME),
        *_driver_store(system32 / "DriverStore" / "FileRepository", root),
    )


def _driver_store(store: PureWindowsPath, root: Path | None) -> list[str]:
    folder = Path(str(store)) if root is None else root.joinpath(*store.parts[1:])
    found: list[tuple[float, str]] = []
    try:
        libraries = list(folder.glob(f"nv*/{WINDOWS_NAME}"))
    except OSError:
        libraries = []
    for library in libraries:
        try:
            found.append((library.stat().st_mtime, str(store / library.parent.name / WINDOWS_NAME)))
        except OSError:  # removed meanwhile by a driver update
            continue
    # Old packages stay in the store: the newest file belongs to the driver that runs.
    return [path for _, path in sorted(found, reverse=True)]


def _folder(variables: Mapping[str, str], names: tuple[str, ...], default: str) -> PureWindowsPath:
    for name in names:
        path = PureWindowsPath(variables.get(name, ""))
        if path.is_absolute():
            return path
    return PureWindowsPath(default)


def _linux(root: Path | None) -> tuple[str, ...]:
    base = root if root is not None else Path("/")
    in_wsl = (base / _WSL.lstrip("/") / LINUX_NAME).exists()
    first = (f"{_WSL}/{LINUX_NAME}",) if in_wsl else ()
    return (*first, LINUX_NAME, *(f"{folder}/{LINUX_NAME}" for folder in _ELSEWHERE))
