"""Knows: how words that name a person, a machine or a card are taken out of a text. Must not know: what the text is.

Replaced are user names (in any script), home folders (also those of others), the host's name, IP addresses, serial
numbers, ids of devices, and secrets in variables. Numbers that mean something (versions, sizes) stay.
"""

from __future__ import annotations

import getpass
import hashlib
import re
import socket
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

USER = "user"
HOST = "host"
HOME = "~"

# The folder of any account: /home/NAME, /Users/NAME, C:\Users\NAME. The name ends at the next separator.
_HOMES = re.compile(r"(?i)((?:[a-z]:)?[\\/]+(?:home|users|用户)[\\/]+)[^\\/:;\"'\0]+")
_IPV4 = re.compile(r"(?<![\w.])(?!127\.)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_IPV6 = re.compile(r"(?i)(?<![\w:.])(?:[0-9a-f]{1,4}:){3,7}(?::?[0-9a-f]{1,4}){1,5}(?![\w:.])")
_SECRET = re.compile(
    r"(?i)(\b(?:\w+_)?(?:token|secret|password|passwd|api_?key|access_?key|credential)s?(?:_\w+)?\s*(?:=(?!=)|:)\s*)"
    r"[^\s,;\"']+"
)
_SERIAL = re.compile(r"(?i)(serial(?:\s+number)?\s*[:=]\s*)[0-9a-z]{6,}")
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


class Secret(StrEnum):
    """What kind of word was replaced."""

    USER = "user"
    HOST = "host"
    HOME = "home"
    OTHERS_HOME = "others-home"
    ADDRESS = "address"
    SECRET = "secret"  # noqa: S105 - the name of a kind
    SERIAL = "serial"
    ID = "id"


class Replaced:
    """A list that :func:`redact_text` and its like write into: what was replaced by what, and how often."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[Secret, str, str]] = Counter()

    def note(self, kind: Secret, word: str, instead: str) -> None:
        """One more; a word that stays as it is does not count."""
        if word != instead:
            self.counts[kind, word, instead] += 1


def redact_text(text: str, private: Private, users: Iterable[str] = (), replaced: Replaced | None = None) -> str:
    """``text`` without the private words; ``users`` are further account names. ``replaced`` takes note."""
    for home in private.homes:
        text = _sub(_either_form(home) + r"(?=$|[\\/\s:;\"',])", _put(HOME), text, Secret.HOME, replaced)
    text = _sub(_HOMES, _account, text, Secret.OTHERS_HOME, replaced)
    for words, instead, kind in (
        ((*private.users, *users), USER, Secret.USER),
        (private.hosts, HOST, Secret.HOST),
    ):
        for word in words:
            if word.casefold() not in _COMMON:
                text = _sub(_whole_word(word), _put(instead), text, kind, replaced)
    return _sub(_UUID, _stable_uuid, text, Secret.ID, replaced)


def hide_addresses(text: str, replaced: Replaced | None = None) -> str:
    """``text`` without IP addresses. Not part of :func:`redact_text`: four-part versions look the same."""
    text = _sub(_IPV4, _put("0.0.0.0"), text, Secret.ADDRESS, replaced)  # noqa: S104 - no address to bind to
    return _sub(_IPV6, _put("::"), text, Secret.ADDRESS, replaced)


def hide_secrets(text: str, replaced: Replaced | None = None) -> str:
    """``text`` without the values of variables that hold secrets, and without serial numbers."""
    text = _sub(_SECRET, _after("***"), text, Secret.SECRET, replaced)
    return _sub(_SERIAL, _after("0"), text, Secret.SERIAL, replaced)


def _sub(
    pattern: str | re.Pattern[str],
    make: Callable[[re.Match[str]], str],
    text: str,
    kind: Secret,
    replaced: Replaced | None,
) -> str:
    compiled = re.compile(pattern, re.IGNORECASE) if isinstance(pattern, str) else pattern

    def instead(match: re.Match[str]) -> str:
        made = make(match)
        if replaced is not None:
            replaced.note(kind, match.group(), made)
        return made

    return compiled.sub(instead, text)


def _put(word: str) -> Callable[[re.Match[str]], str]:
    return lambda _match: word


def _after(word: str) -> Callable[[re.Match[str]], str]:
    return lambda match: match.group(1) + word


def _account(match: re.Match[str]) -> str:
    return match.group(1) + USER


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
