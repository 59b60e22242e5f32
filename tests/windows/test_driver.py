"""NVIDIA's library on Windows: where it is found, and what its faults and odd values look like to the user."""

from __future__ import annotations

import faulthandler
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.windows.conftest import ROOT, Watch, device, health, metric, use
from tests.windows.world import FOLDER, GEFORCE, GIB, MIB, NVIDIA, World

ME = os.getpid()
CARD = "0x0:0xC7A5"
RTX = "NVIDIA GeForce RTX 4090"
SYSTEM32 = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"
NVSMI = Path(os.environ.get("PROGRAMFILES", r"C:\Program Files")) / "NVIDIA Corporation" / "NVSMI"
STORE = SYSTEM32 / "DriverStore" / "FileRepository"


@pytest.fixture
def no_library() -> Iterator[None]:
    """System32 without nvml.dll."""
    library = SYSTEM32 / "nvml.dll"
    aside = library.rename(SYSTEM32 / "nvml.aside")
    yield
    aside.replace(library)
    for folder in (NVSMI, *STORE.glob("nv*")):
        shutil.rmtree(folder, ignore_errors=True)


def put(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return str(shutil.copy(FOLDER / "nvml.dll", folder / "nvml.dll"))


LOOK = """
import os
from gpumon_gui.telemetry.base import SourceUnavailable
from gpumon_gui.telemetry.nvml.library import load
from gpumon_gui.telemetry.nvml.locate import candidates
try:
    print(load(candidates("win32", os.environ)).path)
except SourceUnavailable as why:
    print(why.code, why.state, why.detail)
"""


def found(cwd: Path = ROOT) -> str:
    """Which library a new process loads, or why it has none: in this one it is loaded already."""
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, encoding="utf-8", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_in_system32() -> None:
    assert found().lower() == str(SYSTEM32 / "nvml.dll").lower()


def test_in_the_folder_of_older_drivers(no_library: None) -> None:
    put(STORE / "nv_dispi.inf_amd64_0123456789abcdef")
    path = put(NVSMI)
    assert found() == path


@pytest.mark.parametrize("package", ["nv_dispi.inf_amd64_0a1b", "nvlt.inf_amd64_77", "nvhm.inf_amd64_3c"])
def test_in_the_driver_store(no_library: None, package: str) -> None:
    path = put(STORE / package)
    assert found() == path


def test_the_newest_package_of_the_store_is_the_driver_that_runs(no_library: None) -> None:
    old, new = put(STORE / "nv_dispi.inf_amd64_f"), put(STORE / "nv_dispi.inf_amd64_0")
    os.utime(old, (1_600_000_000, 1_600_000_000))
    assert found() == new


def test_nothing_is_loaded_from_the_current_folder_or_the_path(
    no_library: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path};{os.environ['PATH']}")
    assert found(tmp_path) == "no-driver absent"


def test_a_file_that_is_no_library(no_library: None) -> None:
    NVSMI.mkdir(parents=True)
    (NVSMI / "nvml.dll").write_text("half an update")
    assert found().startswith("library-damaged failed")
    assert "NVSMI" in found()


# -- faults


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (9, "The NVIDIA driver is installed but not running."),
        (18, "kernel module and library have different versions. Restart the computer."),
        (4, "This account may not read the GPU."),
    ],
)
def test_a_driver_that_cannot_be_used_says_what_to_do(world: World, watch: Watch, code: int, said: str) -> None:
    world.nvidia(GEFORCE, **{"error nvmlInit_v2": code}).windows(NVIDIA).engine(ME, CARD, 0, "3D", 40).write()
    watch.sweep(2)
    assert said in watch.text
    assert metric(watch.exported, RTX, "engine_utilization") == 0.4  # Windows goes on without it


def test_a_driver_without_a_card(world: World, watch: Watch) -> None:
    world.nvidia().write()
    watch.sweep(2)
    assert "The driver runs, but there is no GPU it can use." in watch.text


def test_a_lost_card_says_so_and_the_other_goes_on(world: World, watch: Watch) -> None:
    other = {**GEFORCE, "name": "NVIDIA RTX A4000", "uuid": "GPU-b", "pci": "00000000:41:00.0"}
    world.nvidia(GEFORCE, other).write()
    watch.sweep(2)
    world.gpus[0]["error *"] = 15
    world.write()
    watch.sweep(2)
    assert device(watch.exported, RTX)["state"] == "lost"
    assert metric(watch.exported, RTX, "gpu_utilization") == "[device_lost]"
    assert metric(watch.exported, "NVIDIA RTX A4000", "gpu_utilization") == 0.36


@pytest.fixture
def quiet() -> Iterator[None]:
    """pytest has every access violation printed, also those that are caught."""
    faulthandler.disable()
    yield
    faulthandler.enable()


