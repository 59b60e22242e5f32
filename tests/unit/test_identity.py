"""Two sources mean one card exactly when an identity says so; never by index or name."""

from __future__ import annotations

import pytest

from gpumon_gui.core.identity import key_of, parse_pci_address, pci_address, same_device
from gpumon_gui.core.model import DeviceInfo, DeviceKey


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("00000000:01:00.0", "00000000:01:00.0"),  # NVML
        ("0000:01:00.0", "00000000:01:00.0"),  # sysfs
        ("01:00.0", "00000000:01:00.0"),  # lspci
        ("01:00", "00000000:01:00.0"),
        ("0000:C1:1F.7", "00000000:c1:1f.7"),
        (" 0000:01:00.0\n", "00000000:01:00.0"),
        ("10de0:01:00.0", "00010de0:01:00.0"),  # a domain of five digits: Intel VMD, Azure
        ("", None),
        ("1:0.0", None),
        ("0000:01:00.8", None),
        ("0000:01:00.0:x", None),
        ("GPU-1d4a", None),
    ],
)
def test_every_usual_spelling_of_a_pci_address_is_read(text: str, ours: str | None) -> None:
    assert parse_pci_address(text) == ours


def test_pci_address_is_written_in_nvmls_form() -> None:
    assert pci_address(0x1, 0xC1, 0x1F, 3) == "00000001:c1:1f.3"
    assert pci_address(0, 1, 0) == "00000000:01:00.0"


@pytest.mark.parametrize(
    ("known", "key"),
    [
        ({"pci": "00000000:01:00.0", "uuid": "GPU-1", "luid": 7}, "pci:00000000:01:00.0"),
        ({"uuid": "GPU-1", "luid": 7}, "uuid:GPU-1"),
        ({"luid": 0x1234, "uuid": ""}, "luid:0000000000001234"),
        ({"luid": 0}, "luid:0000000000000000"),
        ({"name": "Basic"}, "name:Basic"),
    ],
)
def test_the_key_comes_from_the_strongest_identity(known: dict[str, object], key: str) -> None:
    assert key_of(**known) == key  # type: ignore[arg-type]


def card(**known: object) -> DeviceInfo:
    return DeviceInfo(DeviceKey("k"), "NVIDIA GeForce RTX 4090", vendor="nvidia", **known)  # type: ignore[arg-type]


PCI = "00000000:01:00.0"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        # Windows' adapter address has no domain, NVML no function
        (card(pci_address=PCI), card(pci_address="00000000:01:00.1"), True),
        (card(pci_address=PCI), card(pci_address="00000000:02:00.0"), False),
        (card(pci_address=PCI), card(pci_address="00000001:01:00.0"), False),
        (card(pci_address=PCI, luid=7), card(luid=7), True),
        (card(luid=7), card(luid=8), False),
        (card(luid=0), card(luid=0), True),
        (card(uuid="GPU-1"), card(uuid="GPU-1"), True),
        (card(uuid="GPU-1", pci_address=PCI), card(uuid="GPU-2", pci_address=PCI), False),
        # equal names and indices are no identity: two of the same card in one machine
        (card(index=0), card(index=0), False),
        (card(pci_address=PCI), card(luid=7), False),
        (card(pci_address=PCI, luid=7), card(pci_address="00000000:02:00.0", luid=7), False),
        # a MIG instance sits at its card's address, yet is another device
        (card(pci_address=PCI, parent=DeviceKey("p")), card(pci_address=PCI), False),
        (card(pci_address=PCI, parent=DeviceKey("p")), card(pci_address=PCI, parent=DeviceKey("p")), False),
        (card(uuid="MIG-1", parent=DeviceKey("p")), card(uuid="MIG-1", parent=DeviceKey("p")), True),
        (card(uuid="MIG-1", parent=DeviceKey("p")), card(uuid="MIG-2", parent=DeviceKey("p")), False),
    ],
)
def test_same_device(a: DeviceInfo, b: DeviceInfo, same: bool) -> None:
    assert same_device(a, b) is same
    assert same_device(b, a) is same
