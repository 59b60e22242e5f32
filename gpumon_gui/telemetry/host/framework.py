"""Knows: by which loaded files a framework is recognised. Must not know: how they are listed."""

from __future__ import annotations

import re

#: Framework → file names found only where it is loaded. Linux (lib*.so), then Windows (*.dll, *.pyd).
_MARKS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("PyTorch", r"[/\\](?:lib)?torch_(?:cpu|cuda|hip|xpu|python)\.(?:so|dll)|[/\\]libtorch\.so"),
        ("TensorFlow", r"[/\\]libtensorflow_(?:framework|cc)\.so|[/\\]_?pywrap_tensorflow_(?:internal|common)\."),
        ("JAX", r"[/\\]jaxlib[/\\][^\n]*\.(?:so|pyd|dll)"),
        ("CuPy", r"[/\\]cupy(?:_backends)?[/\\][^\n]*\.(?:so|pyd)"),
        ("ONNX Runtime", r"[/\\](?:lib)?onnxruntime(?:_pybind11_state[^\n/\\]*)?\.(?:so|dll|pyd)"),
    )
)
_PREFIX = re.compile(
    r"(/[^\n]*?)/lib(?:64)?/python3\.\d+/site-packages/|([A-Z]:\\[^\n]*?)\\Lib\\site-packages\\", re.IGNORECASE
)


def frameworks(modules: str) -> str:
    """Names of the frameworks loaded, joined by commas; empty for none."""
    return ", ".join(name for name, mark in _MARKS if mark.search(modules))


def prefix_of(modules: str) -> str:
    """The folder of the Python environment whose ``site-packages`` loaded a file; empty when none did."""
    match = _PREFIX.search(modules)
    return (match.group(1) or match.group(2)) if match else ""
