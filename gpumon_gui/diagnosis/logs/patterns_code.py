"""Knows: what programs print about which device they chose and how. Must not know: how a log is read, rules."""

from __future__ import annotations

from gpumon_gui.diagnosis.logs.pattern import Pattern

PATTERNS: tuple[Pattern, ...] = (
    # --- no device, or a device that is not there
    Pattern("cuda-no-device", "no cuda-capable device is detected", r"no CUDA-capable device is detected"),
    Pattern("cuda-no-device", "cuda_error_no_device", r"CUDA_ERROR_NO_DEVICE"),
    Pattern("cuda-no-device", "no visible gpu devices", r"No visible GPU devices"),
    Pattern(
        "cuda-invalid-device-ordinal",
        "invalid device",
        r"CUDA error: invalid device ordinal|cudaErrorInvalidDevice\b|invalid device ordinal",
    ),
    # XLA and TensorFlow say so themselves since 2.18 (cuda_diagnostics.cc).
    Pattern(
        "cuda-visible-devices-hides-all",
        "cuda_visible_devices",
        r"CUDA_VISIBLE_DEVICES is set to (?P<value>.{0,80}?) - this hides all",
    ),
    # TensorFlow's diagnostics and Ultralytics print the value that the process itself sees.
    Pattern(
        "cuda-visible-devices-seen",
        "cuda_visible_devices",
        r"(?:\benv: CUDA_VISIBLE_DEVICES=\"?|os\.environ\['CUDA_VISIBLE_DEVICES'\]: "
        r"?)(?P<value>[^\"\r\n]{0,80}?)\"?\s*$",
    ),
    # --- Apple's GPU is used: Lightning, transformers, and what most programs print
    Pattern(
        "mps-in-use",
        "mps",
        r"GPU available: True \(mps\), used: True|^\W*(?:Device set to use|(?:Using )?device:) ?[\"']?mps\b",
        "torch",
    ),
    # --- a GPU is there and is not used
    Pattern(
        "lightning-gpu-unused",
        "gpu available",
        r"GPU available: True\b.*?used: False|GPU available but not used",
        "torch",
    ),
    Pattern(
        "transformers-pipeline-no-device",
        "`device` argument",
        r"no `device` argument is passed to the `Pipeline`",
        "torch",
    ),
    Pattern("spacy-gpu-unused", "to switch to gpu", r"To switch to GPU \d+, use the option: --gpu-id"),
    Pattern(
        "library-uses-cpu",
        "much faster with a gpu",
        r"Using CPU\. Note: This module is much faster with a GPU",
        "torch",
    ),
    Pattern("library-device-cpu", "pytorch device", r"Use pytorch device(?:_name)?: cpu\b", "torch"),
    Pattern("whisper-fp16-on-cpu", "fp16 is not supported on cpu", r"FP16 is not supported on CPU", "torch"),
    Pattern("library-device-cpu", "using cpu device", r"^\s*Using cpu device\s*$", "torch"),
    Pattern(
        "torch-tensors-on-two-devices",
        "same device",
        r"Expected all tensors to be on the same device, but (?:found at least two devices|got .{0,40} is on)"
        r".{0,60}\bcpu\b",
        "torch",
        joined=True,
    ),
    Pattern(
        "torch-tensors-on-two-devices",
        "weight type",
        r"Input type \((?:torch\.)?(?:cuda\.)?\w+(?:Tensor)?\) and weight type "
        r"\((?:torch\.)?(?:cuda\.)?\w+(?:Tensor)?\) should be the same",
        "torch",
    ),
    # --- parts of the model on the CPU
    Pattern(
        "accelerate-offloaded",
        "offloaded to",
        r"parameters are on the meta device because they were offloaded to the (?P<where>[\w ]{1,30})",
        "torch",
    ),
    Pattern(
        "accelerate-offloaded",
        "meta device",
        r"parameters are on the meta device (?:device )?because they were offloaded",
        "torch",
    ),
    Pattern(
        "accelerate-dispatch-refused",
        "dispatched on the cpu",
        r"Some modules are dispatched on the CPU or the disk",
        "torch",
    ),
    Pattern(
        "accelerate-offload-needs-folder",
        "offload_folder",
        r"had weights offloaded to the disk\. Please provide an `offload_folder`",
        "torch",
    ),
    Pattern(
        "accelerate-offloaded",
        "some modules offloaded",
        r"can't move a model that has some modules offloaded to (?P<where>cpu or disk)",
        "torch",
    ),
    Pattern("torch-meta-tensor-copied", "meta tensor", r"Cannot copy out of meta tensor", "torch"),
    Pattern(
        "llama-layers-offloaded",
        "layers to gpu",
        r"offload(?:ed|ing) (?P<on_gpu>\d{1,5})/(?P<layers>\d{1,5}) layers to GPU",
        numbers=("on_gpu", "layers"),
    ),
    Pattern(
        "llama-built-without-gpu",
        "gpu offload",
        r"not compiled with GPU offload support|compiled without (?:support for )?GPU offload",
    ),
    Pattern(
        "ollama-split",
        "cpu/gpu",
        r"\b(?P<cpu_percent>\d{1,3})%/\d{1,3}% CPU/GPU\b",
        numbers=("cpu_percent",),
    ),
    Pattern("ollama-split", "100% cpu", r"\bGB\s+(?P<cpu_percent>100)% CPU\b", numbers=("cpu_percent",)),
    # --- options of applications that keep work off the GPU
    Pattern(
        "app-option-uses-cpu",
        "with arguments",
        r"Launching .{0,40}with arguments:.*?(?P<option>--use-cpu(?:[ =]all)?|--always-cpu|--cpu)(?=\s|$)",
        "torch",
    ),
    Pattern(
        "app-option-saves-memory",
        "with arguments",
        r"Launching .{0,40}with arguments:.*?(?P<option>--lowvram|--medvram|--always-low-vram|--always-no-vram"
        r"|--novram)(?=\s|$)",
        "torch",
    ),
    Pattern("app-option-saves-memory", "vram state", r"Set vram state to: (?P<option>LOW_VRAM|NO_VRAM)\b", "torch"),
    Pattern("app-option-uses-cpu", "vram state", r"Set vram state to: (?P<option>DISABLED)\b", "torch"),
    # --- kernels
    Pattern(
        "kernels-jit-from-ptx",
        "jit-compiled from ptx",
        r"CUDA kernels will be jit-compiled from PTX",
    ),
    Pattern(
        "kernels-jit-from-ptx",
        "linking",
        r"(?:driver|ptxas).{0,80}(?:compil|JIT).{0,40}PTX.{0,60}(?:may take|take a while|minutes)",
    ),
    Pattern(
        "rnn-no-cudnn-kernel",
        "will not use cudnn kernel",
        r"Layer (?P<layer>\S{1,80}) will not use cuDNN kernels? since it (?:doesn't|does not) meet",
        "tensorflow",
    ),
    # --- devices configured too late
    Pattern(
        "tf-device-config-after-init",
        "cannot be modified after being initialized",
        r"(?:Physical|Visible|Virtual|Logical) devices cannot be modified after being initialized",
        "tensorflow",
    ),
    Pattern(
        "tf-device-config-after-init",
        "must be called before",
        r"(?:set_memory_growth|Physical devices|intra_op|device polic\w+).{0,80}must be (?:set|called) "
        r"(?:before|at program startup)|must be set before GPUs have been initialized",
        "tensorflow",
    ),
)
