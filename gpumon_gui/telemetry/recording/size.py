"""Knows: how large a recording becomes. Must not know: how it is written."""

from __future__ import annotations

# Bytes per sample, measured on the demo recorded from an H200 (every figure it has, GPM included; 16 cores, two
# processes on average, 700 bytes each); tests/unit/test_recording.py holds them to it.
BASE_BYTES = 2550
DEVICE_BYTES = 1550
#: Tables, first pages, the inventory.
FILE_BYTES = 20_000


def size_hint(devices: int, hz: float, seconds: float) -> int:
    """About how many bytes a recording of ``devices`` GPUs takes."""
    return FILE_BYTES + round(seconds * hz * (BASE_BYTES + DEVICE_BYTES * devices))
