"""Knows: the update speeds, those of Task Manager. Must not know: who chooses one, who reads."""

from __future__ import annotations

from gpumon_gui.core.messages import N_

#: Name, untranslated label, seconds between two samples (None: no samples).
SPEEDS: tuple[tuple[str, str, float | None], ...] = (
    ("high", N_("High"), 0.5),
    ("normal", N_("Normal"), 1.0),
    ("low", N_("Low"), 4.0),
    ("paused", N_("Paused"), None),
)
