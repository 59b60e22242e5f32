"""A verdict that follows a running program: when it is there, when it changes, what it says of the time line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count, pairwise

import numpy as np
import pytest

from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import Demand, EngineKind, EngineSample, Sample
from gpumon_gui.core.values import Reading
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.behaviour.rolling import Rolling, window_of
from gpumon_gui.diagnosis.behaviour.spans import ENOUGH_S, STEADY, spans
from gpumon_gui.diagnosis.behaviour.watcher import Turn, Verdict, Watcher
from gpumon_gui.diagnosis.behaviour.window import Window
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity
from gpumon_gui.diagnosis.rule import Help, Hit, Outcome, Rule, Scope
from gpumon_gui.telemetry.sampler import Sampler
from gpumon_gui.telemetry.synthetic.table import build_machine
from tests.behaviour_samples import FULL, H200, story, without
from tests.unit.diagnosis.test_made_up_workloads import COPYING, FOUR_BUSY, HEALTHY, TINY
from tests.unit.diagnosis.workloads import PID, Now, after, record, then


def watched(samples: Sequence[Sample], watcher: Watcher | None = None, every_s: float = 1.0) -> list[Verdict]:
    """One verdict a second."""
    watcher = watcher or Watcher(PID)
    found: list[Verdict] = []
    last_s = -np.inf
    for sample in samples:
        watcher.add(sample)
        if sample.monotonic_s - last_s >= every_s and (verdict := watcher.verdict()) is not None:
            last_s = sample.monotonic_s
            found.append(verdict)
    return found


def code(verdict: Verdict) -> str | None:
    return verdict.primary.code if verdict.primary is not None else None


def times(verdicts: Sequence[Verdict], begin_utc_s: float) -> list[tuple[float, str | None]]:
    """When a stable verdict became another one."""
    found: list[tuple[float, str | None]] = []
    for verdict in verdicts:
        if verdict.stable and (not found or found[-1][1] != code(verdict)):
            window = verdict.behaviour.document.origins["window"].time_utc_s
            assert window is not None
            found.append((window - begin_utc_s, code(verdict)))
    return found


def test_a_verdict_is_stable_within_twenty_seconds_and_says_how_long_it_needs() -> None:
    samples = record(FOUR_BUSY, seconds=30.0)
    verdicts = watched(samples)
    first = next(index for index, verdict in enumerate(verdicts) if verdict.stable)
    assert first <= 20
    assert code(verdicts[first]) == "input-pipeline-bound"
    assert all(verdict.needs_s > 0 for verdict in verdicts[:first])
    assert verdicts[0].needs_s == pytest.approx(ENOUGH_S, abs=1.0)
    promised = [index + verdict.needs_s for index, verdict in enumerate(verdicts[3:first], start=3)]
    assert all(moment <= first + 3 for moment in promised)  # what is promised is about kept


@pytest.mark.parametrize(
    ("first", "second", "codes"),
    [
        (HEALTHY, FOUR_BUSY, [None, "input-pipeline-bound"]),
        (FOUR_BUSY, HEALTHY, ["input-pipeline-bound", None]),
        (TINY, FOUR_BUSY, ["workload-too-small", "input-pipeline-bound"]),
        (TINY, COPYING, ["workload-too-small", "host-to-device-transfer-bound"]),
    ],
)
def test_it_changes_within_twenty_seconds_of_the_workload(first, second, codes) -> None:  # type: ignore[no-untyped-def]
    samples = record(then(first, 40.0, second), seconds=75.0)
    begin = samples[0].utc_s
    verdicts = watched(samples)
    said = times(verdicts, begin)
    assert [what for _when, what in said] == codes
    assert 40 < said[1][0] <= 60
    turns = verdicts[-1].history
    assert [turn.finding.code if turn.finding else None for turn in turns] == codes
    assert 35 < turns[1].utc_s - begin < 52  # told as of when it changed, not of when it was noticed


@pytest.mark.parametrize(
    ("usual", "between", "codes", "hertz"),
    [
        (HEALTHY, FOUR_BUSY, [None, "input-pipeline-bound", None], 5.0),
        (FOUR_BUSY, HEALTHY, ["input-pipeline-bound", None, "input-pipeline-bound"], 2.0),
        (HEALTHY, TINY, [None, "workload-too-small", None], 1.0),
        (HEALTHY, COPYING, [None, "host-to-device-transfer-bound", None], 1.0),
    ],
)
def test_it_changes_back_as_fast(usual, between, codes, hertz: float) -> None:  # type: ignore[no-untyped-def]
    samples = record(then(usual, 30.0, then(between, 30.0, usual)), seconds=90.0, hertz=hertz)
    begin = samples[0].utc_s
    verdicts = watched(samples)
    said = times(verdicts, begin)
    assert [what for _when, what in said] == codes
    assert 30 < said[1][0] <= 50
    assert 60 < said[2][0] <= 80
    assert verdicts[-1].stable


@pytest.mark.parametrize(
    ("work_s", "pause_s", "hertz"),
    [(6, 4, 5.0), (6, 4, 1.0), (12, 10, 2.0), (11, 11, 1.0), (20, 6, 1.0), (20, 15, 1.0)],
)
def test_phases_that_return_are_named_once(work_s: float, pause_s: float, hertz: float) -> None:
    def phases(now_s: float) -> Now:
        return HEALTHY(now_s) if now_s % (work_s + pause_s) < work_s else Now(main=1.0)

    verdicts = watched(record(phases, seconds=100.0, hertz=hertz))
    turns = [turn.finding.code if turn.finding else None for turn in verdicts[-1].history]
    assert turns in ([None, "gpu-idle-gaps-cpu-phase"], ["gpu-idle-gaps-cpu-phase"])


@pytest.mark.parametrize("offset_s", [0.0, 7.3])
@pytest.mark.parametrize("hertz", [1.0, 2.0])
@pytest.mark.parametrize(
    ("period_s", "pause_s", "rest"), [(10, 2.5, 0.05), (24, 3, 0.14), (24, 2.6, 0.14), (30, 4, 0.14)]
)
def test_pauses_that_lie_at_a_limit_are_said_once(
    period_s: float, pause_s: float, rest: float, hertz: float, offset_s: float
) -> None:
    """The GPU draws a little in the pauses, now more, now less; their share of a minute depends on how many fit in."""

    def phases(now_s: float) -> Now:
        at_s = now_s + offset_s
        wander = (math.sin(at_s / 1.7) + math.sin(at_s / 4.3) + math.sin(at_s / 11.9)) / 3
        works = at_s % period_s < period_s - pause_s
        return HEALTHY(now_s) if works else Now(kernels=rest + 0.06 * wander, fill=0.5, main=1.0)

    history = watched(record(phases, seconds=300.0, hertz=hertz))[-1].history
    found = [turn.finding for turn in history if turn.finding is not None]
    assert {one.code for one in found} == {"gpu-idle-gaps-cpu-phase"}
    assert [one.severity for one in found] in ([Severity.INFO], [Severity.SLOWS], [Severity.INFO, Severity.SLOWS])
    assert all(turn.finding is not None for turn in history[1:])


@pytest.mark.parametrize(("hertz", "offset_s"), [(1.0, 0.0), (1.0, 13.0), (2.0, 21.4)])
def test_a_scripted_training_on_a_laptop_is_said_to_pause_once(hertz: float, offset_s: float) -> None:
    """Ten minutes. Until the second pause is over nobody can know that they return."""
    clock = FakeClock()
    machine = build_machine("windows-laptop", clock)
    sampler = Sampler(list(machine.sources), machine.host, clock)
    clock.advance(offset_s)
    samples = []
    for _ in range(round(600 * hertz)):
        samples.append(sampler.sweep(Demand()))
        clock.advance(1 / hertz)
    sampler.close()
    verdicts = watched(samples, Watcher(11_972))
    assert [code_of(turn) for turn in verdicts[-1].history] == ["task-manager-wrong-engine", "gpu-idle-gaps-cpu-phase"]
    since = next(index for index, verdict in enumerate(verdicts) if code(verdict) == "gpu-idle-gaps-cpu-phase")
    assert since < 60
    assert {verdict.primary.severity for verdict in verdicts[since:] if verdict.primary} == {Severity.SLOWS}


def test_pauses_that_come_no_more_are_gone_after_some_periods() -> None:
    def phases(now_s: float) -> Now:
        return HEALTHY(now_s) if now_s % 24 < 20 or now_s > 100 else Now(main=1.0)

    history = watched(record(phases, seconds=300.0, hertz=2.0))[-1].history
    assert [code_of(turn) for turn in history][-2:] == ["gpu-idle-gaps-cpu-phase", None]


def test_a_program_that_goes_on_alike_has_one_verdict() -> None:
    verdicts = watched(record(HEALTHY, seconds=80.0))
    assert len(verdicts[-1].history) == 1


@pytest.mark.parametrize("hertz", [1.0, 4.0])
def test_what_changed_has_one_row_for_one_time(hertz: float) -> None:
    for phases in (TINY, COPYING, FOUR_BUSY, then(TINY, 25.0, FOUR_BUSY), then(FOUR_BUSY, 12.0, COPYING)):
        history = watched(record(phases, seconds=60.0, hertz=hertz))[-1].history
        assert all(after.utc_s - before.utc_s >= 1.0 for before, after in pairwise(history))
        assert all(saying(before) != saying(after) for before, after in pairwise(history))


def code_of(turn: Turn) -> str | None:
    return turn.finding.code if turn.finding is not None else None


def saying(turn: Turn) -> tuple[str, Severity] | None:
    return (turn.finding.code, turn.finding.severity) if turn.finding is not None else None


def marked(samples: Sequence[Sample], cause: str) -> list[tuple[float, float]]:
    """Where the time line shows a cause, in seconds from the start."""
    finding = replace(judge(record(FOUR_BUSY, seconds=10.0)).diagnosis.findings[0], code=cause, subject="pid 1")
    job = {"subject": "pid 1", "program": {"devices": [str(samples[0].inventory[0].key)]}}
    found = [span for span in spans(window_of(samples), (job,), (finding,)) if span.code == cause]
    begin = samples[0].utc_s
    return [(span.start_utc_s - begin, span.end_utc_s - begin) for span in found]


def test_the_time_line_shows_the_devices_of_the_job_only() -> None:
    """The second card, which is another's, works and is limited while the first one rests."""
    turn = partial(story, [H200, H200], seconds=30, hz=2, noise=0.0)
    rests = replace(FULL, busy=lambda t: 0.9 if t < 15 else 0.0, throttle=lambda t: 0x40 if t < 5 else 0.0)
    samples = turn([rests, replace(FULL, throttle=0x40)])
    assert np.array(marked(samples, "input-pipeline-bound")) == pytest.approx(np.array([(15, 30)]), abs=0.6)
    assert np.array(marked(samples, "gpu-thermal-throttling")) == pytest.approx(np.array([(0, 5)]), abs=0.6)


