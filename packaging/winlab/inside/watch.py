"""Knows: how a program is started and looked at as somebody at the screen would. Must not know: the program.

    watch.py [--detached] [--shot FILE] [--after S] [--close S] [--kill S] PROGRAM [ARGUMENTS]

Reports on standard error when the first window came, the windows, and the exit code in full: a Unix exit status has 8
bits. Ends with that code, or with 255 where only its upper bits are set.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from pathlib import Path

import desktop


def main() -> int:
    """Run it to its end."""
    parser = argparse.ArgumentParser(prog="lab.py run", description="Run a Windows program.")
    parser.add_argument(
        "--detached", action="store_true", help="without console and standard handles, as Explorer does"
    )
    parser.add_argument("--shot", type=Path, metavar="FILE", help="picture of the screen")
    parser.add_argument("--after", type=float, default=2.0, metavar="S", help="seconds from window to picture (2)")
    parser.add_argument("--close", type=float, metavar="S", help="close its windows after that many seconds")
    parser.add_argument("--kill", type=float, metavar="S", help="end it after that many seconds")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENTS]")
    asked = parser.parse_args()
    if not asked.words:
        parser.error("which program?")
    before = {window.handle for window in desktop.windows()}

    def windows() -> list[desktop.Window]:
        return [window for window in desktop.windows() if window.handle not in before]

    begin = time.monotonic()
    try:
        process = desktop.start(asked.words, detached=asked.detached)
    except OSError as error:
        _say(f"{asked.words[0]} cannot be started: {error}")
        return 127
    first_s = None
    shot, close_s, kill_s = asked.shot, asked.close, asked.kill
    while process.poll() is None:
        now_s = time.monotonic() - begin
        if first_s is None and windows():
            first_s = now_s
            _say(f"first window after {now_s:.2f} s")
        if shot and first_s is not None and now_s >= first_s + asked.after:
            for window in windows():
                _say(f"window {window.width}x{window.height} {window.kind} {window.title!r}")
            _say(f"{shot}: {desktop.photograph(shot)} colours")
            shot = None
        if close_s is not None and now_s >= close_s:
            close_s = None
            for window in windows():
                window.close()
        if kill_s is not None and now_s >= kill_s:
            process.kill()
        with contextlib.suppress(Exception):
            process.wait(0.05)
    if shot:
        _say(f"{shot}: no picture, it ended before")
    code = process.returncode
    _say(f"exit code {code} ({code & 0xFFFFFFFF:#010x}) after {time.monotonic() - begin:.2f} s")
    return code & 0xFF or (255 if code else 0)


def _say(line: str) -> None:
    print(f"lab: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
