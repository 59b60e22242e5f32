"""Alerts: said when something holds, once, and again only after it was over."""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from string import Formatter

import pytest

from gpumon_gui.core import messages
from gpumon_gui.core.clock import Instant
from gpumon_gui.core.formatters import read_fahrenheit
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKind, DeviceState, ProcessPresence, Sample, SourceHealth, SourceState
from gpumon_gui.core.values import Reading
from gpumon_gui.diagnosis.alerts.alarm import Alarm
from gpumon_gui.diagnosis.alerts.alert import Alert, Limits, Sign, State
from gpumon_gui.diagnosis.alerts.table import KINDS, Kind
from gpumon_gui.settings.catalogue import BY_KEY
from tests.behaviour_samples import DESKTOP, FULL, GIB, H200, IDLE, LAPTOP, START_UTC_S, Program, Work, story, without

MIB = float(1 << 20)


def heard(samples: Sequence[Sample], limits: Limits | None = None) -> list[Alert]:
    alarm = Alarm(limits)
    return [alert for sample in samples for alert in alarm.look(sample)]


def kinds(samples: Sequence[Sample], limits: Limits | None = None) -> list[str]:
    return [alert.kind for alert in heard(samples, limits)]


def text(alert: Alert) -> str:
    return _(alert.text).format(**alert.values)


def ramp(start: float, per_s: float, begin_s: float = 0.0) -> Callable[[float], float]:
    return lambda time_s: start + max(0.0, time_s - begin_s) * per_s


TRAINING = Program(7, memory={0: 10 * GIB}, busy={0: 0.9})


def test_every_kind_has_its_switch_and_texts() -> None:
    for kind in KINDS:
        assert f"alerts.{kind.name}.on" in BY_KEY
        assert kind.title
        assert kind.text


def test_a_healthy_run_is_no_news() -> None:
    assert kinds(story([H200], [FULL], [TRAINING], seconds=900, hz=0.5)) == []


def test_heat_is_said_once_while_it_lasts() -> None:
    hot = replace(FULL, temperature=lambda time_s: 95.0 if time_s > 60 else 70.0)
    (alert,) = heard(story([LAPTOP], [hot], seconds=300, hz=1))
    assert alert.kind == "temperature"
    assert "RTX 4060" in text(alert)
    assert "°C" in text(alert)
    assert alert.device is not None


def test_a_temperature_is_written_as_the_user_reads_it() -> None:
    (alert,) = heard(story([LAPTOP], [replace(FULL, temperature=95.0)], seconds=30, hz=1, noise=0.0))
    assert "95 °C" in text(alert)
    read_fahrenheit(True)  # chosen since
    try:
        assert "203 °F" in text(alert)
    finally:
        read_fahrenheit(False)


def test_a_spike_and_a_wave_at_the_limit_are_not_a_flood() -> None:
    spike = replace(FULL, temperature=lambda time_s: 95.0 if 60 <= time_s < 64 else 70.0)
    assert kinds(story([LAPTOP], [spike], seconds=120, hz=1, noise=0.0)) == []
    wave = replace(FULL, temperature=lambda time_s: 91.0 if time_s % 60 < 30 else 88.0)
    assert kinds(story([LAPTOP], [wave], seconds=1800, hz=1, noise=0.0)) == ["temperature"]


def test_it_is_said_again_after_it_was_over_and_the_quiet_time() -> None:
    waves = replace(FULL, temperature=lambda time_s: 95.0 if time_s % 120 < 60 else 60.0)
    samples = story([LAPTOP], [waves], seconds=1300, hz=1, noise=0.0)
    assert 2 <= len(kinds(samples)) <= 3
    assert len(kinds(samples, Limits(quiet_s=0.0))) >= 10


def test_a_muted_kind_is_not_said() -> None:
    hot = replace(FULL, temperature=95.0)
    assert kinds(story([LAPTOP], [hot], seconds=60, hz=1), Limits(muted=frozenset({"temperature"}))) == []


@pytest.mark.parametrize(
    ("bits", "said"), [(0x04, []), (0x01, []), (0x20, ["throttle"]), (0x48, ["throttle"]), (0x80, ["throttle"])]
)
def test_heat_and_the_power_brake_hold_clocks_down_the_power_cap_is_normal(bits: int, said: list[str]) -> None:
    assert kinds(story([H200], [replace(FULL, throttle=float(bits))], seconds=90, hz=1)) == said


def test_memory_that_grows_to_the_end_is_said_with_its_time() -> None:
    leaking = replace(TRAINING, memory={0: ramp(4 * GIB, 15 * MIB)})
    samples = story([LAPTOP], [FULL], [leaking], seconds=220, hz=1)
    (alert,) = heard(samples)
    assert alert.kind == "memory_full"
    assert "min" in text(alert) or " s" in text(alert)
    assert kinds(samples, Limits(memory_full_s=10)) == []


