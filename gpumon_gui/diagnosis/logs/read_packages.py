"""Knows: how pip and conda print versions: install and uninstall lines, listings, "from versions:".
Must not know: which versions belong together.

A version's ``+cuNNN``, ``+rocmN`` or ``+cpu`` says what torch was built with; a bare version says nothing, so an
install of one makes the build unknown again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gpumon_gui.diagnosis.facts import UNKNOWN
from gpumon_gui.diagnosis.logs.block import Block, Fact, Found, Printed

_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_PIN: Final = re.compile(rf"^\s*(?:\[(?:pip3?|conda)\]\s+)?({_NAME})==(\d[\w.+!]*)\s*$")
_INSTALLED: Final = re.compile(r"Successfully installed (?P<all>.+)")
_WITH_VERSION: Final = re.compile(rf"({_NAME})-(\d[\w.+!]*)")
_UNINSTALL: Final = re.compile(
    rf"(?:Found existing installation: ({_NAME}) (\S+)|Successfully uninstalled ({_NAME})-(\d\S*))"
)
_UV_CHANGE: Final = re.compile(rf"^ ([-+~]) ({_NAME})==(\d[\w.+!]*)")
_NONE_FITS: Final = re.compile(
    rf"satisfies the requirement (?P<package>{_NAME})(?P<extra>\[[^\]]*\])?(?P<wanted>[^\s(]*)"
    rf".*?\(from versions: (?P<offered>.*?)\)"
)
_LIST_ROW: Final = re.compile(rf"^\s*({_NAME})\s+(\d[\w.+!]*)(?:\s+.*)?$")
_LIST_HEADER: Final = re.compile(r"^\s*(?:Package|# Name)\s+Version\b")
_ALREADY: Final = re.compile(
    rf"Requirement already satisfied: ({_NAME})\S* in (?P<place>.+?) "
    rf"\((?:from [^)]*\) \()?(\d[\w.+!]*)\)"
)
_BUILD: Final = re.compile(r"\+(?:cu(?P<cuda>\d{2,4})|(?P<cpu>cpu)|rocm(?P<rocm>[\d.]+))")
_CONDA_PLACE: Final = re.compile(r"# packages in environment at (?P<place>.+?):?\s*$")
#: Packages whose version is also a framework's fact.
_FRAMEWORKS: Final = {
    "torch": "torch",
    "pytorch": "torch",
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "jax": "jax",
    "onnxruntime-gpu": "onnxruntime",
}


def package_facts(name: str, version: str, offset: int = 0, *, newer: bool = False) -> Iterator[Fact]:
    """The facts that an installed package is."""
    plain = re.sub(r"[-_.]+", "-", name).lower()
    yield Fact(f"packages.{plain}", version, offset, newer)
    framework = _FRAMEWORKS.get(plain)
    if framework:
        yield Fact(f"{framework}.version", version, offset, newer)
    if framework == "torch":
        build = _BUILD.search(version)
        if build is None:
            if newer:
                yield Fact("torch.cuda_build", UNKNOWN, offset, newer)
        elif build["cuda"]:
            yield Fact("torch.cuda_build", f"{build['cuda'][:-1]}.{build['cuda'][-1]}", offset, newer)
        elif build["rocm"]:
            yield Fact("torch.hip_build", build["rocm"], offset, newer)
        else:
            yield Fact("torch.cuda_build", None, offset, newer)


def _read_installed(lines: Sequence[str]) -> Found | None:
    match = _INSTALLED.search(lines[0])
    if match is None:
        return None
    packages = dict(_WITH_VERSION.findall(match["all"]))
    if not packages:
        return None
    facts = [fact for name, version in packages.items() for fact in package_facts(name, version, newer=True)]
    return Found(tuple(facts), (Printed("pip-installed", {"packages": packages}),))


def _read_uninstalled(lines: Sequence[str]) -> Found | None:
    match = _UNINSTALL.search(lines[0])
    if match is None:
        return None
    name, version = match[1] or match[3], match[2] or match[4]
    kind = "pip-found-existing" if match[1] else "pip-uninstalled"
    return Found((), (Printed(kind, {"package": name.lower(), "version": version}),))


def _read_no_version(lines: Sequence[str]) -> Found | None:
    match = _NONE_FITS.search(" ".join(line.strip() for line in lines))
    if match is None:
        return None
    offered = tuple(part.strip() for part in match["offered"].split(",") if part.strip() not in ("", "none"))
    wanted = match["wanted"].strip(",;:")
    values = {"package": match["package"].lower(), "wanted": wanted, "extra": match["extra"] or "", "offered": offered}
    return Found((), (Printed("pip-no-matching-version", values),))


def _read_uv(lines: Sequence[str]) -> Found | None:
    """uv's summary of what changed: `` - torch==2.3.0``, `` + torch==2.4.0``."""
    facts: list[Fact] = []
    signals: list[Printed] = []
    for offset, line in enumerate(lines):
        match = _UV_CHANGE.match(line)
        if match is None:
            if not offset:
                return None
            return Found(tuple(facts), tuple(signals), length=offset)
        if match[1] == "-":
            signals.append(Printed("pip-uninstalled", {"package": match[2].lower(), "version": match[3]}, offset))
        else:
            facts += package_facts(match[2], match[3], offset, newer=True)
            signals.append(Printed("pip-installed", {"packages": {match[2]: match[3]}}, offset))
    return Found(tuple(facts), tuple(signals), length=len(lines))


