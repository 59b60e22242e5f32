"""The rules against their case files and against the contract in ``gpumon_gui/diagnosis/rule.py``."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from gettext import NullTranslations
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import gpumon_gui.diagnosis
from gpumon_gui.core import messages
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import UNTRUSTED_KEYS, Document, View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, WORKERS, Diagnosis
from gpumon_gui.diagnosis.remedies import NO_GPU
from gpumon_gui.diagnosis.report import fact_words
from gpumon_gui.diagnosis.rule import Rule
from gpumon_gui.diagnosis.rules.table import RULES
from tests.rules.case import CASES, Case, load_all, spoken

BY_CODE = {rule.code: rule for rule in RULES}
CASES_LIST = load_all()
DIAGNOSIS = Path(gpumon_gui.diagnosis.__file__).parent
RULE_FILES = sorted(path for path in (DIAGNOSIS / "rules").glob("*.py") if path.stem not in ("__init__", "table"))
KNOWN_CODES = frozenset((CASES.parent / "cause_codes.txt").read_text(encoding="utf-8").split())
MEASURING = (*RULE_FILES, *sorted((DIAGNOSIS / "behaviour").rglob("*.py")))
#: Symbols, the same in every language.
UNITS = frozenset({"GPU", "GB", "MB", "KB", "MHz", "TFLOP", "NVLink", "PCIe"})
HELP_FIELDS = ("what", "why", "how", "wrong", "todo")


def answer(diagnosis: Diagnosis) -> str:
    """What one rule said: a hit in any subject counts, then a clear in any."""
    if diagnosis.findings:
        return "hit"
    return "clear" if diagnosis.clear else "lacks"


@pytest.mark.parametrize("case", CASES_LIST, ids=lambda case: f"{case.code}: {case.name}")
def test_a_rule_answers_its_case(case: Case) -> None:
    diagnosis = diagnose(case.document(), (BY_CODE[case.code],))
    assert not diagnosis.bugs
    assert answer(diagnosis) == case.expect
    for finding in diagnosis.findings[:1]:
        assert finding.evidence, "a finding says on which evidence it rests"
        if case.confidence is not None:
            assert finding.confidence == case.confidence
        if case.severity is not None:
            assert finding.severity == case.severity
        said = spoken(finding)
        assert [text for text in case.says if text not in said] == []
        assert [text for text in case.not_says if text in said] == []


@pytest.mark.parametrize("case", [case for case in CASES_LIST if case.expect == "hit"], ids=lambda case: case.name)
def test_all_rules_bear_each_others_evidence(case: Case) -> None:
    diagnosis = diagnose(case.document(), RULES)
    assert not diagnosis.bugs
    texts = translatable()
    for finding in diagnosis.findings:
        spoken(finding)
        shown = {finding.title, *(step.text for step in finding.advice)} - {""}
        said = {words.text for evidence in finding.evidence for words in evidence.words}
        shown |= {text for text in said if in_english(text, ())}
        assert not shown - texts, "each sentence is a literal marked with N_"


@pytest.mark.parametrize(
    "case", [case for case in CASES_LIST if case.expect == "hit"], ids=lambda case: f"{case.code}: {case.name}"
)
def test_no_advice_is_given_twice(case: Case) -> None:
    """Within one finding neither a heading nor a command comes twice; in one run no two causes give the same step."""
    diagnosis = diagnose(case.document(), RULES)
    for finding in diagnosis.findings:
        headings = [step.text.format(**step.values) for step in finding.advice]
        commands = [step.command for step in finding.advice if step.command]
        assert len(set(headings)) == len(headings), f"{finding.code}: {headings}"
        assert len(set(commands)) == len(commands), f"{finding.code}: {commands}"
    given: dict[tuple[str, str, str], str] = {}
    for finding in diagnosis.findings:
        for step in () if finding.symptom_of else finding.advice:
            if not step.check and step.text != NO_GPU:
                key = (finding.subject, step.text.format(**step.values), step.command)
                assert given.setdefault(key, finding.code) == finding.code, f"{finding.code}: {step.command}"


def together(one: Any, other: Any) -> Any:
    """The facts of two cases as those of one program; the first one's where both say something."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        both = {key: together(one[key], other[key]) for key in one.keys() & other.keys()}
        return {**other, **one, **both}
    if isinstance(one, list) and isinstance(other, list) and one and other:
        return [together(one[0], other[0]), *one[1:]]
    return one


#: How advice that takes more of something sounds.
ASKS = {
    GPU_MEMORY: re.compile("larger (batch|ones)|batch larger|keep on the gpu"),
    WORKERS: re.compile("num_workers=[1-9]|worker_count=[1-9]"),
}