@pytest.mark.parametrize(
    "memory",
    [
        lambda time_s: min(6.5 * GIB, 1 * GIB + time_s * 100 * MIB),  # takes what it needs, then stays
        lambda time_s: (4 + 2 * (int(time_s / 20) % 2)) * GIB,  # up and down with the phases
        7.9 * GIB,  # full, but not growing
    ],
)
def test_memory_that_does_not_go_on_growing_is_no_alert(memory: Callable[[float], float] | float) -> None:
    assert kinds(story([LAPTOP], [FULL], [replace(TRAINING, memory={0: memory})], seconds=400, hz=1)) == []


def test_a_spill_into_shared_memory() -> None:
    work = replace(FULL, shared=ramp(60 * MIB, 20 * MIB, 60.0))
    full = replace(TRAINING, memory={0: 7.8 * GIB})
    (alert,) = heard(story([LAPTOP], [work], [full], seconds=120, hz=1))
    assert alert.kind == "spill"
    half = replace(TRAINING, memory={0: 3 * GIB})
    assert kinds(story([LAPTOP], [work], [half], seconds=120, hz=1)) == []


def test_memory_held_by_a_program_that_does_nothing() -> None:
    idle = Program(9, command=("python", "notebook.py"), memory={0: 12 * GIB}, busy={0: 0.0}, cpu=0.0)
    samples = story([DESKTOP], [IDLE], [idle], seconds=700, hz=0.5)
    (alert,) = heard(samples)
    assert alert.kind == "held_idle"
    assert alert.pid == 9
    assert kinds(samples, Limits(held_idle_s=1200)) == []


def test_a_program_with_busy_workers_or_a_small_context_holds_nothing_idle() -> None:
    idle = Program(9, memory={0: 12 * GIB}, busy={0: 0.0}, cpu=0.0)
    worker = Program(10, ppid=9, cpu=1.0)
    small = Program(11, memory={0: 300 * MIB}, busy={0: 0.0}, cpu=0.0)
    assert kinds(story([DESKTOP], [IDLE], [idle, worker, small], seconds=700, hz=0.5)) == []


def test_without_figures_nobody_is_called_idle() -> None:
    idle = Program(9, memory={0: 12 * GIB}, cpu=0.0)
    samples = story([DESKTOP], [IDLE], [idle], seconds=700, hz=0.5, putil=False)
    assert kinds(samples) == ["held_idle"]  # the whole device was idle: that is a figure too
    assert kinds(without(samples, "gpu_utilization")) == []


IDLE_ONE = Program(9, memory={0: 12 * GIB}, busy={0: 0.0}, cpu=0.0)


def test_what_a_program_started_works_for_it_however_far_below() -> None:
    between = Program(10, ppid=9, cpu=0.0)
    worker = Program(11, ppid=10, cpu=1.0)
    assert kinds(story([DESKTOP], [IDLE], [IDLE_ONE, between, worker], seconds=700, hz=0.5)) == []


def test_a_program_or_its_memory_that_is_missed_for_a_moment_is_idle_all_the_same() -> None:
    samples = story([DESKTOP], [IDLE], [IDLE_ONE], seconds=700, hz=0.5)
    blind = without(samples, "process_memory_bytes")
    missed = [
        replace(sample, processes=()) if number % 100 == 50 else blind[number] if number % 100 == 70 else sample
        for number, sample in enumerate(samples)
    ]
    assert kinds(missed) == ["held_idle"]


def test_what_was_not_seen_for_long_is_not_counted_as_idle() -> None:
    samples = story([DESKTOP], [IDLE], [IDLE_ONE], seconds=700, hz=0.5)
    blind = without(samples, "process_memory_bytes")
    assert kinds([*samples[:150], *blind[150:160], *samples[160:]]) == []


def test_another_program_of_the_same_number_is_told_of_too() -> None:
    samples = story([DESKTOP], [IDLE], [IDLE_ONE], seconds=1400, hz=0.5)
    later = [
        replace(sample, processes=tuple(replace(one, started_utc_s=START_UTC_S + 690) for one in sample.processes))
        for sample in samples[350:]
    ]
    found = heard([*samples[:350], *later], Limits(quiet_s=0.0))
    assert [(alert.kind, alert.pid) for alert in found] == [("held_idle", 9), ("held_idle", 9)]


