"""Knows: which sources there are, in order of rank. Must not know: what they read.

The first source with a number for a metric wins (``merge``): the vendor's library, then the operating system.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from gpumon_gui.core.clock import Clock
from gpumon_gui.telemetry.absent_host import AbsentHost
from gpumon_gui.telemetry.base import Source
from gpumon_gui.telemetry.drm.source import DrmSource
from gpumon_gui.telemetry.dxgi.pnp import load_pnp
from gpumon_gui.telemetry.dxgi.source import DxgiSource
from gpumon_gui.telemetry.host import HostSource
from gpumon_gui.telemetry.nvml.bus import WindowsBus
from gpumon_gui.telemetry.nvml.source import NvmlSource
from gpumon_gui.telemetry.pdh.source import PdhSource
from gpumon_gui.telemetry.sampler import Host, Sampler


def _nvml() -> NvmlSource:
    """On Windows the plug-and-play manager tells which cards sleep; it is known to the Windows sources."""
    return NvmlSource(bus=WindowsBus(load_pnp(), _has_battery)) if sys.platform == "win32" else NvmlSource()


def _has_battery() -> bool:
    import psutil  # only Windows asks

    return psutil.sensors_battery() is not None


SOURCES: tuple[Callable[[], Source], ...] = (_nvml, DxgiSource, PdhSource, DrmSource)


def build_sampler(
    *,
    scenario: str | None = None,
    skip: frozenset[str] = frozenset(),
    clock: Clock,
    on_enter: Callable[[str], None] = lambda _name: None,
) -> Sampler:
    """A sampler over this system's sources, or over a scripted machine. Raises UnknownScenario.

    ``skip`` names sources to leave out (one that hangs).
    """
    host: Host
    if scenario is not None:
        from gpumon_gui.telemetry.synthetic.table import build_scenario  # only loaded when asked for

        sources, host = build_scenario(scenario, clock)
    else:
        made = [make() for make in SOURCES]
        sources, host = [source for source in made if sys.platform in source.platforms], HostSource()
    if "host" in skip:
        host = AbsentHost()
    return Sampler([source for source in sources if source.name not in skip], host, clock, on_enter)
