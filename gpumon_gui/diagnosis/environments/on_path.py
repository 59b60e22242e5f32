"""Knows: which interpreters PATH leads to. Must not know: other finders."""

from __future__ import annotations

import re

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted
from gpumon_gui.diagnosis.environments.pyenv import behind_shim, is_shim
from gpumon_gui.diagnosis.gateway import Gateway, is_file, is_windows, paths, search_path

#: The word before it is a bare name that starts this interpreter.
ORIGIN = "PATH"
_NAME = re.compile(r"^python(\d+(\.\d+)?t?)?(\.exe)?$", re.IGNORECASE)


def find(gateway: Gateway, wanted: Wanted) -> list[Candidate]:
    """In PATH's order; the name stands where it is the first of that name, so that it is what the name starts."""
    found = []
    seen: set[str] = set()
    for folder in search_path(gateway):
        if is_windows(gateway) and paths(gateway).basename(folder.rstrip("\\/")).lower() == "windowsapps":
            continue  # links of the Store: running one may open the shop (environments.store knows the real ones)
        for name in gateway.listing(folder, "python*"):
            path = str(paths(gateway).join(folder, name))
            if not _NAME.match(name) or not is_file(gateway, path):
                continue
            word = re.sub(r"\.exe$", "", name, flags=re.IGNORECASE).lower()
            first = word if word not in seen else ""
            seen.add(word)
            real = behind_shim(gateway, path, wanted.project) if is_shim(gateway, path) else path
            if real is not None:
                found.append(Candidate(real, ORIGIN, first))
    return found
