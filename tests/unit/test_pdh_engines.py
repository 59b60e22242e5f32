"""Engine types of all vendors, as seen on real machines."""

from __future__ import annotations

import pytest

from gpumon_gui.core.model import EngineKind
from gpumon_gui.telemetry.pdh.engines import engine_kind

SEEN = {
    EngineKind.GRAPHICS: ("3D", "3d", "High Priority 3D", "Graphics_1", "GDI Render"),
    EngineKind.COMPUTE: (
        "Cuda",
        "cuda",
        "Compute",
        "Compute_0",
        "Compute_1",
        "Compute 0",
        "Compute 3",
        "compute 1",
        "High Priority Compute",
    ),
    EngineKind.COPY: ("Copy", "copy"),
    EngineKind.VIDEO_DECODE: (
        "VideoDecode",
        "Video Decode 1",
        "video_decode",
        "Video Codec 0",
        "Video Codec Engine",
        "Video JPEG 0",
        "JPEG_Decode_0",
        "JPEG_Decode_3",
    ),
    EngineKind.VIDEO_ENCODE: ("VideoEncode", "Video Encode 0", "videoencode"),
    EngineKind.VIDEO_PROCESSING: ("VideoProcessing", "Video Processor"),
    EngineKind.NEURAL: ("Neural", "neural"),
    EngineKind.OTHER: (
        "",
        "LegacyOverlay",
        "Security",
        "Security_1",
        "Security 1",
        "VR",
        "OFA_0",
        "True Audio 0",
        "Timer 0",
        "Internal 0",
        "GSC",
        "Wizardry",
    ),
}


@pytest.mark.parametrize(("kind", "engtype"), [(kind, text) for kind, texts in SEEN.items() for text in texts])
def test_kind(kind: EngineKind, engtype: str) -> None:
    assert engine_kind(engtype) is kind
