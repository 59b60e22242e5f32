"""What is exported is what was kept; a file is there as a whole or as it was before."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.history.export import Table, as_csv, as_json, table
from gpumon_gui.history.intake import Intake
from gpumon_gui.history.marker import Marker, MarkerKind
from gpumon_gui.history.reading import HistoryReader, Span
from gpumon_gui.history.store import HistoryStore
from tests.qt.samples import device_key, device_values, make_device
from tests.unit.test_history_store import START, sample_at


@pytest.fixture
def content(tmp_path: Path) -> Iterator[Table]:
    store, intake = HistoryStore(tmp_path / "h.db"), Intake()
    for second in range(5):
        power = Missing(Reason.NOT_READ) if second == 2 else Reading(100.0 + second, "nvml")
        devices = {device_key(0): make_device(0, device_values(0.5, power_w=power))}
        intake.add(sample_at(START + second, devices=devices))
    marker = Marker(START + 1.0, MarkerKind.ALERT, "hot", "{name} is hot.", (("name", "GPU 0"),))
    store.finish(intake, [marker])
    store.close()
    reader = HistoryReader(tmp_path / "h.db")
    device = next(device for device in reader.contents().devices if not device.is_host)
    yield table(reader, device, Span(START + 1, START + 4), 1000)
    reader.close()


def still() -> None:
    """No breath is needed here."""


def test_every_line_is_equally_long(tmp_path: Path) -> None:
    """Of 100 seconds, asked for on 10 columns, only seconds are there yet: the table has tens."""
    store, intake = HistoryStore(tmp_path / "h.db"), Intake()
    for second in range(100):
        intake.add(sample_at(START + second, 0.25 if second % 2 else 0.75))
    store.finish(intake, [])
    store.close()
    reader = HistoryReader(tmp_path / "h.db")
    device = next(device for device in reader.contents().devices if not device.is_host)
    found = table(reader, device, Span(START, START + 100), 10)
    reader.close()
    assert found.start.tolist() == list(range(START, START + 100, 10))
    assert found.rows["gpu_utilization"].mean.tolist() == [0.5] * 10
    assert found.rows["gpu_utilization"].high.tolist() == [0.75] * 10


def test_csv_has_a_line_for_each_bucket_and_nothing_for_what_is_missing(content: Table) -> None:
    data = as_csv(content, still)
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert [row["power_w [watt] mean"] for row in rows] == ["101", "", "103"]
    assert rows[0]["time_utc"] == "2027-01-15T00:15:01Z"
    assert rows[0]["gpu_utilization [ratio] max"] == "0.5"


def test_json_has_null_for_what_is_missing_and_no_uuid(content: Table) -> None:
    data = as_json(content, still)
    found = json.loads(data)
    assert found["schema"] == "gpumon-history/1"
    assert found["metrics"]["power_w"] == {
        "unit": "watt",
        "mean": [101.0, None, 103.0],
        "min": [101.0, None, 103.0],
        "max": [101.0, None, 103.0],
    }
    assert found["time_utc_s"] == [START + 1, START + 2, START + 3]
    assert [marker["text"] for marker in found["markers"]] == ["GPU 0 is hot."]
    assert b"GPU-0000" not in data
