"""Knows: which adapters are on show, in which order, under which number and name. Must not know: Qt, sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceInfo, DeviceKind

#: ``Navi 31 [Radeon RX 7900 XT/7900 XTX]``, as pci.ids writes; not a pair of numbers for what it does not know.
_MODEL = re.compile(r".*\[([^\]]*[^\]:0-9a-f][^\]]*)\]")
#: What every card of a maker has in its name, and what tells no two apart.
_NOISE = re.compile(r"\((R|TM|C)\)|[®™©]|^(NVIDIA|AMD|Intel)\b|\bGeForce\b|\s(GPU|Generation|Edition)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Adapter:
    """One adapter of the list. ``number`` counts GPUs and NPUs apart; for a MIG instance it counts within its card
    and ``parent_number`` is the card's."""

    info: DeviceInfo
    number: int
    parent_number: int | None = None

    @property
    def is_npu(self) -> bool:
        """Whether it is called NPU."""
        return self.info.kind is DeviceKind.NPU


def adapters(inventory: Sequence[DeviceInfo]) -> tuple[Adapter, ...]:
    """Adapters in the order of their physical location, as Task Manager numbers them; software ones are left out.

    An adapter without a PCI address comes after those that have one. MIG instances follow their card.
    """
    cards = sorted(
        (info for info in inventory if info.kind is not DeviceKind.SOFTWARE and info.parent is None),
        key=lambda info: (info.kind is DeviceKind.NPU, info.pci_address or "~", info.index, info.key),
    )
    made: list[Adapter] = []
    counts = {True: 0, False: 0}
    for info in cards:
        npu = info.kind is DeviceKind.NPU
        number = counts[npu]
        counts[npu] += 1
        made.append(Adapter(info, number))
        instances = sorted((child for child in inventory if child.parent == info.key), key=lambda child: child.index)
        made += [Adapter(child, place, number) for place, child in enumerate(instances)]
    return tuple(made)


def title_of(adapter: Adapter) -> str:
    """``GPU 0``, ``NPU 0``, ``GPU 0 · MIG 1``."""
    if adapter.parent_number is not None:
        return _("GPU {card} · MIG {number}").format(card=adapter.parent_number, number=adapter.number)
    if adapter.is_npu:
        return _("NPU {number}").format(number=adapter.number)
    return _("GPU {number}").format(number=adapter.number)


def short_name(name: str) -> str:
    """A model's name where room is short: ``RTX 4060 Laptop``, ``H200``, ``Radeon RX 7800 XT``."""
    model = _MODEL.fullmatch(name)
    short = " ".join(_NOISE.sub("", model[1] if model else name).split())
    return short if short[:1].isalnum() and short != "GPU" else name


def short_name_of(adapter: Adapter) -> str:
    """That of an adapter in a list: a MIG instance stands below its card, an adapter that is none says so."""
    name = adapter.info.name
    if adapter.parent_number is not None and "MIG " in name:
        return name[name.index("MIG ") :]
    if adapter.info.kind is DeviceKind.VIRTUAL:
        return _("{name} (virtual)").format(name=short_name(name))
    return short_name(name)


def first_choice(shown: Sequence[Adapter]) -> Adapter:
    """The adapter on show before anybody chose: the first card of its own, since a laptop's number 0 is the graphics
    inside the processor and not what computes (TrafficMonitor issue 1627)."""
    return next((adapter for adapter in shown if adapter.info.kind is DeviceKind.DISCRETE), shown[0])
