"""From instances to devices and processes: what Task Manager does, and what it must not be fooled by."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gpumon_gui.core.model import EngineKind
from gpumon_gui.core.values import Missing, Reading, Reason, Value, number
from gpumon_gui.telemetry.pdh import status as st
from gpumon_gui.telemetry.pdh.aggregate import (
    FORGIVE_AFTER,
    Counts,
    EngineTable,
    Item,
    Trust,
    adapter_key,
    aggregate_engines,
    bounded_by_adapter,
    process_key,
    sum_bytes,
)
from gpumon_gui.telemetry.pdh.instances import Node, User, parse_adapter, parse_process

NVIDIA, INTEL = 0xC7A5, 0x9D41
GIB = 1 << 30


def engine(pid: int, eng: int, engtype: str, luid: int = NVIDIA, phys: int = 0) -> str:
    return f"pid_{pid}_luid_0x{luid >> 32:08X}_0x{luid & 0xFFFFFFFF:08X}_phys_{phys}_eng_{eng}_engtype_{engtype}"


def table(*items: Item) -> EngineTable:
    return aggregate_engines(items, Trust())


def reason(value: Value) -> Reason:
    assert isinstance(value, Missing)
    return value.reason


def engines_of(result: EngineTable, luid: int = NVIDIA) -> dict[str, Value]:
    return {sample.id: sample.utilization for sample in result.devices[luid].engines}


# -- adding up


def test_processes_add_up_per_engine_and_the_busiest_engine_is_the_headline() -> None:
    result = table(
        (engine(1, 0, "3D"), 0, 23.0),
        (engine(2, 0, "3D"), 0, 7.0),
        (engine(2, 3, "Cuda"), 0, 64.0),
        (engine(2, 5, "Copy"), 0, 8.0),
    )
    device = result.devices[NVIDIA]
    assert device.utilization == Reading(0.64, "pdh")
    assert device.busiest == "Cuda"
    assert engines_of(result)["eng_0_0"] == Reading(0.3, "pdh")
    assert [(e.name, e.kind) for e in device.engines] == [
        ("3D", EngineKind.GRAPHICS),
        ("Cuda", EngineKind.COMPUTE),
        ("Copy", EngineKind.COPY),
    ]


def test_adding_all_engines_would_read_300_percent() -> None:
    result = table(*((engine(1, eng, "3D" if eng == 0 else "Copy"), 0, 100.0) for eng in range(3)))
    assert result.devices[NVIDIA].utilization == Reading(1.0, "pdh")


def test_six_copy_engines_stay_six() -> None:
    result = table(*((engine(1, eng, "Copy"), 0, 60.0) for eng in range(10, 16)))
    assert result.devices[NVIDIA].utilization == Reading(0.6, "pdh")
    assert len(result.devices[NVIDIA].engines) == 6


def test_adapters_are_never_mixed() -> None:
    result = table(
        (engine(1, 0, "3D", NVIDIA), 0, 10.0),
        (engine(1, 0, "3D", INTEL), 0, 90.0),
        (engine(1, 0, "3D", NVIDIA | 1 << 32), 0, 50.0),  # same low part, another adapter
    )
    assert {luid: number(device.utilization) for luid, device in result.devices.items()} == {
        NVIDIA: 0.1,
        INTEL: 0.9,
        NVIDIA | 1 << 32: 0.5,
    }


def test_cards_of_a_linked_adapter_are_separate_engines_of_one_device() -> None:
    result = table((engine(1, 0, "3D", phys=0), 0, 20.0), (engine(1, 0, "3D", phys=1), 0, 70.0))
    assert engines_of(result) == {"eng_0_0": Reading(0.2, "pdh"), "eng_1_0": Reading(0.7, "pdh")}


def test_a_process_is_its_busiest_engine_per_device() -> None:
    result = table(
        (engine(7, 0, "3D"), 0, 12.0),
        (engine(7, 9, "Cuda"), 0, 80.0),
        (engine(7, 0, "3D", INTEL), 0, 3.0),
        (engine(8, 0, "3D"), 0, 0.0),
    )
    process = result.processes[User(7, NVIDIA)]
    assert (process.utilization, process.engine) == (Reading(0.8, "pdh"), "Cuda")
    assert process.engines == {Node(NVIDIA, 0, 0): 0.12, Node(NVIDIA, 0, 9): 0.8}
    assert result.processes[User(7, INTEL)].utilization == Reading(0.03, "pdh")
    assert (result.processes[User(8, NVIDIA)].utilization, result.processes[User(8, NVIDIA)].engine) == (
        Reading(0.0, "pdh"),
        "",
    )


def test_the_label_is_the_text_as_received() -> None:
    result = table((engine(1, 4, "High Priority Compute"), 0, 5.0), (engine(1, 6, ""), 0, 1.0))
    assert [e.name for e in result.devices[NVIDIA].engines] == ["High Priority Compute", ""]


def test_malformed_names_are_skipped_and_counted() -> None:
    result = table(("_Total", 0, 99.0), ("pid_1_luid", 0, 99.0), (engine(1, 0, "3D"), 0, 5.0))
    assert result.counts.malformed == 2
    assert result.devices[NVIDIA].utilization == Reading(0.05, "pdh")


# -- statuses


def test_new_data_is_good_data() -> None:
    assert table((engine(1, 0, "3D"), st.NEW_DATA, 55.0)).devices[NVIDIA].utilization == Reading(0.55, "pdh")


@pytest.mark.parametrize("status", [st.CSTATUS_INVALID_DATA, st.INVALID_DATA])
def test_a_new_process_is_a_first_sample_and_hides_nobody(status: int) -> None:
    result = table(
        (engine(1, 0, "3D"), 0, 40.0), (engine(2, 0, "3D"), status, 0.0), (engine(2, 9, "Cuda"), status, 0.0)
    )
    assert engines_of(result)["eng_0_0"] == Reading(0.4, "pdh")
    assert reason(engines_of(result)["eng_0_9"]) is Reason.FIRST_SAMPLE
    assert reason(result.processes[User(2, NVIDIA)].utilization) is Reason.FIRST_SAMPLE
    assert result.devices[NVIDIA].utilization == Reading(0.4, "pdh")
    assert result.counts.discarded == 0


def test_a_process_that_went_away_is_dropped() -> None:
    result = table((engine(1, 0, "3D"), 0, 4.0), (engine(2, 0, "3D"), st.NO_INSTANCE, 0.0))
    assert set(result.processes) == {User(1, NVIDIA)}


def test_an_unknown_status_is_an_error_with_its_number() -> None:
    value = table((engine(1, 0, "3D"), 0xC0000BFE, 0.0)).devices[NVIDIA].utilization
    assert value == Missing(Reason.ERROR, "pdh", "0xC0000BFE")


# -- over 100 % and garbage


def test_a_sum_a_little_over_100_is_full_and_counted() -> None:
    result = table((engine(1, 0, "3D"), 0, 60.0), (engine(2, 0, "3D"), 0, 48.0))
    assert result.devices[NVIDIA].utilization == Reading(1.0, "pdh")
    assert result.counts.saturated == 1


@pytest.mark.parametrize("percent", [376.0, 559.0, 120.0])
def test_a_sum_that_is_no_share_of_time_is_implausible_not_100(percent: float) -> None:
    trust = Trust()
    result = aggregate_engines([(engine(1, 0, "3D"), 0, percent), (engine(1, 5, "Copy"), 0, 2.0)], trust)
    assert reason(engines_of(result)["eng_0_0"]) is Reason.IMPLAUSIBLE
    assert reason(result.devices[NVIDIA].utilization) is Reason.IMPLAUSIBLE
    assert reason(result.processes[User(1, NVIDIA)].utilization) is Reason.IMPLAUSIBLE
    assert engines_of(result)["eng_0_5"] == Reading(0.02, "pdh")
    # Work credited late, not a broken counter: the next sample counts again.
    assert len(trust) == 0
    assert aggregate_engines([(engine(1, 0, "3D"), 0, 50.0)], trust).devices[NVIDIA].utilization == Reading(0.5, "pdh")


@pytest.mark.parametrize("rubbish", [27_007.0, 279_947.0, 1.8e14, 1413.0, -5.0, math.nan, math.inf])
def test_rubbish_breaks_the_instance(rubbish: float) -> None:
    """Intel Arc's Neural engine: neither the rubbish nor the zeros of the other processes are its utilization."""
    trust = Trust()
    idle = (engine(2, 4, "Neural"), 0, 0.0)
    graphics = (engine(2, 0, "3D"), 0, 3.0)
    result = aggregate_engines([(engine(1, 4, "Neural"), 0, rubbish), idle, graphics], trust)
    assert reason(engines_of(result)["eng_0_4"]) is Reason.IMPLAUSIBLE
    assert reason(result.devices[NVIDIA].utilization) is Reason.IMPLAUSIBLE
    assert reason(result.processes[User(1, NVIDIA)].utilization) is Reason.IMPLAUSIBLE
    assert result.processes[User(2, NVIDIA)].utilization == Reading(0.03, "pdh")
    assert engines_of(result)["eng_0_0"] == Reading(0.03, "pdh")
    assert (result.counts.discarded, result.counts.broken) == (1, 1)
    # A believable value right after is not believed ...
    for _ in range(FORGIVE_AFTER - 1):
        result = aggregate_engines([(engine(1, 4, "Neural"), 0, 42.0), idle], trust)
        assert reason(engines_of(result)["eng_0_4"]) is Reason.IMPLAUSIBLE
        assert result.counts.discarded == 0
    # ... the tenth good reading in a row is.
    result = aggregate_engines([(engine(1, 4, "Neural"), 0, 42.0), idle], trust)
    assert engines_of(result)["eng_0_4"] == Reading(0.42, "pdh")
    assert result.counts.broken == 0


