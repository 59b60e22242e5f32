"""Knows: what an option is and which values it takes. Must not know: any single option, files, widgets.

Options are data: the catalogue lists them, the store keeps their values, the settings page shows them. An option's key
is its place in the file (``alerts.memory_full.minutes`` stands in the table ``[alerts.memory_full]``) and never changes
its meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

#: What an option can hold, as TOML writes it.
OptionValue: TypeAlias = bool | int | float | str | tuple[str, ...]
#: Of a list.
MOST_TEXTS: Final = 100


class WrongValue(ValueError):  # noqa: N818 - reads as a statement
    """A value that an option does not take. The message is technical (``expected one of …``), for the log."""


@dataclass(frozen=True, slots=True)
class Flag:
    """On or off."""

    default: bool

    def checked(self, raw: object) -> bool:
        """The value. Raises WrongValue."""
        if not isinstance(raw, bool):
            raise WrongValue("expected true or false")
        return raw


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words; each with the label it is shown by (message ids, or names that are not translated)."""

    default: str
    choices: tuple[tuple[str, str], ...]

    def checked(self, raw: object) -> str:
        """The value. Raises WrongValue."""
        words = [word for word, _label in self.choices]
        if not isinstance(raw, str) or raw not in words:
            raise WrongValue("expected one of " + ", ".join(words))
        return raw


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds. ``unit`` is a message id with ``{value}`` (``{value} GB``). ``is_celsius``: it is
    a temperature, kept in °C and shown in what the user reads."""

    default: float
    low: float
    high: float
    step: float = 1.0
    unit: str = "{value}"
    whole: bool = True
    is_celsius: bool = False

    def checked(self, raw: object) -> float:
        """The value, a whole number where the option wants one. Raises WrongValue."""
        if isinstance(raw, bool) or not isinstance(raw, int | float):
            raise WrongValue("expected a number")
        if not self.low <= raw <= self.high:  # not a number at all fails here too
            raise WrongValue(f"expected {self.low:g} to {self.high:g}")
        if self.whole and raw != int(raw):
            raise WrongValue("expected a whole number")
        return int(raw) if self.whole else float(raw)


@dataclass(frozen=True, slots=True)
class Texts:
    """A list of texts, for example paths; without empty ones and without doubles."""

    default: tuple[str, ...] = ()
    most: int = MOST_TEXTS

    def checked(self, raw: object) -> tuple[str, ...]:
        """The value. Raises WrongValue."""
        if not isinstance(raw, list | tuple) or not all(isinstance(one, str) for one in raw):
            raise WrongValue("expected a list of texts")
        found = tuple(dict.fromkeys(one.strip() for one in raw if one.strip() and "\0" not in one))
        if len(found) > self.most:
            raise WrongValue(f"expected at most {self.most} texts")
        return found


Kind: TypeAlias = Flag | Choice | Number | Texts


@dataclass(frozen=True, slots=True)
class Option:
    """``label`` and ``help`` are message ids. ``section`` is the group it is shown in (a key of the catalogue's
    sections); an option without one is kept for the program itself and not shown. ``needs`` is the key of a flag that
    must be on for this one to matter."""

    key: str
    kind: Kind
    label: str = ""
    help: str = ""
    section: str = ""
    needs: str = ""

    @property
    def default(self) -> OptionValue:
        """What holds where nothing was chosen."""
        return self.kind.default
