"""Samples survive the way through the pipe and through JSON; what is no sample is refused."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.model import (
    Cost,
    Demand,
    DeviceInfo,
    DeviceKey,
    DeviceKind,
    DeviceSample,
    DeviceState,
    EngineKind,
    EngineSample,
    HostSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    SourceHealth,
    SourceState,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.telemetry import codec

PLAIN_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
)
SOURCES = st.sampled_from(["nvml", "pdh", "drm", "host"])
VALUES = st.one_of(
    st.builds(Reading, st.one_of(NUMBERS, PLAIN_TEXT), SOURCES),
    st.builds(Missing, st.sampled_from(Reason), SOURCES, PLAIN_TEXT),
)
TABLES = st.dictionaries(st.sampled_from(sorted(METRICS)), VALUES, max_size=6)
KEYS = st.builds(DeviceKey, st.sampled_from(["pci:00000000:01:00.0", "luid:1", "uuid:GPU-1", "nvml-index:0"]))
SECONDS = st.floats(0, 1e10, allow_subnormal=False)

INFOS = st.builds(
    DeviceInfo,
    key=KEYS,
    name=PLAIN_TEXT,
    vendor=PLAIN_TEXT,
    kind=st.sampled_from(DeviceKind),
    index=st.integers(0, 99),
    pci_address=st.none() | PLAIN_TEXT,
    luid=st.none() | st.integers(0, 2**63 - 1),
    uuid=st.none() | PLAIN_TEXT,
    parent=st.none() | KEYS,
    sources=st.lists(SOURCES, max_size=3).map(tuple),
    static=TABLES,
)
ENGINES = st.builds(EngineSample, PLAIN_TEXT, PLAIN_TEXT, st.sampled_from(EngineKind), VALUES)
DEVICES = st.builds(
    DeviceSample, KEYS, st.sampled_from(DeviceState), PLAIN_TEXT, TABLES, st.lists(ENGINES, max_size=3).map(tuple)
)
USES = st.builds(ProcessUse, st.integers(0, 2**32), KEYS, st.sampled_from(UseKind), TABLES, PLAIN_TEXT)
WORDS = st.lists(PLAIN_TEXT, max_size=3).map(tuple)
PROCESSES = st.builds(
    ProcessSample,
    pid=st.integers(0, 2**32),
    started_utc_s=st.none() | SECONDS,
    name=PLAIN_TEXT,
    presence=st.sampled_from(ProcessPresence),
    ppid=st.none() | st.integers(0, 2**32),
    parents=WORDS,
    command=WORDS,
    executable=PLAIN_TEXT,
    user=PLAIN_TEXT,
    framework=PLAIN_TEXT,
    environment=PLAIN_TEXT,
    uses=st.lists(USES, max_size=2).map(tuple),
    values=TABLES,
)
HEALTH = st.builds(
    SourceHealth,
    SOURCES,
    st.sampled_from(SourceState),
    PLAIN_TEXT,
    PLAIN_TEXT,
    SECONDS,
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
)
SAMPLES = st.builds(
    Sample,
    sequence=st.integers(0, 2**53),
    monotonic_s=SECONDS,
    utc_s=SECONDS,
    interval_s=SECONDS,
    inventory=st.lists(INFOS, max_size=2).map(tuple),
    devices=st.lists(DEVICES, max_size=2).map(lambda devices: {device.key: device for device in devices}),
    processes=st.lists(PROCESSES, max_size=2).map(tuple),
    host=st.builds(HostSample, TABLES, st.lists(st.floats(0, 1, allow_subnormal=False), max_size=4).map(tuple)),
    health=st.lists(HEALTH, max_size=2).map(tuple),
    cost=st.builds(Cost, VALUES, VALUES, SECONDS),
)


@settings(deadline=None)
@given(SAMPLES)
def test_a_sample_comes_back_as_it_was(sample: Sample) -> None:
    assert codec.unpack(codec.pack(sample)) == sample
    assert codec.load(codec.dump(sample)) == sample


@settings(deadline=None)
@given(st.text(st.characters(), max_size=40))
def test_any_text_of_the_system_can_be_sent(text: str) -> None:
    """Names of processes hold whatever bytes a program chose: lone surrogates come back as their escapes."""
    use = ProcessUse(1, DeviceKey("pci:x"), UseKind.COMPUTE, {}, text)
    process = ProcessSample(
        1, None, text, ProcessPresence.RUNNING, parents=(text,), command=(text, text), executable=text, user=text,
        environment=text, uses=(use,), values={"process_cpu": Missing(Reason.ERROR, "host", text)},
    )  # fmt: skip
    device = DeviceSample(DeviceKey("pci:x"), DeviceState.SICK, text, {"driver_version": Reading(text, "nvml")})
    sample = Sample(
        1, 0.0, 0.0, 0.0, (DeviceInfo(DeviceKey("pci:x"), text),), {device.key: device}, (process,),
        health=(SourceHealth("nvml", SourceState.FAILED, "bug", text),),
    )  # fmt: skip
    expected = text.encode("utf-8", "backslashreplace").decode("utf-8")
    for back in (codec.unpack(codec.pack(sample)), codec.load(codec.dump(sample))):
        assert back.processes[0].name == expected
        assert back.processes[0].command == (expected, expected)
        assert back.inventory[0].name == expected
        assert back.health[0].detail == expected


def test_a_missing_value_is_null_with_its_reason() -> None:
    device = DeviceSample(
        DeviceKey("pci:x"),
        values={"power_w": Missing(Reason.NO_PERMISSION, "nvml", "EPERM"), "fan_ratio": Reading(0.0, "nvml")},
    )
    exported = json.loads(codec.dump(Sample(1, 0.0, 0.0, 0.0, devices={device.key: device})))
    assert exported["dev"]["pci:x"]["v"] == {
        "power_w": [None, "no_permission", "nvml", "EPERM"],
        "fan_ratio": [0.0, "nvml"],
    }


def plain() -> dict[str, Any]:
    device = DeviceSample(DeviceKey("pci:x"), values={"power_w": Reading(1.0, "nvml")})
    exported: dict[str, Any] = json.loads(codec.dump(Sample(1, 0.0, 0.0, 0.0, devices={device.key: device})))
    return exported


@pytest.mark.parametrize(
    ("path", "damage"),
    [
        (("dev", "pci:x", "v", "power_w"), [None, "nvml"]),
        (("dev", "pci:x", "v", "power_w"), [True, "nvml"]),
        (("dev", "pci:x", "v", "power_w"), [1.0, "no_permission", "nvml", ""]),
        (("dev", "pci:x", "v", "power_w"), [None, "no such reason", "nvml", ""]),
        (("dev", "pci:x", "v", "power_w"), 5),
        (("dev", "pci:x", "s"), "splendid"),
        (("dev",), []),
        (("src",), [["nvml"]]),
        (("t",), "yesterday"),
        (("t",), None),
        (("cost",), None),
        (("host",), {}),
        (("proc",), [{}]),
    ],
)
def test_damage_is_refused(path: tuple[str, ...], damage: object) -> None:
    document = plain()
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = damage
    with pytest.raises(codec.MalformedSample):
        codec.load(json.dumps(document))
    with pytest.raises(codec.MalformedSample):
        codec.unpack(msgspec.msgpack.encode(document))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"7", b"null", b"\xff\xfe"])
def test_what_is_no_document_is_refused(data: bytes) -> None:
    with pytest.raises(codec.MalformedSample):
        codec.load(data)


@given(st.binary(max_size=200))
def test_rubbish_on_the_pipe_is_refused(data: bytes) -> None:
    with pytest.raises(codec.MalformedSample):
        codec.unpack(data)


def test_a_demand_comes_back_as_it_was() -> None:
    demand = Demand(interval_s=0.5, details=False, processes=True, cpu_processes=False, pids=(4711, 12))
    assert codec.demand_from_plain(codec.demand_to_plain(demand)) == demand
