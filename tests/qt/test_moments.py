"""Dates and times are written as the user's country writes them, in the program's language, in one place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale

import gpumon_gui.ui
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import local_moment
from gpumon_gui.ui import moments


def here(*when: int) -> float:
    """Seconds of UTC of a moment on the wall clock here."""
    there = datetime(*when, tzinfo=UTC).timestamp()  # type: ignore[arg-type,misc]
    offset = local_moment(there).utcoffset()
    assert offset is not None
    return there - offset.total_seconds()


AT_S = here(2026, 11, 30, 14, 3, 20)
LATER_S = here(2026, 12, 1, 9, 5, 0)


@pytest.fixture(params=["en_US", "en_GB", "de_DE", "zh_CN"])
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    found: str = request.param
    monkeypatch.setattr(moments, "user_locale", lambda: QLocale(found))
    return found


def plain(text: str) -> str:
    """Qt puts a narrow space before AM and PM."""
    return text.replace("\u202f", " ")


WRITTEN = {
    "en_US": ("2:03:20 PM", "2:03 PM", "Nov 30, 2026", "Nov 30", "Nov 2026"),
    "en_GB": ("14:03:20", "14:03", "30 Nov 2026", "30 Nov", "Nov 2026"),
    "de_DE": ("14:03:20", "14:03", "30. Nov. 2026", "30. Nov.", "Nov. 2026"),
    "zh_CN": ("14:03:20", "14:03", "2026年11月30日", "11月30日", "2026年11月"),
}


def test_each_form_is_that_of_the_country(name: str) -> None:
    clock, short, day, day_of_year, month = WRITTEN[name]
    assert plain(moments.clock(AT_S)) == clock
    assert plain(moments.clock(AT_S, seconds=False)) == short
    assert moments.day(AT_S) == day
    assert moments.day_of_year(AT_S) == day_of_year
    assert moments.month(AT_S) == month
    assert plain(moments.moment(AT_S)) == f"{day} {clock}"
    assert plain(moments.moment_or_clock(AT_S, AT_S + 600)) == short
    assert plain(moments.moment_or_clock(AT_S, LATER_S)) == f"{day} {short}"
    assert moments.written_day("2026-11-30") == day


def test_a_span_says_the_date_once_where_it_is_the_same(name: str) -> None:
    day = moments.day(AT_S)
    assert moments.span(AT_S, AT_S + 600).count(day) == 1
    long = moments.span(AT_S, LATER_S)
    assert long.startswith(f"{day} ")
    assert moments.day(LATER_S) in long


def test_what_is_no_date_stays_as_it_is() -> None:
    assert moments.written_day("—") == "—"


@pytest.mark.parametrize("form", ["'kl'. H.mm t", "HH:mm (t)", "t HH:mm"])
def test_the_zone_is_left_out_wherever_it_stands(form: str) -> None:
    assert "t" not in moments._without_zone(form)


@pytest.mark.parametrize(
    ("form", "whole", "no_year", "no_day"),
    [
        ("yyyy'年'M'月'd'日'", "yyyy'年'M'月'd'日'", "M'月'd'日'", "yyyy'年'M'月'"),  # Windows in Chinese
        ("yyyy年M月d日dddd", "yyyy年M月d日", "M月d日", "yyyy年M月"),
        ("dddd, MMMM dd, yyyy", "MMM dd, yyyy", "MMM dd", "MMM yyyy"),
        ("ddd, d. MMMM yyyy", "d. MMM yyyy", "d. MMM", "MMM yyyy"),
        ("dddd, d 'de' MMMM 'de' yyyy", "d 'de' MMM 'de' yyyy", "d 'de' MMM", "MMM 'de' yyyy"),
        ("yyyy-MM-dd", "yyyy-MM-dd", "MM-dd", "yyyy-MM"),
    ],
)
def test_a_date_is_shortened_whatever_its_order(form: str, whole: str, no_year: str, no_day: str) -> None:
    assert (moments._cut(form, ""), moments._cut(form, "y"), moments._cut(form, "d")) == (whole, no_year, no_day)


@pytest.fixture
def translation() -> Iterator[Translation]:
    made = Translation()
    yield made
    made.set_language("en")
    made.deleteLater()


def test_the_language_of_the_program_counts(
    translation: Translation, qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QLocale, "system", staticmethod(lambda: QLocale("de_DE")))
    translation.set_language("en")
    assert moments.moment(AT_S) == "30 Nov 2026 14:03:20"  # English words, the German clock
    translation.set_language("zh_CN")
    assert moments.moment(AT_S) == "2026年11月30日 14:03:20"
    monkeypatch.setattr(QLocale, "system", staticmethod(lambda: QLocale("en_US")))
    translation.set_language("en")
    assert plain(moments.moment(AT_S)) == "Nov 30, 2026 2:03:20 PM"


def test_nothing_else_in_the_window_writes_dates() -> None:
    own = Path(moments.__file__)
    for file in Path(gpumon_gui.ui.__file__).parent.rglob("*.py"):
        if file != own:
            found = re.findall(r"strftime|isoformat|QLocale|[Hh]h?:mm|yyyy", file.read_text(encoding="utf-8"))
            assert not found, f"{file}: {found}"
