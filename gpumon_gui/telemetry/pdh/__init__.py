"""Knows: Windows' GPU performance counters (engines, adapter and process memory). Must not know: other sources."""
