"""Knows: what programs print about speed, heat, several cards, and harmless lines. Must not know: rules."""

from __future__ import annotations

from gpumon_gui.diagnosis.logs.pattern import Pattern

PATTERNS: tuple[Pattern, ...] = (
    # --- loading of data
    Pattern(
        "lightning-few-workers",
        "many workers",
        r"does not have many workers which may be a bottleneck",
        "torch",
    ),
    Pattern(
        "torch-too-many-workers",
        "worker processes in total",
        r"DataLoader will create (?P<workers>\d+) worker processes in total\. Our suggested max number of worker "
        r"in current system is (?P<suggested>\d+)",
        "torch",
        numbers=("workers", "suggested"),
        joined=True,
    ),
    Pattern(
        "tf-shuffle-buffer-filling",
        "filling up shuffle buffer",
        r"Filling up shuffle buffer \(this may take a while\): (?P<done>\d+) of (?P<size>\d+)",
        "tensorflow",
        numbers=("done", "size"),
    ),
    Pattern(
        "spawn-bootstrapping",
        "bootstrapping phase",
        r"bootstrapping phase",
    ),
    Pattern("spawn-child-failed", "popen_spawn_win32", r"popen_spawn_win32\.py"),
    Pattern(
        "spawn-pickle-failed", "exited unexpectedly", r"DataLoader worker \(pid\(s\) [\d, ]+\) exited unexpectedly"
    ),
    Pattern("spawn-pickle-failed", "pickle", r"(?:Can't|cannot) pickle (?:local object|'?[\w.]+'? object)"),
    Pattern("spawn-pickle-failed", "ran out of input", r"EOFError: Ran out of input"),
    Pattern("spawn-pickle-failed", "on <module '__main__'", r"Can't get attribute .{1,80} on <module '__main__'"),
    # --- precision
    Pattern(
        "keras-mixed-precision-slow",
        "mixed_float16",
        r"Your GPUs? may run slowly with dtype policy mixed_float16",
        "tensorflow",
    ),
    Pattern(
        "torch-autocast-disabled",
        "disabling autocast",
        r"In (?P<device>\w+) autocast, but the target dtype is not supported\. Disabling autocast",
        "torch",
        joined=True,
    ),
    # --- clocks: nvidia-smi -q
    Pattern(
        "smi-thermal-slowdown",
        "thermal slowdown",
        r"^\s*(?P<by>HW|SW) Thermal Slowdown\s*:\s*(?P<state>Active|Not Active)\s*$",
    ),
    Pattern("smi-slowdown", "hw slowdown", r"^\s*HW Slowdown\s*:\s*(?P<state>Active|Not Active)\s*$"),
    Pattern(
        "smi-power-brake", "power brake slowdown", r"^\s*HW Power Brake Slowdown\s*:\s*(?P<state>Active|Not Active)\s*$"
    ),
    Pattern("smi-power-cap", "sw power cap", r"^\s*SW Power Cap\s*:\s*(?P<state>Active|Not Active)\s*$"),
    Pattern(
        "smi-power-limit",
        "power limit",
        r"^\s*(?P<which>Current|Enforced|Requested|Default) Power Limit\s*:\s*(?P<watts>\d{1,5}(?:\.\d{1,3})?) W\s*$",
        numbers=("watts",),
    ),
    # powercfg /getactivescheme: the GUID is the same in every language.
    Pattern(
        "windows-power-saver",
        "a1841308-3541-4fab-bc81-f71556f20b4a",
        r"GUID: ?a1841308-3541-4fab-bc81-f71556f20b4a",
    ),
    # --- hardware
    Pattern("kernel-xid", "xid", r"NVRM: Xid \((?P<device>[^)]{1,40})\): (?P<xid>\d{1,3})\b", numbers=("xid",)),
    Pattern("gpu-fell-off-the-bus", "fallen off the bus", r"GPU.{0,60}fallen off the bus"),
    Pattern("gpu-lost", "gpu is lost", r"GPU is lost"),
    Pattern("gpu-lost", "nvml_error_gpu_is_lost", r"NVML_ERROR_GPU_IS_LOST"),
    Pattern(
        "gpu-handle-unknown-error",
        "unable to determine the device handle",
        r"Unable to determine the device handle for GPU.{0,40}: Unknown Error",
    ),
    # --- several cards
    Pattern(
        "torch-unequal-gpus",
        "imbalance between your gpus",
        r"There is an imbalance between your GPUs\. You may want to exclude GPU (?P<weak>\d+) which\s+"
        r"has less than 75% of the memory or cores of GPU (?P<strong>\d+)",
        "torch",
        joined=True,
    ),
    Pattern("torch-unequal-gpus", "imbalance between your gpus", r"There is an imbalance between your GPUs", "torch"),
    Pattern(
        "tf-weak-gpu-ignored",
        "with core count",
        r"Ignoring visible gpu device \(device: (?P<weak>\d+).{0,200}?\) with core count: (?P<cores>\d+)\. "
        r"The minimum required count is (?P<minimum>\d+)",
        "tensorflow",
        numbers=("cores", "minimum"),
    ),
    Pattern(
        "torch-dataparallel-in-use",
        "gather along dimension 0",
        r"Was asked to gather along dimension 0, but all input tensors were scalars",
        "torch",
    ),
    Pattern(
        "ddp-device-unknown",
        "to perform barrier",
        r"using GPU (?P<gpu>\d+) (?:to perform barrier )?as (?:the device used by|devices used by) this process "
        r"(?:is|are) currently unknown",
        "torch",
        joined=True,
    ),
    Pattern(
        "nccl-duplicate-gpu",
        "duplicate gpu detected",
        r"Duplicate GPU detected ?: rank (?P<rank>\d+) and rank (?P<other_rank>\d+) both on CUDA device",
        "torch",
    ),
    Pattern(
        "smi-process",
        "mib",
        r"^\s*\|\s+(?P<gpu>\d+)\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(?P<pid>\d+)\s+(?P<type>C|C\+G|M\+C)\s+"
        r"(?P<name>\S.{0,80}?)\s+(?P<mib>\d+) ?MiB\s*\|",
        numbers=("gpu", "pid", "mib"),
    ),
    Pattern(
        "nccl-timeout",
        "collective operation timeout",
        r"Watchdog caught collective operation timeout",
        "torch",
    ),
    Pattern("pcie-acs-redirects", "acsctl", r"ACSCtl:.*?ReqRedir\+.*?CmpltRedir\+"),
    Pattern("pcie-acs-off", "acsctl", r"ACSCtl:.*?ReqRedir-"),
    Pattern("iommu-page-fault", "io_page_fault", r"nvidia .{0,60}AMD-Vi: Event logged \[IO_PAGE_FAULT"),
    Pattern("iommu-page-fault", "dmar: [dma", r"DMAR: \[DMA (?:Read|Write).{0,40}\].{0,120}fault reason"),
    Pattern("cuda-home-not-set", "cuda_home", r"CUDA_HOME environment variable is not set"),
    # --- harmless lines
    Pattern(
        "noise-factory-registered",
        "unable to register",
        r"Unable to register (?P<what>cuDNN|cuFFT|cuBLAS) factory: Attempting to register factory for plugin",
        "tensorflow",
    ),
    Pattern(
        "noise-placer-registered",
        "computation placer",
        r"computation placer (?:already|is already) registered",
        "tensorflow",
    ),
    Pattern("noise-tensorrt", "could not find tensorrt", r"TF-TRT Warning: Could not find TensorRT", "tensorflow"),
    Pattern("noise-tensorrt", "libnvinfer", r"Could not load dynamic library '(?:lib)?nvinfer\w*\.", "tensorflow"),
    Pattern(
        "noise-numa",
        "numa node",
        r"NUMA node read from SysFS had negative value|Your kernel may (?:not )?have been built (?:without|with) NUMA",
        "tensorflow",
    ),
    Pattern("noise-onednn", "onednn custom operations are on", r"oneDNN custom operations are on", "tensorflow"),
    Pattern(
        "noise-cpu-features",
        "tensorflow binary is optimized",
        r"This TensorFlow binary is optimized (?:to use|with) ",
        "tensorflow",
    ),
    Pattern(
        "noise-cpu-features",
        "your cpu supports instructions",
        r"Your CPU supports instructions that",
        "tensorflow",
    ),
    Pattern(
        "noise-torch-windows",
        "redirects are currently not supported",
        r"Redirects are currently not supported in",
        "torch",
    ),
    Pattern("noise-flash-attention", "flash attention", r"Torch was not compiled with flash attention", "torch"),
    Pattern("noise-triton", "triton", r"A matching Triton is not available", "torch"),
)
