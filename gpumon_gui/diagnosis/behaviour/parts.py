"""Knows: how a rule reads the entries of a list of facts, such as devices. Must not know: any rule or feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpumon_gui.diagnosis.facts import View


@dataclass(frozen=True, slots=True)
class Part:
    """One entry of a list of facts, such as a device; unknown and unusable values are None."""

    facts: Mapping[str, Any]

    def number(self, name: str) -> float | None:
        """The number under a name."""
        value = self.facts.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def text(self, name: str) -> str | None:
        """The text under a name."""
        value = self.facts.get(name)
        return value if isinstance(value, str) else None

    def flag(self, name: str) -> bool | None:
        """True or False under a name."""
        value = self.facts.get(name)
        return value if isinstance(value, bool) else None

    def parts(self, name: str) -> tuple[Part, ...]:
        """The entries of a list under a name."""
        value = self.facts.get(name)
        found = value if isinstance(value, list | tuple) else ()
        return tuple(Part(entry) for entry in found if isinstance(entry, Mapping))

    @property
    def label(self) -> str:
        """What a device is called in a sentence: ``GPU 0``."""
        index = self.number("index")
        return "GPU" if index is None else f"GPU {index:.0f}"


def parts(view: View, path: str) -> tuple[Part, ...]:
    """The entries of a list of facts."""
    return tuple(Part(entry) for entry in view.items(path) if isinstance(entry, Mapping))
