"""Each scripted machine, watched for a while: what the user must see, and what must never be seen.

The list of faults (rows) is that of other monitors' bug reports; every one about readings has a scenario.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpumon_gui.core.clock import FakeClock, SystemClock
from gpumon_gui.core.metrics import METRICS, Unit
from gpumon_gui.core.model import Demand, DeviceState, Sample
from gpumon_gui.core.values import Missing, Reading, number
from gpumon_gui.telemetry import codec
from gpumon_gui.telemetry.derive.process_state import StateTracker
from gpumon_gui.telemetry.process import SamplerProcess
from gpumon_gui.telemetry.sampler import Sampler
from gpumon_gui.telemetry.sampler_status import Limits, SampleReady, SamplerState
from gpumon_gui.telemetry.supervisor import Supervisor
from gpumon_gui.telemetry.synthetic import scenarios
from gpumon_gui.telemetry.synthetic.names import NAMES, UnknownScenario
from gpumon_gui.telemetry.synthetic.scenario import Machine, Scenario
from gpumon_gui.telemetry.synthetic.table import SCENARIOS, build_machine, build_scenario, find_scenario
from gpumon_gui.telemetry.table import build_sampler
from tests.unit.seen import lines

GENTLE = tuple(scenario for scenario in SCENARIOS if not scenario.deadly)
DEADLY = tuple(scenario for scenario in SCENARIOS if scenario.deadly)

#: Bug reports of other monitors that concern readings, in short.
ROWS = {
    1: "the driver is restarted: stale handles, dead process",
    2: "one lost GPU hides the healthy ones",
    3: "rubbish bytes for names and numbers (555.85 on WSL)",
    4: "memory of a process not available: exabytes",
    5: "4294967295 %, DCGM blanks",
    6: "utilization above 100, samples of dead processes",
    7: "593 W on an idle laptop; counters that wrap and reset",
    8: "driver and library differ: silence",
    9: "another struct layout: pids and memory mixed up",
    10: "zombie, vanished and recycled pids",
    11: "MIG or unsupported shown as 0 %",
    12: "unified memory: a total of 0",
    13: "GPU unplugged, GPU appears",
    14: "init or a getter never returns",
    15: "missing rights; guests without figures",
    16: "16 cards unreadable, 8 freeze",
    17: "names in other scripts, lone surrogates",
    18: "power frozen after suspend",
    19: "Windows charges everyone's memory to one process",
    20: "sum of engines is 300 %",
    21: "the monitor wakes or keeps awake the laptop's GPU",
    22: "the integrated card is taken for the GPU",
    23: "foreign or missing pids in containers and WSL",
    24: "a getter that is not supported raises",
    25: "no driver at all, other vendors only",
}
#: Rows that no scenario needs to cover, each with the reason.
LEFT_OUT: dict[int, str] = {}


class Watch:
    """A machine being watched on a fake clock."""

    def __init__(self, name: str) -> None:
        self.clock = FakeClock()
        self.machine: Machine = build_machine(name, self.clock)
        self.sampler = Sampler(list(self.machine.sources), self.machine.host, self.clock)
        self.tracker = StateTracker()
        self.samples: list[Sample] = []
        self.seen: list[str] = []

    def sweep(self, demand: Demand | None = None) -> Sample:
        """One look; ``seen`` is what the user sees then."""
        sample = self.sampler.sweep(demand or Demand())
        self.samples.append(sample)
        self.seen = lines(codec.unpack(codec.pack(sample)), self.tracker)  # windows get samples through the pipe
        return sample

    def run(self, seconds: float) -> Iterator[Sample]:
        """A look in every second."""
        for _ in range(int(seconds)):
            yield self.sweep()
            self.clock.advance(1.0)
        yield self.sweep()

    def close(self) -> None:
        self.sampler.close()


@pytest.mark.parametrize("name", ["lost-gpu", "reset-required"])
def test_a_lost_gpu_stays_one(name: str) -> None:
    watch = Watch(name)
    try:
        for sample in watch.run(120):  # the driver is started anew meanwhile, and the card cannot say its name
            assert [info.index for info in sample.inventory] == [0, 1, 2]
    finally:
        watch.close()
    (lost,) = (info.key for info in sample.inventory if sample.devices[info.key].state is DeviceState.LOST)
    assert lost == watch.samples[0].inventory[1].key


@pytest.mark.parametrize("scenario", GENTLE, ids=lambda scenario: scenario.name)
def test_the_user_sees_what_is_so(scenario: Scenario) -> None:
    watch = Watch(scenario.name)
    try:
        for sample in watch.run(scenario.watch_s):
            everything = "\n".join(watch.seen)
            for text in (*scenario.never, "internal fault", "nothing at all"):
                assert text not in everything, f"{text!r} after {len(watch.samples)} looks:\n{everything}"
            _is_sound(sample)
            _survives_export(sample)
        for text in scenario.shows:
            assert any(text in line for line in watch.seen), f"{text!r} is not to be seen in:\n{everything}"
    finally:
        watch.close()


def _is_sound(sample: Sample) -> None:
    """Every number is within its metric's bounds, whatever the driver says."""
    for values in (
        *(device.values for device in sample.devices.values()),
        *(info.static for info in sample.inventory),
        *(use.values for process in sample.processes for use in process.uses),
    ):
        for metric_id, value in values.items():
            metric = METRICS[metric_id]
            if isinstance(value, Reading) and metric.unit is not Unit.TEXT:
                assert not isinstance(value.value, str)
                slack = 0.05 if metric.unit is Unit.RATIO else 0.0  # engine times of one sweep are not simultaneous
                assert metric.low <= value.value <= metric.high + slack, (metric_id, value)
    assert {info.key for info in sample.inventory} >= set(sample.devices)
    for process in sample.processes:
        assert {use.device for use in process.uses} <= {info.key for info in sample.inventory}


