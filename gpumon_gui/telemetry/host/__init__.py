"""The machine apart from its GPUs: CPU, memory, processes."""

from gpumon_gui.telemetry.host.source import HostSource

__all__ = ["HostSource"]
