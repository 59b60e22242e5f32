"""Knows: how a fact, a line that was read, and where it is from are said to people. Must not know: rules, where it is
shown.

Paths and kinds are for those who write rules; people read "GPU busy". JSON keeps the paths.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gpumon_gui.core.formatters import cores, memory, share, speed, watts
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.finding import Evidence
from gpumon_gui.diagnosis.report import proof
from gpumon_gui.diagnosis.report.fact_names import FACTS, FAMILIES, IN_SCRIPT, PRINTED, PROBLEMS, SOURCES, Form


def label(what: str) -> str:
    """What a fact is called in the user's language; of a line that was read, what kind of line it is."""
    known = FACTS.get(what)
    if known is not None:
        return _(known[0])
    for beginning, text in FAMILIES.items():
        if what.startswith(beginning):
            return _(text).format(name=what.removeprefix(beginning))
    if "." in what:
        return what  # nobody cites it: the tests would say so
    return _(IN_SCRIPT if what.startswith("script-") else PRINTED)


def is_fact(what: str) -> bool:
    """Whether evidence is a fact with a name in words; else it is a line that was read."""
    return what in FACTS or what.startswith(tuple(FAMILIES))


def place(evidence: Mapping[str, Any]) -> str:
    """Where one evidence of a report is from: ``nvidia-smi``, ``train.py:12``, ``the program's output, line 12``."""
    source = str(evidence["source"])
    said = _(SOURCES[source]) if source in SOURCES else label(source) if source in FACTS else source
    if "line" not in evidence:
        return said
    if said == source:
        return f"{source}:{evidence['line']}"
    return _("{source}, line {line}").format(source=said, line=evidence["line"])


def common_place(evidence: Sequence[Mapping[str, Any]]) -> str:
    """Where most pieces of evidence are from, to be said once; empty where there is no such place. A line that was read
    has its own number."""
    places = Counter(place(one) for one in evidence)
    most, count = places.most_common(1)[0] if places else ("", 0)
    return most if 2 * count > len(evidence) and not any("line" in one for one in evidence) else ""


def said(evidence: Evidence) -> str:
    """What was measured in the user's language, without its time: ``16 %``, ``24.6 GB of 140.4 GB, GPU busy 0 %``."""
    if evidence.words:
        return _(", ").join(_(one.text).format(**one.values) for one in evidence.words)
    return figure(evidence.what, evidence.value)


def said_with_time(evidence: Evidence) -> str:
    """The same with the time it is from: ``16 % (30 s, 08:00:00-08:00:30 UTC)``."""
    start, end = evidence.start_utc_s, evidence.end_utc_s
    if start is None or end is None:
        return said(evidence)
    first, last = (time.strftime("%H:%M:%S", time.gmtime(moment)) for moment in (start, end))
    text = _("{figure} ({seconds} s, {start}-{end} UTC)")
    return text.format(figure=said(evidence), seconds=f"{end - start:.0f}", start=first, end=last)


def figure(what: str, bare: str) -> str:
    """The value of a fact as people read it, with its unit; what is written out already stays."""
    if not is_fact(what):
        return bare  # a line is quoted as it stands
    form = FACTS.get(what, ("", Form.TEXT))[1]
    if bare in _BARE:
        return _(_BARE[bare])
    if form is Form.PROBLEM:
        return _(PROBLEMS[bare]) if bare in PROBLEMS else bare
    if form is Form.WHY:
        return _(proof.WHY[bare]) if bare in proof.WHY else bare
    if form is Form.TEXT:
        return bare
    try:
        number = float(bare)
    except ValueError:
        return bare  # carries its unit
    if form is Form.SHARE:
        return share(number)
    if form is Form.CORES:
        return cores(number)
    if form is Form.WATTS:
        return watts(number)
    if form is Form.SPEED:
        return speed(number)
    if form is Form.SIZE:
        return memory(number)
    return f"{number:g} {form.value}"


#: Values without words of their own. ``null`` and an empty list are "there is none" in a fact.
_BARE = {"True": N_("yes"), "False": N_("no"), "null": N_("none"), "[]": N_("none"), "": N_("empty")}