def test_a_clock_that_is_set_back_makes_the_quiet_time_no_longer() -> None:
    waves = replace(FULL, temperature=lambda time_s: 60.0 if 60 <= time_s < 120 else 95.0)
    samples = story([LAPTOP], [waves], seconds=1000, hz=1, noise=0.0)
    back = [replace(sample, utc_s=sample.utc_s - 8 * 3600) for sample in samples[100:]]
    assert kinds([*samples[:100], *back]) == ["temperature", "temperature"]


def test_graphics_of_a_processor_share_memory_by_design() -> None:
    work = replace(FULL, shared=ramp(60 * MIB, 20 * MIB, 60.0))
    full = replace(TRAINING, memory={0: 7.8 * GIB})
    for other in (replace(LAPTOP, vendor="amd"), replace(LAPTOP, kind=DeviceKind.INTEGRATED)):
        assert kinds(story([other], [work], [full], seconds=120, hz=1)) == []


def ended(samples: Sequence[Sample], after: int, pid: int, presence: ProcessPresence | None = None) -> list[Sample]:
    """The process is gone, or a corpse, from a sample on."""
    result = list(samples[:after])
    for sample in samples[after:]:
        rest = tuple(process for process in sample.processes if process.pid != pid)
        if presence is not None:
            rest += tuple(replace(p, presence=presence) for p in sample.processes if p.pid == pid)
        result.append(replace(sample, processes=rest))
    return result


@pytest.mark.parametrize("presence", [None, ProcessPresence.EXITED, ProcessPresence.ZOMBIE])
def test_a_run_that_ended_is_told_with_time_and_energy(presence: ProcessPresence | None) -> None:
    samples = story([H200], [FULL], [TRAINING], seconds=420, hz=1, noise=0.0)
    (alert,) = heard(ended(samples, 300, 7, presence))
    assert alert.kind == "run_ended"
    assert "ended after 5 min 59 s" in text(alert)  # it had started a minute before
    assert "in the 4 min 59 s that were seen" in text(alert)
    watts = samples[0].devices[samples[0].inventory[0].key].values["power_w"]
    assert isinstance(watts, Reading)
    assert f"{float(watts.value) * 299 / 3600:,.1f} Wh" in text(alert)


def test_a_short_run_one_that_never_computed_and_one_missed_for_a_moment_are_no_news() -> None:
    samples = story([H200], [FULL], [TRAINING], seconds=420, hz=1)
    assert kinds(ended(samples, 60, 7)) == []
    idle = story([H200], [IDLE], [replace(TRAINING, busy={0: 0.0}, memory={0: 1 * GIB})], seconds=420, hz=1)
    assert kinds(ended(idle, 300, 7)) == []
    blink = [*ended(samples[:203], 200, 7), *samples[203:]]
    assert kinds(blink) == []


def blind(samples: Sequence[Sample], kind: str) -> list[Sample]:
    """Samples in which nothing can be seen of the GPU's processes."""
    result = []
    for sample in ended(samples, 0, 7):
        (info,) = sample.inventory
        info = replace(info, sources=("nvml", "drm"))
        devices = dict(sample.devices)
        health = [SourceHealth("nvml", SourceState.OK), SourceHealth("drm", SourceState.OK)]
        if kind in ("lost", "not_answering"):
            devices[info.key] = replace(devices[info.key], state=DeviceState(kind))
        elif kind == "left out":
            health[0] = SourceHealth("nvml", SourceState.NOT_ANSWERING)
        else:
            health[0] = SourceHealth("nvml", SourceState.FAILED)
            del devices[info.key]
        result.append(replace(sample, inventory=(info,), devices=devices, health=tuple(health)))
    return result


@pytest.mark.parametrize("kind", ["lost", "not_answering", "left out", "gone"])
def test_a_run_that_cannot_be_seen_has_not_ended(kind: str) -> None:
    samples = story([H200], [FULL], [TRAINING], seconds=420, hz=1)
    unseen = [*samples[:200], *blind(samples[200:300], kind)]
    assert "run_ended" not in kinds(unseen)
    assert "run_ended" not in kinds([*unseen, *samples[300:]])
    assert kinds([*unseen, *ended(samples, 300, 7)[300:]]).count("run_ended") == 1  # meanwhile it did


def test_the_energy_of_a_shared_gpu_is_nobodys() -> None:
    other = replace(TRAINING, pid=8, command=("python3", "other.py"))
    samples = story([H200], [FULL], [TRAINING, other], seconds=420, hz=1)
    (alert,) = heard(ended(samples, 300, 7))
    assert "Wh" not in text(alert)


def test_a_gpu_that_was_well_and_is_lost() -> None:
    well = story([H200], [FULL], seconds=10, hz=1)
    gone = story([H200], [replace(FULL, state=DeviceState.LOST)], seconds=30, hz=1)
    later = [replace(sample, monotonic_s=sample.monotonic_s + 20) for sample in gone]
    assert kinds([*well, *later]) == ["lost"]
    assert kinds(gone) == []


