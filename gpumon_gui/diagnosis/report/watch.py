"""Knows: how a report says what a watched program did. Must not know: rules, how it was watched.

Facts: ``jobs[]`` and ``window`` of the judged part, and ``watch`` about the watching itself: ``seconds``, ``stable``,
``steady_s``, ``sources[]`` (their names), ``ended``, ``exit_code``, ``run_s``, ``energy_j {device: joules}``,
``turns[] {from_s, code, severity, title}``, ``notes[]`` (sentences).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpumon_gui.core.formatters import cores, share, took, watts
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.behaviour.job_facts import does_little, number
from gpumon_gui.diagnosis.finding import Severity
from gpumon_gui.diagnosis.report import words

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.behaviour.watcher import Turn

#: The only source of its logs, as reports name it.
_SMI = "nvidia-smi"
#: Less than this was not judged: all was.
_ALL_S = 0.5


def turn_facts(turn: Turn, begin_utc_s: float, title: str) -> dict[str, Any]:
    """One of ``turns[]``, of a watch that began at ``begin_utc_s``; ``title``: its verdict in one sentence."""
    return {
        "from_s": round(max(0.0, turn.utc_s - begin_utc_s), 1),
        "code": turn.finding.code if turn.finding is not None else None,
        "severity": turn.finding.severity if turn.finding is not None else None,
        "title": title,
    }


def is_watch(report: Mapping[str, Any]) -> bool:
    """Whether behaviour was judged, and nothing else."""
    facts = report["facts"]
    return "watch" in facts or ("window" in facts and "environments" not in facts)


def is_open(report: Mapping[str, Any]) -> bool:
    """Whether too little was seen for any verdict."""
    return is_watch(report) and _is_open(report["facts"].get("watch"))


def sentences(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """One line per program: what it is, and how busy it kept the GPU."""
    held = {finding["subject"] for finding in report["findings"] if finding["severity"] != "info"}
    watch = report["facts"].get("watch")
    is_log = isinstance(watch, Mapping) and _entries(watch.get("sources")) == (_SMI,)
    return [
        {"verdict": "fails" if job.get("subject") in held else "claimed", "text": _sentence(job, is_log=is_log)}
        for job in report["facts"].get("jobs", ())
        if isinstance(job, Mapping)
    ]


def closing(report: Mapping[str, Any]) -> list[str]:
    """What to make of it where no finding acts."""
    if any(finding["severity"] != "info" for finding in report["findings"]):
        return []
    jobs = [job for job in report["facts"].get("jobs", ()) if isinstance(job, Mapping)]
    watch = report["facts"].get("watch")
    watch = watch if isinstance(watch, Mapping) else {}
    if not jobs:
        return []
    if _is_open(watch):
        if watch.get("mode") == "replay":
            return [_("Too little was seen for a verdict.")]
        return [_("Too little was seen for a verdict: watch for longer.")]
    if watch.get("stable") is False:
        return [_("Something changed shortly before the end; too little was seen of it for a verdict.")]
    if not does_little(jobs):
        return [_("Nothing that was looked for holds the GPU back.")]
    told = {finding["subject"] for finding in report["findings"]}
    if all(job.get("subject") in told for job in jobs):
        return []  # what is good to know says it
    lines = [_(words.IDLE)]
    if not any(number(job, "cpu", "cores") is not None for job in jobs):
        lines.append(
            _(
                "Nothing is known of programs and CPU here. To see what the GPU waits for, watch the program: {command}"
            ).format(command="gpumon watch --pid PID")
        )
    return lines


def sections(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was watched, how long, and what changed meanwhile; nothing without ``watch``."""
    watch = facts.get("watch")
    if not isinstance(watch, Mapping) or not (_is_number(watch.get("steady_s")) and _is_number(watch.get("seconds"))):
        return []  # facts of a file may be anything
    lines = [_watched(watch)]
    if _is_number(watch.get("run_s")):
        lines.append(_ended(watch))
    sources = [source for source in _entries(watch.get("sources")) if isinstance(source, str)]
    if sources:
        lines.append(_("Read from: {sources}.").format(sources=_(", ").join(sources)))
    energy = watch.get("energy_j")
    if isinstance(energy, Mapping):
        used = _("{device} used {energy} Wh in that time, by all programs together.")
        lines += [
            used.format(device=device, energy=f"{joules / 3600:.2g}")
            for device, joules in energy.items()
            if _is_number(joules)
        ]
    lines += [str(note) for note in _entries(watch.get("notes"))]
    turns = [
        turn
        for turn in _entries(watch.get("turns"))
        if isinstance(turn, Mapping) and _is_number(turn.get("from_s")) and "title" in turn
    ]
    tables = []
    if len(turns) > 1:
        rows = [[took(float(turn["from_s"])), _cause(turn), str(turn["title"])] for turn in turns]
        tables = [
            {
                "title": _("What changed meanwhile"),
                "columns": [_("From"), _("Cause"), _("Verdict")],
                "rows": rows,
            }
        ]
    return [{"title": _("What was watched"), "lines": lines, "tables": tables}]


