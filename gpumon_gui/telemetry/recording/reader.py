"""Knows: how a recording is opened, checked and read. Must not know: who plays it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import msgspec

from gpumon_gui.core.database import open_for_reading, reading
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.core.metrics import METRICS, Unit
from gpumon_gui.core.model import DeviceInfo, Sample
from gpumon_gui.telemetry.codec import MalformedSample, from_plain
from gpumon_gui.telemetry.recording.base import RecordedFile
from gpumon_gui.telemetry.recording.schema import RECORDING

_Value = list[float | int | str | None]
_Values = dict[str, _Value]


class _Info(TypedDict):
    key: str
    name: str
    vendor: str
    kind: str
    index: int
    pci: str | None
    luid: int | None
    uuid: str | None
    parent: str | None
    sources: list[str]
    v: _Values


class _Device(TypedDict):
    s: str
    d: NotRequired[str]
    v: _Values
    e: NotRequired[list[tuple[str, str, str, _Value]]]


class _Process(TypedDict):
    pid: int
    start: float | None
    name: str
    presence: str
    ppid: int | None
    parents: list[str]
    command: list[str]
    exe: str
    user: str
    framework: str
    env: str
    uses: list[tuple[int, str, str, _Values, str]]
    v: _Values


class _Host(TypedDict):
    v: _Values
    c: list[float]


class _Body(TypedDict):
    """The form of ``telemetry.codec``, to check a file's types while it is parsed."""

    n: int
    t: float
    u: float
    dt: float
    inv: list[_Info]
    dev: dict[str, _Device]
    proc: list[_Process]
    host: _Host
    src: list[tuple[str, str, str, str, float, int, int, int]]
    cost: tuple[_Value, _Value, float]


_decode_body = msgspec.json.Decoder(_Body).decode
_decode_inventory = msgspec.json.Decoder(list[_Info]).decode
_EMPTY_BODY: dict[str, Any] = {
    "n": 0,
    "t": 0.0,
    "u": 0.0,
    "dt": 0.0,
    "dev": {},
    "proc": [],
    "host": {"v": {}, "c": []},
    "src": [],
    "cost": [[None, "not_read", "", ""], [None, "not_read", "", ""], 0.0],
}
_TEXTS = frozenset(metric.id for metric in METRICS.values() if metric.unit is Unit.TEXT)
_BAD = (MalformedSample, msgspec.DecodeError, msgspec.ValidationError, ValueError, OverflowError, RecursionError)


class Recording(RecordedFile):
    """A recording opened for reading. Use from the thread that opened it. Not ``complete`` when the recorder was
    killed; everything up to its last commit is here.

    Raises UnreadableInput: not a recording, newer, damaged (what and where), empty.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._reader = open_for_reading(self.path, RECORDING)
        try:
            with reading(self.path, foreign=True):
                meta = self._read_meta()
                self._ids, moments, self._inventory_ids = self._read_index()
            self._has(meta, moments, complete="finished_utc_s" in meta)
            self._inventories: dict[int, tuple[DeviceInfo, ...]] = {}
        except BaseException:
            self._reader.close()
            raise

    def sample(self, index: int) -> Sample:
        """One sample. Raises IndexError, and UnreadableInput where the file is damaged."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        try:
            with reading(self.path, foreign=True):
                row = self._reader.connection.execute(
                    "SELECT body FROM sample WHERE id = ?", (self._ids[index],)
                ).fetchone()
        except UnreadableInput as error:
            raise UnreadableInput(self._damaged(index, str(error.__cause__))) from error
        if row is None:
            raise UnreadableInput(self._damaged(index, "the row is gone"))
        try:
            body = _decode_body(_as_bytes(row[0]))
            _check_body(body)
            sample = from_plain(body)
        except _BAD as error:
            raise UnreadableInput(self._damaged(index, str(error))) from error
        return replace(sample, inventory=self._inventory(index))

    def close(self) -> None:
        """Let go of the file."""
        self._reader.close()

    def _inventory(self, index: int) -> tuple[DeviceInfo, ...]:
        """The devices at a sample; one object for all samples that share it."""
        key = self._inventory_ids[index]
        found = self._inventories.get(key)
        if found is None:
            with reading(self.path, foreign=True):
                row = self._reader.connection.execute("SELECT body FROM inventory WHERE id = ?", (key,)).fetchone()
            if row is None:
                raise UnreadableInput(self._damaged(index, f"no inventory {key}"))
            try:
                infos = _decode_inventory(_as_bytes(row[0]))
                for info in infos:
                    _check_values(info["v"])
                found = from_plain({**_EMPTY_BODY, "inv": infos}).inventory
            except _BAD as error:
                raise UnreadableInput(self._damaged(index, f"inventory {key}: {error}")) from error
            self._inventories[key] = found
        return found

    def _read_meta(self) -> Mapping[str, str]:
        rows = self._reader.connection.execute("SELECT key, value FROM meta").fetchall()
        return {_as_text(key): _as_text(value) for key, value in rows}

    def _read_index(self) -> tuple[list[int], list[float], list[int]]:
        rows = self._reader.connection.execute("SELECT id, monotonic_s, inventory FROM sample ORDER BY id").fetchall()
        if not rows:
            raise UnreadableInput(
                _("{path}: a recording without samples: it ended before the first one.").format(path=shown(self.path))
            )
        before = -math.inf
        for position, (id_, time_s, inventory) in enumerate(rows, 1):
            if not isinstance(id_, int):
                raise UnreadableInput(self._damaged_row(position, "no id"))
            if not isinstance(time_s, float) or not math.isfinite(time_s) or not isinstance(inventory, int):
                raise UnreadableInput(self._damaged_row(id_, "no time or no inventory"))
            if time_s < before:
                raise UnreadableInput(self._damaged_row(id_, "the time goes back"))
            before = time_s
        return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]

    def _damaged_row(self, id_: object, detail: str) -> str:
        return _("{path}: damaged at sample {row} ({detail}).").format(path=shown(self.path), row=id_, detail=detail)

    def _damaged(self, index: int, detail: str) -> str:
        return _("{path}: damaged at sample {row} of {rows}, {seconds} s from the start ({detail}).").format(
            path=shown(self.path),
            row=index + 1,
            rows=len(self),
            seconds=f"{self.times[index]:.1f}",
            detail=" ".join(detail.split()),
        )


def _check_body(body: _Body) -> None:
    for device in body["dev"].values():
        _check_values(device["v"])
    for process in body["proc"]:
        _check_values(process["v"])
        for use in process["uses"]:
            _check_values(use[3])
    _check_values(body["host"]["v"])


def _check_values(values: _Values) -> None:
    """Text where text belongs, numbers elsewhere: the window counts on it. Unknown metrics are of a newer minor."""
    for name, value in values.items():
        if len(value) == 2 and name in METRICS and isinstance(value[0], str) != (name in _TEXTS):
            raise MalformedSample(f"{name}: {type(value[0]).__name__}")


def _as_bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    raise MalformedSample(f"not a text but {type(value).__name__}")


def _as_text(value: object) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
