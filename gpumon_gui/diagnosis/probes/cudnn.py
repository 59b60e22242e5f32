"""Knows: which copies of cuDNN (and zlibwapi) a program could load, in which order. Must not know: which one it does
load: that a framework tells."""

from __future__ import annotations

import re
from threading import Event

from gpumon_gui.diagnosis.gateway import FileKind, Gateway, is_file, is_windows, matches, paths, search_path, variable
from gpumon_gui.diagnosis.probes.base import Found, known
from gpumon_gui.diagnosis.probes.loader import cached_folders


def probe(gateway: Gateway, _cancel: Event) -> Found:
    """``toolkit.cudnn_copies`` in search order (``searched`` says by what; absent: the loader does not look there),
    ``cudnn_version`` of the first that would be found, ``zlibwapi_found``."""
    if is_windows(gateway):
        return _windows(gateway)
    if gateway.platform != "linux":
        return Found()
    own = [part for part in (variable(gateway, "LD_LIBRARY_PATH") or "").split(":") if part]
    places = [(folder, "LD_LIBRARY_PATH") for folder in own]
    places += [(folder, "loader cache") for folder in cached_folders(gateway)]
    unsearched = [*matches(gateway, "/usr/local", "cuda*/lib64"), *matches(gateway, "/opt", "cuda*/lib64")]
    places += [(folder, "") for folder in unsearched]
    return _found(gateway, places, "libcudnn.so*")


def _windows(gateway: Gateway) -> Found:
    join = paths(gateway).join
    system = str(join(variable(gateway, "SystemRoot") or r"C:\Windows", "System32"))
    programs = variable(gateway, "ProgramW6432") or variable(gateway, "ProgramFiles") or r"C:\Program Files"
    places = [(system, "System32"), *((folder, "PATH") for folder in search_path(gateway))]
    named = variable(gateway, "CUDA_PATH")
    elsewhere = [str(join(named, "bin"))] if named else []
    for pattern in ("CUDNN/v*/bin", "CUDNN/v*/bin/*"):
        elsewhere += matches(gateway, str(join(programs, "NVIDIA")), pattern)
    places += [(folder, "") for folder in elsewhere]
    found = _found(gateway, places, "cudnn64_*.dll")
    folders = dict.fromkeys(folder for folder, _ in places)
    zlib = [path for folder in folders if is_file(gateway, path := str(join(folder, "zlibwapi.dll")))]
    toolkit = {**found.facts.get("toolkit", {}), "zlibwapi_found": bool(zlib), **known(zlibwapi_paths=zlib or None)}
    return Found({"toolkit": toolkit})


def _found(gateway: Gateway, places: list[tuple[str, str]], pattern: str) -> Found:
    copies: dict[str, dict[str, str]] = {}
    for folder, searched in places:
        for path in matches(gateway, folder, pattern):
            info = gateway.info(path)
            if info is None or info.kind is not FileKind.FILE:
                continue
            real = str(paths(gateway).normcase(info.real_path))
            entry = known(path=path, version=_version(gateway, info.real_path), searched=searched or None)
            copies.setdefault(real, entry)
    listed = list(copies.values())
    first = next((entry.get("version") for entry in listed if "searched" in entry), None)
    facts = known(cudnn_copies=listed or None, cudnn_version=first)
    return Found({"toolkit": facts} if facts else {})


def _version(gateway: Gateway, path: str) -> str | None:
    """Linux: the real name (``libcudnn.so.8.9.2``). Windows: NVIDIA's version resource holds 6.14.11.x for every
    release, so the name's major (``cudnn64_8.dll``) is what there is."""
    name = str(paths(gateway).basename(path))
    match = re.search(r"\.so\.(\d+(?:\.\d+)*)$", name) or re.search(r"cudnn64_(\d+)\.dll$", name, re.IGNORECASE)
    return match.group(1) if match else None
