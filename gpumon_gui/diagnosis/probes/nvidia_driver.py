"""Knows: NVIDIA's driver on Linux by its files: kernel module, libraries, device files, fabric manager.
Must not know: nvidia-smi."""

from __future__ import annotations

import re
from threading import Event
from typing import Any

from gpumon_gui.diagnosis.gateway import Command, FileKind, Gateway, is_folder, matches, read_text, which
from gpumon_gui.diagnosis.probes.base import NOTHING, Found, known
from gpumon_gui.diagnosis.probes.loader import library_folders

_WSL = "/usr/lib/wsl/lib"
_ELSEWHERE = (
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
)
_DEPENDENCIES_BYTES = 6_000_000


def probe(gateway: Gateway, cancel: Event) -> Found:
    """``driver``: what is loaded, what is installed, whether this user may use it."""
    if gateway.platform != "linux":
        return NOTHING
    modules = _modules(gateway)
    text = read_text(gateway, "/proc/driver/nvidia/version") or ""
    loaded = re.search(r"NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s", text)
    module_version = (read_text(gateway, "/sys/module/nvidia/version", 100) or "").strip()
    libraries = _copies(gateway, "libnvidia-ml.so.1")
    cudas = _copies(gateway, "libcuda.so.1")
    version = next((entry["version"] for entry in (*libraries, *cudas) if "version" in entry), None)
    is_wsl = gateway.info("/dev/dxg") is not None
    facts = known(
        kernel_module_loaded="nvidia" in modules if modules is not None and not is_wsl else None,
        kernel_module_version=module_version or (loaded.group(1) if loaded else None),
        kernel_module_installed=_is_installed(gateway),
        open_kernel_module=("Open Kernel" in text) if text else None,
        nouveau_loaded="nouveau" in modules if modules is not None else None,
        uvm_loaded="nvidia_uvm" in modules if modules is not None and not is_wsl else None,
        library_version=version,
        libcuda_copies=cudas or None,
        device_files=_device_files(gateway) or None,
        fabric_manager=_fabric_manager(gateway, cancel),
    )
    return Found({"driver": facts})


def _modules(gateway: Gateway) -> set[str] | None:
    """Names of those modules that matter and are loaded or built in; None when the kernel does not tell."""
    names = ("nvidia", "nvidia_uvm", "nouveau")
    text = read_text(gateway, "/proc/modules", 1_000_000)
    if text is None and not is_folder(gateway, "/sys/module"):  # a kernel may have no modules at all
        return None
    listed = {line.split(" ", 1)[0] for line in (text or "").splitlines()}
    return {name for name in names if name in listed or is_folder(gateway, f"/sys/module/{name}")}


def _is_installed(gateway: Gateway) -> bool | None:
    """Whether the running kernel has a module to load (DKMS builds one per kernel)."""
    match = re.search(r"Linux version (\S+)", read_text(gateway, "/proc/version") or "")
    if match is None:
        return None
    text = read_text(gateway, f"/lib/modules/{match.group(1)}/modules.dep", _DEPENDENCIES_BYTES)
    return None if text is None else re.search(r"/nvidia(-current)?\.ko", text) is not None


def _copies(gateway: Gateway, name: str) -> list[dict[str, str]]:
    """All copies of a library in search order, with the version that its real name carries."""
    found: dict[str, dict[str, str]] = {}
    folders = [_WSL] if is_folder(gateway, _WSL) else []
    for folder in dict.fromkeys((*folders, *library_folders(gateway), *_ELSEWHERE)):
        info = gateway.info(f"{folder}/{name}")
        if info is None or info.kind is not FileKind.FILE or info.real_path in found:
            continue
        version = re.search(r"\.so\.(\d+\.\d+(?:\.\d+)*)$", info.real_path)
        found[info.real_path] = known(path=f"{folder}/{name}", version=version.group(1) if version else None)
    return list(found.values())


def _device_files(gateway: Gateway) -> list[dict[str, str]]:
    """Device files that CUDA opens, and whether this user may."""
    found = []
    for path in (*matches(gateway, "/dev", "nvidia*"), "/dev/dxg", "/dev/kfd"):
        info = gateway.info(path)
        if info is not None and info.kind is FileKind.DEVICE:
            found.append({"path": path, "access": "ok" if info.readable and info.writable else "denied"})
    return found


def _fabric_manager(gateway: Gateway, cancel: Event) -> dict[str, Any] | None:
    """Only where there are NVSwitches: without them nobody needs it."""
    if not matches(gateway, "/dev", "nvidia-nvswitch*"):
        return None
    version = None
    if which(gateway, "nv-fabricmanager"):
        ran = gateway.run(Command(("nv-fabricmanager", "--version"), timeout_s=10), cancel)
        match = re.search(r"(\d+\.\d+(?:\.\d+)?)", ran.out)
        version = match.group(1) if match else None
    running = None
    if which(gateway, "systemctl"):
        ran = gateway.run(Command(("systemctl", "is-active", "nvidia-fabricmanager"), timeout_s=10), cancel)
        state = ran.out.strip()
        running = state == "active" if state in ("active", "inactive", "failed", "activating", "unknown") else None
    return known(nvswitch=True, version=version, running=running)
