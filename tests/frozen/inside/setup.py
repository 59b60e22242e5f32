"""Install, use, upgrade over a running copy and uninstall, and tell what was seen. For Windows Python in the lab.

setup.py INSTALLER
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import winreg
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging/winlab/inside"))

import desktop  # noqa: E402

LOCAL = Path(os.environ["LOCALAPPDATA"])
HOME = LOCAL / "Programs/GPUMon"
DATA = LOCAL / "GPUMon"
MENU = Path(os.environ["APPDATA"]) / "Microsoft/Windows/Start Menu/Programs/GPUMon.lnk"
UNINSTALL = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\GPUMon"
RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
COMMAND = r"Software\Classes\GPUMon.Recording\shell\open\command"


def main() -> None:
    """Print one JSON document."""
    installer = sys.argv[1]
    seen: dict[str, object] = {"before": state()}
    seen["installed"] = timed([installer, "/S", "/AUTOSTART"]) | state()

    (DATA / "logs").mkdir(parents=True, exist_ok=True)
    (DATA / "settings.toml").write_text("the user's", encoding="utf-8")
    recording = LOCAL / "记录 1.gpumon"
    gpumon = str(HOME / "gpumon.exe")
    made = [gpumon, "record", "-o", str(recording), "--seconds", "1", "--hz", "4", "--scenario", "windows-laptop"]
    subprocess.run(made, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    # As Explorer does on a double click; Wine's own shell does not look at the user's part of the registry.
    subprocess.Popen((read(COMMAND, "") or "").replace("%1", str(recording)))
    titles: list[str] = []

    def is_open() -> bool:  # what the recorder's console left may still be closing
        titles[:] = [window.title for window in desktop.windows()]
        return any("GPUMon" in title for title in titles)

    desktop.wait_for(is_open, 60)
    seen["opened"] = titles
    close_all()

    (HOME / "_internal/of-an-older-version.dll").write_bytes(b"")
    (HOME / "gpumon.exe").write_bytes(b"an older version")
    running = desktop.start([str(HOME / "gpumon-gui.exe"), "--scenario", "windows-laptop"], detached=True)
    desktop.wait_for(desktop.windows, 60)
    seen["upgraded"] = timed([installer, "/S"]) | state()
    seen["running_ended"] = desktop.wait_for(lambda: running.poll() is not None, 5)
    seen["self_test"] = subprocess.run(
        [gpumon, "self-test"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ).returncode

    (HOME / "notes of the user.txt").write_text("kept", encoding="utf-8")
    running = desktop.start([str(HOME / "gpumon-gui.exe"), "--scenario", "windows-laptop"], detached=True)
    desktop.wait_for(desktop.windows, 60)
    began = time.monotonic()
    subprocess.run([str(HOME / "uninstall.exe"), "/S"])
    # The uninstaller copies itself away and returns at once.
    desktop.wait_for(lambda: not (HOME / "uninstall.exe").exists() and read(UNINSTALL, "DisplayName") is None, 60)
    desktop.wait_for(lambda: not MENU.exists(), 5)
    seen["uninstalled"] = {"seconds": time.monotonic() - began} | state()
    seen["running_ended_again"] = desktop.wait_for(lambda: running.poll() is not None, 5)
    seen["windows_left"] = [window.title for window in desktop.windows()]
    print(json.dumps(seen))


def state() -> dict[str, object]:
    """What of GPUMon is on this machine."""
    return {
        "files": sorted(path.name for path in HOME.iterdir()) if HOME.is_dir() else None,
        "older": (HOME / "_internal/of-an-older-version.dll").exists(),
        "menu": MENU.exists(),
        "data": (DATA / "settings.toml").exists(),
        "version": read(UNINSTALL, "DisplayVersion"),
        "autostart": read(RUN, "GPUMon"),
        "type": read(r"Software\Classes\.gpumon", ""),
        "command": read(COMMAND, ""),
        "app_path": read(r"Software\Microsoft\Windows\CurrentVersion\App Paths\gpumon.exe", ""),
    }


def timed(words: list[str]) -> dict[str, object]:
    """Run it to its end."""
    begin = time.monotonic()
    code = subprocess.run(words).returncode
    return {"code": code, "seconds": time.monotonic() - begin}


def read(key: str, name: str) -> str | None:
    """A value of the user's part of the registry; None when it is not there."""
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as handle:  # type: ignore[attr-defined,unused-ignore]
            value = winreg.QueryValueEx(handle, name)[0]  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return None
    return str(value)


def close_all() -> None:
    """Close the windows and wait until they have gone."""
    for window in desktop.windows():
        window.close()
    desktop.wait_for(lambda: not desktop.windows(), 10)


main()
