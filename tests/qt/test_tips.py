"""Foreign text in tool tips: shown as it is, never as HTML, never wider than a screen."""

from __future__ import annotations

import html
import re

import pytest

from gpumon_gui.ui.tips import plain


@pytest.mark.parametrize("text", ["", "python train.py", "two\nlines", "a > b & c", "C:\\Users\\用户"])
def test_ordinary_text_stays(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize("text", ["<b>python</b>", '<img src="/etc/motd">', "<h1>x</h1> --a  b\nnext"])
def test_what_looks_like_html_is_shown_as_written(text: str) -> None:
    shown = re.fullmatch(r'<span style="white-space: pre">(.*)</span>', plain(text), re.DOTALL)
    assert shown is not None
    assert html.unescape(shown[1]) == text


def test_long_text_is_broken_and_cut() -> None:
    lines = plain("x" * 1_000_000).split("\n")
    assert max(map(len, lines)) == 100
    assert plain("x" * 250).replace("\n", "") == "x" * 250
    lines = plain("line\n" * 1000).split("\n")
    assert (len(lines), lines[-1]) == (26, "…")