def test_a_value_that_is_missing_is_no_pause() -> None:
    rests = replace(FULL, busy=lambda t: 0.9 if t < 10 else np.nan if 15 < t < 20 else 0.0)
    samples = story([H200], [rests], seconds=30, hz=2, noise=0.0)
    pauses = np.array(marked(samples, "gpu-idle-gaps-cpu-phase"))
    assert pauses == pytest.approx(np.array([(10, 15), (20, 30)]), abs=0.6)
    unknown = without(samples, "gpu_utilization", "engine_utilization")
    everything = np.array(marked(unknown, "gpu-idle-gaps-cpu-phase"))
    assert everything == pytest.approx(np.array([(0, 30)]), abs=0.6)


def test_spans_lie_in_what_was_seen_and_name_their_finding() -> None:
    samples = record(FOUR_BUSY, seconds=25.0)
    last = watched(samples)[-1]
    assert {span.code for span in last.spans} >= {STEADY, "input-pipeline-bound"}
    subjects = {finding.subject for finding in last.behaviour.diagnosis.findings}
    for span in last.spans:
        assert samples[0].utc_s <= span.start_utc_s <= span.end_utc_s <= samples[-1].utc_s
        assert span.subject in subjects


def test_a_replay_that_is_rewound_starts_over() -> None:
    samples = record(FOUR_BUSY, seconds=20.0)
    watcher = Watcher(PID)
    watched(samples, watcher)
    watcher.add(samples[0])
    assert watcher.verdict() is None
    watcher.add(samples[1])
    verdict = watcher.verdict()
    assert verdict is not None
    assert not verdict.stable
    assert verdict.history == ()


