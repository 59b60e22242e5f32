"""Knows: the answer as one JSON document (``gpumon-report/1``), translated and redacted. Must not know: files, HTML.

Form: ``schema``, ``program``, ``time_utc``, ``language``, ``verdicts``, ``findings`` (by rank), ``clear``,
``not_evaluated``, ``bugs``, ``facts``, and ``sections`` (``profile.py``, ``watch.py``). The Markdown and
HTML reports and the terminal's text are made from it, so that nothing can stand in one of them that was not redacted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gpumon_gui import __version__
from gpumon_gui.core.clock import Instant
from gpumon_gui.core.messages import _, language
from gpumon_gui.core.redact import Private, Replaced, Secret, hide_addresses, hide_secrets, redact_text
from gpumon_gui.diagnosis.facts import MACHINE, Document
from gpumon_gui.diagnosis.finding import Diagnosis, Evidence, Finding, FrameworkVerdict, Step
from gpumon_gui.diagnosis.report import fact_words, watch, words
from gpumon_gui.diagnosis.report.profile import sections
from gpumon_gui.diagnosis.report.proof import sentences
from gpumon_gui.diagnosis.rule import Help, Rule

SCHEMA = "gpumon-report/1"
#: Versions have dots like addresses; these keys hold none of the latter.
_VERSION_WORDS = ("version", "driver", "package")


def report(
    document: Document,
    diagnosis: Diagnosis,
    rules: Sequence[Rule],
    now: Instant,
    private: Private | None,
    replaced: Replaced | None = None,
) -> dict[str, Any]:
    """The whole document. ``private`` None leaves everything as it is (never for a file that is passed on);
    ``replaced`` takes note of what it hides."""
    helps = {rule.code: rule for rule in rules}
    plain: dict[str, Any] = {
        "schema": SCHEMA,
        "program": f"GPUMon {__version__}",
        "time_utc": _iso(now.utc_s),
        "language": language(),
        "verdicts": [
            {
                "subject": verdict.subject,
                "framework": verdict.framework,
                "device": verdict.device,
                "verdict": verdict.verdict,
                "code": verdict.code,
                **_proof(document, diagnosis, verdict),
            }
            for verdict in diagnosis.verdicts
        ],
        "findings": [_finding(finding, helps[finding.code]) for finding in diagnosis.findings],
        "clear": [{"code": clear.code, "subject": clear.subject} for clear in diagnosis.clear],
        "not_evaluated": [
            {"code": entry.code, "subject": entry.subject, "missing": list(entry.missing)}
            for entry in diagnosis.not_evaluated
        ],
        "bugs": [{"code": bug.code, "subject": bug.subject, "error": bug.error} for bug in diagnosis.bugs],
        "facts": _plain(document.facts),
    }
    shown = [*watch.sections(document.facts), *sections(document.facts)]
    if shown:
        plain["sections"] = shown
    return plain if private is None else _redacted(plain, private, replaced or Replaced())


def _proof(document: Document, diagnosis: Diagnosis, verdict: FrameworkVerdict) -> dict[str, Any]:
    """The proof in sentences, one list per GPU, where there was one."""
    view = next((view for view in document.views() if view.is_environment and view.subject == verdict.subject), None)
    proof = view.get(f"{verdict.framework}.proof") if view is not None else None
    if not isinstance(proof, Mapping):
        return {}
    causes = [
        _(finding.title).format(**finding.values)
        for finding in diagnosis.findings
        if finding.code == verdict.code and finding.subject in (verdict.subject, MACHINE)
    ]
    name = words.FRAMEWORK.get(verdict.framework, verdict.framework)
    about = {"environment": _(words.ENVIRONMENT), MACHINE: _(words.MACHINE)}.get(verdict.subject, verdict.subject)
    return {"proof": sentences(proof, name, about, causes[0] if causes else "")}


def _finding(finding: Finding, rule: Rule) -> dict[str, Any]:
    return {
        "code": finding.code,
        "subject": finding.subject,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "rank": finding.rank,
        "title": _(finding.title).format(**finding.values),
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "advice": [_step(step) for step in finding.advice],
        "symptom_of": finding.symptom_of,
        "help": _help(rule.help),
        "links": list(rule.links),
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    origin = evidence.origin
    measured = evidence.words or evidence.start_utc_s is not None
    value = fact_words.said_with_time(evidence) if measured else evidence.value
    plain: dict[str, Any] = {"what": evidence.what, "value": value, "source": origin.source}
    if evidence.number is not None:
        plain["number"] = evidence.number
    if evidence.start_utc_s is not None and evidence.end_utc_s is not None:
        plain["start_utc"], plain["end_utc"] = _iso(evidence.start_utc_s), _iso(evidence.end_utc_s)
    if origin.line is not None:
        plain["line"] = origin.line
    if origin.time_utc_s is not None:
        plain["time_utc"] = _iso(origin.time_utc_s)
    return plain


def _iso(utc_s: float) -> str:
    return datetime.fromtimestamp(utc_s, UTC).isoformat(timespec="seconds")


def _step(step: Step) -> dict[str, Any]:
    return {"text": _(step.text).format(**step.values), "command": step.command, "check": step.check}


def _help(texts: Help) -> dict[str, str]:
    return {
        "what": _(texts.what),
        "why": _(texts.why),
        "how": _(texts.how),
        "wrong": _(texts.wrong),
        "todo": _(texts.todo),
    }


def _plain(value: Any) -> Any:
    """Facts as JSON knows them: whatever mapping or sequence they came in."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _redacted(value: Any, private: Private, replaced: Replaced, key: str = "") -> Any:
    if isinstance(value, Mapping):
        # A key can be a path or a name too (packages, variables). What belongs to a package is its version: those of
        # NVIDIA's libraries have four parts, like an address.
        is_packages = key == "packages"
        return {
            redact_text(str(name), private, (), replaced): _redacted(
                entry, private, replaced, key if is_packages else str(name)
            )
            for name, entry in value.items()
        }
    if isinstance(value, list):
        return [_redacted(entry, private, replaced, key) for entry in value]
    if not isinstance(value, str):
        return value
    if _is_secret(key):
        replaced.note(Secret.SECRET, f"{key}={value}", f"{key}=***")
        return "***"
    clean = hide_secrets(redact_text(value, private, (), replaced), replaced)
    return clean if any(word in key.lower() for word in _VERSION_WORDS) else hide_addresses(clean, replaced)


def _is_secret(key: str) -> bool:
    return hide_secrets(f"{key}=x") != f"{key}=x"
