"""Knows: what in a sample could name a person or a machine. Must not know: where the sample goes.

Works on the plain form of ``telemetry.codec`` and never changes numbers. Replaced are user names, home folders (also
those of others), the host's name, IP addresses in command lines, and the vendor's ids of devices.
"""

from __future__ import annotations

import getpass
import hashlib
import re
import socket
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

USER = "user"
HOST = "host"
HOME = "~"

# The folder of any account: /home/NAME, /Users/NAME, C:\Users\NAME. The name ends at the next separator.
_HOMES = re.compile(r"(?i)((?:[a-z]:)?[\\/]+(?:home|users|用户)[\\/]+)[^\\/:;\"'\0]+")
_IPV4 = re.compile(r"(?<![\w.])(?!127\.)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Accounts that exist on every machine tell nothing.
_COMMON = frozenset({"root", "system", "administrator", "user", "localhost", "host", "nobody", ""})


@dataclass(frozen=True, slots=True)
class Private:
    """The words to hide."""

    users: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @classmethod
    def of_this_machine(cls) -> Private:
        """The account that runs this program, and the host."""
        host = socket.gethostname()
        try:
            user, home = getpass.getuser(), str(Path.home())
        except (KeyError, OSError, RuntimeError, ImportError):  # an account without an entry (a container)
            user, home = "", ""
        return cls((user,), (home,) if len(home) > 1 else (), (host, host.split(".")[0]))


def redact_text(text: str, private: Private, users: Iterable[str] = ()) -> str:
    """``text`` without the private words; ``users`` are further account names."""
    for home in private.homes:
        text = re.sub(_either_form(home) + r"(?=$|[\\/\s:;\"',])", HOME, text, flags=re.IGNORECASE)
    text = _HOMES.sub(rf"\g<1>{USER}", text)
    for words, instead in (((*private.users, *users), USER), (private.hosts, HOST)):
        for word in words:
            if word.casefold() not in _COMMON:
                text = re.sub(_whole_word(word), instead, text, flags=re.IGNORECASE)
    return _UUID.sub(_stable_uuid, text)


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
        return _IPV4.sub("0.0.0.0", redact_text(text, private, users))  # noqa: S104 - no address to bind to

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


def _forms(word: str) -> set[str]:
    """How a word may be written: composed, decomposed (macOS), percent-encoded (URLs)."""
    forms = {unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word), word}
    return forms | {quote(form) for form in forms}


def _either_form(word: str) -> str:
    return "(?:" + "|".join(re.escape(form) for form in sorted(_forms(word), key=len, reverse=True)) + ")"


def _whole_word(word: str) -> str:
    """ASCII names only as whole words, so that ``al`` does not eat ``parallel``. Chinese has no word boundaries."""
    if word.isascii():
        return rf"(?<![A-Za-z0-9]){_either_form(word)}(?![A-Za-z0-9])"
    return _either_form(word)


def _stable_uuid(match: re.Match[str]) -> str:
    """Another id that is the same wherever the first one stands; 48 bits of a hash of 122 random ones."""
    digest = hashlib.sha256(match.group().lower().encode()).hexdigest()
    return f"00000000-0000-0000-0000-{digest[:12]}"
