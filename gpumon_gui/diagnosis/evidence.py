"""Knows: how what was measured is written as evidence, and the phrases that several rules use for it. Must not know:
any rule or feature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpumon_gui.core import formatters
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.behaviour.parts import Part
from gpumon_gui.diagnosis.facts import Origin, View
from gpumon_gui.diagnosis.finding import Evidence, Words

#: A figure that says all by itself.
AMOUNT: Final = "{amount}"
_YEAR_3000: Final = 32_503_680_000


def told(text: str, **values: str) -> Words:
    """What was measured in words: ``text`` is marked with ``N_`` if it has any, the values are names and figures with
    their unit."""
    return Words(text, values)


def gpu_busy(part: Part) -> Words:
    """``GPU 0 busy 97 %``."""
    return told(N_("{gpu} busy {share}"), gpu=part.label, share=formatters.share(part.number("busy") or 0.0))


def sm_activity(part: Part) -> Words | None:
    """``SM activity 24 %``, if it was measured."""
    share = part.number("sm")
    return None if share is None else told(N_("SM activity {share}"), share=formatters.share(share))


def power_drawn(part: Part) -> Words | None:
    """``312 W``, if it was measured."""
    found = part.number("power_w")
    return None if found is None else told(AMOUNT, amount=formatters.watts(found))


def sm_clock(clock: str, top: str) -> Words:
    """``SM clock 1200 of 1980 MHz``."""
    return told(N_("SM clock {clock} of {top} MHz"), clock=clock, top=top)


def measured(view: View, path: str, *words: Words | None) -> Evidence:
    """Evidence in words with the time it is from."""
    start, end = _time(view)
    return replace(in_words(path, view.origin(path), *words), start_utc_s=start, end_utc_s=end)


def in_words(path: str, origin: Origin, *words: Words | None) -> Evidence:
    """Evidence in words."""
    kept = tuple(one for one in words if one is not None)
    return Evidence(path, ", ".join(one.text.format(**one.values) for one in kept), origin, kept)


def measured_number(view: View, path: str, number: float, written: str) -> Evidence:
    """Evidence that is a single number, ``written`` as people read it, with the time it is from."""
    start, end = _time(view)
    return Evidence(path, written, view.origin(path), (), number, start, end)


def _time(view: View) -> tuple[float | None, float | None]:
    place = "job.program" if view.known("job.program.start_utc_s") else "window.seen"
    start, end = view.number(f"{place}.start_utc_s"), view.number(f"{place}.end_utc_s")
    # A file of facts may hold a time that no calendar has.
    return (start, end) if start is not None and end is not None and 0 <= start <= end < _YEAR_3000 else (None, None)
