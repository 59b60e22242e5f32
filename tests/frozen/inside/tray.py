"""Start hidden in the tray, start once more, close the window, and tell what was seen. For Windows Python in the lab.

tray.py PROGRAM PICTURE [ARGUMENTS]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging/winlab/inside"))

import desktop  # noqa: E402

QUIET_S = 6.0
START_S = 20.0


def main() -> None:
    """Print one JSON document."""
    program, picture, *words = sys.argv[1:]
    first = desktop.start([program, "--tray", *words], detached=True)
    seen: dict[str, object] = {"shown_at_once": desktop.wait_for(desktop.windows, QUIET_S)}
    second = desktop.start([program, *words], detached=True)
    seen["second_ended"] = desktop.wait_for(lambda: second.poll() is not None, START_S)
    seen["second_code"] = second.poll()
    seen["shown_then"] = desktop.wait_for(desktop.windows, QUIET_S)
    seen["of_the_first"] = [window.process == first.pid for window in desktop.windows()]
    desktop.wait_for(lambda: first.poll() is not None, 3)
    seen["colours"] = desktop.photograph(Path(picture))
    for window in desktop.windows():
        window.close()
    seen["hidden_again"] = desktop.wait_for(lambda: not desktop.windows(), 5)
    seen["goes_on"] = not desktop.wait_for(lambda: first.poll() is not None, 2)
    first.kill()
    print(json.dumps(seen))


main()