@cache
def asking_for(what: str) -> tuple[Case, ...]:
    """The cases of watched programs whose own cause alone is answered with something that takes more of it."""
    return tuple(
        case
        for case in CASES_LIST
        if case.expect == "hit"
        and case.facts.get("jobs")
        and any(
            ASKS[what].search(spoken(finding).lower())
            for finding in diagnose(case.document(), (BY_CODE[case.code],)).findings
        )
    )


def test_where_nothing_is_short_more_of_it_is_advised() -> None:
    asking = {case.code for case in asking_for(GPU_MEMORY)}
    assert {"workload-too-small", "memory-bandwidth-bound", "cpu-gpu-sync-each-step"} <= asking
    assert {case.code for case in asking_for(WORKERS)} == {"input-pipeline-bound"}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.short_of], ids=lambda rule: rule.code)
def test_advice_for_one_program_does_not_contradict_itself(rule: Rule) -> None:
    """Nobody is told to halve the batch and to make it larger, whatever two causes hold together."""
    own = [case for case in CASES_LIST if case.expect == "hit" and case.code == rule.code]
    (what,) = rule.short_of
    pairs = [replace(case, facts=together(case.facts, other.facts)) for case, other in product(own, asking_for(what))]
    beside = [diagnose(pair.document(), RULES).findings for pair in pairs]
    holding = [findings for findings in beside if rule.code in {finding.code for finding in findings}]
    assert max(map(len, holding)) > 1
    for findings in holding:
        for finding in findings:
            assert not ASKS[what].search(spoken(finding).lower()), f"{rule.code} beside {finding.code}"


@pytest.mark.parametrize(
    "case", [case for case in CASES_LIST if case.expect == "hit"], ids=lambda case: f"{case.code}: {case.name}"
)
def test_what_ends_with_a_colon_is_followed_by_a_command(case: Case) -> None:
    for family in ("linux", "windows"):
        document = case.document()
        system = {**document.facts.get("os", {}), "family": family}
        document = replace(document, facts={**document.facts, "os": system})
        for finding in diagnose(document, (BY_CODE[case.code],)).findings:
            commands = [*(step.command for step in finding.advice), ""]
            for step, following in zip(finding.advice, commands[1:], strict=True):
                said = step.command or following or not step.text.endswith(":")
                assert said, f"{finding.code}: {step.text}"


def test_only_what_is_installed_is_removed() -> None:
    view = View("x", {"packages": {"torch": "2.5.1", "torchaudio": "2.5.1"}})
    assert advice.remove(view, "torch", "torchvision", "torchaudio").command.endswith("-y torch torchaudio")
    assert advice.remove(View("x", {"packages": {}}), "torch", "torchvision").command.endswith("-y torch")
    assert advice.remove(View("x", {}), "torch", "torchvision").command.endswith("-y torch torchvision")


