"""What a user relies on in the answer: the order of findings, folded symptoms, a rule that raises."""

from __future__ import annotations

from typing import Any

import pytest

from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import Document, Origin, View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Verdict
from gpumon_gui.diagnosis.logs.reader import read
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope
from gpumon_gui.diagnosis.rules.table import RULES

BLOCKS, CRASHES, SLOWS, INFO = Severity.BLOCKS, Severity.CRASHES, Severity.SLOWS, Severity.INFO
HIGH, MEDIUM, LOW = Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW


def rule(
    code: str,
    severity: Severity = BLOCKS,
    confidence: Confidence = HIGH,
    step: int = 5,
    explains: tuple[str, ...] = (),
    outcome: Outcome | None = None,
    scope: Scope = Scope.ENVIRONMENT,
    needs: tuple[tuple[str, ...], ...] = (),
) -> Rule:
    answer = outcome or Hit(confidence, (Evidence("fact", "value", Origin("facts")),))
    return Rule(
        code, scope, step, severity, code, Help("", "", "", "", ""), lambda view: answer, needs, explains=explains
    )


def codes(*rules: Rule, document: Document | None = None) -> list[str]:
    return [finding.code for finding in diagnose(document or Document(), rules).findings]


def test_what_stops_comes_before_what_slows_guesses_and_what_is_no_fault() -> None:
    found = codes(rule("info", INFO), rule("guess", BLOCKS, LOW), rule("slow", SLOWS, MEDIUM), rule("stop", CRASHES))
    assert found == ["stop", "slow", "guess", "info"]


def test_an_import_that_fails_comes_before_a_question_about_the_gpu() -> None:
    assert codes(rule("no-gpu-build", BLOCKS, step=3), rule("import-fails", CRASHES, step=2)) == [
        "import-fails",
        "no-gpu-build",
    ]


def test_the_surer_finding_comes_first() -> None:
    assert codes(rule("perhaps", confidence=MEDIUM, step=1), rule("sure", step=9)) == ["sure", "perhaps"]


def test_a_cause_stands_before_its_symptoms_whatever_their_severity() -> None:
    diagnosis = diagnose(Document(), (rule("symptom", BLOCKS), rule("cause", SLOWS, explains=("symptom",))))
    assert [(finding.code, finding.symptom_of, finding.rank) for finding in diagnosis.findings] == [
        ("cause", None, 1),
        ("symptom", "cause", 2),
    ]


def test_a_guess_explains_nothing_away() -> None:
    diagnosis = diagnose(Document(), (rule("symptom"), rule("guess", confidence=LOW, explains=("symptom",))))
    assert [finding.symptom_of for finding in diagnosis.findings] == [None, None]


def test_a_rule_that_raises_is_a_reported_bug_and_no_lost_report() -> None:
    def fails(view: View) -> Outcome:
        raise ZeroDivisionError("division by zero")

    broken = Rule("broken", Scope.ENVIRONMENT, 5, BLOCKS, "t", Help("", "", "", "", ""), fails)
    diagnosis = diagnose(Document(), (broken, rule("other")))
    assert [finding.code for finding in diagnosis.findings] == ["other"]
    assert [(bug.code, bug.error) for bug in diagnosis.bugs] == [("broken", "ZeroDivisionError: division by zero")]


def test_three_outcomes() -> None:
    diagnosis = diagnose(
        Document({"gpu_count": 1}),
        (
            rule("clear", outcome=CLEAR),
            rule("lacks", outcome=Lacks(("log",))),
            rule("needs", needs=(("gpu_count",), ("driver.version", "signal:driver"))),
        ),
    )
    assert [clear.code for clear in diagnosis.clear] == ["clear"]
    assert {found.code: found.missing for found in diagnosis.not_evaluated} == {
        "lacks": ("log",),
        "needs": ("driver.version",),
    }


