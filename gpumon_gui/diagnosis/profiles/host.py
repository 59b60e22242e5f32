"""Knows: what an event on the CPU is busy with, by its name. Must not know: traces, shares, rules.

Names are those of CUDA's and HIP's runtime and driver calls, of PyTorch's operators and data loader, of tf.data's ops.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Doing(StrEnum):
    """In the order in which a moment is attributed where events nest: the first that holds counts."""

    DATA_LOADER = "data_loader"
    COMPILE = "compile"
    SYNCHRONISE = "synchronise"
    MEMORY = "memory"  #: cudaMalloc, cudaFree, pinning
    COPY = "copy"  #: the call that starts a copy; for pageable memory it also stages the data
    LAUNCH = "launch"
    OPERATOR = "operator"  #: any other recorded work of the framework


#: Nothing was recorded at that moment: Python, or a library that the profiler does not see.
UNRECORDED: Final = "unrecorded"

_PATTERNS: Final = (
    (
        Doing.DATA_LOADER,
        re.compile(
            r"enumerate\(DataLoader\)|DataLoaderIter|dataloader\.py\(\d+\): (?:__next__|_next_data|_(?:try_)?get_data)|"
            r"IteratorGetNext|OptionalGetNext|IteratorGetNextSync"
        ),
    ),
    (
        Doing.COMPILE,
        re.compile(
            r"(?:cu|cuda|hip)(?:ModuleLoad|LibraryLoad)|^nvrtc|^cuLink|TorchDynamo|compile_fx|XlaCompile|CompileToExecutable"
        ),
    ),
    (
        Doing.SYNCHRONISE,
        re.compile(
            r"^(?:cu|cuda|hip)(?:Stream|Device|Event|Ctx)Synchronize|^(?:cuda|hip)Memcpy$|^cuMemcpy(?:DtoH|HtoD)(?:_v2)?$"
        ),
    ),
    (
        Doing.MEMORY,
        re.compile(
            r"^(?:cu|cuda|hip)(?:Malloc|Free|HostAlloc|HostRegister|HostUnregister|Mem(?:Alloc|Free|Create|Map|Unmap|Release|HostAlloc))"
        ),
    ),
    (Doing.COPY, re.compile(r"^(?:cu|cuda|hip)Memcpy")),
    (Doing.LAUNCH, re.compile(r"^(?:cu|cuda|hip)(?:Launch|GraphLaunch|ExtLaunch|ModuleLaunch)|hipExtModuleLaunch")),
)


def doing(name: str) -> Doing:
    """What the CPU does in an event of this name."""
    for kind, pattern in _PATTERNS:
        if pattern.search(name):
            return kind
    return Doing.OPERATOR


#: How TensorFlow's and JAX's tracers of Python name a function (``$train.py:12 step``). Such calls last as long as what
#: they call; that they were seen says nothing of what the CPU did.
PYTHON: Final = "$"
#: The operator that brings one number to the CPU: it waits for the GPU.
READS_ONE_NUMBER: Final = "aten::item"