@pytest.mark.parametrize(
    "case",
    [case for case in CASES_LIST if case.expect == "hit" and BY_CODE[case.code].watch],
    ids=lambda case: f"{case.code}: {case.name}",
)
def test_what_was_measured_is_told_in_the_users_language(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a catalogue that leaves no word as it is, only units and names from the facts are left."""
    monkeypatch.setitem(messages._state, "catalogue", Foreign())
    names = re.findall("[A-Za-z]+", json.dumps(case.facts))
    for finding in diagnose(case.document(), (BY_CODE[case.code],)).findings:
        for evidence in finding.evidence:
            if evidence.words or evidence.number is not None or evidence.what.startswith(("job.", "window.")):
                said = fact_words.said_with_time(evidence)
                assert not in_english(said, names), f"{said}: a word that no catalogue can translate"


@pytest.mark.parametrize("path", MEASURING, ids=lambda path: path.stem)
def test_evidence_is_written_from_literals(path: Path) -> None:
    """Also where no case comes by: no f-string with words is evidence, or a value of one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if not isinstance(node, ast.Call) or name not in (
            "told",
            "measured",
            "in_words",
            "measured_number",
            "Evidence",
        ):
            continue
        for value in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(value, ast.Constant) and value not in node.args:
                assert not in_english(str(value.value), ()), f"{path.name}:{value.lineno}"
            for part in value.values if isinstance(value, ast.JoinedStr) else ():
                text = part.value if isinstance(part, ast.Constant) else ""
                is_path = value is node.args[0] and name in ("in_words", "Evidence")
                assert is_path or not in_english(str(text), ()), f"{path.name}:{value.lineno}"
        if name == "told" and isinstance(node.args[0], ast.Constant):
            assert not in_english(str(node.args[0].value), ()), f"{path.name}:{node.lineno}: a text without N_"


def in_english(text: str, names: Iterable[str]) -> list[str]:
    """The words in a text besides placeholders, units and names."""
    return [word for word in re.findall("[A-Za-z]{2,}", re.sub(r"\{\w+\}", "", text)) if word not in {*UNITS, *names}]


class Foreign(NullTranslations):
    """Puts a mark in the place of each word."""

    def gettext(self, message: str) -> str:
        """All but the placeholders."""
        return re.sub(r"\{\w+\}|[^\W\d_]+", lambda found: found[0] if found[0].startswith("{") else "¤", message)


@pytest.mark.parametrize("case", CASES_LIST, ids=lambda case: f"{case.code}: {case.name}")
def test_a_rule_bears_null_and_prose(case: Case) -> None:
    """Version fields hold prose in reports of people, and "there is none" stands as null."""
    for facts in damaged(case.facts):
        diagnosis = diagnose(replace(case, facts=facts).document(), (BY_CODE[case.code],))
        assert not diagnosis.bugs, facts
        for finding in diagnosis.findings:
            spoken(finding)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_has_a_hit_a_near_miss_and_a_missing_fact(rule: Rule) -> None:
    seen = Counter(case.expect for case in CASES_LIST if case.code == rule.code)
    assert seen["hit"] >= 1
    assert seen["clear"] + seen["lacks"] >= 2, "one look-alike and one with facts missing"
    assert seen["lacks"] >= 1
    names = [case.name for case in CASES_LIST if case.code == rule.code]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_is_complete(rule: Rule) -> None:
    help_texts = [getattr(rule.help, name) for name in HELP_FIELDS]
    assert all(text.strip() for text in (rule.title, *help_texts))
    assert not {rule.title, *help_texts} - translatable(), "each sentence is a literal marked with N_"
    assert 1 <= rule.step <= 9
    assert not any(placeholders(text) for text in help_texts), "help is the same for everybody"
    assert all(name.isidentifier() for name in placeholders(rule.title)), "placeholders have names"
    assert all(link.startswith("https://") for link in rule.links)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_what_a_rule_explains_exists(rule: Rule) -> None:
    assert not set(rule.explains) - KNOWN_CODES - BY_CODE.keys()
    assert rule.code not in rule.explains


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_without_facts_finds_nothing(rule: Rule) -> None:
    diagnosis = diagnose(Document(), (rule,))
    assert not diagnosis.findings
    assert not diagnosis.bugs
    assert not diagnosis.clear, "nothing known is not evaluated, never clear"


def test_the_table_lists_each_file_once_by_code() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert [code.replace("-", "_") for code in codes] == [path.stem for path in RULE_FILES]


def test_each_case_file_belongs_to_a_rule() -> None:
    assert not {path.stem for path in CASES.glob("*.json")} - BY_CODE.keys()


def test_all_texts_have_named_placeholders() -> None:
    for text in translatable():
        assert all(name.isidentifier() for name in placeholders(text)), text


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.stem)
def test_no_rule_reads_what_people_said(path: Path) -> None:
    """Neither the untrusted facts nor anything past the view's public methods."""
    untrusted = re.compile(rf"({'|'.join(UNTRUSTED_KEYS)})(\.[\w.]+)?")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}  # of placeholders
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in names:
            assert not untrusted.fullmatch(node.value), f"{path.name}:{node.lineno}"
            assert ".other." not in node.value, f"{path.name}:{node.lineno}"
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("_facts", "_signals", "_origins", "_prefix"), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.stem)
def test_a_rule_knows_no_other_rule_and_no_door_to_the_machine(path: Path) -> None:
    forbidden = re.compile(
        r"gpumon_gui\.(?!core|diagnosis)|gpumon_gui\.diagnosis\.(rules|logs|probes|probe_scripts|environments|report|engine"
        r"|gateway|facts_file)|os$|os\.|sys$|subprocess|pathlib|socket|io$|ctypes|importlib|shutil|platform"
    )
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert [name for name in names if forbidden.match(name)] == []


def damaged(facts: Any) -> Iterator[Any]:
    """The facts with one value after the other gone, null, or words."""
    if not isinstance(facts, Mapping | list):
        return
    for key in list(facts) if isinstance(facts, Mapping) else range(len(facts)):
        value = facts[key]
        for other in (None, *(["installed", "?", ""] if isinstance(value, str) and isinstance(facts, Mapping) else [])):
            if not isinstance(value, Mapping | list) and isinstance(facts, Mapping):
                yield {**facts, key: other}
        for inner in damaged(value):
            if isinstance(facts, Mapping):
                yield {**facts, key: inner}
            else:
                yield [*facts[:key], inner, *facts[key + 1 :]]


def placeholders(text: str) -> list[str]:
    """The names in braces."""
    return [name for _, name, _, _ in Formatter().parse(text) if name is not None]


@cache
def translatable() -> frozenset[str]:
    """Every literal marked with N_ in the diagnosis layer."""
    return frozenset(
        node.args[0].value
        for path in DIAGNOSIS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "N_"
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    )
