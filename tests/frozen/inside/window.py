"""Start the window as Explorer does, look at it, end it, and tell what was seen. For Windows Python in the lab.

window.py PROGRAM PICTURE close|kill [ARGUMENTS]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging/winlab/inside"))

import desktop  # noqa: E402
import psutil  # noqa: E402

START_S = 20.0
SETTLE_S = 6.0  # until the charts show some seconds
END_S = 8.0


def main() -> None:
    """Print one JSON document."""
    program, picture, ending, *words = sys.argv[1:]
    begin = time.monotonic()
    process = desktop.start([program, *words], detached=True)
    came = desktop.wait_for(desktop.windows, START_S)
    seen: dict[str, object] = {"seconds": time.monotonic() - begin, "came": came}
    desktop.wait_for(lambda: sampler(process.pid) is not None, SETTLE_S)
    child = sampler(process.pid)
    desktop.wait_for(lambda: process.poll() is not None, SETTLE_S)
    windows = desktop.windows()
    seen["windows"] = [(window.title, window.width, window.height) for window in windows]
    seen["colours"] = desktop.photograph(Path(picture))
    if child is not None:
        seen["child"] = {"command": child.cmdline(), "variables": dict(child.environ())}
    if ending == "close":
        for window in windows:
            window.close()
    else:
        process.kill()
    seen["ended"] = desktop.wait_for(lambda: process.poll() is not None, END_S)
    seen["code"] = process.poll()
    seen["child_ended"] = child is not None and desktop.wait_for(lambda: not psutil.pid_exists(child.pid), END_S)
    seen["left"] = [one.name() for one in psutil.process_iter() if one.name().startswith("gpumon")]
    print(json.dumps(seen))


def sampler(parent: int) -> psutil.Process | None:
    """The sampler of that window."""
    for number in psutil.pids():
        try:
            process = psutil.Process(number)
            words = process.cmdline()
        except (psutil.Error, OSError):  # it starts or ends just now
            continue
        if words[1:4] == ["--sampler-child", "--parent", str(parent)]:
            return process
    return None


main()