def _read_freeze(lines: Sequence[str]) -> Found | None:
    """``pip freeze``: at least four pins in a row; fewer may be anybody's requirements."""
    facts: list[Fact] = []
    offset = 0
    for offset, line in enumerate(lines):
        match = _PIN.match(line)
        if match is None and " @ " not in line and not line.startswith(("-e ", "#")):
            break
        if match:
            facts += package_facts(match[1], match[2], offset)
    else:
        offset = len(lines)
    return Found(tuple(facts), length=offset) if offset >= 4 else None


def _read_list(lines: Sequence[str]) -> Found | None:
    """``pip list`` and ``conda list`` (or ``uv pip list``): a header, then rows."""
    if _LIST_HEADER.match(lines[0]) is None:
        return None
    facts: list[Fact] = []
    rows = 0
    offset = 0
    for offset, line in enumerate(lines):
        if not offset or line.lstrip().startswith(("#", "---")):
            continue
        match = _LIST_ROW.match(line)
        if match is None:
            break
        rows += 1
        facts += package_facts(match[1], match[2], offset)
    return Found(tuple(facts), length=max(1, offset)) if rows else None


def _read_conda_place(lines: Sequence[str]) -> Found | None:
    if _CONDA_PLACE.search(lines[0]) is None:
        return None
    return Found((Fact("interpreter.kind", "conda"),))


def _read_already(lines: Sequence[str]) -> Found | None:
    match = _ALREADY.search(lines[0])
    return None if match is None else Found(tuple(package_facts(match[1], match[3])))


BLOCKS: Final = (
    Block("pip-installed", ("successfully installed ",), _read_installed),
    Block("pip-uninstalled", ("found existing installation: ", "successfully uninstalled "), _read_uninstalled),
    Block("pip-no-matching-version", ("satisfies the requirement",), _read_no_version, lines=4),
    Block("pip-already", ("requirement already satisfied: ",), _read_already),
    Block("uv-changes", (" - torch", " + torch", " - tensorflow", " + tensorflow"), _read_uv, lines=300),
    Block("pip-freeze", tuple(f"=={digit}" for digit in range(10)), _read_freeze, lines=2000),
    Block("pip-list", ("package  ", "# name  "), _read_list, lines=2000),
    Block("conda-list", ("# packages in environment at ",), _read_conda_place),
)