def test_another_process_with_the_same_pid_is_another_one() -> None:
    samples = record(FOUR_BUSY, seconds=14.0)
    started = next(process.started_utc_s for process in samples[0].processes if process.pid == PID)
    assert started is not None
    watcher = Watcher(PID, started_utc_s=started - 500)
    last = watched(samples, watcher)[-1]
    assert f"pid {PID}" not in {job["subject"] for job in last.behaviour.document.facts["jobs"] if _own(job)}
    assert f"pid {PID}" in {
        job["subject"]
        for job in watched(samples, Watcher(PID, started_utc_s=started))[-1].behaviour.document.facts["jobs"]
    }


def _own(job: dict[str, object]) -> bool:
    program = job["program"]
    return isinstance(program, dict) and PID in program["pids"]


# -- the rolling window


def same(one: Window, other: Window) -> None:
    np.testing.assert_array_equal(one.times_s, other.times_s)
    assert one.devices.keys() == other.devices.keys()
    for key, track in one.devices.items():
        assert track.series.keys() == other.devices[key].series.keys()
        for name, series in track.series.items():
            np.testing.assert_array_equal(series, other.devices[key].series[name])
    tracks = {track.pid: track for track in other.processes}
    assert {track.pid for track in one.processes} == tracks.keys()
    for process in one.processes:
        np.testing.assert_array_equal(process.present, tracks[process.pid].present)
        assert process.last == tracks[process.pid].last
        for name, series in process.series.items():
            np.testing.assert_array_equal(series, tracks[process.pid].series[name])


