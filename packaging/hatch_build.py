"""Knows: what must be made before the wheel is packed. Must not know: how translating works."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CatalogueHook(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Compiles the message catalogues into ``resources/``, which the wheel contains."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        folder = str(Path(self.root) / "packaging")
        sys.path.insert(0, folder)
        try:
            from translations import compile_catalogues
        finally:
            sys.path.remove(folder)
        if not compile_catalogues():
            raise RuntimeError("no message catalogue under resources/locale")
