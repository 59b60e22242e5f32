"""Results that are kept, compared, and checked again in part."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.diagnosis import results
from gpumon_gui.diagnosis.again import narrowed, spliced
from gpumon_gui.diagnosis.ask import Ask, Proving, Result
from gpumon_gui.diagnosis.checking import proof_options
from gpumon_gui.diagnosis.compare import Change, compare
from gpumon_gui.diagnosis.environments.base import Environment, Kind
from gpumon_gui.diagnosis.facts import Document, Origin, Signal
from gpumon_gui.diagnosis.finding import (
    Clear,
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    FrameworkVerdict,
    NotEvaluated,
    Severity,
    Step,
    Verdict,
    Words,
)
from gpumon_gui.diagnosis.given import Given, attached

A = Environment("/a/bin/python", Kind.VENV, "ml \udcff", "/a", origins=("path",), variables={"X": "1"})
B = Environment("/b/bin/python", Kind.CONDA, "base", "/b")


def finding(code: str, subject: str = "machine") -> Finding:
    words = (Words("{size} of {total}", {"size": "1.0 GB", "total": "8.0 GB"}),)
    evidence = (
        Evidence("torch.cuda_build", "null", Origin("torch", 3, 1.5)),
        Evidence("job.memory", "1.0 GB of 8.0 GB", Origin("watch"), words, None, 1_800_000_000.0, 1_800_000_015.0),
    )
    advice = (Step("Run {what}", {"what": "this"}, "pip install 'x[y]'", check=True),)
    return Finding(code, subject, Severity.BLOCKS, Confidence.HIGH, "It is {a}", {"a": "b"}, evidence, advice, None, 1)


def result(*findings: Finding, time_utc_s: float = 1_800_000_000.0, **diagnosis: object) -> Result:
    document = Document(
        {"environments": [{"interpreter": {"path": A.path}, "torch": {"list": [1, None, 2.5], "中": True}}]},
        (Signal("kind", Origin("log", 7), "torch", {"found": 11040}, "text"),),
        {"torch": Origin("torch", time_utc_s=3.0)},
        log_given=True,
        own_signals=((Signal("own", Origin("x")),),),
    )
    verdicts = (FrameworkVerdict(A.path, "torch", Verdict.FAILS, "code"),)
    ask = Ask(
        environments=(A, B), pid=7, given=Given(logs=(Path("/x/t.log"),), scripts=(Path("/x/a.py"),)), runs_in=A.path
    )
    made = Diagnosis(verdicts, findings, (Clear("c", "machine"),), **diagnosis)  # type: ignore[arg-type]
    return Result(ask, document, made, time_utc_s, ("/r/report.html",))


# -- kept


def test_a_result_comes_back_as_it_was(tmp_path: Path) -> None:
    before = result(finding("one"))
    kept = results.keep(tmp_path / "new", before)
    assert results.load(tmp_path / "new").kept == (results.Kept(kept.file, before),)


def test_a_result_from_before_evidence_had_words_is_read(tmp_path: Path) -> None:
    kept = results.keep(tmp_path, result(finding("one")))
    plain = json.loads(kept.file.read_text())
    for evidence in plain["result"]["diagnosis"]["findings"][0]["evidence"]:
        for name in ("words", "number", "start_utc_s", "end_utc_s"):
            del evidence[name]
    kept.file.write_text(json.dumps(plain))
    loaded = results.load(tmp_path)
    assert loaded.faults == ()
    assert loaded.kept[0].result.diagnosis.findings[0].evidence == (
        Evidence("torch.cuda_build", "null", Origin("torch", 3, 1.5)),
        Evidence("job.memory", "1.0 GB of 8.0 GB", Origin("watch")),
    )


def test_the_newest_come_first_and_the_oldest_go(tmp_path: Path) -> None:
    for number in range(results.MOST + 3):
        results.keep(tmp_path, result(time_utc_s=1_800_000_000.0 + 60 * number))
    loaded = results.load(tmp_path)
    assert len(loaded.kept) == results.MOST
    assert loaded.kept[0].result.time_utc_s == 1_800_000_000.0 + 60 * (results.MOST + 2)
    assert len(list(tmp_path.iterdir())) == results.MOST


def test_two_of_the_same_second_are_two(tmp_path: Path) -> None:
    results.keep(tmp_path, result())
    results.keep(tmp_path, result())
    assert len(results.load(tmp_path).kept) == 2


def test_a_file_can_be_written_over_and_deleted(tmp_path: Path) -> None:
    kept = results.keep(tmp_path, result(finding("one")))
    results.keep(tmp_path, result(finding("two")), kept.file)
    (only,) = results.load(tmp_path).kept
    assert only.result.diagnosis.findings[0].code == "two"
    results.forget(kept.file)
    assert results.load(tmp_path) == results.Loaded()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"schema": "gpumon-diagnosis/9", "result": {}}', '{"schema": "gpumon-diagnosis/1"}']
)
def test_a_broken_file_is_passed_over_with_one_line(content: str, tmp_path: Path) -> None:
    results.keep(tmp_path, result())
    broken = tmp_path / "20260102-030405.json"
    broken.write_text(content, encoding="utf-8")
    loaded = results.load(tmp_path)
    assert len(loaded.kept) == 1
    (fault,) = loaded.faults
    assert str(broken) in fault
    assert "\n" not in fault


def test_a_time_beyond_all_calendars_hides_no_other_result(tmp_path: Path) -> None:
    results.keep(tmp_path, result())
    odd = results.keep(tmp_path, result()).file
    plain = json.loads(odd.read_bytes())
    plain["result"]["time_utc_s"] = 1e300
    odd.write_text(json.dumps(plain), encoding="utf-8")
    loaded = results.load(tmp_path)
    assert len(loaded.kept) == 1
    assert str(odd) in loaded.faults[0]


@pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes of POSIX")
def test_a_pipe_and_a_device_are_passed_over(tmp_path: Path) -> None:
    results.keep(tmp_path, result())
    os.mkfifo(tmp_path / "20260102-030405.json")
    (tmp_path / "20260102-030406.json").symlink_to("/dev/zero")
    loaded = results.load(tmp_path)
    assert len(loaded.kept) == 1
    assert [fault.count("not a regular file") for fault in loaded.faults] == [1, 1]


def test_other_files_are_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("x", encoding="utf-8")
    assert results.load(tmp_path) == results.Loaded()
    assert results.load(tmp_path / "missing") == results.Loaded()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputFailed, match="file"):
        results.keep(tmp_path / "file", result())


def test_of_a_huge_paste_both_ends_are_kept(tmp_path: Path) -> None:
    huge = replace(result(), ask=Ask(machine=False, given=Given(log_text="begin" + "x" * (3 << 20) + "end")))
    (kept,) = (results.keep(tmp_path, huge), *results.load(tmp_path).kept)[1:]
    text = kept.result.ask.given.log_text
    assert text.startswith("begin")
    assert text.endswith("end")
    assert len(text) < 2 << 20


# -- compared


def test_findings_go_come_and_stay() -> None:
    before = result(finding("gone"), finding("unknown"), finding("still"), finding("other", B.path))
    after = result(
        finding("still"),
        finding("new"),
        finding("other", B.path),
        not_evaluated=(NotEvaluated("unknown", "machine", ("x",)),),
    )
    told = {one.finding.code: one.change for one in compare(before, after, ("machine",))}
    assert told == {"gone": Change.GONE, "unknown": Change.UNKNOWN, "new": Change.NEW, "still": Change.STILL}
    assert {one.finding.code for one in compare(before, after)} == {*told, "other"}


def test_a_variable_that_is_not_set_any_more_is_gone() -> None:
    before = result(finding("hidden"))
    after = result(not_evaluated=(NotEvaluated("hidden", "machine", ("environment.CUDA_VISIBLE_DEVICES",)),))
    assert [one.change for one in compare(before, after)] == [Change.UNKNOWN]  # variables were not read
    read = replace(after, document=Document({"environment": {}}))
    assert [one.change for one in compare(before, read)] == [Change.GONE]


# -- a part again


OLD = Document(
    {
        "driver": {"version": "1"},
        "process": {"pid": 7, "interpreter": A.path},
        "environments": [
            {"interpreter": {"path": A.path}, "torch": {"version": "2", "proof": {"verdict": "proven"}}},
            {"interpreter": {"path": B.path, "problem": "failed"}},
        ],
    },
    origins={"environments.0.torch.proof": Origin("proof"), "environments.1.interpreter": Origin("old")},
    own_signals=((Signal("a", Origin("x")),), (Signal("b", Origin("x")),)),
)


def test_an_environment_is_looked_at_with_the_machine() -> None:
    ask = Ask(environments=(A, B), given=Given(log_text="x"), runs_in=A.path, proving=Proving())
    again = narrowed(ask, OLD, B.path)
    assert again.environments == (B,)
    assert again.given.is_empty  # the log belongs to the other one
    assert again.proving is not None
    assert narrowed(ask, OLD, A.path).given == ask.given


def test_the_machine_is_looked_at_through_one_interpreter_that_works() -> None:
    again = narrowed(Ask(environments=(B, A)), OLD, "machine")
    assert again.environments == (A,)
    assert again.proving is None


def test_what_was_given_is_read_again_with_the_machine() -> None:
    """A log that says that memory is short is about the machine, whichever environment wrote it."""
    ask = Ask(environments=(B, A), given=Given(logs=(Path("x.log"),)))
    for subject in ("machine", A.path, B.path):
        assert narrowed(ask, OLD, subject).given == ask.given
    again = narrowed(replace(ask, runs_in=B.path), OLD, "machine")
    assert again.environments == (A, B)
    assert again.given == ask.given
    log = Document({"torch": {"version": "2"}}, (Signal("c", Origin("x.log")),), log_given=True)
    old = attached(OLD, log, None)
    whole = spliced(old, attached(Document({"environments": [{"interpreter": {"path": A.path}}]}), log, None))
    assert len(whole.facts["environments"]) == 3
    assert [[signal.kind for signal in own] for own in whole.own_signals] == [[], ["b"], ["c"]]
    assert spliced(old, Document({"environments": []})).facts["given"] == {"log": ["x.log"]}


def test_the_new_part_takes_its_place() -> None:
    new = Document(
        {"driver": {"version": "2"}, "environments": [{"interpreter": {"path": B.path}, "torch": {"version": "3"}}]},
        origins={"environments.0.torch": Origin("torch"), "driver": Origin("nvidia-smi")},
        own_signals=((Signal("c", Origin("x")),),),
    )
    whole = spliced(OLD, new)
    assert whole.facts["driver"] == {"version": "2"}
    assert whole.facts["process"] == {"pid": 7, "interpreter": A.path}
    assert whole.facts["environments"][0] == OLD.facts["environments"][0]
    assert whole.facts["environments"][1]["torch"] == {"version": "3"}
    assert [[signal.kind for signal in own] for own in whole.own_signals] == [["a"], ["c"]]
    assert whole.origins == {
        "environments.0.torch.proof": Origin("proof"),
        "environments.1.torch": Origin("torch"),
        "driver": Origin("nvidia-smi"),
    }


def test_a_proof_holds_while_the_version_is_the_same() -> None:
    for version, holds in (("2", True), ("2.1", False)):
        new = Document({"environments": [{"interpreter": {"path": A.path}, "torch": {"version": version}}]})
        whole = spliced(OLD, new)
        assert ("proof" in whole.facts["environments"][0]["torch"]) is holds
        assert ("environments.0.torch.proof" in whole.origins) is holds


# -- the proof's limits


def test_the_settings_limit_the_proof() -> None:
    usual = proof_options(Proving(10.0, 0.1))
    assert usual.memory_share == 0.1
    assert 8.0 < usual.phase_s * 8.9 + 1.5 < 10.5
    assert proof_options(Proving(3.0)).phase_s == 0.3  # shorter ones are not seen