def test_a_window_that_grew_and_forgot_is_that_of_its_samples() -> None:
    samples = record(FOUR_BUSY, seconds=90.0)
    rolling = Rolling()
    early: Window | None = None
    for sample in samples:
        rolling.add(sample)
        rolling.forget_before(sample.monotonic_s - 20.0)
        if early is None and len(rolling) == 50:
            early = rolling.window()
    kept = [sample for sample in samples if sample.monotonic_s >= samples[-1].monotonic_s - 20.0]
    same(rolling.window(), window_of(kept))
    assert early is not None
    same(early, window_of(samples[:50]))  # a window made before stays what it was
    since = kept[len(kept) // 2].monotonic_s
    same(rolling.window(since), window_of([sample for sample in kept if sample.monotonic_s >= since]))


def test_of_engines_with_one_name_the_busiest_counts() -> None:
    """The first graph that Task Manager calls Copy, and another one."""

    def copying(sample: Sample, *shares: float) -> Sample:
        engines = tuple(
            EngineSample(f"eng_{number}", "Copy", EngineKind.COPY, Reading(share, "pdh"))
            for number, share in enumerate(shares)
        )
        devices = {key: replace(device, engines=engines) for key, device in sample.devices.items()}
        return replace(sample, devices=devices)

    first, second, third = record(HEALTHY, seconds=1.0)[:3]
    window = window_of([copying(first, 0.06, 0.0), copying(second, 0.0, 0.1), third])
    (track,) = window.devices.values()
    np.testing.assert_array_equal(track.engines["Copy"], [0.06, 0.1, np.nan])


def test_what_came_late_or_went_has_gaps_not_zeros() -> None:
    samples = record(FOUR_BUSY, seconds=10.0)
    bare = [replace(sample, processes=()) if index % 2 else sample for index, sample in enumerate(samples)]
    window = window_of(bare)
    for track in window.processes:
        assert list(track.present[:4]) == [True, False, True, False]
        assert np.isnan(track.series["process_cpu"][1])
    assert all(later > earlier for earlier, later in pairwise(window.times_s))


def test_nothing_to_judge_is_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        judge(())


# -- where the driver lists nobody: containers, WSL, logs of nvidia-smi


def unlisted(samples: Sequence[Sample], *, framework: str = "PyTorch") -> list[Sample]:
    """The same, with processes that are on no GPU as far as the driver says."""
    return [
        replace(
            sample,
            processes=tuple(
                replace(process, uses=(), framework=framework if process.pid == PID else "")
                for process in sample.processes
                if process.pid == PID or process.ppid == PID
            ),
        )
        for sample in samples
    ]


def jobs(samples: Sequence[Sample], pid: int | None) -> list[dict[str, object]]:
    return list(judge(samples, pid).document.facts["jobs"])


def test_work_that_nobody_is_listed_for_is_that_of_the_only_program() -> None:
    samples = unlisted(record(FOUR_BUSY, seconds=20.0))
    for pid in (PID, None):
        (job,) = jobs(samples, pid)
        assert job["subject"] == f"pid {PID}"
        assert job["program"]["presumed"] is True  # type: ignore[index]
        assert job["activity"]["busy"] > 0.05  # type: ignore[index]
    codes = {finding.code for finding in judge(samples, PID).diagnosis.findings}
    assert "code-runs-on-cpu" not in codes
    assert "no-gpu-workload" not in codes


def test_work_without_any_program_is_judged_without_a_name() -> None:
    samples = [replace(sample, processes=()) for sample in record(HEALTHY, seconds=20.0)]
    (job,) = jobs(samples, None)
    assert job["subject"] == "unlisted"
    assert "no-gpu-workload" not in {finding.code for finding in judge(samples).diagnosis.findings}


def test_whose_work_it_is_among_several_is_not_guessed() -> None:
    both = [
        replace(
            sample,
            processes=(*sample.processes, replace(sample.processes[0], pid=7777, ppid=1, started_utc_s=5.0)),
        )
        for sample in unlisted(record(FOUR_BUSY, seconds=20.0))
    ]
    for pid in (PID, None):
        assert not any("presumed" in job["program"] for job in jobs(both, pid))  # type: ignore[operator]


def test_somebody_else_listed_means_that_the_list_can_be_trusted() -> None:
    samples = record(FOUR_BUSY, seconds=20.0)
    own = unlisted(samples)
    listed = [
        replace(
            sample,
            processes=(
                *sample.processes,
                *(replace(other, pid=8888, ppid=1) for other in full.processes if other.pid == PID),
            ),
        )
        for sample, full in zip(own, samples, strict=True)
    ]
    assert not any(job["program"].get("presumed") for job in jobs(listed, PID))  # type: ignore[attr-defined]


def test_a_program_that_has_just_begun_is_not_said_to_stay_off_the_gpu() -> None:
    samples = record(after(25.0, FOUR_BUSY), seconds=50.0)
    young = [
        replace(
            sample,
            processes=tuple(replace(process, started_utc_s=samples[0].utc_s) for process in sample.processes),
        )
        for sample in samples
    ]
    assert [what for _when, what in times(watched(young), young[0].utc_s)] == ["input-pipeline-bound"]


def test_a_program_that_has_run_for_long_is_judged_soon_where_it_stays_off_the_gpu() -> None:
    samples = record(after(60.0, FOUR_BUSY), seconds=20.0)
    old = [
        replace(
            sample,
            processes=tuple(replace(process, started_utc_s=samples[0].utc_s - 600) for process in sample.processes),
        )
        for sample in samples
    ]
    said = times(watched(old), old[0].utc_s)
    assert said[0][0] <= 20
    assert said[0][1] in ("code-runs-on-cpu", "workload-cpu-bound-by-environment")


# -- programs that follow each other


def followed(first: Sequence[Sample], second: Sequence[Sample]) -> list[Sample]:
    """Another program begins where the first ended."""
    gap_s = first[-1].monotonic_s + 0.2 - second[0].monotonic_s
    return [
        *first,
        *(
            replace(
                sample,
                monotonic_s=sample.monotonic_s + gap_s,
                utc_s=sample.utc_s + gap_s,
                processes=tuple(
                    replace(
                        process,
                        pid=process.pid + 3000,
                        ppid=process.ppid + 3000 if process.ppid is not None and process.ppid >= PID else process.ppid,
                        uses=tuple(replace(use, pid=use.pid + 3000) for use in process.uses),
                    )
                    for process in sample.processes
                ),
            )
            for sample in second
        ),
    ]


def held(_now_s: float) -> Now:
    return Now(held=6e10)


def on_cpu(_now_s: float) -> Now:
    return Now(held=0.0, main=9.0)


@pytest.mark.parametrize(
    ("first", "second", "codes"),
    [
        (held, on_cpu, ["gpu-memory-held-idle", "code-runs-on-cpu"]),
        (held, HEALTHY, ["gpu-memory-held-idle", None]),
        (HEALTHY, held, [None, "gpu-memory-held-idle"]),
        (on_cpu, HEALTHY, ["code-runs-on-cpu", None]),
        (FOUR_BUSY, TINY, ["input-pipeline-bound", "workload-too-small"]),
    ],
)
def test_the_program_that_follows_has_its_own_verdict(first, second, codes) -> None:  # type: ignore[no-untyped-def]
    samples = followed(record(first, seconds=40.0), record(second, seconds=35.0))
    said = times(watched(samples, Watcher()), samples[0].utc_s)
    assert [what for _when, what in said][:: len(said) - 1] == codes
    assert 40 < said[-1][0] <= 62


def test_when_all_have_ended_nothing_uses_the_gpu() -> None:
    busy = record(HEALTHY, seconds=30.0)
    idle = [replace(sample, processes=()) for sample in record(lambda _now_s: Now(held=0.0), seconds=30.0)]
    samples = followed(busy, idle)
    assert times(watched(samples, Watcher()), samples[0].utc_s)[-1][1] == "no-gpu-workload"


def test_what_the_gpu_did_before_a_program_is_not_its_work() -> None:
    samples = followed(record(HEALTHY, seconds=15.0), record(TINY, seconds=8.0))
    later = next(job for job in jobs(samples, None) if job["subject"] == f"pid {PID + 3000}")
    assert later["activity"]["busy"] < 0.3  # type: ignore[index]
    assert later["program"]["seconds"] <= 8.0  # type: ignore[index]


WORDS = Help("", "", "", "", "")


def test_how_bad_it_is_does_not_flip_and_has_its_own_time() -> None:
    """Mild for half a minute, then at the limit for two minutes, then mild for good."""
    samples = record(HEALTHY, seconds=270.0)
    begin = samples[0].utc_s

    def bad(view: View) -> Outcome:
        now_s = (view.number("window.seen.end_utc_s") or 0.0) - begin
        is_bad = 30 <= now_s < 150 and now_s % 20 < 12
        return Hit(Confidence.HIGH, (), severity=None if is_bad else Severity.INFO)

    rules = (Rule("hovers", Scope.JOB, 9, Severity.SLOWS, "Hovers", WORDS, watch=bad),)
    verdicts = watched(samples, Watcher(PID, rules=rules))
    turns = [(turn.finding.severity, round(turn.utc_s - begin)) for turn in verdicts[-1].history if turn.finding]
    assert [severity for severity, _when in turns] == [Severity.INFO, Severity.SLOWS, Severity.INFO]
    assert turns[0][1] == 0
    assert 40 <= turns[1][1] <= 46  # it was so when it was said first, and was believed five seconds later
    assert 150 <= turns[2][1] <= 160  # told a minute later, as of when it was mild
    for verdict in verdicts:
        if verdict.stable and verdict.primary is not None and verdict.history[-1].finding is not None:
            assert verdict.primary.severity is verdict.history[-1].finding.severity
        assert verdict.primary is None or verdict.primary in verdict.behaviour.diagnosis.findings


def test_what_lies_at_a_limit_does_not_take_turns_with_another_finding() -> None:
    """One cause is there all the time and costs now a little more, now a little less than what is called slow."""
    looks = count()

    def hover(_view: View) -> Outcome:
        return Hit(Confidence.MEDIUM, (), severity=None if next(looks) // 12 % 2 == 0 else Severity.INFO)

    def info(_view: View) -> Outcome:
        return Hit(Confidence.HIGH, ())

    rules = (
        Rule("hovers", Scope.JOB, 9, Severity.SLOWS, "Hovers", WORDS, watch=hover),
        Rule("told", Scope.JOB, 9, Severity.INFO, "Told", WORDS, watch=info),
    )
    verdicts = watched(record(HEALTHY, seconds=150.0), Watcher(PID, rules=rules))
    seen = {verdict.behaviour.diagnosis.findings[0].code for verdict in verdicts}
    assert seen == {"hovers", "told"}  # both come first at times
    assert [turn.finding.code for turn in verdicts[-1].history if turn.finding] == ["hovers"]
