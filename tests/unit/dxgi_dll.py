"""A gdi32.dll, a cfgmgr32.dll and a registry for tests; the first two take real ctypes calls and write raw structs."""

from __future__ import annotations

import ctypes
import struct
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpumon_gui.telemetry.dxgi import library as kmt
from gpumon_gui.telemetry.dxgi import pnp

DEVICE_REMOVED = 0xC00002B6
INVALID_HANDLE = 0xC0000008
MIB, GIB = 1 << 20, 1 << 30


@dataclass
class Card:
    """What one adapter answers; None: the question fails."""

    luid: int
    name: str | None = None
    ids: tuple[int, int] | None = None
    type_bits: int | None = None
    address: tuple[int, int, int] | None = None
    memory: tuple[int, int] | None = None
    kmd_version: int | None = None
    umd_version: int | None = None
    wddm: int | None = None
    hags: int | None = None
    nodes: tuple[tuple[int, str], ...] = ()
    perf: tuple[int, int, int, int] | None = None  # memory Hz, fan rpm, power, deci-Celsius
    max_fan_rpm: int | None = None
    perf_status: int = kmt.NOT_SUPPORTED
    compute_only: bool = False
    node_size: int = 78
    asked: list[int] = field(default_factory=list)


class FakeGdi:
    """``cards`` may be changed between calls; ``restart`` invalidates all handles, as a driver restart does."""

    def __init__(self, *cards: Card, enum3: bool = True, enum3_status: int = 0) -> None:
        self.cards = list(cards)
        self.handles: dict[int, Card] = {}
        self.calls: list[str] = []
        self.enum3_status = enum3_status
        self.grow: Card | None = None  # an adapter that appears between counting and listing
        self._next = 0x40000000
        for name, (result, arguments) in kmt.PROTOTYPES.items():
            if name == "D3DKMTEnumAdapters3" and not enum3:
                continue
            body: Callable[..., int] = getattr(self, f"_{name}")
            setattr(self, name, ctypes.CFUNCTYPE(result, *arguments)(body))

    def restart(self, *cards: Card) -> None:
        self.handles.clear()
        self.cards = list(cards)

    def _D3DKMTEnumAdapters3(self, argument: Any) -> int:
        listing = argument[0]
        if self.enum3_status:
            return self.enum3_status
        return self._list("D3DKMTEnumAdapters3", listing, self.cards if listing.Filter & 1 else self._plain())

    def _D3DKMTEnumAdapters2(self, argument: Any) -> int:
        return self._list("D3DKMTEnumAdapters2", argument[0], self._plain())

    def _plain(self) -> list[Card]:
        return [card for card in self.cards if not card.compute_only]

    def _list(self, name: str, listing: Any, cards: list[Card]) -> int:
        self.calls.append(name)
        if not listing.pAdapters:
            listing.NumAdapters = len(cards)
            return 0
        if self.grow is not None:
            cards = [*cards, *([self.grow] * 6)]
            self.grow = None
        if listing.NumAdapters < len(cards):
            return kmt.BUFFER_TOO_SMALL
        for index, card in enumerate(cards):
            self._next += 0x40
            self.handles[self._next] = card
            raw = struct.pack("<IIiIi", self._next, card.luid & 0xFFFFFFFF, _signed(card.luid >> 32), 1, 0)
            ctypes.memmove(listing.pAdapters + 20 * index, raw, 20)
        listing.NumAdapters = len(cards)
        return 0

    def _D3DKMTCloseAdapter(self, argument: Any) -> int:
        self.calls.append("D3DKMTCloseAdapter")
        return 0 if self.handles.pop(argument[0].hAdapter, None) else INVALID_HANDLE

    def _D3DKMTQueryAdapterInfo(self, argument: Any) -> int:
        query = argument[0]
        card = self.handles.get(query.hAdapter)
        if card is None:
            return DEVICE_REMOVED
        card.asked.append(query.Type)
        given = ctypes.string_at(query.pPrivateDriverData, query.PrivateDriverDataSize)
        answer = self._answer(card, query.Type, given)
        if isinstance(answer, int):
            return answer
        if len(answer) > query.PrivateDriverDataSize:
            return kmt.BUFFER_TOO_SMALL
        ctypes.memmove(query.pPrivateDriverData, answer, len(answer))
        return 0

    def _answer(self, card: Card, question: int, given: bytes) -> bytes | int:
        answers: dict[int, tuple[str, tuple[int, ...] | None]] = {
            kmt.ADAPTERADDRESS: ("<III", card.address),
            kmt.ADAPTERTYPE: ("<I", _one(card.type_bits)),
            kmt.DRIVERVERSION: ("<I", _one(card.wddm)),
            kmt.WDDM_2_7_CAPS: ("<I", _one(card.hags)),
            kmt.KMD_DRIVER_VERSION: ("<Q", _one(card.kmd_version)),
            kmt.UMD_DRIVER_VERSION: ("<Q", _one(card.umd_version)),
            kmt.GETSEGMENTSIZE: ("<QQQ", (card.memory[0], 0, card.memory[1]) if card.memory else None),
            kmt.PHYSICALADAPTERDEVICEIDS: ("<IIIIIII", (0, *card.ids, 0, 0, 0, 3) if card.ids else None),
            kmt.ADAPTERPERFDATA_CAPS: (
                "<IxxxxQQIIIxxxx",
                (0, 0, 0, card.max_fan_rpm, 0, 0) if card.max_fan_rpm else None,
            ),
        }
        if question == kmt.ADAPTERREGISTRYINFO and card.name is not None:
            return card.name.encode("utf-16-le").ljust(520, b"\0").ljust(2080, b"\0")
        if question == kmt.NODEMETADATA:
            ordinal: int = struct.unpack_from("<H", given)[0]
            if ordinal >= len(card.nodes):
                return kmt.INVALID_PARAMETER
            engine_type, name = card.nodes[ordinal]
            data = given[:4] + struct.pack("<I", engine_type) + name.encode("utf-16-le").ljust(64, b"\0") + b"\0" * 6
            return data.ljust(card.node_size, b"\0")
        if question == kmt.ADAPTERPERFDATA:
            if card.perf is None:
                return card.perf_status
            memory, fan, power, temperature = card.perf
            return struct.pack("<IxxxxQQQQQIIIBxxx", 0, memory, memory, memory, 0, 0, fan, power, temperature, 0)
        form, values = answers.get(question, ("", None))
        return struct.pack(form, *values) if values else kmt.INVALID_PARAMETER


