"""What was found is told in words: no path of a fact and no kind of a line reaches a reader."""

from __future__ import annotations

import ast
import re
from gettext import NullTranslations
from html import escape
from pathlib import Path

import pytest

import gpumon_gui.diagnosis
from gpumon_gui.core import messages
from gpumon_gui.core.clock import Instant
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import Document, Origin, View
from gpumon_gui.diagnosis.finding import Confidence, Diagnosis, Evidence, Finding, Severity, Words
from gpumon_gui.diagnosis.report import fact_words, html, text, words
from gpumon_gui.diagnosis.report.document import report
from gpumon_gui.diagnosis.rule import cite
from gpumon_gui.diagnosis.rules.table import RULES
from tests.rules.case import Case, load_all
from tests.unit.diagnosis.test_made_up_workloads import FOUR_BUSY
from tests.unit.diagnosis.workloads import record

_ROOTS = (
    "job|window|profile|memory_snapshot|driver|environment|gpus|host|interpreter|os|packages|rocm|toolkit|training"
    "|torch|tensorflow|jax|onnxruntime|cupy"
)
_PATH = re.compile(rf"({_ROOTS})(\.[A-Za-z0-9_-]+)+|gpus|gpu_count|packages")
_WATCHED = re.compile(r"(job|window|profile|memory_snapshot)(\.[a-z0-9_]+)+")
_CITING = frozenset({"cite", "measured", "in_words", "shares", "speeds", "counts", "Evidence", "Lacks"})
#: A name as programmers write it, alone in its place: ``torch.cuda_build``, ``torch-no-driver``, ``gpu_count``.
_INTERNAL = re.compile(r"[a-z0-9]+([._-][a-z0-9_-]+)+")
#: What is written so and is a name that people use.
_NAMES = frozenset({"nvidia-smi"})
WATCH = Origin("watch")


def cited() -> set[str]:
    """Every path of a watch that any rule may show as evidence: what stands in a call that makes some."""
    found: set[str] = set()
    for file in Path(gpumon_gui.diagnosis.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in _CITING:
                constants = (one for argument in node.args for one in ast.walk(argument))
                texts = [one.value for one in constants if isinstance(one, ast.Constant)]
                found |= {one for one in texts if isinstance(one, str) and _PATH.fullmatch(one)}
    return found


def test_every_fact_that_a_rule_cites_or_lacks_has_words() -> None:
    paths = cited()
    assert {"job.activity.busy", "torch.cuda_build", "gpus"} <= paths
    needed = {path for rule in RULES for group in rule.needs for path in group if not path.startswith("signal:")}
    assert sorted(path for path in paths | needed if not fact_words.is_fact(path)) == []


@pytest.mark.parametrize("case", [case for case in load_all() if case.expect == "hit"], ids=lambda case: case.name)
def test_no_internal_name_is_evidence(case: Case) -> None:
    """In the window, the text, Markdown and HTML; JSON keeps the name, for those who write rules."""
    document = case.document()
    diagnosis = diagnose(document, RULES)
    made = report(document, diagnosis, RULES, Instant(0.0, 1_800_000_000.0), None)
    page = html.html(made).partition("All facts")[0]
    for finding in made["findings"]:
        for evidence in finding["evidence"]:
            label, place = fact_words.label(evidence["what"]), fact_words.place(evidence)
            figure = fact_words.figure(evidence["what"], evidence["value"])
            line = text.evidence_line(evidence)
            assert label in line
            assert escape(label).replace("&#x27;", "&#39;") in page
            assert evidence["what"] not in (label, place)
            for said in (label, place):
                assert said in _NAMES or "log" in evidence["source"] or not _INTERNAL.fullmatch(said), said
            if fact_words.is_fact(evidence["what"]):
                assert not re.search(r"[\[{]'|^(None|null|True|False)$", figure), "Python's own notation"


def test_missing_facts_have_words() -> None:
    for case in load_all():
        for entry in diagnose(case.document(), RULES).not_evaluated:
            for path in entry.missing:
                assert fact_words.is_fact(path), path
                assert path.partition(".")[0] in words.TOPIC, path


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (
            {"what": "torch.cuda_build", "value": "null", "source": "torch"},
            "CUDA in the installed PyTorch: none",
        ),
        (
            {"what": "torch.cuda_build", "value": "12.4", "source": "log", "line": 5},
            "CUDA in the installed PyTorch (the program's output, line 5): 12.4",
        ),
        (
            {"what": "packages.numpy", "value": "2.1.0", "source": "interpreter"},
            "Package numpy: 2.1.0",
        ),
        (
            {"what": "environment.CUDA_VISIBLE_DEVICES", "value": "", "source": "variables"},
            "Variable CUDA_VISIBLE_DEVICES: empty",
        ),
        (
            {"what": "script-item-each-step", "value": "loss.item()", "source": "train.py", "line": 12},
            "In the script (train.py:12): loss.item()",
        ),
        (
            {"what": "torch-no-driver", "value": "Found no NVIDIA driver", "source": "torch.error"},
            "Printed (What the import or the first call said): Found no NVIDIA driver",
        ),
        (
            {"what": "torch.problem", "value": "timed-out", "source": "torch"},
            "What happened to its process: it did not answer in time",
        ),
    ],
)
def test_a_line_of_evidence(evidence: dict[str, object], said: str) -> None:
    assert text.evidence_line(evidence) == said


