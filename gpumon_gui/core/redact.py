"""Knows: how words that name a person, a machine or a card are taken out of a text. Must not know: what the text is.

Replaced are user names (in any script), home folders (also those of others), the host's name, IP addresses, serial
numbers, ids of devices, and secrets in variables. Numbers that mean something (versions, sizes) stay. What is passed on
to read goes through :mod:`gpumon_gui.core.redactor`, which finds more.
"""

from __future__ import annotations

import getpass
import re
import socket
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from gpumon_gui.core.known_folders import is_everyday

USER = "user"
HOST = "host"
HOME = "~"

# The folder of any account: /home/NAME, /Users/NAME, C:\Users\NAME. The name ends at the next separator.
_HOMES = re.compile(r"(?i)((?:[a-z]:)?[\\/]+(?:home|users|用户)[\\/]+)[^\\/:;\"'\0]+")
_IPV4 = re.compile(r"(?<![\w.-])(?<![=<>!~]=)(?!127\.)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
#: Before these four numbers are a version.
_VERSION = re.compile(
    r"(?i)(?:version|driver|nccl|tensorrt|cu(?:da|dnn|blas|fft|file|rand|solver|sparse|sparselt)|-cu\d\d)\W{0,3}$"
)
_IPV6 = re.compile(
    r"(?i)(?<![\w:.])(?:(?:[0-9a-f]{1,4}:){3,7}(?::?[0-9a-f]{1,4}){1,5}|"
    r"(?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3})(?::[0-9a-f]{1,4}){0,6}::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{0,4})(?![\w:.])"
)
_ASSIGNED = re.compile(r"(\b\w++[\"']?\s{0,20}(?:=(?!=)|:)\s{0,20}[\"']?)([^\s,;\"']+)")
_SECRET = re.compile(
    r"(?i)(?:^|_)(?:token|secret|password|passwd|pwd|api_?key|access_?key|private_?key|credential)s?(?:_|\W|$)"
)
#: Tokens that are words of a language model, or counted.
_NO_SECRET = re.compile(
    r"(?i)(?:tokens|(?:pad|eos|bos|unk|sep|cls|mask|max|min|num|per|stop|image)_token\w*)\W|\btoken: "
)
#: Whatever it is called, no word and no number looks like that.
_LOOKS_SECRET = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w-]{20,}", re.ASCII)
_OPTION = re.compile(r"(?i)(--[\w-]{0,20}(?:token|password|secret|api-?key)[ =]|\bbearer )([^\s\"']+)")
_OF_A_SITE = re.compile(r"\b(?:hf_|gh[opsu]_|github_pat_|glpat-|sk-|xox[bp]-|AKIA)[A-Za-z0-9_]{12,}")
_SERIAL = re.compile(
    r"(?i)(\bserial(?:\s{1,20}(?:number|no\.?))?(?:\s{0,80}[:=]\s{0,20}|\s{1,20}(?=\d{8})))[0-9a-z]{6,}"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: Windows' power plans: saver, balanced, high performance.
_KNOWN_IDS = frozenset(
    {
        "a1841308-3541-4fab-bc81-f71556f20b4a",
        "381b4222-f694-41f0-9685-ff5bb260df2e",
        "8c5e7f7a-e8bf-4a96-9a85-a6e23a8c635c",
    }
)
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
    FOLDER = "folder"
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


def redact_text(text: str, private: Private, users: Iterable[str] = ()) -> str:
    """``text`` without the private words; ``users`` are further account names. Folders stay (see ``redactor.py``)."""
    text = _HOMES.sub(_account, hide_home(text, private))
    for words, instead in (((*private.users, *users), USER), (private.hosts, HOST)):
        for word in words:
            if word.casefold() not in _COMMON:
                text = re.sub(_stands_for(word), instead, text, flags=re.IGNORECASE)
    return hide_ids(text)


def hide_home(text: str, private: Private, replaced: Replaced | None = None) -> str:
    """``text`` with ``~`` for the home folder."""
    for home in private.homes:
        text = _sub(_either_form(home) + r"(?=$|[\\/\s:;\"',])", _put(HOME), text, Secret.HOME, replaced)
    return text


def hide_ids(text: str, replaced: Replaced | None = None) -> str:
    """``text`` with other ids of devices, the same for the same."""
    return _sub(_UUID, _stable_uuid, text, Secret.ID, replaced)


def hide_addresses(text: str, replaced: Replaced | None = None) -> str:
    """``text`` without IP addresses. Not part of :func:`redact_text`: four-part versions look the same."""
    text = _sub(_IPV4, _address, text, Secret.ADDRESS, replaced)
    return _sub(_IPV6, _put("::"), text, Secret.ADDRESS, replaced)


def hide_secrets(text: str, replaced: Replaced | None = None) -> str:
    """``text`` without the values of variables and options that hold secrets, and without serial numbers."""
    text = _sub(_ASSIGNED, _value, text, Secret.SECRET, replaced)
    text = _sub(_OPTION, _after("***"), text, Secret.SECRET, replaced)
    text = _sub(_OF_A_SITE, _put("***"), text, Secret.SECRET, replaced)
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


def _address(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 16) : match.start()]
    return match.group() if _VERSION.search(before) else "0.0.0.0"  # noqa: S104 - no address to bind to


def _value(match: re.Match[str]) -> str:
    name = match.group(1)
    is_secret = _SECRET.search(name) and (not _NO_SECRET.search(name) or _LOOKS_SECRET.fullmatch(match.group(2)))
    return f"{name}***" if is_secret else match.group()


def _account(match: re.Match[str]) -> str:
    return match.group(1) + USER


def forms(word: str) -> set[str]:
    """How a word may be written: composed, decomposed (macOS), percent-encoded (URLs)."""
    written = {unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word), word}
    return written | {quote(form) for form in written}


def _either_form(word: str) -> str:
    return "(?:" + "|".join(re.escape(form) for form in sorted(forms(word), key=len, reverse=True)) + ")"


def _stands_for(word: str) -> str:
    """A pattern. What is also a word of programs (``max``) is a name only in a path, before ``@`` and as a value."""
    if not is_everyday(word):
        return whole_word(word)
    form = _either_form(word)
    return rf"(?:(?<=[\\/])|(?<=user=)|(?<=name=)){form}(?![\w.(-])|(?<!\w){form}(?=@)"


def whole_word(word: str) -> str:
    """A pattern. ASCII names only as whole words: ``al`` does not eat ``parallel``. Chinese has no word boundaries."""
    if word.isascii():
        return rf"(?<![A-Za-z0-9]){_either_form(word)}(?![A-Za-z0-9])"
    return _either_form(word)


def _stable_uuid(match: re.Match[str]) -> str:
    """Another id that is the same wherever the first one stands; 48 bits of a hash of 122 random ones."""
    if match.group().lower() in _KNOWN_IDS:
        return match.group()
    import hashlib  # brings 3 MB along

    digest = hashlib.sha256(match.group().lower().encode()).hexdigest()
    return f"00000000-0000-0000-0000-{digest[:12]}"
