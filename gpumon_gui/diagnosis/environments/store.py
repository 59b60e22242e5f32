"""Knows: Python from the Microsoft Store. Must not know: other finders."""

from __future__ import annotations

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted
from gpumon_gui.diagnosis.gateway import Gateway, is_windows, matches, paths, variable


def find(gateway: Gateway, _wanted: Wanted) -> list[Candidate]:
    """The links in the package's own folder below WindowsApps. Those directly in WindowsApps are also there when
    nothing is installed, and then open the Store."""
    local = variable(gateway, "LOCALAPPDATA")
    if not is_windows(gateway) or not local:
        return []
    apps = str(paths(gateway).join(local, "Microsoft", "WindowsApps"))
    found = matches(gateway, apps, "PythonSoftwareFoundation.Python.*/python.exe")
    return [Candidate(path, "store") for path in found]
