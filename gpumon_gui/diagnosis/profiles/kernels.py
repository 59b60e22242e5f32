"""Knows: what the name of a GPU kernel tells: tensor cores, heavy arithmetic, communication. Must not know: traces.

Kernels do not say which units they use; their names do, by the instruction or the types they are built for. Sources:
TensorFlow's own list (``kTensorCoreKernelNamePatterns`` in tensorflow/core/profiler/utils/kernel_stats_utils.cc), the
same list in PyTorch's TensorBoard plug-in (pytorch/kineto, tb_plugin/torch_tb_profiler/profiler/tensor_core.py, after
NVIDIA's PyProf), CUTLASS's naming (``tensorop``/``simt``) and names seen on an H200. Two things that those lists get
wrong are put right here: ``sm80_xmma_gemm_f32f32_f32f32_f32…`` computes in plain float32, so that ``xmma`` alone says
nothing, and ``nvjet…`` (cuBLAS on Hopper and later) always uses them.
"""

from __future__ import annotations

import re
from typing import Final

#: An instruction (hmma, gmma, tensor16x8x16), its shape (s884, s1688, 16816), or a family that has no other.
_TENSOR: Final = re.compile(
    r"[hsicd]884|[hsicd]1688|16816|16832|i8816|hmma|imma|gmma|mma_sync|tensor_?op|tensor\d+x\d+|tcgen05|nvjet|flash::|"
    r"flash_(?:fwd|bwd)|dgrad_1x1_stride_2x2|first_layer_wgrad_kernel|conv2d_c1_k1|direct_group",
    re.IGNORECASE,
)
#: Operands in a type that only tensor cores multiply in such kernels.
_TYPED: Final = re.compile(
    r"(?:xmma|gemm|conv|fprop|dgrad|wgrad|fmha|bmm)\w*_(?:bf16|f16|fp16|tf32|e4m3|e5m2|i8|bfloat16)", re.IGNORECASE
)
#: Kernels whose work tensor cores could do: matrix products, convolutions, attention, recurrent layers.
_HEAVY: Final = re.compile(
    r"gemm|xmma|nvjet|cudnn_|convolve|conv2d|conv3d|cudnn::cnn|implicit_|winograd|fprop|dgrad|wgrad|flash::|"
    r"flash_(?:fwd|bwd)|fmha|cutlass|matmul|RNN_block|bmm_",
    re.IGNORECASE,
)
_NOT_HEAVY: Final = re.compile(
    # Double precision is meant; lower precision is no advice for it.
    r"f64|dgemm|zgemm|<double|nchwToNhwc|nhwcToNchw|nchw2nhwc|splitKreduce|transpose|::bn_|bn_(?:fw|bw)_|batch_?norm|elementwise|reduce_kernel",
    re.IGNORECASE,
)
_COLLECTIVE: Final = re.compile(
    r"nccl(?:Dev)?Kernel|^nccl|^rccl|cross_device_reduce|all_reduce_kernel|allreduce_fusion"
)


def uses_tensor_cores(name: str) -> bool:
    """Whether this kernel multiplies on tensor cores, as far as its name tells (float16, bfloat16, TF32, 8 bit)."""
    if is_collective(name) or _NOT_HEAVY.search(name):
        return False
    return bool(_TENSOR.search(name) or _TYPED.search(name))


def is_heavy(name: str) -> bool:
    """Whether tensor cores could do this kernel's work."""
    return bool(_HEAVY.search(name)) and not _NOT_HEAVY.search(name)


def is_collective(name: str) -> bool:
    """Whether this kernel talks to other GPUs."""
    return bool(_COLLECTIVE.search(name))