def test_lists_are_written_as_people_write_them() -> None:
    gpus = [{"name": "NVIDIA H200", "vendor": "nvidia", "compute_capability": "9.0"}, {"vendor": "intel"}]
    copies = [{"path": "/usr/lib/libcuda.so.1", "version": "535.1"}]
    facts = {"gpus": gpus, "driver": {"libcuda_copies": copies, "device_files": []}, "torch": {"arch_list": ["sm_80"]}}
    view = View("machine", facts)
    found = cite(view, "gpus", "driver.libcuda_copies", "driver.device_files", "torch.arch_list")
    assert [fact_words.said(one) for one in found] == [
        "NVIDIA H200 (9.0), intel",
        "/usr/lib/libcuda.so.1 (535.1)",
        "none",
        "sm_80",
    ]


@pytest.mark.parametrize(
    ("what", "value", "said"),
    [
        ("job.activity.busy", "16 % (30 s, 08:00:00-08:00:30 UTC)", "16 % (30 s, 08:00:00-08:00:30 UTC)"),
        ("job.activity.power_w", "179.5", "180 W"),
        ("job.cpu.cores", "15.49", "15.5"),
        ("job.cpu.main", "0.02", "0.02"),
        ("window.health.busiest", "0.034", "3.4 %"),
        ("window.seen.seconds", "14.8", "14.8 s"),
        ("job.transfers.rx_bytes_per_s", "7300000000", "7.3 GB/s"),
        ("profile.kernel_median_us", "3.25", "3.25 µs"),
        ("memory_snapshot.reserved_bytes", "922746880", "0.9 GB"),
        ("job.groups.coupled", "True", "yes"),
        ("job.memory.devices", "GPU 0 (local) +1 GB", "GPU 0 (local) +1 GB"),
        ("torch.cuda_build", "null", "none"),
    ],
)
def test_figures_carry_their_unit(what: str, value: str, said: str) -> None:
    assert fact_words.figure(what, value) == said


POWER = Evidence("job.activity.power_w", "179.5", WATCH, (), 179.5, 1_800_000_000.0, 1_800_000_030.0)
HELD = Evidence(
    "job.memory",
    "24.6 GB of 140.4 GB, CPU 0.00 cores",
    WATCH,
    (
        Words("{size} of {total}", {"size": "24.6 GB", "total": "140.4 GB"}),
        Words("CPU {cores} cores", {"cores": "0.00"}),
    ),
)


def test_what_was_measured_is_said_with_its_time() -> None:
    assert fact_words.said(POWER) == "180 W"
    assert fact_words.said_with_time(POWER) == "180 W (30 s, 08:00:00-08:00:30 UTC)"
    assert fact_words.said_with_time(HELD) == "24.6 GB of 140.4 GB, CPU 0.00 cores"


def test_words_and_time_are_said_in_the_users_language(monkeypatch: pytest.MonkeyPatch) -> None:
    chinese = {
        "{size} of {total}": "{total} 中的 {size}",
        "CPU {cores} cores": "CPU {cores} 核",
        ", ": "，",
        "pid {pid}": "进程 {pid}",
        "{figure} ({seconds} s, {start}-{end} UTC)": "{figure}（{seconds} 秒，{start}-{end} UTC）",
    }
    catalogue = NullTranslations()
    monkeypatch.setattr(catalogue, "gettext", lambda text: chinese.get(text, text))
    monkeypatch.setitem(messages._state, "catalogue", catalogue)
    assert fact_words.said_with_time(HELD) == "140.4 GB 中的 24.6 GB，CPU 0.00 核"
    assert fact_words.said_with_time(POWER) == "180 W（30 秒，08:00:00-08:00:30 UTC）"
    finding = Finding("gpu-memory-held-idle", "pid 7", Severity.SLOWS, Confidence.HIGH, "x", evidence=(HELD, POWER))
    made = report(Document(), Diagnosis(findings=(finding,)), RULES, Instant(0.0, 1_800_000_000.0), None)
    held, power = made["findings"][0]["evidence"]
    assert held["value"] == "140.4 GB 中的 24.6 GB，CPU 0.00 核"
    assert power["value"] == "180 W（30 秒，08:00:00-08:00:30 UTC）"
    assert (power["number"], power["start_utc"], power["end_utc"]) == (
        179.5,
        "2027-01-15T08:00:00+00:00",
        "2027-01-15T08:00:30+00:00",
    )
    assert "140.4 GB 中的 24.6 GB，CPU 0.00 核" in text.terminal(made)
    assert "进程 7" in text.terminal(made)
    assert "<td>180 W（30 秒，08:00:00-08:00:30 UTC）</td>" in html.html(made)


def test_reports_say_words_and_the_json_keeps_the_paths() -> None:
    behaviour = judge(record(FOUR_BUSY, seconds=15.0))
    made = report(behaviour.document, behaviour.diagnosis, RULES, Instant(0.0, 1_800_000_000.0), None)
    assert made["findings"][0]["evidence"][0]["what"].startswith("job.")
    for written in (text.terminal(made), text.markdown(made)):
        assert "GPU busy: " in written
        assert not _WATCHED.search(written)
    page = html.html(made)
    assert "<td>GPU busy</td>" in page
    assert not _WATCHED.search(page.partition("All facts")[0])


def test_what_holds_memory_is_not_called_slow() -> None:
    assert words.severity("gpu-memory-held-idle", "slows") == "Holds memory"
    assert words.severity("gpu-memory-held-idle", "info") == words.severity("input-pipeline-bound", "info")
    assert words.severity("input-pipeline-bound", "slows") == "Slow"
    assert {code for code, _grade in words._INSTEAD} <= {rule.code for rule in RULES}
