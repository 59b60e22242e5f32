"""Knows: how a verdict of a watch is said in the window. Must not know: widgets, how it was made."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from gpumon_gui.bridge.watching import Program, Watched
from gpumon_gui.core.files import printable
from gpumon_gui.core.formatters import took
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.behaviour.best import key, same
from gpumon_gui.diagnosis.behaviour.job_facts import does_little
from gpumon_gui.diagnosis.behaviour.spans import STEADY
from gpumon_gui.diagnosis.finding import Evidence, Finding, NotEvaluated
from gpumon_gui.diagnosis.report import words
from gpumon_gui.ui import moments
from gpumon_gui.ui.charts.bands import Band, BandStyle
from gpumon_gui.ui.widgets.finding_block import MARK, Line, Shown

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.behaviour.watcher import Turn, Verdict

_WH = 3600.0
NOTHING = N_("Nothing that was looked for holds the GPU back.")


def tone(finding: Finding | None, *, is_idle: bool = False) -> str:
    """Of a mark: ``bad``, ``attention``, ``info``, and ``good`` where there is nothing to say of a GPU that works."""
    if finding is None:
        return "info" if is_idle else "good"
    return MARK[finding.severity]


def called(program: Program) -> str:
    """``python (PID 4711)``."""
    return _("{name} (PID {pid})").format(name=printable(program.name) or "?", pid=program.pid)


def sentence(finding: Finding | None, *, is_idle: bool = False) -> str:
    """The verdict in one sentence; ``is_idle``: the GPU does little, and no cause is known."""
    if finding is not None:
        return printable(_(finding.title).format(**finding.values))
    return _(words.IDLE if is_idle else NOTHING)


def turn_sentence(turn: Turn) -> str:
    """What the verdict was from then on."""
    return sentence(turn.finding, is_idle=turn.is_idle)


def _is_idle(verdict: Verdict) -> bool:
    """Of now; while a change passes, the facts are a mixture, and what was said before counts."""
    if verdict.stable or not verdict.history:
        return does_little(verdict.behaviour.document.facts["jobs"])
    return verdict.history[-1].is_idle


def said(verdict: Verdict) -> Finding | None:
    """What the verdict is: the newest stable one, with its figures of now where it still holds; before there is one,
    what is seen so far. How bad it is called changes with the verdict only."""
    if verdict.stable or not verdict.history:
        return verdict.primary
    last = verdict.history[-1].finding
    if last is None:
        return None
    return replace(same(verdict.behaviour.diagnosis.findings, last) or last, severity=last.severity)


def has_said(verdict: Verdict | None) -> bool:
    """Whether there is a verdict at all: enough was seen for one."""
    return verdict is not None and (verdict.stable or bool(verdict.history))


def headline(watched: Watched) -> tuple[str, str]:
    """Mark and sentence at the top of the panel."""
    verdict = watched.verdict
    if watched.fault:
        return "bad", _("GPUMon could not judge ({detail}).").format(detail=watched.fault)
    if verdict is None:
        return "none", _("It ended before anything could be seen of it.") if watched.ended else _("Watching …")
    if has_said(verdict):
        finding = said(verdict)
        is_idle = finding is None and _is_idle(verdict)
        return tone(finding, is_idle=is_idle), sentence(finding, is_idle=is_idle)
    if watched.ended:
        return "none", _("It ended before enough was seen for a verdict.")
    return "none", _("Watching …")


def status(watched: Watched) -> str:
    """Below the sentence: how bad, how sure, since when."""
    verdict = watched.verdict
    parts = []
    if verdict is not None and has_said(verdict):
        finding = said(verdict)
        if finding is not None:
            parts += [_(words.severity(finding.code, finding.severity)), _(words.CONFIDENCE[finding.confidence])]
        if verdict.history:
            parts.append(_("since {time}").format(time=moments.clock(verdict.history[-1].utc_s)))
    return " · ".join(parts)


def waiting(watched: Watched) -> str:
    """What is still needed; empty when the verdict stands."""
    verdict = watched.verdict
    if watched.ended or watched.fault or (verdict is not None and verdict.stable):
        return ""
    if verdict is None:
        return _("Waiting for readings.")
    needed = took(max(1, math.ceil(verdict.needs_s)))
    if verdict.history:
        last = verdict.history[-1].finding
        if last is not None and key(verdict.primary) == key(last):
            return ""  # it still holds; how bad it is may be told anew
        return _("Something else is seen now; a new verdict needs {time} more.").format(time=needed)
    if verdict.primary is not None:
        so_far = sentence(verdict.primary)
        return _("A verdict needs {time} more. So far: {verdict}").format(time=needed, verdict=so_far)
    return _("A verdict needs {time} more.").format(time=needed)


def ending(watched: Watched) -> str:
    """That the program has ended, after how long and what it cost; empty while it runs."""
    if not watched.ended:
        return ""
    if watched.run_s is None:
        text = _("The program has ended.")
    else:
        text = _("The program has ended after {time}.").format(time=took(watched.run_s))
    if watched.energy_j:
        energy = _("The GPU used {energy} in the {time} that were watched, by all programs together.")
        amount = f"{watched.energy_j / _WH:,.3g} Wh"
        text += " " + energy.format(energy=amount, time=took(watched.seen_s))
    return text


def shown(finding: Finding) -> Shown:
    """What is shown of a finding."""
    from gpumon_gui.diagnosis.report import fact_words  # half a megabyte of words: only for who has a finding

    return Shown(
        finding.code,
        finding.subject,
        tuple(
            Line(fact_words.label(one.what), printable(fact_words.said(one)), _source(one)) for one in finding.evidence
        ),
        tuple((printable(_(step.text).format(**step.values)), step.command) for step in finding.advice),
    )


def _source(one: Evidence) -> str:
    """``nvidia-smi · 14:03:22 – 14:03:52``."""
    from gpumon_gui.diagnosis.report import fact_words

    parts = [printable(fact_words.place({"source": one.origin.source}))]
    if one.start_utc_s is not None and one.end_utc_s is not None:
        parts.append(f"{moments.clock(one.start_utc_s)} – {moments.clock(one.end_utc_s)}")
    elif one.origin.time_utc_s is not None:
        parts.append(moments.clock(one.origin.time_utc_s))
    return " · ".join(parts)


def not_evaluated(entry: NotEvaluated) -> str:
    """What could not be judged, and of what too little is known."""
    from gpumon_gui.diagnosis.report import fact_words
    from gpumon_gui.diagnosis.rules.table import RULES  # loaded with the verdict

    rule = next((rule for rule in RULES if rule.code == entry.code), None)
    what = _(rule.help.what) if rule is not None else entry.code
    missing = _(", ").join(dict.fromkeys(fact_words.label(path) for path in entry.missing))
    return _("{what} Not known: {missing}.").format(what=what, missing=missing)


def bands(watched: Watched, chosen: tuple[str, str] | None) -> tuple[Band, ...]:
    """The parts of the time line that show the verdict, or the chosen finding (code and subject), and what was
    judged."""
    verdict = watched.verdict
    if verdict is None:
        return ()
    findings = {(one.code, one.subject): one for one in verdict.behaviour.diagnosis.findings}
    shown = chosen if chosen in findings else None
    if shown is None and (best := said(verdict)) is not None:
        shown = (best.code, best.subject)
    found = []
    for span in verdict.spans:
        if span.code == STEADY:
            text = _("This part was judged.")
            found.append(Band(span.start_utc_s, span.end_utc_s, text, "info", BandStyle.JUDGED))
        elif (span.code, span.subject) == shown and (finding := findings.get(shown)) is not None:
            style = BandStyle.CHOSEN if shown == chosen else BandStyle.FINDING
            found.append(Band(span.start_utc_s, span.end_utc_s, sentence(finding), tone(finding), style))
    return tuple(found)
