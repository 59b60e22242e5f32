"""What the history keeps and gives back: restarts, kills, clocks, cards, levels, age and size."""

from __future__ import annotations

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpumon_gui.core.model import DeviceKey, DeviceKind, DeviceSample, DeviceState, EngineKind, EngineSample, Sample
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.history.intake import MOST_STRETCHES, Intake
from gpumon_gui.history.marker import Marker, MarkerKind
from gpumon_gui.history.reading import Contents, HistoryReader, Span, level_for
from gpumon_gui.history.retention import MIB, ClockGuard, HistoryOptions, cutoffs, first_to_go
from gpumon_gui.history.schema import DAY_S, HOUR_S, LEVELS, METRIC_NUMBERS, chunk_id, start_of
from gpumon_gui.history.store import HistoryStore
from tests.qt.samples import START_UTC_S, device_key, device_values, make_device, make_info, make_sample

ROOT = Path(__file__).resolve().parents[2]
START = int(START_UTC_S) - int(START_UTC_S) % LEVELS[2].stretch_s + LEVELS[0].stretch_s  # a stretch begins


def sample_at(utc_s: float, compute: float = 0.5, **changed: object) -> Sample:
    """One GPU at a moment."""
    made = make_sample(1, compute=compute)
    return dataclasses.replace(made, utc_s=float(utc_s), monotonic_s=float(utc_s) - START, **changed)  # type: ignore[arg-type]


def feed(store: HistoryStore, seconds: range, compute: float = 0.5, *, is_trusted: bool = True) -> None:
    """A sample at each of these seconds, written in batches of ten; tidied as the writer does it."""
    intake = Intake()
    for second in seconds:
        intake.add(sample_at(second, compute))
        if second % 10 == 9 and store.write(intake, []):
            store.tidy(HistoryOptions(), second, is_trusted=is_trusted, is_over=lambda: False)
    store.finish(intake, [])


def means(path: Path, metric: str, span: Span, points: int = 100_000, device: int = 1) -> dict[int, float]:
    """Second → mean, as a page would read it."""
    reader = HistoryReader(path)
    level = level_for(span.length_s, points)
    ((_metric, rows, _width),) = reader.rows(level, device, (metric,), span)
    reader.close()
    return dict(zip(rows.start.tolist(), rows.mean.tolist(), strict=True))


def contents(path: Path) -> Contents:
    reader = HistoryReader(path)
    found = reader.contents()
    reader.close()
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.db"


def test_the_folder_is_made_and_every_second_comes_back(path: Path) -> None:
    store = HistoryStore(path)
    feed(store, range(START, START + 45))
    found = means(path, "gpu_utilization", Span(START, START + 100))
    assert list(found) == list(range(START, START + 45))
    assert found[START] == 0.5
    store.close()
    assert len(means(path, "gpu_utilization", Span(START, START + 100))) == 45


def test_several_samples_in_a_second_are_one_row(path: Path) -> None:
    store, intake = HistoryStore(path), Intake()
    for part, compute in ((0.0, 0.25), (0.5, 0.75)):
        intake.add(sample_at(START + part, compute))
    store.finish(intake, [])
    store.close()
    reader = HistoryReader(path)
    ((_m, rows, _w),) = reader.rows(LEVELS[0], 1, ("gpu_utilization",), Span(START, START + 1))
    assert (rows.low[0], rows.mean[0], rows.high[0]) == (0.25, 0.5, 0.75)
    reader.close()


def test_missing_is_a_gap_and_the_machine_is_kept_too(path: Path) -> None:
    store, intake = HistoryStore(path), Intake()
    for second in range(6):
        gone = Missing(Reason.NOT_READ)
        values = device_values(0.5, sm_activity=gone if second == 3 else Reading(0.25, "nvml"))
        intake.add(sample_at(START + second, devices={device_key(0): make_device(0, values)}))
    store.write(intake, [])
    found = means(path, "sm_activity", Span(START, START + 10))
    assert [np.isnan(value) for value in found.values()] == [False, False, False, True, False, False]
    assert means(path, "cpu_utilization", Span(START, START + 10), device=0)[START] == pytest.approx(0.31, rel=1e-4)
    reader = HistoryReader(path)
    reading = reader.read(1, ("fan_ratio", "sm_activity"), Span(START, START + 10), 100)
    assert reading is not None
    assert list(reading.series) == ["sm_activity"]  # fan_ratio never had a value
    reader.close()
    store.close()


