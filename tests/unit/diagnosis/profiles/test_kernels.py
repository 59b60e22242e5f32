"""What a kernel's name tells. The names are from traces of real cards."""

from __future__ import annotations

import pytest

from gpumon_gui.diagnosis.profiles.kernels import is_collective, is_heavy, uses_tensor_cores

TENSOR = (
    "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn",
    "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_medium_nhwc_tn_v1",
    "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn",
    "ampere_bf16_s1688gemm_bf16_64x64_sliced1x4_ldg8_f2f_tn",
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize96x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel",
    "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8",
    "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_cgasize1x1x1_gmma",
    "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8",
    "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_tn_align8>(Params)",
    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(Params)",
    "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
    "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_NNN",
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 64, 4>>(flash::Flash_fwd_params)",
)
PLAIN = (
    "volta_sgemm_128x64_nn",
    "ampere_sgemm_128x64_tn",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel",
    "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize128x128x8_stage3_warpsize2x2x1_g1_ffma",
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nn_align1>(cutlass_80_simt_sgemm_128x256::Params)",
    "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false, false, true>(int, int, int)",
    "void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, false, 0, 0, int, float, float, float>(...)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul>>(int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>(int)",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(...)",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "Memset (Device)",
    "sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16_stage4_warpsize2x2x1_tensor8x8x4_kernel",
)


@pytest.mark.parametrize("name", TENSOR)
def test_kernels_on_tensor_cores(name: str) -> None:
    assert uses_tensor_cores(name)
    assert is_heavy(name)


@pytest.mark.parametrize("name", PLAIN)
def test_kernels_on_ordinary_units(name: str) -> None:
    assert not uses_tensor_cores(name)


def test_heavy_and_light_kernels() -> None:
    assert [is_heavy(name) for name in PLAIN] == [True] * 7 + [False] * 6


def test_collectives() -> None:
    assert is_collective("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)")
    assert is_collective("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)")
    assert not any(is_collective(name) for name in TENSOR)
