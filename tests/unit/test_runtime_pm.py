"""A sleeping NVIDIA card is seen, named and left asleep."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpumon_gui.telemetry.runtime_pm import PowerState, RuntimeStatus, nvidia_devices, power_state, sysfs_address

INFORMATION = """Model: \t\t NVIDIA GeForce RTX 3050 Laptop GPU
IRQ:   \t\t 154
GPU UUID: \t GPU-????????-????-????-????-????????????
Video BIOS: \t ??.??.??.??.??
Bus Type: \t PCIe
DMA Size: \t 47 bits
DMA Mask: \t 0x7fffffffffff
Bus Location: \t 0000:01:00.0
Device Minor: \t 0
GPU Excluded:\t No
"""


def plug(root: Path, address: str, vendor: str, cls: str, status: str | None = None, control: str = "auto") -> Path:
    device = root / "sys/bus/pci/devices" / address
    (device / "power").mkdir(parents=True)
    (device / "vendor").write_text(vendor + "\n")
    (device / "class").write_text(cls + "\n")
    (device / "power/control").write_text(control + "\n")
    if status is not None:
        (device / "power/runtime_status").write_text(status + "\n")
    return device


def test_only_nvidia_display_devices_are_listed_with_the_name_the_driver_knows(tmp_path: Path) -> None:
    plug(tmp_path, "0000:01:00.0", "0x10de", "0x030000", "suspended")
    plug(tmp_path, "0000:01:00.1", "0x10de", "0x040300", "suspended")  # its sound device
    plug(tmp_path, "0000:00:02.0", "0x8086", "0x030000", "active")
    plug(tmp_path, "10000:e1:00.0", "0x10de", "0x030200", "active")  # 3D controller behind Intel VMD
    info = tmp_path / "proc/driver/nvidia/gpus/0000:01:00.0"
    info.mkdir(parents=True)
    (info / "information").write_text(INFORMATION)
    assert nvidia_devices(tmp_path) == [
        ("00000000:01:00.0", "NVIDIA GeForce RTX 3050 Laptop GPU"),
        ("00010000:e1:00.0", None),
    ]


def test_a_model_the_driver_does_not_know_is_none(tmp_path: Path) -> None:
    plug(tmp_path, "0000:01:00.0", "0x10de", "0x030000")
    info = tmp_path / "proc/driver/nvidia/gpus/0000:01:00.0"
    info.mkdir(parents=True)
    (info / "information").write_text("Model: \t\t Unknown\n")
    assert nvidia_devices(tmp_path) == [("00000000:01:00.0", None)]


def test_a_machine_without_pci_has_no_devices(tmp_path: Path) -> None:
    assert nvidia_devices(tmp_path) == []


def test_an_entry_that_cannot_be_read_does_not_hide_the_next(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/devices/0000:01:00.0/vendor").mkdir(parents=True)  # reading it fails
    plug(tmp_path, "0000:02:00.0", "0x10de", "0x030000")
    assert [address for address, _ in nvidia_devices(tmp_path)] == ["00000000:02:00.0"]


@pytest.mark.parametrize(
    ("word", "status", "asleep"),
    [
        ("active", RuntimeStatus.ACTIVE, False),
        ("suspended", RuntimeStatus.SUSPENDED, True),
        ("suspending", RuntimeStatus.SUSPENDING, True),
        ("resuming", RuntimeStatus.RESUMING, False),
        ("unsupported", RuntimeStatus.UNSUPPORTED, False),
        ("error", RuntimeStatus.UNKNOWN, False),
        ("", RuntimeStatus.UNKNOWN, False),
    ],
)
def test_every_word_of_the_kernel_is_understood(tmp_path: Path, word: str, status: RuntimeStatus, asleep: bool) -> None:
    plug(tmp_path, "0000:01:00.0", "0x10de", "0x030000", word)
    state = power_state(tmp_path, "00000000:01:00.0")
    assert state == PowerState(status, can_sleep=True)
    assert state.asleep is asleep


def test_a_card_kept_on_by_the_user_cannot_sleep(tmp_path: Path) -> None:
    plug(tmp_path, "0000:01:00.0", "0x10de", "0x030000", "active", control="on")
    assert power_state(tmp_path, "0000:01:00.0") == PowerState(RuntimeStatus.ACTIVE, can_sleep=False)


@pytest.mark.parametrize("address", ["0000:05:00.0", "rubbish", ""])
def test_a_device_that_is_not_there_is_unknown(tmp_path: Path, address: str) -> None:
    assert power_state(tmp_path, address) == PowerState(RuntimeStatus.UNKNOWN, can_sleep=False)


def test_domains_keep_sysfs_spelling() -> None:
    assert sysfs_address("00000000:01:00.0") == "0000:01:00.0"
    assert sysfs_address("00010000:e1:00.0") == "10000:e1:00.0"


def test_looking_opens_nothing_that_wakes_the_card(tmp_path: Path, opened: list[str]) -> None:
    plug(tmp_path, "0000:01:00.0", "0x10de", "0x030000", "suspended")
    power_state(tmp_path, "0000:01:00.0")
    nvidia_devices(tmp_path)
    names = {Path(path).name for path in opened if "0000:01:00.0" in path}
    assert names <= {"runtime_status", "control", "vendor", "class", "information"}
