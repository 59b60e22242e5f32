"""What Watch says of programs that take one GPU's time from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gpumon_gui.core.model import Sample, UseKind
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.finding import Finding, Severity
from tests.behaviour_samples import FULL, GIB, H200, IDLE, LAPTOP, POORER, Card, Program, story

ONE = Program(7, command=("python3", "train.py"), memory={0: 11 * GIB}, busy={0: 0.6})
OTHER = Program(9, command=("python3", "serve.py"), memory={0: 9 * GIB}, busy={0: 0.38})


def shared(samples: Sequence[Sample], pid: int | None = None) -> Finding | None:
    diagnosis = judge(samples, pid).diagnosis
    assert not diagnosis.bugs
    return next((finding for finding in diagnosis.findings if finding.code == "gpu-shared"), None)


def during(samples: Sequence[Sample], program: Program, first_s: float, last_s: float) -> tuple[Sample, ...]:
    """The program is there from one second to another."""
    begin_s = samples[0].monotonic_s
    return tuple(
        sample
        if first_s <= sample.monotonic_s - begin_s <= last_s
        else replace(sample, processes=tuple(one for one in sample.processes if one.pid != program.pid))
        for sample in samples
    )


@pytest.mark.parametrize("copy", [name for name in POORER if name != "poor"])
@pytest.mark.parametrize("pid", [None, 7, 9])
@pytest.mark.parametrize("card", [H200, LAPTOP], ids=lambda card: card.name)
def test_two_programs_on_one_gpu(copy: str, pid: int | None, card: Card) -> None:
    found = shared(POORER[copy](story([card], [FULL], [ONE, OTHER])), pid)
    assert found is not None
    assert found.severity is Severity.SLOWS
    assert found.values["count"] == "2"
    assert found.values["shares"].startswith("python3 (7) 6")


@pytest.mark.parametrize(
    ("busy", "kind"),
    [
        *((busy, kind) for busy in (0.0, 0.02, 0.05) for kind in UseKind),
        *((0.15, kind) for kind in (UseKind.GRAPHICS, UseKind.BOTH, UseKind.UNKNOWN)),
    ],
)
def test_a_desktop_takes_nothing(busy: float, kind: UseKind) -> None:
    desktop = Program(9, command=("dwm.exe",), framework="", memory={0: GIB}, busy={0: busy}, kind=kind)
    assert shared(story([LAPTOP], [FULL], [replace(ONE, busy={0: 0.97}), desktop])) is None


def test_a_game_takes_a_part() -> None:
    game = replace(OTHER, framework="", command=("game.exe",), kind=UseKind.GRAPHICS)
    assert shared(story([LAPTOP], [FULL], [ONE, game])) is not None


def test_nothing_is_slow_while_the_gpu_has_time_left() -> None:
    half = replace(FULL, busy=0.6)
    found = shared(story([H200], [half], [replace(ONE, busy={0: 0.35}), replace(OTHER, busy={0: 0.25})]))
    assert found is not None
    assert found.severity is Severity.INFO


def test_one_after_the_other_shares_nothing() -> None:
    both = story([H200], [FULL], [replace(ONE, busy={0: 0.97}), replace(OTHER, busy={0: 0.97})], seconds=20)
    assert shared(during(during(both, ONE, 0, 10), OTHER, 10.1, 99)) is None


def test_what_was_before_the_other_came_does_not_count() -> None:
    one = replace(ONE, busy={0: lambda second: 0.97 if second < 10 else 0.5})
    found = shared(during(story([H200], [FULL], [one, replace(OTHER, busy={0: 0.48})], seconds=20), OTHER, 10, 99))
    assert found is not None
    assert found.values["shares"].startswith("python3 (7) 5"), found.values


def test_others_among_themselves_are_not_the_watched_programs_affair() -> None:
    watched = Program(5, command=("python3", "other.py"), memory={1: GIB}, busy={1: 0.97})
    samples = story([H200, H200], [FULL, FULL], [ONE, OTHER, watched])
    assert shared(samples, 5) is None
    assert shared(samples) is not None


def test_another_gpu_with_time_is_offered() -> None:
    found = shared(story([H200, H200], [FULL, IDLE], [ONE, OTHER]))
    assert found is not None
    assert any("CUDA_VISIBLE_DEVICES=1" in step.command for step in found.advice)
    full = shared(story([H200, H200], [FULL, FULL], [ONE, OTHER]))
    assert full is not None
    assert not any("CUDA_VISIBLE_DEVICES" in step.command for step in full.advice)


def test_a_program_and_what_it_started_are_one() -> None:
    child = Program(9, 7, command=ONE.command, memory={0: GIB}, busy={0: 0.38})
    assert shared(story([H200], [FULL], [ONE, child])) is None


def test_uncounted_time_says_nothing() -> None:
    assert shared(story([H200], [FULL], [ONE, OTHER], putil=False)) is None


def test_playing_a_video_takes_nothing() -> None:
    """Windows counts each engine: decoding runs beside kernels."""
    samples = story([LAPTOP], [FULL], [ONE, OTHER])

    def decoding(sample: Sample) -> Sample:
        players = tuple(
            replace(one, uses=tuple(replace(use, engine="Video Decode 1") for use in one.uses)) if one.pid == 9 else one
            for one in sample.processes
        )
        return replace(sample, processes=players)

    assert shared([decoding(sample) for sample in samples]) is None


def test_a_title_names_the_first_ones_and_stays_short() -> None:
    many = [Program(10 + n, command=("x" * 200, str(n)), memory={0: GIB}, busy={0: 0.3 - n / 100}) for n in range(5)]
    found = shared(story([H200], [FULL], many))
    assert found is not None
    assert found.values["count"] == "5"
    assert found.values["shares"].endswith(", …")
    assert len(found.values["shares"]) < 150
    assert len(found.evidence[0].words) == 1 + 5
