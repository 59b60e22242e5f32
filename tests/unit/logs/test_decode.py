"""What a user pastes becomes the text that was meant, in any encoding and mixture."""

from __future__ import annotations

import io

import pytest

from gpumon_gui.diagnosis.logs.decode import chunks, clean

CHINESE = "找不到指定的模块。驱动程序版本太旧"


def decoded(data: bytes, size: int = 1 << 20) -> str:
    return "".join(chunk.text for chunk in chunks(io.BytesIO(data), size))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gbk", "gb18030"])
@pytest.mark.parametrize("size", [64, 1 << 20])
def test_one_encoding(encoding: str, size: int) -> None:
    text = f"loading of a DLL failed\n{CHINESE}\n[WinError 126] {CHINESE}\nlast line"
    assert decoded(text.encode(encoding), size) == text


def test_powershell_appends_utf16_to_a_file_of_bytes() -> None:
    data = f"pip list of today\n{CHINESE}\n".encode() + "CUDA is not available here\r\n".encode("utf-16")
    data += b"and again a line of plain bytes, long enough to be sure of it\n"
    assert decoded(data).splitlines() == [
        "pip list of today",
        CHINESE,
        "CUDA is not available here",
        "and again a line of plain bytes, long enough to be sure of it",
    ]


def test_lines_of_gbk_between_lines_of_utf8() -> None:
    data = f"utf-8: {CHINESE}\n".encode() + f"gbk: {CHINESE}\n".encode("gbk")
    assert decoded(data) == f"utf-8: {CHINESE}\ngbk: {CHINESE}\n"


def test_western_letters_are_not_taken_for_chinese() -> None:
    assert decoded("Das angegebene Modul wurde nicht gefunden: für Gerät über\n".encode("cp1252")) == (
        "Das angegebene Modul wurde nicht gefunden: für Gerät über\n"
    )


def test_a_torn_character_at_the_end_does_not_matter() -> None:
    assert decoded("模块 error".encode() + "模".encode()[:2]).startswith("模块 error")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mError\x1b[0m: \x1b[1;4mbad\x1b[m", "Error: bad"),
        ("\\u001b[0;31mRuntimeError\\u001b[0m", "RuntimeError"),
        ("\x1b]0;title\x07text", "text"),
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("  5%|▌   | 1/20\r 10%|█   | 2/20\rdone\n", "done\n"),
        ("1/100 [=>......] - ETA: 3s\x08\x08\x08\rCUDA error: bad\n", "CUDA error: bad\n"),
        ("a warning\r 10%|█   | 2/20\rend", "a warning end"),
        ("nul\x00 inside", "nul inside"),
    ],
)
def test_colours_and_progress_bars_are_gone(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_line_numbers_count_line_feeds_only() -> None:
    data = b"one\r 5%|x\rstill one\ntwo\x0bthree?\n" + b"x" * 300 + b"\nlast\n"
    found = list(chunks(io.BytesIO(data), 64))
    last = next(chunk for chunk in found if "last" in chunk.text)
    assert last.first_line + last.text[: last.text.index("last")].count("\n") == 4


def test_noise_is_read_in_linear_time() -> None:
    """Lines without ends, carriage returns and changes of encoding: none of them is searched again from each place."""
    noise = bytes((value * value * 31 + value // 7) % 256 for value in range(300_000))
    for data in (noise, b"\r" * 300_000, b"a" * 300_000 + b"\rb", b"\x1b[" * 150_000, b"\r\r" * 150_000 + b"x\n"):
        assert isinstance(decoded(data), str)
