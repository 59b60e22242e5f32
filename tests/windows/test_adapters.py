"""Adapters on the real way through gdi32.dll, cfgmgr32.dll and the registry, joined with counters and NVML."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Any

import pytest

from gpumon_gui.telemetry import table
from gpumon_gui.telemetry.derive.adapters import adapters, first_choice
from tests.windows.conftest import Watch, device, health, metric, plain, use
from tests.windows.world import BASIC, GEFORCE, GIB, INTEL, MIB, NPU, NVIDIA, RADEON, World

ME = os.getpid()
CARD, CHIP = "0x0:0xC7A5", "0x0:0x9D41"
RTX, IRIS, BOOST = "NVIDIA GeForce RTX 4090", "Intel(R) Iris(R) Xe Graphics", "Intel(R) AI Boost"
SECOND = {**NVIDIA, "luid": "0x0:0xE001", "address": "65 0 0", "identity": "PCI\\VEN_10DE&DEV_2684\\second"}
REMOTE = {
    "name": "Microsoft Remote Display Adapter",
    "luid": "0x0:0x77777",
    "vendor": "0x1414",
    "device": "0x8C",
    "type": "0x47",  # render, display, software, indirect
    "dedicated": 0,
    "shared": "16GiB",
}


def whole(world: World, luid: str = CARD) -> World:
    """A desktop with an NVIDIA card and a program that computes."""
    world.nvidia({**GEFORCE, "process": f"compute {ME} na"}).windows({**NVIDIA, "luid": luid})
    world.counters.clear()
    return (
        world.engine(ME, luid, 3, "Cuda", 97)
        .memory(luid, 7 * GIB, 128 * MIB)
        .process(ME, luid, 6 * GIB, 64 * MIB)
        .write()
    )


def names(watch: Watch) -> list[str]:
    assert watch.sample is not None
    shown = adapters(watch.sample.inventory)
    return [f"{'NPU' if one.is_npu else 'GPU'} {one.number} {one.info.name}" for one in shown]


def test_one_card_seen_by_three_sources_is_one_device(world: World, watch: Watch) -> None:
    whole(world)
    watch.sweep(2)
    (card,) = watch.exported["devices"]
    assert card["sources"] == ["nvml", "dxgi", "pdh"]
    assert (card["luid"], card["pci_address"]) == ("0x000000000000c7a5", "00000000:01:00.0")
    assert card["uuid"] == GEFORCE["uuid"]
    figures = {name: (plain(card["metrics"][name]), card["metrics"][name]["source"]) for name in card["metrics"]}
    assert figures["engine_utilization"] == (0.97, "pdh")
    assert figures["gpu_utilization"] == (0.36, "nvml")
    assert figures["shared_used_bytes"] == (128 * MIB, "pdh")
    assert figures["shared_total_bytes"] == (32 * GIB, "dxgi")
    assert figures["hags"] == ("on", "dxgi")
    assert use(watch.exported, ME)["process_memory_bytes"] == 6 * GIB  # NVML has none under WDDM
    (process,) = watch.exported["processes"]
    assert process["uses"][0]["kind"] == "C"
    assert process["uses"][0]["engine"] == "Cuda"


def test_numbers_follow_the_place_on_the_bus_whatever_the_order_of_lists(world: World, watch: Watch) -> None:
    other = {**GEFORCE, "uuid": "GPU-second", "pci": "00000000:41:00.0"}
    world.nvidia(other, GEFORCE).windows(SECOND, BASIC, NPU, NVIDIA, INTEL, REMOTE).write()
    watch.sweep()
    assert names(watch) == [
        f"GPU 0 {IRIS}",
        f"GPU 1 {RTX}",
        f"GPU 2 {RTX}",
        "GPU 3 Microsoft Remote Display Adapter",
        f"NPU 0 {BOOST}",
    ]
    assert watch.sample is not None
    uuids = {info.pci_address: info.uuid for info in watch.sample.inventory if info.uuid}
    assert uuids == {"00000000:01:00.0": GEFORCE["uuid"], "00000000:41:00.0": "GPU-second"}
    assert first_choice(adapters(watch.sample.inventory)).info.name == RTX  # not the one inside the processor


def test_an_older_windows_lists_no_npu_but_all_the_rest(world: World, watch: Watch) -> None:
    world.nvidia(GEFORCE, no_enum3="").windows(NPU, NVIDIA, INTEL).write()
    assert world.driver is not None
    watch.sweep()
    assert names(watch) == [f"GPU 0 {IRIS}", f"GPU 1 {RTX}"]


def test_an_adapter_that_answers_nothing_hides_no_other(world: World, watch: Watch) -> None:
    world.windows({"name": "?", "luid": "0x0:0x1", "broken": ""}, NVIDIA, REMOTE, {"luid": "0x0:0x2"}).write()
    watch.sweep(2)
    assert f"GPU 0 {RTX}" in names(watch)
    assert metric(watch.exported, RTX, "memory_total_bytes") == 24215 * MIB


@pytest.mark.parametrize(
    ("caps", "word"), [(3, "on"), (1, "off"), (7, "on"), (0, "[not_supported]"), (None, "[not_supported]")]
)
def test_hardware_scheduling(world: World, watch: Watch, caps: int | None, word: str) -> None:
    card = {name: value for name, value in {**NVIDIA, "caps": caps}.items() if value is not None}
    world.windows(card).write()
    watch.sweep()
    assert metric(watch.exported, RTX, "hags") == word


# -- driver models


def test_a_tcc_card_is_known_to_nvml_only(world: World, watch: Watch) -> None:
    tesla = {**GEFORCE, "name": "NVIDIA A100 80GB PCIe", "model": 1, "process": f"compute {ME} 20GiB"}
    world.nvidia({**tesla, "memory": "80GiB 21GiB 600MiB"}).windows(INTEL).engine(4, CHIP, 0, "3D", 1).write()
    watch.sweep(2)
    assert metric(watch.exported, "NVIDIA A100 80GB PCIe", "driver_model") == "TCC"
    assert device(watch.exported, "NVIDIA A100 80GB PCIe")["sources"] == ["nvml"]
    assert use(watch.exported, ME)["process_memory_bytes"] == 20 * GIB


def test_mcdm_cards_are_gpus_and_no_npus(world: World, watch: Watch) -> None:
    card = {**NVIDIA, "name": "NVIDIA L40S", "type": "0x801"}
    world.nvidia({**GEFORCE, "name": "NVIDIA L40S", "model": 2}).windows(card).write()
    watch.sweep()
    assert names(watch) == ["GPU 0 NVIDIA L40S"]
    assert metric(watch.exported, "NVIDIA L40S", "driver_model") == "MCDM"


def test_without_nvml_windows_tells_the_driver_model_with_its_version(world: World, watch: Watch) -> None:
    world.windows(RADEON).write()
    watch.sweep()
    assert metric(watch.exported, "AMD Radeon RX 7900 XTX", "driver_model") == "WDDM 3.1"
    assert metric(watch.exported, "AMD Radeon RX 7900 XTX", "temperature_c") == 61.0
    assert metric(watch.exported, "AMD Radeon RX 7900 XTX", "fan_rpm") == 900


# -- cards come and go


def test_a_driver_restart_changes_the_luid_and_nothing_else(world: World, watch: Watch) -> None:
    whole(world)
    watch.sweep(2)
    (before,) = watch.exported["devices"]
    world.windows().without("").write()  # gone for a moment
    world.gpus[0]["error *"] = 15
    world.write()
    watch.sweep()
    assert "The driver lost this GPU" in watch.text
    whole(world, "0x0:0x51E6C1")
    watch.sweep(12)
    (after,) = watch.exported["devices"]
    assert (after["key"], after["luid"]) == (before["key"], "0x000000000051e6c1")
    assert plain(after["metrics"]["engine_utilization"]) == 0.97
    assert plain(after["metrics"]["gpu_utilization"]) == 0.36
    assert after["state"] == "ok"
    assert "driver-restarted" in {one["code"] for one in watch.exported["sources"]}


def test_a_card_that_is_pulled_out_leaves_the_others(world: World, watch: Watch) -> None:
    external = {**RADEON, "name": "AMD Radeon RX 7900 XTX (dock)"}
    whole(world).windows(NVIDIA, external).engine(ME, "0x0:0x16626", 0, "3D", 50).write()
    watch.sweep(2)
    world.windows(NVIDIA).without("00016626").write()
    watch.sweep()
    gone = device(watch.exported, "AMD Radeon RX 7900 XTX (dock)")
    assert gone["state"] == "lost"
    assert plain(gone["metrics"]["engine_utilization"]) == "[device_lost]"
    assert "The driver lost this GPU. It fell off the bus, was unplugged or needs a reset." in watch.text
    assert metric(watch.exported, RTX, "engine_utilization") == 0.97
    world.windows(NVIDIA, external).engine(ME, "0x0:0x16626", 0, "3D", 40).write()
    watch.sweep(3)
    assert device(watch.exported, "AMD Radeon RX 7900 XTX (dock)")["state"] == "ok"
    assert metric(watch.exported, "AMD Radeon RX 7900 XTX (dock)", "engine_utilization") == 0.4


def test_a_card_that_is_plugged_in_appears(world: World, watch: Watch) -> None:
    world.windows(INTEL).engine(4, CHIP, 0, "3D", 2).write()
    watch.sweep(2)
    world.windows(INTEL, RADEON).engine(ME, "0x0:0x16626", 1, "Compute 0", 80).write()
    watch.sweep(2)
    assert names(watch) == [f"GPU 0 {IRIS}", "GPU 1 AMD Radeon RX 7900 XTX"]
    assert metric(watch.exported, "AMD Radeon RX 7900 XTX", "engine_utilization") == 0.8


def test_waking_from_sleep(world: World, watch: Watch) -> None:
    """Queries and handles are stale for a moment, the LUIDs stay."""
    whole(world)
    watch.sweep(2)
    world.fault("fail PdhCollectQueryData = 0xC0000BBC").write()
    world.adapters[0]["broken"] = ""
    world.write()
    watch.clock.advance(8 * 3600)
    watch.sweep()
    del world.adapters[0]["broken"]
    world.faults.clear()
    world.write()
    watch.sweep(3)
    assert metric(watch.exported, RTX, "engine_utilization") == 0.97
    assert metric(watch.exported, RTX, "memory_total_bytes") == 24564 * MIB
    assert names(watch) == [f"GPU 0 {RTX}"]


def test_a_remote_session_adds_its_adapter_and_takes_the_counters(world: World, watch: Watch) -> None:
    whole(world)
    watch.sweep(2)
    world.windows(NVIDIA, REMOTE).fault("fail PdhCollectQueryData = 0xC0000BB8").fault("missing GPU").write()
    watch.sweep(2)
    assert device(watch.exported, "Microsoft Remote Display Adapter")["kind"] == "virtual"
    assert health(watch, "pdh")["code"] == "gpu-counters-unavailable"
    assert metric(watch.exported, RTX, "gpu_utilization") == 0.36
    world.windows(NVIDIA).faults.clear()
    world.write()
    watch.sweep(40)
    assert names(watch) == [f"GPU 0 {RTX}"]
    assert metric(watch.exported, RTX, "engine_utilization") == 0.97


# -- asleep


@pytest.fixture
def laptop(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A hybrid laptop whose second GPU is off."""
    monkeypatch.setattr(table, "_has_battery", lambda: True)
    asleep = {**NVIDIA, "type": "0x13", "power": 4, "perf": "7001000000 0 0 450"}
    world.nvidia(GEFORCE).windows(INTEL, asleep).engine(4, CHIP, 0, "3D", 8)
    world.gpus[0]["error *"] = 999  # whoever asks it shows
    return world.write()


