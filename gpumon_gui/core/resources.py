"""Knows: where the files shipped with the program lie. Must not know: what is in them."""

from __future__ import annotations

import sys
from pathlib import Path


def resource_root() -> Path:
    """The ``resources`` folder of a frozen build, a wheel or a checkout."""
    bundle = getattr(sys, "_MEIPASS", None)
    if bundle is not None:
        return Path(bundle) / "resources"
    package = Path(__file__).resolve().parent.parent
    inside = package / "resources"
    return inside if inside.is_dir() else package.parent / "resources"
