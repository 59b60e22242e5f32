"""The built window on a virtual screen: it opens in time, its sampler lives and dies with it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QImage

from gpumon_gui.app.arguments import PAGES
from gpumon_gui.history.reading import HistoryReader
from tests.frozen.conftest import ROOT, in_lab, run_program, seen, unpack_portable
from tests.windows.world import GEFORCE, GIB, INTEL, MIB, NVIDIA, World

LIMIT_S = 6.0  # the build measures the start with nothing else running; here other work may run beside
SETTLE_S = 6.0  # as long as inside/window.py looks at one
MACHINE = ("--scenario", "windows-laptop")
LOOKS = {
    "light": (("--theme", "light", "--lang", "en"), ()),
    "dark-chinese": (("--theme", "dark", "--lang", "zh_CN"), ("--windows11",)),
    "scaled": (("--theme", "light", "--page", "processes", "--lang", "zh_CN"), ("--scale", "150")),
}


def look(folder: Path, picture: Path, ending: str, *words: str, options: tuple[str, ...] = ()) -> dict[str, Any]:
    return seen("window.py", folder / "gpumon-gui.exe", picture, ending, *MACHINE, *words, options=options)


@pytest.mark.parametrize("name", sorted(LOOKS))
def test_it_opens_shows_figures_and_ends_when_closed(folder: Path, pictures: Path, name: str) -> None:
    words, options = LOOKS[name]
    found = look(folder, pictures / f"{name}.png", "close", *words, options=options)
    assert found["came"]
    assert found["seconds"] < LIMIT_S
    assert [title for title, _width, _height in found["windows"]] == ["windows-laptop – GPUMon"]
    assert found["colours"] > 150  # an empty window has a dozen
    assert (found["ended"], found["code"]) == (True, 0)
    assert (found["child_ended"], found["left"]) == (True, [])


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Options that give the lab a GPU: a GeForce that computes, by the drivers' DLLs of tests/windows."""
    made = tmp_path_factory.mktemp("stand-ins")
    subprocess.run([sys.executable, str(ROOT / "tests/windows/standins/build.py"), str(made)], check=True)
    luid = str(NVIDIA["luid"])
    machine = World(made / "world.txt").nvidia({**GEFORCE, "utilization": "97 41"}).windows(NVIDIA, INTEL)
    machine.engine(4, luid, 3, "Cuda", 96).engine(4, luid, 0, "3D", 3).memory(luid, 7 * GIB, 128 * MIB).write()
    dlls = [word for name in ("pdh", "nvml") for word in ("--dll", str(made / f"{name}.dll"))]
    return (*dlls, "-e", "GPUMON_WORLD=Z:" + str(machine.path).replace("/", "\\"))


def test_it_shows_the_gpu_of_this_machine(folder: Path, pictures: Path, stand_ins: tuple[str, ...]) -> None:
    found = seen("window.py", folder / "gpumon-gui.exe", pictures / "live.png", "close", options=stand_ins)
    assert [title for title, _width, _height in found["windows"]] == ["GPUMon"]
    assert found["colours"] > 150
    assert (found["ended"], found["code"], found["child_ended"]) == (True, 0, True)
    done = in_lab("run", folder / "gpumon.exe", "snapshot", "--json", options=stand_ins)
    device = next(item for item in json.loads(done.stdout)["devices"] if item["name"] == GEFORCE["name"])
    assert set(device["sources"]) == {"nvml", "dxgi", "pdh"}
    seen_by_windows, seen_by_driver = device["metrics"]["engine_utilization"], device["metrics"]["gpu_utilization"]
    assert (seen_by_windows["source"], seen_by_windows["value"]) == ("pdh", 0.96)
    assert (seen_by_driver["source"], seen_by_driver["value"]) == ("nvml", 0.97)


def test_settings_and_history_are_kept_from_start_to_start(tmp_path: Path, stand_ins: tuple[str, ...]) -> None:
    home = unpack_portable(tmp_path)
    settings = home / "data/settings.toml"
    settings.parent.mkdir()
    settings.write_text('# mine\n[general]\ntheme = "dark"\nof_a_newer_version = "新"\n', encoding="utf-8-sig")
    for page in ("settings", "history"):
        picture = tmp_path / f"{page}.png"
        found = seen("window.py", home / "gpumon-gui.exe", picture, "close", "--page", page, options=stand_ins)
        assert (found["ended"], found["code"], found["left"]) == (True, 0, [])
        kept = settings.read_text(encoding="utf-8")
        assert "# mine" in kept
        written = tomllib.loads(kept)["general"]
        assert (written["theme"], written["of_a_newer_version"], written["last_page"]) == ("dark", "新", page)
        image = QImage(str(picture))
        assert image.pixelColor(image.width() // 2, image.height() // 2).lightness() < 60
    reader = HistoryReader(home / "data/history.db")
    contents = reader.contents()
    reader.close()
    assert GEFORCE["name"] in [device.name for device in contents.devices]
    assert contents.first_s is not None
    assert contents.last_s is not None
    assert contents.last_s - contents.first_s > SETTLE_S  # of both starts


@pytest.mark.parametrize("page", PAGES)
def test_each_page_can_be_drawn(folder: Path, pictures: Path, page: str) -> None:
    picture = pictures / f"page-{page}.png"
    words = ("--page", page, "--lang", "zh_CN", "--size", "1400x900", "--screenshot", str(picture), *MACHINE)
    done = run_program(folder / "gpumon-gui.exe", *words)
    assert (done.returncode, done.stderr) == (0, "")
    image = QImage(str(picture))
    assert (image.width(), image.height()) == (1400, 900)


def test_the_sampler_is_the_same_program_with_a_clean_environment(folder: Path, pictures: Path) -> None:
    child = look(folder, pictures / "killed.png", "kill")["child"]
    assert child["command"][0].endswith("\\gpumon-gui.exe")
    assert child["command"][1] == "--sampler-child"
    variables = child["variables"]
    assert "PYINSTALLER_RESET_ENVIRONMENT" not in variables  # used up by the start
    assert variables["_PYI_PARENT_PROCESS_LEVEL"] == "1"  # a main process, as if started by hand; a child's child has 2
    assert "_MEIPASS2" not in variables


def test_the_sampler_ends_when_the_window_is_killed(folder: Path, pictures: Path) -> None:
    found = look(folder, pictures / "killed.png", "kill")
    assert found["ended"]
    assert found["code"] != 0
    assert (found["child_ended"], found["left"]) == (True, [])


def test_without_a_console_wrong_usage_is_a_box(folder: Path, pictures: Path) -> None:
    found = seen("window.py", folder / "gpumon-gui.exe", pictures / "box.png", "close", "--no-such-option")
    assert [title for title, _width, _height in found["windows"]] == ["GPUMon"]
    assert (found["ended"], found["code"]) == (True, 2)


def test_hidden_in_the_tray_until_a_second_start_asks_for_the_window(folder: Path, pictures: Path) -> None:
    found = seen("tray.py", folder / "gpumon-gui.exe", pictures / "tray.png")
    assert not found["shown_at_once"]
    assert (found["second_ended"], found["second_code"]) == (True, 0)
    assert (found["shown_then"], found["of_the_first"]) == (True, [True])
    assert (found["hidden_again"], found["goes_on"]) == (True, True)
