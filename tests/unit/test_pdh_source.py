"""What a user sees from Windows' GPU counters, over the life of a machine."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest

from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.identity import key_of
from gpumon_gui.core.model import Demand, DeviceKey, DeviceSample, DeviceState, EngineKind, ProcessUse, SourceState
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.base import Source, SourceUnavailable
from gpumon_gui.telemetry.pdh import status as st
from gpumon_gui.telemetry.pdh.library import Pdh, load_pdh
from gpumon_gui.telemetry.pdh.source import PdhSource
from tests.unit.pdh_dll import DEDICATED, LOCAL, NON_LOCAL, SHARED, UTILIZATION, FakeDll, Row

MIB, GIB = 1 << 20, 1 << 30
NVIDIA, INTEL, RESTARTED = 0xC7A5, 0x9D41, 0x1F00D
Step = dict[str, list[Row]]


def adapter(luid: int, dedicated: int, shared: int) -> Step:
    name = f"luid_0x00000000_0x{luid:08X}_phys_0"
    return {DEDICATED: [(name, 0, dedicated)], SHARED: [(name, 0, shared)]}


def process(pid: int, luid: int, local: int, non_local: int, **engines: float) -> Step:
    name = f"pid_{pid}_luid_0x00000000_0x{luid:08X}_phys_0"
    return {
        UTILIZATION: [
            (f"{name}_eng_{index}_engtype_{engtype}", 0, value)
            for index, (engtype, value) in enumerate(engines.items())
        ],
        LOCAL: [(name, 0, local)],
        NON_LOCAL: [(name, 0, non_local)],
    }


def machine(*parts: Step) -> Step:
    whole: Step = {path: [] for path in (UTILIZATION, DEDICATED, SHARED, LOCAL, NON_LOCAL)}
    for part in parts:
        for path, rows in part.items():
            whole[path] = whole[path] + rows
    return whole


TRAINING = machine(
    adapter(NVIDIA, 7 * GIB, 128 * MIB),
    adapter(INTEL, 0, 768 * MIB),
    process(4, NVIDIA, 0, 0, **{"3D": 0.0}),
    process(7777, NVIDIA, 6 * GIB, 64 * MIB, **{"3D": 1.0, "Copy": 4.0, "Cuda": 91.5}),
    process(6120, INTEL, 256 * MIB, 0, **{"3D": 3.25, "VideoDecode": 11.0}),
)


class Bench:
    """A source on a scripted machine, read once a second."""

    def __init__(self, *steps: Step) -> None:
        self.dll = FakeDll(*steps)
        self.source = PdhSource(lambda: Pdh(self.dll))
        self.clock = FakeClock()
        self.source.open()

    def tick(self) -> Mapping[DeviceKey, DeviceSample]:
        self.clock.advance(1.0)
        now = self.clock.now()
        self.source.devices(now)
        return self.source.read(now, Demand())

    def values(self, luid: int) -> Mapping[str, Value]:
        return self.tick()[key_of(luid=luid)].values

    def processes(self) -> dict[int, ProcessUse]:
        return {use.pid: use for use in self.source.read_processes(self.clock.now(), Demand())}


def reason(value: Value) -> Reason:
    assert isinstance(value, Missing), value
    return value.reason


def unavailable(bench: Bench) -> SourceUnavailable:
    with pytest.raises(SourceUnavailable) as failure:
        bench.tick()
    return failure.value


def test_it_is_a_source() -> None:
    source: Source = PdhSource()
    assert source.name == "pdh"


@pytest.mark.skipif(sys.platform == "win32", reason="there is a pdh.dll")
def test_elsewhere_it_is_absent_and_not_a_fault() -> None:
    with pytest.raises(SourceUnavailable) as failure:
        PdhSource().open()
    assert (failure.value.code, failure.value.state) == ("not-on-this-system", SourceState.ABSENT)
    with pytest.raises(SourceUnavailable):
        load_pdh()


def test_memory_at_once_utilization_with_the_second_sample() -> None:
    bench = Bench(TRAINING)
    first = bench.values(NVIDIA)
    assert reason(first["engine_utilization"]) is Reason.FIRST_SAMPLE
    assert first["memory_used_bytes"] == Reading(7 * GIB, "pdh")
    assert reason(bench.processes()[7777].values["process_gpu_utilization"]) is Reason.FIRST_SAMPLE
    second = bench.tick()[key_of(luid=NVIDIA)]
    assert second.values["engine_utilization"] == Reading(0.915, "pdh")
    assert second.values["shared_used_bytes"] == Reading(128 * MIB, "pdh")
    assert [(e.id, e.name, e.kind) for e in second.engines] == [
        ("eng_0_0", "3D", EngineKind.GRAPHICS),
        ("eng_0_1", "Copy", EngineKind.COPY),
        ("eng_0_2", "Cuda", EngineKind.COMPUTE),
    ]


def test_devices_are_named_by_luid_and_never_mixed() -> None:
    bench = Bench(TRAINING)
    bench.tick()
    samples = bench.tick()
    assert samples[key_of(luid=INTEL)].values["engine_utilization"] == Reading(0.11, "pdh")
    infos = bench.source.devices(bench.clock.now())
    assert [(info.luid, info.index, info.sources) for info in infos] == [(INTEL, 0, ("pdh",)), (NVIDIA, 1, ("pdh",))]


def test_processes_have_resident_memory_and_their_busiest_engine() -> None:
    bench = Bench(TRAINING)
    bench.tick()
    bench.tick()
    uses = bench.processes()
    assert set(uses) == {7777, 6120}  # pid 4 has opened the adapter and does nothing
    assert uses[7777].device == key_of(luid=NVIDIA)
    assert uses[7777].engine == "Cuda"
    assert uses[7777].values == {
        "process_gpu_utilization": Reading(0.915, "pdh"),
        "process_memory_bytes": Reading(6 * GIB, "pdh"),
        "process_shared_bytes": Reading(64 * MIB, "pdh"),
    }
    assert not any("Dedicated" in path and "Process" in path for path in bench.dll.paths.values())


def test_terabytes_charged_to_one_process_are_not_shown() -> None:
    leak = machine(TRAINING, process(1500, NVIDIA, 10 << 40, 0, **{"3D": 0.0}))
    bench = Bench(leak)
    bench.tick()
    bench.tick()
    assert reason(bench.processes()[1500].values["process_memory_bytes"]) is Reason.IMPLAUSIBLE


def test_one_collect_per_moment_and_one_query_for_all() -> None:
    bench = Bench(TRAINING)
    for _ in range(5):
        bench.tick()
        bench.processes()
    assert bench.dll.calls.count("PdhCollectQueryData") == 5
    assert bench.dll.calls.count("PdhOpenQueryW") == 1
    # A second look at the same moment, or a hair later, is the same sample: a rate over 50 ms is noise.
    bench.clock.advance(0.05)
    bench.source.read(bench.clock.now(), Demand())
    assert bench.dll.calls.count("PdhCollectQueryData") == 5


def test_processes_come_and_go() -> None:
    name = f"pid_9000_luid_0x00000000_0x{NVIDIA:08X}_phys_0"
    starting: Step = {
        UTILIZATION: [(f"{name}_eng_2_engtype_Cuda", st.CSTATUS_INVALID_DATA, 0.0)],
        LOCAL: [(name, 0, 1)],
    }
    running = process(9000, NVIDIA, GIB, 0, **{"Cuda": 5.0})
    bench = Bench(TRAINING, TRAINING, machine(TRAINING, starting), machine(TRAINING, running), TRAINING)
    bench.tick()
    bench.tick()
    assert 9000 not in bench.processes()
    assert bench.values(NVIDIA)["engine_utilization"] == Reading(0.915, "pdh")  # the newcomer hides nobody
    assert reason(bench.processes()[9000].values["process_gpu_utilization"]) is Reason.FIRST_SAMPLE
    bench.tick()
    assert bench.processes()[9000].values["process_gpu_utilization"] == Reading(0.05, "pdh")
    bench.tick()
    assert 9000 not in bench.processes()


def test_a_restarted_driver_brings_new_luids() -> None:
    gone = machine(adapter(INTEL, 0, 768 * MIB), process(6120, INTEL, MIB, 0, **{"3D": 3.0}))
    back = machine(gone, adapter(RESTARTED, GIB, 0), process(1, RESTARTED, MIB, 0, **{"3D": 9.0}))
    bench = Bench(TRAINING, TRAINING, gone, back)
    bench.tick()
    bench.tick()
    lost = bench.tick()
    assert lost[key_of(luid=NVIDIA)].state is DeviceState.LOST
    assert reason(lost[key_of(luid=NVIDIA)].values["engine_utilization"]) is Reason.DEVICE_LOST
    assert lost[key_of(luid=INTEL)].values["engine_utilization"] == Reading(0.03, "pdh")
    assert bench.source.notes() == ()
    found = bench.tick()
    assert set(found) == {key_of(luid=INTEL), key_of(luid=RESTARTED)}
    assert found[key_of(luid=RESTARTED)].values["engine_utilization"] == Reading(0.09, "pdh")
    assert [note.code for note in bench.source.notes()] == ["driver-restarted"]
    assert bench.source.notes() == ()


def test_all_luids_change_at_once() -> None:
    other = machine(adapter(RESTARTED, GIB, 0), process(1, RESTARTED, MIB, 0, **{"3D": 9.0}))
    bench = Bench(TRAINING, TRAINING, other)
    bench.tick()
    bench.tick()
    assert set(bench.tick()) == {key_of(luid=RESTARTED)}
    assert [note.code for note in bench.source.notes()] == ["driver-restarted"]


def test_one_failed_collect_is_a_gap_with_its_status() -> None:
    bench = Bench(TRAINING)
    bench.tick()
    bench.tick()
    bench.dll.failures["PdhCollectQueryData"] = [st.QUERY_PERF_DATA_TIMEOUT]
    values = bench.values(NVIDIA)
    assert values["engine_utilization"] == Missing(Reason.ERROR, "pdh", "0xC0000BFE")
    assert values["memory_used_bytes"] == Missing(Reason.ERROR, "pdh", "0xC0000BFE")
    assert bench.processes() == {}
    assert bench.values(NVIDIA)["engine_utilization"] == Reading(0.915, "pdh")


def test_a_source_that_keeps_failing_says_so_and_comes_back() -> None:
    bench = Bench(TRAINING)
    bench.tick()
    bench.tick()
    bench.dll.failures["PdhCollectQueryData"] = [st.RETRY, st.RETRY, st.RETRY]
    bench.tick()
    bench.tick()
    failure = unavailable(bench)
    assert (failure.code, failure.detail) == ("read-failed", "0x800007D4")
    bench.tick()
    assert bench.values(NVIDIA)["engine_utilization"] == Reading(0.915, "pdh")
    assert bench.dll.calls.count("PdhOpenQueryW") == 2


def test_no_data_after_data_means_the_adapters_are_gone_for_now() -> None:
    bench = Bench(TRAINING)
    bench.tick()
    bench.tick()
    bench.dll.failures["PdhCollectQueryData"] = [st.NO_DATA]
    assert bench.tick()[key_of(luid=NVIDIA)].state is DeviceState.LOST
    assert bench.processes() == {}
    assert bench.tick()[key_of(luid=NVIDIA)].state is DeviceState.OK


@pytest.mark.parametrize("status", [st.INVALID_HANDLE, st.INVALID_ARGUMENT, st.MEMORY_ALLOCATION_FAILURE])
def test_a_dead_query_is_opened_anew_in_the_same_tick(status: int) -> None:
    bench = Bench(TRAINING)
    bench.tick()
    bench.tick()
    bench.dll.failures["PdhCollectQueryData"] = [status]
    values = bench.values(NVIDIA)
    assert values["memory_used_bytes"] == Reading(7 * GIB, "pdh")
    assert reason(values["engine_utilization"]) is Reason.FIRST_SAMPLE
    assert bench.values(NVIDIA)["engine_utilization"] == Reading(0.915, "pdh")
    assert len(bench.dll.open_queries) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (st.NO_OBJECT, "gpu-counters-unavailable"),
        (st.NO_COUNTER, "gpu-counters-unavailable"),
        (st.CANNOT_READ_NAME_STRINGS, "gpu-counters-unavailable"),
        (st.ACCESS_DENIED, "counters-no-permission"),
    ],
)
def test_counters_that_cannot_be_added(status: int, code: str) -> None:
    dll = FakeDll(TRAINING)
    dll.absent[UTILIZATION] = status
    source = PdhSource(lambda: Pdh(dll))
    with pytest.raises(SourceUnavailable) as failure:
        source.open()
    assert (failure.value.code, failure.value.detail) == (code, f"0x{status:08X}")
    assert not dll.open_queries
    del dll.absent[UTILIZATION]  # repaired
    source.open()
    assert len(dll.open_queries) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [(st.NO_DATA, "gpu-counters-unavailable"), (st.ACCESS_DENIED, "counters-no-permission")],
)
def test_counters_that_never_give_anything(status: int, code: str) -> None:
    bench = Bench(TRAINING)
    bench.dll.failures["PdhCollectQueryData"] = [status]
    assert unavailable(bench).code == code


def test_without_the_memory_sets_utilization_still_works() -> None:
    dll = FakeDll(TRAINING)
    dll.absent = dict.fromkeys((DEDICATED, SHARED, LOCAL, NON_LOCAL), st.NO_OBJECT)
    bench = Bench(TRAINING)
    bench.dll, bench.source = dll, PdhSource(lambda: Pdh(dll))
    bench.tick()
    values = bench.values(NVIDIA)
    assert values["engine_utilization"] == Reading(0.915, "pdh")
    assert values["memory_used_bytes"] == Missing(Reason.NOT_SUPPORTED, "pdh", "0xC0000BB8")
    assert set(bench.processes()) == {7777, 6120}


def test_an_adapter_that_nobody_opened_is_not_zero() -> None:
    idle = machine(adapter(NVIDIA, 100 * MIB, 0), adapter(INTEL, 0, 0), process(1, INTEL, MIB, 0, **{"3D": 2.0}))
    bench = Bench(idle)
    bench.tick()
    assert reason(bench.values(NVIDIA)["engine_utilization"]) is Reason.NOT_SUPPORTED


def test_a_broken_counter_is_implausible_and_counted() -> None:
    broken = machine(adapter(INTEL, 0, GIB), process(1, INTEL, MIB, 0, **{"3D": 2.0, "Neural": 279_947.0}))
    bench = Bench(broken)
    bench.tick()
    values = bench.values(INTEL)
    assert reason(values["engine_utilization"]) is Reason.IMPLAUSIBLE
    assert (bench.source.counts.discarded, bench.source.counts.broken) == (1, 1)


def test_release_closes_the_query_and_the_next_read_opens_it() -> None:
    bench = Bench(TRAINING)
    bench.tick()
    bench.source.release()
    assert not bench.dll.open_queries
    bench.tick()
    assert bench.values(NVIDIA)["engine_utilization"] == Reading(0.915, "pdh")
    bench.source.close()
    bench.source.close()
    assert not bench.dll.open_queries
