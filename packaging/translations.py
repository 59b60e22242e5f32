"""Knows: how sentences get from the code into the catalogues. Must not know: what they say.

    python packaging/translations.py extract   every marked text → resources/locale/gpumon.pot (not committed)
    python packaging/translations.py update    new texts into the catalogues, gone ones out; lists what is to translate
    python packaging/translations.py compile   .po → .mo (not committed)
    python packaging/translations.py check     fails unless every catalogue is complete and fits the code

Files carry no line numbers and no dates and are sorted, so a change of code that changes no text changes no catalogue.
"""

from __future__ import annotations

import argparse
import io
import re
import string
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "gpumon_gui"
LOCALE = ROOT / "resources" / "locale"
DOMAIN = "gpumon"
_PERCENT = re.compile(r"%(?:\(\w+\))?[rs]\b")
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}

# Header lines that say nothing here or change without any text having changed.
_NOISE = (
    "Project-Id-Version",
    "Report-Msgid-Bugs-To",
    "POT-Creation-Date",
    "PO-Revision-Date",
    "Last-Translator",
    "Language-Team",
    "Generated-By",
)


def extract(package: Path = PACKAGE) -> Catalog:
    """All texts marked in the code, without locations."""
    template = Catalog(project="GPUMon", charset="utf-8", fuzzy=False)
    texts = extract_from_dir(str(package), [("**.py", "python")], keywords=KEYWORDS, comment_tags=("i18n:",))
    for _file, _line, text, comments, _context in texts:
        template.add(text, auto_comments=comments)
    return template


def catalogues(locale: Path = LOCALE) -> list[Path]:
    """The catalogue of each language."""
    return sorted(locale.glob(f"*/LC_MESSAGES/{DOMAIN}.po"))


def load(path: Path) -> Catalog:
    """A catalogue file; its language is the name of its folder."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name, abort_invalid=True)


def merged(path: Path, template: Catalog) -> bytes:
    """The catalogue file as it must be for this code: translations kept, new texts empty, gone ones dropped."""
    catalogue = load(path)
    catalogue.update(template, no_fuzzy_matching=True, update_header_comment=False)
    return _text_of(catalogue)


def update(locale: Path = LOCALE, package: Path = PACKAGE) -> list[str]:
    """Bring the catalogues up to date; the texts that wait for a translation, each after its language."""
    template = extract(package)
    waiting: list[str] = []
    for path in catalogues(locale):
        path.write_bytes(merged(path, template))
        language = path.parents[1].name
        waiting += [f"{language}: {_id(message)}" for message in _entries(load(path)) if not _translated(message)]
    return waiting


def compile_catalogues(locale: Path = LOCALE) -> list[Path]:
    """Write the ``.mo`` beside each ``.po``; the files written."""
    written = []
    for path in catalogues(locale):
        target = path.with_suffix(".mo")
        partial = target.with_suffix(".mo.partial")
        with partial.open("wb") as file:
            write_mo(file, load(path))
        partial.replace(target)
        written.append(target)
    return written


def check(locale: Path = LOCALE, package: Path = PACKAGE) -> list[str]:
    """What is wrong with the catalogues, one line per fault, each naming language and text."""
    template = extract(package)
    files = catalogues(locale)
    faults = [] if files else [f"no catalogue under {locale}"]
    for path in files:
        language = path.parents[1].name
        catalogue = load(path)
        wanted, there = set(_ids(template)), set(_ids(catalogue))
        faults += [f"{language}: not in the catalogue: {text}" for text in sorted(wanted - there)]
        faults += [f"{language}: no longer in the code: {text}" for text in sorted(there - wanted)]
        faults += [f"{language}: obsolete entry: {_id(message)}" for message in catalogue.obsolete.values()]
        for message in _entries(catalogue):
            if message.fuzzy:
                faults.append(f"{language}: fuzzy: {_id(message)}")
            if not _translated(message):
                faults.append(f"{language}: not translated: {_id(message)}")
            else:
                faults += [f"{language}: {fault}" for fault in _placeholder_faults(message)]
        if not faults and merged(path, template) != path.read_bytes().replace(b"\r\n", b"\n"):
            faults.append(f"{language}: {path.name} is not as the tool writes it")
    return faults


def placeholders(text: str) -> set[str] | None:
    """The names in braces, and what argparse's own texts have instead; None when the braces do not match."""
    try:
        names = {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return None
    return names | set(_PERCENT.findall(text))


def _placeholder_faults(message: Message) -> Iterator[str]:
    sources, targets = _forms(message.id), _forms(message.string)
    wanted: set[str] = set()
    for source in sources:
        names = placeholders(source)
        if names is None:
            yield f"unmatched brace: {source}"
            return
        wanted |= names
    for target in targets:
        names = placeholders(target)
        if names is None:
            yield f"unmatched brace: {target}"
        elif names != wanted:
            yield f"placeholders differ ({', '.join(sorted(names ^ wanted))}): {sources[0]}"


def _entries(catalogue: Catalog) -> Iterator[Message]:
    return (message for message in catalogue if message.id)


def _ids(catalogue: Catalog) -> Iterator[str]:
    return (_id(message) for message in _entries(catalogue))


def _id(message: Message) -> str:
    return " / ".join(_forms(message.id))


def _translated(message: Message) -> bool:
    forms = _forms(message.string)
    return bool(forms) and all(forms)


def _forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """Singular and plurals; one form for a text that has no plural."""
    return (text,) if isinstance(text, str) else tuple(text or ())


def _text_of(catalogue: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=0, no_location=True, sort_output=True, ignore_obsolete=True)
    lines = buffer.getvalue().splitlines(keepends=True)
    noise = tuple(f'"{name}:'.encode() for name in _NOISE)
    return b"".join(line for line in lines if not line.startswith(noise)).strip() + b"\n"


def main(arguments: list[str]) -> int:
    """Run one subcommand; 0 when all is well."""
    parser = argparse.ArgumentParser(prog="translations.py", description="Keep the message catalogues.")
    parser.add_argument("what", choices=("extract", "update", "compile", "check"))
    what = parser.parse_args(arguments).what
    if what == "extract":
        target = LOCALE / f"{DOMAIN}.pot"
        target.write_bytes(_text_of(extract()))
        print(target)
    elif what == "update":
        waiting = update()
        print(*waiting, f"{len(waiting)} to translate", sep="\n")
    elif what == "compile":
        print(*compile_catalogues(), sep="\n")
    else:
        faults = check()
        if faults:
            print(*faults, "Run 'python packaging/translations.py update' and translate the rest.", sep="\n")
            return 1
        print(f"{len(catalogues())} catalogue(s) complete")
    return 0


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):  # a Windows console may not be UTF-8
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
