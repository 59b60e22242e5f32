"""Knows: what the window asks of whatever gives it the samples. Must not know: any such thing."""

from __future__ import annotations

from typing import Protocol

from gpumon_gui.core.model import Demand


class Origin(Protocol):
    """Where the samples come from: a sampler or a recording."""

    def set_demand(self, demand: Demand) -> None:
        """Read this and no more."""
        ...

    def pause(self) -> None:
        """Give no samples any more."""
        ...

    def resume(self) -> None:
        """Give samples again."""
        ...

    def toggle(self) -> None:
        """Pause or resume."""
        ...

    def refresh(self) -> None:
        """Give a sample now, whatever the update speed."""
        ...

    def retranslate(self) -> None:
        """Say the status again, in the language of now."""
        ...
