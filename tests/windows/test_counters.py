"""What most monitors get wrong with Windows' counters, on the real way through pdh.dll: what the user sees instead."""

from __future__ import annotations

import os

import pytest

from tests.windows.conftest import Watch, device, engines, health, metric, use
from tests.windows.world import BASIC, GIB, INTEL, MIB, NPU, NVIDIA, World

ME = os.getpid()
CARD, CHIP, UNIT, SOFT = "0x0:0xC7A5", "0x0:0x9D41", "0x0:0xA5A5", "0x0:0xD0D0"
RTX, IRIS, BOOST = "NVIDIA GeForce RTX 4090", "Intel(R) Iris(R) Xe Graphics", "Intel(R) AI Boost"


def test_an_engine_is_the_sum_over_processes_and_the_headline_is_the_busiest(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 40).engine(4, CARD, 0, "3D", 30).engine(ME, CARD, 3, "Cuda", 55)
    world.write()
    watch.sweep(2)
    assert engines(watch.exported, RTX) == {"0 3D": 0.7, "3 Cuda": 0.55}
    assert metric(watch.exported, RTX, "engine_utilization") == 0.7
    assert use(watch.exported, ME)["process_gpu_utilization"] == 0.55  # its busiest engine, not 0.95
    assert f"{RTX} | Busiest engine: 70 %" in watch.lines


def test_adapters_are_never_mixed(world: World, watch: Watch) -> None:
    world.windows(INTEL, NVIDIA, NPU, BASIC)
    world.engine(ME, CARD, 0, "3D", 5).engine(ME, CHIP, 0, "3D", 88).engine(ME, UNIT, 0, "Neural", 61)
    for number in range(33):
        world.engine(4, SOFT, number, "3D", 9)
    world.write()
    watch.sweep(2)
    found = {one["name"]: one["metrics"]["engine_utilization"]["value"] for one in watch.exported["devices"]}
    assert found == {IRIS: 0.88, RTX: 0.05, BOOST: 0.61, "Microsoft Basic Render Driver": 0.09}
    kinds = {one["name"]: one["kind"] for one in watch.exported["devices"]}
    assert kinds == {IRIS: "integrated", RTX: "discrete", BOOST: "npu", "Microsoft Basic Render Driver": "software"}


def test_six_copy_engines_do_not_add_up(world: World, watch: Watch) -> None:
    world.windows(NVIDIA)
    for number in range(6):
        world.engine(ME, CARD, number, "Copy", 30)
    world.write()
    watch.sweep(2)
    assert engines(watch.exported, RTX) == {f"{number} Copy": 0.3 for number in range(6)}
    assert metric(watch.exported, RTX, "engine_utilization") == 0.3


SPELLINGS = {
    "Compute_0": "compute",
    "Compute 1": "compute",
    "Cuda": "compute",
    "High Priority 3D": "3d",
    "High Priority Compute": "compute",
    "JPEG_Decode_0": "video_decode",
    "VideoDecode": "video_decode",
    "Video Decode 1": "video_decode",
    "VideoEncode": "video_encode",
    "Video Codec Engine": "video_decode",
    "VideoProcessing": "video_processing",
    "GDI Render": "3d",
    "Graphics_1": "3d",
    "Neural": "neural",
    "OFA_0": "other",
    "LegacyOverlay": "other",
    "": "other",
    "编码 (新)": "other",
}


def test_every_vendors_spelling_is_shown_as_received(world: World, watch: Watch) -> None:
    world.windows(NVIDIA)
    for number, kind in enumerate(SPELLINGS):
        world.engine(ME, CARD, number, kind, 10 + number)
    world.write()
    watch.sweep(2)
    found = {engine["name"]: engine["kind"] for engine in device(watch.exported, RTX)["engines"]}
    assert found == SPELLINGS


def test_names_in_small_letters_count_too(world: World, watch: Watch) -> None:
    world.windows(NVIDIA)
    name = f"pid_{ME}_luid_0x00000000_0x0000c7a5_phys_0_eng_2_engtype_compute_0"
    world.counters[rf"\GPU Engine({name})\Utilization Percentage"] = 42
    world.write()
    watch.sweep(2)
    assert engines(watch.exported, RTX) == {"2 compute_0": 0.42}


def test_names_that_do_not_fit_are_passed_over_and_counted(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 12)
    for odd in (
        "_Total",
        "pid_x_luid_0x0_0x1_phys_0_eng_0_engtype_3D",
        f"pid_{1 << 33}_luid_0x0_0x1_phys_0_eng_0_engtype_3D",
    ):
        world.counters[rf"\GPU Engine({odd})\Utilization Percentage"] = 100
    world.write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "engine_utilization") == 0.12
    assert len(watch.exported["devices"]) == 1
    assert "malformed 3" in health(watch, "pdh")["detail"]


