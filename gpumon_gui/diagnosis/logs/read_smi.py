"""Knows: what nvidia-smi prints: its table (also with the header that came with driver 610), ``-L`` and ``-q``.
Must not know: what the values mean for a program.

In WSL "NVIDIA-SMI" is the version of the WSL part and "KMD Version" the Windows driver, so only the latter counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gpumon_gui.diagnosis.logs.block import Block, Fact, Found, Gpu, Printed
from gpumon_gui.diagnosis.logs.sizes import bytes_of

_HEADER: Final = re.compile(
    r"NVIDIA-SMI\s+(?P<smi>[\d.]+).*?(?:Driver|KMD) Version:\s*(?P<driver>[\d.]+)"
    r"(?:.*?CUDA (?:UMD )?Version:\s*(?P<cuda>[\d.]+|N/A|ERR!))?"
)
_CARD: Final = re.compile(
    r"\|\s*(?P<index>\d+)\s+(?P<name>\S.*?)\s+(?P<mode>On|Off|WDDM|WDM|TCC|MCDM|N/A)\s*\|"
    r"\s*(?P<bus>[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.\d|N/A|ERR!)\s+(?:On|Off|N/A|ERR!)",
    re.IGNORECASE,
)
_MEMORY: Final = re.compile(
    r"\|(?:[^|]*?\b(?P<state>P\d{1,2})\b)?[^|]*\|\s*(?P<used>\d+)MiB\s*/\s*(?P<total>\d+)MiB\s*\|(?P<rest>[^|]*)"
)
_MIG: Final = re.compile(r"\|\s*(Enabled|Disabled)\*?\s*\|\s*$")
_MODELS: Final = ("WDDM", "TCC", "MCDM")
_LISTED: Final = re.compile(r"GPU (?P<index>\d+): (?P<name>[^(]+?) \(UUID: ")
_QUERY: Final = re.compile(r"^(?P<indent>\s*)(?P<key>\S.*?)\s*:\s(?P<value>.*?)\s*$")
_QUERY_GPU: Final = re.compile(r"^\s*GPU (?P<bus>[0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\.\d)\s*$", re.IGNORECASE)


def _read_table(lines: Sequence[str]) -> Found | None:
    header = _HEADER.search(lines[0])
    if header is None:
        return None
    facts = [Fact("driver.version", header["driver"]), Fact("driver.nvidia_smi_works", True)]
    signals = []
    if header["cuda"] and header["cuda"][0].isdigit():
        facts.append(Fact("driver.cuda_version", header["cuda"]))
    elif header["cuda"] == "ERR!":
        signals.append(Printed("nvidia-smi-cuda-version-error"))
    gpus: list[Gpu] = []
    last = 0
    for offset, line in enumerate(lines):
        if offset and (_HEADER.search(line) or "Processes:" in line):
            break
        card = _CARD.search(line)
        if card is None:
            continue
        values: dict[str, object] = {"name": card["name"].rstrip(". "), "vendor": "nvidia"}
        if card["mode"].upper() in _MODELS:
            values["driver_model"] = card["mode"].upper()
        if "ERR!" in line:
            signals.append(Printed("nvidia-smi-field-error", {"index": card["index"]}, offset))
        for more in lines[offset + 1 : offset + 4]:
            _add_row(values, more, signals, offset)
        gpus.append(Gpu("nvidia-smi", card["index"], values, offset))
        last = offset
    if gpus:
        facts.append(Fact("gpu_count", len(gpus), gpus[0].offset))
    return Found(tuple(facts), tuple(signals), tuple(gpus), last + 1)


def _add_row(values: dict[str, object], line: str, signals: list[Printed], offset: int) -> None:
    memory = _MEMORY.search(line)
    if memory:
        values["memory_used_bytes"] = int(memory["used"]) << 20
        values["memory_total_bytes"] = int(memory["total"]) << 20
        if memory["state"]:
            values["power_state"] = memory["state"]
        if "N/A" in memory["rest"]:
            signals.append(Printed("nvidia-smi-utilization-not-available", {}, offset + 1))
    mig = _MIG.search(line)
    if mig:
        values["mig_mode"] = mig.group(1)


def _read_listed(lines: Sequence[str]) -> Found | None:
    listed = _LISTED.search(lines[0])
    if listed is None:
        return None
    values = {"name": listed["name"], "vendor": "nvidia"}
    return Found((), (), (Gpu("nvidia-smi -L", listed["index"], values),))


def _read_query(lines: Sequence[str]) -> Found | None:
    """``nvidia-smi -q``: sections by indentation."""
    facts: list[Fact] = [Fact("driver.nvidia_smi_works", True)]
    gpus: list[Gpu] = []
    sections: list[tuple[int, str]] = []
    last = 0
    for offset, line in enumerate(lines):
        if offset and "NVSMI LOG" in line:
            break
        card = _QUERY_GPU.match(line)
        if card:
            gpus.append(Gpu("nvidia-smi -q", card["bus"].upper(), {"vendor": "nvidia"}, offset))
            sections, last = [], offset
            continue
        pair = _QUERY.match(line)
        indent = len(line) - len(line.lstrip())
        if pair is None:
            if line.strip():
                sections = [*(part for part in sections if part[0] < indent), (indent, line.strip())]
            continue
        last = offset
        if not gpus:
            path = {"Driver Version": "driver.version", "CUDA Version": "driver.cuda_version"}.get(pair["key"])
            if path and pair["value"][:1].isdigit():
                facts.append(Fact(path, pair["value"], offset))
            continue
        section = next((name for at, name in reversed(sections) if at < indent), "")
        added = _query_value(section, pair["key"], pair["value"])
        if added:
            gpus[-1] = Gpu(gpus[-1].source, gpus[-1].index, {**gpus[-1].values, **added}, gpus[-1].offset)
    return Found(tuple(facts), (), tuple(gpus), last + 1)


def _query_value(section: str, key: str, value: str) -> dict[str, object]:
    if value in ("N/A", ""):
        return {}
    match section, key:
        case _, "Product Name":
            return {"name": value}
        case "MIG Mode", "Current":
            return {"mig_mode": value}
        case "Driver Model", "Current":
            return {"driver_model": value} if value in _MODELS else {}
        case _, "Virtualization Mode":
            return {"vgpu": value == "VGPU"}
        case _, "License Status":
            return {"vgpu_license_status": value}
        case _, "Performance State":
            return {"power_state": value}
        case "FB Memory Usage", "Total" | "Used":
            size = bytes_of(value)
            return {} if size is None else {f"memory_{key.lower()}_bytes": size}
    return {}


BLOCKS: Final = (
    Block("nvidia-smi", ("driver version:", "kmd version:"), _read_table, lines=150),
    Block("nvidia-smi -L", ("(uuid: gpu-",), _read_listed),
    Block("nvidia-smi -q", ("nvsmi log",), _read_query, lines=4000),
)
