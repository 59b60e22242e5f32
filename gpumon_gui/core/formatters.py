"""Knows: how a value is written for people. Must not know: Qt, widgets.

Numbers follow the language of the program: English and Chinese share the decimal point and the comma between
thousands. Units are symbols and stand untranslated. Missing is a dash; its reason goes into the tool tip.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.metrics import METRICS, THROTTLE_REASONS, Unit
from gpumon_gui.core.values import Reading, Value, number

DASH = "—"
#: Bytes in what Windows' Task Manager calls GB, MB and KB.
GIB = 1 << 30
MIB = 1 << 20
KIB = 1 << 10

#: Words that sources give as text and people read in their language. Anything else is shown as it came.
WORDS: dict[str, str] = {
    "enabled": N_("enabled"),
    "disabled": N_("disabled"),
    "yes": N_("yes"),
    "no": N_("no"),
    "on": N_("on"),
    "off": N_("off"),
    "none": N_("none"),
    "default": N_("default"),
}


def percent(ratio: float, digits: int = 0) -> str:
    """``0.87`` → ``87 %``."""
    return f"{ratio * 100:.{digits}f} %"


def share(ratio: float) -> str:
    """A share of time: ``17 %``, ``4.7 %``."""
    return f"{ratio * 100:.{0 if ratio >= 0.1 else 1}f}".removesuffix(".0") + " %"


def cores(value: float) -> str:
    """CPU in use, in cores: ``2.9``, ``15.5``; ``0.02`` where that is less than a tenth."""
    return f"{value:.2f}" if 0.005 <= value < 0.095 else f"{value:.1f}"


def memory(value: float) -> str:
    """Bytes as Task Manager writes them: ``61.2 GB`` for 61.2 × 1024³."""
    if value >= GIB / 10:
        return f"{value / GIB:,.1f} GB"
    return f"{value / MIB:,.0f} MB" if value >= MIB or value == 0 else f"{value / KIB:,.0f} KB"


def memory_pair(used: Value | None, total: Value | None) -> str:
    """``4.2 / 8.0 GB``; without a limit ``4.2 GB``; a dash when the use is missing."""
    now, limit = number(used), number(total)
    if now is None:
        return DASH if limit is None else f"{DASH} / {memory(limit)}"
    return memory(now) if limit is None else f"{now / GIB:,.1f} / {limit / GIB:,.1f} GB"


def speed(value: float) -> str:
    """Bytes per second in decimal units, as links are specified: ``16 GB/s``, ``5.2 GB/s``, ``55 MB/s``."""
    for unit, size in (("GB/s", 1e9), ("MB/s", 1e6), ("KB/s", 1e3)):
        if value >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:,.0f} {unit}"
    return f"{value:.0f} B/s"


class _Units:
    """What the user reads figures in; like the language, one for the whole program."""

    fahrenheit = False


def read_fahrenheit(on: bool) -> None:
    """Write temperatures in °F from now on, or in °C again."""
    _Units.fahrenheit = on


def degrees_unit() -> str:
    """What temperatures are written in."""
    return "°F" if _Units.fahrenheit else "°C"


def degrees_of(celsius: float) -> float:
    """°C in the unit that temperatures are written in."""
    return celsius * 1.8 + 32 if _Units.fahrenheit else celsius


def celsius_of(degrees: float) -> float:
    """The reverse of :func:`degrees_of`."""
    return (degrees - 32) / 1.8 if _Units.fahrenheit else degrees


def celsius(value: float) -> str:
    """``57 °C``; ``135 °F`` for who reads those."""
    return f"{degrees_of(value):.0f} {degrees_unit()}"


def watts(value: float) -> str:
    """``312 W``; below 10 W with one decimal."""
    return f"{value:.1f} W" if 0 < value < 9.95 else f"{value:,.0f} W"


def megahertz(value: float) -> str:
    """``1,980 MHz``."""
    return f"{value:,.0f} MHz"


def pair(used: Value | None, limit: Value | None, form: Callable[[float], str]) -> str:
    """``312 / 700 W``: two values of one unit, the unit written once; a dash for what is missing."""
    now, top = number(used), number(limit)
    if top is None:
        return DASH if now is None else form(now)
    written = form(top)
    return f"{DASH if now is None else form(now).rsplit(' ', 1)[0]} / {written}"


def throttle(mask: int) -> str:
    """The reasons in ``throttle_reasons`` as words; ``none`` for no bit, an unknown bit by its number."""
    words = [_(text) for bit, text in THROTTLE_REASONS if mask & bit]
    known = sum(bit for bit, _text in THROTTLE_REASONS)
    if mask & ~known:
        words.append(f"0x{mask & ~known:x}")
    return _(", ").join(words) if words else _("none")


def duration(seconds: float) -> str:
    """An age in the largest fitting unit: ``12 s``, ``3 min``, ``2 h``."""
    if seconds < 99.5:
        return _("{count} s").format(count=f"{max(0.0, seconds):.0f}")
    if seconds < 99.5 * 60:
        return _("{count} min").format(count=f"{seconds / 60:.0f}")
    return _("{count} h").format(count=f"{seconds / 3600:,.0f}")


def took(seconds: float) -> str:
    """How long something took, in two units: ``42 s``, ``4 min 12 s``, ``1 h 43 min``, ``2 d 3 h``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return _("{count} s").format(count=whole)
    if whole < 3600:
        return _("{minutes} min {seconds} s").format(minutes=whole // 60, seconds=whole % 60)
    if whole < 86_400:
        return _("{hours} h {minutes} min").format(hours=whole // 3600, minutes=whole % 3600 // 60)
    return _("{days} d {hours} h").format(days=whole // 86_400, hours=whole % 86_400 // 3600)


def span(seconds: float) -> str:
    """The foot of a time axis: ``60 seconds``, ``5 minutes``, ``1 hour``."""
    if seconds >= 3600:
        hours = round(seconds / 3600)
        return _("1 hour") if hours == 1 else _("{count} hours").format(count=hours)
    if seconds > 60:
        return _("{count} minutes").format(count=round(seconds / 60))
    return _("{count} seconds").format(count=round(seconds))


def _count(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else DASH


def _joules(value: float) -> str:
    return f"{value / 3.6e6:,.1f} kWh" if value >= 3.6e5 else f"{value:,.0f} J"


_BY_UNIT: dict[Unit, Callable[[float], str]] = {
    Unit.RATIO: percent,
    Unit.BYTES: memory,
    Unit.BYTES_PER_S: speed,
    Unit.CELSIUS: celsius,
    Unit.WATT: watts,
    Unit.JOULE: _joules,
    Unit.MEGAHERTZ: megahertz,
    Unit.COUNT: _count,
}


def number_text(metric_id: str, value: float) -> str:
    """A number in the canonical unit of the metric, written out. KeyError for an unknown metric."""
    if metric_id == "pstate":
        return f"P{int(value)}"
    metric = METRICS[metric_id]
    if metric.unit is Unit.BITMASK:
        return throttle(int(value))
    return _BY_UNIT[metric.unit](value)


def value_text(metric_id: str, value: Value | None) -> str:
    """A value written out; a dash when it is missing. KeyError for an unknown metric."""
    if not isinstance(value, Reading):
        return DASH
    if isinstance(value.value, str):
        return _(WORDS.get(value.value.lower(), "")) or value.value
    return number_text(metric_id, value.value)
