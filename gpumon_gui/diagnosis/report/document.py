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
from gpumon_gui.core.redact import Private, Replaced, Secret, hide_secrets
from gpumon_gui.core.redactor import Redactor
from gpumon_gui.diagnosis.facts import MACHINE, UNNAMED, Document
from gpumon_gui.diagnosis.finding import Diagnosis, Evidence, Finding, FrameworkVerdict, Step
from gpumon_gui.diagnosis.report import environments, fact_words, watch, words
from gpumon_gui.diagnosis.report.profile import sections
from gpumon_gui.diagnosis.report.proof import sentences
from gpumon_gui.diagnosis.rule import Help, Rule

SCHEMA = "gpumon-report/1"
#: Versions have dots like addresses; these keys hold none of the latter.
_VERSION_WORDS = ("version", "driver", "package")
#: Keys that hold one path, with its blanks.
_PATH_WORDS = ("path", "prefix", "executable", "file", "folder", "subject", "source", "base")
#: Keys of this document, outside of facts and sections, whose values are words of this program.
_OWN_WORDS = frozenset(
    {"schema", "program", "time_utc", "start_utc", "end_utc", "language", "framework", "verdict", "code", "severity"}
    | {"confidence", "symptom_of", "missing", "links", "help", "what", "title", "advice"}
)
#: Characters of a line that is quoted.
_LINE = 400
#: Keys whose entries are variables: what a variable is called tells what its value is.
_VARIABLES = ("environment", "variables")


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
        "log_given": document.log_given,
    }
    shown = [*watch.sections(document.facts), *sections(document.facts)]
    if shown:
        plain["sections"] = shown
    if private is None:
        return _shortened(plain)
    redactor = Redactor(private)
    for folder in environments.folders(plain):
        redactor.keep(folder)
    hiding = _Redaction(redactor)
    hiding.document(plain)  # what names a person at the end is hidden at the beginning too
    redactor.replaced = replaced
    plain["findings"] = [_finding(finding, helps[finding.code], hiding) for finding in diagnosis.findings]
    return _shortened(hiding.document(plain))


def _shortened(made: dict[str, Any]) -> dict[str, Any]:
    """With the beginning only of long lines that were read. After what is private was hidden: half a name is none."""
    for finding in made["findings"]:
        for evidence in finding["evidence"]:
            value = evidence["value"]
            if len(value) > _LINE and not fact_words.is_fact(evidence["what"]):
                evidence["value"] = value[: _LINE - 1] + "…"
    return made


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
    about = {UNNAMED: _(words.ENVIRONMENT), MACHINE: _(words.MACHINE)}.get(verdict.subject, verdict.subject)
    return {"proof": sentences(proof, name, about, causes[0] if causes else "")}


def _finding(finding: Finding, rule: Rule, hiding: _Redaction | None = None) -> dict[str, Any]:
    """``hiding``: title and advice are sentences and commands of this program. Nothing is looked for in them, only what
    is put into them is hidden."""
    return {
        "code": finding.code,
        "subject": finding.subject,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "rank": finding.rank,
        "title": _filled(finding.title, finding.values, hiding),
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "advice": [_step(step, hiding) for step in finding.advice],
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


def _step(step: Step, hiding: _Redaction | None) -> dict[str, Any]:
    command = step.command if hiding is None else hiding.command(step.command)
    return {"text": _filled(step.text, step.values, hiding), "command": command, "check": step.check}


def _filled(text: str, values: Mapping[str, str], hiding: _Redaction | None) -> str:
    hidden = values if hiding is None else {name: hiding.put_in(value) for name, value in values.items()}
    return _(text).format(**hidden)


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


class _Redaction:
    """Hides what is private in every text of a document."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def document(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """The same document for others to read."""
        return {
            key: self._value(value, key) if key in ("facts", "sections") else self._own(value, key)
            for key, value in plain.items()
        }

    def command(self, command: str) -> str:
        """A command of this program: nothing in it is private but what is known from elsewhere."""
        return self._redactor.known(command)

    def put_in(self, value: str) -> str:
        """What stands in a sentence of this program: a name, a path, a figure, a version."""
        return self._redactor.text(value, has_versions=value[:1].isdigit())

    def _own(self, value: Any, key: str) -> Any:
        """What this program says, with what it says it of."""
        if key in _OWN_WORDS:
            return value
        if isinstance(value, Mapping):
            return {name: self._own(entry, name) for name, entry in value.items()}
        if isinstance(value, list):
            return [self._own(entry, key) for entry in value]
        return self._value(value, key)

    def _value(self, value: Any, key: str, above: str = "") -> Any:
        if isinstance(value, Mapping):
            # What belongs to a package is its version: those of NVIDIA's libraries have four parts, like an address.
            inside = key if key == "packages" else ""
            return {
                self._name(str(name)): self._value(entry, inside or str(name), key) for name, entry in value.items()
            }
        if isinstance(value, list):
            return [self._value(entry, key, above) for entry in value]
        return self._text(value, key, above) if isinstance(value, str) else value

    def _name(self, name: str) -> str:
        """A key can be a path or a device too; a plain word is one of this program or of a package."""
        return name if name.replace("_", "").isalnum() else self._redactor.text(name)

    def _text(self, text: str, key: str, above: str) -> str:
        if _is_secret(key):
            if self._redactor.replaced is not None:
                self._redactor.replaced.note(Secret.SECRET, f"{key}={text}", f"{key}=***")
            return "***"
        low = key.lower()
        if any(word in low for word in _PATH_WORDS):
            self._redactor.learn_path(text)
        if key == "name" and above == "interpreter":
            return self._redactor.environment(text)
        has_versions = any(word in low for word in _VERSION_WORDS)
        if above in _VARIABLES:
            return self._redactor.text(f"{key}={text}", has_versions=has_versions).removeprefix(f"{key}=")
        return self._redactor.text(text, has_versions=has_versions)


def _is_secret(key: str) -> bool:
    return hide_secrets(f"{key}=x") != f"{key}=x"
