"""Knows: what is printed when the driver, the system or the container is at fault. Must not know: rules."""

from __future__ import annotations

from typing import Final

from gpumon_gui.diagnosis.logs.pattern import Pattern

PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        "torch-driver-too-old",
        "too old (found version",
        r"driver on your system is too old \(found version (?P<found>\d+)\)",
        framework="torch",
        numbers=("found",),
    ),
)
