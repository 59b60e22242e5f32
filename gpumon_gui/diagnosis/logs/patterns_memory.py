"""Knows: what programs print when memory runs out. Must not know: how a log is read, rules.

Sizes stay as written ("34.82 MiB"); :mod:`gpumon_gui.diagnosis.out_of_memory` reads them.
"""

from __future__ import annotations

from gpumon_gui.diagnosis.logs.pattern import Pattern

_SIZE = r"[\d.]+ ?(?:bytes|[KMGT]i?B)"

PATTERNS: tuple[Pattern, ...] = (
    # c10/cuda/CUDACachingAllocator.cpp up to 2.0; "cached" up to 1.3.
    Pattern(
        "torch-out-of-memory",
        "tried to allocate",
        rf"Tried to allocate (?P<request>{_SIZE}) \(GPU (?P<gpu>\d+); (?P<total>{_SIZE}) total capacity; "
        rf"(?P<allocated>{_SIZE}) already allocated; (?P<free>{_SIZE}) free; (?:{_SIZE} allowed; )?"
        rf"(?P<reserved>{_SIZE}) (?:reserved in total|cached)",
        "torch",
        numbers=("gpu",),
        joined=True,
    ),
    # From 2.1; "capacty" is how 2.1 spells it.
    Pattern(
        "torch-out-of-memory",
        "tried to allocate",
        rf"Tried to allocate (?P<request>{_SIZE})\. GPU (?P<gpu>\d*) ?has a total capac\w+ of (?P<total>{_SIZE}) "
        rf"of which (?P<free>{_SIZE}) is free\."
        rf"(?:.{{0,400}}?this process has (?P<process>{_SIZE}) memory in use)?"
        rf"(?:.{{0,200}}?(?P<allocated>{_SIZE}) is allocated by PyTorch)?"
        rf"(?:.{{0,200}}?(?P<unallocated>{_SIZE}) is reserved by PyTorch but unallocated)?",
        "torch",
        joined=True,
    ),
    Pattern(
        "cuda-out-of-memory", "out of memory", r"\bCUDA(?: runtime)? error\b.{0,20}: out of memory|\bCUDA out of memory"
    ),
    # The cudaMallocAsync backend (c10/cuda/CUDAMallocAsyncAllocator.cpp), one size a line.
    Pattern(
        "torch-out-of-memory",
        "currently allocated",
        rf"Currently allocated\s*: (?P<allocated>{_SIZE})\s+Requested\s*: (?P<request>{_SIZE})\s+"
        rf"Device limit\s*: (?P<total>{_SIZE})\s+Free \(according to CUDA\): (?P<free>{_SIZE})",
        "torch",
        joined=True,
    ),
    Pattern("cuda-out-of-memory", "allocation on device", r"OutOfMemoryError: Allocation on device", "torch"),
    # Paddle and CuPy.
    Pattern("cuda-out-of-memory", "out of memory error on gpu", r"Out of memory error on GPU \d+\. Cannot allocate"),
    Pattern(
        "cuda-out-of-memory", "out of memory allocating", r"OutOfMemoryError: Out of memory allocating [\d,]+ bytes"
    ),
    Pattern(
        "cuda-out-of-memory",
        "out of memory",
        r"cuda runtime error \(2\)|HIP out of memory|cudaMalloc (?:retry )?failed: out of memory",
    ),
    Pattern("cuda-out-of-memory", "cuda_error_out_of_memory", r"CUDA_ERROR_OUT_OF_MEMORY"),
    Pattern("cuda-out-of-memory", "cudaerrormemoryallocation", r"cudaErrorMemoryAllocation"),
    Pattern(
        "tf-out-of-memory",
        "oom when allocating",
        r"OOM when allocating tensor with shape ?(?P<shape>\[[\d,? ]{0,80}\])?",
        "tensorflow",
    ),
    Pattern(
        "tf-out-of-memory",
        "ran out of memory",
        # Its way to try something faster first; then it says that this is no failure, and goes on with less.
        rf"Allocator \((?P<allocator>GPU_\d+_bfc)\) ran out of memory trying to allocate (?P<request>{_SIZE})"
        r"(?!.{0,120}not a failure)",
        "tensorflow",
    ),
    Pattern("tf-out-of-memory", "failed to allocate memory [op", r"failed to allocate memory \[Op:", "tensorflow"),
    Pattern(
        "xla-out-of-memory",
        "resource_exhausted",
        r"RESOURCE_EXHAUSTED: (?:.{0,80})?Out of memory (?:while )?(?:trying to )?allocat\w+ (?P<request>[\d.]+ ?\w*)",
    ),
    # TensorFlow takes its share of the card at start and was refused: somebody else has it.
    Pattern(
        "tf-start-allocation-refused",
        "from device",
        r"failed to allocate (?P<request>[\d.]+[KMGT]?i?B?) \((?P<bytes>\d+) bytes\) from device",
        "tensorflow",
        numbers=("bytes",),
    ),
    # torch.cuda.memory_snapshot() printed: many of these.
    Pattern(
        "torch-snapshot-block",
        "'state'",
        r"'size': (?P<bytes>\d+),.{0,120}?'state': '(?P<state>active_allocated|active_awaiting_free"
        r"|active_pending_free|inactive)'",
        "torch",
        numbers=("bytes",),
    ),
    # Memory between processes.
    Pattern(
        "dataloader-bus-error",
        "bus error",
        r"DataLoader worker .{0,40}killed by signal: Bus error|Unexpected bus error encountered in worker",
        "torch",
    ),
    # Libraries that find no memory for their own workspace.
    Pattern(
        "cublas-handle-failed",
        "cublas_status",
        r"CUDA error: CUBLAS_STATUS_(?P<status>NOT_INITIALIZED|ALLOC_FAILED) when calling",
        "torch",
    ),
    Pattern(
        "cublas-handle-failed",
        "cublas_status",
        r"(?<!CUDA error: )CUBLAS_STATUS_(?P<status>NOT_INITIALIZED|ALLOC_FAILED)",
    ),
    Pattern("cublas-handle-failed", "cublas handle", r"failed to create cublas handle", "tensorflow"),
    Pattern(
        "cudnn-handle-failed",
        "cudnn handle",
        r"[Cc]ould not create cudnn handle: (?P<status>CUDNN_STATUS_\w+)",
        "tensorflow",
    ),
    Pattern(
        "cudnn-handle-failed",
        "failed to get convolution algorithm",
        r"Failed to get convolution algorithm\. This is probably because cuDNN failed to initialize",
        "tensorflow",
    ),
)
