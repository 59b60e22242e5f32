"""Knows: which system libraries Qt needs on Linux and what each system calls them. Must not know: who needs Qt.

The list is what ``objdump -p`` gives for PySide6 6.11's QtGui, QtWidgets and xcb plugin, less what Python itself needs.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from report import say, warn


@dataclass(frozen=True)
class Need:
    """Something a system package provides. ``rpm`` empty: the soname itself, which rpm systems accept as a name."""

    what: str
    deb: str
    arch: str
    rpm: str = ""


GRAPHICS = (
    Need("libEGL.so.1", "libegl1", "libglvnd"),
    Need("libGL.so.1", "libgl1", "libglvnd"),
    Need("libX11.so.6", "libx11-6", "libx11"),
    Need("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon"),
    Need("libfontconfig.so.1", "libfontconfig1", "fontconfig"),
    Need("libfreetype.so.6", "libfreetype6", "freetype2"),
    Need("libdbus-1.so.3", "libdbus-1-3", "dbus"),
    Need("libglib-2.0.so.0", "libglib2.0-0", "glib2"),
    Need("libgthread-2.0.so.0", "libglib2.0-0", "glib2"),
)
X11 = (
    Need("libX11-xcb.so.1", "libx11-xcb1", "libx11"),
    Need("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11"),
    Need("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor"),
    Need("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm"),
    Need("libxcb-image.so.0", "libxcb-image0", "xcb-util-image"),
    Need("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms"),
    Need("libxcb-render-util.so.0", "libxcb-render-util0", "xcb-util-renderutil"),
    Need("libxcb-randr.so.0", "libxcb-randr0", "libxcb"),
    Need("libxcb-render.so.0", "libxcb-render0", "libxcb"),
    Need("libxcb-shape.so.0", "libxcb-shape0", "libxcb"),
    Need("libxcb-shm.so.0", "libxcb-shm0", "libxcb"),
    Need("libxcb-sync.so.1", "libxcb-sync1", "libxcb"),
    Need("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb"),
    Need("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb"),
)
XVFB = Need("Xvfb", "xvfb", "xorg-server-xvfb", "xorg-x11-server-Xvfb")
WINDOW_MANAGER = Need("openbox", "openbox", "openbox")
TRAY = Need("trayer", "trayer", "trayer")
CJK_FONT = Need("a font with Chinese characters", "fonts-noto-cjk", "noto-fonts-cjk", "google-noto-sans-cjk-fonts")


def provide_for_window() -> None:
    """What the window needs here and now; nothing but Linux has it apart."""
    on_wayland = bool(os.environ.get("WAYLAND_DISPLAY"))
    provide(GRAPHICS if on_wayland else (*GRAPHICS, *X11))


def provide_for_tests() -> None:
    """The window's libraries, a virtual display with a window manager, and a Chinese font."""
    provide((*GRAPHICS, *X11, XVFB, WINDOW_MANAGER, TRAY, CJK_FONT))


def provide(needs: Iterable[Need]) -> None:
    """Install what is missing as root on Debian and its kin, otherwise print the command that does."""
    if sys.platform != "linux":
        return
    lacking = missing(needs)
    if not lacking:
        return
    if _is_root() and _family() == "debian":
        packages = _unique(need.deb for need in lacking)
        say(f"Installing system packages: {' '.join(packages)}")
        apt_install(packages)
        lacking = missing(lacking)
    if lacking:
        warn(f"Missing on this system: {', '.join(need.what for need in lacking)}")
        warn(f"  install with:  {command(lacking)}")


def missing(needs: Iterable[Need]) -> list[Need]:
    """Those that are really not there: libraries are tried by loading them."""
    return [need for need in needs if not _is_there(need)]


def command(needs: Iterable[Need], family: str | None = None) -> str:
    """The command line that installs them on this system."""
    needs = tuple(needs)
    family = _family() if family is None else family
    if family == "debian":
        words = ["apt-get", "install", *_unique(need.deb for need in needs)]
    elif family in ("fedora", "suse"):
        tool = "dnf" if family == "fedora" else "zypper"
        words = [tool, "install", *_unique(need.rpm or f"{need.what}()(64bit)" for need in needs)]
    elif family == "arch":
        words = ["pacman", "-S", "--needed", *_unique(need.arch for need in needs)]
    else:
        return f"your system's package manager ({', '.join(need.what for need in needs)})"
    return shlex.join(words if _is_root() else ["sudo", *words])


def apt_install(packages: Iterable[str]) -> bool:
    """Install without questions; with fresh package lists when the ones at hand do not do. Whether it worked."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", *packages]
    said = ""
    for words in (install, ["apt-get", "update", "-qq"], install):
        done = subprocess.run(
            words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
        if done.returncode == 0 and words is install:
            return True
        said = done.stderr or said
    warn("apt-get failed: " + " / ".join(line for line in said.splitlines() if line.startswith("E:")))
    return False


def _is_there(need: Need) -> bool:
    if need in (XVFB, WINDOW_MANAGER, TRAY):
        return shutil.which(need.what) is not None
    if need is CJK_FONT:
        return _has_cjk_font()
    try:
        ctypes.CDLL(need.what)
    except OSError:
        return False
    return True


def _has_cjk_font() -> bool:
    fc_list = shutil.which("fc-list")
    if fc_list is not None:
        done = subprocess.run([fc_list, ":lang=zh-cn", "family"], capture_output=True, text=True, errors="replace")
        return bool(done.stdout.strip())
    folders = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".local/share/fonts")
    return any(next(folder.rglob("*CJK*"), None) is not None for folder in folders if folder.is_dir())


def _family() -> str:
    """``debian``, ``fedora``, ``suse``, ``arch`` or empty, from os-release(5)."""
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    names = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', " ").replace("'", " ").split()
    for family, members in (
        ("debian", {"debian", "ubuntu"}),
        ("fedora", {"fedora", "rhel", "centos"}),
        ("suse", {"suse", "opensuse", "sles"}),
        ("arch", {"arch"}),
    ):
        if members.intersection(names):
            return family
    return ""


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
