"""The program as a user starts it on Windows: ``gpumon snapshot``, also with drivers that end or stop its sampler."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.windows.conftest import ROOT, device, engines, gpumon, metric, plain, snapshot, use
from tests.windows.world import GEFORCE, GIB, INTEL, MIB, NVIDIA, RADEON, World

CARD, RED = "0x0:0xC7A5", "0x0:0x16626"
RTX, XTX = "NVIDIA GeForce RTX 4090", "AMD Radeon RX 7900 XTX"
CHINESE = "训练 模型🚀"


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[bytes]]:
    """A Python in a folder with a Chinese name, running a script with one."""
    home = tmp_path_factory.mktemp("用户 王芳")
    base = Path(sys.executable).parent
    for file in base.iterdir():
        if file.is_file():
            shutil.copy(file, home / file.name)
    program = (home / "python.exe").rename(home / f"{CHINESE}.exe")
    script = home / "训练.py"
    script.write_text("import sys; print('ready', flush=True); sys.stdin.read()", encoding="utf-8")
    process = subprocess.Popen(
        [str(program), str(script), "--批量=32"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"ready"
    yield process
    process.communicate()


def test_a_whole_machine(world: World, worker: subprocess.Popen[bytes]) -> None:
    pid = worker.pid
    world.nvidia({**GEFORCE, "process": f"compute {pid} na", "sample": f"{pid} 92 50 0 3"}).windows(NVIDIA, INTEL)
    world.engine(pid, CARD, 3, "Cuda", 93.5).memory(CARD, 7 * GIB, 128 * MIB).process(
        pid, CARD, 6 * GIB, 64 * MIB
    ).write()
    found = snapshot()
    assert found["stderr"] == ""
    assert engines(found, RTX) == {"3 Cuda": 0.935}
    (process,) = found["processes"]
    assert process["name"] == f"{CHINESE}.exe"
    assert "用户 王芳" in process["executable"]
    assert process["command"][-2:] == [process["command"][-2], "--批量=32"]
    assert process["command"][-2].endswith("训练.py")
    assert process["user"]
    assert use(found, pid)["process_memory_bytes"] == 6 * GIB
    assert metric(found, RTX, "driver_model") == "WDDM"
    assert metric(found, RTX, "hags") == "on"


def test_the_text_in_chinese_on_any_code_page(world: World, worker: subprocess.Popen[bytes]) -> None:
    world.windows({**RADEON, "name": "显卡 Ⅶ"}).engine(worker.pid, RED, 1, "Compute 0", 88).process(
        worker.pid, RED, GIB
    )
    world.memory(RED, 2 * GIB).write()
    done = gpumon("snapshot", "--lang", "zh_CN", PYTHONUTF8="0", PYTHONIOENCODING="utf-8")
    assert done.returncode == 0, done.stderr
    assert "显卡 Ⅶ" in done.stdout
    assert f"{CHINESE}.exe" in done.stdout


def test_no_nvidia_at_all(world: World) -> None:
    world.windows(RADEON).engine(4, RED, 0, "3D", 31).memory(RED, 2 * GIB).write()
    found = snapshot()
    assert metric(found, XTX, "engine_utilization") == 0.31
    assert metric(found, XTX, "temperature_c") == 61.0


def test_no_gpu_at_all(world: World) -> None:
    world.fault("missing GPU").write()
    found = snapshot()
    assert found["devices"] == []
    (counters,) = [source for source in found["sources"] if source["name"] == "pdh"]
    assert "lodctr /R" in counters["text"]
    done = gpumon("snapshot")
    assert done.returncode == 0
    assert "lodctr /R" in done.stdout


def test_vanished_and_system_processes(world: World) -> None:
    world.windows(RADEON).memory(RED, 4 * GIB)
    for pid, share in ((0, 1), (4, 2), (3_999_996, 50)):
        world.engine(pid, RED, 0, "3D", share).process(pid, RED, GIB)
    world.write()
    found = snapshot()
    rows: dict[int, dict[str, Any]] = {process["pid"]: process for process in found["processes"]}
    assert rows[3_999_996]["presence"] == "exited"
    assert plain(rows[3_999_996]["uses"][0]["metrics"]["process_memory_bytes"]) == GIB
    assert set(rows) >= {4, 3_999_996}
    assert metric(found, XTX, "engine_utilization") == 0.53


def test_a_driver_that_ends_the_sampler_is_named_and_left_out(world: World) -> None:
    world.nvidia({**GEFORCE, "end nvmlDeviceGetPowerUsage": ""}).windows(NVIDIA).engine(4, CARD, 0, "3D", 31).write()
    found = snapshot(timeout=90)
    assert "The NVIDIA driver (nvml) ended GPUMon's sampler" in found["stderr"]
    assert metric(found, RTX, "engine_utilization") == 0.31
    assert device(found, RTX)["sources"] == ["dxgi", "pdh"]


def test_a_driver_that_never_answers_is_named_and_left_out(world: World) -> None:
    world.nvidia(GEFORCE, **{"hang nvmlInit_v2": ""}).windows(NVIDIA).engine(4, CARD, 0, "3D", 31).write()
    found = snapshot(timeout=90)
    assert "The NVIDIA driver (nvml)" in found["stderr"]
    assert metric(found, RTX, "engine_utilization") == 0.31


def test_nothing_is_left_running(world: World) -> None:
    """The sampler is in a job that ends with its parent, however that ends."""
    code = (
        "import sys, psutil\n"
        "from gpumon_gui.core.clock import SystemClock\n"
        "from gpumon_gui.core.model import Demand\n"
        "from gpumon_gui.cli.sampling import supervised\n"
        "with supervised(None, Demand(), SystemClock()) as s:\n"
        "    while not s.step(1.0): pass\n"
        "    print(*[c.pid for c in psutil.Process().children()], flush=True)\n"
        "    sys.stdin.read()\n"
    )
    world.windows(RADEON).write()
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert parent.stdout is not None
    sampler = psutil.Process(int(parent.stdout.readline().split()[0]))
    parent.kill()
    parent.communicate()
    sampler.wait(15)
