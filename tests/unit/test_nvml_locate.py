"""Where nvml.dll and libnvidia-ml.so.1 are looked for."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath

import pytest

from gpumon_gui.telemetry.nvml.locate import candidates

ENVIRON = {"SystemRoot": r"D:\Windows", "ProgramW6432": r"D:\Programs", "ProgramFiles": r"D:\Programs (x86)"}
STORE = PureWindowsPath(r"D:\Windows\System32\DriverStore\FileRepository")


def put(root: Path, folder: str, age: int, name: str = "nvml.dll") -> None:
    file = root / "Windows/System32/DriverStore/FileRepository" / folder / name
    file.parent.mkdir(parents=True)
    file.touch()
    os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))


def test_windows_system_folder_then_the_old_one_then_the_driver_store(tmp_path: Path) -> None:
    put(tmp_path, "nv_dispi.inf_amd64_0001", age=900)
    put(tmp_path, "nvlt.inf_amd64_0002", age=5)
    put(tmp_path, "iigd_dch.inf_amd64_0003", age=1)  # Intel's
    put(tmp_path, "nvmdsi.inf_amd64_0004", age=1, name="other.dll")
    assert candidates("win32", ENVIRON, tmp_path) == (
        r"D:\Windows\System32\nvml.dll",
        r"D:\Programs\NVIDIA Corporation\NVSMI\nvml.dll",
        str(STORE / "nvlt.inf_amd64_0002" / "nvml.dll"),
        str(STORE / "nv_dispi.inf_amd64_0001" / "nvml.dll"),
    )


def test_windows_without_a_driver_store(tmp_path: Path) -> None:
    assert candidates("win32", ENVIRON, tmp_path) == (
        r"D:\Windows\System32\nvml.dll",
        r"D:\Programs\NVIDIA Corporation\NVSMI\nvml.dll",
    )


@pytest.mark.parametrize("environ", [{}, {"SystemRoot": ".", "ProgramW6432": "Programs"}])
def test_windows_paths_are_absolute_whatever_the_environment_says(environ: dict[str, str], tmp_path: Path) -> None:
    found = candidates("win32", environ, tmp_path)
    assert found == (r"C:\Windows\System32\nvml.dll", r"C:\Program Files\NVIDIA Corporation\NVSMI\nvml.dll")


def test_windows_environment_names_have_no_case(tmp_path: Path) -> None:
    upper = {name.upper(): value for name, value in ENVIRON.items()}
    assert candidates("win32", upper, tmp_path) == candidates("win32", ENVIRON, tmp_path)


def test_linux_by_soname_first(tmp_path: Path) -> None:
    assert candidates("linux", {}, tmp_path) == (
        "libnvidia-ml.so.1",
        "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
        "/run/opengl-driver/lib/libnvidia-ml.so.1",
    )


def test_wsl_uses_the_hosts_library(tmp_path: Path) -> None:
    library = tmp_path / "usr/lib/wsl/lib/libnvidia-ml.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    assert candidates("linux", {}, tmp_path)[:2] == ("/usr/lib/wsl/lib/libnvidia-ml.so.1", "libnvidia-ml.so.1")


def test_elsewhere_there_is_none() -> None:
    assert candidates("darwin", {}) == ()
