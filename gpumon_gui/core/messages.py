"""Knows: how a sentence reaches the user in their language. Must not know: which sentences there are.

gettext catalogues, one system for every layer. Module-level texts are marked with :func:`N_` and translated when
they are shown; everything else calls :func:`_` at the moment of showing, so the language can change at run time.
"""

from __future__ import annotations

import gettext
import locale
import os
import sys
from pathlib import Path

from gpumon_gui.core.resources import resource_root

DOMAIN = "gpumon"
LANGUAGES = ("en", "zh_CN")

_state: dict[str, gettext.NullTranslations | str] = {"catalogue": gettext.NullTranslations(), "language": "en"}


def N_(text: str) -> str:  # noqa: N802 - the name gettext tools look for
    """Mark a text for translation without translating it yet."""
    return text


def _(text: str) -> str:
    """The text in the user's language."""
    catalogue = _state["catalogue"]
    assert isinstance(catalogue, gettext.NullTranslations)
    return catalogue.gettext(text) if text else ""


def ngettext(one: str, many: str, count: int) -> str:
    """The right plural form for ``count`` in the user's language."""
    catalogue = _state["catalogue"]
    assert isinstance(catalogue, gettext.NullTranslations)
    return catalogue.ngettext(one, many, count)


def sentences(*parts: str) -> str:
    """One sentence behind another, without those that are empty. Behind a Chinese sentence stands no space."""
    joined = ""
    for part in filter(None, parts):
        joined += part if not joined or joined.endswith(("。", "！", "？")) else f" {part}"
    return joined


def language() -> str:
    """The language in use, one of :data:`LANGUAGES`."""
    return str(_state["language"])


def set_language(name: str | None) -> str:
    """Switch to a language; ``None`` follows the system. Returns the language now in use.

    A language without a compiled catalogue falls back to English: the program must start in any case.
    """
    wanted = name if name in LANGUAGES else _supported(name or system_language())
    catalogue: gettext.NullTranslations = gettext.NullTranslations()
    if wanted != "en":
        try:
            catalogue = gettext.translation(DOMAIN, str(locale_root()), languages=[wanted])
        except OSError:
            wanted = "en"
    _state["catalogue"], _state["language"] = catalogue, wanted
    return wanted


def is_of_system() -> bool:
    """Whether the language in use is the one that the system's own dialogs speak (or would be, had it a catalogue)."""
    return language() == _supported(system_language())


def locale_root() -> Path:
    """The folder that holds ``<language>/LC_MESSAGES/gpumon.mo``."""
    return resource_root() / "locale"


def system_language() -> str:
    """The user's interface language as the system gives it, for example ``zh_CN`` (not yet reduced to ours)."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        value = os.environ.get(variable, "")
        if value and value not in ("C", "POSIX", "C.UTF-8"):
            return value.split(":")[0].split(".")[0]
    if sys.platform == "win32":
        import ctypes  # only here: Windows' interface language is not the locale's

        lcid = ctypes.windll.kernel32.GetUserDefaultUILanguage()
        return locale.windows_locale.get(lcid, "en_US")
    return "en_US"


def _supported(name: str) -> str:
    """Reduce a locale name to a language we have. Traditional Chinese readers get English, as do all others."""
    folded = name.replace("-", "_").lower()
    if folded.startswith("zh") and not any(part in folded for part in ("hant", "tw", "hk", "mo")):
        return "zh_CN"
    return "en"
