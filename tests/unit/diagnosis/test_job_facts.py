"""Figures of judged jobs, from whatever file they come."""

from __future__ import annotations

from typing import Any

import pytest

from gpumon_gui.diagnosis.behaviour.job_facts import does_little, number


@pytest.mark.parametrize(
    ("activity", "little"),
    [
        ({"busy": 0.9}, False),
        ({"busy": 0.5}, False),
        ({"busy": 0.3}, True),
        ({"busy": 0.1, "card_busy": 0.95}, False),  # another program has it
        ({}, True),
        ("nonsense", True),
    ],
)
def test_a_gpu_does_little_below_half_of_the_time(activity: object, little: bool) -> None:
    assert does_little([{"activity": activity}]) is little
    assert does_little([{"activity": {"busy": 1.0}}, {"activity": activity}]) is little
    assert not does_little([])


@pytest.mark.parametrize(
    ("job", "found"),
    [
        ({"cpu": {"cores": 2}}, 2.0),
        ({"cpu": {"cores": True}}, None),
        ({"cpu": {"cores": "2"}}, None),
        ({"cpu": [2]}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_figure_is_a_number_or_unknown(job: dict[str, Any] | None, found: float | None) -> None:
    assert number(job, "cpu", "cores") == found