def test_the_busiest_engine_is_kept_where_only_engines_are_known(path: Path) -> None:
    store, intake = HistoryStore(path), Intake()
    engines = tuple(
        EngineSample(name, name, EngineKind.OTHER, Reading(busy, "drm"))
        for name, busy in (("rcs", 0.25), ("bcs", 0.75))
    )
    intake.add(sample_at(START, devices={device_key(0): DeviceSample(device_key(0), engines=engines)}))
    store.write(intake, [])
    store.close()
    assert means(path, "engine_utilization", Span(START, START + 1)) == {START: 0.75}


def test_a_restart_in_the_same_stretch_loses_nothing(path: Path) -> None:
    for first in (0, 40, 80):
        store, intake = HistoryStore(path), Intake()
        for second in range(START + first, START + first + 30):
            intake.add(sample_at(second))
        store.finish(intake, [])
        store.close()
    found = means(path, "power_w", Span(START, START + 200))
    assert len(found) == 90
    assert len(contents(path).devices) == 2


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_kill_loses_no_more_than_the_batch_in_hand(path: Path, tmp_path: Path) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from gpumon_gui.history.intake import Intake
from gpumon_gui.history.store import HistoryStore
from tests.unit.test_history_store import START, sample_at
store, intake = HistoryStore(Path({str(path)!r})), Intake()
for second in range(START, START + 10_000):
    intake.add(sample_at(second))
    if second % 10 == 9:
        store.write(intake, [])
        print(second, flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    written = 0
    for line in child.stdout:
        written = int(line)
        if written >= START + 1234:  # in the middle of the second stretch
            child.send_signal(signal.SIGKILL)
            break
    child.stdout.close()
    child.wait()
    store = HistoryStore(path)
    store.close()
    found = means(path, "gpu_utilization", Span(START, START + 20_000))
    assert list(found)[: written - START + 1] == list(range(START, written + 1))
    assert sqlite3.connect(path).execute("SELECT count(*) FROM fresh").fetchone() == (0,)


def test_levels_agree_with_the_seconds(path: Path) -> None:
    """Seven hours: tens are made for six of them, the rest is read from seconds; no bucket is missing or double."""
    store = HistoryStore(path)
    begin = START - START % LEVELS[1].stretch_s + LEVELS[1].stretch_s
    intake = Intake()
    rng = np.random.default_rng(3)
    loads = np.round(rng.random(7 * HOUR_S) * 64) / 64
    for number, load in enumerate(loads.tolist()):
        intake.add(sample_at(begin + number, load))
        if number % 300 == 299 and store.write(intake, []):
            store.tidy(HistoryOptions(), begin + number, is_trusted=True, is_over=lambda: False)
    store.write(intake, [])
    span = Span(begin, begin + 7 * HOUR_S)
    tens = means(path, "gpu_utilization", span, points=7 * 360)
    until = LEVELS[1].stretch_s * 2
    made = [second for second in tens if second < begin + until]
    assert made == list(range(begin, begin + until, 10))
    expected = loads[:until].reshape(-1, 10).mean(axis=1)
    np.testing.assert_allclose([tens[s] for s in made], expected, rtol=2**-15)
    assert [s for s in tens if s >= begin + until] == list(range(begin + until, begin + 7 * HOUR_S))
    store.close()


def test_a_clock_that_steps_back_adds_to_what_is_there(path: Path) -> None:
    store = HistoryStore(path)
    feed(store, range(START, START + 1000), 0.25)
    feed(store, range(START + 500, START + 1500), 0.75)  # 500 s back
    found = means(path, "gpu_utilization", Span(START, START + 2000))
    assert list(found) == list(range(START, START + 1500))
    assert (found[START + 100], found[START + 1400]) == (0.25, 0.75)
    assert 0.25 < found[START + 700] < 0.75
    store.close()


def test_levels_are_made_again_after_the_clock_went_back_over_them(path: Path) -> None:
    store = HistoryStore(path)
    begin = START - START % LEVELS[1].stretch_s
    feed(store, range(begin, begin + 4 * HOUR_S), 0.25)
    feed(store, range(begin + 600, begin + 2000), 0.75)
    feed(store, range(begin + 4 * HOUR_S, begin + 4 * HOUR_S + 1000), 0.25)
    tens = means(path, "gpu_utilization", Span(begin, begin + 3 * HOUR_S), points=1080)
    assert len(tens) == 1080
    assert tens[begin + 1000] == pytest.approx(0.5, rel=1e-3)
    assert tens[begin + 5000] == pytest.approx(0.25, rel=1e-3)
    store.close()


def test_a_clock_ahead_for_a_while_hides_nothing(path: Path) -> None:
    store = HistoryStore(path)
    feed(store, range(START, START + 100))
    feed(store, range(START + 20 * DAY_S, START + 20 * DAY_S + 2000), is_trusted=False)  # as the guard says
    feed(store, range(START + 100, START + 2000))
    found = means(path, "gpu_utilization", Span(START, START + 3 * HOUR_S), points=1080)
    assert sum(1 for _second in found) >= 180
    seconds = means(path, "gpu_utilization", Span(START, START + 2000))
    assert len(seconds) == 2000
    store.close()


def test_an_impossible_clock_is_passed_over() -> None:
    intake = Intake()
    for utc_s in (0.0, -5.0, 1e18, float("nan"), float("inf")):
        intake.add(dataclasses.replace(sample_at(START), utc_s=utc_s))
    assert intake.stretches == []


def test_a_card_is_found_again_by_uuid_slot_or_name(path: Path) -> None:
    store, intake = HistoryStore(path), Intake()
    card = make_info(0)
    other_slot = dataclasses.replace(card, key=DeviceKey("pci:00000000:99:00.0"), pci_address="00000000:99:00.0")
    new_card = dataclasses.replace(card, uuid="GPU-another")
    without = dataclasses.replace(card, uuid=None)
    for second, info in enumerate((without, card, other_slot, new_card)):
        intake.add(
            sample_at(
                START + second, inventory=(info,), devices={info.key: DeviceSample(info.key, values=device_values())}
            )
        )
        store.finish(intake, [])
        store._devices.clear()  # a new start
    store.close()
    found = {device.uuid: device for device in contents(path).devices if not device.is_host}
    assert found.keys() == {card.uuid, "GPU-another"}
    moved = found[card.uuid or ""]
    assert moved.key == other_slot.key
    assert len(means(path, "power_w", Span(START, START + 10), device=moved.number)) == 3


def test_a_windows_luid_that_changed_is_the_same_adapter(path: Path) -> None:
    store, intake = HistoryStore(path), Intake()
    for second, luid in enumerate((0xAA, 0xBB)):
        infos = tuple(
            dataclasses.replace(
                make_info(0, name), key=DeviceKey(f"luid:{luid + n:016x}"), pci_address=None, uuid=None, luid=luid + n
            )
            for n, name in enumerate(("Intel UHD", "Intel UHD", "Basic Render"))
        )
        devices = {info.key: DeviceSample(info.key, values=device_values()) for info in infos}
        intake.add(sample_at(START + second, inventory=infos, devices=devices))
        store.finish(intake, [])
        store._devices.clear()
    store.close()
    assert sorted(d.name for d in contents(path).devices if not d.is_host) == ["Basic Render", "Intel UHD", "Intel UHD"]


def test_a_lost_card_has_a_gap(path: Path) -> None:
    store, intake = HistoryStore(path), Intake()
    for second in range(10):
        state = DeviceState.LOST if second > 4 else DeviceState.OK
        values = {} if second > 4 else device_values()
        intake.add(sample_at(START + second, devices={device_key(0): DeviceSample(device_key(0), state, "", values)}))
    store.finish(intake, [])
    store.close()
    found = means(path, "power_w", Span(START, START + 10))
    assert [np.isnan(value) for value in found.values()] == [False] * 5 + [True] * 5


def test_markers_come_back_with_their_words(path: Path) -> None:
    store = HistoryStore(path)
    marker = Marker(
        START + 5.0,
        MarkerKind.VERDICT,
        "input-pipeline",
        "{name} waits {share}.",
        (("name", "训练.py"), ("share", "64 %")),
        "pid 4242",
        device_key(0),
        "attention",
        START + 60.0,
    )
    broken = dataclasses.replace(marker, text="{who} is {", utc_s=START + 6.0, end_utc_s=None, device=None)
    waiting = [marker, broken]
    store.write(Intake(), waiting)
    assert waiting == []
    reader = HistoryReader(path)
    found = reader.markers(Span(START, START + 100))
    assert found == (marker, broken)
    assert found[0].sentence() == "训练.py waits 64 %."
    assert found[1].sentence() == "{who} is {"
    assert reader.markers(Span(START + 30, START + 40)) == (marker,)  # a span across
    assert reader.markers(Span(START + 61, START + 100)) == ()
    reader.close()
    store.close()


def test_what_cannot_be_written_waits_for_an_hour_and_no_longer() -> None:
    intake = Intake()
    for second in range(0, 3 * HOUR_S, 30):
        intake.add(sample_at(START + second))
    assert len(intake.stretches) == MOST_STRETCHES
    assert intake.lost_s == 3 * 120 - MOST_STRETCHES * 30


# -- age and size


def test_old_levels_go_and_coarser_ones_stay(path: Path) -> None:
    options = HistoryOptions(seconds_s=HOUR_S, tens_s=DAY_S, minutes_s=30 * DAY_S)
    store = HistoryStore(path)
    begin = START - START % LEVELS[2].stretch_s
    intake = Intake()
    for second in range(begin, begin + 30 * HOUR_S, 4):
        intake.add(sample_at(second))
        if second % 900 == 0 and store.write(intake, []):
            store.tidy(options, second, is_trusted=True, is_over=lambda: False)
    oldest = {level.number: store._oldest(level) for level in LEVELS}
    now = begin + 30 * HOUR_S
    assert oldest[0] is not None
    assert now - 5 * HOUR_S <= oldest[0] <= now - HOUR_S
    assert oldest[1] == begin + 3 * HOUR_S or oldest[1] == begin + 6 * HOUR_S
    assert oldest[2] == begin
    # The first hours are only in minutes any more, and read from there whatever is asked for.
    early = means(path, "gpu_utilization", Span(begin, begin + 600), points=600)
    assert list(early) == list(range(begin, begin + 600, 60))
    store.close()


def test_nothing_goes_before_the_next_level_has_it() -> None:
    options = HistoryOptions(seconds_s=HOUR_S)
    found = cutoffs(options, 10 * DAY_S, {1: 9 * DAY_S, 2: 8 * DAY_S, 3: 0})
    assert found[0] == 9 * DAY_S
    assert found[2] <= 0


def test_a_clock_in_a_wrong_year_deletes_nothing(path: Path) -> None:
    guard = ClockGuard()
    guard.note(0.0, START, START - 60.0)
    assert guard.is_trusted()
    guard.note(10.0, START + 900 * DAY_S, None)  # somebody set the clock
    assert not guard.is_trusted()
    guard.note(3000.0, START + 900 * DAY_S + 2990, None)
    assert not guard.is_trusted()
    guard.note(3700.0, START + 900 * DAY_S + 3690, None)
    assert guard.is_trusted()


def test_a_long_holiday_is_believed_after_an_hour() -> None:
    guard = ClockGuard()
    guard.note(0.0, START, START - 60.0 * DAY_S)
    assert not guard.is_trusted()
    guard.note(3601.0, START + 3601.0, None)
    assert guard.is_trusted()


def test_a_suspend_changes_no_trust() -> None:
    guard = ClockGuard()
    guard.note(0.0, START, START - 1.0)
    guard.note(5.0, START + 8 * HOUR_S, None)  # the monotonic clock stood still
    assert guard.is_trusted()


def test_the_file_shrinks_to_its_bound_oldest_first(path: Path) -> None:
    store = HistoryStore(path)
    begin = START - START % LEVELS[1].stretch_s
    rng = np.random.default_rng(1)
    intake = Intake()
    for second in range(begin, begin + 6 * HOUR_S, 2):
        intake.add(sample_at(second, float(rng.random())))
        if second % 300 == 0:
            store.write(intake, [])
    store.write(intake, [])
    full, wanted = store.used_bytes(), 120_000
    assert full > 2 * wanted
    options = HistoryOptions(most_bytes=wanted)
    store.tidy(options, begin + 6 * HOUR_S, is_trusted=True, is_over=lambda: False)
    assert store.used_bytes() <= wanted
    store.close()
    kept = means(path, "gpu_utilization", Span(begin, begin + 6 * HOUR_S))
    assert kept
    assert max(kept) >= begin + 6 * HOUR_S - 2  # the newest is there
    assert min(kept) > begin  # the oldest is not
    assert path.stat().st_size < full


def test_the_level_that_used_up_most_of_its_time_goes_first() -> None:
    options = HistoryOptions()
    now = 100.0 * DAY_S
    assert (
        first_to_go(options, {0: int(now - 20 * HOUR_S), 1: int(now - 13 * DAY_S), 2: int(now - 90 * DAY_S)}, now) == 1
    )
    assert first_to_go(options, {}, now) is None
    assert options.most_bytes == 1024 * MIB


def test_everything_can_be_deleted(path: Path) -> None:
    store = HistoryStore(path)
    feed(store, range(START, START + 2000))
    before = contents(path).size_bytes
    store.clear()
    assert contents(path).devices == ()
    assert contents(path).size_bytes < before
    feed(store, range(START + 3000, START + 3010))
    assert len(means(path, "power_w", Span(START, START + 4000))) == 10
    store.close()


def test_a_driver_that_invents_cards_does_not_break_the_key() -> None:
    for level in LEVELS:
        for second in (1_000_000_000, START, 100_000_000_000 - 1):
            key = chunk_id(level, 4095, 255, second)
            assert 0 < key < 1 << 63
            assert start_of(level, key) == second - second % level.stretch_s


def test_numbers_in_the_file_never_change() -> None:
    """A file of today is read by each later version."""
    assert {name: METRIC_NUMBERS[name] for name in ("gpu_utilization", "power_w", "cpu_utilization")} == {
        "gpu_utilization": 1,
        "power_w": 11,
        "cpu_utilization": 64,
    }
    assert [(level.step_s, level.stretch_s) for level in LEVELS] == [
        (1, 900),
        (10, 10_800),
        (60, 86_400),
        (3600, 2_592_000),
    ]


def test_a_damaged_row_is_a_gap_and_the_rest_is_read(path: Path) -> None:
    store = HistoryStore(path)
    feed(store, range(START, START + 2 * 900 + 10))
    store.close()
    connection = sqlite3.connect(path)
    key = chunk_id(LEVELS[0], 1, METRIC_NUMBERS["power_w"], START)
    assert connection.execute("UPDATE chunk SET data = x'01ff00aa' WHERE id = ?", (key,)).rowcount == 1
    connection.execute("INSERT INTO fresh (session, device, start_s, data) VALUES (1, 1, ?, x'ffff')", (START,))
    connection.commit()
    connection.close()
    found = means(path, "power_w", Span(START, START + 5000))
    assert list(found) == list(range(START + 900, START + 2 * 900 + 10))
    HistoryStore(path).close()  # the damaged batch is passed over


def test_software_adapters_are_told_apart(path: Path) -> None:
    store, intake = HistoryStore(path), Intake()
    info = make_info(0, "Microsoft Basic Render Driver", DeviceKind.SOFTWARE)
    intake.add(sample_at(START, inventory=(info,)))
    store.finish(intake, [])
    store.close()
    assert [device.kind for device in contents(path).devices] == ["unknown", "software"]


def test_the_span_that_is_kept_is_told_to_the_second(path: Path) -> None:
    store, intake = HistoryStore(path), Intake()
    for second in range(START + 100, START + 130):
        intake.add(sample_at(second))
    store.write(intake, [])
    assert (contents(path).first_s, contents(path).last_s) == (START + 100, START + 129)
    store.finish(intake, [])
    store.close()
    assert (contents(path).first_s, contents(path).last_s) == (START + 100, START + 129)
