"""The thin layer over pdh.dll: layouts, handles, buffers and strings, against a library that writes raw structs."""

from __future__ import annotations

import ctypes

import pytest

from gpumon_gui.telemetry.pdh import status as st
from gpumon_gui.telemetry.pdh.library import (
    _DOUBLE_ITEM,
    _ITEM_SIZE,
    _LARGE_ITEM,
    CounterUnion,
    CounterValue,
    CounterValueItem,
    Pdh,
    PdhError,
)
from tests.unit.pdh_dll import DEDICATED, UTILIZATION, FakeDll, Row

NAME = "pid_1_luid_0x00000000_0x0000C7A5_phys_0_eng_0_engtype_3D"
ROWS: list[Row] = [
    (NAME, 0, 12.5),
    ("pid_2_luid_0x00000000_0x0000C7A5_phys_0_eng_0_engtype_視訊 一\u3000🎮", 1, 130.25),
    ("", 0xC0000BBA, 0.0),
    ("pid_3_luid_0x00000000_0x0000C7A5_phys_0_eng_1_engtype_A\u3000", 0, 1e300),
]


def opened(dll: FakeDll, path: str = UTILIZATION) -> tuple[Pdh, int, int]:
    pdh = Pdh(dll)
    query = pdh.open_query()
    return pdh, query, pdh.add_counter(query, path)


def test_layouts_are_those_of_pdh_h() -> None:
    assert (ctypes.sizeof(CounterValue), ctypes.alignment(CounterValue)) == (16, 8)
    assert (CounterValue.CStatus.offset, CounterValue.value.offset) == (0, 8)
    assert ctypes.sizeof(CounterUnion) == 8
    assert ctypes.sizeof(CounterValueItem) == _ITEM_SIZE == _DOUBLE_ITEM.size == _LARGE_ITEM.size == 24
    assert (CounterValueItem.szName.offset, CounterValueItem.FmtValue.offset) == (0, 8)
    item = CounterValueItem.from_buffer_copy(_DOUBLE_ITEM.pack(0x7FFA_1234_5678, 0xC0000BBA, 2.5))
    assert (item.szName, item.FmtValue.CStatus, item.FmtValue.value.doubleValue) == (0x7FFA_1234_5678, 0xC0000BBA, 2.5)
    item = CounterValueItem.from_buffer_copy(_LARGE_ITEM.pack(0, 0, -(2**62)))
    assert item.FmtValue.value.largeValue == -(2**62)


def test_handles_keep_all_their_bits() -> None:
    pdh, query, counter = opened(FakeDll({UTILIZATION: ROWS}))
    assert query > 0xFFFFFFFF
    assert counter > 0xFFFFFFFF
    pdh.collect(query)


def test_reads_names_statuses_and_uncapped_values() -> None:
    pdh, query, counter = opened(FakeDll({UTILIZATION: ROWS}))
    pdh.collect(query)
    with pytest.raises(PdhError) as first:
        pdh.read_percent(counter)
    assert first.value.status == st.INVALID_DATA
    pdh.collect(query)
    assert pdh.read_percent(counter) == ROWS


def test_reads_64_bit_gauges_at_once() -> None:
    rows: list[Row] = [("luid_0x00000000_0x0000C7A5_phys_0", 0, 2**40), ("luid_0x00000000_0x00009D41_phys_0", 1, -1)]
    pdh, query, counter = opened(FakeDll({DEDICATED: rows}), DEDICATED)
    pdh.collect(query)
    assert pdh.read_large(counter) == rows


def test_names_survive_the_next_sample() -> None:
    dll = FakeDll({UTILIZATION: ROWS}, {UTILIZATION: ROWS}, {UTILIZATION: [("x" * 60, 0, 1.0)]})
    pdh, query, counter = opened(dll)
    pdh.collect(query)
    pdh.collect(query)
    items = pdh.read_percent(counter)
    pdh.collect(query)
    assert pdh.read_percent(counter) == [("x" * 60, 0, 1.0)]
    assert items == ROWS