@pytest.mark.parametrize("status", [0x800007D6, 0x800007D7, 0x800007D8])
def test_a_counter_that_runs_backwards_is_broken(status: int) -> None:
    trust = Trust()
    item = (engine(1, 4, "Neural"), status, 0.0)
    assert aggregate_engines([item], trust).devices[NVIDIA].utilization == Missing(
        Reason.IMPLAUSIBLE, "pdh", f"Neural: 0x{status:08X}"
    )
    # Another bad one starts the count of good readings anew.
    for _ in range(FORGIVE_AFTER - 1):
        aggregate_engines([(engine(1, 4, "Neural"), 0, 1.0)], trust)
    aggregate_engines([item], trust)
    value = aggregate_engines([(engine(1, 4, "Neural"), 0, 1.0)], trust).devices[NVIDIA].utilization
    assert reason(value) is Reason.IMPLAUSIBLE


def test_invalid_data_after_a_moving_value_means_backwards() -> None:
    trust = Trust()
    aggregate_engines([(engine(1, 4, "Neural"), 0, 80.0), (engine(2, 4, "Neural"), 0, 0.0)], trust)
    invalid: list[Item] = [
        (engine(1, 4, "Neural"), st.CSTATUS_INVALID_DATA, 0.0),
        (engine(2, 4, "Neural"), st.CSTATUS_INVALID_DATA, 0.0),
    ]
    result = aggregate_engines(invalid, trust)
    assert reason(result.processes[User(1, NVIDIA)].utilization) is Reason.IMPLAUSIBLE
    assert reason(result.processes[User(2, NVIDIA)].utilization) is Reason.FIRST_SAMPLE
    assert result.counts.broken == 1


