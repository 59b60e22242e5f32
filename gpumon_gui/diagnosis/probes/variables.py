"""Knows: which environment variables matter for a GPU. Must not know: what their values do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Event

from gpumon_gui.diagnosis.gateway import Gateway, is_windows
from gpumon_gui.diagnosis.probe_scripts.probe import VARIABLES
from gpumon_gui.diagnosis.probes.base import Found

_OF_GPU = re.compile(r"cuda|cudnn|nvidia|rocm|hip|tensorrt|zlibwapi", re.IGNORECASE)
_LIMIT = 4000


def probe(gateway: Gateway, _cancel: Event) -> Found:
    """``environment`` as a terminal of this user would have it."""
    return Found({"environment": that_matter(gateway.variables(), windows=is_windows(gateway))})


def that_matter(variables: Mapping[str, str], *, windows: bool) -> dict[str, str]:
    """By name; of PATH only the folders that have to do with a GPU."""
    found = {}
    for name, value in sorted(variables.items()):
        known = name.upper() if windows else name
        if VARIABLES.match(known):
            found[known] = value[:_LIMIT]
        elif known == "PATH":
            separator = ";" if windows else ":"
            kept = [part for part in value.split(separator) if _OF_GPU.search(part)]
            if kept:
                found["PATH"] = separator.join(kept)[:_LIMIT]
    return found