def test_a_sleeping_gpu_is_shown_asleep_and_not_asked(laptop: World, watch: Watch) -> None:
    watch.sampler.close()
    watch.__post_init__()
    watch.sweep(3)
    assert device(watch.exported, RTX)["state"] == "asleep"
    assert "Asleep. GPUMon does not wake it." in watch.text
    assert metric(watch.exported, RTX, "temperature_c") == "[asleep]"
    assert health(watch, "nvml")["code"] == "asleep"
    assert metric(watch.exported, RTX, "memory_total_bytes") == 24215 * MIB  # Windows answers that itself
    laptop.adapters[1]["power"] = 1
    del laptop.gpus[0]["error *"]
    laptop.write()
    watch.sweep(40)
    assert device(watch.exported, RTX)["state"] == "ok"
    assert metric(watch.exported, RTX, "temperature_c") == 68.0


# -- virtual machines


def test_a_guest_with_a_share_of_a_gpu(world: World, watch: Watch) -> None:
    guest = {**NVIDIA, "name": "Microsoft Virtual Render Driver", "type": "0x81"}
    world.windows(guest).fault("missing GPU").write()
    watch.sweep(2)
    assert device(watch.exported, "Microsoft Virtual Render Driver")["kind"] == "virtual"
    assert health(watch, "pdh")["code"] == "gpu-counters-unavailable"
    assert health(watch, "nvml")["code"] == "driver-not-loaded"