def test_a_reused_pid_does_not_inherit_a_broken_counter() -> None:
    trust = Trust()
    aggregate_engines([(engine(1, 4, "Neural"), 0, 1e9)], trust)
    aggregate_engines([(engine(9, 4, "Neural"), 0, 1.0)], trust)  # process 1 has ended
    assert len(trust) == 0
    value = aggregate_engines([(engine(1, 4, "Neural"), 0, 30.0)], trust).devices[NVIDIA].utilization
    assert value == Reading(0.3, "pdh")


def test_a_fully_busy_engine_is_the_busiest_whatever_the_others_say() -> None:
    result = table((engine(1, 0, "3D"), 0, 100.0), (engine(1, 4, "Neural"), 0, 1e9))
    assert result.devices[NVIDIA].utilization == Reading(1.0, "pdh")


@given(
    some.lists(
        some.tuples(
            some.integers(1, 4),
            some.integers(0, 3),
            some.sampled_from([0, 1, st.CSTATUS_INVALID_DATA, 0x800007D6, st.NO_INSTANCE, 0xC0000BFE]),
            some.floats(),
        ),
        max_size=30,
    )
)
def test_a_utilization_is_a_share_or_missing(rows: list[tuple[int, int, int, float]]) -> None:
    trust = Trust()
    for _ in range(2):
        result = aggregate_engines([(engine(pid, eng, "3D"), status, value) for pid, eng, status, value in rows], trust)
        values = [device.utilization for device in result.devices.values()]
        values += [sample.utilization for device in result.devices.values() for sample in device.engines]
        values += [process.utilization for process in result.processes.values()]
        assert all(isinstance(value, Missing) or 0.0 <= (number(value) or 0.0) <= 1.0 for value in values)


