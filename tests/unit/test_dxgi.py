"""Windows' adapters: what they are, what they can hold, what is on which PCI address, who sleeps."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.identity import key_of, same_device
from gpumon_gui.core.model import Demand, DeviceInfo, DeviceKey, DeviceKind, DeviceSample, DeviceState, SourceState
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.base import Source, SourceUnavailable
from gpumon_gui.telemetry.dxgi import library as kmt
from gpumon_gui.telemetry.dxgi.adapters import (
    Adapter,
    directx_text,
    hags_text,
    kind_of,
    model_text,
    pci_of,
    version_text,
)
from gpumon_gui.telemetry.dxgi.library import D3dkmt, KmtError
from gpumon_gui.telemetry.dxgi.pnp import ConfigManager, PnpDevice
from gpumon_gui.telemetry.dxgi.registry import (
    ClassFacts,
    DirectxFacts,
    Registry,
    class_facts,
    class_facts_by_name,
    directx_facts,
    iso_date,
)
from gpumon_gui.telemetry.dxgi.source import DxgiSource, Windows
from tests.unit.dxgi_dll import GIB, MIB, Card, FakeConfigManager, FakeGdi, FakePnp, FakeRegistry

DISPLAY = "{4d36e968-e325-11ce-bfc1-08002be10318}"
ACCELERATOR = "{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}"
D0, D3 = 1, 4


def nvidia(luid: int = 0xC7A5) -> Card:
    return Card(
        luid,
        "NVIDIA GeForce RTX 4090",
        (0x10DE, 0x2684),
        type_bits=0x0B,  # renders, shows, boots
        address=(1, 0, 0),
        memory=(24215 * MIB, 32 * GIB),
        kmd_version=32 << 48 | 0 << 32 | 15 << 16 | 5244,
        wddm=3100,
        hags=0b011,
        nodes=((1, ""), (6, ""), (2, ""), (0, "Cuda"), (0, "Compute_0")),
        perf=(10_501_000_000, 1500, 915, 680),
        max_fan_rpm=3000,
    )


def intel(luid: int = 0x9D41) -> Card:
    return Card(
        luid,
        "Intel(R) Iris(R) Xe Graphics",
        (0x8086, 0x9A49),
        type_bits=0x03,
        address=(0, 2, 0),
        memory=(128 * MIB, 16 * GIB),
        umd_version=31 << 48 | 101 << 16 | 5186,
        wddm=2700,
        hags=0b000,
        perf=(0, 0, 0, 0),
    )


def npu() -> Card:
    return Card(
        0xBEEF,
        "Intel(R) AI Boost",
        (0x8086, 0x7D1D),
        1 << 11,
        address=(0, 11, 0),
        memory=(0, 16 * GIB),
        wddm=3200,
        compute_only=True,
    )


def basic_render() -> Card:
    return Card(0xD0D0, "Microsoft Basic Render Driver", (0x1414, 0x8C), type_bits=0x05, memory=(0, 16 * GIB))


NVIDIA_KEY, INTEL_KEY = key_of(pci="00000000:01:00.0"), key_of(pci="00000000:00:02.0")


class Bench:
    """A source on stand-ins, read every two seconds."""

    def __init__(self, gdi: FakeGdi, registry: Registry | None = None, pnp: FakePnp | None = None) -> None:
        self.gdi = gdi
        self.pnp = pnp or FakePnp()
        windows = Windows(D3dkmt(gdi), registry or FakeRegistry(), self.pnp)
        self.source = DxgiSource(lambda: windows)
        self.clock = FakeClock()
        self.source.open()

    def infos(self) -> dict[DeviceKey, DeviceInfo]:
        self.clock.advance(2.0)
        return {info.key: info for info in self.source.devices(self.clock.now())}

    def tick(self) -> Mapping[DeviceKey, DeviceSample]:
        self.infos()
        return self.source.read(self.clock.now(), Demand())


def reason(value: Value) -> Reason:
    assert isinstance(value, Missing), value
    return value.reason


# -- layouts


@pytest.mark.parametrize(
    ("layout", "size", "offsets"),
    [
        (kmt.Luid, 8, {"LowPart": 0, "HighPart": 4}),
        (kmt.AdapterInfo, 20, {"AdapterLuid": 4, "NumOfSources": 12, "bPrecisePresentRegionsPreferred": 16}),
        (kmt.EnumAdapters2, 16, {"pAdapters": 8}),
        (kmt.EnumAdapters3, 24, {"Filter": 0, "NumAdapters": 8, "pAdapters": 16}),
        (kmt.QueryAdapterInfo, 24, {"Type": 4, "pPrivateDriverData": 8, "PrivateDriverDataSize": 16}),
        (kmt.AdapterAddress, 12, {"FunctionNumber": 8}),
        (kmt.AdapterRegistryInfo, 2080, {"BiosString": 520}),
        (kmt.SegmentSizeInfo, 24, {"SharedSystemMemorySize": 16}),
        (kmt.DeviceIds, 28, {"VendorID": 4, "DeviceID": 8}),
        (kmt.AdapterPerfData, 64, {"MemoryFrequency": 8, "FanRPM": 48, "Power": 52, "Temperature": 56}),
        (kmt.AdapterPerfDataCaps, 40, {"MaxFanRPM": 24, "TemperatureMax": 28}),
        (kmt.NodeMetadata, 78, {"EngineType": 4, "FriendlyName": 8, "Flags": 72, "IoMmuSupported": 77}),
    ],
)
def test_layouts_are_those_of_the_headers(layout: type[ctypes.Structure], size: int, offsets: dict[str, int]) -> None:
    assert ctypes.sizeof(layout) == size
    assert {name: getattr(layout, name).offset for name in offsets} == offsets


# -- the library


def test_npus_are_listed_where_windows_can_and_missing_where_it_cannot() -> None:
    assert len(D3dkmt(FakeGdi(nvidia(), npu())).enumerate()) == 2
    assert len(D3dkmt(FakeGdi(nvidia(), npu(), enum3=False)).enumerate()) == 1
    assert len(D3dkmt(FakeGdi(nvidia(), npu(), enum3_status=kmt.NOT_IMPLEMENTED)).enumerate()) == 1


def test_an_adapter_that_appears_between_counting_and_listing() -> None:
    gdi = FakeGdi(nvidia())
    gdi.grow = intel()
    assert [opened.luid for opened in D3dkmt(gdi).enumerate()] == [0xC7A5]


def test_a_negative_high_part_is_its_bit_pattern() -> None:
    luid = 0xFFFFFFFF_00000001
    assert D3dkmt(FakeGdi(replace(nvidia(), luid=luid))).enumerate()[0].luid == luid


@pytest.mark.parametrize("size", [78, 80])
def test_engines_by_the_drivers_own_description(size: int) -> None:
    library = D3dkmt(FakeGdi(replace(nvidia(), node_size=size)))
    handle = library.enumerate()[0].handle
    assert [library.node(handle, ordinal).name for ordinal in range(5)] == [
        "3D",
        "Copy",
        "VideoDecode",
        "Cuda",
        "Compute_0",
    ]
    with pytest.raises(KmtError):
        library.node(handle, 5)


# -- kinds and words


@pytest.mark.parametrize(
    ("adapter", "kind"),
    [
        (Adapter(1, vendor_id=0x10DE, type_bits=0x1B, dedicated_bytes=8 * GIB), DeviceKind.DISCRETE),
        (Adapter(1, vendor_id=0x8086, type_bits=0x23, dedicated_bytes=128 * MIB), DeviceKind.INTEGRATED),
        (
            Adapter(1, vendor_id=0x8086, type_bits=0x03, address=(0, 2, 0), dedicated_bytes=8 * GIB),
            DeviceKind.INTEGRATED,
        ),
        (
            Adapter(1, vendor_id=0x8086, type_bits=0x03, address=(3, 0, 0), dedicated_bytes=12 * GIB),
            DeviceKind.DISCRETE,
        ),
        (
            Adapter(1, vendor_id=0x1002, type_bits=0x03, address=(4, 0, 0), dedicated_bytes=512 * MIB),
            DeviceKind.INTEGRATED,
        ),
        (Adapter(1, vendor_id=0x5143, type_bits=0x03, dedicated_bytes=0, shared_bytes=8 * GIB), DeviceKind.INTEGRATED),
        (Adapter(1, vendor_id=0x1414, device_id=0x8C, type_bits=0x05), DeviceKind.SOFTWARE),
        (Adapter(1, vendor_id=0x1414, device_id=0x8C), DeviceKind.SOFTWARE),
        (Adapter(1, vendor_id=0x1234, type_bits=1 << 2), DeviceKind.SOFTWARE),
        (Adapter(1, vendor_id=0x1414, type_bits=1 << 6), DeviceKind.VIRTUAL),
        (Adapter(1, vendor_id=0x10DE, type_bits=1 << 7 | 1, address=(1, 0, 0)), DeviceKind.VIRTUAL),
        (Adapter(1, vendor_id=0x8086, type_bits=1 << 11), DeviceKind.NPU),
        (Adapter(1, vendor_id=0x10DE, type_bits=1 << 11, dedicated_bytes=80 * GIB), DeviceKind.DISCRETE),
        (Adapter(1), DeviceKind.UNKNOWN),
    ],
)
def test_kind(adapter: Adapter, kind: DeviceKind) -> None:
    assert kind_of(adapter) is kind


@pytest.mark.parametrize(
    ("address", "pci"),
    [
        ((1, 0, 0), "00000000:01:00.0"),
        ((0xC4, 0, 1), "00000000:c4:00.1"),
        ((0, 0, 0), None),
        ((0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF), None),
        (None, None),
    ],
)
def test_pci_address(address: tuple[int, int, int] | None, pci: str | None) -> None:
    assert pci_of(Adapter(1, vendor_id=0x10DE, type_bits=3, address=address, dedicated_bytes=8 * GIB)) == pci


def test_a_software_adapter_has_no_place_on_the_bus() -> None:
    assert pci_of(Adapter(1, vendor_id=0x1414, type_bits=1 << 2, address=(1, 0, 0))) is None
    assert pci_of(Adapter(1, vendor_id=0x17E9, type_bits=1 << 6, address=(1, 0, 0))) is None
    # A partitioned GPU in a virtual machine has one, and NVML knows it by that.
    assert pci_of(Adapter(1, vendor_id=0x10DE, type_bits=1 << 7, address=(1, 0, 0))) == "00000000:01:00.0"


def test_words() -> None:
    assert version_text(32 << 48 | 15 << 16 | 5244) == "32.0.15.5244"
    assert [directx_text(DirectxFacts(d3d12_level=level)) for level in (0xC200, 0xC100)] == [
        "12 (FL 12.2)",
        "12 (FL 12.1)",
    ]
    assert directx_text(DirectxFacts(d3d11_level=0xB100)) == "11 (FL 11.1)"
    assert directx_text(DirectxFacts()) is None
    assert [hags_text(bits) for bits in (0b011, 0b001, 0b000, None)] == ["on", "off", None, None]
    assert model_text(Adapter(1, wddm_version=3100)) == "WDDM 3.1"
    assert model_text(Adapter(1, wddm_version=3200, type_bits=1 << 11)) == "MCDM 3.2"
    assert model_text(Adapter(1, wddm_version=0)) is None
    assert [iso_date(text) for text in ("5-21-2024", "05/02/2023", "13-40-2024", "soon")] == [
        "2024-05-21",
        "2023-05-02",
        None,
        None,
    ]


# -- the registry


def test_only_live_luids_count_in_the_directx_keys() -> None:
    base = r"SOFTWARE\Microsoft\DirectX"
    registry = FakeRegistry(
        {
            rf"{base}\{{1}}": {"AdapterLuid": 0xC7A5, "Description": "NVIDIA", "MaxD3D12FeatureLevel": 0xC200},
            rf"{base}\{{2}}": {"AdapterLuid": 0xDEAD, "Description": "a card of last year"},
            rf"{base}\{{3}}": {"AdapterLuid": (0x9D41).to_bytes(8, "little"), "Description": 7},
            rf"{base}\{{4}}": {"Version": 5},
        }
    )
    assert directx_facts(registry, {0xC7A5, 0x9D41}) == {
        0xC7A5: DirectxFacts("NVIDIA", d3d12_level=0xC200),
        0x9D41: DirectxFacts(),
    }


def test_the_class_key_has_the_date_and_the_installed_memory() -> None:
    key = rf"SYSTEM\CurrentControlSet\Control\Class\{DISPLAY}\0001"
    registry = FakeRegistry(
        {key: {"DriverDate": "5-21-2024", "HardwareInformation.qwMemorySize": (24 * GIB).to_bytes(8, "little")}}
    )
    facts = class_facts(registry, rf"{DISPLAY}\0001")
    assert (facts.driver_date, facts.memory_bytes) == ("2024-05-21", 24 * GIB)
    assert class_facts(registry, rf"{DISPLAY}\0009").driver_date is None


def test_the_class_key_by_description_only_when_it_is_unique() -> None:
    base = rf"SYSTEM\CurrentControlSet\Control\Class\{DISPLAY}"
    keys: dict[str, dict[str, object]] = {
        rf"{base}\0000": {"DriverDesc": "Intel(R) UHD", "DriverDate": "1-2-2024"},
        rf"{base}\0001": {"DriverDesc": "NVIDIA RTX", "DriverDate": "3-4-2024"},
        rf"{base}\0002": {"DriverDesc": "NVIDIA RTX", "DriverDate": "5-6-2020"},  # a card of last year
    }
    registry = FakeRegistry(keys)
    assert class_facts_by_name(registry, "Intel(R) UHD").driver_date == "2024-01-02"
    assert class_facts_by_name(registry, "NVIDIA RTX") == ClassFacts()
    assert class_facts_by_name(registry, "AMD") == ClassFacts()


# -- plug and play


def config_manager() -> ConfigManager:
    gpu, accelerator, root = r"PCI\VEN_10DE&DEV_2684\4&1", r"PCI\VEN_8086&DEV_7D1D\3&1", r"ROOT\DISPLAY\0000"
    number = struct.Struct("<I").pack
    return ConfigManager(
        FakeConfigManager(
            {DISPLAY: [gpu, root], ACCELERATOR: [accelerator]},
            {
                (gpu, 23): number(1),
                (gpu, 30): number(0),
                (gpu, 11): f"{DISPLAY}\\0001\0".encode("utf-16-le"),
                (gpu, 32): struct.pack("<IiIIII7ii", 56, D3, 0, 0, 0, 0, *range(7), 0),
                (accelerator, 23): number(0),
                (accelerator, 30): number(11 << 16 | 1),
                (accelerator, 32): struct.pack("<Ii", 56, 0),
            },
        )
    )


def test_devices_by_their_place_on_the_bus() -> None:
    assert config_manager().devices() == (
        PnpDevice(1, (1, 0, 0), rf"{DISPLAY}\0001", r"PCI\VEN_10DE&DEV_2684\4&1"),
        PnpDevice(3, (0, 11, 1), "", r"PCI\VEN_8086&DEV_7D1D\3&1"),
    )


def test_power_state_of_a_device_node() -> None:
    manager = config_manager()
    assert [manager.power_state(node) for node in (1, 2, 3)] == [D3, None, None]


# -- the source


def test_it_is_a_source() -> None:
    source: Source = DxgiSource()
    assert (source.name, source.min_period_s) == ("dxgi", 2.0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is a gdi32.dll")
def test_elsewhere_it_is_absent_and_not_a_fault() -> None:
    with pytest.raises(SourceUnavailable) as failure:
        DxgiSource().open()
    assert (failure.value.code, failure.value.state) == ("not-on-this-system", SourceState.ABSENT)


def test_inventory_in_task_managers_order() -> None:
    bench = Bench(FakeGdi(basic_render(), nvidia(), npu(), intel()))
    infos = list(bench.infos().values())
    assert [(info.name, info.index, info.kind) for info in infos if info.kind is not DeviceKind.NPU] == [
        ("Intel(R) Iris(R) Xe Graphics", 0, DeviceKind.INTEGRATED),
        ("NVIDIA GeForce RTX 4090", 1, DeviceKind.DISCRETE),
        ("Microsoft Basic Render Driver", 2, DeviceKind.SOFTWARE),
    ]
    assert [(info.name, info.index) for info in infos if info.kind is DeviceKind.NPU] == [("Intel(R) AI Boost", 0)]


def test_a_card_is_described_with_address_limits_and_driver() -> None:
    registry = FakeRegistry(
        {
            r"SOFTWARE\Microsoft\DirectX\{1}": {"AdapterLuid": 0xC7A5, "MaxD3D12FeatureLevel": 0xC100},
            rf"SYSTEM\CurrentControlSet\Control\Class\{DISPLAY}\0001": {
                "DriverDate": "2-13-2024",
                "HardwareInformation.qwMemorySize": 24 * GIB,
            },
        }
    )
    pnp = FakePnp(PnpDevice(7, (1, 0, 0), rf"{DISPLAY}\0001"), power={7: D0})
    bench = Bench(FakeGdi(nvidia(), intel()), registry, pnp)
    info = bench.infos()[NVIDIA_KEY]
    assert (info.vendor, info.pci_address, info.luid) == ("nvidia", "00000000:01:00.0", 0xC7A5)
    assert info.static == {
        "memory_total_bytes": Reading(24215 * MIB, "dxgi"),
        "shared_total_bytes": Reading(32 * GIB, "dxgi"),
        "memory_reserved_bytes": Reading(24 * GIB - 24215 * MIB, "dxgi"),
        "driver_version": Reading("32.0.15.5244", "dxgi"),
        "driver_date": Reading("2024-02-13", "dxgi"),
        "driver_model": Reading("WDDM 3.1", "dxgi"),
        "directx_version": Reading("12 (FL 12.1)", "dxgi"),
        "hags": Reading("on", "dxgi"),
    }
    # The user-mode driver's version where the kernel does not tell its own; no HAGS before its hardware.
    other = bench.infos()[INTEL_KEY]
    assert other.static["driver_version"] == Reading("31.0.101.5186", "dxgi")
    assert reason(other.static["hags"]) is Reason.NOT_SUPPORTED
    assert reason(other.static["driver_date"]) is Reason.NOT_SUPPORTED
    assert [node.name for node in bench.source.adapters[1].nodes][-2:] == ["Cuda", "Compute_0"]


def test_one_description_joins_the_counters_luid_and_nvmls_pci_address() -> None:
    info = Bench(FakeGdi(nvidia(), intel())).infos()[NVIDIA_KEY]
    counters = DeviceInfo(key_of(luid=0xC7A5), "LUID 0xc7a5", luid=0xC7A5)
    nvml = DeviceInfo(
        key_of(pci="00000000:01:00.0"), "RTX 4090", "NVIDIA", pci_address="00000000:01:00.0", uuid="GPU-1"
    )
    assert same_device(info, counters)
    assert same_device(info, nvml)
    assert not same_device(info, DeviceInfo(key_of(luid=0x9D41), "", luid=0x9D41))


def test_what_d3dkmt_leaves_open_comes_from_the_registry() -> None:
    registry = FakeRegistry(
        {
            r"SOFTWARE\Microsoft\DirectX\{1}": {
                "AdapterLuid": 0x77,
                "Description": "AMD Radeon RX 7900 XTX",
                "VendorId": 0x1002,
                "DriverVersion": 31 << 48 | 24027 << 16 | 1012,
            }
        }
    )
    (info,) = Bench(FakeGdi(Card(0x77, memory=(24 * GIB, 16 * GIB))), registry).infos().values()
    assert (info.name, info.vendor, info.key) == ("AMD Radeon RX 7900 XTX", "amd", key_of(luid=0x77))
    assert info.static["driver_version"] == Reading("31.0.24027.1012", "dxgi")


def test_an_adapter_that_answers_nothing_hides_nobody() -> None:
    infos = Bench(FakeGdi(Card(0x66), nvidia())).infos()
    assert infos[key_of(luid=0x66)].name == "LUID 0x66"
    assert infos[NVIDIA_KEY].name == "NVIDIA GeForce RTX 4090"


def test_sensors_in_canonical_units() -> None:
    assert Bench(FakeGdi(nvidia())).tick()[NVIDIA_KEY].values == {
        "temperature_c": Reading(68.0, "dxgi"),
        "fan_rpm": Reading(1500, "dxgi"),
        "clock_memory_mhz": Reading(10_501.0, "dxgi"),
    }


def test_a_driver_without_sensors_gives_zero_and_we_do_not() -> None:
    values = Bench(FakeGdi(intel())).tick()[INTEL_KEY].values
    assert [reason(value) for value in values.values()] == [Reason.NOT_SUPPORTED] * 3


def test_a_fan_may_stand_still() -> None:
    values = Bench(FakeGdi(replace(nvidia(), perf=(10**9, 0, 0, 350)))).tick()[NVIDIA_KEY].values
    assert values["fan_rpm"] == Reading(0, "dxgi")


def test_rubbish_sensors_are_implausible() -> None:
    values = Bench(FakeGdi(replace(nvidia(), perf=(2**63, 2**32 - 1, 0, 2**32 - 1)))).tick()[NVIDIA_KEY].values
    assert [reason(value) for value in values.values()] == [Reason.IMPLAUSIBLE] * 3


def test_an_old_driver_is_asked_for_sensors_once() -> None:
    card = replace(nvidia(), perf=None, asked=[])
    bench = Bench(FakeGdi(card))
    for _ in range(3):
        assert reason(bench.tick()[NVIDIA_KEY].values["temperature_c"]) is Reason.NOT_SUPPORTED
    assert card.asked.count(kmt.ADAPTERPERFDATA) == 1


def test_a_passing_failure_is_an_error_with_its_status() -> None:
    card = replace(nvidia(), perf=None, perf_status=0xC00000E9)
    bench = Bench(FakeGdi(card))
    assert bench.tick()[NVIDIA_KEY].values["temperature_c"] == Missing(Reason.ERROR, "dxgi", "0xC00000E9")
    card.perf = (0, 0, 0, 500)
    assert bench.tick()[NVIDIA_KEY].values["temperature_c"] == Reading(50.0, "dxgi")


def test_a_sleeping_gpu_is_shown_asleep_and_not_woken() -> None:
    card = replace(nvidia(), type_bits=0x11, asked=[])
    pnp = FakePnp(PnpDevice(7, (1, 0, 0), ""), power={7: D3})
    bench = Bench(FakeGdi(card, intel()), pnp=pnp)
    for _ in range(3):
        sample = bench.tick()[NVIDIA_KEY]
        assert (sample.state, sample.detail) == (DeviceState.ASLEEP, "D3")
        assert reason(sample.values["temperature_c"]) is Reason.ASLEEP
    assert not {kmt.ADAPTERPERFDATA, kmt.ADAPTERPERFDATA_CAPS} & set(card.asked)
    pnp.power[7] = D0
    assert bench.tick()[NVIDIA_KEY].values["temperature_c"] == Reading(68.0, "dxgi")


def test_a_laptops_second_gpu_of_unknown_power_state_is_left_alone() -> None:
    card = replace(nvidia(), type_bits=0x11, asked=[])
    sample = Bench(FakeGdi(card)).tick()[NVIDIA_KEY]
    assert reason(sample.values["temperature_c"]) is Reason.NOT_READ
    assert kmt.ADAPTERPERFDATA not in card.asked


def test_software_adapters_stay_in_the_inventory_and_are_asked_nothing() -> None:
    card = basic_render()
    bench = Bench(FakeGdi(card))
    sample = bench.tick()[key_of(luid=0xD0D0)]
    assert reason(sample.values["temperature_c"]) is Reason.NOT_SUPPORTED
    assert kmt.ADAPTERPERFDATA not in card.asked


def test_a_restarted_driver_keeps_the_card_and_changes_its_luid() -> None:
    gdi = FakeGdi(nvidia(), basic_render())
    bench = Bench(gdi)
    bench.tick()
    gdi.restart(nvidia(0x1F00D), replace(basic_render(), luid=0x1F00E))
    infos = bench.infos()
    assert infos[NVIDIA_KEY].luid == 0x1F00D
    assert set(infos) == {NVIDIA_KEY, key_of(luid=0x1F00E)}
    assert bench.tick()[NVIDIA_KEY].values["temperature_c"] == Reading(68.0, "dxgi")
    assert [note.code for note in bench.source.notes()] == ["driver-restarted"]
    assert bench.source.notes() == ()


def test_an_unplugged_card_keeps_its_entry_as_lost() -> None:
    gdi = FakeGdi(nvidia(), intel())
    bench = Bench(gdi)
    bench.tick()
    gdi.cards = [intel()]
    sample = bench.tick()[NVIDIA_KEY]
    assert sample.state is DeviceState.LOST
    assert bench.infos()[NVIDIA_KEY].name == "NVIDIA GeForce RTX 4090"
    assert bench.tick()[INTEL_KEY].state is DeviceState.OK
    assert [note.code for note in bench.source.notes()] == ["gpu-lost"]
    gdi.cards = [intel(), nvidia(0x20000)]
    assert bench.tick()[NVIDIA_KEY].state is DeviceState.OK


def test_nothing_is_listed_again_while_nothing_changes() -> None:
    gdi = FakeGdi(nvidia(), intel())
    bench = Bench(gdi)
    card = gdi.cards[0]
    for _ in range(5):
        bench.tick()
    assert len(gdi.handles) == 2
    assert card.asked.count(kmt.ADAPTERREGISTRYINFO) == 1


def test_handles_are_given_back() -> None:
    gdi = FakeGdi(nvidia(), intel(), nvidia())  # one LUID listed twice
    bench = Bench(gdi)
    assert len(gdi.handles) == 2
    bench.source.release()
    assert not gdi.handles
    assert bench.tick()[NVIDIA_KEY].state is DeviceState.OK
    bench.source.close()
    bench.source.close()
    assert not gdi.handles


def test_a_failing_listing_says_why() -> None:
    gdi = FakeGdi(nvidia(), enum3_status=0xC0000001)
    with pytest.raises(SourceUnavailable) as failure:
        Bench(gdi)
    assert (failure.value.code, failure.value.detail) == ("read-failed", "0xC0000001")
