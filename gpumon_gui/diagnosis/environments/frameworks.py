"""Knows: which deep learning frameworks are installed in an environment, from the names of its folders. Must not know:
whether they work.

A hint for who chooses what to check: nothing is run, and packages elsewhere (the user's own, those that a venv takes
from its base) are not seen.
"""

from __future__ import annotations

import re

from gpumon_gui.diagnosis.environments.base import Environment
from gpumon_gui.diagnosis.gateway import Gateway, is_windows, matches, paths

#: What the packages of a framework are called, as installed folders write it.
_PACKAGES: dict[str, str] = {
    "torch": r"torch",
    "tensorflow": r"tensorflow(?:_cpu|_gpu|_intel|_rocm)?|tf_nightly",
    "jax": r"jax",
    "onnxruntime": r"onnxruntime(?:_gpu|_directml|_rocm|_openvino)?",
    "cupy": r"cupy(?:_cuda\w+|_rocm\w+)?",
}
_INSTALLED = re.compile(
    "(?:" + "|".join(f"(?P<{name}>{packages})" for name, packages in _PACKAGES.items()) + r")-(?P<version>[^-]+)"
    r"(?:-py[\d.]+)?\.(?:dist|egg)-info",
    re.IGNORECASE,
)


def frameworks_in(gateway: Gateway, environment: Environment) -> tuple[tuple[str, str], ...]:
    """Framework (as findings call it) and version, in a fixed order; empty where nothing is known."""
    if environment.problem or environment.distribution:
        return ()
    found: dict[str, str] = {}
    for folder in _folders(gateway, environment):
        for name in gateway.listing(folder, "*-info"):
            installed = _INSTALLED.fullmatch(name)
            if installed is not None:
                framework = next(one for one in _PACKAGES if installed[one])
                found.setdefault(framework, installed["version"])
    return tuple((name, found[name]) for name in _PACKAGES if name in found)


def _folders(gateway: Gateway, environment: Environment) -> tuple[str, ...]:
    if is_windows(gateway):
        return (str(paths(gateway).join(environment.prefix, "Lib", "site-packages")),)
    info = gateway.info(environment.path)
    real = paths(gateway).basename(info.real_path if info is not None else environment.path)
    version = real if re.fullmatch(r"python3\.\d+", real) else "python3.*"  # several may share a folder
    found = matches(gateway, environment.prefix, f"lib/{version}/site-packages")
    if environment.prefix == "/usr":  # Debian's
        found += matches(gateway, "/usr", "lib/python3/dist-packages")
        found += matches(gateway, "/usr/local", f"lib/{version}/dist-packages")
    return found
