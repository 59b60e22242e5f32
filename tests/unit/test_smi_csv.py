"""Logs of ``nvidia-smi --query-gpu`` as people have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.model import DeviceState, Sample
from gpumon_gui.core.values import Missing, Reading, Reason, number
from gpumon_gui.telemetry.provenance import COUNTERS
from gpumon_gui.telemetry.recording import smi_csv, smi_fields
from gpumon_gui.telemetry.recording.open import open_recording

HEADER = "timestamp, index, name, pstate, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W]"
ROW = "2026/11/30 12:00:{second:06.3f}, {gpu}, NVIDIA H200, P0, {busy} %, 1024 MiB, 143771 MiB, 172.41 W"


def rows(seconds: int = 4, gpus: int = 1) -> list[str]:
    return [
        ROW.format(second=second + 0.004 * gpu, gpu=gpu, busy=10 * gpu + second)
        for second in range(seconds)
        for gpu in range(gpus)
    ]


def write(folder: Path, *lines: str, end: str = "\n", encoding: str = "utf-8", last: str = "\n") -> Path:
    file = folder / "gpu.csv"
    file.write_bytes((end.join(lines) + last.replace("\n", end)).encode(encoding))
    return file


def samples(file: Path) -> list[Sample]:
    found = open_recording(file)
    return [found.sample(index) for index in range(len(found))]


def values(sample: Sample, gpu: int = 0) -> dict[str, float | None]:
    key = sample.inventory[gpu].key
    return {name: number(value) for name, value in sample.devices[key].values.items()}


def test_figures_come_in_canonical_units(tmp_path: Path) -> None:
    found = samples(write(tmp_path, HEADER, *rows()))
    assert [sample.monotonic_s for sample in found] == pytest.approx([0, 1, 2, 3])
    assert [values(sample)["gpu_utilization"] for sample in found] == pytest.approx([0, 0.01, 0.02, 0.03])
    assert values(found[1])["power_w"] == 172.41
    assert values(found[1])["memory_used_bytes"] == 1 << 30
    assert values(found[1])["pstate"] == 0
    (info,) = found[0].inventory
    assert (info.name, info.vendor, info.index) == ("NVIDIA H200", "nvidia", 0)
    assert info.static["memory_total_bytes"] == Reading(143771 << 20, "smi")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "gbk"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_whatever_wrote_the_file(encoding: str, end: str, tmp_path: Path) -> None:
    lines = [HEADER, *rows()]
    if encoding == "gbk":
        lines.insert(2, "开始训练")
    found = open_recording(write(tmp_path, *lines, encoding=encoding, end=end))
    assert len(found) == 4
    assert ("notice" in found.meta) == (encoding == "gbk")


def test_nounits_is_the_same(tmp_path: Path) -> None:
    plain = [row.replace(" %", "").replace(" MiB", "").replace(" W", "") for row in rows()]
    (tmp_path / "units").mkdir()
    with_units = samples(write(tmp_path / "units", HEADER, *rows()))
    assert [values(one) for one in samples(write(tmp_path, HEADER, *plain))] == [values(one) for one in with_units]


def test_gpus_of_one_look_are_one_sample(tmp_path: Path) -> None:
    found = samples(write(tmp_path, HEADER, *rows(3, gpus=2)))
    assert len(found) == 3
    assert [values(sample, 1)["gpu_utilization"] for sample in found] == pytest.approx([0.1, 0.11, 0.12])


@pytest.mark.parametrize("identity", ["uuid, GPU-{}", "pci.bus_id, 00000000:0{}:00.0", "name, NVIDIA H200"])
def test_gpus_are_told_apart_by_what_there_is(identity: str, tmp_path: Path) -> None:
    name, cell = identity.split(", ")
    lines = [f"timestamp, {name}, utilization.gpu [%]"]
    lines += [
        f"2026/11/30 12:00:0{second}.00{gpu}, {cell.format(gpu)}, {gpu} %" for second in range(3) for gpu in range(2)
    ]
    found = samples(write(tmp_path, *lines))
    assert len(found) == 3
    assert len(found[0].inventory) == 2
    assert [values(sample, 1)["gpu_utilization"] for sample in found] == [0.01, 0.01, 0.01]


def test_a_gpu_that_is_left_out_once_has_a_gap(tmp_path: Path) -> None:
    lines = rows(3, gpus=2)
    del lines[2]  # GPU 0 in second 1
    found = samples(write(tmp_path, HEADER, *lines))
    assert [len(sample.devices) for sample in found] == [2, 1, 2]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("[N/A]", Reason.NOT_SUPPORTED),
        ("[Not Supported]", Reason.NOT_SUPPORTED),
        ("[Unknown Error]", Reason.ERROR),
        ("[Insufficient Permissions]", Reason.NO_PERMISSION),
        ("[GPU is lost]", Reason.DEVICE_LOST),
        ("101 %", Reason.IMPLAUSIBLE),
        ("", Reason.ERROR),
    ],
)
def test_missing_is_never_zero(cell: str, reason: Reason, tmp_path: Path) -> None:
    lines = rows()
    lines[2] = lines[2].replace("2 %", cell)
    found = samples(write(tmp_path, HEADER, *lines))
    value = next(iter(found[2].devices.values())).values["gpu_utilization"]
    assert isinstance(value, Missing)
    assert (value.reason, value.source) == (reason, "smi")
    assert values(found[3])["gpu_utilization"] == pytest.approx(0.03)
    lost = next(iter(found[2].devices.values())).state is DeviceState.LOST
    assert lost == (reason is Reason.DEVICE_LOST)


def test_a_line_that_was_cut_off_is_left_out_and_said(tmp_path: Path) -> None:
    found = open_recording(write(tmp_path, HEADER, *rows(), "2026/11/30 12:00:04.000, 0, NVIDIA H2", last=""))
    assert len(found) == 4
    assert not found.complete
    assert "Line 6" in found.meta["notice"]


def test_an_appended_log_may_have_other_columns(tmp_path: Path) -> None:
    more = ["timestamp, power.draw [W], index", "2026/11/30 12:00:10.000, 300.00 W, 0"]
    found = samples(write(tmp_path, HEADER, *rows(), *more))
    assert len(found) == 5
    assert len(found[0].inventory) == 1
    assert values(found[4])["power_w"] == 300
    assert values(found[4])["gpu_utilization"] is None


def test_messages_of_a_failing_driver_are_left_out_and_said(tmp_path: Path) -> None:
    trouble = "Unable to determine the device handle for GPU0000:01:00.0: Unknown Error"
    found = open_recording(write(tmp_path, HEADER, *rows(2), trouble, trouble))
    assert len(found) == 2
    assert "2 lines" in found.meta["notice"]
    assert trouble[:40] in found.meta["notice"]


def test_single_reasons_are_one_mask(tmp_path: Path) -> None:
    lines = [
        "timestamp, clocks_throttle_reasons.sw_power_cap, clocks_event_reasons.sw_thermal_slowdown",
        "2026/11/30 12:00:00.000, Active, Not Active",
        "2026/11/30 12:00:01.000, Active, Active",
        "2026/11/30 12:00:02.000, Not Active, Not Active",
        "2026/11/30 12:00:03.000, [N/A], [N/A]",
    ]
    assert [values(one)["throttle_reasons"] for one in samples(write(tmp_path, *lines))] == [4, 0x24, 0, None]


def test_without_a_time_one_look_a_second_is_assumed_and_said(tmp_path: Path) -> None:
    found = open_recording(write(tmp_path, "utilization.gpu [%], power.draw [W]", "1 %, 2.00 W", "3 %, 4.00 W"))
    assert list(found.times) == [0, 1]
    assert "no timestamp" in found.meta["notice"]


def test_more_gpus_than_a_machine_holds_are_left_out_and_said(tmp_path: Path) -> None:
    lines = [f"2026/11/30 12:00:00.000, {index}, 5 %" for index in range(3000)]
    recording = open_recording(write(tmp_path, "timestamp, index, utilization.gpu [%]", *lines))
    assert len(recording.sample(0).inventory) == 128
    assert "2872 lines that are no rows were left out" in recording.meta["notice"]


def test_an_index_longer_than_python_reads_is_a_name(tmp_path: Path) -> None:
    recording = open_recording(write(tmp_path, "index, utilization.gpu [%]", f"{'9' * 5000}, 5 %"))
    assert recording.sample(0).inventory[0].index == 0


def test_a_clock_that_was_set_back_does_not_turn_time_round(tmp_path: Path) -> None:
    lines = [row.replace(" 12:00:02", " 11:00:02").replace(" 12:00:03", " 11:00:03") for row in rows()]
    assert list(open_recording(write(tmp_path, HEADER, *lines)).times) == pytest.approx([0, 1, 2, 3])


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (rows(), "without its header"),
        ([row.replace(" %", "") for row in rows()], "without its header"),
        ([HEADER], "without a single figure"),
        (["timestamp, name, driver_version", "2026/11/30 12:00:00.000, NVIDIA H200, 580.1"], "none of these columns"),
        ([HEADER, "x" * (smi_csv.LONGEST_LINE + 10)], "too long"),
        (["epoch,loss", "1,0.3"], "not a GPUMon recording"),
        (["# notes", "some text"], "not a GPUMon recording"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_the_place(lines: list[str], says: str, tmp_path: Path) -> None:
    file = write(tmp_path, *lines)
    with pytest.raises(UnreadableInput) as caught:
        open_recording(file)
    assert says in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_figure_names_its_field() -> None:
    metrics = {metric for metric, _factor in (*smi_fields.FIELDS.values(), *smi_fields.LASTING.values())}
    metrics |= set(smi_fields.LASTING_TEXTS.values())
    assert metrics <= set(COUNTERS["smi"])
