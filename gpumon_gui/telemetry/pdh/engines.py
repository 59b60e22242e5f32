"""Knows: what an engine is for, judged by the driver's own text. Must not know: values.

The set of texts is open: NVIDIA writes ``Compute_0``, AMD ``Compute 0``, Intel ``Compute``; texts come and go with
driver versions and with hardware-accelerated scheduling. So texts are compared only here, only for classification,
and never for identity: an engine is its node, its label is the text as received.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gpumon_gui.core.model import EngineKind

# First match wins, on the folded text: lower case, separators gone, so that "Video Decode 1", "VideoDecode" and
# "video_decode" are one spelling. Spellings seen on real machines stand in tests/unit/test_pdh_engines.py.
_RULES: tuple[tuple[re.Pattern[str], EngineKind], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"neural|^npu", EngineKind.NEURAL),
        (r"cuda|compute", EngineKind.COMPUTE),  # before 3D: "High Priority Compute"
        (r"video(processing|processor)", EngineKind.VIDEO_PROCESSING),
        # A codec engine (AMD VCN) decodes and encodes; Task Manager offers it under decode. JPEG engines only decode.
        (r"video(decode|codec|jpeg)|jpegdecode", EngineKind.VIDEO_DECODE),
        (r"videoencode", EngineKind.VIDEO_ENCODE),
        (r"copy", EngineKind.COPY),
        (r"3d|graphics|gdirender", EngineKind.GRAPHICS),
    )
)
_SEPARATORS = re.compile(r"[\s_\-]+")


@lru_cache(maxsize=512)
def engine_kind(engtype: str) -> EngineKind:
    """What an engine is for; OTHER for texts that say nothing we know (``Timer 0``, ``Security``, ``OFA_0``, empty)."""
    folded = _SEPARATORS.sub("", engtype.lower())
    return next((kind for pattern, kind in _RULES if pattern.search(folded)), EngineKind.OTHER)