@pytest.mark.usefixtures("quiet")
def test_a_crash_inside_the_library_is_the_drivers_fault_and_passes(world: World, watch: Watch) -> None:
    """ctypes turns an access violation into an exception: libraries do that while the driver restarts."""
    world.nvidia(GEFORCE).windows(NVIDIA).engine(4, CARD, 0, "3D", 31).write()
    watch.sweep(2)
    world.gpus[0]["crash nvmlDeviceGetPowerUsage"] = ""
    world.write()
    watch.sweep()
    assert "The driver was restarted. GPUMon looks for the devices again." in watch.text
    assert "access violation" in health(watch, "nvml")["detail"]
    assert metric(watch.exported, RTX, "engine_utilization") == 0.31
    assert metric(watch.exported, RTX, "gpu_utilization") == "[source_gone]"
    del world.gpus[0]["crash nvmlDeviceGetPowerUsage"]
    world.write()
    watch.sweep(4)
    assert metric(watch.exported, RTX, "gpu_utilization") == 0.36


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("function", ["nvmlInit_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetName"])
def test_a_crash_while_the_library_starts(world: World, watch: Watch, function: str) -> None:
    lines = {f"crash {function}": ""}
    world.nvidia({**GEFORCE, **lines}, **lines).windows(NVIDIA).engine(4, CARD, 0, "3D", 31).write()
    watch.sweep(2)
    assert health(watch, "nvml")["code"] == "read-failed"
    assert "access violation" in health(watch, "nvml")["detail"]
    assert metric(watch.exported, RTX, "engine_utilization") == 0.31


def test_sixteen_cards(world: World, watch: Watch) -> None:
    cards = [
        {**GEFORCE, "name": f"Card {n}", "uuid": f"GPU-{n}", "pci": f"00000000:{n + 1:02X}:00.0"} for n in range(16)
    ]
    world.nvidia(*cards).write()
    watch.sweep(2)
    assert [one["name"] for one in watch.exported["devices"]] == [f"Card {n}" for n in range(16)]
    assert health(watch, "nvml")["state"] == "ok"


@pytest.mark.parametrize(
    ("key", "raw", "metric_id"),
    [
        ("temperature", 4294967295, "temperature_c"),
        ("temperature", 400, "temperature_c"),
        ("utilization", "250 10", "gpu_utilization"),
        ("power", 4294967295, "power_w"),
        ("power", 4_000_000, "power_w"),
        ("memory", "24564MiB 0xFFFFFFFFFFFFFFFF 0", "memory_used_bytes"),
        ("clocks", "4294967295 4294967295 4294967295 0", "clock_graphics_mhz"),
        ("fan", 4294967295, "fan_ratio"),
    ],
)
def test_a_value_that_cannot_be_is_no_number(world: World, watch: Watch, key: str, raw: object, metric_id: str) -> None:
    world.nvidia({**GEFORCE, key: raw}).write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, metric_id) == "[implausible]"
    assert "the driver gave an impossible value" in watch.text
    assert health(watch, "nvml")["implausible"] > 0


def test_593_watts_on_a_laptop_of_140(world: World, watch: Watch) -> None:
    world.nvidia({**GEFORCE, "power": 593_000, "power_limit": 140_000}).write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "power_w") == "[implausible]"


def test_rubbish_bytes_as_the_name(world: World, watch: Watch) -> None:
    name = b"\xff\xfe\xa0 RTX \xc3".decode("utf-8", "surrogateescape")
    world.nvidia({**GEFORCE, "name": name, "temperature": 0xFFFFFF, "power": 0xFFFFFFFF, "memory": "1 0xFFFFFFFFFF 9"})
    world.write()
    watch.sweep(2)
    assert "The driver returns invalid data for this GPU." in watch.text
    assert "555.85" in watch.text


def test_what_a_card_has_not_is_no_zero(world: World, watch: Watch) -> None:
    few = {key: GEFORCE[key] for key in ("name", "uuid", "pci", "memory", "utilization")}
    world.nvidia(few).write()
    watch.sweep(2)
    for metric_id in ("power_w", "temperature_c", "encoder_utilization", "fan_ratio", "pstate"):
        assert metric(watch.exported, RTX, metric_id) == "[not_supported]"
    assert metric(watch.exported, RTX, "gpu_utilization") == 0.36


def test_a_card_that_shares_all_memory_with_the_machine(world: World, watch: Watch) -> None:
    world.nvidia({**GEFORCE, "memory": "0 0 0"}).write()
    watch.sweep(2)
    assert health(watch, "nvml")["state"] == "ok"
    assert watch.lines  # nothing was divided by zero


def test_the_driver_model_explains_why_a_process_has_no_memory_figure(world: World, watch: Watch) -> None:
    world.nvidia({**GEFORCE, "process": [f"compute {ME} na", "graphics 4 na"]}).write()
    watch.sweep(2)
    assert use(watch.exported, ME)["process_memory_bytes"] == "[driver_model]"
    assert "not available in the WDDM driver model" in watch.text


def test_pids_of_a_mixed_up_struct_are_not_shown(world: World, watch: Watch) -> None:
    world.nvidia({**GEFORCE, "process": ["compute 4294967295 na", "compute 3735928559 na"]}).write()
    watch.sweep(2)
    assert watch.exported["processes"] == []


def test_per_process_utilization_works_under_wddm(world: World, watch: Watch) -> None:
    world.nvidia({**GEFORCE, "process": f"compute {ME} na", "sample": f"{ME} 92 50 0 3"}).write()
    watch.sweep(2)
    assert use(watch.exported, ME)["process_gpu_utilization"] == 0.92


def test_reserved_memory_stands_apart(world: World, watch: Watch) -> None:
    world.nvidia(GEFORCE).write()
    watch.sweep(2)
    assert metric(watch.exported, RTX, "memory_used_bytes") == 2 * GIB
    assert metric(watch.exported, RTX, "memory_reserved_bytes") == 400 * MIB
