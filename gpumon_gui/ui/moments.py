"""Knows: how a moment is written: date, time of day, a span of both. Must not know: widgets, what happened then.

The words are in the program's language, the order and 12 or 24 hours as in the user's country. Qt has no form of middle
length, so these are cut from its long ones: ``Nov 30, 2026``, ``30 Nov 2026``, ``2026年11月30日``.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from PySide6.QtCore import QDate, QLocale, QTime

from gpumon_gui.core.clock import local_moment

_LONG, _SHORT = QLocale.FormatType.LongFormat, QLocale.FormatType.ShortFormat
#: A quoted text, a run of letters (a field), or what stands between.
_PARTS = re.compile(r"'[^']*'|[A-Za-z]+|[^A-Za-z']+")


def user_locale() -> QLocale:
    """The system's where it has the program's language, else that language as it is written in the user's country."""
    ours, system = QLocale(), QLocale.system()
    if system.language() == ours.language():
        return system
    return QLocale(ours.language(), ours.script(), system.territory())


def clock(utc_s: float, *, seconds: bool = True) -> str:
    """The time of day here: ``14:03:20``, ``2:03 PM``."""
    locale = user_locale()
    form = _without_zone(locale.timeFormat(_LONG)) if seconds else locale.timeFormat(_SHORT)
    return locale.toString(_time(utc_s), form)


def day(utc_s: float) -> str:
    """``30 Nov 2026``."""
    return _date(utc_s, "")


def written_day(text: str) -> str:
    """A day that stands as ``2026-11-30`` in a source; any other text stays as it is."""
    try:
        when = date.fromisoformat(text)
    except ValueError:
        return text
    locale = user_locale()
    return locale.toString(QDate(when.year, when.month, when.day), _cut(locale.dateFormat(_LONG), ""))


def day_of_year(utc_s: float) -> str:
    """``30 Nov``."""
    return _date(utc_s, "y")


def month(utc_s: float) -> str:
    """``Nov 2026``."""
    return _date(utc_s, "d")


def moment(utc_s: float, *, seconds: bool = True) -> str:
    """``30 Nov 2026 14:03:20``."""
    return f"{day(utc_s)} {clock(utc_s, seconds=seconds)}"


def moment_or_clock(utc_s: float, now_utc_s: float) -> str:
    """To the minute; the date only where it is not today's."""
    is_today = local_moment(utc_s).date() == local_moment(now_utc_s).date()
    return clock(utc_s, seconds=False) if is_today else moment(utc_s, seconds=False)


def span(left_utc_s: float, right_utc_s: float, *, seconds: bool = False) -> str:
    """``29 Nov 2026 20:00 – 30 Nov 2026 20:00``; the date once when it is the same."""
    is_one_day = local_moment(left_utc_s).date() == local_moment(right_utc_s).date()
    right = clock(right_utc_s, seconds=seconds) if is_one_day else moment(right_utc_s, seconds=seconds)
    return f"{moment(left_utc_s, seconds=seconds)} – {right}"


def _time(utc_s: float) -> QTime:
    when = local_moment(utc_s)
    return QTime(when.hour, when.minute, when.second)


def _date(utc_s: float, without: str) -> str:
    when, locale = local_moment(utc_s), user_locale()
    return locale.toString(QDate(when.year, when.month, when.day), _cut(locale.dateFormat(_LONG), without))


@lru_cache
def _without_zone(form: str) -> str:
    """``h:mm:ss AP t`` without the ``t``."""
    parts = ["" if set(part) == {"t"} else part for part in _PARTS.findall(form)]
    return "".join(parts).replace("()", "").strip()


@lru_cache
def _cut(form: str, without: str) -> str:
    """A long form of the date without the day of the week, with a short month, and without one field more (``y`` or
    ``d``)."""
    parts: list[str] = _PARTS.findall(re.sub(r"[\s,،]*d{3,4}[\s,،]*", "", form).replace("MMMM", "MMM"))
    at = next((n for n, part in enumerate(parts) if without and set(part) == {without}), None)
    if at is None:
        return "".join(parts)
    # A field goes with what follows it (年, a comma); the last one, which nothing follows, with what stands before.
    fields = [n for n, part in enumerate(parts) if part.isascii() and part.isalpha()]
    after = next((n for n in fields if n > at), len(parts))
    before = max((n + 1 for n in fields if n < at), default=0)
    return "".join(parts[: at if after > at + 1 else before] + parts[after:]).strip()
