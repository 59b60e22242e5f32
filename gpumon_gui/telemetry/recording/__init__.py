"""Knows: samples in files, and back. Must not know: where samples come from, who shows them."""

from gpumon_gui.telemetry.recording.size import size_hint

__all__ = ["size_hint"]
