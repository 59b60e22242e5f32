"""Knows: what the name of a GPU kernel tells: tensor cores, heavy arithmetic, communication. Must not know: traces.

Kernels do not say which units they use; their names do, by the instruction or the types they are built for. Sources:
TensorFlow's own list (``kTensorCoreKernelNamePatterns`` in tensorflow/core/profiler/utils/kernel_stats_utils.cc), the
same list in PyTorch's TensorBoard plug-in (pytorch/kineto, tb_plugin/torch_tb_profiler/profiler/tensor_core.py, after
NVIDIA's PyProf), CUTLASS's naming (``tensorop``/``simt``) and names seen on an H200. Two things that those lists get
wrong are put right here: ``sm80_xmma_gemm_f32f32_f32f32_f32…`` computes in plain float32, and ``nvjet…`` (cuBLAS on
Hopper and later) always uses them.
"""

from __future__ import annotations

import re
from typing import Final

#: An instruction shape (884, 1688, 16816, 16832), an instruction (hmma, imma, gmma), or a name that implies one.
_TENSOR: Final = re.compile(
    r"[hsicd]884|[hsicd]1688|16816|16832|i8816|hmma|imma|gmma|mma_sync|tensor_?op|tensorcore|nvjet|cutlass_tensor|"
    r"gemm_?(?:bf16|f16|fp16|fp8|e4m3|tf32|s8)|_(?:bf16|f16|e4m3|e5m2|tf32f32|tf32)(?:bf16|f16|e4m3|e5m2|tf32f32|tf32)?_|"
    r"flash::|flash_(?:fwd|bwd)|fmha|dgrad_1x1_stride_2x2|first_layer_wgrad_kernel|conv2d_c1_k1|direct_group|tcgen05|"
    r"fprop_fp16|wgrad_fp16|dgrad_fp16|mma_tensor_op|xmma_\w*_(?:bf16|f16|tf32|i8|e4m3)",
    re.IGNORECASE,
)
#: The same families in float32 on the ordinary units.
_PLAIN: Final = re.compile(
    r"simt|ffma|[^a-z]sgemm|_sgemm|^sgemm|f32f32_f32f32_f32|f64f64_f64f64_f64|dgemm|sm\d+_xmma_\w+_f32f32",
    re.IGNORECASE,
)
_TF32: Final = re.compile(r"tf32", re.IGNORECASE)
#: Kernels whose work tensor cores could do: matrix products, convolutions, attention, recurrent layers.
_HEAVY: Final = re.compile(
    r"gemm|gemv2|xmma|nvjet|convolve|conv2d|conv3d|cudnn::cnn|implicit_|winograd|fprop|dgrad|wgrad|fft.*(?:gcgemm|conv)|"
    r"flash::|flash_(?:fwd|bwd)|fmha|cutlass|cgemm|matmul|RNN_block|lstm.*gemm|bmm_",
    re.IGNORECASE,
)
_NOT_HEAVY: Final = re.compile(
    r"nchwToNhwc|nhwcToNchw|nchw2nhwc|splitKreduce|transpose|bn_(?:fw|bw)|batchnorm|elementwise"
)
_COLLECTIVE: Final = re.compile(
    r"nccl(?:Dev)?Kernel|ncclKernel|^nccl|rccl|all_?reduce_kernel|cross_device_reduce|oneshotAll"
)


def uses_tensor_cores(name: str) -> bool:
    """Whether this kernel multiplies on tensor cores, as far as its name tells (float16, bfloat16, TF32, 8 bit)."""
    if _PLAIN.search(name) and not _TF32.search(name):
        return bool(re.search(r"s1688gemm|h884gemm|s884gemm|tensorop", name, re.IGNORECASE)) and "simt" not in name
    return bool(_TENSOR.search(name))


def is_heavy(name: str) -> bool:
    """Whether tensor cores could do this kernel's work."""
    return bool(_HEAVY.search(name)) and not _NOT_HEAVY.search(name)


def is_collective(name: str) -> bool:
    """Whether this kernel talks to other GPUs."""
    return bool(_COLLECTIVE.search(name))
