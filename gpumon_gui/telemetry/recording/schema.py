"""Knows: the tables of a recording. Must not know: who writes or reads them.

A recording is one SQLite 3 file. ``FORMAT.md`` beside this module documents it for readers in other languages.

- ``PRAGMA application_id`` is 0x47505552 (``GPUR``), ``PRAGMA user_version`` is major + 65536 × minor; this is 1.0.
  A new minor only adds (columns, tables, keys); a reader ignores what it does not know.
- ``meta(key, value)``: texts. Always: ``program``, ``format``. At a proper end: ``finished_utc_s``. Others are the
  recorder's.
- ``inventory(id, body)``: the devices, a JSON list, written when it changes.
- ``sample(id, monotonic_s, utc_s, inventory, body)``: one sweep; ids ascend from 1, ``monotonic_s``
  ascends, ``body`` is the JSON form of ``telemetry.codec`` with an empty ``inv``.
"""

from __future__ import annotations

from gpumon_gui.core.database import Format

RECORDING = Format(
    application_id=0x47505552,
    major=1,
    minor=0,
    tables={
        "meta": ("key", "value"),
        "inventory": ("id", "body"),
        "sample": ("id", "monotonic_s", "utc_s", "inventory", "body"),
    },
    statements=(
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE inventory (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
        "CREATE TABLE sample (id INTEGER PRIMARY KEY, monotonic_s REAL NOT NULL, utc_s REAL NOT NULL, "
        "inventory INTEGER NOT NULL REFERENCES inventory (id), body TEXT NOT NULL)",
    ),
    page_bytes=1024,  # rows of 2 to 20 KB: with 4096 up to half of the file would be empty
)
