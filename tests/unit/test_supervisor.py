"""Every rule of the supervisor, on a clock that the test moves and with processes that do as they are told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import pairwise
from types import MappingProxyType

import pytest

from gpumon_gui import __version__
from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import (
    Demand,
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    DeviceState,
    EngineKind,
    EngineSample,
    Sample,
    SourceHealth,
    SourceState,
)
from gpumon_gui.core.status_text import STATUS_TEXT, status_text
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.telemetry.blackbox import Pulse
from gpumon_gui.telemetry.process import StopOutcome
from gpumon_gui.telemetry.sampler_status import Event, Limits, SampleReady, SamplerState, SamplerStatus, StatusChanged
from gpumon_gui.telemetry.supervisor import Supervisor
from gpumon_gui.telemetry.wire import Bye, Damaged, Ended, Fault, Frame, Hello, Message

BOTH = DeviceKey("pci:1")  # seen by nvml and drm
ONLY = DeviceKey("pci:2")  # seen by nvml alone
OTHER = DeviceKey("pci:0")  # seen by drm alone
STEP_S = 0.5


class FakeProcess:
    """A sampler process: beats and delivers a frame each second unless told otherwise."""

    def __init__(self, skip: frozenset[str], clock: FakeClock, pid: int) -> None:
        self.skip = skip
        self.pid = pid
        self.sent: list[Demand] = []
        self.outcome = StopOutcome.KILLED
        self.ending = ""
        self.is_beating = True
        self.is_reading = True
        self.is_raising = False
        self.inbox: list[Message] = [Hello(__version__, pid)]
        self._clock = clock
        self._code: int | None = None
        self._pulse = Pulse()
        self._frames = 0
        self._frame_s = -1.0

    def tick(self) -> None:
        """Half a second passes."""
        if self._code is not None:
            return
        if self.is_beating:
            self._pulse = dataclasses.replace(self._pulse, beats=self._pulse.beats + 1)
        now = self._clock.now()
        interval_s = self.sent[-1].interval_s if self.sent else 0.0
        due = interval_s > 0 and now.monotonic_s - self._frame_s >= interval_s
        if self.is_beating and self.is_reading and not self._pulse.busy and due:
            self._frame_s = now.monotonic_s
            if self.is_raising:
                self.inbox.append(Fault("Traceback\nRuntimeError: broken"))
            else:
                self._frames += 1
                self.inbox.append(Frame(sample(self._frames, now.monotonic_s, self.skip)))

    def enter(self, name: str) -> None:
        """Touch a source and, unless it is left out, stay in it."""
        if name not in self.skip:
            self._pulse = dataclasses.replace(self._pulse, serial=self._pulse.serial + 1, busy=name)

    def leave(self) -> None:
        self._pulse = dataclasses.replace(self._pulse, serial=self._pulse.serial + 1, busy="")

    def die(self, code: int) -> None:
        self._code = code
        self.inbox.append(Ended(code))

    # what the supervisor uses

    def send(self, demand: Demand) -> None:
        self.sent.append(demand)

    def receive(self, timeout_s: float) -> tuple[Message, ...]:
        messages, self.inbox = tuple(self.inbox), []
        return messages

    def poke(self) -> None:
        pass

    def pulse(self) -> Pulse:
        return self._pulse

    def exit_code(self) -> int | None:
        return self._code

    def tail(self) -> str:
        return ""

    def stop(self, timeout_s: float = 2.0) -> StopOutcome:
        return self._end("stopped", StopOutcome.ENDED)

    def kill(self, timeout_s: float = 0.5) -> StopOutcome:
        return self._end("killed", StopOutcome.KILLED)

    def _end(self, how: str, outcome: StopOutcome) -> StopOutcome:
        self.ending = self.ending or how
        if self.outcome is StopOutcome.STUCK:
            return self.outcome
        if self._code is None:
            self._code = -9
        return outcome


class World:
    """A supervisor, its clock and all processes it ever started."""

    def __init__(self, demand: Demand | None = None) -> None:
        self.clock = FakeClock()
        self.processes: list[FakeProcess] = []
        self.events: list[Event] = []
        self.on_start: Callable[[FakeProcess], None] = lambda process: None
        self.start_fault: OSError | None = None
        self.supervisor = Supervisor(self._start, self.clock, demand)

    def _start(self, skip: frozenset[str]) -> FakeProcess:
        if self.start_fault is not None:
            raise self.start_fault
        process = FakeProcess(skip, self.clock, 100 + len(self.processes))
        self.processes.append(process)
        self.on_start(process)
        return process

    def run(self, seconds: float) -> list[Event]:
        """Let time pass in steps, as the worker does; what was told meanwhile."""
        told: list[Event] = []
        for _step in range(round(seconds / STEP_S)):
            self.clock.advance(STEP_S)
            for process in self.processes:
                process.tick()
            told += self.supervisor.step(0.0)
        self.events += told
        return told

    def until(self, state: SamplerState, code: str, limit_s: float = 400.0) -> float:
        """Let time pass until a status was told; seconds it took."""
        for step in range(round(limit_s / STEP_S)):
            if any(status.state is state and status.code == code for status in statuses(self.run(STEP_S))):
                return (step + 1) * STEP_S
        raise AssertionError(f"{state} {code} never came: {statuses(self.events)}")

    def without_nvml(self) -> FakeProcess:
        """NVML hangs: the process that goes on without it."""
        self.last.enter("nvml")
        self.until(SamplerState.HUNG, "hung")
        self.run(1)
        return self.last

    @property
    def last(self) -> FakeProcess:
        return self.processes[-1]

    @property
    def status(self) -> SamplerStatus:
        return self.supervisor.status

    @property
    def now_s(self) -> float:
        return self.clock.now().monotonic_s


def sample(number: int, now_s: float, skip: frozenset[str] = frozenset()) -> Sample:
    """Three cards; with nvml left out only what drm sees."""
    drm = Reading(40.0, "drm")
    nvml = "nvml" not in skip
    both: dict[str, Reading | Missing] = {"temperature_c": drm}
    infos = [
        DeviceInfo(OTHER, "Radeon", pci_address="00000000:00:00.0", sources=("drm",)),
        DeviceInfo(BOTH, "card1", pci_address="00000000:01:00.0", sources=("drm",)),
    ]
    devices = {OTHER: DeviceSample(OTHER, values={"temperature_c": drm})}
    if nvml:
        both["power_w"] = Reading(100.0, "nvml")
        infos[1] = dataclasses.replace(infos[1], name="GeForce", sources=("nvml", "drm"))
        infos.insert(1, DeviceInfo(ONLY, "Tesla", pci_address="00000000:02:00.0", sources=("nvml",)))
        devices[ONLY] = DeviceSample(
            ONLY,
            values={"power_w": Reading(200.0, "nvml"), "fan_ratio": Missing(Reason.NOT_SUPPORTED, "nvml")},
            engines=(EngineSample("e", "Compute", EngineKind.COMPUTE, Reading(0.5, "nvml")),),
        )
    devices[BOTH] = DeviceSample(BOTH, values=both)
    health = tuple(SourceHealth(name, SourceState.OK) for name in ("nvml", "drm") if name not in skip)
    return Sample(number, now_s, now_s, 1.0, tuple(infos), MappingProxyType(devices), health=health)


def statuses(events: list[Event]) -> list[SamplerStatus]:
    return [event.status for event in events if isinstance(event, StatusChanged)]


def samples(events: list[Event]) -> list[Sample]:
    return [event.sample for event in events if isinstance(event, SampleReady)]


@pytest.fixture
def world() -> World:
    """A sampler that has been live for a while."""
    made = World()
    made.run(5)
    assert made.status.state is SamplerState.LIVE
    return made


def test_starts_with_the_demand_and_becomes_live_with_the_first_sample() -> None:
    world = World(Demand(interval_s=2.0))
    assert world.status == SamplerStatus(SamplerState.STARTING, "starting", since_s=world.now_s)
    told = world.run(3)
    assert world.last.sent == [Demand(interval_s=2.0)]
    assert samples(told)[0].inventory[0].name == "Radeon"
    assert [(status.state, status.code) for status in statuses(told)] == [(SamplerState.LIVE, "")]


class TestSilence:
    def test_names_the_source_that_is_busy(self, world: World) -> None:
        world.last.enter("nvml")
        assert world.until(SamplerState.SILENT, "source-silent") <= 5.0
        assert world.status.source == "nvml"
        assert world.now_s - world.status.since_s >= 2.0
        assert {status.code for status in statuses(world.events)} == {"", "source-silent"}

    def test_of_a_sampler_between_two_sources(self, world: World) -> None:
        world.last.is_reading = False
        assert world.until(SamplerState.SILENT, "sampler-silent") <= 5.0
        assert world.status.source == ""

    def test_ends_when_the_source_returns(self, world: World) -> None:
        world.last.enter("nvml")
        world.until(SamplerState.SILENT, "source-silent")
        world.last.leave()
        told = world.run(1)
        assert samples(told)
        assert world.status.state is SamplerState.LIVE
        assert len(world.processes) == 1

    def test_waits_for_three_intervals(self) -> None:
        world = World(Demand(interval_s=10.0))
        world.run(1)
        world.last.is_reading = False
        world.run(29)
        assert world.status.state is SamplerState.LIVE
        assert [status.state for status in statuses(world.run(3))] == [SamplerState.SILENT]

    def test_a_busy_source_is_told_in_time_at_slow_speeds_too(self) -> None:
        world = World(Demand(interval_s=10.0))
        world.run(1)
        world.last.enter("nvml")
        assert world.until(SamplerState.SILENT, "source-silent") <= 5.0

    def test_a_shorter_interval_counts_from_now(self) -> None:
        world = World(Demand(interval_s=10.0))
        world.run(9)
        world.last.is_reading = False
        world.supervisor.set_demand(Demand(interval_s=1.0))
        world.run(2)
        assert world.status.state is SamplerState.LIVE

    def test_a_pause_is_no_silence(self, world: World) -> None:
        world.supervisor.set_demand(Demand(interval_s=0.0))
        told = world.run(200)
        assert samples(told) == []
        assert statuses(told) == []
        world.supervisor.set_demand(Demand())
        assert samples(world.run(2))
        assert len(world.processes) == 1

    def test_a_suspended_computer_is_no_silence(self, world: World) -> None:
        world.clock.advance(8 * 3600)
        told = world.run(5)
        assert statuses(told) == []
        assert samples(told)
        assert len(world.processes) == 1

    def test_a_sampler_that_moves_nothing_is_ended(self, world: World) -> None:
        first = world.last
        first.is_reading = False
        world.until(SamplerState.DEAD, "stuck")
        assert first.ending == "killed"
        world.run(2)
        assert len(world.processes) == 2
        assert world.last.skip == frozenset()


class TestHang:
    def test_the_process_is_killed_and_started_without_the_source(self, world: World) -> None:
        hung = world.last
        hung.enter("nvml")
        took_s = world.until(SamplerState.HUNG, "hung")
        assert 10.0 < took_s <= 11.0
        assert hung.ending == "killed"
        world.run(1)
        assert world.last.skip == {"nvml"}
        assert world.status.state is SamplerState.LIVE
        assert (world.status.code, world.status.source) == ("skipped-hung", "nvml")
        assert world.status.next_try_s is not None
        assert 25.0 <= world.status.next_try_s - world.now_s <= 30.0

    def test_its_devices_stay_without_numbers_and_the_others_go_on(self, world: World) -> None:
        world.last.enter("nvml")
        world.until(SamplerState.HUNG, "hung")
        newest = samples(world.run(2))[-1]
        assert [info.name for info in newest.inventory] == ["Radeon", "Tesla", "GeForce"]
        gone = Missing(Reason.NOT_ANSWERING, "nvml")
        only = newest.devices[ONLY]
        assert only.state is DeviceState.NOT_ANSWERING
        assert only.values == {"power_w": gone, "fan_ratio": gone}
        assert only.engines == (EngineSample("e", "Compute", EngineKind.COMPUTE, gone),)
        both = newest.devices[BOTH]
        assert both.state is DeviceState.OK
        assert both.values == {"temperature_c": Reading(40.0, "drm"), "power_w": gone}
        assert newest.devices[OTHER].values == {"temperature_c": Reading(40.0, "drm")}
        assert newest.health[-1] == SourceHealth("nvml", SourceState.NOT_ANSWERING, "hung")
        assert [health.name for health in newest.health] == ["drm", "nvml"]

    def test_a_source_that_never_delivered_has_health_only(self) -> None:
        world = World()
        world.on_start = lambda process: process.enter("nvml")
        world.until(SamplerState.HUNG, "hung")
        newest = samples(world.run(2))[-1]
        assert [info.name for info in newest.inventory] == ["Radeon", "card1"]
        assert newest.health[-1].state is SourceState.NOT_ANSWERING

    def test_it_is_tried_again_beside_the_running_sampler(self, world: World) -> None:
        world.last.enter("nvml")
        world.until(SamplerState.HUNG, "hung")
        world.on_start = lambda process: process.enter("nvml")  # still hung
        world.run(1)
        running = world.last
        for pause_s in (30, 60, 120, 300, 300):
            tries = len(world.processes)
            told = world.run(pause_s + 40)
            assert len(world.processes) == tries + 1
            assert world.last.ending == "killed"
            assert running.ending == ""
            assert world.status.state is SamplerState.LIVE
            times = [each.monotonic_s for each in samples(told)]
            assert max(late - early for early, late in pairwise(times)) <= 1.5  # nobody is disturbed by the try

    def test_a_source_that_answers_again_takes_over_without_a_gap(self, world: World) -> None:
        without = world.without_nvml()
        told = world.run(32)
        assert world.last is not without
        assert world.last.skip == frozenset()
        assert without.ending == "stopped"
        assert world.status == dataclasses.replace(world.status, state=SamplerState.LIVE, code="", source="")
        assert samples(told)[-1].devices[ONLY].values["power_w"] == Reading(200.0, "nvml")
        numbers = [each.sequence for each in samples(world.events)]
        assert numbers == sorted(set(numbers))

    def test_two_hung_sources_leave_the_third(self, world: World) -> None:
        world.last.enter("nvml")
        world.on_start = lambda process: process.enter("drm")
        world.until(SamplerState.HUNG, "hung")
        world.run(1)
        world.on_start = lambda process: None
        world.until(SamplerState.HUNG, "hung")
        world.run(2)
        assert world.last.skip == {"nvml", "drm"}
        newest = samples(world.run(2))[-1]
        assert {health.name for health in newest.health if health.state is SourceState.NOT_ANSWERING} == {"nvml", "drm"}

    def test_a_source_that_cannot_be_left_out_does_not_loop_at_full_speed(self, world: World) -> None:
        def stubborn(process: FakeProcess) -> None:
            process.skip = process.skip - {"nvml"}
            process.enter("nvml")
            process.skip = process.skip | {"nvml"}

        world.on_start = stubborn
        stubborn(world.last)
        world.run(120)
        assert len(world.processes) <= 12
        assert ("stuck", SamplerState.DEAD) in {(status.code, status.state) for status in statuses(world.events)}

    def test_no_second_process_gets_stuck_in_the_same_kernel_call(self, world: World) -> None:
        stuck = world.last
        stuck.outcome = StopOutcome.STUCK
        stuck.enter("nvml")
        world.until(SamplerState.HUNG, "hung")
        world.run(100)
        assert len(world.processes) == 2  # no try while it is there
        stuck.die(-9)
        world.run(130)
        assert len(world.processes) == 3
        assert world.status.code == ""


class TestDeath:
    def test_is_told_at_once_with_what_killed_it(self, world: World) -> None:
        world.last.enter("nvml")
        world.last.die(-11)
        told = world.run(STEP_S)
        [status] = statuses(told)
        assert (status.state, status.code, status.source) == (SamplerState.DEAD, "died-in-source", "nvml")
        assert status.detail == "SIGSEGV"
        assert status.next_try_s == world.now_s + 0.5

    def test_restarts_slower_and_slower(self) -> None:
        world = World()
        started: list[float] = []

        def stillborn(process: FakeProcess) -> None:
            started.append(world.now_s)
            process.die(1)

        world.on_start = stillborn
        world.run(120)
        pauses = [late - early for early, late in pairwise(started)]
        expected = [0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 30.0]
        for pause_s, wanted_s in zip(pauses[:7], expected, strict=True):
            assert wanted_s <= pause_s <= wanted_s + 2 * STEP_S

    def test_a_minute_of_health_forgets_earlier_deaths(self, world: World) -> None:
        for _death in range(4):
            world.last.die(1)
            world.run(12)
        assert world.status.state is SamplerState.LIVE
        world.run(62)
        world.last.die(1)
        world.run(STEP_S)
        assert world.status.next_try_s == world.now_s + 0.5

    def test_says_that_it_restarts_then_lives(self, world: World) -> None:
        world.last.die(1)
        states = [status.state for status in statuses(world.run(3))]
        assert states == [SamplerState.DEAD, SamplerState.RESTARTING, SamplerState.LIVE]

    def test_numbers_of_samples_go_on(self, world: World) -> None:
        world.last.die(1)
        world.run(4)
        numbers = [each.sequence for each in samples(world.events)]
        assert len(numbers) >= 6
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))

    def test_a_source_that_kills_twice_in_a_row_is_left_out(self, world: World) -> None:
        for _death in range(2):
            world.last.enter("nvml")
            world.last.die(-11)
            world.run(2)
        assert world.last.skip == {"nvml"}
        assert (world.status.code, world.status.source) == ("skipped-crash", "nvml")
        newest = samples(world.events)[-1]
        assert newest.health[-1] == SourceHealth("nvml", SourceState.NOT_ANSWERING, "crashed", "SIGSEGV")
        assert newest.devices[ONLY].state is DeviceState.NOT_ANSWERING
        world.run(35)  # tried again, and it is cured
        assert world.last.skip == frozenset()
        assert world.status.code == ""

    def test_two_different_sources_are_not_blamed(self, world: World) -> None:
        for source in ("nvml", "drm", "nvml"):
            world.last.enter(source)
            world.last.die(-11)
            world.run(4)
        assert world.last.skip == frozenset()

    def test_once_an_hour_is_not_twice_in_a_row(self, world: World) -> None:
        for _death in range(3):
            world.last.enter("nvml")
            world.last.die(-11)
            world.run(90)
        assert world.last.skip == frozenset()

    @pytest.mark.parametrize("how", ["dies", "dies with its first sample", "is of another version"])
    def test_a_trial_that_is_of_no_use_takes_nothing_over(self, world: World, how: str) -> None:
        running = world.without_nvml()

        def try_again(process: FakeProcess) -> None:
            if how == "is of another version":
                process.inbox = [Hello("0.0.1", process.pid)]
                return
            if how == "dies with its first sample":
                process.inbox.append(Frame(sample(1, world.now_s)))
            process.die(-11)

        world.on_start = try_again
        told = world.run(35)
        assert len(world.processes) > 2
        assert running.ending == ""
        assert all(status.state is SamplerState.LIVE for status in statuses(told))
        assert world.status.code == "skipped-hung"

    def test_what_hangs_during_a_trial_that_reads_it_too_is_back_with_it(self, world: World) -> None:
        running = world.without_nvml()
        world.on_start = lambda process: process.enter("nvml")
        world.run(31)
        trial = world.last
        running.enter("drm")
        world.until(SamplerState.HUNG, "hung", 15)
        trial.leave()
        world.run(3)
        assert (world.status.state, world.status.code) == (SamplerState.LIVE, "")
        assert {entry.state for entry in samples(world.events)[-1].health} == {SourceState.OK}
        started = len(world.processes)
        world.run(400)
        assert len(world.processes) == started

    def test_while_a_trial_is_under_way_starts_again_without_the_source(self, world: World) -> None:
        running = world.without_nvml()
        world.on_start = lambda process: process.enter("nvml")
        world.run(31)
        assert world.last.skip == frozenset()  # the trial
        assert (world.status.state, world.status.code) == (SamplerState.LIVE, "trying-again")
        running.die(1)
        world.run(2)
        assert world.last.skip == {"nvml"}
        assert world.status.state is SamplerState.LIVE

    def test_no_sign_of_life_ends_the_process(self, world: World) -> None:
        frozen = world.last
        frozen.is_beating = False
        assert world.until(SamplerState.SILENT, "sampler-silent") <= 5.0
        world.until(SamplerState.DEAD, "stuck", 4.0)
        assert frozen.ending == "killed"
        world.run(2)
        assert world.status.state is SamplerState.LIVE

    def test_something_unreadable_ends_the_process(self, world: World) -> None:
        broken = world.last
        broken.inbox.append(Damaged("not a message: b'x'"))
        assert statuses(world.run(STEP_S))[0].code == "damaged"
        assert broken.ending == "killed"

    def test_a_closed_pipe_of_a_living_process_ends_it(self, world: World) -> None:
        broken = world.last
        broken.inbox.append(Ended(None))
        assert statuses(world.run(STEP_S))[0].code == "died"
        assert broken.ending == "killed"

    def test_the_last_sample_before_the_end_is_delivered(self, world: World) -> None:
        world.last.inbox += [Frame(sample(99, world.now_s)), Bye()]
        world.last.die(0)
        told = world.run(STEP_S)
        assert samples(told)[-1].sequence == 99
        assert statuses(told)[-1].detail == "exit code 0"


class TestStart:
    def test_that_fails_is_told_and_tried_again(self) -> None:
        world = World()
        world.start_fault = PermissionError(13, "Permission denied")
        world.run(1)
        assert (world.status.state, world.status.code) == (SamplerState.DEAD, "start-failed")
        assert world.status.detail == "Permission denied"
        world.start_fault = None
        world.until(SamplerState.LIVE, "")

    def test_that_takes_too_long_is_ended(self) -> None:
        world = World()
        world.on_start = lambda process: process.inbox.clear()
        world.run(1)
        slow = world.last
        slow.is_reading = False
        world.run(18)
        assert slow.ending == ""
        world.until(SamplerState.DEAD, "start-timeout")
        assert slow.ending == "killed"

    def test_of_another_version_is_not_used(self) -> None:
        world = World()

        def updated(process: FakeProcess) -> None:
            process.inbox = [Hello("99.0", process.pid)]

        world.on_start = updated
        world.until(SamplerState.DEAD, "other-version")
        assert world.processes[0].ending == "killed"


class TestFaults:
    def test_a_sweep_that_raises_once_is_no_trouble(self, world: World) -> None:
        world.last.inbox.append(Fault("Traceback\nKeyError: 1"))
        assert statuses(world.run(2)) == []

    def test_sweeps_that_always_raise_are_told_with_the_last_line(self, world: World) -> None:
        world.last.is_raising = True
        assert world.until(SamplerState.SILENT, "sweep-fails") <= 5.0
        assert world.status.detail == "RuntimeError: broken"
        world.until(SamplerState.DEAD, "sweep-fails")  # a fresh process may do better


class TestClose:
    def test_asks_a_healthy_process(self, world: World) -> None:
        outcome = world.supervisor.close()
        assert world.last.ending == "stopped"
        assert outcome.stuck_pids == ()
        assert world.status.state is SamplerState.STOPPED
        assert world.supervisor.step(0.0) == ()

    def test_does_not_ask_a_hung_one(self, world: World) -> None:
        world.last.enter("nvml")
        world.until(SamplerState.SILENT, "source-silent")
        world.supervisor.close()
        assert world.last.ending == "killed"

    def test_ends_a_trial_too(self, world: World) -> None:
        world.last.enter("nvml")
        world.until(SamplerState.HUNG, "hung")
        world.on_start = lambda process: process.enter("nvml")
        world.run(32)
        world.supervisor.close()
        assert all(process.ending for process in world.processes)

    def test_says_what_cannot_be_ended(self, world: World) -> None:
        world.last.enter("nvml")
        world.last.outcome = StopOutcome.STUCK
        world.until(SamplerState.SILENT, "source-silent")
        outcome = world.supervisor.close()
        assert outcome.stuck_pids == (world.last.pid,)
        assert outcome.sources == ("nvml",)

    def test_remembers_an_earlier_one_unless_it_is_gone(self, world: World) -> None:
        stuck = world.last
        stuck.outcome = StopOutcome.STUCK
        stuck.enter("nvml")
        world.until(SamplerState.HUNG, "hung")
        world.run(2)
        stuck.die(-9)
        assert world.supervisor.close().stuck_pids == ()


@pytest.mark.parametrize("code", sorted(STATUS_TEXT))
def test_every_state_has_a_sentence_for_people(code: str) -> None:
    text = status_text(code, source="nvml", seconds=7.4, next_s=12.0, detail="SIGSEGV")
    assert text.endswith(".")
    assert "{" not in text


def test_the_sentences_name_source_and_time() -> None:
    assert status_text("source-silent", source="nvml", seconds=7.2) == (
        "The NVIDIA driver (nvml) has not answered for 7 s."
    )
    assert status_text("source-silent", source="new", seconds=3) == "The source “new” has not answered for 3 s."
    assert "in 1 s" in status_text("died", next_s=-0.2, detail="SIGKILL")
    assert status_text("") == ""


def test_limits_are_the_documented_ones() -> None:
    limits = Limits()
    assert (limits.silent_s, limits.hang_s, limits.no_beat_s, limits.healthy_s) == (3.0, 10.0, 5.0, 60.0)
    assert limits.pauses_s == (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
    assert limits.retries_s == (30.0, 60.0, 120.0, 300.0)