def listen(alarm: Alarm, seconds: Sequence[bool], begin_s: float = 0.0) -> list[Alert]:
    """A second each: whether readings come."""
    return [
        alert
        for number, comes in enumerate(seconds)
        for alert in alarm.hear(
            Instant(begin_s + number, START_UTC_S + begin_s + number), None if comes else "It is busy."
        )
    ]


WELL, SILENT = [True], [False]


def test_readings_that_do_not_come_any_more_are_said_once() -> None:
    (alert,) = listen(Alarm(), WELL * 5 + SILENT * 300)
    assert alert.kind == "lost"
    assert text(alert) == "Nothing has been read for 15 s. It is busy."


@pytest.mark.parametrize(
    "seconds",
    [
        WELL * 5 + SILENT * 12 + WELL * 60,  # a source that hangs is left out
        (WELL * 60 + SILENT * 3) * 20,
        SILENT * 30 + WELL * 5,  # the first reading takes long
    ],
)
def test_a_hitch_is_no_silence(seconds: list[bool]) -> None:
    assert listen(Alarm(), seconds) == []


def test_a_sampler_that_dies_again_and_again_is_silent_too_and_said_once() -> None:
    assert len(listen(Alarm(Limits(quiet_s=0.0)), WELL + (SILENT * 8 + WELL * 3) * 30)) == 1


def test_silence_from_the_start_and_one_that_came_back() -> None:
    assert len(listen(Alarm(), SILENT * 60)) == 1
    alarm = Alarm()
    assert len(listen(alarm, WELL + SILENT * 30 + WELL * 700 + SILENT * 30)) == 2
    assert listen(Alarm(Limits(muted=frozenset({"lost"}))), WELL + SILENT * 60) == []


def test_an_alert_knows_how_long_it_went_on() -> None:
    samples = story([H200], [FULL], [TRAINING], seconds=420, hz=1, noise=0.0)
    (alert,) = heard(ended(samples, 300, 7))
    began_s = samples[0].processes[0].started_utc_s
    assert began_s is not None
    assert alert.utc_s - alert.seconds == pytest.approx(began_s)


def test_texts_and_values_fit() -> None:
    for kind in KINDS:
        assert {name for _l, name, _f, _c in Formatter().parse(kind.text) if name} <= {
            "gpu", "temperature", "reason", "shared", "used", "total", "time", "program", "pid", "memory", "energy",
        }  # fmt: skip


class _Fails:
    def look(self, sample: Sample, limits: Limits) -> tuple[Sign, ...]:
        raise ZeroDivisionError


class _Always:
    def look(self, sample: Sample, limits: Limits) -> tuple[Sign, ...]:
        return (Sign("x", State.HOLDS),)


def test_a_kind_that_fails_does_not_stop_the_others() -> None:
    alarm = Alarm(kinds=(Kind("a", _Fails, "", ""), Kind("b", _Always, "", "")))
    assert [alert.kind for alert in alarm.look(story([H200], [IDLE], seconds=1)[0])] == ["b"]


def test_missing_values_are_never_an_alert() -> None:
    nothing = Work(temperature=None, throttle=None, busy=None, sm=None, clock=None)
    assert kinds(story([LAPTOP], [nothing], [TRAINING], seconds=60, hz=1, missing=0.5)) == []


def test_a_program_that_gave_its_memory_back_meanwhile_was_not_idle() -> None:
    held = Program(9, memory={0: lambda time_s: (4 if time_s < 60 or time_s > 3500 else 0.1) * GIB}, cpu=0.0)
    busy = replace(held, busy={0: 0.0})
    assert kinds(story([DESKTOP], [IDLE], [busy], seconds=3560, hz=0.2), Limits(held_idle_s=600)) == []


def test_what_still_holds_after_the_quiet_time_is_said_then() -> None:
    waves = replace(FULL, temperature=lambda time_s: 60.0 if 60 <= time_s < 120 else 95.0)
    samples = story([LAPTOP], [waves], seconds=1000, hz=1, noise=0.0)
    assert kinds(samples) == ["temperature", "temperature"]


def test_an_alert_is_read_in_the_language_of_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is looked at hours later, after a switch."""

    class Loud(gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            return re.sub(r"[a-z]+(?![a-z}])", lambda found: found[0].upper(), message)

    (alert,) = heard(ended(story([H200], [FULL], [TRAINING], seconds=420, hz=1, noise=0.0), 300, 7))
    assert "The GPU used" in text(alert)
    monkeypatch.setitem(messages._state, "catalogue", Loud())
    assert "THE GPU USED" in text(alert)