class FakeRegistry:
    """Keys with values, by path below HKEY_LOCAL_MACHINE."""

    def __init__(self, keys: Mapping[str, Mapping[str, object]] | None = None) -> None:
        self.keys = dict(keys or {})

    def subkeys(self, path: str) -> tuple[str, ...]:
        start = path + "\\"
        return tuple(key[len(start) :] for key in self.keys if key.startswith(start) and "\\" not in key[len(start) :])

    def values(self, path: str) -> Mapping[str, object]:
        return self.keys.get(path, {})


class FakePnp:
    """Devices and their power states, changeable between reads."""

    def __init__(self, *devices: pnp.PnpDevice, power: dict[int, int] | None = None) -> None:
        self.present = devices
        self.power = power or {}

    def devices(self) -> tuple[pnp.PnpDevice, ...]:
        return self.present

    def power_state(self, node: int) -> int | None:
        return self.power.get(node)


class FakeConfigManager:
    """cfgmgr32.dll: ``classes`` maps a class GUID to device identities, ``properties`` (identity, pid) to bytes."""

    def __init__(self, classes: dict[str, list[str]], properties: dict[tuple[str, int], bytes]) -> None:
        self.classes = classes
        self.properties = properties
        self.identities = [identity for group in classes.values() for identity in group]
        for name, (result, arguments) in pnp.PROTOTYPES.items():
            body: Callable[..., int] = getattr(self, f"_{name}")
            setattr(self, name, ctypes.CFUNCTYPE(result, *arguments)(body))

    def _listing(self, chosen: int) -> bytes:
        group = self.classes.get(_wide(chosen), [])
        return ("".join(f"{identity}\0" for identity in group) + "\0").encode("utf-16-le")

    def _CM_Get_Device_ID_List_SizeW(self, size: Any, chosen: int, flags: int) -> int:
        assert flags == 0x300
        size[0] = len(self._listing(chosen)) // 2
        return 0

    def _CM_Get_Device_ID_ListW(self, chosen: int, buffer: int, size: int, flags: int) -> int:
        listing = self._listing(chosen)
        assert len(listing) <= 2 * size
        ctypes.memmove(buffer, listing, len(listing))
        return 0

    def _CM_Locate_DevNodeW(self, node: Any, identity: int, flags: int) -> int:
        text = _wide(identity)
        if text not in self.identities:
            return 0x0D  # CR_NO_SUCH_DEVNODE
        node[0] = self.identities.index(text) + 1
        return 0

    def _CM_Get_DevNode_PropertyW(self, node: int, key: Any, kind: Any, buffer: int, size: Any, flags: int) -> int:
        assert bytes(key[0].fmtid) == uuid.UUID("{a45c254e-df1c-4efd-8020-67d146a850e0}").bytes_le
        data = self.properties.get((self.identities[node - 1], key[0].pid))
        if data is None:
            return 0x25  # CR_NO_SUCH_VALUE
        assert len(data) <= size[0]
        ctypes.memmove(buffer, data, len(data))
        size[0] = len(data)
        return 0


def _one(value: int | None) -> tuple[int] | None:
    return None if value is None else (value,)


def _signed(word: int) -> int:
    return word - (1 << 32) if word & 0x80000000 else word


def _wide(address: int) -> str:
    raw = b""
    while (pair := ctypes.string_at(address + len(raw), 2)) != b"\0\0":
        raw += pair
    return raw.decode("utf-16-le")
