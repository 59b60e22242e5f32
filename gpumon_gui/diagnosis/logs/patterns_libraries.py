"""Knows: what is printed when CUDA libraries, cuDNN or their parts are missing or do not fit. Must not know: rules."""

from __future__ import annotations

from typing import Final

from gpumon_gui.diagnosis.logs.pattern import Pattern

_CUDNN_FILE = r"(?P<file>(?:lib)?cudnn\w*?(?:64_\d+\.dll|\.so\.\d+(?:\.\d+)*))"
_ORT_LIBRARY = r"(?P<library>lib(?:cu|nv)\w+\.so(?:\.\d+)*|(?:cu|nv)\w+64_\d+\.dll)"

PATTERNS: Final[tuple[Pattern, ...]] = (
    # --- TensorFlow opens its libraries by name
    Pattern(
        "tf-library-not-found",
        "could not load dynamic library",
        r"could not load dynamic library '(?P<library>[^']+)'; dlerror: (?P<dlerror>[^;]*)"
        r"(?:; LD_LIBRARY_PATH: (?P<searched>\S*))?",
        framework="tensorflow",
    ),
    Pattern(
        "tf-library-not-found",
        "tensorflow requires that this dll",
        r"could not find '(?P<library>\w+\.dll)'\. tensorflow requires that this dll",
        framework="tensorflow",
    ),
    Pattern("tf-native-load-failed", "failed to load the native", r"failed to load the native tensorflow runtime"),
    Pattern("tf-dlopen-failed", "cannot dlopen some gpu libraries", r"cannot dlopen some gpu libraries"),
    Pattern(
        "tf-dlopen-failed",
        "skipping registering gpu devices",
        r"skipping registering gpu devices",
        framework="tensorflow",
        states={"tensorflow.gpu_count": 0},
    ),
    Pattern("tf-no-cudart", "could not find cuda drivers", r"could not find cuda drivers on your machine"),
    # --- JAX and bitsandbytes without their parts for CUDA
    Pattern(
        "jax-cuda-missing",
        "jaxlib is not installed",
        r"NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed",
        framework="jax",
        states={"jax.device_count": 0},
    ),
    Pattern(
        "jax-no-gpu-found",
        "gpu/tpu found",
        r"No GPU/TPU found, falling back to CPU",
        framework="jax",
        states={"jax.device_count": 0},
    ),
    Pattern(
        "bitsandbytes-without-gpu",
        "compiled without gpu support",
        r"installed version of bitsandbytes was compiled without GPU support",
        framework="torch",
    ),
    # --- cuDNN and NCCL that do not start
    Pattern(
        "torch-cudnn-not-initialized",
        "cudnn_status_not_initialized",
        r"cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
        framework="torch",
    ),
    Pattern("nccl-system-error", "unhandled system error", r"\bunhandled system error"),
    # --- two cuDNNs
    Pattern(
        "cudnn-version-older-than-compiled",
        "loaded runtime cudnn library",
        r"loaded runtime cudnn library: (?P<found>\d[\d.]*)(?: \(compatibility version \d+\))? but source was compiled "
        r"with:? (?P<built>\d[\d.]*)",
        framework="tensorflow",
    ),
    Pattern(
        "cudnn-version-older-than-compiled",
        "cudnn version incompatibility",
        r"was compiled\s+against \(?(?P<built>\d+[., \d]*\d)\)? but (?:found runtime version|linked against) "
        r"\(?(?P<found>\d+[., \d]*\d)",
        framework="torch",
        joined=True,
    ),
    Pattern(
        "cudnn-mixed",
        "undefined symbol",
        rf"{_CUDNN_FILE}\S*: undefined symbol|undefined symbol:? \S+,? version {_CUDNN_FILE.replace('file', 'other')}",
    ),
    Pattern("cudnn-mixed", "cudnngetlibconfig", r"could not load symbol cudnnGetLibConfig"),
    Pattern("cudnn-mixed", "sublibrary_version_mismatch", r"CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
    # --- cuDNN not found
    Pattern(
        "cudnn-library-missing",
        "could not load library",
        rf"could not load library (?:\S*[/\\])?{_CUDNN_FILE}\S*\s+Error:? (?!.*undefined symbol)(?P<error>.*)",
    ),
    Pattern("cudnn-library-missing", "could not locate", rf"could not locate {_CUDNN_FILE}"),
    Pattern("cudnn-library-missing", "unable to load any of", rf"unable to load any of \{{{_CUDNN_FILE}"),
    Pattern(
        "cudnn-library-missing",
        "cannot open shared object file",
        rf"^(?!.*(?:dynamic library|onnxruntime|could not load library)).*?\b{_CUDNN_FILE}: cannot open shared object",
    ),
    Pattern("cudnn-library-missing", "is not found or cannot be loaded", rf"library {_CUDNN_FILE} is not found or"),
    Pattern("zlibwapi-missing", "zlibwapi", r"could not (?:locate|load library|find) \S*zlibwapi\.dll(?P<rest>.*)"),
    # --- ONNX Runtime
    Pattern(
        "ort-cuda-not-in-package",
        "executionprovider' is not in available provider",
        r"provider 'CUDAExecutionProvider' is not in available provider names.*?'(?P<available>[\w, ]+)'",
        framework="onnxruntime",
    ),
    Pattern(
        "ort-cuda-libs-missing",
        "onnxruntime_providers_cuda",
        r"(?:failed to load library|error loading|loadlibrary failed|error 126).{0,160}"
        r"onnxruntime_providers_cuda\.(?:so|dll)"
        rf"(?:.*?{_ORT_LIBRARY})?",
        framework="onnxruntime",
    ),
    Pattern(
        "ort-cuda-libs-missing",
        "failed to create cudaexecutionprovider",
        r"failed to create CUDAExecutionProvider",
        framework="onnxruntime",
    ),
    Pattern(
        "ort-wants",
        "require cudnn",
        r"require cudnn (?P<cudnn>\d+)\S* and cuda (?P<cuda>\d+)",
        framework="onnxruntime",
    ),
    Pattern(
        "ort-providers",
        "executionprovider'",
        r"\[(?P<providers>'\w+ExecutionProvider'(?:, ?'\w+ExecutionProvider')*)\]",
    ),
    # --- XLA's compiler parts
    Pattern("xla-libdevice-missing", "libdevice not found at", r"libdevice not found at"),
    Pattern("xla-libdevice-missing", "libdevice is required", r"libdevice is required by this hlo module but was not"),
    Pattern("xla-libdevice-missing", "libdevice directory", r"can't find libdevice directory"),
    Pattern(
        "xla-ptxas-missing",
        "ptxas",
        r"(?:couldn't|could not) get ptxas version|failed to launch ptxas"
        r"|couldn't (?:invoke|find) (?:a suitable )?ptxas"
        r"|unable to find (?:a suitable )?ptxas|ptxas not found|no such file or directory.{0,20}ptxas",
    ),
    Pattern("xla-ptxas-missing", "no ptx compilation provider", r"no ptx compilation provider is available"),
    Pattern("xla-compile-failed", "jit compilation failed", r"jit compilation failed"),
)
