"""Engines are called as in Task Manager, in the user's language, whatever the source spells."""

from __future__ import annotations

import pytest

from gpumon_gui.core import messages
from gpumon_gui.telemetry.derive.engine_names import engine_name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("VideoDecode", "Video Decode"),
        ("video_decode", "Video Decode"),
        ("Video Decode 1", "Video Decode 1"),
        ("Compute_0", "Compute 0"),
        ("JPEG_Decode_0", "JPEG Decode 0"),
        ("High Priority 3D", "High Priority 3D"),
        ("3D", "3D"),
        ("gfx", "3D"),
        ("enc_1", "Video Encode 1"),
        ("video-enhance", "Video Processing"),
        ("Cuda", "Cuda"),
        ("TrueAudio_0", "True Audio 0"),
        ("2", "2"),
        ("", "—"),
    ],
)
def test_names_as_people_read_them(spelling: str, name: str) -> None:
    assert engine_name(spelling) == name


def test_in_the_language_of_the_user() -> None:
    messages.set_language("zh_CN")
    try:
        assert engine_name("Copy") == "复制"
        assert engine_name("VideoEncode_1") == "视频编码 1"
        assert engine_name("Timer 0") == "Timer 0"
    finally:
        messages.set_language("en")
