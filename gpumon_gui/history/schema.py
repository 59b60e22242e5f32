"""Knows: what the history file holds and how its rows are numbered. Must not know: samples, when rows are written.

One SQLite file in WAL mode. ``chunk`` holds the numbers: a row is one metric of one device over one stretch of time at
one level, packed (``history.buckets``). Its key packs level, device, metric and stretch into the rowid, so the table is
its own index and a metric's stretches lie side by side. ``fresh`` holds the seconds that were not packed yet: one row
for each device and batch; a killed program loses no more than the batch it had in hand.

Numbers of metrics and levels stand in the file: never use one again for something else.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumon_gui.core.database import Format

#: "GPHS"
APPLICATION_ID = 0x47504853

#: What is kept of a device: number in the file → metric. Bit masks and counters are left out: a mean says nothing.
DEVICE_METRICS: dict[int, str] = {
    1: "gpu_utilization",
    2: "engine_utilization",
    3: "sm_activity",
    4: "tensor_activity",
    5: "dram_activity",
    6: "memory_utilization",
    7: "memory_used_bytes",
    8: "shared_used_bytes",
    9: "temperature_c",
    10: "memory_temperature_c",
    11: "power_w",
    12: "clock_sm_mhz",
    13: "clock_memory_mhz",
    14: "pcie_rx_bytes_per_s",
    15: "pcie_tx_bytes_per_s",
    16: "fan_ratio",
    17: "encoder_utilization",
    18: "decoder_utilization",
}
#: The same of the machine.
HOST_METRICS: dict[int, str] = {64: "cpu_utilization", 65: "ram_used_bytes", 66: "swap_used_bytes"}
METRIC_NUMBERS: dict[str, int] = {name: number for number, name in (DEVICE_METRICS | HOST_METRICS).items()}
#: The row of the machine itself in ``device``.
HOST_ID = 0

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Level:
    """One fineness. ``step_s`` is the length of a bucket, ``stretch_s`` that of a row; each stretch is a whole number
    of stretches of the finer level."""

    number: int
    step_s: int
    stretch_s: int


#: Seconds, ten seconds, minutes; hours only so that a year is read as fast as a day.
LEVELS: tuple[Level, ...] = (
    Level(0, 1, 15 * MINUTE_S),
    Level(1, 10, 3 * HOUR_S),
    Level(2, MINUTE_S, DAY_S),
    Level(3, HOUR_S, 30 * DAY_S),
)

_METRIC_BITS, _DEVICE_BITS, _STRETCH_BITS = 8, 12, 32
MOST_DEVICES = 1 << _DEVICE_BITS


def chunk_id(level: Level, device: int, metric: int, start_s: int) -> int:
    """The key of the row that holds second ``start_s``."""
    head = (level.number << _DEVICE_BITS | device) << _METRIC_BITS | metric
    return head << _STRETCH_BITS | start_s // level.stretch_s


def start_of(level: Level, key: int) -> int:
    """The first second of the row with this key."""
    return (key & (1 << _STRETCH_BITS) - 1) * level.stretch_s


FORMAT = Format(
    application_id=APPLICATION_ID,
    major=1,
    minor=0,
    tables={
        "chunk": ("id", "data"),
        "fresh": ("id", "session", "device", "start_s", "data"),
        "roll": ("level", "until_s"),
        "device": ("id", "key", "name", "vendor", "kind", "pci", "uuid", "first_s", "last_s"),
        "marker": ("id", "utc_s", "end_s", "kind", "code", "tone", "device", "subject", "text", "parameters"),
    },
    statements=(
        "CREATE TABLE chunk (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
        # session: who writes it; start_s: the stretch it belongs to.
        "CREATE TABLE fresh (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, device INTEGER NOT NULL,"
        " start_s INTEGER NOT NULL, data BLOB NOT NULL)",
        # until_s: everything before is in the level's rows.
        "CREATE TABLE roll (level INTEGER PRIMARY KEY, until_s INTEGER NOT NULL)",
        "CREATE TABLE device (id INTEGER PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL, vendor TEXT NOT NULL, "
        "kind TEXT NOT NULL, pci TEXT NOT NULL, uuid TEXT NOT NULL, first_s INTEGER NOT NULL, last_s INTEGER NOT NULL)",
        "CREATE TABLE marker (id INTEGER PRIMARY KEY, utc_s REAL NOT NULL, end_s REAL, kind TEXT NOT NULL,"
        " code TEXT NOT NULL, tone TEXT NOT NULL, device TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL,"
        " parameters TEXT NOT NULL)",
        "CREATE INDEX marker_time ON marker (utc_s)",
    ),
    shrinks=True,
)
