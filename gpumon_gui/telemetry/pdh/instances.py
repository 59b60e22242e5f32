"""Knows: the grammar of instance names in Windows' GPU counter sets. Must not know: counters, values, PDH.

============================  ===================================================================================
GPU Engine                    ``pid_<dec>_luid_0x<HIGH>_0x<LOW>_phys_<n>_eng_<n>_engtype_<rest of the string>``
GPU Process Memory            ``pid_<dec>_luid_0x<HIGH>_0x<LOW>_phys_<n>``
GPU Adapter Memory            ``luid_0x<HIGH>_0x<LOW>_phys_<n>``
============================  ===================================================================================

The rest after ``engtype_`` is the driver's own text: it may hold spaces, digits and underscores (``Compute_0``,
``High Priority 3D``, ``JPEG_Decode_0``) or be empty, so nothing here splits on ``_``. PDH keeps the case, PowerShell
lowers it; both are read, and the text stays as received. Names that do not fit are None: drivers do produce them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

#: Names kept parsed. A busy machine has 450 to 1,200 instances; the rest is room for processes that come and go.
CACHE_SIZE = 16_384

_FLAGS = re.IGNORECASE | re.ASCII | re.DOTALL
_LUID = r"luid_0x([0-9a-f]{1,8})_0x([0-9a-f]{1,8})_phys_([0-9]{1,5})"
_ENGINE = re.compile(rf"pid_([0-9]{{1,10}})_{_LUID}_eng_([0-9]{{1,5}})_engtype_(.*)", _FLAGS)
_PROCESS = re.compile(rf"pid_([0-9]{{1,10}})_{_LUID}", _FLAGS)
_ADAPTER = re.compile(_LUID, _FLAGS)
_MAX_PID = 0xFFFFFFFF


class Node(NamedTuple):
    """One engine of one adapter. ``phys`` counts the cards of a linked adapter (SLI), it is not a GPU number;
    ``engine`` is the driver's node ordinal. Several nodes may carry the same engine type."""

    luid: int
    phys: int
    engine: int


class User(NamedTuple):
    """One process on one adapter."""

    pid: int
    luid: int


class EngineInstance(NamedTuple):
    """An instance of *GPU Engine*: one process on one engine."""

    user: User
    node: Node
    engtype: str


class ProcessInstance(NamedTuple):
    """An instance of *GPU Process Memory*."""

    user: User
    phys: int


class AdapterInstance(NamedTuple):
    """An instance of *GPU Adapter Memory*."""

    luid: int
    phys: int


@lru_cache(maxsize=CACHE_SIZE)
def parse_engine(name: str) -> EngineInstance | None:
    """The parts of a *GPU Engine* instance name, or None when it is not one."""
    match = _ENGINE.fullmatch(name)
    if match is None or int(match[1]) > _MAX_PID:
        return None
    luid = _luid(match[2], match[3])
    return EngineInstance(User(int(match[1]), luid), Node(luid, int(match[4]), int(match[5])), match[6])


@lru_cache(maxsize=CACHE_SIZE)
def parse_process(name: str) -> ProcessInstance | None:
    """The parts of a *GPU Process Memory* instance name, or None when it is not one."""
    match = _PROCESS.fullmatch(name)
    if match is None or int(match[1]) > _MAX_PID:
        return None
    return ProcessInstance(User(int(match[1]), _luid(match[2], match[3])), int(match[4]))


@lru_cache(maxsize=256)
def parse_adapter(name: str) -> AdapterInstance | None:
    """The parts of a *GPU Adapter Memory* instance name, or None when it is not one."""
    match = _ADAPTER.fullmatch(name)
    return None if match is None else AdapterInstance(_luid(match[1], match[2]), int(match[3]))


def _luid(high: str, low: str) -> int:
    # HighPart is a signed LONG printed as its 32-bit pattern: the 64-bit key is the two patterns side by side.
    return int(high, 16) << 32 | int(low, 16)
