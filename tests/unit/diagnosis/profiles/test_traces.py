"""What is counted in a trace: each expectation is worked out by hand on a time line of microseconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.diagnosis.report.profile import sections
from tests.unit.diagnosis.profiles.files import event, profile, write

GEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8"
HALF = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn"


def test_busy_copying_and_idle_add_up(tmp_path: Path) -> None:
    """0-1000: kernels 0-300 (two that overlap), a copy 250-500, idle 500-1000."""
    found = profile(
        write(
            tmp_path / "a.json",
            [
                event("cpu_op", "aten::mm", 0, 1000, **{"External id": 1}),
                event("kernel", GEMM, 0, 200, device=0, **{"External id": 1}),
                event("kernel", GEMM, 100, 200, device=0, **{"External id": 1}),
                event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 250, 250, device=0, bytes=4096),
            ],
        )
    )
    assert found["gpu_busy_share"] == pytest.approx(0.3)
    assert found["gpu_copy_share"] == pytest.approx(0.2)  # what it ran beside the kernels does not count
    assert found["gpu_idle_share"] == pytest.approx(0.5)
    assert found["kernel_count"] == 2
    assert found["operators"] == [{"name": "aten::mm", "count": 2, "seconds": pytest.approx(4e-4), "share": 1.0}]
    assert found["copies"] == [
        {"direction": "htod", "count": 1, "seconds": pytest.approx(2.5e-4), "bytes": 4096, "pageable_share": 1.0}
    ]


def test_gaps_say_what_the_cpu_did(tmp_path: Path) -> None:
    """Gaps 100-400 (data loader, and inside it an operator), 500-600 (nothing recorded), 700-1000 (synchronising)."""
    found = profile(
        write(
            tmp_path / "a.json",
            [
                event("cpu_op", "aten::empty", 0, 10),
                *(event("kernel", "k", at, 100, device=0) for at in (0, 400, 600)),
                event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 90, 300),
                event("cpu_op", "aten::stack", 150, 100),
                event("cuda_runtime", "cudaStreamSynchronize", 650, 350),
            ],
        )
    )
    idle = found["idle_while"]
    assert idle["data_loader"] == pytest.approx(0.29)
    assert idle["operator"] == 0  # what happens inside the data loader is the data loader's
    assert idle["synchronise"] == pytest.approx(0.3)
    assert idle["unrecorded"] == pytest.approx(0.11)
    assert found["gap_count"] == 3
    assert [(gap["while"], round(gap["start_s"] * 1e6), round(gap["seconds"] * 1e6)) for gap in found["gaps"]] == [
        ("synchronise", 700, 300),
        ("data_loader", 100, 300),
        ("unrecorded", 500, 100),
    ]
    assert found["gaps"][1]["event"].startswith("enumerate(DataLoader)")
    assert found["sync_share"] == pytest.approx(0.35)


def test_a_wait_costs_what_could_have_been_started_meanwhile(tmp_path: Path) -> None:
    """Step 1: a wait of 60 (40-100), then idle 100-300, of it 200-300 in the data loader: 60 could be won, no more.
    Step 2: a wait of 90 (310-400), then idle 400-450: 50. Nothing is idle behind the last one."""
    found = profile(
        write(
            tmp_path / "a.json",
            [
                *(event("kernel", "k", at, 100, device=0) for at in (0, 300, 450)),
                event("cuda_runtime", "cudaStreamSynchronize", 40, 60),
                event("user_annotation", "enumerate(DataLoader)#x.__next__", 200, 100),
                event("cuda_runtime", "cudaStreamSynchronize", 310, 90),
                event("cuda_runtime", "cudaStreamSynchronize", 500, 50),
            ],
        )
    )
    assert found["sync_loss_share"] == pytest.approx((60 + 50) / 550, rel=1e-5)
    assert found["sync_share"] == pytest.approx(200 / 550, rel=1e-5)


def test_python_frames_last_as_long_as_what_they_call(tmp_path: Path) -> None:
    """0-1000, a kernel 0-100: the program's own frames say nothing, the data loader's (200-500) does."""
    found = profile(
        write(
            tmp_path / "a.json",
            [
                event("kernel", "k", 0, 100, device=0),
                event("python_function", "train.py(12): main", 0, 1000),
                event("python_function", "torch/utils/data/dataloader.py(733): __next__", 200, 300),
                event("cpu_op", "aten::add", 990, 10),
            ],
        )
    )
    assert found["idle_while"]["data_loader"] == pytest.approx(0.3)
    assert found["idle_while"]["operator"] == pytest.approx(0.01)
    assert found["idle_while"]["unrecorded"] == pytest.approx(0.59)


def test_steps_bound_the_window(tmp_path: Path) -> None:
    """Before the first step the model is built; that is no idle time of the training."""
    found = profile(
        write(
            tmp_path / "a.json",
            [
                event("cpu_op", "aten::empty", 0, 100),
                event("user_annotation", "ProfilerStep#3", 400, 200),
                event("user_annotation", "ProfilerStep#4", 600, 400),
                event("kernel", "k", 400, 300, device=0),
            ],
        )
    )
    assert (found["step_count"], found["step_median_s"]) == (2, pytest.approx(4e-4))
    assert found["duration_s"] == pytest.approx(6e-4)
    assert found["gpu_busy_share"] == pytest.approx(0.5)


def test_each_gpu_by_itself(tmp_path: Path) -> None:
    """GPU 0 computes 0-800, GPU 1 0-400 and communicates 300-1000."""
    found = profile(
        write(
            tmp_path / "a.json",
            [
                event("kernel", "k", 0, 800, device=0),
                event("kernel", "k", 0, 400, device=1),
                event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 300, 700, device=1),
            ],
            deviceProperties=[
                {"id": 0, "name": "NVIDIA X", "computeMajor": 9, "computeMinor": 0},
                {"id": 1, "name": "NVIDIA Y", "computeMajor": 8, "computeMinor": 0},
            ],
            distributedInfo={"backend": "nccl", "rank": 1, "world_size": 4},
        )
    )
    first, second = found["devices"]
    assert (first["index"], first["name"], first["busy_share"]) == (0, "NVIDIA X", pytest.approx(0.8))
    assert (second["busy_share"], second["collective_share"]) == (pytest.approx(1.0), pytest.approx(0.7))
    assert second["exposed_collective_share"] == pytest.approx(0.6)
    assert found["gpu_exposed_collective_share"] == pytest.approx(0.3)
    assert (found["rank"], found["world_size"], found["compute_capability"]) == (1, 4, "9.0")


def test_tensor_cores(tmp_path: Path) -> None:
    events = [
        event("kernel", HALF, 0, 300, device=0),
        event("kernel", GEMM, 300, 100, device=0),
        event("kernel", "void at::native::vectorized_elementwise_kernel<4>()", 400, 100, device=0),
    ]
    found = profile(write(tmp_path / "a.json", events))
    assert found["tensor_core_share"] == pytest.approx(0.6)
    assert found["heavy_share"] == pytest.approx(0.8)
    assert found["heavy_tensor_core_share"] == pytest.approx(0.75)


def test_events_without_usable_times_are_left_out_and_counted(tmp_path: Path) -> None:
    good = [event("kernel", "k", 0, 100, device=0), event("cpu_op", "aten::mm", 0, 200)]
    bad = [
        event("kernel", "k", 50, -10, device=0),
        event("kernel", "k", float("nan"), 10, device=0),
        event("kernel", "k", 0, float("inf"), device=0),
        event("kernel", "k", 10**400, 10, device=0),
        {"ph": "X", "cat": "kernel", "name": "k", "dur": 5},
        {"cat": "kernel", "name": "k", "ts": 0, "dur": 5},
        {"ph": "X", "cat": "kernel", "ts": 1, "dur": 5},
        {"ph": "X", "cat": "kernel", "name": "k", "ts": "1", "dur": "5"},
    ]
    other: list[dict[str, Any]] = [
        {},
        {"ph": "M", "name": "process_name", "args": None},
        {"ph": "s", "id": 1},
        {"ph": "X", "args": []},
    ]
    path = tmp_path / "a.json"
    write(path, [*good, *bad, *other])
    found = profile(path)
    assert found["damaged_event_count"] == len(bad) + 1
    assert found["kernel_count"] == 1
    assert found["gpu_busy_share"] == pytest.approx(0.5)


def test_a_trace_of_copies_only_is_pytorchs_by_its_categories(tmp_path: Path) -> None:
    found = profile(write(tmp_path / "a.json", [event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 10)]))
    assert (found["format"], found["framework"]) == ("kineto", "torch")


def test_a_trace_without_a_name_of_its_own_is_nobodys(tmp_path: Path) -> None:
    events = [{"ph": "X", "pid": 1, "tid": 1, "name": "work", "ts": 0, "dur": 10}]
    found = profile(write(tmp_path / "a.json", events))
    assert "framework" not in found
    (section,) = sections({"profile": found})
    assert section["lines"][0].startswith("Framework not known: ")


def test_counts_are_of_the_window_like_the_shares(tmp_path: Path) -> None:
    steps = [event("user_annotation", f"ProfilerStep#{number}", 1000 + 100 * number, 100) for number in range(10)]
    inside = [event("cuda_runtime", "cudaStreamSynchronize", 1010 + 100 * number, 10) for number in range(10)]
    items = [event("cpu_op", "aten::item", 1010 + 100 * number, 10) for number in range(10)]
    before = [event("cuda_runtime", "cudaStreamSynchronize", 100 + number, 1) for number in range(500)]
    before += [event("cpu_op", "aten::item", 700 + number, 1) for number in range(200)]
    kernels = [event("kernel", "k", at, 5, device=0) for at in (200, 300, *range(1050, 2000, 100))]
    found = profile(write(tmp_path / "a.json", [*before, *steps, *inside, *items, *kernels]))
    assert (found["sync_count"], found["item_count"]) == (10, 10)
    assert found["kernels_per_s"] == pytest.approx(10 / 0.001)
    assert found["sync_share"] == pytest.approx(0.1)


def test_the_trace_viewer_of_tensorflow(tmp_path: Path) -> None:
    """Streams count; the rows made from them ("TensorFlow Ops") show the same time again."""
    named = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0 (NVIDIA X)"}},
        {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "/host:CPU"}},
        {"ph": "M", "pid": 1, "tid": 5, "name": "thread_name", "args": {"name": "Stream #5(Compute,MemcpyH2D)"}},
        {"ph": "M", "pid": 1, "tid": 6, "name": "thread_name", "args": {"name": "TensorFlow Ops"}},
    ]
    details = "kind_src:pageable kind_dst:device size:1024 dest:0 async:1"
    events = [
        {"ph": "X", "pid": 2, "tid": 1, "name": "train 0", "ts": 0, "dur": 1000, "args": {"step_num": "0"}},
        {"ph": "X", "pid": 2, "tid": 1, "name": "IteratorGetNext", "ts": 0, "dur": 500, "args": {}},
        {"ph": "X", "pid": 1, "tid": 5, "name": HALF, "ts": 500, "dur": 200, "args": {"tf_op": "dense/MatMul:MatMul"}},
        {"ph": "X", "pid": 1, "tid": 6, "name": "dense/MatMul", "ts": 500, "dur": 200},
        {
            "ph": "X",
            "pid": 1,
            "tid": 5,
            "name": "MemcpyH2D",
            "ts": 700,
            "dur": 100,
            "args": {"memcpy_details": details},
        },
    ]
    found = profile(write(tmp_path / "trace.json", [*named, *events]))
    assert found["framework"] == "tensorflow"
    assert (found["gpu_busy_share"], found["gpu_copy_share"]) == (pytest.approx(0.2), pytest.approx(0.1))
    assert found["idle_while"]["data_loader"] == pytest.approx(0.5)
    assert found["operators"][0]["name"] == "dense/MatMul"
    assert found["copies"][0]["bytes"] == 1024
    assert found["copies"][0]["pageable_share"] == 1.0
