"""The words for what a process does: they must be right, and they must not flicker."""

from __future__ import annotations

from collections.abc import Sequence

from gpumon_gui.core.model import (
    DeviceKey,
    DeviceSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.derive.process_state import (
    ProcessState,
    StateTracker,
    busiest,
    process_id,
    state_help,
    state_text,
    total,
)

GPU0, GPU1 = DeviceKey("pci:00000000:01:00.0"), DeviceKey("pci:00000000:02:00.0")
START_UTC = 1_800_000_000.0
NOT_OFFERED = Missing(Reason.NOT_SUPPORTED, "nvml", "NVML_ERROR_NOT_SUPPORTED")


def reading(value: float) -> Reading:
    return Reading(value, "nvml")


def use(value: Value, kind: UseKind = UseKind.COMPUTE, device: DeviceKey = GPU0, engine: str = "") -> ProcessUse:
    values = {"process_gpu_utilization": value, "process_memory_bytes": reading(1 << 30)}
    return ProcessUse(10, device, kind, values, engine)


def process(
    *uses: ProcessUse,
    presence: ProcessPresence = ProcessPresence.RUNNING,
    age_s: float = 1000.0,
    framework: str = "",
    cpu: float = 1.0,
) -> ProcessSample:
    return ProcessSample(
        10,
        START_UTC - age_s,
        "python",
        presence,
        framework=framework,
        uses=uses,
        values={"process_cpu": reading(cpu)},
    )


def follow(
    processes: Sequence[ProcessSample], tracker: StateTracker | None = None, gpu: Value = NOT_OFFERED
) -> list[ProcessState]:
    """The state after each of the samples, one second apart."""
    tracker = tracker or StateTracker()
    states = []
    for second, one in enumerate(processes):
        device = DeviceSample(GPU0, values={"gpu_utilization": gpu})
        sample = Sample(second, 100.0 + second, START_UTC + second, 1.0, (), {GPU0: device}, (one,))
        states.append(tracker.update(sample)[process_id(one)].state)
    return states


def test_a_busy_process_computes() -> None:
    assert follow([process(use(reading(0.9)))]) == [ProcessState.COMPUTING]


def test_a_launch_bound_job_with_single_zeros_does_not_flap() -> None:
    values = [0.14, 0.0, 0.0, 0.14, 0.0, 0.13, 0.0, 0.0, 0.0, 0.14]
    states = follow([process(use(reading(value))) for value in values])
    assert set(states) == {ProcessState.COMPUTING}


def test_a_job_that_stops_is_called_idle_after_some_seconds_and_stays_so() -> None:
    states = follow([process(use(reading(value))) for value in [0.9] + [0.0] * 12])
    assert states[3] is ProcessState.COMPUTING
    assert states[8] is ProcessState.HOLDING
    assert set(states[8:]) == {ProcessState.HOLDING}


def test_memory_held_with_nothing_running() -> None:
    assert follow([process(use(reading(0.0)))] * 3)[-1] is ProcessState.HOLDING


def test_without_per_process_utilization_the_answer_is_cannot_tell_with_the_reason() -> None:
    tracker = StateTracker()
    one = process(use(NOT_OFFERED))
    assert follow([one] * 3, tracker, gpu=reading(0.5))[-1] is ProcessState.UNKNOWN
    judgement = tracker.update(Sample(9, 200.0, START_UTC, 1.0, (), {}, (one,)))[process_id(one)]
    assert state_text(judgement) == "Cannot tell"
    assert "not supported by this device or driver (NVML_ERROR_NOT_SUPPORTED)" in state_help(judgement)


def test_on_a_device_that_was_idle_all_the_time_nobody_computed() -> None:
    assert follow([process(use(NOT_OFFERED))] * 3, gpu=reading(0.0))[-1] is ProcessState.HOLDING


def test_a_framework_without_gpu_is_on_the_cpu_only() -> None:
    assert follow([process(framework="PyTorch", cpu=15.9)]) == [ProcessState.CPU_ONLY]
    assert follow([process(framework="PyTorch", cpu=0.0)]) == [ProcessState.IDLE]


def test_a_data_loader_of_a_gpu_process_is_its_worker_and_not_left_on_the_cpu() -> None:
    parent = process(use(reading(0.9)))
    worker = ProcessSample(11, START_UTC, "python", ProcessPresence.RUNNING, ppid=parent.pid, framework="PyTorch")
    stranger = ProcessSample(12, START_UTC - 99, "python", ProcessPresence.RUNNING, ppid=1, framework="PyTorch")
    sample = Sample(1, 100.0, START_UTC, 1.0, (), {}, (parent, worker, stranger))
    judged = StateTracker().update(sample)
    assert judged[process_id(worker)].state is ProcessState.WORKER
    assert judged[process_id(stranger)].state is ProcessState.CPU_ONLY


def test_a_young_process_is_starting_until_it_computes() -> None:
    young = [process(use(reading(0.0)), age_s=3), process(use(reading(0.4)), age_s=3)]
    assert follow(young) == [ProcessState.STARTING, ProcessState.COMPUTING]
    assert follow([process(framework="PyTorch", age_s=3)]) == [ProcessState.STARTING]


def test_processes_the_system_does_not_run() -> None:
    for presence, state in (
        (ProcessPresence.EXITED, ProcessState.EXITED),
        (ProcessPresence.ZOMBIE, ProcessState.EXITED),
        (ProcessPresence.FOREIGN, ProcessState.FOREIGN),
    ):
        assert follow([process(use(reading(0.9)), presence=presence)]) == [state]


def test_graphics_is_told_by_kind_on_linux_and_by_engine_on_windows() -> None:
    assert follow([process(use(reading(0.3), UseKind.GRAPHICS))]) == [ProcessState.GRAPHICS]
    assert follow([process(use(reading(0.3), UseKind.BOTH, engine="3D"))]) == [ProcessState.GRAPHICS]
    for engine in ("Cuda", "Compute_0", "Compute 1", "Neural"):
        assert follow([process(use(reading(0.3), UseKind.BOTH, engine=engine))]) == [ProcessState.COMPUTING]
    assert follow([process(use(reading(0.3), UseKind.BOTH))]) == [ProcessState.USING]
    assert follow([process(use(reading(0.3), UseKind.BOTH), framework="PyTorch")]) == [ProcessState.COMPUTING]
    directml = process(use(reading(0.3), UseKind.UNKNOWN, engine="3D"), framework="ONNX Runtime")
    assert follow([directml]) == [ProcessState.COMPUTING]


def test_a_recycled_pid_does_not_inherit_the_past() -> None:
    tracker = StateTracker()
    follow([process(use(reading(0.9)))], tracker)
    other = process(use(reading(0.0)), age_s=500)
    sample = Sample(1, 101.0, START_UTC + 1, 1.0, (), {}, (other,))
    assert tracker.update(sample)[process_id(other)].state is ProcessState.HOLDING


def test_a_seek_back_in_a_replay_starts_over() -> None:
    tracker = StateTracker()
    follow([process(use(reading(0.9)))] * 5, tracker)
    one = process(use(reading(0.0)))
    earlier = tracker.update(Sample(0, 50.0, START_UTC - 50, 1.0, (), {}, (one,)))
    assert earlier[process_id(one)].state is ProcessState.HOLDING


def test_the_busiest_device_counts_and_missing_never_hides_a_number() -> None:
    found = busiest((use(NOT_OFFERED), use(reading(0.2), device=GPU1, engine="Compute_0"), use(reading(0.1))))
    assert found == (reading(0.2), GPU1, "Compute_0")
    assert busiest((use(NOT_OFFERED),)).utilization == NOT_OFFERED


def test_memory_adds_up_over_devices_and_skips_what_is_missing() -> None:
    unknown = ProcessUse(10, GPU1, UseKind.COMPUTE, {"process_memory_bytes": NOT_OFFERED})
    assert total((use(reading(0)), unknown), "process_memory_bytes") == reading(1 << 30)
    assert total((unknown,), "process_memory_bytes") == NOT_OFFERED
