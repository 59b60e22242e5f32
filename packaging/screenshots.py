"""Knows: which pictures of the window are taken, and how they are made small. Must not know: what is in them.

    python packaging/dev.py screenshots                  the pictures of the README and the whole set for review
    python packaging/dev.py screenshots readme           only resources/screenshots/: the demo, a watch, findings
    python packaging/dev.py screenshots review [NAME…]   only build/screenshots/: every page, language, theme and scale
                                                         of these machines (``demo`` or a scenario), ``watch`` or
                                                         ``scenes`` (the wizard, settings, what floats, high contrast);
                                                         none named: all

The window runs for seconds in each picture, so several run side by side. Needs no display. The letters are those of the
fonts installed: the committed pictures have Inter (Debian, Ubuntu: fonts-inter) with Noto Sans CJK.
"""

from __future__ import annotations

import lzma
import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "resources" / "screenshots"
REVIEW = ROOT / "build" / "screenshots"

PAGES = ("performance", "processes")
#: Over a scripted month of eight cards, whatever machine is on show.
HISTORY = "history"
HISTORY_FILE = REVIEW / "history.db"
HISTORY_AFTER_S = 4.0
#: A program watched while a recording of it plays: its loader cannot keep up.
WATCH = "watch"
WATCHED = "two-workers-augment.gpumon"
WATCHED_PID = 1499
WATCH_FILE = REVIEW / WATCH / WATCHED
WATCH_AFTER_S = 14.0
#: The wizard, the settings, the first start, what floats and high contrast (``scenes.py``), in two sizes and scales.
SCENES = "scenes"
SCENE_SIZES = ("1280x800", "900x600")
SCENE_SCALES = (1, 2)
SCENES_PATIENCE_S = 900.0
FINDINGS = "wizard-findings"
LANGUAGES = ("en", "zh_CN")
THEMES = ("light", "dark")
#: Logical size and scale: 200 % at 2560 × 1600 device pixels is the same page, twice as fine.
SCALES = (((1280, 800), 1), ((1280, 800), 2))
#: Looked at in one language and theme each: small, and a large screen at 100 %.
SIZES = (((900, 600), 1), ((3840, 2160), 1))
HISTORY_SIZES = (((900, 600), 1), ((900, 600), 2), ((1600, 900), 1), ((1600, 900), 2))
MACHINES = (
    "demo",
    "one-gpu-training",
    "eight-gpus",
    "sixteen-gpus",
    "windows-laptop",
    "laptop-hybrid",
    "lost-gpu",
    "hang",
    "no-driver",
    "mig",
    "wddm",
    "process-names",
    "amd-only",
    "no-permission",
)
#: Enough for rates, means and a first judgement; "hang" is then stale.
AFTER_S = 9.0
#: In the demo: a run that its loader starved lies behind, one with eight loaders computes beside an idle process.
DEMO_AFTER_S = 88.0
README_SIZE = (1280, 800)
README_BYTES = 120_000
AT_ONCE = 6
PATIENCE_S = 60.0

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Shot:
    """One picture."""

    file: Path
    machine: str
    page: str
    language: str
    theme: str
    size: tuple[int, int]
    scale: int = 1

    @property
    def after_s(self) -> float:
        """How long the window runs before."""
        if self.page == HISTORY:
            return HISTORY_AFTER_S
        if self.machine == WATCH:
            return WATCH_AFTER_S
        return DEMO_AFTER_S if self.machine == "demo" else AFTER_S


def readme_shots() -> list[Shot]:
    """The pictures of the README but those of the findings, which a scene gives."""
    shots = [
        Shot(README / f"{page}-{theme}.png", "demo", page, "en", theme, README_SIZE)
        for page, theme in product(PAGES, THEMES)
    ]
    return shots + [Shot(README / f"watch-{theme}.png", WATCH, PAGES[0], "en", theme, README_SIZE) for theme in THEMES]


