"""Knows: which CUDA toolkits are installed, and which one a terminal finds. Must not know: frameworks."""

from __future__ import annotations

import re
from threading import Event

from gpumon_gui.diagnosis.gateway import (
    Command,
    Gateway,
    is_file,
    is_windows,
    json_of,
    matches,
    paths,
    read_text,
    search_path,
    variable,
    which,
)
from gpumon_gui.diagnosis.probes.base import Found, known


def probe(gateway: Gateway, cancel: Event) -> Found:
    """``toolkit``. ``cuda_version`` is that of the toolkit a terminal uses: nvcc's, else CUDA_PATH's, else the only
    one installed."""
    name = "nvcc.exe" if is_windows(gateway) else "nvcc"
    installed = _installed(gateway)
    nvcc = which(gateway, name)
    named = variable(gateway, "CUDA_PATH") or variable(gateway, "CUDA_HOME")
    nvcc_version = None
    if nvcc is not None:
        match = re.search(
            r"release (\d+\.\d+)(?:, V(\d+(?:\.\d+)*))?", gateway.run(Command((nvcc, "--version")), cancel).out
        )
        nvcc_version = (match.group(2) or match.group(1)) if match else None
    of_named = _version(gateway, named) if named else None
    only = installed[0]["version"] if len({entry["version"] for entry in installed}) == 1 else None
    version = nvcc_version or of_named or only
    on_path = None
    if installed or named or nvcc:
        on_path = nvcc is not None or any(
            is_file(gateway, str(paths(gateway).join(folder, name))) for folder in search_path(gateway)
        )
    facts = known(
        cuda_version=version,
        nvcc_version=nvcc_version,
        nvcc_path=nvcc,
        cuda_path=named,
        cuda_path_exists=gateway.info(named) is not None if named else None,
        cuda_bin_on_path=on_path,
        toolkits=installed or None,
    )
    return Found({"toolkit": facts} if facts else {})


def _installed(gateway: Gateway) -> list[dict[str, str]]:
    if is_windows(gateway):
        programs = variable(gateway, "ProgramW6432") or variable(gateway, "ProgramFiles") or r"C:\Program Files"
        root = str(paths(gateway).join(programs, "NVIDIA GPU Computing Toolkit", "CUDA"))
        folders = list(matches(gateway, root, "v*"))
    else:
        folders = [*matches(gateway, "/usr/local", "cuda*"), *matches(gateway, "/opt", "cuda*")]
    found: dict[str, dict[str, str]] = {}
    for folder in folders:
        version = _version(gateway, folder)
        info = gateway.info(folder)
        if version and info is not None:  # /usr/local/cuda is a link to one of the others
            found.setdefault(info.real_path, {"version": version, "path": folder})
    return list(found.values())


def _version(gateway: Gateway, folder: str) -> str | None:
    """From version.json (CUDA 11.1 and later), version.txt (before), else the folder's name."""
    text = read_text(gateway, str(paths(gateway).join(folder, "version.json")))
    if text is not None:
        try:
            return str(json_of(text)["cuda"]["version"])
        except (KeyError, TypeError):
            pass
    text = read_text(gateway, str(paths(gateway).join(folder, "version.txt"))) or ""
    match = re.search(r"CUDA Version (\d+(?:\.\d+)+)", text)
    if match is None and gateway.info(str(paths(gateway).join(folder, "bin"))) is not None:
        match = re.search(r"(?:cuda-|[\\/]v)(\d+\.\d+)[\\/]?$", folder)
    return match.group(1) if match else None
