"""Knows: all scenarios by name. Must not know: what happens in them."""

from __future__ import annotations

from gpumon_gui.core.clock import Clock
from gpumon_gui.telemetry.base import Source
from gpumon_gui.telemetry.synthetic.host import SyntheticHost
from gpumon_gui.telemetry.synthetic.names import check_name
from gpumon_gui.telemetry.synthetic.scenario import Machine, Scenario
from gpumon_gui.telemetry.synthetic.scenarios import drivers, healthy, lost, processes, stuck, systems, values

SCENARIOS: tuple[Scenario, ...] = (
    *healthy.SCENARIOS,
    *lost.SCENARIOS,
    *stuck.SCENARIOS,
    *values.SCENARIOS,
    *drivers.SCENARIOS,
    *processes.SCENARIOS,
    *systems.SCENARIOS,
)


def find_scenario(name: str) -> Scenario:
    """The scenario of that name. Raises UnknownScenario with the names that exist."""
    check_name(name)
    return next(scenario for scenario in SCENARIOS if scenario.name == name)


def build_machine(name: str, clock: Clock) -> Machine:
    """A scripted machine, switched on now. Raises UnknownScenario."""
    return find_scenario(name).build(clock)


def build_scenario(name: str, clock: Clock) -> tuple[list[Source], SyntheticHost]:
    """What the sampler needs of a scripted machine. Raises UnknownScenario."""
    machine = build_machine(name, clock)
    return list(machine.sources), machine.host
