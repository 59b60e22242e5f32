"""Windows' two sources together: one card is one device, without any vendor's library."""

from __future__ import annotations

from collections.abc import Sequence

from gpumon_gui.core.clock import FakeClock, Instant
from gpumon_gui.core.identity import key_of
from gpumon_gui.core.model import Demand, DeviceKind, HostSample, ProcessSample, ProcessUse, Sample
from gpumon_gui.core.values import Reading
from gpumon_gui.telemetry.base import Source
from gpumon_gui.telemetry.dxgi.library import D3dkmt
from gpumon_gui.telemetry.dxgi.source import DxgiSource, Windows
from gpumon_gui.telemetry.pdh.library import Pdh
from gpumon_gui.telemetry.pdh.source import PdhSource
from gpumon_gui.telemetry.sampler import Sampler
from tests.unit.dxgi_dll import GIB, MIB, Card, FakeGdi, FakePnp, FakeRegistry
from tests.unit.pdh_dll import DEDICATED, LOCAL, NON_LOCAL, SHARED, UTILIZATION, FakeDll, Row

RADEON, INTEGRATED, BASIC = 0x16626, 0x1A331, 0xD0D0
RADEON_KEY = key_of(pci="00000000:03:00.0")


class Host:
    """Takes the uses as they come."""

    uses: Sequence[ProcessUse] = ()

    def open(self) -> None: ...

    def read_host(self, now: Instant) -> HostSample:
        return HostSample()

    def describe(
        self, uses: Sequence[ProcessUse], now: Instant, *, cpu_processes: bool, pids: tuple[int, ...] = ()
    ) -> tuple[ProcessSample, ...]:
        self.uses = uses
        return ()

    def close(self) -> None: ...


def counters(radeon: int) -> dict[str, list[Row]]:
    game = f"pid_10736_luid_0x00000000_0x{radeon:08X}_phys_0"
    dwm = f"pid_1500_luid_0x00000000_0x{INTEGRATED:08X}_phys_0"
    basic = f"pid_4_luid_0x00000000_0x{BASIC:08X}_phys_0"
    return {
        UTILIZATION: [
            (f"{game}_eng_0_engtype_3D", 0, 12.0),
            (f"{game}_eng_2_engtype_Compute 0", 0, 88.0),
            (f"{dwm}_eng_0_engtype_High Priority 3D", 0, 100.0),
            *((f"{basic}_eng_{index}_engtype_3D", 0, 0.0) for index in range(33)),
        ],
        DEDICATED: [
            (f"luid_0x00000000_0x{radeon:08X}_phys_0", 0, 9 * GIB),
            (f"luid_0x00000000_0x{INTEGRATED:08X}_phys_0", 0, 400 * MIB),
        ],
        SHARED: [(f"luid_0x00000000_0x{radeon:08X}_phys_0", 0, 200 * MIB)],
        LOCAL: [(game, 0, 8 * GIB)],
        NON_LOCAL: [(game, 0, 100 * MIB)],
    }


def cards(radeon: int) -> tuple[Card, ...]:
    return (
        Card(
            radeon,
            "AMD Radeon RX 7900 XTX",
            (0x1002, 0x744C),
            0x03,
            (3, 0, 0),
            (24 * GIB, 16 * GIB),
            perf=(2 * 10**9, 900, 0, 610),
        ),
        Card(INTEGRATED, "AMD Radeon(TM) Graphics", (0x1002, 0x164E), 0x03, (0x11, 0, 0), (512 * MIB, 16 * GIB)),
        Card(BASIC, "Microsoft Basic Render Driver", (0x1414, 0x8C), 0x05, memory=(0, 16 * GIB)),
    )


class Machine:
    def __init__(self) -> None:
        self.dll = FakeDll(counters(RADEON))
        self.gdi = FakeGdi(*cards(RADEON))
        self.clock = FakeClock()
        self.host = Host()
        windows = Windows(D3dkmt(self.gdi), FakeRegistry(), FakePnp())
        sources: list[Source] = [DxgiSource(lambda: windows), PdhSource(lambda: Pdh(self.dll))]
        self.sampler = Sampler(sources, self.host, self.clock)

    def sweep(self, times: int = 2) -> Sample:
        for _ in range(times):
            self.clock.advance(2.0)
            sample = self.sampler.sweep(Demand())
        return sample


def test_a_machine_without_nvidia_shows_its_gpus() -> None:
    sample = Machine().sweep()
    assert [(info.name, info.kind, info.sources) for info in sample.inventory] == [
        ("AMD Radeon RX 7900 XTX", DeviceKind.DISCRETE, ("dxgi", "pdh")),
        ("AMD Radeon(TM) Graphics", DeviceKind.INTEGRATED, ("dxgi", "pdh")),
        ("Microsoft Basic Render Driver", DeviceKind.SOFTWARE, ("dxgi", "pdh")),
    ]
    card = sample.devices[RADEON_KEY]
    assert card.values["engine_utilization"] == Reading(0.88, "pdh")
    assert card.values["memory_used_bytes"] == Reading(9 * GIB, "pdh")
    assert card.values["temperature_c"] == Reading(61.0, "dxgi")
    assert [health.code for health in sample.health] == ["", "", ""]


def test_the_integrated_gpu_is_not_taken_for_the_card() -> None:
    machine = Machine()
    sample = machine.sweep()
    integrated = sample.devices[key_of(pci="00000000:11:00.0")]
    assert integrated.values["engine_utilization"] == Reading(1.0, "pdh")
    assert {(use.pid, use.device, use.engine) for use in machine.host.uses} == {
        (10736, RADEON_KEY, "Compute 0"),
        (1500, key_of(pci="00000000:11:00.0"), "High Priority 3D"),
    }


def test_a_driver_restart_keeps_the_device_under_its_key() -> None:
    machine = Machine()
    machine.sweep()
    machine.gdi.restart(*cards(0x99999))
    machine.dll.steps = [counters(0x99999)]
    sample = machine.sweep(1)
    assert len(sample.inventory) == 3
    info = sample.info(RADEON_KEY)
    assert info is not None
    assert info.luid == 0x99999
    assert sample.devices[RADEON_KEY].values["engine_utilization"] == Reading(0.88, "pdh")
    assert "driver-restarted" in {health.code for health in sample.health}
