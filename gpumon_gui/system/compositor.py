"""Knows: whether windows can be translucent on an X11 desktop. Must not know: Qt, who asks."""

from __future__ import annotations

import ctypes
from typing import Any


def is_composited(screen: int = 0) -> bool:
    """Whether a compositing manager runs for this X11 screen: it owns the selection ``_NET_WM_CM_Sn`` (Extended Window
    Manager Hints 1.5). False too where that cannot be found out: what is translucent would be black there."""
    try:
        x11: Any = ctypes.CDLL("libX11.so.6")
    except OSError:
        return False
    x11.XOpenDisplay.restype = x11.XInternAtom.restype = x11.XGetSelectionOwner.restype = ctypes.c_void_p
    x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    x11.XGetSelectionOwner.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    display = x11.XOpenDisplay(None)
    if not display:
        return False
    try:
        atom = x11.XInternAtom(display, b"_NET_WM_CM_S%d" % screen, 0)
        return bool(x11.XGetSelectionOwner(display, atom))
    finally:
        x11.XCloseDisplay(display)