def review_shots(names: Sequence[str]) -> list[Shot]:
    """Every page of these machines in every language, theme and scale, and small and large."""
    machines = [name for name in names if name not in (WATCH, SCENES)]
    shots = [
        Shot(REVIEW / machine / f"{page}-{lang}-{theme}-{scale}00.png", machine, page, lang, theme, size, scale)
        for machine, page, lang, theme, (size, scale) in product(machines, PAGES, LANGUAGES, THEMES, SCALES)
    ]
    if "demo" in machines:
        for lang, theme, (size, scale) in product(LANGUAGES, THEMES, (*SCALES, *HISTORY_SIZES)):
            name = f"{lang}-{theme}-{size[0]}x{size[1]}-{scale}00.png"
            shots.append(Shot(REVIEW / HISTORY / name, "demo", HISTORY, lang, theme, size, scale))
    if WATCH in names:
        for lang, theme, (size, scale) in product(LANGUAGES, THEMES, (*SCALES, *SIZES, ((1680, 1000), 1))):
            name = f"{lang}-{theme}-{size[0]}x{size[1]}-{scale}00.png"
            shots.append(Shot(REVIEW / WATCH / name, WATCH, PAGES[0], lang, theme, size, scale))
    for machine, page, (size, scale) in product(machines, PAGES, SIZES):
        name = f"{page}-{size[0]}x{size[1]}.png"
        shots.append(Shot(REVIEW / machine / name, machine, page, "zh_CN", "dark", size, scale))
    return shots


def take(shot: Shot) -> str:
    """Take a picture; an empty text, or what went wrong."""
    shot.file.parent.mkdir(parents=True, exist_ok=True)
    shot.file.unlink(missing_ok=True)
    words = [sys.executable, "-m", "gpumon_gui"]
    if shot.machine == WATCH:
        words += ["--replay", str(WATCH_FILE), "--watch", str(WATCHED_PID)]
    else:
        words += ["--demo"] if shot.machine == "demo" else ["--scenario", shot.machine]
    words += ["--history", str(HISTORY_FILE)] if shot.page == HISTORY else []
    words += ["--page", shot.page, "--lang", shot.language, "--theme", shot.theme]
    words += ["--screenshot", str(shot.file), "--after", f"{shot.after_s:g}", "--size", "{}x{}".format(*shot.size)]
    # offscreen: the same pixels whether there is a display or not, and no window over somebody's work
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": str(shot.scale)}
    try:
        done = subprocess.run(
            words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=shot.after_s + PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        return f"no picture after {shot.after_s + PATIENCE_S:g} s"
    if done.returncode != 0 or not shot.file.is_file():
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][-300:]
    return ""


def unpack_watched() -> None:
    """The recording of the watched program, as a file that can be played."""
    WATCH_FILE.parent.mkdir(parents=True, exist_ok=True)
    packed = ROOT / "tests" / "data" / "recordings" / f"{WATCHED}.xz"
    WATCH_FILE.write_bytes(lzma.decompress(packed.read_bytes()))


