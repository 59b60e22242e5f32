"""Knows: a report as plain text and as Markdown. Must not know: how it was made; it gets the redacted document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from gpumon_gui.core.files import printable
from gpumon_gui.core.formatters import DASH
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.facts import MACHINE, UNNAMED
from gpumon_gui.diagnosis.logs.elsewhere import is_of_another
from gpumon_gui.diagnosis.report import environments, fact_words, tables, watch, words
from gpumon_gui.diagnosis.versions import OLDEST_PYTHON, parse_version

#: Verdicts after which an environment counts as healthy when no cause was found.
_WORKS = ("proven", "claimed", "not_installed")
#: Subjects that may be what was given alone; the others are environments and programs that were found.
_MAY_BE_GIVEN = (MACHINE, UNNAMED)
_KINDS = ("log", "script", "profile")


def terminal(report: Mapping[str, Any]) -> str:
    """What ``gpumon diagnose`` prints: verdicts, findings with evidence and advice, what was checked."""
    parts = ["" if _is_of_machine(report) else machine(report)]
    parts.append("\n".join(verdict["text"] for verdict in verdicts(report)))
    causes = [finding for finding in report["findings"] if finding["symptom_of"] is None]
    parts += [_block(finding, report) for finding in causes]
    parts += tables.terminal(report.get("sections", ()))
    listed = environments.listed(report)
    if listed:
        parts.append("\n".join([_("Python environments"), *(f"   {line}" for line in listed)]))
    parts.append(summary(report))
    return _harmless("\n\n".join(part for part in parts if part))


def markdown(report: Mapping[str, Any]) -> str:
    """The report to paste into a forum."""
    lines = [f"# {_('GPUMon report')}", "", f"{report['program']} · {report['time_utc']}", ""]
    if machine(report):
        lines += [machine(report), ""]
    lines += ["- " + verdict["text"].replace("\n", "  \n") for verdict in verdicts(report)]
    for finding in report["findings"]:
        lines += ["", f"## {finding['rank']}. {finding['title']}", ""]
        lines.append(f"`{finding['code']}` · {status(finding)}{about(finding, report)}")
        head, said = evidence_lines(finding["evidence"])
        lines += ["", f"**{head}**", "", *(f"- {tables.quoted(line)}" for line in said)]
        if finding["advice"]:
            lines += ["", "**" + _("What to do") + "**", ""]
        for number, step in enumerate(finding["advice"], start=1):
            lines.append(f"{number}. {step['text']}")
            if step["command"]:
                inside = " " * len(f"{number}. ")
                lines += ["", *(f"{inside}{line}" for line in ("```", *step["command"].splitlines(), "```")), ""]
    lines += tables.markdown(report.get("sections", ()))
    listed = environments.listed(report)
    if listed:
        lines += ["", f"## {_('Python environments')}", "", *(f"- {tables.quoted(line)}" for line in listed)]
    return _harmless("\n".join([*lines, "", summary(report), ""]))


def machine(report: Mapping[str, Any]) -> str:
    """What helpers ask first: the system, its GPUs and the driver. Where no machine was looked at, as far as a log
    tells; empty where nothing does."""
    facts = report["facts"]
    system, driver = facts.get("os", {}).get("name"), facts.get("driver", {}).get("version")
    gpus = _(", ").join(str(gpu.get("name") or gpu.get("vendor") or "?") for gpu in facts.get("gpus", ()))
    if _is_of_machine(report):
        return _machine_line(system, gpus or DASH, driver or DASH) if system else ""
    if not report.get("log_given") or watch.is_watch(report) or not (gpus or driver):
        return ""
    return _("{what}: {value}").format(what=_(words.GIVEN["log"]), value=_machine_line(system, gpus, driver))


def _machine_line(system: str | None, gpus: str, driver: str | None) -> str:
    found = [(what, value) for what, value in (("GPU", gpus), (_("Driver version"), driver)) if value]
    said = [_("{what}: {value}").format(what=what, value=value) for what, value in found]
    return " · ".join([*([system] if system else []), *said])


def verdicts(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """One sentence per framework an environment has, and one for all environments without any. After a proof it is a
    block per GPU: the verdict, then lines with both sides."""
    lines = []
    bare: dict[str, None] = dict.fromkeys(verdict["subject"] for verdict in report["verdicts"])
    for verdict in report["verdicts"]:
        if verdict["verdict"] == "not_installed":
            continue
        bare.pop(verdict["subject"], None)
        if verdict.get("proof"):
            lines += [
                {"verdict": verdict["verdict"], "text": environments.named("\n  ".join(said), report)}
                for said in verdict["proof"]
            ]
            continue
        framework = words.FRAMEWORK.get(verdict["framework"], verdict["framework"])
        sentence = _(words.VERDICT[verdict["verdict"]]).format(
            framework=framework, subject=_holder(verdict["subject"], report)
        )
        lines.append({"verdict": verdict["verdict"], "text": sentence})
    if bare:
        sentence = _(words.NO_FRAMEWORK).format(subjects=_(", ").join(_holder(name, report) for name in bare))
        lines.append({"verdict": "not_installed", "text": sentence})
    return [*lines, *_too_old(report), *_elsewhere(report), *watch.sentences(report)]


def _too_old(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """Pythons that no probe runs in and no rule is about: without a word here they would just be missing."""
    told = {entry["subject"] for entry in (*report["verdicts"], *report["findings"])}
    lines = []
    for environment in report["facts"].get("environments", ()):
        interpreter = environment.get("interpreter", {})
        path, version = str(interpreter.get("path")), str(interpreter.get("version"))
        parsed = parse_version(version)
        if path not in told and parsed is not None and parsed[:2] < OLDEST_PYTHON:
            sentence = _(words.TOO_OLD).format(version=printable(version), subject=subject(path))
            lines.append({"verdict": "not_measured", "text": sentence})
    return lines


def status(finding: Mapping[str, Any]) -> str:
    """Severity and confidence in words, and whose symptom it is."""
    parts = [_(words.severity(finding["code"], finding["severity"])), _(words.CONFIDENCE[finding["confidence"]])]
    if finding["symptom_of"]:
        parts.append(_(words.SYMPTOM).format(code=finding["symptom_of"]))
    return " · ".join(parts)


def subject(name: str) -> str:
    """What a finding is about, in words where it is no path."""
    return {MACHINE: _(words.MACHINE), UNNAMED: _(words.ENVIRONMENT), "unlisted": _(words.UNLISTED)}.get(
        name
    ) or printable(watch.numbered(name))


def about(finding: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """`` · this machine``, `` · the log``; nothing where only a log, a script or a profile was judged: there is
    nothing else that it could be about."""
    said = subject_of(str(finding["subject"]), {str(one["source"]) for one in finding["evidence"]}, report)
    return f" · {said}" if said else ""


def subject_of(name: str, sources: Set[str], report: Mapping[str, Any]) -> str:
    """The same without the dot, of a finding by its subject and the sources of its evidence."""
    if name == MACHINE and not _is_of_machine(report) and not watch.is_watch(report):
        return ""
    kind = _given_kind(name, sources, report["facts"].get("given", {}))
    return _(words.GIVEN[kind]) if kind else environments.named(subject(name), report)


def _holder(name: str, report: Mapping[str, Any]) -> str:
    """Where a framework is: an environment that nobody names is that of what was given."""
    given = report["facts"].get("given", {}) if name == UNNAMED else {}
    kind = _given_kind(name, {source for kind in _KINDS for source in given.get(kind, ())}, given)
    return _(words.GIVEN[kind]) if kind else environments.named(subject(name), report)


def _given_kind(name: str, sources: Set[str], given: Mapping[str, Any]) -> str:
    """What it is about if that is not this machine but what somebody gave: a log tells of the program that wrote it."""
    kinds = [kind for kind in _KINDS if sources & set(given.get(kind, ()))] if name in _MAY_BE_GIVEN else []
    everything = {source for kind in kinds for source in given[kind]}
    if not kinds or (name == MACHINE and sources - everything):
        return ""
    return "elsewhere" if kinds[0] == "log" and is_of_another(given.get("elsewhere", ())) else kinds[0]


def _elsewhere(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """That a log is of another machine, and what tells it."""
    found = report["facts"].get("given", {}).get("elsewhere", ())
    said = [
        _(words.DIFFERENCE).format(
            what=_(words.DIFFERENT[one["what"]]),
            there=printable(one["there"]),
            here=printable(one["here"]) or _("none"),
        )
        for one in found
    ]
    sentence = _(words.ELSEWHERE).format(differences=_(", ").join(said))
    return [{"verdict": "not_measured", "text": sentence}] if said else []


def evidence_lines(evidence: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """The heading and a line for each: ``Evidence (nvidia-smi)`` where most are from there; else a line says it."""
    common = fact_words.common_place(evidence)
    head = _("{what} ({place})").format(what=_("Evidence"), place=common) if common else _("Evidence")
    lines = []
    for one in evidence:
        place = "" if _is_read(one) else fact_words.place(one)
        lines.append(evidence_line(one) + (printable(f" · {place}") if place not in ("", common) else ""))
    return printable(head), lines


def evidence_line(evidence: Mapping[str, Any]) -> str:
    """``PyTorch: 2.5.1``; of a line that was read with its place: ``In the script (a.py:12): …``."""
    value = " ".join(str(evidence["value"]).split())  # one line of its list, whatever a program printed
    what = str(evidence["what"])
    label, figure = fact_words.label(what), fact_words.figure(what, value)
    if _is_read(evidence):
        label = _("{what} ({place})").format(what=label, place=fact_words.place(evidence))
    return printable(_("{what}: {value}").format(what=label, value=figure))


def _is_read(evidence: Mapping[str, Any]) -> bool:
    return "line" in evidence or not fact_words.is_fact(str(evidence["what"]))


def summary(report: Mapping[str, Any]) -> str:
    """What was found, what was looked for in vain, what could not be judged. Causes are counted once, in however many
    environments they were looked for; which fact was missing where is in the JSON report."""
    if report["facts"] and not set(report["facts"]) - {"profile", "memory_snapshot"}:
        faults = [_(words.FAULTS).format(codes=_(", ").join(sorted({bug["code"] for bug in report["bugs"]})))]
        found = [] if report["findings"] else [_(words.NO_CAUSE_IN_PROFILE)]
        return "\n".join([*found, _(words.ONLY_PROFILE), *(faults if report["bugs"] else [])])
    lines = []
    if not any(finding["severity"] != "info" for finding in report["findings"]):
        if watch.is_watch(report):
            lines += watch.closing(report)
        elif _healthy(report):
            lines.append(_(words.NOTHING_WRONG))
        else:
            if not report["findings"]:  # good to know may be the whole answer: no GPU in this machine
                lines.append(_(words.NOTHING_FOUND))
            lines.append(_(words.NEXT_ON_MACHINE if _is_of_machine(report) else words.NEXT_IN_LOG))
    clear = {entry["code"] for entry in report["clear"]}
    is_open = watch.is_open(report)  # then nothing is settled yet
    if clear and not is_open:
        lines.append(_(words.CHECKED).format(count=len(clear)))
    answered = clear | {finding["code"] for finding in report["findings"]}
    entries = [entry for entry in report["not_evaluated"] if entry["code"] not in answered]
    if entries and not is_open:
        roots = {fact.partition(".")[0] for entry in entries for fact in entry["missing"]} - _known_roots(report)
        topics = _(", ").join(dict.fromkeys(_(words.TOPIC.get(root, root)) for root in sorted(roots)))
        said = words.NOT_EVALUATED if topics and _is_of_machine(report) else words.NOT_JUDGED
        lines.append(_(said).format(count=len({entry["code"] for entry in entries}), facts=topics))
        if not _is_of_machine(report) and not watch.is_watch(report) and _(words.NEXT_IN_LOG) not in lines:
            lines.append(_(words.NEXT_IN_LOG))
    if report["bugs"]:
        codes = _(", ").join(sorted({bug["code"] for bug in report["bugs"]}))
        lines.append(_(words.FAULTS).format(codes=codes))
    return "\n".join(lines)


def _is_of_machine(report: Mapping[str, Any]) -> bool:
    """Whether a machine was looked at, not only what somebody gave."""
    return "environments" in report["facts"]


def _known_roots(report: Mapping[str, Any]) -> set[str]:
    """The first parts of the paths of which something is known. Naming PyTorch as unknown beside its own verdict would
    only puzzle."""
    known = set(report["facts"])
    for environment in report["facts"].get("environments", ()):
        known |= set(environment)
    return known


def _harmless(text: str) -> str:
    """Names come from others: folders, cards, files. None steers the terminal."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _healthy(report: Mapping[str, Any]) -> bool:
    """Whether "nothing wrong" may be said: a framework says that it can use the GPU, and none says otherwise."""
    said = [verdict["verdict"] for verdict in report["verdicts"]]
    return any(one in ("proven", "claimed") for one in said) and all(one in _WORKS for one in said)


def _block(finding: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    lines = [f"{finding['rank']}. {finding['title']}"]
    lines.append(f"   {finding['code']} · {status(finding)}{about(finding, report)}")
    head, said = evidence_lines(finding["evidence"])
    lines += [f"   {head}:", *(f"   - {line}" for line in said)] if said else []
    for step in finding["advice"]:
        lines.append(f"   {step['text']}")
        lines += [f"       {line}" for line in step["command"].splitlines()]
    symptoms = [other for other in report["findings"] if other["symptom_of"] == finding["code"]]
    lines += [f"   ↳ {symptom['title']} ({symptom['code']})" for symptom in symptoms]
    return "\n".join(lines)
