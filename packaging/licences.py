"""Knows: which licences must lie beside a built program, and where their texts are. Must not know: how it is built."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

from report import SetupFailed

TEXTS = Path(__file__).resolve().parent / "windows" / "licences"
REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
_NOT_INSIDE = ("babel",)  # only builds
# Where the package's own words are long or name a choice.
_LICENCE = {
    "PySide6-Essentials": "LGPL-3.0-only",
    "shiboken6": "LGPL-3.0-only",
    "Jinja2": "BSD-3-Clause",
    "nvidia-ml-py": "BSD-3-Clause",
    "psutil": "BSD-3-Clause",
    "colorama": "BSD-3-Clause",
    "pyinstaller": "GPL-2.0-or-later WITH Bootloader-exception",
}


def gather(target: Path, site_packages: Path, python: Path, modules: Iterable[str], python_version: str) -> None:
    """Write all texts and ``components.txt`` into ``target``. Raises SetupFailed when a part has no licence text."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(TEXTS, target)
    found = {_plain(item.name): item for item in distributions(path=[str(site_packages)])}
    _refuse_strangers(modules, found.values())
    rows = [("Python", python_version, "PSF-2.0", "https://www.python.org")]
    _copy([python / "LICENSE.txt"], target / "Python")
    for name in bundled():
        item = found.get(_plain(name))
        if item is None:
            raise SetupFailed(f"{name} is not installed in {site_packages}")
        licence = _LICENCE.get(name) or _field(item, "License-Expression") or _field(item, "License")
        if not licence or len(licence) > 60:
            raise SetupFailed(f"{name} {item.version}: its licence must be named in packaging/licences.py")
        rows.append((name, item.version, licence, _home(item)))
        if licence.startswith("LGPL"):
            continue  # LGPL-3.0.txt is there already
        files = [Path(str(item.locate_file(file))) for file in item.files or () if _is_licence(str(file))]
        if not files and name == "nvidia-ml-py":
            (target / name).mkdir()
            (target / name / "LICENSE.txt").write_text(_head(site_packages / "pynvml.py"), encoding="utf-8")
            continue
        if not files:
            raise SetupFailed(f"{name} {item.version} brings no licence text")
        _copy(files, target / name)
    widths = [max(len(row[n]) for row in rows) for n in range(3)]
    lines = ["  ".join([*(row[n].ljust(widths[n]) for n in range(3)), row[3]]).rstrip() for row in rows]
    (target / "components.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def bundled() -> tuple[str, ...]:
    """What may be inside the built program: the packages that it needs to run, and PyInstaller's start-up code.
    ``gather`` refuses a program that has a module of anything else."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    names = [line.partition("==")[0].strip() for line in lines if "==" in line and not line.startswith("#")]
    return (*(name for name in names if name not in _NOT_INSIDE), "pyinstaller")


def frozen_modules(work: Path) -> set[str]:
    """The top-level modules in a PyInstaller archive, from the list it leaves in its work folder."""
    text = next(work.rglob("PYZ-00.toc")).read_text(encoding="utf-8")
    return {entry[0].partition(".")[0] for entry in ast.literal_eval(text)[1]}


def _refuse_strangers(modules: Iterable[str], found: Iterable[Distribution]) -> None:
    owners: dict[str, str] = {}
    for item in found:
        for file in item.files or ():
            top = file.parts[0].removesuffix(".py")
            owners.setdefault(top, item.name)
    known = {_plain(name) for name in bundled()}
    strangers = sorted({owners[name] for name in modules if name in owners and _plain(owners[name]) not in known})
    if strangers:
        raise SetupFailed(f"inside the program, but not in packaging/requirements.txt: {', '.join(strangers)}")


def _is_licence(file: str) -> bool:
    name = file.rpartition("/")[2].upper()
    return ".dist-info/" in file and name.startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS"))


def _copy(files: Iterable[Path], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for file in files:
        name, count = file.name, 1
        while (folder / name).exists():  # numpy has one for each part
            count += 1
            name = f"{file.stem}-{count}{file.suffix}"
        shutil.copyfile(file, folder / name)


def _head(module: Path) -> str:
    """The comment a module begins with."""
    lines = module.read_text(encoding="utf-8").splitlines()
    head = []
    for line in lines:
        if not line.startswith("#") and line.strip():
            break
        head.append(line.lstrip("# ").rstrip())
    text = "\n".join(head).strip()
    if "Redistribution" not in text:
        raise SetupFailed(f"{module} no longer begins with its licence")
    return text + "\n"


def _home(item: Distribution) -> str:
    links = dict(line.split(", ", 1) for line in item.metadata.get_all("Project-URL") or () if ", " in line)
    return _field(item, "Home-page") or next(iter(links.values()), "")


def _field(item: Distribution, name: str) -> str:
    return next(iter(item.metadata.get_all(name) or ()), "")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