def take_scenes(scale: int, sizes: Sequence[str], *only: str) -> str:
    """Take the scenes at a scale (those named, or all); an empty text, or what went wrong."""
    words = [sys.executable, str(ROOT / "packaging" / "scenes.py"), str(REVIEW / SCENES), ",".join(only), *sizes]
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QT_SCALE_FACTOR": str(scale),
        "PYQTGRAPH_QT_LIB": "PySide6",
    }
    try:
        done = subprocess.run(
            words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SCENES_PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        return f"no scenes after {SCENES_PATIENCE_S:g} s"
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no scenes"])[-1][-300:]


def use_findings() -> list[Path]:
    """The pictures of the findings, beside the others of the README."""
    made = []
    for theme in THEMES:
        made.append(README / f"findings-{theme}.png")
        shutil.copyfile(REVIEW / SCENES / f"{FINDINGS}-en-{theme}-{SCENE_SIZES[0]}-100.png", made[-1])
    return made


def shrink(file: Path) -> int:
    """Write the picture again without loss, in the smallest form PNG has for it. Returns its bytes."""
    image = QImage(str(file)).convertToFormat(QImage.Format.Format_RGB888)
    height, width = image.height(), image.width()
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    pixels = rows[:, : width * 3].reshape(height, width, 3)
    codes = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    colours, index = np.unique(codes, return_inverse=True)
    if len(colours) <= 256:
        palette = np.stack([colours >> 16, colours >> 8, colours], axis=1).astype(np.uint8)
        lines, kind = index.reshape(height, width).astype(np.uint8), 3
    else:
        palette, lines, kind = None, pixels.reshape(height, width * 3), 2
    body = min((zlib.compress(lines_.tobytes(), 9) for lines_ in _filtered(lines, 1 if kind == 3 else 3)), key=len)
    parts = [b"\x89PNG\r\n\x1a\n", _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))]
    if palette is not None:
        parts.append(_chunk(b"PLTE", palette.tobytes()))
    parts += [_chunk(b"IDAT", body), _chunk(b"IEND", b"")]
    if sum(map(len, parts)) < file.stat().st_size:
        file.write_bytes(b"".join(parts))
    return file.stat().st_size


def _filtered(lines: Pixels, step: int) -> list[Pixels]:
    """The rows behind PNG's filters none, sub and up."""
    above = np.vstack([np.zeros_like(lines[:1]), lines[:-1]])
    before = np.hstack([np.zeros_like(lines[:, :step]), lines[:, :-step]])
    forms = ((0, lines), (1, lines - before), (2, lines - above))
    return [np.hstack([np.full((len(lines), 1), number, np.uint8), form]) for number, form in forms]


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def main(arguments: Sequence[str]) -> int:
    """Take them all. 1 when one is missing or too large."""
    what, machines = (arguments[0], arguments[1:]) if arguments else ("", ())
    unknown = [name for name in machines if name.startswith("-")]
    if what not in ("", "readme", "review") or unknown or (what != "review" and machines):
        print((__doc__ or "").split("\n\n")[1], file=sys.stderr)
        return 2
    names = machines or (*MACHINES, WATCH, SCENES)
    shots = readme_shots() if what != "review" else []
    shots += review_shots(names) if what != "readme" else []
    if any(shot.page == HISTORY for shot in shots):
        HISTORY_FILE.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(ROOT / "packaging" / "demo_history.py"), str(HISTORY_FILE)], check=True)
    if any(shot.machine == WATCH for shot in shots):
        unpack_watched()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        scenes = []
        if what != "readme" and SCENES in names:
            scenes = [pool.submit(take_scenes, scale, SCENE_SIZES) for scale in SCENE_SCALES]
        elif what != "review":
            scenes = [pool.submit(take_scenes, 1, SCENE_SIZES[:1], FINDINGS)]
        faults = [f"{shot.file}: {fault}" for shot, fault in zip(shots, pool.map(take, shots), strict=True) if fault]
        faults += [f"scenes: {scene.result()}" for scene in scenes if scene.result()]
    files = [shot.file for shot in shots if shot.file.parent == README]
    if what != "review" and not any(fault.startswith("scenes") for fault in faults):
        files += use_findings()
    sizes = {file: shrink(file) for file in files if file.is_file()}
    faults += [
        f"{file}: {size} bytes are more than {README_BYTES}" for file, size in sizes.items() if size > README_BYTES
    ]
    for fault in faults:
        print(fault, file=sys.stderr)
    folders = [folder for folder, is_made in ((README, what != "review"), (REVIEW, what != "readme")) if is_made]
    told = " and ".join(str(folder.relative_to(ROOT)) for folder in folders)
    print(f"screenshots: {len(shots)} and {'all' if what != 'readme' else 'the findings'} of the scenes in {told}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