def _survives_export(sample: Sample) -> None:
    """Frames and JSON say the same as the sample; a missing value never becomes a number."""
    through_pipe = codec.unpack(codec.pack(sample))
    assert codec.load(codec.dump(sample)) == through_pipe
    for key, device in sample.devices.items():
        for metric, value in device.values.items():
            exported = codec.to_plain(sample)["dev"][key]["v"][metric]
            assert (exported[0] is None) == isinstance(value, Missing)
            assert isinstance(through_pipe.devices[key].values[metric], Missing) == isinstance(value, Missing)


# -- machines that hang or kill the process that reads them ----------------------------------------------------------

IMPATIENT = Limits(silent_s=0.4, hang_s=0.8, pauses_s=(0.05,), retries_s=(60.0,), step_s=0.2)


@pytest.mark.parametrize("scenario", DEADLY, ids=lambda scenario: scenario.name)
def test_a_deadly_driver_is_outlived_and_named(scenario: Scenario) -> None:
    """The real sampler process under the real supervisor, with short limits."""
    supervisor = Supervisor(
        lambda skip: SamplerProcess(skip, scenario=scenario.name),
        SystemClock(),
        Demand(interval_s=0.1),
        IMPATIENT,
    )
    end_s = time.monotonic() + 40
    seen: list[str] = []
    states: list[SamplerState] = []
    try:
        while time.monotonic() < end_s and not _all_seen(scenario, seen):
            for event in supervisor.step(0.2):
                if isinstance(event, SampleReady):
                    seen = lines(event.sample, StateTracker())
                else:
                    states.append(event.status.state)
        for text in scenario.shows:
            assert any(text in line for line in seen), f"{text!r} is not to be seen in:\n" + "\n".join(seen)
        assert any("host | CPU: " in line and "%" in line for line in seen), "the rest of the machine goes on"
        assert (SamplerState.HUNG if "hang" in scenario.name else SamplerState.DEAD) in states
    finally:
        outcome = supervisor.close()
    assert not outcome.stuck_pids


def _all_seen(scenario: Scenario, seen: list[str]) -> bool:
    wanted = (*scenario.shows, "host | CPU: ")
    return all(any(text in line and "second sample" not in line for line in seen) for text in wanted)


# -- single machines, looked at closely ------------------------------------------------------------------------------


