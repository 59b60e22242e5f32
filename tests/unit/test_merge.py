"""One card seen by several sources is one device; each figure keeps the source it came from."""

from __future__ import annotations

from dataclasses import replace

from gpumon_gui.core.identity import key_of
from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceKind,
    DeviceSample,
    DeviceState,
    EngineKind,
    EngineSample,
    ProcessUse,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry.merge import Merged, merge_infos, merge_samples, merge_uses, merge_values

PCI = "00000000:01:00.0"
LUID = 0x1B3C


def info(source: str, name: str = "card", **rest: object) -> DeviceInfo:
    pci, luid, uuid = rest.get("pci"), rest.get("luid"), rest.get("uuid")
    assert pci is None or isinstance(pci, str)
    assert luid is None or isinstance(luid, int)
    assert uuid is None or isinstance(uuid, str)
    kind = rest.get("kind", DeviceKind.UNKNOWN)
    assert isinstance(kind, DeviceKind)
    key = key_of(pci, luid, uuid, name)
    return DeviceInfo(key, name, pci_address=pci, luid=luid, uuid=uuid, kind=kind, sources=(source,))


NVML = info("nvml", "NVIDIA RTX", pci=PCI, uuid="GPU-1", kind=DeviceKind.DISCRETE)
DXGI = replace(info("dxgi", "NVIDIA RTX (Windows)", pci=PCI, luid=LUID, kind=DeviceKind.INTEGRATED), index=1)
PDH = info("pdh", "LUID 0x1b3c", luid=LUID)
OTHER = info("dxgi", "Intel", pci="00000000:00:02.0", luid=0x99)


def merged() -> Merged:
    return merge_infos({"nvml": [NVML], "dxgi": [DXGI, OTHER], "pdh": [PDH]})


def test_three_views_of_a_card_are_one_device() -> None:
    intel, nvidia = merged().inventory
    assert nvidia.key == DeviceKey(f"pci:{PCI}")
    assert nvidia.name == "NVIDIA RTX"
    assert nvidia.sources == ("nvml", "dxgi", "pdh")
    assert (nvidia.pci_address, nvidia.luid, nvidia.uuid) == (PCI, LUID, "GPU-1")
    assert intel.name == "Intel"


def test_windows_decides_what_kind_of_adapter_it_is_and_its_number() -> None:
    nvidia = merged().inventory[1]
    assert (nvidia.kind, nvidia.index) == (DeviceKind.INTEGRATED, 1)


def test_a_middle_man_joins_two_that_do_not_know_each_other() -> None:
    """NVML has no LUID and the counters no PCI address, whichever order they come in."""
    for order in (("nvml", "pdh", "dxgi"), ("pdh", "nvml", "dxgi"), ("dxgi", "pdh", "nvml")):
        views = {"nvml": [NVML], "dxgi": [DXGI], "pdh": [PDH]}
        assert len(merge_infos({name: views[name] for name in order}).inventory) == 1


def test_cards_without_identity_are_never_joined() -> None:
    twins = [info("nvml", "nvml-0"), info("nvml", "nvml-1"), info("drm", "nvml-0x")]
    assert len(merge_infos({"nvml": twins[:2], "drm": twins[2:]}).inventory) == 3


def test_equal_names_do_not_join() -> None:
    one, two = info("nvml", "RTX", pci=PCI), info("drm", "RTX", pci="00000000:02:00.0")
    assert len(merge_infos({"nvml": [one], "drm": [two]}).inventory) == 2


def test_the_order_is_that_of_the_bus_with_instances_behind_their_card() -> None:
    late, early = info("nvml", "late", pci="00000000:41:00.0"), info("nvml", "early", pci="00000000:0a:00.0")
    parts = [
        replace(info("nvml", f"part-{n}", uuid=f"MIG-{n}"), parent=early.key, index=n, kind=DeviceKind.MIG)
        for n in (1, 0)
    ]
    nameless = info("nvml", "nameless")
    inventory = merge_infos({"nvml": [nameless, late, *parts, early]}).inventory
    assert [one.name for one in inventory] == ["early", "part-0", "part-1", "late", "nameless"]


def test_an_instance_follows_its_card_to_its_new_key() -> None:
    card = info("nvml", "card", uuid="GPU-9")
    part = replace(info("nvml", "part", uuid="MIG-1"), parent=card.key)
    # Only the operating system knows the address; so the card's key changes.
    system = replace(info("drm", "card", pci=PCI), uuid="GPU-9")
    inventory = merge_infos({"nvml": [card, part], "drm": [system]}).inventory
    by_name = {one.name: one for one in inventory}
    assert by_name["card"].key == f"pci:{PCI}"
    assert by_name["part"].parent == by_name["card"].key


# -- values ----------------------------------------------------------------------------------------------------------


