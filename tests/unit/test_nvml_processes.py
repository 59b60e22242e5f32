"""Process lists of NVML: which layout, whose memory, how busy, and when nothing can be said."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import ProcessUse, UseKind
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.telemetry.nvml.library import Library, NvmlError
from gpumon_gui.telemetry.nvml.processes import NO_INSTANCE, NOT_AVAILABLE, Listed, is_believable, parse
from gpumon_gui.telemetry.nvml.session import Session
from gpumon_gui.telemetry.synthetic.cards import A100, RTX_2080_SUPER, card
from gpumon_gui.telemetry.synthetic.nvml_library import (
    ALL_ONES_64,
    NO_PERMISSION,
    NOT_FOUND,
    NOT_SUPPORTED,
    UNINITIALIZED,
    Client,
    Code,
    Driver,
    Figure,
    NvmlStandIn,
)
from gpumon_gui.telemetry.synthetic.scenario import NOWHERE

GIB = 1 << 30


class Bench:
    """A session over one card with these processes."""

    def __init__(self, *clients: Client, wddm: bool = False, **driver: Any) -> None:
        self.clock = FakeClock()
        board = card(RTX_2080_SUPER if wddm else A100, clients=clients)
        if wddm:
            board.figures["driver_model"] = 0
        self.library = NvmlStandIn(Driver([board], **driver), self.clock)
        self.session = Session(Library(self.library, "stand-in"), NOWHERE, asleep=frozenset())
        self.session.read(self.clock.now().monotonic_s, details=False)

    def uses(self, *, utilization: bool = True) -> dict[int, ProcessUse]:
        now_s = self.clock.now().monotonic_s
        return {use.pid: use for use in self.session.read_processes(now_s, utilization=utilization)}


def memory(use: ProcessUse) -> float:
    value = use.values["process_memory_bytes"]
    assert isinstance(value, Reading), value
    assert not isinstance(value.value, str)
    return value.value


# -- layouts ---------------------------------------------------------------------------------------------------------


def packed(entries: list[tuple[int, int]], stride: int) -> bytes:
    raw = b""
    for pid, used in entries:
        entry = struct.pack("=I4xQ", pid, used)
        if stride > 16:
            entry += struct.pack("=II", NO_INSTANCE, NO_INSTANCE)
        raw += entry.ljust(stride, b"\0")
    return raw


ENTRIES = st.lists(
    st.tuples(st.integers(1, 4_000_000), st.integers(1, 20).map(lambda gib: gib * GIB)),
    min_size=2,
    max_size=20,
    unique_by=lambda entry: entry[0],
)


@given(ENTRIES, st.sampled_from([16, 24, 32]))
def test_every_layout_is_read_back(entries: list[tuple[int, int]], stride: int) -> None:
    assert parse(packed(entries, stride), len(entries), stride) == tuple(
        Listed(pid, used, None) for pid, used in entries
    )


@given(ENTRIES)
def test_the_wrong_layout_is_not_believed(entries: list[tuple[int, int]]) -> None:
    raw = packed(entries, 32)
    assert is_believable(parse(raw, len(entries), 32), 80 * GIB)
    assert not is_believable(parse(raw, len(entries), 24), 80 * GIB)


@given(st.binary(min_size=64, max_size=640), st.sampled_from([16, 24, 32]))
def test_rubbish_never_raises(raw: bytes, stride: int) -> None:
    entries = parse(raw, len(raw) // stride, stride)
    assert isinstance(is_believable(entries, GIB), bool)


@pytest.mark.parametrize(
    ("entries", "believable"),
    [
        ([], True),
        ([Listed(1, GIB, None)], True),
        ([Listed(0, GIB, None)], False),
        ([Listed(4_194_305, GIB, None)], False),
        ([Listed(7, GIB, None), Listed(7, GIB, None)], False),
        ([Listed(7, GIB, 1), Listed(7, GIB, 2)], True),  # a process in two instances of a split card
        ([Listed(7, 3 * GIB, None)], False),
        ([Listed(7, NOT_AVAILABLE, None)], True),
    ],
)
def test_what_is_believed(entries: list[Listed], believable: bool) -> None:
    assert is_believable(entries, 2 * GIB) is believable


@pytest.mark.parametrize("size", [24, 32])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_process_keeps_its_own_memory_in_both_layouts(size: int, count: int) -> None:
    bench = Bench(*(Client(900 + n, (n + 1) * GIB) for n in range(count)), process_bytes=size)
    assert {pid: memory(use) for pid, use in bench.uses().items()} == {900 + n: (n + 1) * GIB for n in range(count)}


@pytest.mark.parametrize(
    "missing",
    [
        frozenset({"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"}),
        frozenset(
            f"nvmlDeviceGet{kind}RunningProcesses{suffix}"
            for kind in ("Compute", "Graphics")
            for suffix in ("_v2", "_v3")
        ),
    ],
    ids=["v2", "v1"],
)
def test_older_generations_of_the_function_serve_too(missing: frozenset[str]) -> None:
    bench = Bench(Client(1, GIB), Client(2, 2 * GIB, "G"), missing=missing)
    assert {pid: (use.kind, memory(use)) for pid, use in bench.uses().items()} == {
        1: (UseKind.COMPUTE, GIB),
        2: (UseKind.GRAPHICS, 2 * GIB),
    }


def test_a_process_of_both_lists_is_one_row() -> None:
    bench = Bench(Client(5, GIB, "CG"))
    assert bench.uses()[5].kind is UseKind.BOTH


def test_a_list_longer_than_the_buffer_is_read_whole() -> None:
    bench = Bench(*(Client(10_000 + n, 1 << 20) for n in range(500)))
    assert len(bench.uses()) == 500


# -- memory ----------------------------------------------------------------------------------------------------------


def test_windows_manages_the_memory_itself() -> None:
    bench = Bench(Client(5, ALL_ONES_64), Client(6, ALL_ONES_64, "CG"), wddm=True)
    assert {use.values["process_memory_bytes"] for use in bench.uses().values()} == {
        Missing(Reason.DRIVER_MODEL, "nvml")
    }


def test_elsewhere_memory_that_is_not_available_is_not_supported() -> None:
    bench = Bench(Client(5, ALL_ONES_64))
    assert bench.uses()[5].values["process_memory_bytes"] == Missing(Reason.NOT_SUPPORTED, "nvml")


# -- utilization -----------------------------------------------------------------------------------------------------


def busy(bench: Bench, pid: int) -> Any:
    return bench.uses()[pid].values["process_gpu_utilization"]


def test_utilization_is_read_only_when_wanted() -> None:
    bench = Bench(Client(5, GIB, sm=40))
    use = bench.uses(utilization=False)[5]
    assert use.values["process_gpu_utilization"] == Missing(Reason.NOT_READ, "nvml")
    assert "nvmlDeviceGetProcessUtilization" not in bench.library.calls


def test_utilization_of_each_process() -> None:
    use = Bench(Client(5, GIB, sm=40, memory_busy=12, encoder=3, decoder=4)).uses()[5]
    assert {metric: value.value for metric, value in use.values.items() if isinstance(value, Reading)} == {
        "process_memory_bytes": GIB,
        "process_gpu_utilization": 0.4,
        "process_memory_utilization": 0.12,
        "process_encoder_utilization": 0.03,
        "process_decoder_utilization": 0.04,
    }


def test_no_new_sample_is_not_idleness() -> None:
    bench = Bench(Client(5, GIB, sm=40))
    assert isinstance(busy(bench, 5), Reading)
    assert busy(bench, 5) == Missing(Reason.NOT_READ, "nvml", "no new samples")  # the same moment again
    bench.clock.advance(1.0)
    assert isinstance(busy(bench, 5), Reading)


def test_silence_that_lasts_is_idleness() -> None:
    bench = Bench(Client(5, GIB, sm=40))
    now_s = bench.clock.now().monotonic_s
    busy(bench, 5)
    # The driver's own clock stands still: it has nothing new to tell.
    (soon,) = bench.session.read_processes(now_s + 1.0, utilization=True)
    assert isinstance(soon.values["process_gpu_utilization"], Missing)
    (later,) = bench.session.read_processes(now_s + 2.0, utilization=True)
    assert later.values["process_gpu_utilization"] == Reading(0.0, "nvml")


def test_a_listed_process_without_a_sample_was_idle() -> None:
    # nvml.h: only processes "that had some non-zero utilization during the last sample period" get a sample.
    bench = Bench(Client(5, 24 * GIB, sm=Code(NOT_FOUND)), Client(6, GIB, sm=29))
    assert busy(bench, 5) == Reading(0.0, "nvml")


def test_samples_of_the_dead_are_not_the_newcomers() -> None:
    # The pid of a dead process belongs to a new one that the driver has no sample of yet.
    bench = Bench(Client(5, GIB, sm=Code(NOT_FOUND)), Client(6, GIB, sm=20), stale_samples=((5, 98, 30.0),))
    shares = {pid: use.values["process_gpu_utilization"] for pid, use in bench.uses().items()}
    assert shares == {5: Reading(0.0, "nvml"), 6: Reading(0.2, "nvml")}


def test_above_100_percent_is_dropped_and_said_if_there_is_nothing_else() -> None:
    figure: Figure = 1309
    assert busy(Bench(Client(5, GIB, sm=figure)), 5) == Missing(Reason.IMPLAUSIBLE, "nvml", "13.09")


@pytest.mark.parametrize(
    ("code", "reason"),
    [(NO_PERMISSION, Reason.NO_PERMISSION), (NOT_SUPPORTED, Reason.NOT_SUPPORTED), (999, Reason.ERROR)],
)
def test_utilization_that_is_refused_says_why(code: int, reason: Reason) -> None:
    value = busy(Bench(Client(5, GIB, sm=40), utilization_code=Code(code)), 5)
    assert isinstance(value, Missing)
    assert value.reason is reason


# -- refusals --------------------------------------------------------------------------------------------------------


def test_a_refused_list_is_not_an_empty_one() -> None:
    bench = Bench(Client(5, GIB), list_code=NO_PERMISSION)
    assert bench.uses() == {}
    assert bench.session.may_not_list
    allowed = Bench(Client(5, GIB))
    allowed.uses()
    assert not allowed.session.may_not_list


def test_a_list_the_device_does_not_have_is_empty_without_complaint() -> None:
    bench = Bench(Client(5, GIB), list_code=NOT_SUPPORTED)
    assert bench.uses() == {}
    assert not bench.session.may_not_list


def test_the_end_of_the_session_is_noticed_in_the_list() -> None:
    with pytest.raises(NvmlError):
        Bench(Client(5, GIB), list_code=UNINITIALIZED).uses()


def test_a_driver_that_claims_billions_of_processes_gets_no_memory_for_them() -> None:
    bench = Bench(Client(5, GIB), absurd_count=True)
    assert bench.uses() == {}
    assert bench.library.calls["nvmlDeviceGetComputeRunningProcesses_v3"] == 1
