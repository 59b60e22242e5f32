r"""Knows: how people, machines and their folders are replaced in a text that is passed on. Must not know: what it says.

Replaced are, part by part, the folders of full paths (POSIX, Windows, shares, ``file:`` and other URLs) that are not a
system's or a known program's; accounts and machines, where a text shows that a word is one (``bob@lab:~$``,
``/home/bob``, ``\\nas\share``, a mail address, the head of a kernel's or NCCL's line) and from then on wherever it is;
and what :mod:`gpumon_gui.core.redact` hides. The same word gets the same other one all along. Names of files stay, and
of folders that :meth:`Redactor.keep` names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from gpumon_gui.core.known_folders import (
    ACCOUNTS,
    ENVIRONMENTS,
    NOBODY,
    SOFTWARE,
    SYSTEM,
    has_repositories,
    is_everyday,
    is_file,
    is_known_owner,
    is_plain,
    is_site,
    tells_nothing,
)
from gpumon_gui.core.redact import (
    HOST,
    USER,
    Private,
    Replaced,
    Secret,
    forms,
    hide_addresses,
    hide_home,
    hide_ids,
    hide_secrets,
)

#: A text is looked at in pieces of so many characters, so that none holds up the other threads.
_PIECE: Final = 8192

# A letter of a path outside quotes. An apostrophe within a word is one (``Bob's SSD``).
_LETTER: Final = r"(?:[^\s\"'`<>|*?:;,\\/，。；、（）「」“”《》【】：！？]|(?<=\w)'(?=\w))"
# Words after which a blank does not go on with the name of a folder.
_NOT_ON: Final = (
    r"(?!(?:and|or|to|in|is|at|from|for|with|was|not|the|on|as|of|by|has|have|had|does|did|do|cannot|can|could|failed|"
    r"error|exists?|found|missing|but|so|if|then|than|are|be|been|will|would|into|no|line|module|it|step|iter)\b)"
)
# A blank does not stand behind the ending of a file.
_BLANK: Final = r"(?<!\.\w)(?<!\.\w\w)(?<!\.\w{3})(?<!\.\w{4})(?<!\.\w{5}) "
_MORE: Final = (
    rf"(?:{_BLANK}{_NOT_ON}(?![\w-]*\.\w)(?:(?=[^\W\d_]|[(])(?:{_LETTER})++|[&+-]|\d{{1,4}}(?=[\\/]))){{1,4}}"
)
_PART: Final = rf"(?:{_LETTER})++(?:{_MORE}(?=[\\/]+{_LETTER}|>))?"
_POSIX_PART: Final = rf"(?:{_LETTER}|\\[ ()&'])++(?:{_MORE}(?=/+{_LETTER}))?"
_NOT_BEFORE: Final = r"(?<![A-Za-z0-9_.~/\\}%)*\]$-])"
_FOUND: Final = re.compile(
    r"(?P<url>\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>`|，。；、）」】]+)"
    r"|(?<!\w)(?P<quote>[\"'`])(?P<quoted>(?:~[\w.-]{0,32}/|//?|[A-Za-z]:[\\/]|\\\\)(?:(?!(?P=quote)).){1,1000}?)(?P=quote)"
    rf"|(?P<unc>(?<![A-Za-z0-9_.\\/:])(?:\\{{2,4}}|//)(?:\?\\(?=UNC))?(?=[\w.]){_PART}(?:[\\/]+{_PART})+)"
    rf"|(?P<drive>(?:(?<![A-Za-z0-9])[A-Za-z]:[\\/]+|{_NOT_BEFORE}~\\+)(?:{_PART}(?:[\\/]+{_PART})*)?)"
    rf"|(?P<posix>(?:{_NOT_BEFORE}~[\w.-]{{0,32}}/|(?:{_NOT_BEFORE}|(?<=-[ILBF])(?<!\w-[ILBF]))/)(?=[^\s/])"
    rf"{_POSIX_PART}(?:/+{_POSIX_PART})*)"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,6}(?![\w(-]|\.\w))"
)
_URL: Final = re.compile(r"([^:]+://)(?:([^@/?#]*)@)?(\[[^\]]*\]|[^:/?#]*)(:\d+)?([^?#]*)(.*)", re.DOTALL)
_REPOSITORY: Final = re.compile(
    r"(?P<before>/?(?:(?:api/)?(?:datasets|spaces|models)/)?)(?P<owner>[^/@]+)/(?P<name>[^/@]+?)(?P<git>(?:\.git)?)"
    r"(?P<more>(?:/[^@]*)?)(?P<behind>(?:@.*)?[.,)]*)"
)
_LOCAL: Final = re.compile(r"(?i)|localhost|host\d*|[\d.]+|\[.*\]")
_SEPARATOR: Final = re.compile(r"([\\/]+)")
_SLASH: Final = re.compile(r"(/+)")
#: One full path and nothing else.
_WHOLE: Final = re.compile(r"(?:~?/|[A-Za-z]:[\\/]|\\\\)[^:;,\"'<>|*?\n]{1,1000}")
#: Behind a path in quotes stands more.
_MORE_THAN_PATH: Final = re.compile(r" -|[:;,|<>*?](?![\\/])|\.\w{1,8} ", re.ASCII)
#: A version, a word: there are thousands of them in a report.
_SHORT: Final = re.compile(r"[\w.+-]{0,15}")
#: What stands for something already.
_MADE: Final = re.compile(r"(?:user|host|folder)\d*")
#: Hidden where a text shows that it is a machine; elsewhere it is a card.
_NUMBERED_HOST: Final = re.compile(r"gpu\d")
#: Where a word may begin: Chinese has no boundaries.
_BEGINNING: Final = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9\s]")
#: From its last letter on, a word is longer.
_ENDS_LATER: Final = re.compile(r"[A-Za-z0-9]{2}")
_LINE_BEHIND: Final = re.compile(r"\(\d+(?:,\d+)?\)$")
#: Where folders of people lie.
_TOP: Final = SYSTEM | ACCOUNTS | {"data", "mnt", "media", "opt", "srv", "root", "tmp", "var", "workspace", "scratch"}
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OF_A_GRAPH: Final = re.compile(r"(?i)\b(?:nodes?|op|operator|inputs?|outputs?|initializer|tensor|layer)\b\W{0,4}$")

#: What is an id behind its ``@``: of images.
_NO_HOSTS: Final = frozenset({"sha256", "sha512", "md5"})
_NAME: Final = r"[^\W\d][\w.-]{0,31}(?<![.-])"
_MACHINE: Final = r"[A-Za-z][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){0,6}"
_U, _H = rf"(?P<user>{_NAME})", rf"(?P<host>{_MACHINE})"
_IP: Final = r"(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)"
#: Addresses of networks of one's own; others may be versions.
_OWN_IP: Final = r"(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)"
#: A name with a value in code: what follows is an expression, no account or machine.
_NO_CODE: Final = r"(?![\w./\\(-])"
_NO_OBJECT: Final = r"(?!(?:args|self|cls|cfg|config|opts?|os|sys|socket|platform|settings)\.)"
_LOGIN: Final = r"(?:ssh|scp|sftp|rsync|sshfs|mosh)"
#: Endings of hosts that are no attributes of modules.
_DOMAINS: Final = (
    "local",
    "lan",
    "internal",
    "intranet",
    "corp",
    "localdomain",
    "com",
    "org",
    "edu",
    "gov",
    "cn",
    "de",
)
#: Where a text shows that a word is an account or a machine: letters that must be there (small ones), and how.
_SHOWN: Final = tuple(
    (mark, re.compile(pattern))
    for mark, pattern in (
        # prompts: bash, zsh, fish, Git for Windows, Kali; and what is copied or logged in to
        ("@", rf"{_U}@{_H}:(?P<path>[~/][^$#:\n]{{0,200}})(?=[$#](?:\s|$))"),
        ("@", rf"(?<![\w.@/+-]){_U}@{_H}(?=:[~/\w.]|:?\s[~/]\S{{0,80}}\s?[%$#>]|\s(?:MINGW|MSYS))"),
        ("㉿", rf"(?<!\w){_U}㉿{_H}"),
        ("@", rf"(?<![\w.@/+-]){_U}@{_H}\s(?P<folder>[^\s@]{{1,60}})\s[%$#]\s"),
        ("@", rf"\[{_U}@{_H} (?P<folder>[^\]\n]{{1,80}})\][#$%]"),
        ("@", rf"\b{_LOGIN}\s(?:[^@\n]{{0,80}}\s)?{_U}@{_H}"),
        ("@", rf"\b{_LOGIN}\s(?:[^@\n]{{0,80}}\s)?{_U}@{_IP}"),
        ("@", rf"(?<![\w.@/+-]){_U}@(?={_OWN_IP}){_IP}"),
        ("@", rf"(?<![\w.@/+-]){_U}@{_IP}(?=:[~/])"),
        ("git@", rf"\bgit@{_H}:(?P<repository>[\w.-]{{1,100}}/[\w./-]{{1,200}})"),
        (
            "@",
            r"(?P<user>[^\W\d_a-z][\w.'-]{0,40}(?: [^\W\d_a-z][\w.'-]{0,40}){1,3}) <(?=[\w.+-]{1,64}@[\w.-]{1,100}>)",
        ),
        # the heads of lines: syslog and the kernel's, NCCL's, uname's, Slurm's, torchrun's
        (
            ":",
            r"^(?:[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.,+Z-]{5,24}) "
            rf"{_H} [\w./()-]{{1,60}}(?:\[\d+\])?:",
        ),
        ("] ", rf"(?<![\w.-]){_H}:\d+:\d+ \[\d+\] "),
        ("linux ", rf"\bLinux {_H} \d+\.\d+\.\d+"),
        ("srun: ", rf"\bsrun: error: {_H}:"),
        ("step ", rf"\bSTEP \S{{1,20}} ON {_H}"),
        ("connect", rf"(?i:\bconnect(?:ing|ed|ion)? to ){_H}(?=:\d)"),
        ("]:", rf"\[{_H}\]:\d{{2,5}}\b"),
        # names that Windows, macOS and clouds give; hosts with a port
        ("top-", r"\b(?P<host>(?:DESKTOP|LAPTOP)-[A-Z0-9]{5,8})\b"),
        ("win-", r"\b(?P<host>WIN-[A-Z0-9]{11})\b"),
        ("-mac", r"\b(?P<host>\w{1,30}-MacBook(?:-(?:Pro|Air))?)\b"),
        ("ip-", r"\b(?P<host>ip-\d{1,3}(?:-\d{1,3}){3})\b"),
        *(
            (f".{domain}:", rf"(?<![\w.@/-])(?P<host>(?:[\w-]{{1,63}}\.){{1,6}}{domain})(?=:\d{{4,5}}\b)")
            for domain in _DOMAINS
        ),
        # names with a value
        ("host: ", rf"(?i:\bhost:\s)(?!x86|aarch|arm|i\d86)(?=[\w.-]{{0,60}}\d){_H}(?![\w/\\])"),
        ("hostname ", rf"(?i:\bhostname\s)(?=[\w.-]{{0,60}}[\d-]){_H}(?![\w/\\])"),
        ("node ", rf"(?i:\bnode\s)(?=[A-Za-z]\w{{0,30}}-[\w-]{{0,30}}\d){_H}(?![\w/\\])"),
        ("host", rf"(?i:\bhost\s{{0,20}}:\s{{1,20}}){_H}(?=\s*$)"),
        ("host=", rf"(?i:\bhost=){_NO_OBJECT}{_H}{_NO_CODE}"),
        *(
            (
                name,
                rf"(?i:\b(?:\w{{1,20}}[ _-])?{name}\b[\"']?\s{{0,20}}[=:]\s{{0,20}}[\"']?(?:\\\\)?)"
                rf"{_NO_OBJECT}{_H}{_NO_CODE}",
            )
            for name in (
                "hostname",
                "host name",
                "computername",
                "computer name",
                "nodelist",
                "master_addr",
                "userdomain",
            )
        ),
        (
            "user",
            rf"(?i:\b(?:user(?:[ _-]?name)?)\b[\"']?\s{{0,20}}[=:]\s{{0,20}}[\"']?){_U}(?!\[){_NO_CODE}",
        ),
        ("log", rf"(?i:\b(?:logname|login)\b[\"']?\s{{0,20}}[=:]\s{{0,20}}[\"']?){_U}(?![\w./\\-])"),
        ("logged in as", rf"(?i:\blogged in as:? ){_U}"),
        ("logged in as", rf"(?i:\blogged in as:? \S{{1,40}} \(){_U}\)"),
        *(
            (name, rf"(?i:\b{name}[: ]{{1,2}}['\"]?){_H}\\{_U}")
            for name in ("user", "account", "owner", "running as", "logged on as")
        ),
        ("rw", rf"^[dl-][rwxsStT-]{{9}}[.+@]?\s+\d+\s+{_U}\s"),
    )
)


class Redactor:
    """Replaces in one text after the other, and learns while it does. What a later text shows to be a name is hidden in
    an earlier one too if all are read twice, the first time in vain.

    ``replaced`` takes note of what is replaced; it may be set between the two.
    """

    def __init__(self, private: Private, replaced: Replaced | None = None) -> None:
        self.replaced = replaced
        self._private = private
        self._instead: dict[str, tuple[Secret, str]] = {}  #: word, folded → what it is and what stands for it
        self._counts = {Secret.USER: 1, Secret.HOST: 1, Secret.FOLDER: 0}
        self._words: dict[str, str] = {}  #: those that are hidden wherever they stand, as written (small) → the word
        self._lengths: dict[str, list[int]] = {}  #: how such a word begins (small) → how long it may be, longest first
        self._spaced: dict[str, None] = {}  #: full paths with blanks, known from elsewhere
        self._paths: dict[str, None] = {}  #: full paths in which something was replaced
        self._kept: set[str] = set()  #: folders that stay, folded
        for kind, words, instead in ((Secret.USER, private.users, USER), (Secret.HOST, private.hosts, HOST)):
            for word in words:
                if word and not is_plain(word):
                    self._instead[_key(word)] = kind, instead
                    if not is_everyday(word):
                        self._hide_everywhere(word)

    def learn_path(self, path: str) -> None:
        """This text is one whole path: where it stands in a sentence, its blanks belong to it."""
        if " " in path and _WHOLE.fullmatch(path):
            self._spaced[path] = None

    def keep(self, folder: str) -> None:
        """A folder of this name stays, unless it is called like an account or a machine."""
        self._kept.add(_key(folder))

    def known(self, text: str) -> str:
        """The text without what other texts showed to be private; nothing is looked for in it."""
        clean = hide_home(text, self._private, self.replaced)
        for path in sorted(self._paths, key=len, reverse=True):
            for written in {path, path.replace("'", "'\"'\"'")}:  # as it is, and quoted for a shell
                whole = rf"(?<![\w.~/\\]){re.escape(written)}(?![\w-])"
                if written in clean:
                    clean = re.sub(whole, self._path(path).replace("\\", r"\\"), clean)
        return self._hide_words(clean)

    def text(self, text: str, *, has_versions: bool = False) -> str:
        """The text without what is private. ``has_versions``: what looks like an address is a version."""
        return "".join(self._piece(piece, has_versions) for piece in _pieces(text))

    def environment(self, name: str) -> str:
        """The name of an environment, which is that of its folder or of two (``acme/.venv``)."""
        return self.text("".join(self._known(part) for part in _SEPARATOR.split(name)))

    def _piece(self, piece: str, has_versions: bool) -> str:
        if _SHORT.fullmatch(piece):
            clean = self._hide_words(piece)
            return clean if has_versions else hide_addresses(clean, self.replaced)
        clean = hide_secrets(hide_home(piece, self._private, self.replaced), self.replaced)
        for path in sorted(self._spaced, key=len, reverse=True):
            if path in clean:
                clean = clean.replace(path, self._path(path))
        low = clean.casefold()
        for mark, pattern in _SHOWN:
            if mark in low:
                clean = pattern.sub(self._shown, clean)
        clean = hide_ids(self._hide_words(_FOUND.sub(self._found, clean)), self.replaced)
        return clean if has_versions else hide_addresses(clean, self.replaced)

    def _hide_words(self, text: str) -> str:
        made: list[str] = []
        end = 0
        for match in _BEGINNING.finditer(text) if self._words else ():
            start = match.start()
            if start < end:
                continue
            for length in self._lengths.get(match.group().lower(), ()):
                written = text[start : start + length]
                word = self._words.get(written.lower())
                if word is not None and not _ENDS_LATER.match(text, start + length - 1):
                    kind, instead = self._instead[_key(word)]
                    made += text[end:start], self._noted(kind, written, instead)
                    end = start + length
                    break
        return "".join((*made, text[end:]))

    def _hide_everywhere(self, word: str) -> None:
        """This word from now on, however it is written. ASCII ends at a letter that is none: ``al`` is not in ``also``,
        nor in ``global``. Looked up in a table, because a text may show thousands."""
        for form in forms(word):
            low = form.lower()
            beginning = _BEGINNING.match(low)
            if beginning is not None and self._words.setdefault(low, word) == word:
                lengths = self._lengths.setdefault(beginning.group(), [])
                if len(low) not in lengths:
                    lengths.append(len(low))
                    lengths.sort(reverse=True)

    def _known(self, word: str) -> str:
        """What stands for a word that was met before; else the word."""
        kind, instead = self._instead.get(_key(word), (Secret.FOLDER, word))
        return self._noted(kind, word, instead)

    def _noted(self, kind: Secret, word: str, instead: str) -> str:
        if self.replaced is not None:
            self.replaced.note(kind, word, instead)
        return instead

    def _name(self, kind: Secret, word: str) -> str:
        """What stands for an account, a machine or a folder."""
        known = self._instead.get(_key(word))
        # What was taken for any folder turns out to be an account's or a machine's.
        if known is None or (known[0] is Secret.FOLDER and kind is not Secret.FOLDER):
            is_common = kind is not Secret.FOLDER and is_plain(word) and len(word) > 2
            if _MADE.fullmatch(word) or (is_common and not _NUMBERED_HOST.fullmatch(word)):
                return word
            self._counts[kind] += 1
            self._instead[_key(word)] = kind, f"{kind.value}{self._counts[kind]}"
            if kind is not Secret.FOLDER and not is_everyday(word) and (len(word) > 2 or not word.isascii()):
                self._hide_everywhere(word)
        return self._known(word)

    def _machine(self, host: str, *, has_short_name: bool = False) -> str:
        """``has_short_name``: it is the same without its domain."""
        if is_site(host):
            return host
        short = host.split(".")[0]
        instead = self._name(Secret.HOST, host)
        if has_short_name and short != host and not is_plain(short):
            self._instead.setdefault(_key(short), (Secret.HOST, instead))
            if not is_everyday(short):
                self._hide_everywhere(short)
        return instead

    def _shown(self, match: re.Match[str]) -> str:
        text, start = match.group(), match.start()
        if "host" in match.re.groupindex and match.group("host") in _NO_HOSTS:
            return text
        made, end = "", start
        for group in sorted(match.re.groupindex, key=match.start):
            made += text[end - start : match.start(group) - start] + self._of(group, match.group(group))
            end = match.end(group)
        return made + text[end - start :]

    def _of(self, group: str, word: str) -> str:
        if group == "host":
            return self._machine(word, has_short_name=True)
        if group == "path":
            return self._path(word)
        if group == "repository":
            return self._repository(word)
        if group == "folder":
            return word if word[0] == "~" or tells_nothing(word) else self._name(Secret.FOLDER, word)
        return self._name(Secret.USER, word)

    def _found(self, match: re.Match[str]) -> str:
        kind, text = str(match.lastgroup), match.group()
        if kind == "url":
            return self._url(text)
        if kind == "mail":
            user, _at, host = text.partition("@")
            if user == "git" or is_plain(host.split(".")[0]):  # x@self.weight: a product of matrices
                return text
            return f"{self._name(Secret.USER, user)}@{self._machine(host)}"
        if kind == "quoted":
            mark, inside = match.group("quote"), match.group("quoted")
            is_more = _MORE_THAN_PATH.search(inside) is not None
            return mark + (_FOUND.sub(self._found, inside) if is_more else self._path(inside)) + mark
        if kind == "posix" and not self._is_path(match):
            return text
        return self._path(text)

    def _is_path(self, match: re.Match[str]) -> bool:
        """Not every slash begins one: lists of words in Chinese, names of nodes of a network."""
        text, before = match.group(), match.string[max(0, match.start() - 24) : match.start()]
        if text[0] == "/" and "/" not in text[1:]:
            return False  # a top folder, an option of Windows
        first = text.split("/")[1].casefold()
        if _OF_A_GRAPH.search(before):
            return first in _TOP
        return first in _TOP or not _CJK.fullmatch(before[-1:])

    def _url(self, text: str) -> str:
        parts = _URL.fullmatch(text)
        if parts is None:
            return text
        scheme, account, host, port, path, rest = (part or "" for part in parts.groups())
        if account and account != "git":
            account = self._noted(Secret.SECRET, account, "***")
        made = scheme + (f"{account}@" if account else "")
        if scheme.lower() == "file://":
            return made + (self._machine(host) if host else "") + self._path(path) + rest
        if has_repositories(host):
            return made + host + port + self._repository(path) + rest
        owner, _dot, site = host.partition(".")
        if site in ("github.io", "hf.space") and not is_known_owner(owner):
            return f"{made}{self._name(Secret.USER, owner)}.{site}{port}{self._path(path)}{rest}"
        if is_site(host):
            return made + host + port + path + rest
        if not _LOCAL.fullmatch(host):
            host = self._machine(host)
        if rest and rest not in ".,)":
            rest = self._noted(Secret.SECRET, rest, rest[0] + "***")
        return made + host + port + self._path(path) + rest

    def _repository(self, path: str) -> str:
        """``/OWNER/NAME/…`` on a site where anybody has theirs."""
        parts = _REPOSITORY.fullmatch(path)
        if parts is None or is_known_owner(parts["owner"]):
            return path
        owner, name = self._name(Secret.USER, parts["owner"]), parts["name"]
        name = name if tells_nothing(name) else self._name(Secret.FOLDER, name)
        return f"{parts['before']}{owner}/{name}{parts['git']}{self._path(parts['more'])}{parts['behind']}"

    def _path(self, text: str) -> str:
        """A path, part by part."""
        made = self._parts(text)
        if made != text:
            self._paths[text.rstrip(".,!$#%")] = None
        return made

    def _parts(self, text: str) -> str:
        if not text:
            return text
        line = _LINE_BEHIND.search(text)
        behind = line.group() if line else text[len(text.rstrip(".,!$#%")) :]
        for pair in ("()", "[]", "{}"):  # in brackets together with what is around it
            body = text[: len(text) - len(behind)]
            if body.endswith(pair[1]) and pair[0] not in body:
                behind = pair[1] + behind
        # On POSIX a backslash is no separator: one stands before a blank.
        separator = _SLASH if text[0] in "/~" and text[1:2] != "\\" else _SEPARATOR
        parts = separator.split(text[: len(text) - len(behind)])
        places = [number for number in range(0, len(parts), 2) if parts[number]]
        if text[:2] in ("\\\\", "//") and places:
            places = self._share(parts, places)
        self._folders(parts, places)
        return "".join(parts) + behind

    def _share(self, parts: list[str], places: list[int]) -> list[int]:
        """Hide the server of a share; what is left are folders."""
        first = parts[places[0]]
        if first in ("?", ".") and len(places) > 1 and parts[places[1]].casefold() == "unc":
            places = places[2:]
        elif first in ("?", "."):
            return places[1:]
        if places and parts[places[0]].casefold() not in ("wsl$", "wsl.localhost", "localhost", "tsclient"):
            parts[places[0]] = self._machine(unquote(parts[places[0]]))
        elif places:
            return places[2:]  # and the distribution
        return places[1:]

    def _folders(self, parts: list[str], places: list[int]) -> None:
        """Replace the folders in ``parts`` that tell something."""
        before, is_kept = "", True  #: the folder above, and whether it stays
        for number, place in enumerate(places):
            part = parts[place]
            word = unquote(part.replace("\\ ", " "))
            low, is_last = word.casefold(), number == len(places) - 1
            above, before = before, low
            if number == 0 and re.fullmatch(r"[a-z]:", low):
                before = ""
                continue
            if number == 0 and part[0] == "~":
                if len(part) > 1:
                    parts[place] = "~" + self._name(Secret.USER, part[1:])
                continue
            if above in ACCOUNTS:
                if low not in NOBODY:
                    parts[place] = self._name(Secret.USER, word)
                continue
            is_top = above == "" or (len(above) == 1 and number < 3)  # /mnt/c/Windows
            if (is_top and low in SYSTEM) or low in SOFTWARE or (is_kept and _holds_modules(part, above)):
                if not any(parts[later].casefold() in ACCOUNTS for later in places[number:]):
                    return  # all that follows is the system's or a program's
                continue
            is_kept = (
                above in ENVIRONMENTS
                or tells_nothing(word)
                or len(word) == 1
                or (is_last and is_file(word, above))
                or (_key(word) in self._kept and self._instead.get(_key(word), (Secret.FOLDER,))[0] is Secret.FOLDER)
            )
            if not is_kept:
                parts[place] = self._name(Secret.FOLDER, word)


def _holds_modules(part: str, above: str) -> bool:
    r"""``lib/python3.11`` of POSIX, ``Python311\Lib`` of Windows: below are Python's own modules or installed ones."""
    return (above in ("lib", "lib64") and part.startswith("python")) or (part == "Lib" and above != "")


def _key(word: str) -> str:
    """A word is the same composed and decomposed (macOS), and on Windows in small letters and capitals."""
    return unicodedata.normalize("NFC", word).casefold()


def _pieces(text: str) -> Iterator[str]:
    """Line by line; a line that is too long ends at a blank, or anywhere."""
    for line in text.splitlines(keepends=True):
        while len(line) > _PIECE:
            end = line.rfind(" ", _PIECE // 2, _PIECE) + 1 or _PIECE
            yield line[:end]
            line = line[end:]
        yield line
