"""Knows: what the user chose. Must not know: files, widgets, who asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gpumon_gui.settings.catalogue import BY_KEY, OPTIONS
from gpumon_gui.settings.option import OptionValue


@dataclass(frozen=True, slots=True)
class Values:
    """``chosen`` holds only what differs from the default, so that a later default can improve."""

    chosen: Mapping[str, OptionValue] = field(default_factory=lambda: MappingProxyType({}))

    def get(self, key: str) -> OptionValue:
        """The value of an option. Raises KeyError for an unknown key."""
        return self.chosen.get(key, BY_KEY[key].default)

    def flag(self, key: str) -> bool:
        """The value of an on/off option."""
        return bool(self.get(key))

    def text(self, key: str) -> str:
        """The value of a choice."""
        return str(self.get(key))

    def number(self, key: str) -> float:
        """The value of a number."""
        value = self.get(key)
        assert isinstance(value, int | float)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The value of a list."""
        value = self.get(key)
        assert isinstance(value, tuple)
        return value

    def with_value(self, key: str, raw: object) -> Values:
        """The same with one value changed. Raises KeyError, WrongValue."""
        value = BY_KEY[key].kind.checked(raw)
        chosen = {name: kept for name, kept in self.chosen.items() if name != key}
        if value != BY_KEY[key].default:
            chosen[key] = value
        return Values(MappingProxyType(chosen))


def sections_of() -> dict[str, list[str]]:
    """Keys by section, in the catalogue's order."""
    found: dict[str, list[str]] = {}
    for option in OPTIONS:
        if option.section:
            found.setdefault(option.section, []).append(option.key)
    return found
