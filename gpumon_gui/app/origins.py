"""Knows: what can give the window its samples: this machine or a scripted one. Must not know: the window."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Slot

from gpumon_gui.app.arguments import WrongUsage
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.sampling import Sampling
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.model import Demand
from gpumon_gui.telemetry.process import SamplerProcess
from gpumon_gui.ui.origin import Origin as WindowsOrigin

#: F5 asks for the next sample this soon.
_NOW_S = 0.1


@dataclasses.dataclass(frozen=True, slots=True)
class End:
    """How closing went: with ``is_over`` False something is left running, and ``text`` may say what."""

    is_over: bool = True
    text: str = ""


class Origin(WindowsOrigin, Protocol):
    """One of them, as the start and the shutdown use it too."""

    def start(self) -> None:
        """Begin."""
        ...

    def close(self, timeout_s: float) -> End:
        """End; returns after about ``timeout_s`` in any case."""
        ...


class LiveOrigin(QObject):
    """The sampler process, on the real machine or on a scripted one."""

    def __init__(self, feed: Feed, clock: Clock, scenario: str | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sampling = Sampling(feed, clock, start=partial(SamplerProcess, scenario=scenario), parent=self)
        self._demand = self._sampling.demand
        self._is_paused = False
        self._hurried = 0  # samples that are still to come at once
        feed.sample_arrived.connect(self._on_sample)

    def start(self) -> None:
        self._sampling.start()

    def set_demand(self, demand: Demand) -> None:
        before, self._demand = self._demand, demand
        if not self._is_paused and _asks_for_more(before, demand):
            self._hurry(2)  # somebody waits for it; the first may have been under way before
        elif not self._hurried:
            self._sampling.set_demand(demand)

    def pause(self) -> None:
        self._is_paused = True
        self._sampling.pause()

    def resume(self) -> None:
        self._is_paused = False
        self._sampling.resume()

    def toggle(self) -> None:
        if self._is_paused:
            self.resume()
        else:
            self.pause()

    def refresh(self) -> None:
        self._hurry(1)
        self._sampling.resume()

    def retranslate(self) -> None:
        """The status is said again each second while there is one."""

    def close(self, timeout_s: float) -> End:
        end = self._sampling.close(timeout_s)
        return End(end.is_over, end.text)

    @Slot()
    def _on_sample(self) -> None:
        if not self._hurried:
            return
        self._hurried -= 1
        if not self._hurried:
            self._sampling.set_demand(self._demand)
            if self._is_paused:
                self._sampling.pause()

    def _hurry(self, samples: int) -> None:
        self._hurried = max(self._hurried, samples)
        self._sampling.set_demand(dataclasses.replace(self._demand, interval_s=_NOW_S))


def _asks_for_more(before: Demand, now: Demand) -> bool:
    """Whether somebody looks now at what was not read before; a watch reads it soon enough."""
    kinds = ("details", "processes", "cpu_processes")
    return not now.pids and any(getattr(now, kind) and not getattr(before, kind) for kind in kinds)


def make_live_origin(scenario: str | None, feed: Feed, clock: Clock) -> LiveOrigin:
    """The real machine, or the scripted one of that name. Raises WrongUsage when there is none of that name."""
    if scenario is not None:
        _check_scenario(scenario)
    return LiveOrigin(feed, clock, scenario)


def _check_scenario(name: str) -> None:
    from gpumon_gui.telemetry.synthetic.names import UnknownScenario, check_name  # only loaded when asked for

    try:
        check_name(name)
    except UnknownScenario as error:
        raise WrongUsage(str(error)) from error
