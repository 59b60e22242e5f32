"""Which engines are on show: compute when it runs, the user's choice always, and no flapping."""

from __future__ import annotations

from gpumon_gui.core.model import DeviceKind
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.derive.adapters import adapters
from gpumon_gui.telemetry.derive.engines import HOLD_S, EngineChoice, Mean, busiest, engines
from tests.qt.samples import device_values, make_device, make_info, windows_engines


def means(**shares: float) -> Mean:
    return lambda series: shares.get(series.removeprefix("engine:phys_0_"), 0.0)


def labels(slots: tuple[str, ...]) -> list[str]:
    names = {engine.series: engine.label for engine in engines(make_device(0, {}, windows_engines()))}
    return [names[series] for series in slots]


WINDOWS = engines(make_device(0, {}, windows_engines()))
CUDA, COPY, ENCODE = "eng_6", "eng_2", "eng_5"


def test_equal_names_are_told_apart() -> None:
    found = [engine.label for engine in WINDOWS]
    assert len(found) == len(set(found))
    assert "Copy #2" in found


def test_a_figure_of_the_driver_is_told_from_the_engine_of_its_name() -> None:
    values: dict[str, Value] = {
        "encoder_utilization": Reading(0.1, "nvml"),
        "ofa_utilization": Reading(0.0, "nvml"),
        "memory_utilization": Reading(0.2, "nvml"),
    }
    found = [engine.label for engine in engines(make_device(0, values, windows_engines()))]
    assert len(found) == len(set(found))
    assert "Video Encode" in found
    assert "Video Encode (NVML)" in found
    assert "Memory controller" in found


def test_idle_shows_what_task_manager_shows() -> None:
    assert labels(EngineChoice().update(WINDOWS, means(), 0.0)) == ["3D", "Copy", "Video Encode", "Video Decode"]


def test_they_are_on_show_too_when_their_counters_answer_late() -> None:
    choice = EngineChoice()
    choice.update(engines(make_device(0)), means(), 0.0)
    assert labels(choice.update(WINDOWS, means(), 1.0)) == ["3D", "Copy", "Video Encode", "Video Decode"]


def test_the_choice_of_the_user_stays_when_counters_answer_late() -> None:
    choice = EngineChoice()
    choice.update(engines(make_device(0)), means(), 0.0)
    choice.choose(0, "tensor_activity")
    assert choice.update((*WINDOWS, *engines(make_device(0))), means(), 1.0)[0] == "tensor_activity"


def test_compute_comes_on_show_when_it_runs_and_stays() -> None:
    choice = EngineChoice()
    choice.update(WINDOWS, means(), 0.0)
    assert "Cuda" in labels(choice.update(WINDOWS, means(**{CUDA: 0.9}), 1.0))
    assert "Cuda" in labels(choice.update(WINDOWS, means(), 100.0))


def test_compute_takes_the_least_busy_place_when_all_work() -> None:
    busy = {"eng_0": 0.6, COPY: 0.3, ENCODE: 0.2, "eng_4": 0.1, CUDA: 0.5}
    choice = EngineChoice()
    choice.update(WINDOWS, means(), 0.0)
    assert labels(choice.update(WINDOWS, means(**busy), 1.0)) == ["3D", "Copy", "Video Encode", "Cuda"]


def test_the_choice_of_the_user_stays() -> None:
    choice = EngineChoice()
    choice.update(WINDOWS, means(), 0.0)
    for slot in range(4):
        choice.choose(slot, WINDOWS[7].series)
    assert set(labels(choice.update(WINDOWS, means(**{CUDA: 1.0}), 500.0))) == {"JPEG Decode 0"}


def test_the_usual_engines_stay_for_who_wants_them() -> None:
    choice = EngineChoice()
    choice.follows = False
    choice.update(WINDOWS, means(), 0.0)
    assert labels(choice.update(WINDOWS, means(**{CUDA: 0.9}), 1.0)) == ["3D", "Copy", "Video Encode", "Video Decode"]


def test_alternating_work_does_not_flap() -> None:
    choice = EngineChoice()
    choice.update(WINDOWS, means(), 0.0)
    changes, shown = 0, choice.slots
    for second in range(1, 121):
        busy = CUDA if second % 20 < 10 else "eng_7"
        slots = choice.update(WINDOWS, means(**{busy: 0.8}), float(second))
        changes += slots != shown
        shown = slots
    assert changes <= 2
    assert changes <= 120 / HOLD_S


def test_an_engine_that_vanished_is_replaced() -> None:
    choice = EngineChoice()
    choice.update(WINDOWS, means(), 0.0)
    left = tuple(engine for engine in WINDOWS if engine.label != "Copy")
    assert labels(choice.update(left, means(), 1.0))[1] != "Copy"


def test_without_system_engines_the_drivers_figures_stand_in() -> None:
    offered = engines(make_device(0))
    slots = EngineChoice().update(offered, means(), 0.0)
    assert slots == ("gpu_utilization", "sm_activity", "tensor_activity", "dram_activity")
    choice = EngineChoice()
    choice.update(offered, means(), 0.0)
    assert "encoder_utilization" in choice.update(offered, lambda s: 0.7 if s == "encoder_utilization" else 0.0, 5.0)


def test_what_a_device_never_offers_is_left_out_and_what_is_missing_now_stays() -> None:
    values: dict[str, Value] = {
        "gpu_utilization": Missing(Reason.ASLEEP),
        "sm_activity": Missing(Reason.NOT_SUPPORTED),
    }
    assert [engine.series for engine in engines(make_device(0, values))] == ["gpu_utilization"]


def test_busiest_engine() -> None:
    device = make_device(0, device_values(0.5), windows_engines({"Cuda": 0.8, "3D": 0.1}))
    top = busiest(device)
    assert top is not None
    assert top.label == "Cuda"
    assert busiest(make_device(0, {})) is None
    linux = busiest(make_device(0, {"gpu_utilization": Reading(0.3, "nvml")}))
    assert linux is not None
    assert linux.series == "gpu_utilization"


def test_adapters_in_physical_order_without_software() -> None:
    inventory = (
        make_info(3),
        make_info(1, "Microsoft Basic Render Driver", DeviceKind.SOFTWARE),
        make_info(2, "Intel NPU", DeviceKind.NPU),
        make_info(0),
    )
    found = [(adapter.info.index, adapter.number, adapter.is_npu) for adapter in adapters(inventory)]
    assert found == [(0, 0, False), (3, 1, False), (2, 0, True)]
