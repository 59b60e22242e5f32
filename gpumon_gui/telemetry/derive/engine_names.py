"""Knows: what a GPU's engines are called, in the user's language. Must not know: their figures, what they are for.

The words are Task Manager's. What the table does not have stays as the source spells it, with spaces: the set of names
is open.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gpumon_gui.core.messages import N_, _

# Names without number, capitals and separators. Windows: DXGK_ENGINE_TYPE and what drivers write themselves; Linux:
# amdgpu_fdinfo.c, i915_drm_client.c, xe_drm_client.c.
_WORDS: dict[str, str] = {
    "3d": N_("3D"),
    "graphics": N_("Graphics"),
    "highpriority3d": N_("High Priority 3D"),
    "compute": N_("Compute"),
    "highprioritycompute": N_("High Priority Compute"),
    "copy": N_("Copy"),
    "videodecode": N_("Video Decode"),
    "videoencode": N_("Video Encode"),
    "videoprocessing": N_("Video Processing"),
    "videocodec": N_("Video Codec"),
    "jpegdecode": N_("JPEG Decode"),
    "videojpeg": N_("JPEG Decode"),
    "ofa": N_("Optical Flow"),
    "overlay": N_("Overlay"),
    "legacyoverlay": N_("Legacy Overlay"),
    "sceneassembly": N_("Scene Assembly"),
    "security": N_("Security"),
    "crypto": N_("Crypto"),
    "gfx": N_("3D"),
    "render": N_("3D"),
    "rcs": N_("3D"),
    "ccs": N_("Compute"),
    "dma": N_("Copy"),
    "bcs": N_("Copy"),
    "dec": N_("Video Decode"),
    "uvd": N_("Video Decode"),
    "vcndec": N_("Video Decode"),
    "enc": N_("Video Encode"),
    "vce": N_("Video Encode"),
    "jpeg": N_("JPEG Decode"),
    "video": N_("Video Codec"),  # Intel: one engine decodes and encodes
    "vcs": N_("Video Codec"),
    "videoenhance": N_("Video Processing"),
    "vecs": N_("Video Processing"),
    "vpe": N_("Video Processing"),
}
_SEPARATORS = re.compile(r"[\s_\-]+")


def engine_name(spelling: str) -> str:
    """``VideoDecode`` → *Video Decode*, ``Compute_0`` → *Compute 0*, in the user's language; a dash for no name."""
    word, rest = _known(spelling)
    return f"{_(word)} {rest}".strip() if word else rest


@lru_cache(maxsize=512)
def _known(spelling: str) -> tuple[str, str]:
    """The untranslated word and the number behind it; else no word, and the name as it is read."""
    base = spelling.rstrip("0123456789")
    word = _WORDS.get(_SEPARATORS.sub("", base.lower()))
    if word is not None:
        return word, spelling[len(base) :]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", spelling.replace("_", " ")).strip()
    return "", spaced or "—"
