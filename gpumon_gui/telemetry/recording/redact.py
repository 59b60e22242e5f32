"""Knows: what in a sample could name a person or a machine. Must not know: where the sample goes.

Works on the plain form of ``telemetry.codec`` and never changes numbers. What is replaced is said in ``core.redact``;
IP addresses only in command lines, names and paths of processes.
"""

from __future__ import annotations

from typing import Any

from gpumon_gui.core.redact import USER, Private, hide_addresses, redact_text


def redact_sample(plain: dict[str, Any], private: Private) -> dict[str, Any]:
    """A plain sample without private words. The argument is not changed."""

    def clean(text: str) -> str:
        return redact_text(text, private)

    return {
        **plain,
        "inv": [redact_device(info, private) for info in plain["inv"]],
        "dev": {
            clean(key): {
                **device,
                **({"d": clean(device["d"])} if "d" in device else {}),
                "v": _values(device["v"], private),
                **({"e": [[*e[:3], _value(e[3], private)] for e in device["e"]]} if "e" in device else {}),
            }
            for key, device in plain["dev"].items()
        },
        "proc": [_process(process, private) for process in plain["proc"]],
        "src": [[*source[:3], clean(source[3]), *source[4:]] for source in plain["src"]],
    }


def redact_device(info: dict[str, Any], private: Private) -> dict[str, Any]:
    """A plain inventory entry without the device's own ids."""

    def clean(text: str | None) -> str | None:
        return None if text is None else redact_text(text, private)

    return {
        **info,
        "key": clean(info["key"]),
        "uuid": clean(info["uuid"]),
        "parent": clean(info["parent"]),
        "v": _values(info["v"], private),
    }


def _process(process: dict[str, Any], private: Private) -> dict[str, Any]:
    # Windows spells it DOMAIN\name.
    users = tuple(part for part in process["user"].split("\\") if part)

    def clean(text: str) -> str:
        return hide_addresses(redact_text(text, private, users))

    return {
        **process,
        "name": clean(process["name"]),
        "parents": [clean(name) for name in process["parents"]],
        "command": [clean(part) for part in process["command"]],
        "exe": clean(process["exe"]),
        "user": USER if process["user"] else "",
        "env": clean(process["env"]),
        "uses": [
            [pid, redact_text(device, private), kind, _values(values, private), engine]
            for pid, device, kind, values, engine in process["uses"]
        ],
        "v": _values(process["v"], private),
    }


def _values(values: dict[str, list[Any]], private: Private) -> dict[str, list[Any]]:
    return {metric: _value(value, private) for metric, value in values.items()}


def _value(value: list[Any], private: Private) -> list[Any]:
    """The detail of a missing value is an error's word and may hold a path."""
    if len(value) == 4 and value[3]:
        return [*value[:3], redact_text(value[3], private)]
    return value
