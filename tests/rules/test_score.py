"""The labelled cases: a change of a rule must not lose what is diagnosed today."""

from __future__ import annotations

import pytest

from tests.benchmarks import score_cases


def test_the_goals_on_strong_labels_are_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert score_cases.main([]) == 0, capsys.readouterr().out


def test_what_people_said_changes_no_answer() -> None:
    """Rules never see ``observed``, ``other`` and ``framework``."""
    for case in score_cases.load(score_cases.CASES):
        facts = {key: value for key, value in case["facts"].items() if key not in ("observed", "other", "framework")}
        said = [finding.code for finding in score_cases.score(case).found]
        assert [finding.code for finding in score_cases.score({**case, "facts": facts}).found] == said
