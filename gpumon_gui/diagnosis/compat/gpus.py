"""Knows: which chip a product name stands for. Must not know: frameworks, drivers of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpumon_gui.diagnosis.compat.capability import Capability, parse_capability
from gpumon_gui.diagnosis.compat.tables import table, version
from gpumon_gui.diagnosis.versions import Version

_SIZE = re.compile(r"(?<=[a-z0-9]) \d+ ?gb\b(?=$| )")
_MIG = re.compile(r" mig .*$")


@dataclass(frozen=True, slots=True)
class Product:
    """What a name says. ``certain`` is False for names sold with several chips, and for families guessed by name."""

    capability: Capability
    certain: bool
    tensor_cores: bool | None = None


@dataclass(frozen=True, slots=True)
class Architecture:
    """A compute capability's generation. ``last_cuda``/``last_branch``: None while still supported."""

    capability: Capability
    family: str
    first_cuda: Version | None
    last_cuda: Version | None
    last_branch: str | None
    soc: bool


def product(name: str) -> Product | None:
    """What is known of a product name as NVML, nvidia-smi or torch print it; None for an unknown one."""
    plain = plain_name(name)
    unclear = any(plain == plain_name(other) for other in table("gpus")["ambiguous"])
    exact = _names().get(plain)
    if exact is not None:
        return Product(exact.capability, not unclear, exact.tensor_cores)
    longest = max((start for start in _prefixes() if _starts(plain, start)), key=len, default=None)
    if longest is not None:
        found = _prefixes()[longest]
        return Product(found.capability, not unclear, found.tensor_cores)
    for row in table("gpus")["family"]:
        if re.match(row["pattern"], plain, re.IGNORECASE):
            return Product(_capability(row["cc"]), certain=False)
    return None


@cache
def architectures() -> tuple[Architecture, ...]:
    """All known compute capabilities, oldest first."""
    return tuple(
        Architecture(
            _capability(row["cc"]),
            row["family"],
            version(row["first_cuda"]) if row["first_cuda"] else None,
            version(row["last_cuda"]) if row["last_cuda"] else None,
            row["last_branch"] or None,
            row["soc"],
        )
        for row in table("gpus")["arch"]
    )


def architecture(capability: Capability) -> Architecture | None:
    """The generation of a compute capability."""
    return next((arch for arch in architectures() if arch.capability == capability), None)


@cache
def _names() -> Mapping[str, Product]:
    return _column("names")


@cache
def _prefixes() -> Mapping[str, Product]:
    return _column("prefixes")


def _column(key: str) -> Mapping[str, Product]:
    return {
        plain_name(name): Product(_capability(row["cc"]), certain=True, tensor_cores=row["tensor_cores"])
        for row in table("gpus")["products"]
        for name in row.get(key, ())
    }


def _starts(plain: str, start: str) -> bool:
    return plain.startswith(start) and (len(plain) == len(start) or plain[len(start)] in " -.")


def plain_name(name: str) -> str:
    """A product name as names are compared: lower case, without maker, memory size and instance."""
    lower = " ".join(name.lower().split()).removeprefix("nvidia ").replace(" with max-q design", "")
    return _SIZE.sub("", _MIG.sub("", lower))


def _capability(text: str) -> Capability:
    found = parse_capability(text)
    if found is None:
        raise ValueError(f"compatibility table: {text!r} is no compute capability")
    return found