def test_rules_of_the_machine_are_judged_once_and_those_of_an_environment_in_each() -> None:
    environments = [{"interpreter": {"path": "/a/python"}}, {"interpreter": {"path": "/b/python"}}]
    diagnosis = diagnose(Document({"environments": environments}), (rule("m", scope=Scope.MACHINE), rule("e")))
    assert sorted((finding.code, finding.subject) for finding in diagnosis.findings) == [
        ("e", "/a/python"),
        ("e", "/b/python"),
        ("m", "machine"),
    ]


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        ({"onnxruntime": {"version": "1.30.0", "session_providers": ["CPUExecutionProvider"]}}, Verdict.FAILS),
        ({"onnxruntime": {"version": "1.30.0", "session_providers": ["CUDAExecutionProvider"]}}, Verdict.CLAIMED),
        ({"onnxruntime": {"version": "1.30.0"}}, Verdict.NOT_MEASURED),
        ({"torch": {"version": "2.9.1", "cuda_available": False}}, Verdict.FAILS),
        ({"tensorflow": {"version": "2.20.0", "gpu_count": 0}}, Verdict.FAILS),
        ({"jax": {"version": None}}, Verdict.NOT_INSTALLED),
        ({"torch": {"cuda_available": False}}, Verdict.FAILS),
        ({"tensorflow": {"gpu_count": 0}}, Verdict.FAILS),
    ],
)
def test_what_a_framework_says_of_itself(facts: dict[str, Any], verdict: Verdict) -> None:
    assert [found.verdict for found in diagnose(Document(facts), ()).verdicts] == [verdict]


@pytest.mark.parametrize(
    ("log", "verdicts"),
    [
        ("AssertionError: Torch not compiled with CUDA enabled", {"torch": Verdict.FAILS}),
        (">>> torch.cuda.is_available()\nFalse", {"torch": Verdict.FAILS}),
        ("RuntimeError: No CUDA GPUs are available", {"torch": Verdict.FAILS}),
        ("RuntimeError: Torch is not able to use GPU; add --skip-torch-cuda-test to", {"torch": Verdict.FAILS}),
        (">>> tf.config.list_physical_devices('GPU')\n[]", {"tensorflow": Verdict.FAILS}),
        ("Skipping registering GPU devices...\n", {"tensorflow": Verdict.FAILS}),
        # Its memory is too small: the GPU is used.
        (
            "torch.__version__ 2.1.0\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.79 GiB "
            "total capacity; 5.31 GiB already allocated; 1.12 GiB free; 5.90 GiB reserved in total by PyTorch)",
            {"torch": Verdict.NOT_MEASURED},
        ),
        ("torch.version.cuda 12.1\nepoch 1", {}),
    ],
)
def test_what_a_log_says_of_a_framework_is_the_verdict_without_its_version_too(
    log: str, verdicts: dict[str, Verdict]
) -> None:
    found = diagnose(read(log.encode()).merge_into(Document()), RULES)
    assert {one.framework: one.verdict for one in found.verdicts} == verdicts


def test_what_says_that_it_knows_no_cause_is_left_out_beside_one() -> None:
    says = "RuntimeError: No CUDA GPUs are available\n"
    names = "The NVIDIA driver on your system is too old (found version 10010)\n"
    for log, codes in ((says, ["torch-sees-no-gpu"]), (says + names, ["driver-too-old"])):
        found = diagnose(read(log.encode()).merge_into(Document({"torch": {"cuda_build": "12.1"}})), RULES)
        assert [finding.code for finding in found.findings] == codes


def test_a_missing_card_is_said_before_a_build_that_could_not_use_one() -> None:
    none = {"os": {"family": "linux"}, "gpus": [], "driver": {"kernel_module_loaded": False}}
    builds = {"torch": {"version": "2.5.1+cpu", "cuda_build": None, "cuda_available": False}}
    diagnosis = diagnose(Document({**none, **builds}), RULES)
    first, second = diagnosis.findings
    assert (first.code, first.severity, first.rank) == ("no-gpu-in-this-machine", Severity.BLOCKS, 1)
    assert (second.code, second.severity, second.rank) == ("torch-cpu-only-build", Severity.BLOCKS, 2)
    assert second.title.startswith("Even with a GPU")
    assert diagnosis.verdicts[0].code == first.code
    alone = diagnose(Document(none), RULES).findings
    assert [(one.code, one.severity) for one in alone] == [("no-gpu-in-this-machine", Severity.INFO)]


@pytest.mark.parametrize(
    "more",
    [{"os": {"family": "linux", "container": "docker"}}, {"driver": {"version": "551.86"}}],
    ids=["container", "driver"],
)
def test_a_card_that_may_be_hidden_is_not_said_first(more: dict[str, object]) -> None:
    facts = {"os": {"family": "linux"}, "gpus": [], "torch": {"version": "2.5.1+cpu", "cuda_build": None}, **more}
    first = diagnose(Document(facts), RULES).findings[0]
    assert first.code == "torch-cpu-only-build"
    assert not first.title.startswith("Even")