def test_one_call_per_sample_once_the_buffer_fits() -> None:
    dll = FakeDll({UTILIZATION: ROWS})
    pdh, query, counter = opened(dll)
    pdh.collect(query)
    pdh.collect(query)
    pdh.read_percent(counter)
    dll.calls.clear()
    pdh.read_percent(counter)
    assert dll.calls == ["PdhGetFormattedCounterArrayW"]


@pytest.mark.parametrize("answer", [st.MORE_DATA, st.INVALID_ARGUMENT, st.INSUFFICIENT_BUFFER])
def test_instances_that_appear_between_two_calls(answer: int) -> None:
    """More data than the size that was just told, by releases that answer too small a buffer in different ways."""
    dll = FakeDll({UTILIZATION: ROWS})
    pdh, query, counter = opened(dll)
    pdh.collect(query)
    pdh.collect(query)
    pdh.read_percent(counter)
    many: list[Row] = [(f"{NAME}{index}", 0, 1.0) for index in range(200)]
    dll.steps[-1][UTILIZATION] = ROWS + many
    dll.small_buffer_status = answer
    assert pdh.read_percent(counter) == ROWS + many


def test_gives_up_when_the_array_never_fits() -> None:
    dll = FakeDll({UTILIZATION: ROWS})
    dll.surprises = [(f"{NAME}{index}", 0, 1.0) for index in range(200)]
    pdh, query, counter = opened(dll)
    pdh.collect(query)
    pdh.collect(query)
    with pytest.raises(PdhError) as failure:
        pdh.read_percent(counter)
    assert failure.value.status == st.MORE_DATA


def test_no_instances_is_an_empty_list() -> None:
    dll = FakeDll({UTILIZATION: []})
    pdh, query, counter = opened(dll)
    pdh.collect(query)
    pdh.collect(query)
    assert pdh.read_percent(counter) == []
    dll.read_status[UTILIZATION] = st.NO_DATA
    assert pdh.read_percent(counter) == []


def test_a_name_pointer_outside_the_buffer_is_not_followed() -> None:
    pdh = Pdh(FakeDll({}))
    buffer = (ctypes.c_uint64 * 3)()
    ctypes.memmove(buffer, _DOUBLE_ITEM.pack(0xDEAD0000, 0, 5.0), 24)
    assert pdh._items(buffer, 1, _DOUBLE_ITEM) == [("", 0, 5.0)]
    # A name without end stops at the end of the buffer; a count larger than the buffer is refused.
    buffer = (ctypes.c_uint64 * 4)()
    item = _DOUBLE_ITEM.pack(ctypes.addressof(buffer) + 24, 0, 5.0) + "abcd".encode("utf-16-le")
    ctypes.memmove(buffer, item, 32)
    assert pdh._items(buffer, 1, _DOUBLE_ITEM) == [("abcd", 0, 5.0)]
    with pytest.raises(PdhError):
        pdh._items(buffer, 2, _DOUBLE_ITEM)


def test_a_lone_surrogate_is_replaced() -> None:
    pdh = Pdh(FakeDll({}))
    buffer = (ctypes.c_uint64 * 5)()
    item = _DOUBLE_ITEM.pack(ctypes.addressof(buffer) + 24, 0, 5.0) + b"a\0\x00\xd8b\0\0\0"
    ctypes.memmove(buffer, item, len(item))
    (name, _, _), *_ = pdh._items(buffer, 1, _DOUBLE_ITEM)
    assert name.startswith("a\ufffd")


def test_paths_are_passed_in_english_and_as_utf16() -> None:
    dll = FakeDll({})
    opened(dll)
    assert list(dll.paths.values()) == [UTILIZATION]


def test_closing_closes_the_query() -> None:
    dll = FakeDll({UTILIZATION: ROWS})
    pdh, query, _ = opened(dll)
    pdh.close_query(query)
    assert not dll.open_queries
    with pytest.raises(PdhError) as failure:
        pdh.collect(query)
    assert failure.value.status == st.INVALID_HANDLE
