"""Knows: which checks a script goes through. Must not know: what they look for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gpumon_gui.diagnosis.script import (
    forced_cpu,
    graph,
    loader,
    parallel,
    placement,
    precision,
    rnn,
    sync,
    tf_config,
    tf_data,
    visible,
)
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen

Check = Callable[[Seen, Found], None]

CHECKS: Final[tuple[Check, ...]] = (
    forced_cpu.check,
    graph.check,
    loader.check,
    parallel.check,
    placement.check,
    precision.check,
    rnn.check,
    sync.check,
    tf_config.check,
    tf_data.check,
    visible.check,
)
