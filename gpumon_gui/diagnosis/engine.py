"""Knows: how rules become a ranked answer. Must not know: any single rule, where facts come from.

Order of findings: causes before their symptoms; then what stops the program (blocks or crashes), what slows it, guesses
(low confidence) at either, and what is no fault; among those confidence, then the order of questions (an import that
fails comes before any question about the GPU, whichever of the two is called worse), severity, code. What a rule
``precedes`` stands right behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from gpumon_gui.diagnosis.facts import MACHINE, UNKNOWN, UNNAMED, Document, View
from gpumon_gui.diagnosis.finding import (
    Bug,
    Clear,
    Confidence,
    Diagnosis,
    Finding,
    FrameworkVerdict,
    NotEvaluated,
    Severity,
    Verdict,
)
from gpumon_gui.diagnosis.logs.elsewhere import is_of_another
from gpumon_gui.diagnosis.rule import Answer, Hit, Lacks, Outcome, Rule, Scope, lacking

_SEVERITIES = tuple(Severity)
_CONFIDENCES = tuple(Confidence)
#: framework → the path whose presence means "installed", and the path that says how many GPUs it sees.
_FRAMEWORKS = (
    ("torch", "torch.version", "torch.cuda_available"),
    ("tensorflow", "tensorflow.version", "tensorflow.gpu_count"),
    ("jax", "jax.version", "jax.device_count"),
    ("onnxruntime", "onnxruntime.version", "onnxruntime.session_providers"),
    ("cupy", "cupy.version", "cupy.device_count"),
)
#: A proof's verdict (FACTS.md) → ours. One that could not be measured leaves the question to the other facts.
_PROVED = {
    "proven": Verdict.PROVEN,
    "not-seen": Verdict.CLAIMED,
    "fails": Verdict.FAILS,
    "cpu": Verdict.FAILS,
}
#: The step from which on the framework can use the GPU.
_BEHAVIOUR = 9
_NOT_SEEN = "gpu-claimed-but-not-seen"


def diagnose(document: Document, rules: Sequence[Rule]) -> Diagnosis:
    """Judge every rule for every subject it applies to."""
    findings: list[Finding] = []
    clear: list[Clear] = []
    not_evaluated: list[NotEvaluated] = []
    bugs: list[Bug] = []
    steps = {rule.code: rule.step for rule in rules}
    views = tuple(document.views())
    for view in views:
        for rule in rules:
            try:
                outcome = _judge(rule, view, document)
                if isinstance(outcome, Hit):
                    findings.append(_finding(rule, view, outcome))
            except Exception as error:  # noqa: BLE001 - a raising rule is a reported bug, never a lost report
                bugs.append(Bug(rule.code, view.subject, f"{type(error).__name__}: {error}"))
                continue
            if isinstance(outcome, Answer):
                clear.append(Clear(rule.code, view.subject))
            elif isinstance(outcome, Lacks):
                not_evaluated.append(NotEvaluated(rule.code, view.subject, outcome.missing))
    is_foreign = is_of_another(document.facts.get("given", {}).get("elsewhere", ()))
    apart = {UNNAMED} if is_foreign else set()
    ranked = _led(_ranked(_folded(_agreed(findings, rules, apart), rules, apart), steps), rules, apart)
    by_code = {rule.code: rule for rule in rules}
    return Diagnosis(_verdicts(views, ranked, by_code, apart), ranked, tuple(clear), tuple(not_evaluated), tuple(bugs))


def _judge(rule: Rule, view: View, document: Document) -> Outcome | None:
    """What the rule says of a subject; None where it does not apply. A hit counts, whichever side it is from."""
    outcomes: list[Outcome] = []
    if rule.check is not None and _checks(rule, view, document):
        missing = lacking(view, rule.needs)
        outcomes.append(Lacks(missing) if missing else rule.check(view))
    if rule.watch is not None and _watches(rule, view):
        outcomes.append(rule.watch(view))
    if not outcomes:
        return None
    return min(outcomes, key=_preference)


def _checks(rule: Rule, view: View, document: Document) -> bool:
    if "window" in document.facts and not document.log_given and not document.signals:
        return False  # behaviour was asked about, nothing else
    return view.is_machine if rule.scope is Scope.MACHINE else rule.scope is Scope.ENVIRONMENT and view.is_environment


def _watches(rule: Rule, view: View) -> bool:
    return view.is_job if rule.watch_scope is Scope.JOB else view.is_machine and view.known("window")


def _preference(outcome: Outcome) -> tuple[int, int]:
    if isinstance(outcome, Hit):
        return 0, _CONFIDENCES.index(outcome.confidence)
    return (1, 0) if isinstance(outcome, Answer) else (2, 0)


def _finding(rule: Rule, view: View, hit: Hit) -> Finding:
    return Finding(
        code=rule.code,
        subject=view.subject,
        severity=hit.severity or rule.severity,
        confidence=hit.confidence,
        title=hit.title or rule.title,
        values=hit.values,
        evidence=hit.evidence,
        advice=rule.advise(view, hit),
    )


def _concerns(cause: Finding, subject: str, apart: Set[str]) -> bool:
    """Whether a finding can be a cause for that subject: it is of the same, or of the machine that it belongs to;
    ``apart`` are subjects of another machine."""
    return cause.subject == subject or (cause.subject == MACHINE and subject not in apart)


def _agreed(findings: Sequence[Finding], rules: Sequence[Rule], apart: Set[str]) -> list[Finding]:
    """Findings do not contradict each other: what one says there is too little of, no other advises to take more of."""
    short_of = {rule.code: rule.short_of for rule in rules}
    agreed = []
    for finding in findings:
        beside = [other for other in findings if _concerns(other, finding.subject, apart)]
        lacking = {what for other in beside for what in short_of[other.code]}
        kept = tuple(step for step in finding.advice if step.takes not in lacking)
        agreed.append(replace(finding, advice=kept))
    return agreed


def _folded(findings: Sequence[Finding], rules: Sequence[Rule], apart: Set[str]) -> list[Finding]:
    """Symptoms point to their cause. A guess (low confidence) explains nothing away, and nothing explains away what is
    written in a script: it stays there when the other cause is mended."""
    by_code = {rule.code: rule for rule in rules}
    folded = []
    for finding in findings:
        causes = [
            other
            for other in findings
            if _explains(by_code[other.code], other, by_code[finding.code])
            and not _is_written(finding)
            and other.confidence is not Confidence.LOW
            and _concerns(other, finding.subject, apart)
            and other.code not in by_code[finding.code].explains
        ]
        if not (causes and by_code[finding.code].fallback):
            folded.append(replace(finding, symptom_of=causes[0].code) if causes else finding)
    return folded


def _explains(rule: Rule, cause: Finding, symptom: Rule) -> bool:
    if symptom.code in rule.explains:
        return True
    is_of_it = not rule.frameworks or not symptom.frameworks or bool({*rule.frameworks} & {*symptom.frameworks})
    stops = cause.severity in (Severity.BLOCKS, Severity.CRASHES) and not rule.fallback
    return symptom.fallback and stops and is_of_it


def _is_written(finding: Finding) -> bool:
    return bool(finding.evidence) and all(evidence.what.startswith("script-") for evidence in finding.evidence)


def _weight(finding: Finding) -> int:
    """What stops, what slows, guesses, no fault."""
    if finding.severity is Severity.INFO:
        return 3
    if finding.confidence is Confidence.LOW:
        return 2
    return 1 if finding.severity is Severity.SLOWS else 0


def _ranked(findings: Iterable[Finding], steps: dict[str, int]) -> tuple[Finding, ...]:
    def key(finding: Finding) -> tuple[bool, int, int, int, int, str, str]:
        return (
            finding.symptom_of is not None,
            _weight(finding),
            _CONFIDENCES.index(finding.confidence),
            steps[finding.code],
            _SEVERITIES.index(finding.severity),
            finding.code,
            finding.subject,
        )

    return tuple(replace(finding, rank=rank) for rank, finding in enumerate(sorted(findings, key=key), start=1))


def _led(ranked: Sequence[Finding], rules: Sequence[Rule], apart: Set[str]) -> tuple[Finding, ...]:
    """What must be answered first moves before what it precedes: without a card no other build helps."""
    precedes = {rule.code: rule.precedes for rule in rules}
    order = list(ranked)
    for leader in ranked:
        if leader.confidence is not Confidence.HIGH or leader.symptom_of is not None:
            continue
        followers = [place for place, one in enumerate(order) if _follows(one, leader, precedes[leader.code], apart)]
        if followers:
            place = min(followers[0], order.index(leader))
            order.remove(leader)
            order.insert(place, replace(leader, severity=Severity.BLOCKS))
    return tuple(replace(finding, rank=rank) for rank, finding in enumerate(order, start=1))


def _follows(finding: Finding, leader: Finding, codes: tuple[str, ...], apart: Set[str]) -> bool:
    is_apart = leader.subject == MACHINE and finding.subject in apart
    return finding.code in codes and finding.severity is not Severity.INFO and not is_apart


def _verdicts(
    views: Sequence[View], findings: Sequence[Finding], by_code: Mapping[str, Rule], apart: Set[str]
) -> tuple[FrameworkVerdict, ...]:
    verdicts = []
    for view in views:
        if not view.is_environment:
            continue
        blocking = [
            finding
            for finding in findings
            if _stops(finding, by_code[finding.code])
            and finding.confidence is not Confidence.LOW
            and _concerns(finding, view.subject, apart)
        ]
        for framework, installed, sees in _FRAMEWORKS:
            if not view.known(installed) and not view.known(framework):
                continue
            own = [found for found in blocking if framework in (by_code[found.code].frameworks or (framework,))]
            claims = view.get(sees)
            if not view.known(installed) and claims is UNKNOWN and not own:
                continue  # it is named, and nothing is said of it
            proof = view.text(f"{framework}.proof.verdict")
            if view.get(installed) is None:
                verdicts.append(FrameworkVerdict(view.subject, framework, Verdict.NOT_INSTALLED))
            elif proof in _PROVED:
                # What was computed and watched counts before what a framework says of itself.
                code = _NOT_SEEN if proof == "not-seen" else own[0].code if own and proof != "proven" else None
                verdicts.append(FrameworkVerdict(view.subject, framework, _PROVED[proof], code))
            elif _claims_gpu(claims):
                verdicts.append(FrameworkVerdict(view.subject, framework, Verdict.CLAIMED))
            elif own or claims is not UNKNOWN:
                code = own[0].code if own else None  # it says itself that it sees no GPU, for whatever cause
                verdicts.append(FrameworkVerdict(view.subject, framework, Verdict.FAILS, code))
            else:
                verdicts.append(FrameworkVerdict(view.subject, framework, Verdict.NOT_MEASURED))
    return tuple(verdicts)


def _stops(finding: Finding, rule: Rule) -> bool:
    """Whether it keeps a framework off the GPU. One that is not asked for it, or lacks memory there, can use it."""
    return finding.severity in (Severity.BLOCKS, Severity.CRASHES) and rule.step < _BEHAVIOUR


def _claims_gpu(seen: object) -> bool:
    """A flag, a number of devices, or a list of providers that says "there is a GPU"."""
    if isinstance(seen, list | tuple):
        return any(str(entry) not in ("CPUExecutionProvider", "AzureExecutionProvider") for entry in seen)
    return isinstance(seen, int) and seen > 0
