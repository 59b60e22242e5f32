"""An empty list of processes explains itself; "nothing runs" is said only when nothing can hide a process."""

from __future__ import annotations

import pytest

from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceKind,
    DeviceSample,
    DeviceState,
    Sample,
    SourceHealth,
    SourceState,
)
from gpumon_gui.core.values import Reading
from gpumon_gui.telemetry.derive.emptiness import EXPLANATION, TITLE, explain

KEY = DeviceKey("pci:00000000:01:00.0")
NVML = SourceHealth("nvml", SourceState.OK)
HOST = SourceHealth("host", SourceState.OK)


def machine(
    *health: SourceHealth,
    state: DeviceState = DeviceState.OK,
    used: float = 1e6,
    static: dict[str, str] | None = None,
    devices: bool = True,
) -> Sample:
    info = DeviceInfo(
        KEY, "GPU", kind=DeviceKind.DISCRETE, static={k: Reading(v, "nvml") for k, v in (static or {}).items()}
    )
    device = DeviceSample(KEY, state, values={"memory_used_bytes": Reading(used, "nvml")})
    return Sample(
        1, 10.0, 1e9, 1.0, (info,) if devices else (), {KEY: device} if devices else {}, health=health or (NVML, HOST)
    )


@pytest.mark.parametrize(
    ("sample", "code", "words"),
    [
        (None, "waiting", "sampler is starting"),
        (machine(), "idle", "Start a program"),
        (machine(SourceHealth("nvml", SourceState.ABSENT, "no-driver"), HOST, devices=False), "no-gpu", "install"),
        (machine(SourceHealth("drm", SourceState.OK), HOST, devices=False), "no-gpu", "No driver"),
        (
            machine(SourceHealth("nvml", SourceState.FAILED, "driver-library-mismatch"), devices=False),
            "source",
            "Restart the computer",
        ),
        (machine(SourceHealth("nvml", SourceState.NOT_ANSWERING, "hung")), "source", "did not return"),
        (machine(state=DeviceState.ASLEEP), "asleep", "does not wake it"),
        (machine(state=DeviceState.LOST), "device", "lost this GPU"),
        (machine(NVML, SourceHealth("pdh", SourceState.FAILED, "counters-no-permission")), "rights", "Performance"),
        (machine(static={"driver_model": "WDDM"}), "wddm", "lodctr /R"),
        (machine(NVML, SourceHealth("pdh", SourceState.OK), static={"driver_model": "WDDM"}), "idle", "Start"),
        (machine(static={"driver_model": "TCC"}), "idle", "Start"),
        (machine(static={"mig_mode": "enabled"}, used=40e9), "mig", "instances"),
        (machine(used=40e9), "hidden", "37 GB of device memory are in use"),
    ],
)
def test_reasons(sample: Sample | None, code: str, words: str) -> None:
    found = explain(sample)
    assert found.code == code
    assert found.title
    assert words in found.explanation("37 GB")


def test_a_missing_nvidia_driver_does_not_hide_behind_another_vendors_card_that_works() -> None:
    amd = machine(SourceHealth("nvml", SourceState.ABSENT, "no-driver"), SourceHealth("drm", SourceState.OK), HOST)
    assert explain(amd).code == "idle"


def test_the_search_is_named_before_anything_else() -> None:
    found = explain(machine(used=40e9), hidden_rows=3)
    assert (found.code, found.count) == ("filtered", 3)
    assert "Hidden by the search or the device filter: 3" in found.explanation()


def test_one_sleeping_device_of_two_does_not_explain_the_list_of_both() -> None:
    sample = machine(state=DeviceState.ASLEEP)
    other = DeviceKey("pci:00000000:02:00.0")
    both = Sample(
        1,
        10.0,
        1e9,
        1.0,
        (*sample.inventory, DeviceInfo(other, "GPU 2")),
        {**sample.devices, other: DeviceSample(other)},
        health=(NVML, HOST),
    )
    assert explain(both).code == "idle"
    assert explain(both, KEY).code == "asleep"


def test_every_code_has_words() -> None:
    assert TITLE.keys() == EXPLANATION.keys()