# -- memory


def test_adapter_memory_adds_up_over_linked_cards() -> None:
    counts = Counts()
    items: list[Item] = [
        ("luid_0x00000000_0x0000C7A5_phys_0", 0, 7 * GIB),
        ("luid_0x00000000_0x0000C7A5_phys_1", 0, GIB),
        ("luid_0x00000000_0x00009D41_phys_0", st.NEW_DATA, 0),
        ("_Total", 0, 1),
    ]
    values = sum_bytes(items, "memory_used_bytes", parse_adapter, adapter_key, counts)
    assert values == {NVIDIA: Reading(8 * GIB, "pdh"), INTEL: Reading(0, "pdh")}
    assert counts.malformed == 1


def test_memory_that_cannot_be_is_implausible_and_half_a_sum_is_missing() -> None:
    items: list[Item] = [
        ("pid_1_luid_0x00000000_0x0000C7A5_phys_0", 0, 2**60),
        ("pid_2_luid_0x00000000_0x0000C7A5_phys_0", 0, -1),
        ("pid_3_luid_0x00000000_0x0000C7A5_phys_0", 0, 5),
        ("pid_3_luid_0x00000000_0x0000C7A5_phys_1", 0xC0000BFE, 0),
        ("pid_4_luid_0x00000000_0x0000C7A5_phys_0", st.NO_INSTANCE, 0),
    ]
    values = sum_bytes(items, "process_memory_bytes", parse_process, process_key, Counts())
    assert {user.pid: reason(value) for user, value in values.items()} == {
        1: Reason.IMPLAUSIBLE,
        2: Reason.IMPLAUSIBLE,
        3: Reason.ERROR,
    }


def test_one_process_cannot_hold_far_more_than_the_adapter_uses() -> None:
    """After resume a leak in the kernel charges one process with terabytes."""
    adapter: dict[str, Value] = {
        "memory_used_bytes": Reading(2 * GIB, "pdh"),
        "shared_used_bytes": Reading(GIB, "pdh"),
    }
    assert reason(bounded_by_adapter(Reading(10 << 40, "pdh"), adapter)) is Reason.IMPLAUSIBLE
    assert bounded_by_adapter(Reading(2 * GIB, "pdh"), adapter) == Reading(2 * GIB, "pdh")
    # An integrated GPU keeps local memory in system memory: dedicated use is small, shared use counts.
    integrated: dict[str, Value] = {
        "memory_used_bytes": Reading(0, "pdh"),
        "shared_used_bytes": Reading(GIB, "pdh"),
    }
    assert bounded_by_adapter(Reading(GIB, "pdh"), integrated) == Reading(GIB, "pdh")
    # Without the adapter's figures nothing can be said.
    unknown: dict[str, Value] = {"memory_used_bytes": Missing(Reason.ERROR)}
    assert bounded_by_adapter(Reading(10 << 40, "pdh"), unknown) == Reading(10 << 40, "pdh")