@pytest.mark.parametrize("luid", ["0xFFFFFFFF:0xFFFFC7A5", "0x1:0xC7A5"])
def test_all_64_bits_of_a_luid_count(world: World, watch: Watch, luid: str) -> None:
    twin = {**NVIDIA, "luid": luid, "address": "2 0 0", "name": "Second"}
    world.windows(NVIDIA, twin).engine(ME, luid, 0, "3D", 77).engine(ME, CARD, 0, "3D", 11).write()
    watch.sweep(2)
    assert metric(watch.exported, "Second", "engine_utilization") == 0.77
    assert metric(watch.exported, RTX, "engine_utilization") == 0.11


# -- status and time


def test_utilization_needs_two_samples_memory_one(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "Cuda", 90).memory(CARD, 7 * GIB, 128 * MIB).write()
    watch.sweep()
    assert metric(watch.exported, RTX, "engine_utilization") == "[first_sample]"
    assert metric(watch.exported, RTX, "memory_used_bytes") == 7 * GIB
    assert f"{RTX} | Busiest engine: — needs a second sample" in watch.lines
    watch.sweep()
    assert metric(watch.exported, RTX, "engine_utilization") == 0.9


def test_a_process_that_starts_is_seen_without_opening_anything_anew(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(4, CARD, 0, "3D", 1).write()
    watch.sweep(2)
    world.engine(ME, CARD, 1, "Cuda", 97).process(ME, CARD, 3 * GIB).write()
    watch.sweep()
    assert engines(watch.exported, RTX)["1 Cuda"] == "[first_sample]"  # not 0
    assert use(watch.exported, ME)["process_gpu_utilization"] == "[first_sample]"
    assert use(watch.exported, ME)["process_memory_bytes"] == 3 * GIB
    watch.sweep()
    assert engines(watch.exported, RTX)["1 Cuda"] == 0.97


def test_processes_that_end_leave_nothing_behind(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(4, CARD, 0, "3D", 1).engine(ME, CARD, 1, "Cuda", 97).process(ME, CARD, 3 * GIB).write()
    watch.sweep(2)
    world.without(f"pid_{ME}_").write()
    watch.sweep()
    assert engines(watch.exported, RTX) == {"0 3D": 0.01}
    assert [process["pid"] for process in watch.exported["processes"]] == [4]


def test_1200_instances_come_and_go_while_they_are_read(world: World, watch: Watch) -> None:
    world.windows(NVIDIA)
    for pid in range(1000, 2000, 10):
        for number in range(12):
            world.engine(pid, CARD, number, "3D", 0)
    world.engine(ME, CARD, 4, "Cuda", 63).write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "engine_utilization") == 0.63
    for pid in range(50000, 52000, 10):
        world.engine(pid, CARD, 1, "Copy", 0)
    world.fault("late").write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "engine_utilization") == 0.63
    assert health(watch, "pdh")["state"] == "ok"


def test_a_release_that_refuses_small_buffers(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 20).fault("refuse 0xC0000BBD").write()
    watch.sweep(2)
    for pid in range(1000, 1400):
        world.engine(pid, CARD, 0, "3D", 0.125)
    world.write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "engine_utilization") == pytest.approx(0.7)


@pytest.mark.parametrize("status", ["0xC0000BBA", "0xC0000BC6", "0x800007D5", "0xC0000BFE"])
def test_an_instance_without_a_value_is_no_zero(world: World, watch: Watch, status: str) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 3, "Cuda", 50)
    world.fault(rf"status \GPU Engine(pid_{ME}_*)\* = {status}").write()
    watch.sweep(2)
    assert isinstance(engines(watch.exported, RTX)["3 Cuda"], str)
    assert isinstance(metric(watch.exported, RTX, "engine_utilization"), str)


def test_an_instance_that_went_away_meanwhile_is_left_out(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(4, CARD, 0, "3D", 6).engine(ME, CARD, 0, "3D", 50)
    world.fault(rf"status \GPU Engine(pid_{ME}_*)\* = 0x800007D1").write()
    watch.sweep(2)
    assert engines(watch.exported, RTX) == {"0 3D": 0.06}


# -- values that cannot be


@pytest.mark.parametrize("percent", [101, 105.5, 108, 110])
def test_a_little_over_100_is_100_and_counted(world: World, watch: Watch, percent: float) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", percent).write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "engine_utilization") == 1.0
    assert "saturated" in health(watch, "pdh")["detail"]


@pytest.mark.parametrize("percent", [376, 559, 1413, 27_007, 279_947, 1.8e14, -3, "nan", "inf"])
def test_garbage_is_neither_100_nor_0(world: World, watch: Watch, percent: object) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "Neural", percent).engine(ME, CARD, 1, "3D", 20).write()
    watch.sweep(2)
    assert engines(watch.exported, RTX) == {"0 Neural": "[implausible]", "1 3D": 0.2}
    assert metric(watch.exported, RTX, "engine_utilization") == "[implausible]"  # the broken one may be the busiest
    assert "the driver gave an impossible value" in watch.text
    assert health(watch, "pdh")["implausible"] > 0


