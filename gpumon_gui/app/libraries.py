"""Knows: what to install when Qt or a system library is missing. Must not know: Qt's classes."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from gpumon_gui.core.messages import N_, _

#: Library → package of Debian and Ubuntu. What PySide6 6.8-6.11 and its xcb plug-in load besides their own files.
PACKAGES: dict[str, str] = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libOpenGL.so.0": "libopengl0",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_MODULES = ("PySide6", "shiboken6", "pyqtgraph", "numpy", "psutil", "msgspec", "pynvml", "platformdirs")
_LIBRARY = re.compile(r"(?P<name>lib[\w.+-]+\.so[\w.]*): cannot open shared object file")

_NO_MODULE = N_("{module} is not installed. Install it with: pip install 'gpumon-gui[gui]'")
_NO_LIBRARY = N_("The system library {library} is missing. On Debian and Ubuntu install it with: apt install {package}")
_UNKNOWN = N_("The system library {library} is missing. Install the package of your system that has it.")
_BROKEN = N_("Qt cannot be loaded ({detail}). Install it again with: pip install --force-reinstall PySide6-Essentials")


def missing_library(error: ImportError | OSError) -> str | None:
    """One sentence on what to install; None when the fault is not a missing library but ours."""
    match = _LIBRARY.search(str(error))
    if match is not None:
        library = match["name"]
        package = PACKAGES.get(library)
        return _(_NO_LIBRARY if package else _UNKNOWN).format(library=library, package=package)
    module = (getattr(error, "name", None) or "").split(".")[0]
    if isinstance(error, ModuleNotFoundError):
        return _(_NO_MODULE).format(module=module) if module in _MODULES else None
    # A library that is there and cannot be loaded (damaged, no memory left) names no module.
    return _(_BROKEN).format(detail=error) if module in _MODULES or not module else None


def platform_refused() -> str | None:
    """What Qt's X11 plug-in lacks, as one sentence; None when it loads or is not the one that will be used.

    Qt would end the process with abort(). Loading the plug-in here costs nothing: Qt loads it next.
    """
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM", "xcb").split(":")[0] != "xcb":
        return None
    if os.environ.get("WAYLAND_DISPLAY") and "QT_QPA_PLATFORM" not in os.environ:
        return None
    spec = find_spec("PySide6")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        plugin = Path(folder) / "Qt" / "plugins" / "platforms" / "libqxcb.so"
        if plugin.is_file():
            try:
                ctypes.CDLL(str(plugin))
            except OSError as error:
                return missing_library(error) or str(error)
    return None
