"""Knows: how large a recording becomes. Must not know: how it is written."""

from __future__ import annotations

# Bytes per sample, measured on files of this format (tests/unit/test_recording.py holds them to it): every gauge of the
# catalogue read, 16 cores, 4 processes (850 bytes each). A device with fewer figures takes less.
BASE_BYTES = 4550
DEVICE_BYTES = 1650
#: Tables, first pages, the inventory.
FILE_BYTES = 20_000


def size_hint(devices: int, hz: float, seconds: float) -> int:
    """About how many bytes a recording of ``devices`` GPUs takes."""
    return FILE_BYTES + round(seconds * hz * (BASE_BYTES + DEVICE_BYTES * devices))
