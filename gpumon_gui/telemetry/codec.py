"""Knows: how a sample becomes plain lists and maps and comes back. Must not know: pipes, files, where it goes.

One form serves the frames between the processes (MessagePack) and the recordings (JSON). A value is
``[number, source]`` or ``[null, reason, source, detail]``, so that a reader in any language can tell a number from its
absence without a table. Form of a sample (keys left out where empty):

``{"n": sequence, "t": monotonic_s, "u": utc_s, "dt": interval_s, "inv": [info…], "dev": {key: {"s": state,
"d": detail, "v": {metric: value}, "e": [[id, name, kind, value]…]}}, "proc": [process…], "host": {"v": …, "c":
[fractions]}, "src": [[name, state, code, detail, duration_s, reads, failures, implausible]…], "cost": [cpu, rss,
sweep_s]}``
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

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
from gpumon_gui.core.values import Missing, Reading, Reason, Value

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_dump = msgspec.json.Encoder().encode
_load = msgspec.json.Decoder().decode


class MalformedSample(ValueError):  # noqa: N818 - reads as a statement
    """Bytes that are not a sample. The message says which part."""


def pack(sample: Sample) -> bytes:
    """A sample as MessagePack."""
    return _pack(to_plain(sample))


def unpack(data: bytes) -> Sample:
    """A sample from MessagePack. Raises MalformedSample."""
    return _guarded(_unpack, data)


def dump(sample: Sample) -> bytes:
    """A sample as one JSON document (UTF-8)."""
    return _dump(to_plain(sample))


def load(data: bytes | str) -> Sample:
    """A sample from JSON. Raises MalformedSample."""
    return _guarded(_load, data)


def demand_to_plain(demand: Demand) -> dict[str, Any]:
    """A demand as a map."""
    return {
        "interval_s": demand.interval_s,
        "details": demand.details,
        "processes": demand.processes,
        "cpu_processes": demand.cpu_processes,
        "pids": demand.pids,
        "keep_awake": demand.keep_awake,
    }


def demand_from_plain(plain: Mapping[str, Any]) -> Demand:
    """The demand inside a map."""
    return msgspec.convert(plain, Demand)


def to_plain(sample: Sample) -> dict[str, Any]:
    """A sample as lists and maps of numbers and text."""
    return {
        "n": sample.sequence,
        "t": sample.monotonic_s,
        "u": sample.utc_s,
        "dt": sample.interval_s,
        "inv": [_info_out(info) for info in sample.inventory],
        "dev": {key: _device_out(device) for key, device in sample.devices.items()},
        "proc": [_process_out(process) for process in sample.processes],
        "host": {"v": _values_out(sample.host.values), "c": sample.host.cores},
        "src": [
            [h.name, h.state, h.code, _text(h.detail), h.duration_s, h.reads, h.failures, h.implausible]
            for h in sample.health
        ],
        "cost": [_value_out(sample.cost.cpu), _value_out(sample.cost.rss_bytes), sample.cost.sweep_s],
    }


def from_plain(plain: Mapping[str, Any]) -> Sample:
    """The sample inside lists and maps. Raises MalformedSample."""
    try:
        cpu, rss, sweep_s = plain["cost"]
        return Sample(
            sequence=plain["n"],
            monotonic_s=float(plain["t"]),
            utc_s=float(plain["u"]),
            interval_s=float(plain["dt"]),
            inventory=tuple(_info_in(info) for info in plain["inv"]),
            devices={DeviceKey(key): _device_in(DeviceKey(key), device) for key, device in plain["dev"].items()},
            processes=tuple(_process_in(process) for process in plain["proc"]),
            host=HostSample(_values_in(plain["host"]["v"]), tuple(plain["host"]["c"])),
            health=tuple(
                SourceHealth(name, SourceState(state), code, detail, duration_s, reads, failures, implausible)
                for name, state, code, detail, duration_s, reads, failures, implausible in plain["src"]
            ),
            cost=Cost(_value_in(cpu), _value_in(rss), float(sweep_s)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise MalformedSample(f"{type(error).__name__}: {error}") from error


def _guarded(decode: Any, data: bytes | str) -> Sample:
    try:
        plain = decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedSample(str(error)) from error
    if not isinstance(plain, dict):
        raise MalformedSample("not a map")
    return from_plain(plain)


def _text(text: str) -> str:
    """Text that can be encoded: process names may hold lone surrogates (bytes that are not UTF-8)."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _value_out(value: Value) -> list[Any]:
    if isinstance(value, Reading):
        content = value.value
        return [_text(content) if isinstance(content, str) else content, value.source]
    return [None, value.reason, value.source, _text(value.detail)]


