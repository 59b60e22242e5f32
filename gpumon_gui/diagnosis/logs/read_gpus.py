"""Knows: the lines in which TensorFlow, XLA and lspci list GPUs. Must not know: what follows from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gpumon_gui.diagnosis.logs.block import Block, Fact, Found, Gpu, Printed

_CREATED: Final = re.compile(
    r"device: (?P<index>\d+), name: (?P<name>.+?), pci bus id: (?P<bus>[\w:.<>]+), "
    r"compute capability: (?P<capability>\d+\.\d+)"
)
_MADE: Final = re.compile(r"Created (?:TensorFlow )?device")
_FOUND: Final = re.compile(
    r"(?:pciBusID: (?P<bus>\S+) )?name: (?P<name>.+?)"
    r"(?: computeCapability: (?P<capability>\d+\.\d+)| major: (?P<major>\d+) minor: (?P<minor>\d+))"
)
_STREAM: Final = re.compile(
    r"StreamExecutor device \((?P<index>\d+)\): (?P<name>.+?), (?:Compute Capability (?P<capability>\d+\.\d+)|AMDGPU)"
)
_LSPCI: Final = re.compile(
    r"(?P<bus>[0-9a-f]{2}:[0-9a-f]{2}\.\d) (?:\S.*?)(?:VGA compatible|3D|Display) controller"
    r"(?: \[\w+\])?: (?P<maker>.+)",
    re.IGNORECASE,
)
_LSPCI_BARE: Final = re.compile(
    r"(?P<bus>[0-9a-f]{2}:[0-9a-f]{2}\.\d) (?:VGA compatible|3D|Display) controller(?: \[\w+\])?: (?P<maker>.+)",
    re.IGNORECASE,
)
_VENDORS: Final = (("nvidia", "nvidia"), ("advanced micro devices", "amd"), ("amd/ati", "amd"), ("intel", "intel"))
_REVISION: Final = re.compile(r"\s*\((?:rev|prog-if) \w+.*$")


def vendor_of(name: str) -> str | None:
    """The vendor that a GPU's name tells."""
    lower = name.lower()
    if "nvidia" in lower or re.search(r"geforce|quadro|tesla|\brtx\b|\bgtx\b", lower):
        return "nvidia"
    if re.search(r"\bamd\b|radeon|instinct|advanced micro|\bgfx\d", lower):
        return "amd"
    return "intel" if re.search(r"\bintel\b|\barc\b|iris|uhd graphics", lower) else None


def _gpu(source: str, index: str, name: str, capability: str | None) -> Gpu:
    values: dict[str, object] = {"name": name}
    vendor = vendor_of(name) or ("nvidia" if capability else None)
    if vendor:
        values["vendor"] = vendor
    if capability:
        values["compute_capability"] = capability
    return Gpu(source, index, values)


def _read_created(lines: Sequence[str]) -> Found | None:
    match = _CREATED.search(lines[0])
    if match is None:
        return None
    gpu = _gpu("tensorflow", match["index"], match["name"], match["capability"])
    if not _MADE.search(lines[0]):
        return Found(gpus=(gpu,))
    count = Fact("tensorflow.gpu_count", int(match["index"]) + 1, newer=True)
    printed = Printed("tf-device-created", dict(gpu.values), framework="tensorflow")
    return Found((count,), (printed,), (gpu,))


def _read_found(lines: Sequence[str]) -> Found | None:
    match = _FOUND.search(lines[0])
    if match is None:
        return None
    capability = match["capability"] or f"{match['major']}.{match['minor']}"
    return Found(gpus=(_gpu("tensorflow", match["bus"] or match["name"], match["name"], capability),))


def _read_stream(lines: Sequence[str]) -> Found | None:
    match = _STREAM.search(lines[0])
    if match is None:
        return None
    return Found(gpus=(_gpu("tensorflow", match["index"], match["name"], match["capability"]),))


def _read_lspci(lines: Sequence[str]) -> Found | None:
    match = _LSPCI_BARE.search(lines[0]) or _LSPCI.search(lines[0])
    if match is None:
        return None
    maker = match["maker"].lower()
    vendor = next((name for word, name in _VENDORS if word in maker), None)
    if vendor is None:
        return None
    values = {"name": _REVISION.sub("", match["maker"]).strip(), "vendor": vendor}
    return Found(gpus=(Gpu("lspci", match["bus"], values),))


BLOCKS: Final = (
    Block("tf-created-device", ("compute capability:",), _read_created),
    Block("tf-found-device", ("computecapability:", " major: "), _read_found),
    Block("stream-executor-device", ("streamexecutor device (",), _read_stream),
    Block("lspci", ("vga compatible controller", "3d controller", "display controller"), _read_lspci),
)
