"""Knows: which messages and listings the log reader knows. Must not know: what they mean.

``PATTERNS`` of each topic (``patterns_<topic>.py``) and ``BLOCKS`` of each listing (``read_<what>.py``), by hand.
"""

from __future__ import annotations

from typing import Final

from gpumon_gui.diagnosis.logs import (
    patterns_build,
    patterns_code,
    patterns_driver,
    patterns_libraries,
    patterns_memory,
    patterns_speed,
    read_collect_env,
    read_errors,
    read_gpus,
    read_packages,
    read_python,
    read_smi,
)
from gpumon_gui.diagnosis.logs.block import Block
from gpumon_gui.diagnosis.logs.pattern import Pattern

PATTERNS: Final[tuple[Pattern, ...]] = (
    *patterns_build.PATTERNS,
    *patterns_code.PATTERNS,
    *patterns_driver.PATTERNS,
    *patterns_libraries.PATTERNS,
    *patterns_memory.PATTERNS,
    *patterns_speed.PATTERNS,
)

BLOCKS: Final[tuple[Block, ...]] = (
    *read_collect_env.BLOCKS,
    *read_errors.BLOCKS,
    *read_gpus.BLOCKS,
    *read_packages.BLOCKS,
    *read_python.BLOCKS,
    *read_smi.BLOCKS,
)

#: Words that many hints share: where none of them is, none of their hints need be looked for.
GATES: Final = (
    "cudnn",
    "cublas",
    "cuda",
    "nvidia",
    "nvml",
    "nccl",
    "torch",
    "tensor",
    "winerror",
    "error",
    "driver",
    "librar",
    "memory",
    "device",
    "version",
    "install",
    "kernel",
    "gpu",
    "rocm",
    "numpy",
    "python",
    "import",
    "onnx",
    "could not",
    "failed",
    "found",
    "warn",
    "compil",
    "offload",
    "docker",
    "runtime",
    "unknown",
    "worker",
    "slowdown",
    "support",
    "controller",
    "package",
    "proto",
    "power",
    "partial",
    "unable",
    "capability",
    "system",
    "must be",
    "cannot",
    "executionprovider",
    "alloc",
    "module",
    "unsatisf",
    "is not",
    "packages",
    "requirement",
    "licens",
    "argument",
    "state",
    "fabric",
    "initiali",
    "disabl",
    "collective",
    "cpu",
    "(uuid:",
    "limit",
    "kfd",
    "dkms",
    "nouveau",
)
