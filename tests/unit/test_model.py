"""What frozen samples can tell of themselves."""

from __future__ import annotations

import pytest

from gpumon_gui.core.model import SAME_START_S, ProcessPresence, ProcessSample


@pytest.mark.parametrize(
    ("pid", "started_utc_s", "same"),
    [
        (7, 100.0, True),
        (7, 100.0 + SAME_START_S, True),  # told in another way
        (7, 99.0, True),
        (7, 110.0, False),
        (7, None, True),
        (8, 100.0, False),
        (8, None, False),
    ],
)
def test_a_process_is_its_number_and_its_start(pid: int, started_utc_s: float | None, same: bool) -> None:
    assert ProcessSample(7, 100.0, "python", ProcessPresence.RUNNING).is_same(pid, started_utc_s) is same
    assert ProcessSample(7, None, "python", ProcessPresence.RUNNING).is_same(pid, started_utc_s) is (pid == 7)
