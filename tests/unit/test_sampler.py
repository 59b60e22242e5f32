"""The sweep: a source that raises, is slow or absent never stops the others, and what happened is in its health."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpumon_gui.core.clock import FakeClock, Instant
from gpumon_gui.core.identity import key_of
from gpumon_gui.core.model import (
    Demand,
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    DeviceState,
    HostSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    SourceHealth,
    SourceState,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.base import Note, SourceUnavailable
from gpumon_gui.telemetry.sampler import NOTE_S, REOPEN_ABSENT_S, REOPEN_FAILED_S, SLOW_FACTOR, STRIKES, Sampler
from gpumon_gui.telemetry.synthetic.host import Person, SyntheticHost
from gpumon_gui.telemetry.synthetic.loads import steady


class Scripted:
    """A source that does what the test says. ``at``: what each call does first."""

    def __init__(self, clock: FakeClock, name: str = "one", pci: str = "00000000:01:00.0") -> None:
        self.clock = clock
        self.name = name
        self.min_period_s = 0.1
        self.budget_s = 0.1
        self.takes_s = 0.0
        self.info = DeviceInfo(key_of(pci), f"card of {name}", pci_address=pci, sources=(name,))
        self.values: dict[str, Value] = {"power_w": Reading(100.0, name)}
        self.uses: tuple[ProcessUse, ...] = ()
        self.told: list[Note] = []
        self.words = ""
        self.at: dict[str, Callable[[], None]] = {}
        self.calls: list[str] = []

    def _call(self, what: str) -> None:
        self.calls.append(what)
        if what in self.at:
            self.at[what]()

    def open(self) -> None:
        self._call("open")

    def devices(self, now: Instant) -> tuple[DeviceInfo, ...]:
        self._call("devices")
        return (self.info,)

    def read(self, now: Instant, demand: Demand) -> Mapping[DeviceKey, DeviceSample]:
        self._call("read")
        self.clock.advance(self.takes_s)
        return {self.info.key: DeviceSample(self.info.key, values=self.values)}

    def read_processes(self, now: Instant, demand: Demand) -> tuple[ProcessUse, ...]:
        self._call("processes")
        return self.uses

    @property
    def remark(self) -> str:
        return self.words

    def notes(self) -> tuple[Note, ...]:
        self._call("notes")
        told, self.told = tuple(self.told), []
        return told

    def release(self) -> None:
        self._call("release")

    def close(self) -> None:
        self._call("close")


class Bench:
    """A sampler over scripted sources."""

    def __init__(self, *names: str) -> None:
        self.clock = FakeClock()
        self.sources = [
            Scripted(self.clock, name, f"00000000:{number + 1:02x}:00.0")
            for number, name in enumerate(names or ("one", "two"))
        ]
        self.entered: list[str] = []
        self.host = SyntheticHost(self.clock, [Person(7, "python", cpu=steady(1.0))])
        self.sampler = Sampler(self.sources, self.host, self.clock, self.entered.append)

    def sweep(self, demand: Demand | None = None) -> Sample:
        sample = self.sampler.sweep(demand or Demand())
        self.clock.advance(1.0)
        return sample


def health(sample: Sample, name: str) -> SourceHealth:
    return next(one for one in sample.health if one.name == name)


def fail(error: Exception) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


# -- the sweep itself ------------------------------------------------------------------------------------------------


def test_times_and_numbers_of_a_sweep() -> None:
    bench = Bench()
    first, second = bench.sweep(), bench.sweep()
    assert (first.sequence, second.sequence) == (1, 2)
    assert (first.interval_s, second.interval_s) == (0.0, 1.0)
    assert second.monotonic_s - first.monotonic_s == second.utc_s - first.utc_s == 1.0
    assert [info.name for info in first.inventory] == ["card of one", "card of two"]


def test_a_watchdog_knows_which_source_is_being_touched() -> None:
    bench = Bench()
    bench.sweep()
    assert bench.entered == ["one", "", "two", "", "host", ""]


def test_processes_are_read_only_when_wanted() -> None:
    bench = Bench("one")
    bench.sources[0].uses = (ProcessUse(7, bench.sources[0].info.key, UseKind.COMPUTE),)
    assert bench.sweep(Demand(processes=False)).processes == ()
    assert "processes" not in bench.sources[0].calls
    (process,) = bench.sweep().processes
    assert (process.pid, process.name, process.presence) == (7, "python", ProcessPresence.RUNNING)


def test_counters_become_speeds_for_devices_and_processes() -> None:
    bench = Bench("one")
    source = bench.sources[0]
    source.uses = (ProcessUse(7, source.info.key, UseKind.COMPUTE),)
    source.values = {"energy_j": Reading(1000.0, "one")}
    bench.sweep()
    source.values = {"energy_j": Reading(1250.0, "one")}
    sample = bench.sweep()
    assert sample.devices[source.info.key].values["power_energy_w"] == Reading(250.0, "one")
    speed = sample.processes[0].values["process_read_bytes_per_s"]
    assert isinstance(speed, Reading)
    assert speed.value == pytest.approx(9e6)


def test_closing_closes_everything_that_was_opened() -> None:
    bench = Bench()
    bench.sources[0].at["open"] = fail(SourceUnavailable("no-driver", state=SourceState.ABSENT))
    bench.sources[1].at["close"] = fail(RuntimeError("will not"))
    bench.sweep()
    bench.sampler.close()
    assert "close" not in bench.sources[0].calls
    assert "close" in bench.sources[1].calls


# -- trouble ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["open", "devices", "read", "processes", "notes"])
def test_a_bug_in_one_source_is_told_and_hides_nobody(where: str) -> None:
    bench = Bench()
    bench.sources[0].at[where] = fail(ZeroDivisionError("division by zero"))
    sample = bench.sweep()
    broken = health(sample, "one")
    assert (broken.state, broken.code) == (SourceState.FAILED, "bug")
    assert "ZeroDivisionError" in broken.detail
    assert health(sample, "two").state is SourceState.OK
    assert sample.devices[bench.sources[1].info.key].values["power_w"] == Reading(100.0, "two")
    assert bench.entered == ["one", "", "two", "", "host", ""]


def test_a_source_that_goes_away_leaves_its_cards_in_the_list_without_values() -> None:
    bench = Bench("one")
    bench.sweep()
    bench.sources[0].at["devices"] = fail(SourceUnavailable("driver-not-loaded", "NVML_ERROR_DRIVER_NOT_LOADED"))
    sample = bench.sweep()
    assert [info.name for info in sample.inventory] == ["card of one"]
    (device,) = sample.devices.values()
    assert device.values == {"power_w": Missing(Reason.SOURCE_GONE, "one", "driver-not-loaded")}
    one = health(sample, "one")
    assert (one.state, one.code, one.failures) == (SourceState.FAILED, "driver-not-loaded", 1)
    del bench.sources[0].at["devices"]
    recovered = bench.sweep()
    assert recovered.devices[bench.sources[0].info.key].values["power_w"] == Reading(100.0, "one")
    assert health(recovered, "one").state is SourceState.OK


@pytest.mark.parametrize(
    ("state", "pause_s", "failures"),
    [(SourceState.ABSENT, REOPEN_ABSENT_S, 0), (SourceState.FAILED, REOPEN_FAILED_S, 1)],
)
def test_a_source_that_cannot_be_opened_is_tried_again_after_a_pause(
    state: SourceState, pause_s: float, failures: int
) -> None:
    bench = Bench("one")
    bench.sources[0].at["open"] = fail(SourceUnavailable("no-driver", state=state))
    assert health(bench.sweep(), "one").failures == failures
    for _ in range(int(pause_s) - 1):
        sample = bench.sweep()
        assert health(sample, "one").code == "no-driver"
    assert bench.sources[0].calls == ["open"]
    del bench.sources[0].at["open"]
    assert health(bench.sweep(), "one").state is SourceState.OK


def test_a_host_that_fails_costs_only_its_own_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench("one")

    def broken(_now: Instant) -> HostSample:
        raise OSError("proc is not mounted")

    monkeypatch.setattr(bench.host, "read_host", broken)
    sample = bench.sweep()
    assert sample.host == HostSample()
    assert (health(sample, "host").state, health(sample, "host").code) == (SourceState.FAILED, "bug")
    assert sample.devices[bench.sources[0].info.key].state is DeviceState.OK


# -- pace ------------------------------------------------------------------------------------------------------------


def test_a_source_is_not_read_faster_than_it_has_new_values() -> None:
    bench = Bench("one")
    bench.sources[0].min_period_s = 4.0
    for _ in range(9):
        bench.sweep()
    assert bench.sources[0].calls.count("read") == 3


def test_three_strikes_over_budget_slow_a_source_down_and_say_so() -> None:
    bench = Bench()
    slow = bench.sources[0]
    slow.min_period_s = 1.0
    slow.takes_s = 0.4
    for strike in range(STRIKES):
        sample = bench.sweep()
        expected = SourceState.SLOW if strike == STRIKES - 1 else SourceState.OK
        assert health(sample, "one").state is expected
    assert (health(sample, "one").code, health(sample, "two").state) == ("over-budget", SourceState.OK)
    before = slow.calls.count("read")
    for _ in range(int(SLOW_FACTOR)):
        sample = bench.sweep()
    assert slow.calls.count("read") - before == 1
    assert slow.info.key in sample.devices, "what it read last stays in sight"
    slow.takes_s = 0.0
    for _ in range(2 * int(SLOW_FACTOR)):
        sample = bench.sweep()
    assert health(sample, "one").state is SourceState.OK


def test_one_slow_read_is_forgiven() -> None:
    bench = Bench("one")
    for takes_s in (0.4, 0.4, 0.0, 0.4, 0.4):
        bench.sources[0].takes_s = takes_s
        assert health(bench.sweep(), "one").state is SourceState.OK


def test_each_source_answers_for_its_own_time_only() -> None:
    bench = Bench("slow", "quick")
    bench.sources[0].takes_s = 0.4
    for _ in range(5):
        sample = bench.sweep()
    assert health(sample, "slow").duration_s == pytest.approx(0.4)
    assert health(sample, "quick").duration_s == 0.0
    assert health(sample, "quick").state is SourceState.OK


# -- what is told ----------------------------------------------------------------------------------------------------


def test_impossible_values_are_counted_for_devices_and_processes() -> None:
    bench = Bench("one")
    source = bench.sources[0]
    wrong = Missing(Reason.IMPLAUSIBLE, "one", "4.29497e+09")
    source.values = {"power_w": wrong, "temperature_c": wrong, "fan_ratio": Missing(Reason.NOT_SUPPORTED, "one")}
    source.uses = (ProcessUse(7, source.info.key, UseKind.COMPUTE, {"process_memory_bytes": wrong}),)
    assert health(bench.sweep(), "one").implausible == 3
    assert health(bench.sweep(), "one").implausible == 6


def test_a_note_is_shown_for_a_while() -> None:
    bench = Bench("one")
    bench.sources[0].told = [Note("driver-restarted", "why", SourceState.FAILED)]
    told = health(bench.sweep(), "one")
    assert (told.code, told.detail, told.state) == ("driver-restarted", "why", SourceState.FAILED)
    for _ in range(int(NOTE_S) - 1):
        assert health(bench.sweep(), "one").code == "driver-restarted"
    assert health(bench.sweep(), "one").code == ""


def test_notes_of_one_kind_are_told_together() -> None:
    bench = Bench("one")
    bench.sources[0].told = [Note("driver-restarted"), Note("gpu-lost", "card A"), Note("gpu-lost", "card B")]
    told = health(bench.sweep(), "one")
    assert (told.code, told.detail) == ("gpu-lost", "card A, card B")


def test_rest_is_shown_only_while_it_lasts() -> None:
    bench = Bench("one")
    for _ in range(3):
        bench.sources[0].told = [Note("resting", state=SourceState.RESTING)]
        assert health(bench.sweep(), "one").state is SourceState.RESTING
    assert health(bench.sweep(), "one").state is SourceState.OK


def test_letting_go_reaches_every_source_even_if_one_will_not() -> None:
    bench = Bench()
    bench.sweep()
    bench.sources[0].at["release"] = fail(RuntimeError("no"))
    bench.sampler.release()
    assert "release" in bench.sources[1].calls


def test_a_process_that_no_source_mentions_any_more_is_gone() -> None:
    bench = Bench("one")
    source = bench.sources[0]
    source.uses = (ProcessUse(7, source.info.key, UseKind.COMPUTE), ProcessUse(8, source.info.key, UseKind.COMPUTE))
    assert [process.pid for process in bench.sweep().processes] == [7, 8]
    source.uses = ()
    assert bench.sweep().processes == ()


def test_processes_come_from_the_host_with_what_the_sources_saw() -> None:
    bench = Bench("one")
    source = bench.sources[0]
    source.uses = (ProcessUse(99, source.info.key, UseKind.COMPUTE),)
    (process,) = bench.sweep().processes
    assert process == ProcessSample(99, None, "", ProcessPresence.EXITED, uses=source.uses)