def test_counters_become_speeds_over_wrap_and_reset() -> None:
    watch = Watch("counter-wrap")
    sent, received, power = [], [], []
    for sample in watch.run(75):
        (device,) = sample.devices.values()
        sent.append(device.values["pcie_tx_bytes_per_s"])
        received.append(device.values["pcie_rx_bytes_per_s"])
        power.append(device.values["power_energy_w"])
    assert isinstance(sent[0], Missing)
    for value in sent[1:]:  # the counter wraps at second 4
        assert isinstance(value, Reading)
        assert value.value == pytest.approx(100e6, rel=1e-6)
    gaps = [at for at, value in enumerate(received) if isinstance(value, Missing)]
    assert gaps == [0, 40]  # the first look, and the reset: never a negative or an absurd speed
    readings = {round(float(value.value)) for value in power if isinstance(value, Reading)}
    assert readings == {250}


@pytest.mark.parametrize("name", ["laptop-hybrid", "windows-asleep"])
def test_a_sleeping_gpu_is_neither_woken_nor_kept_awake(name: str) -> None:
    watch = Watch(name)
    library = watch.machine.nvml
    assert library is not None
    states: list[DeviceState] = []
    for sample in watch.run(100):
        (key,) = (info.key for info in sample.inventory if info.vendor.lower() == "nvidia")
        states.append(sample.devices[key].state)
        if len(states) <= 20:
            assert not library.calls, "NVML was touched while its only GPU slept"
    assert set(states[:20]) == {DeviceState.ASLEEP}
    assert set(states[22:40]) == {DeviceState.OK}
    assert states[-1] is DeviceState.ASLEEP, "GPUMon keeps the GPU awake after the program has ended"
    assert states.index(DeviceState.ASLEEP, 40) < 75
    assert watch.machine.wakes() == 0
    assert not library.session_open


def test_the_program_on_the_laptops_gpu_is_seen_while_it_runs() -> None:
    watch = Watch("laptop-hybrid")
    seen_at = [at for at, sample in enumerate(watch.run(45)) if any(p.name == "blender" for p in sample.processes)]
    assert seen_at[0] in (20, 21)
    assert seen_at[-1] == 39


def test_no_handle_of_an_old_session_is_used_after_a_driver_restart() -> None:
    watch = Watch("driver-restart")
    library = watch.machine.nvml
    assert library is not None
    keys = [tuple(sorted(sample.devices)) for sample in watch.run(15)]
    assert library.stale_calls == 0
    assert len(set(keys)) == 1, "the same cards under the same keys before, during and after"
    watch.close()
    assert library.open_samples == 0


def test_a_lost_gpu_is_not_asked_again_in_every_sweep() -> None:
    watch = Watch("lost-gpu")
    library = watch.machine.nvml
    assert library is not None
    for _ in watch.run(8):
        pass
    watch.clock.advance(1.0)
    before = library.calls["nvmlDeviceGetTemperature"]
    watch.sweep()
    assert library.calls["nvmlDeviceGetTemperature"] - before == 2  # the healthy ones
    for _ in watch.run(1200):
        pass
    assert library.calls["nvmlInit_v2"] <= 8, "NVML is restarted less and less often for a card that stays lost"


def test_a_recycled_pid_is_another_process() -> None:
    watch = Watch("recycled-pid")
    found = [sample.processes[0] for sample in watch.run(7)]
    assert {process.pid for process in found} == {520}
    assert len({process.started_utc_s for process in found}) == 2
    assert [process.name for process in found] == ["trainer"] * 4 + ["editor"] * 4


def test_impossible_values_are_counted() -> None:
    watch = Watch("all-ones")
    for _ in watch.run(3):
        pass
    health = next(health for health in watch.samples[-1].health if health.name == "nvml")
    first = next(health for health in watch.samples[0].health if health.name == "nvml")
    assert first.implausible >= 8
    assert health.implausible == pytest.approx(4 * first.implausible, rel=0.2)


@pytest.mark.parametrize("scenario", GENTLE, ids=lambda scenario: scenario.name)
def test_no_machine_does_less_than_its_programs(scenario: Scenario) -> None:
    watch = Watch(scenario.name)
    for _second in range(6):
        sample = watch.sweep(Demand(cpu_processes=True))
        if sample.host.cores:
            used = sum(number(one.values.get("process_cpu")) or 0.0 for one in sample.processes)
            assert used <= sum(sample.host.cores) + 0.01
        watch.clock.advance(1.0)


def test_names_of_all_scripts_reach_the_export() -> None:
    watch = Watch("process-names")
    exported = codec.load(codec.dump(watch.sweep()))
    names = [process.name for process in exported.processes]
    assert names[:4] == ["训练模型", "обучение", "学習-🚀", "caf\\udce9-model"]
    assert exported.processes[0].user == "用户"