# -- the registry

CLASS = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}\0042"
DIRECTX = r"SOFTWARE\Microsoft\DirectX\{5F8C0B1A-0000-0000-0000-0000000000A5}"
STALE = r"SOFTWARE\Microsoft\DirectX\{5F8C0B1A-0000-0000-0000-0000000000A6}"


@pytest.fixture
def registry() -> Iterator[None]:
    """What a driver's installation and DirectX leave there."""
    winreg: Any = importlib.import_module("winreg")
    qword, text, binary, dword = winreg.REG_QWORD, winreg.REG_SZ, winreg.REG_BINARY, winreg.REG_DWORD
    keys: dict[str, list[tuple[str, int, object]]] = {
        CLASS: [
            ("DriverDesc", text, RTX),
            ("DriverDate", text, "10-2-2026"),
            ("HardwareInformation.qwMemorySize", binary, (24564 << 20).to_bytes(8, "little")),
            ("HardwareInformation.MemorySize", dword, 0xFFF00000),
        ],
        DIRECTX: [("AdapterLuid", qword, 0xC7A5), ("MaxD3D12FeatureLevel", dword, 0xC200)],
        STALE: [("AdapterLuid", qword, 0xBAD), ("MaxD3D12FeatureLevel", dword, 0xB000), ("Description", text, "Old")],
    }
    for path, values in keys.items():
        with winreg.CreateKeyEx(winreg.HKEY_LOCAL_MACHINE, path) as key:
            for name, kind, data in values:
                winreg.SetValueEx(key, name, 0, kind, data)
    yield
    for path in keys:
        winreg.DeleteKey(winreg.HKEY_LOCAL_MACHINE, path)


@pytest.mark.parametrize("driver", [r"{4d36e968-e325-11ce-bfc1-08002be10318}\0042", None])
def test_what_only_the_registry_knows(world: World, watch: Watch, registry: None, driver: str | None) -> None:
    card = {**NVIDIA, "driver": driver} if driver else NVIDIA  # by the device's own key, or by its name
    world.windows(card).write()
    watch.sweep()
    assert metric(watch.exported, RTX, "driver_date") == "2026-10-02"
    assert metric(watch.exported, RTX, "directx_version") == "12 (FL 12.2)"
    assert metric(watch.exported, RTX, "memory_total_bytes") == 24215 * MIB  # all 64 bits of it
    assert metric(watch.exported, RTX, "memory_reserved_bytes") == 349 * MIB
    assert metric(watch.exported, RTX, "driver_version") == "32.0.15.8142"
