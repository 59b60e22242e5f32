"""Figures of a watched program as evidence."""

from __future__ import annotations

import pytest

from gpumon_gui.diagnosis.behaviour.causes.picture import counts, shares
from gpumon_gui.diagnosis.facts import View


def cited(**facts: dict[str, float]) -> list[str]:
    view = View("pid 7", {"job": facts}, job=True)
    found = (
        *shares(view, "job.activity.busy", "job.activity.kernels"),
        *counts(view, "job.cpu.main", "job.cpu.cores"),
    )
    return [evidence.what.removeprefix("job.") for evidence in found]


@pytest.mark.parametrize("busy", [0.05, 0.4, 1.0])
def test_a_figure_that_says_the_same_is_left_out(busy: float) -> None:
    """Without helpers the program's CPU is that of its main process; without copies a busy GPU runs kernels."""
    facts = {"activity": {"busy": busy, "kernels": busy - 0.008}, "cpu": {"main": 0.99, "cores": 1.0}}
    assert cited(**facts) == ["activity.busy", "cpu.cores"]


def test_figures_that_differ_are_both_told() -> None:
    facts = {"activity": {"busy": 0.25, "kernels": 0.12}, "cpu": {"main": 0.2, "cores": 2.2}}
    assert cited(**facts) == ["activity.busy", "activity.kernels", "cpu.main", "cpu.cores"]


def test_the_only_one_is_told() -> None:
    assert cited(activity={"kernels": 0.1}, cpu={"main": 1.0}) == ["activity.kernels", "cpu.main"]
