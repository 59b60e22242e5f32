"""Knows: how the tests are started by Windows Python in the lab. Must not know: any test.

    lab.py python tests/windows/suite.py [--platform NAME] PYTEST-ARGUMENTS

Started in the checkout's folder. Children find the checkout as this process does; windows are real ones unless
``--platform offscreen`` is given. The stand-in DLLs are told where the machine that they play is written down before
anything loads them (psutil loads pdh.dll); until a test writes it, there is no GPU.
"""

from __future__ import annotations

import os
import sys
import tempfile


def main(words: list[str]) -> int:
    """Run pytest; its exit code."""
    platform = "windows"
    if words[:1] == ["--platform"]:
        platform, words = words[1], words[2:]
    os.environ["QT_QPA_PLATFORM"] = platform
    os.environ["PYTHONPATH"] = os.getcwd()  # noqa: PTH109 - a text for the environment
    os.environ["GPUMON_WORLD"] = os.path.join(tempfile.mkdtemp(), "world.txt")  # noqa: PTH118 - as above
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as python -m pytest does
    import pytest

    return int(pytest.main(["-p", "no:cacheprovider", *words]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
