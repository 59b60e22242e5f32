"""Knows: which sources there are, in order of rank. Must not know: what they read.

The first source with a number for a metric wins (``merge``): the vendor's library, then the operating system.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from gpumon_gui.core.clock import Clock
from gpumon_gui.telemetry.absent_host import AbsentHost
from gpumon_gui.telemetry.base import Source
from gpumon_gui.telemetry.host import HostSource
from gpumon_gui.telemetry.nvml.bus import WindowsBus
from gpumon_gui.telemetry.nvml.source import NvmlSource
from gpumon_gui.telemetry.sampler import Host, Sampler


def _nvml() -> Source:
    """On Windows the plug-and-play manager tells which cards sleep; it is known to the Windows sources."""
    if sys.platform == "win32":
        from gpumon_gui.telemetry.dxgi.pnp import load_pnp  # only Windows has it

        return NvmlSource(bus=WindowsBus(load_pnp(), _has_battery))
    return NvmlSource()


def _has_battery() -> bool:
    import psutil  # only Windows asks

    return psutil.sensors_battery() is not None


def _dxgi() -> Source:
    from gpumon_gui.telemetry.dxgi.source import DxgiSource  # only where it can be used: the sampler is to be small

    return DxgiSource()


def _pdh() -> Source:
    from gpumon_gui.telemetry.pdh.source import PdhSource

    return PdhSource()


def _drm() -> Source:
    from gpumon_gui.telemetry.drm.source import DrmSource

    return DrmSource()


#: Each with the values of ``sys.platform`` it works on.
SOURCES: tuple[tuple[tuple[str, ...], Callable[[], Source]], ...] = (
    (("linux", "win32"), _nvml),
    (("win32",), _dxgi),
    (("win32",), _pdh),
    (("linux",), _drm),
)


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
        sources, host = [make() for platforms, make in SOURCES if sys.platform in platforms], HostSource()
    if "host" in skip:
        host = AbsentHost()
    return Sampler([source for source in sources if source.name not in skip], host, clock, on_enter)
