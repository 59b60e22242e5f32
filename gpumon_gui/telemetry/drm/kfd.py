"""Knows: which processes compute through ROCm, and their memory. Must not know: DRM files.

ROCm works through ``/dev/kfd``; its queues leave no trace in the engine times of fdinfo. The kernel lists such
processes under ``sys/class/kfd/kfd/proc/PID`` with ``vram_GPUID`` (bytes), and which card a GPU id is under
``topology/nodes/N`` (``gpu_id``; ``location_id`` = bus << 8 | device << 3 | function; ``domain``): kernel,
drivers/gpu/drm/amd/amdkfd/kfd_process.c and kfd_topology.c. Both are answered from memory.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from gpumon_gui.core.identity import key_of, pci_address
from gpumon_gui.core.model import DeviceKey
from gpumon_gui.telemetry.drm.sysfs import names, read_word


def gpu_ids(root: str) -> dict[str, DeviceKey]:
    """KFD's GPU id → device."""
    base = os.path.join(root, "sys/class/kfd/kfd/topology/nodes")
    found = {}
    for node in names(base):
        gpu_id = read_word(os.path.join(base, node, "gpu_id"))
        if gpu_id in ("", "0"):  # 0: a CPU
            continue
        properties = dict(
            line.split(maxsplit=1)
            for line in read_word(os.path.join(base, node, "properties")).splitlines()
            if len(line.split()) == 2
        )
        try:
            location, domain = int(properties["location_id"]), int(properties.get("domain", "0"))
        except (KeyError, ValueError):
            continue
        address = pci_address(domain, location >> 8 & 0xFF, location >> 3 & 0x1F, location & 7)
        found[gpu_id] = key_of(pci=address)
    return found


def memory(root: str, ids: Mapping[str, DeviceKey]) -> dict[tuple[int, DeviceKey], int | None]:
    """Bytes of device memory per computing process and device; None where the kernel does not tell."""
    base = os.path.join(root, "sys/class/kfd/kfd/proc")
    found: dict[tuple[int, DeviceKey], int | None] = {}
    for pid in names(base):
        if not pid.isdecimal():
            continue
        for name in names(os.path.join(base, pid)):
            device = ids.get(name.removeprefix("vram_")) if name.startswith("vram_") else None
            if device is not None:
                text = read_word(os.path.join(base, pid, name))
                found[int(pid), device] = int(text) if text.isdecimal() else None
    return found
