"""Where room is short a GPU is called by its model: that is what tells it from another."""

from __future__ import annotations

import pytest

from gpumon_gui.core.model import DeviceKind
from gpumon_gui.telemetry.derive.adapters import Adapter, short_name, short_name_of
from tests.qt.samples import make_info


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("NVIDIA GeForce RTX 4060 Laptop GPU", "RTX 4060 Laptop"),
        ("NVIDIA RTX 3000 Ada Generation Laptop GPU", "RTX 3000 Ada Laptop"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("Tesla T4", "Tesla T4"),
        ("AMD Radeon RX 7800 XT", "Radeon RX 7800 XT"),
        ("AMD Radeon(TM) Graphics", "Radeon Graphics"),
        ("AMD Navi 31 [Radeon RX 7900 XT/7900 XTX]", "Radeon RX 7900 XT/7900 XTX"),
        ("Intel(R) Iris(R) Xe Graphics", "Iris Xe Graphics"),
        # nothing would be left that says more
        ("NVIDIA GPU", "NVIDIA GPU"),
        ("NVIDIA [10de:1287]", "NVIDIA [10de:1287]"),
        ("", ""),
    ],
)
def test_the_model_is_what_stays(name: str, short: str) -> None:
    assert short_name(name) == short


def test_below_its_card_an_instance_is_called_by_what_it_is() -> None:
    assert short_name_of(Adapter(make_info(0, "NVIDIA A100-SXM4-80GB MIG 3g.40gb"), 0, 0)) == "MIG 3g.40gb"


def test_an_adapter_that_is_none_says_so() -> None:
    assert short_name_of(Adapter(make_info(0, "AMD Radeon", DeviceKind.VIRTUAL), 0)) == "Radeon (virtual)"
