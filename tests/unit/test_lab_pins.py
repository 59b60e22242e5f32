"""Windows Python in the lab has the versions that the development environment has."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


def pins(file: str) -> dict[str, str]:
    text = (PACKAGING / file).read_text(encoding="utf-8")
    found = re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE)
    return {name.lower().replace("_", "-"): version for name, version in found}


def test_the_lab_has_all_the_program_needs_in_the_same_versions() -> None:
    lab, ours = pins("winlab/pins/wheels.txt"), pins("requirements.txt")
    assert {name: lab.get(name) for name in ours} == ours


def test_the_tests_tools_are_the_same() -> None:
    lab, ours = pins("winlab/pins/wheels.txt"), pins("requirements-dev.txt")
    assert {name: lab[name] for name in ours if name in lab} == {name: ours[name] for name in ours if name in lab}


def test_every_wheel_has_its_hash() -> None:
    lines = (PACKAGING / "winlab/pins/wheels.txt").read_text(encoding="utf-8").splitlines()
    assert all("--hash=sha256:" in line for line in lines if line and not line.startswith("#"))