@pytest.mark.parametrize("status", ["0x800007D6", "0x800007D7", "0x800007D8"])
def test_a_counter_that_ran_backwards_is_not_trusted_until_it_is_good_for_a_while(
    world: World, watch: Watch, status: str
) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "Neural", 30).write()
    watch.sweep(2)
    world.fault(rf"status \GPU Engine(pid_{ME}_*)\* = {status}").write()
    watch.sweep()
    assert engines(watch.exported, RTX) == {"0 Neural": "[implausible]"}
    assert "broken 1" in health(watch, "pdh")["detail"]
    world.faults.clear()
    world.write()
    watch.sweep(9)
    assert engines(watch.exported, RTX) == {"0 Neural": "[implausible]"}
    watch.sweep()
    assert engines(watch.exported, RTX) == {"0 Neural": 0.3}


# -- memory


def test_process_memory_is_what_is_resident_not_what_is_committed(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).memory(CARD, 3 * GIB, 100 * MIB).process(ME, CARD, 2 * GIB, 64 * MIB, committed=82 * GIB)
    world.write()
    watch.sweep(2)
    assert use(watch.exported, ME)["process_memory_bytes"] == 2 * GIB
    assert use(watch.exported, ME)["process_shared_bytes"] == 64 * MIB
    assert metric(watch.exported, RTX, "memory_used_bytes") == 3 * GIB


def test_a_leak_of_the_kernels_accounting_is_no_memory(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).memory(CARD, 3 * GIB, 100 * MIB).process(ME, CARD, 10_240 * GIB).process(4, CARD, 1 * GIB)
    world.write()
    watch.sweep(2)
    assert use(watch.exported, ME)["process_memory_bytes"] == "[implausible]"
    assert use(watch.exported, 4)["process_memory_bytes"] == 1 * GIB


def test_a_process_cannot_have_more_than_the_card(world: World, watch: Watch) -> None:
    """Also where the counters of the adapter are missing: its limits come from another source."""
    world.windows(NVIDIA).engine(4, CARD, 0, "3D", 1).process(ME, CARD, 100 * GIB).process(4, CARD, 20 * GIB)
    world.fault("missing GPU Adapter Memory").write()
    watch.sweep(2)
    assert use(watch.exported, ME)["process_memory_bytes"] == "[implausible]"
    assert use(watch.exported, 4)["process_memory_bytes"] == 20 * GIB
    assert metric(watch.exported, RTX, "memory_used_bytes") == "[not_supported]"
    assert metric(watch.exported, RTX, "memory_total_bytes") == 24215 * MIB


def test_programs_that_only_opened_the_adapter_are_not_listed(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 0).process(ME, CARD, 0).engine(4, CARD, 0, "3D", 2).write()
    watch.sweep(2)
    assert [process["pid"] for process in watch.exported["processes"]] == [4]


# -- counters that are not there


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ("missing GPU Engine", "0xC0000BB8"),
        ("fail PdhAddEnglishCounterW = 0xC0000BC8", "0xC0000BC8"),
        ("fail PdhOpenQueryW = 0xC0000BC8", "0xC0000BC8"),
        ("fail PdhCollectQueryData = 0xC0000BB8", "0xC0000BB8"),
        ("fail PdhCollectQueryData = 0x800007D5", "0x800007D5"),
    ],
)
def test_absent_or_damaged_counters_say_how_to_repair_them(world: World, watch: Watch, fault: str, detail: str) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 5).fault(fault).write()
    watch.sweep(2)
    assert health(watch, "pdh")["code"] == "gpu-counters-unavailable"
    assert f"'lodctr /R' in an administrator's command prompt, then restart. ({detail})" in watch.text
    assert metric(watch.exported, RTX, "memory_total_bytes") == 24215 * MIB  # the other sources go on


def test_counters_without_the_right_to_read_them(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 5).fault("fail PdhCollectQueryData = 0xC0000BDB").write()
    watch.sweep(2)
    assert health(watch, "pdh")["code"] == "counters-no-permission"
    assert "Performance Monitor Users" in watch.text


def test_counters_that_vanish_and_come_back(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 5).memory(CARD, GIB).write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "engine_utilization") == 0.05
    world.fault("missing GPU").fault("fail PdhCollectQueryData = 0xC0000BB8").write()
    watch.sweep()
    assert "lodctr /R" in watch.text
    assert metric(watch.exported, RTX, "engine_utilization") == "[source_gone]"
    world.faults.clear()
    world.write()
    watch.sweep(4)
    assert metric(watch.exported, RTX, "engine_utilization") == 0.05
    assert "lodctr" not in watch.text


def test_a_query_that_became_invalid_is_opened_anew(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 5).memory(CARD, GIB).write()
    watch.sweep(2)
    world.fault("fail PdhCollectQueryData = 0xC0000BBC").write()
    watch.sweep()
    assert metric(watch.exported, RTX, "engine_utilization") == "[error]"
    world.faults.clear()
    world.write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "engine_utilization") == 0.05


def test_one_set_missing_leaves_the_others(world: World, watch: Watch) -> None:
    world.windows(NVIDIA).engine(ME, CARD, 0, "3D", 5).process(ME, CARD, GIB).fault(
        "missing GPU Process Memory"
    ).write()
    watch.sweep(2)
    assert use(watch.exported, ME) == {
        "process_gpu_utilization": 0.05,
        "process_memory_bytes": "[not_supported]",
        "process_shared_bytes": "[not_supported]",
    }
