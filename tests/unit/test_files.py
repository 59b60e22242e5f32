"""How paths and foreign names are shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import check_regular_file, printable, shown


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("python.exe", "python.exe"),
        ("训练 👩‍💻.py", "训练 👩‍💻.py"),  # the joiner inside the emoji stays
        ("two\nlines", r"two\nlines"),
        ("\x1b[2Jcleared", r"\x1b[2Jcleared"),
        ("a\u2028b", r"a\u2028b"),
        ("bad\udcff", r"bad\udcff"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("wide\u3000space", "wide\u3000space"),
        ("", ""),
    ],
)
def test_foreign_text_stays_one_line_and_harmless(text: str, seen: str) -> None:
    assert printable(text) == seen
    printable(text).encode()


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
def test_a_name_that_is_not_utf_8_can_be_printed() -> None:
    assert shown(Path(os.fsdecode(b"/tmp/\xff.gpumon"))) == r"/tmp/\udcff.gpumon"


@pytest.mark.skipif(os.name != "posix", reason="a limit of the file system")
def test_a_name_too_long_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"aaa: cannot be read \(File name too long\)\.$"):
        check_regular_file(tmp_path / ("a" * 300))