def test_the_first_source_with_a_number_wins() -> None:
    first: dict[str, Value] = {
        "power_w": Reading(100.0, "nvml"),
        "temperature_c": Missing(Reason.NOT_SUPPORTED, "nvml"),
        "fan_ratio": Missing(Reason.NO_PERMISSION, "nvml"),
        "memory_used_bytes": Missing(Reason.NOT_READ, "nvml"),
    }
    second: dict[str, Value] = {
        "power_w": Reading(90.0, "dxgi"),
        "temperature_c": Reading(50.0, "dxgi"),
        "fan_ratio": Missing(Reason.NOT_SUPPORTED, "dxgi"),
        "memory_used_bytes": Missing(Reason.ASLEEP, "dxgi"),
        "fan_rpm": Reading(900, "dxgi"),
    }
    assert merge_values(first, second) == {
        "power_w": Reading(100.0, "nvml"),
        "temperature_c": Reading(50.0, "dxgi"),
        "fan_ratio": Missing(Reason.NO_PERMISSION, "nvml"),  # says more than "not supported"
        "memory_used_bytes": Missing(Reason.ASLEEP, "dxgi"),
        "fan_rpm": Reading(900, "dxgi"),
    }


def test_a_zero_is_a_number() -> None:
    assert merge_values({"power_w": Reading(0.0, "nvml")}, {"power_w": Reading(9.0, "dxgi")}) == {
        "power_w": Reading(0.0, "nvml")
    }


def test_samples_of_one_card_are_joined_under_its_key() -> None:
    engine = EngineSample("1", "Cuda", EngineKind.COMPUTE, Reading(0.9, "pdh"))
    samples = merge_samples(
        merged(),
        {
            "nvml": {NVML.key: DeviceSample(NVML.key, values={"power_w": Reading(100.0, "nvml")})},
            "dxgi": {DXGI.key: DeviceSample(DXGI.key, values={"fan_rpm": Reading(900, "dxgi")})},
            "pdh": {PDH.key: DeviceSample(PDH.key, engines=(engine,))},
        },
    )
    (sample,) = samples.values()
    assert sample.key == f"pci:{PCI}"
    assert sample.engines == (engine,)
    assert set(sample.values) == {"power_w", "fan_rpm"}


def test_the_worst_state_is_what_the_user_sees() -> None:
    for first, second, shown in (
        (DeviceState.OK, DeviceState.ASLEEP, DeviceState.ASLEEP),
        (DeviceState.LOST, DeviceState.OK, DeviceState.LOST),
        (DeviceState.SICK, DeviceState.LOST, DeviceState.LOST),
    ):
        samples = merge_samples(
            merged(),
            {
                "nvml": {NVML.key: DeviceSample(NVML.key, first, "one")},
                "pdh": {PDH.key: DeviceSample(PDH.key, second, "two")},
            },
        )
        assert samples[DeviceKey(f"pci:{PCI}")].state is shown


def test_a_sample_of_a_device_nobody_listed_is_dropped() -> None:
    stranger = DeviceKey("pci:elsewhere")
    assert merge_samples(merged(), {"nvml": {stranger: DeviceSample(stranger)}}) == {}
    assert merge_uses(merged(), {"nvml": [ProcessUse(1, stranger, UseKind.COMPUTE)]}) == ()


def test_a_process_seen_by_two_sources_is_one_use() -> None:
    by_nvml = ProcessUse(
        7,
        NVML.key,
        UseKind.COMPUTE,
        {
            "process_gpu_utilization": Reading(0.5, "nvml"),
            "process_memory_bytes": Missing(Reason.DRIVER_MODEL, "nvml"),
        },
    )
    by_pdh = ProcessUse(
        7,
        PDH.key,
        UseKind.UNKNOWN,
        {"process_gpu_utilization": Reading(0.9, "pdh"), "process_memory_bytes": Reading(1 << 30, "pdh")},
        "Cuda",
    )
    for order in ({"nvml": [by_nvml], "pdh": [by_pdh]}, {"pdh": [by_pdh], "nvml": [by_nvml]}):
        (use,) = merge_uses(merged(), order)
        assert use.device == f"pci:{PCI}"
        assert use.kind is UseKind.COMPUTE
        assert use.engine == "Cuda"
        assert use.values["process_memory_bytes"] == Reading(1 << 30, "pdh")


def test_a_source_that_knows_nothing_else_of_a_card_does_not_name_it() -> None:
    """A sleeping card is "NVIDIA GPU" to its own source; Windows knows its name."""
    sleeping = info("nvml", "NVIDIA GPU", pci=PCI)
    named = replace(info("dxgi", "NVIDIA GeForce RTX 3070", pci=PCI, luid=LUID), static={"hags": Reading("on", "dxgi")})
    (one,) = merge_infos({"nvml": [sleeping], "dxgi": [named], "pdh": [PDH]}).inventory
    assert one.name == "NVIDIA GeForce RTX 3070"