def test_processes_of_a_split_card_count_once() -> None:
    watch = Watch("mig")
    (process,) = watch.sweep().processes
    (use,) = process.uses
    info = watch.samples[-1].info(use.device)
    assert info is not None
    assert info.name.endswith("MIG 3g.40gb")


@pytest.mark.parametrize(("name", "count"), [("eight-gpus", 8), ("sixteen-gpus", 16), ("twenty-gpus", 20)])
def test_many_cards_each_have_their_own_row_in_bus_order(name: str, count: int) -> None:
    watch = Watch(name)
    sample = watch.sweep()
    addresses = [info.pci_address for info in sample.inventory]
    assert len(set(addresses)) == count
    assert addresses == sorted(str(address) for address in addresses)


def test_a_look_at_many_cards_takes_few_calls_per_card() -> None:
    watch = Watch("twenty-gpus")
    library = watch.machine.nvml
    assert library is not None
    for _ in watch.run(3):
        pass
    before = sum(library.calls.values())
    watch.clock.advance(1.0)
    watch.sweep()
    per_card = (sum(library.calls.values()) - before) / 20
    assert per_card <= 20  # 14 core figures, two lists, utilization of processes, one batch of fields, the rare ones


def test_windows_knows_a_laptops_cards_by_their_place_not_by_their_order() -> None:
    watch = Watch("windows-laptop")
    for _ in watch.run(3):
        pass
    sample = watch.samples[-1]
    by_name = {info.name: info for info in sample.inventory}
    nvidia = by_name["NVIDIA GeForce RTX 3070 Laptop GPU"]
    assert nvidia.sources == ("nvml", "dxgi", "pdh")
    assert nvidia.pci_address == "00000000:01:00.0"
    assert nvidia.luid == 0x11B3C
    busiest = sample.devices[nvidia.key].values["engine_utilization"]
    assert isinstance(busiest, Reading)
    assert float(busiest.value) <= 1.0, "the busiest engine, not the sum of all"
    (trainer,) = (process for process in sample.processes if process.pid == 11_972)
    memory = trainer.uses[0].values["process_memory_bytes"]
    assert isinstance(memory, Reading)
    assert memory.source == "pdh"


# -- the table -------------------------------------------------------------------------------------------------------


def test_every_row_about_readings_has_a_scenario() -> None:
    covered = {row for scenario in SCENARIOS for row in scenario.rows}
    assert covered | LEFT_OUT.keys() == ROWS.keys()
    assert not covered & LEFT_OUT.keys()


def test_names_are_unique_and_every_file_is_listed() -> None:
    names = [scenario.name for scenario in SCENARIOS]
    assert len(set(names)) == len(names)
    assert tuple(names) == NAMES
    files = {path.stem for path in Path(scenarios.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {str(scenario.build.__module__).rpartition(".")[2] for scenario in SCENARIOS}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_each_says_in_one_sentence_what_it_is(scenario: Scenario) -> None:
    assert scenario.description.endswith(".")
    assert "\n" not in scenario.description
    assert scenario.shows, "a scenario without anything to see tests nothing"


def test_an_unknown_name_lists_those_that_exist() -> None:
    with pytest.raises(UnknownScenario, match=r"no-such-one.*dead-processes.*wddm"):
        find_scenario("no-such-one")
    with pytest.raises(UnknownScenario):
        build_sampler(scenario="no-such-one", clock=FakeClock())


def test_the_sampler_of_the_program_runs_a_scenario() -> None:
    sampler = build_sampler(scenario="one-gpu-training", clock=FakeClock())
    assert sampler.sweep(Demand()).inventory[0].name == "NVIDIA GeForce RTX 4090"
    assert (
        build_sampler(scenario="one-gpu-training", skip=frozenset({"nvml"}), clock=FakeClock())
        .sweep(Demand())
        .inventory
        == ()
    )


def test_kernel_files_vanish_with_the_machine() -> None:
    sources, host = build_scenario("mixed-vendors", FakeClock())
    root: Path = sources[0].source._root  # type: ignore[attr-defined]
    assert (root / "sys").is_dir()
    del sources, host
    gc.collect()
    assert not root.exists()
