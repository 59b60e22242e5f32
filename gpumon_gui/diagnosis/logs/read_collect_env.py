"""Knows: what ``python -m torch.utils.collect_env`` prints. Must not know: what follows from it.

It prints "Could not collect" for what is None: for "CUDA used to build PyTorch" that is a build without CUDA. "N/A"
there means that torch could not be imported or that it is a ROCm build.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gpumon_gui.diagnosis.logs.block import Block, Fact, Found, Gpu, Printed
from gpumon_gui.diagnosis.logs.read_gpus import vendor_of
from gpumon_gui.diagnosis.logs.read_packages import package_facts

_PAIR: Final = re.compile(r"(?P<key>[A-Z][\w /.-]*?[\w)])\s*: ?(?P<value>.*)$")
_PIP: Final = re.compile(r"\[(?:pip3?|conda)\]\s+([\w.-]+)(?:==|\s+)(\d[\w.+!]*)")
_CARD: Final = re.compile(r"(?:^|: )GPU (?P<index>\d+): (?P<name>.+?)(?: \(UUID.*)?\s*$")
_BARE_CARD: Final = re.compile(r"GPU models and configuration: (?P<name>(?!GPU \d)\S.+?)\s*$")
_CUDNN: Final = re.compile(r"(?P<path>\S*(?:libcudnn\.so\.|cudnn64_)(?P<version>\d[\d.]*)\S*)")
_NOTHING: Final = ("", "N/A", "None", "Could not collect")
_SYSTEMS: Final = (("windows", "windows"), ("macos", "macos"), ("mac os", "macos"), ("darwin", "macos"))


def _read(lines: Sequence[str]) -> Found | None:
    if not any("used to build PyTorch" in line or "Is debug build" in line for line in lines[:6]):
        return None
    facts: list[Fact] = []
    signals: list[Printed] = []
    gpus: list[Gpu] = []
    copies: list[dict[str, str]] = []
    seen: dict[str, str] = {}
    last = 0
    for offset, line in enumerate(lines):
        package = _PIP.search(line)
        card = _CARD.search(line) or _BARE_CARD.search(line)
        pair = _PAIR.search(line)
        if offset and pair and pair["key"] == "PyTorch version":
            break
        if package:
            facts += package_facts(package[1], package[2], offset)
        elif card and card["name"] not in _NOTHING:
            gpus.append(_gpu(card.groupdict().get("index") or "0", card["name"], offset))
        elif found := _CUDNN.search(line):
            copies.append({"version": found["version"].rstrip("."), "path": found["path"].split(": ")[-1]})
        elif pair:
            seen[pair["key"]] = pair["value"].strip()
            facts += _facts(pair["key"], pair["value"].strip(), offset)
        elif line.strip() and offset - last > 40:
            break
        else:
            continue
        last = offset
    if copies:
        facts.append(Fact("toolkit.cudnn_copies", copies))
    version = seen.get("PyTorch version", "N/A")
    if version not in _NOTHING:
        facts += _build(seen)
        if any(fact.path == "torch.cuda_build" and fact.value is None for fact in facts) and not _rocm(seen):
            signals.append(Printed("collect-env-torch-without-cuda", {}, 0, "torch"))
    return Found(tuple(facts), tuple(signals), tuple(gpus), last + 1)


def _gpu(index: str, name: str, offset: int) -> Gpu:
    return Gpu("collect_env", index, {"name": name, "vendor": vendor_of(name) or "nvidia"}, offset)


def _rocm(seen: dict[str, str]) -> bool:
    return seen.get("ROCM used to build PyTorch", "N/A") not in _NOTHING


def _build(seen: dict[str, str]) -> list[Fact]:
    facts = []
    cuda = seen.get("CUDA used to build PyTorch")
    if cuda is not None:
        facts.append(Fact("torch.cuda_build", None if cuda in _NOTHING else cuda, 2))
    hip = seen.get("ROCM used to build PyTorch")
    if hip is not None:
        facts.append(Fact("torch.hip_build", None if hip in _NOTHING else hip, 3))
    return facts


def _facts(key: str, value: str, offset: int) -> list[Fact]:
    if value in _NOTHING:
        return []
    match key:
        case "PyTorch version":
            return [Fact("torch.version", value, offset)]
        case "OS":
            family = next((name for word, name in _SYSTEMS if word in value.lower()), "linux")
            return [Fact("os.name", value, offset), Fact("os.family", family, offset)]
        case "Python version":
            bits = re.search(r"(32|64)-bit", value)
            version = Fact("interpreter.version", value.split()[0], offset)
            return [version, *([Fact("interpreter.bits", int(bits[1]), offset)] if bits else [])]
        case "Python platform":
            wsl = "microsoft" in value.lower()
            return [Fact("os.kernel", value, offset), *([Fact("os.wsl", True, offset)] if wsl else [])]
        case "Is CUDA available":
            return [Fact("torch.cuda_available", value.lower().startswith("true"), offset)]
        case "CUDA runtime version" if value[0].isdigit():
            return [Fact("toolkit.nvcc_version", value, offset)]
        case "Nvidia driver version" if value[0].isdigit():
            return [Fact("driver.version", value, offset)]
    return []


BLOCKS: Final = (Block("collect_env", ("pytorch version:",), _read, lines=400),)