def name(job: Mapping[str, Any]) -> str:
    """``python (pid 4711, PyTorch)``."""
    program = job.get("program")
    program = program if isinstance(program, Mapping) else {}
    subject = _(words.UNLISTED) if job.get("subject") == "unlisted" else numbered(str(job.get("subject") or ""))
    inside = _(", ").join(str(part) for part in (subject, program.get("framework")) if part)
    called = program.get("name")
    return _("{name} ({details})").format(name=called, details=inside) if called else inside


def numbered(subject: str) -> str:
    """The subject ``pid 4711`` in the user's language; any other stays."""
    kind, _space, number = subject.partition(" ")
    return _("pid {pid}").format(pid=number) if kind == "pid" and number.isdigit() else subject


def _sentence(job: Mapping[str, Any], *, is_log: bool) -> str:
    busy, power, used = (
        number(job, "activity", "busy"),
        number(job, "activity", "power_w"),
        number(job, "cpu", "cores"),
    )
    parts = []
    if busy is not None:
        device = job["activity"].get("device") or "GPU"
        parts.append(_("{device} busy {share} of the time").format(device=device, share=share(busy)))
    else:
        parts.append(_("no work of it on a GPU was seen"))
    if power is not None:
        parts.append(watts(power))
    if used is not None:
        parts.append(_("CPU: {cores} cores").format(cores=cores(used)))
    who = _(words.SMI_LOG) if is_log and job.get("subject") == "unlisted" else name(job)
    return _("{what}: {value}").format(what=who, value=_(", ").join(parts))


def _is_open(watch: object) -> bool:
    return isinstance(watch, Mapping) and watch.get("stable") is False and not watch.get("turns")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _entries(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _watched(watch: Mapping[str, Any]) -> str:
    if not watch["steady_s"] or _is_open(watch):
        return _("Watched for {seen}.").format(seen=took(float(watch["seconds"])))
    if watch["seconds"] - watch["steady_s"] < _ALL_S:
        return _("Watched for {seen}; the work was of one kind all that time.").format(
            seen=took(float(watch["seconds"]))
        )
    said = _("Watched for {seen}; the verdict is about the last {steady}, in which the work was of one kind.")
    return said.format(seen=took(float(watch["seconds"])), steady=took(float(watch["steady_s"])))


def _cause(turn: Mapping[str, Any]) -> str:
    """``input-pipeline-bound · Slow``; nothing where there was nothing to say."""
    code, severity = turn.get("code"), turn.get("severity")
    if not isinstance(code, str):
        return ""
    return f"{code} · {_(words.severity(code, severity))}" if severity in tuple(Severity) else code


def _ended(watch: Mapping[str, Any]) -> str:
    ran, code = took(float(watch["run_s"])), watch.get("exit_code")
    if not watch.get("ended"):
        return _("The program still runs, for {time} so far.").format(time=ran)
    if not isinstance(code, int):
        return _("The program ended after {time}.").format(time=ran)
    if code < 0:
        return _("The program was ended by signal {signal} after {time}.").format(signal=-code, time=ran)
    return _("The program ended with exit code {code} after {time}.").format(code=code, time=ran)