def _value_in(plain: list[Any]) -> Value:
    if len(plain) == 2:
        if plain[0] is None or isinstance(plain[0], (bool, list, dict)):
            raise ValueError("a reading without a number or text")
        return Reading(plain[0], plain[1])
    empty, reason, source, detail = plain
    if empty is not None:
        raise ValueError("a missing value that carries a number")
    return Missing(Reason(reason), source, detail)


def _values_out(values: Mapping[str, Value]) -> dict[str, list[Any]]:
    return {metric: _value_out(value) for metric, value in values.items()}


def _values_in(plain: Mapping[str, list[Any]]) -> dict[str, Value]:
    return {metric: _value_in(value) for metric, value in plain.items()}


def _info_out(info: DeviceInfo) -> dict[str, Any]:
    return {
        "key": info.key,
        "name": _text(info.name),
        "vendor": info.vendor,
        "kind": info.kind,
        "index": info.index,
        "pci": info.pci_address,
        "luid": info.luid,
        "uuid": info.uuid,
        "parent": info.parent,
        "sources": info.sources,
        "v": _values_out(info.static),
    }


def _info_in(plain: Mapping[str, Any]) -> DeviceInfo:
    return DeviceInfo(
        key=DeviceKey(plain["key"]),
        name=plain["name"],
        vendor=plain["vendor"],
        kind=DeviceKind(plain["kind"]),
        index=plain["index"],
        pci_address=plain["pci"],
        luid=plain["luid"],
        uuid=plain["uuid"],
        parent=None if plain["parent"] is None else DeviceKey(plain["parent"]),
        sources=tuple(plain["sources"]),
        static=_values_in(plain["v"]),
    )


def _device_out(device: DeviceSample) -> dict[str, Any]:
    plain: dict[str, Any] = {"s": device.state, "v": _values_out(device.values)}
    if device.detail:
        plain["d"] = _text(device.detail)
    if device.engines:
        plain["e"] = [[e.id, _text(e.name), e.kind, _value_out(e.utilization)] for e in device.engines]
    return plain


def _device_in(key: DeviceKey, plain: Mapping[str, Any]) -> DeviceSample:
    return DeviceSample(
        key=key,
        state=DeviceState(plain["s"]),
        detail=plain.get("d", ""),
        values=_values_in(plain["v"]),
        engines=tuple(
            EngineSample(id_, name, EngineKind(kind), _value_in(value)) for id_, name, kind, value in plain.get("e", ())
        ),
    )


def _process_out(process: ProcessSample) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "start": process.started_utc_s,
        "name": _text(process.name),
        "presence": process.presence,
        "ppid": process.ppid,
        "parents": [_text(name) for name in process.parents],
        "command": [_text(part) for part in process.command],
        "exe": _text(process.executable),
        "user": _text(process.user),
        "framework": process.framework,
        "env": _text(process.environment),
        "uses": [[use.pid, use.device, use.kind, _values_out(use.values), _text(use.engine)] for use in process.uses],
        "v": _values_out(process.values),
    }


def _process_in(plain: Mapping[str, Any]) -> ProcessSample:
    return ProcessSample(
        pid=plain["pid"],
        started_utc_s=plain["start"],
        name=plain["name"],
        presence=ProcessPresence(plain["presence"]),
        ppid=plain["ppid"],
        parents=tuple(plain["parents"]),
        command=tuple(plain["command"]),
        executable=plain["exe"],
        user=plain["user"],
        framework=plain["framework"],
        environment=plain["env"],
        uses=tuple(
            ProcessUse(pid, DeviceKey(device), UseKind(kind), _values_in(values), engine)
            for pid, device, kind, values, engine in plain["uses"]
        ),
        values=_values_in(plain["v"]),
    )
