"""Knows: what is printed when an installation, a build or a Python environment is at fault. Must not know: rules."""

from __future__ import annotations

from typing import Final

from gpumon_gui.diagnosis.logs.pattern import Pattern

_FRAMEWORK_MODULES = r"torch|torchvision|torchaudio|tensorflow|keras|jax|jaxlib|onnxruntime|cupy"
_OTHER_CUDA = (
    r"CUDA version \(?(?P<nvcc>\d+\.\d+)\)? (?:mismatches|does not match) the version"
    r"(?: that was used to compile PyTorch| torch was compiled with) \(?(?P<torch>\d+\.\d+)"
    r"(?!.{0,30}APIs are compatible)"  # DeepSpeed goes on: minor versions of one CUDA build for each other
)

PATTERNS: Final[tuple[Pattern, ...]] = (
    # --- torch without CUDA
    Pattern(
        "torch-not-compiled-with-cuda",
        "not compiled with cuda enabled",
        r"torch not compiled with cuda enabled",
        framework="torch",
        states={"torch.cuda_build": None},
    ),
    Pattern(
        "torch-cpu-version",
        "+cpu",
        r"^(?!.*(?:existing installation|nstalled|nstalling|downloading|collecting))"
        r".*\b(?:py)?torch(?: version|\.__version__)?\W{1,40}(?P<version>\d+\.\d+(?:\.\d+)?\+cpu)\b",
        framework="torch",
    ),
    Pattern("torch-cpu-version", "+cpu", r"^\W*(?P<version>[12]\.\d+\.\d+\+cpu)\W*$", framework="torch"),
    Pattern(
        "torch-cuda-printed",
        "torch.version.cuda",
        r"torch\.version\.cuda\W{0,6}(?:None|null)\b",
        framework="torch",
        states={"torch.cuda_build": None},
        joined=True,
    ),
    Pattern(
        "torch-cuda-printed",
        "torch.version.cuda",
        r"torch\.version\.cuda\W{0,6}(?P<cuda>\d+\.\d+)\b",
        framework="torch",
        facts={"cuda": "torch.cuda_build"},
        joined=True,
    ),
    Pattern(
        "torch-available-printed",
        "is_available()",
        r"torch\.cuda\.is_available\(\)\W{0,6}False\b",
        framework="torch",
        states={"torch.cuda_available": False},
        joined=True,
    ),
    Pattern(
        "torch-available-printed",
        "is_available()",
        r"torch\.cuda\.is_available\(\)\W{0,6}True\b",
        framework="torch",
        states={"torch.cuda_available": True},
        joined=True,
    ),
    Pattern(
        "torch-version-printed",
        "torch.__version__",
        r"torch\.__version__\W{1,6}(?P<version>\d+\.\d+\.\d+[\w.+]*)",
        framework="torch",
        facts={"version": "torch.version"},
        joined=True,
    ),
    Pattern(
        "tensorflow-version-printed",
        "__version__",
        r"\b(?:tf|tensorflow)\.__version__\W{1,6}(?P<version>\d+\.\d+\.\d+[\w.]*)",
        framework="tensorflow",
        facts={"version": "tensorflow.version"},
        joined=True,
    ),
    Pattern(
        "tensorflow-version-printed",
        "tensorflow",
        r"^\W*tensorflow(?: version\W{1,4}|(?:-gpu)?\s{2,40})(?P<version>\d+\.\d+\.\d+)(?:\s+\S+){0,2}\s*$",
        framework="tensorflow",
        facts={"version": "tensorflow.version"},
    ),
    Pattern(
        "tensorflow-gpus-printed",
        "list_physical_devices(",
        # Between the call and what it printed: the rest of the call, a prompt, a word or two of whoever reports it.
        r"list_physical_devices\(['\"]GPU['\"]\)[^\w=\[]{0,12}(?:\w{1,12}[^\w=\[]{1,4}){0,2}\[ ?\]",
        framework="tensorflow",
        states={"tensorflow.gpu_count": 0},
        joined=True,
    ),
    Pattern(
        "tensorflow-gpus-printed",
        "num gpus available",
        r"^\W*num gpus available\W{1,6}0\W*$",
        framework="tensorflow",
        states={"tensorflow.gpu_count": 0},
    ),
    Pattern(
        "tensorflow-built-without-cuda",
        "built",
        r"(?:is_built_with_cuda\(\)|tensorflow (?:is )?built with cuda)\W{0,6}False\b",
        framework="tensorflow",
        states={"tensorflow.built_with_cuda": False},
        joined=True,
    ),
    Pattern(
        "nvcc-version",
        "cuda compilation tools",
        r"cuda compilation tools, release [\d.]+, V(?P<version>\d+\.\d+(?:\.\d+)?)",
        facts={"version": "toolkit.nvcc_version"},
    ),
    Pattern(
        "conda-tensorflow-cpu-build",
        "tensorflow",
        r"^\W*tensorflow(?:-base)?\s+\d[\d.]*\s+(?:mkl|eigen|cpu)_py\w+",
        framework="tensorflow",
    ),
    Pattern(
        "torch-cpu-version",
        "pytorch",
        r"^\W*(?:pytorch|libtorch)\s+(?P<version>\d[\d.]*)\s+(?:py3\.\d+_cpu_|cpu_)\w*",
        framework="torch",
    ),
    # --- pip, uv
    Pattern(
        "pip-torch-conflict",
        "requires torch==",
        r"requires torch==(?P<wanted>\d[\w.]*\+cu\d+), but you have torch (?P<version>\d\S*)",
    ),
    Pattern(
        "pip-no-version",
        "no matching distribution found",
        r"no matching distribution found for (?P<package>[\w.-]+?)(?:\[[\w,-]+\])?(?P<wanted>[=<>!~][^\s(;]*)?\s*$",
    ),
    Pattern(
        "uv-no-version",
        "there is no version of",
        r"there is no version of (?P<package>torch\w*|tensorflow|jaxlib|onnxruntime-gpu)(?P<wanted>==\d\S*?)"
        r"(?:,| and|\s|$)",
    ),
    Pattern(
        "uv-no-wheel-for-python",
        "with a matching python",
        r"(?<![\w-])(?P<package>[\w-]{1,80})(?P<wanted>==\d[\w.+]{0,40})?\s{1,4}has no (?:usable )?wheels? "
        r"with a matching python (?:implementation|abi|version)",
        joined=True,
    ),
    Pattern(
        "uv-no-wheel-for-python",
        "only found wheels for",
        r"only found wheels for `?(?P<package>[\w-]+)`? \(v(?P<wanted>\d[\w.+]*)\) with the following python "
        r"(?:implementation|abi|version)",
        joined=True,
    ),
    Pattern("pip-index", "looking in ", r"looking in (?:indexes|links): (?P<urls>\S.*)$"),
    Pattern(
        "pip-other-python",
        "requires a different python",
        r"package '?(?P<package>[\w.-]+)'? requires a different python: (?P<python>\d+\.\d+(?:\.\d+)?) not in "
        r"'?(?P<wanted>[^']+)",
    ),
    Pattern(
        "pip-other-python",
        "requires python",
        r"\b(?P<package>torch|tensorflow|tensorflow-gpu)\b[^,;]{0,40}? requires python (?P<wanted>[<>=!~^]\S*)",
    ),
    Pattern(
        "pip-other-python",
        "-> python[version",
        r"\b(?P<package>pytorch|tensorflow|tensorflow-gpu)\S* -> python\[version=",
    ),
    Pattern(
        "pip-wheel-not-for-platform",
        "is not a supported wheel on this platform",
        r"(?P<package>torch|tensorflow|tensorflow_gpu|jaxlib|onnxruntime_gpu)-(?P<version>\d[\w.+%]*)-"
        r"cp(?P<tag>\d+)-\S+\.whl is not a supported wheel",
    ),
    Pattern(
        "pip-extra-missing",
        "does not provide the extra",
        r"tensorflow (?P<version>\d[\w.]*) does not provide the extra '?and.cuda",
    ),
    Pattern("python-version", "python", r"^\s*python (?P<version>3\.\d+\.\d+)\S* [(|].*\[(?:msc|gcc|clang)"),
    Pattern(
        "python-version",
        "python version",
        r"^\W*python version\s*[:=]\s*(?P<version>3\.\d+(?:\.\d+)?)",
        facts={"version": "interpreter.version"},
    ),
    Pattern("python-version", "deprecation: python", r"deprecation: python (?P<version>\d\.\d+) reached the end"),
    # --- NumPy, protobuf
    Pattern(
        "numpy-abi-mismatch",
        "compiled using numpy",
        r"compiled using NumPy (?P<built>\d)\.x cannot be run in\s+NumPy (?P<numpy>\d+(?:\.\d+)*)",
        joined=True,
    ),
    Pattern("numpy-abi-mismatch", "numpy.dtype size changed", r"numpy\.dtype size changed"),
    Pattern("numpy-abi-mismatch", "_array_api not found", r"_ARRAY_API not found"),
    Pattern(
        "numpy-abi-mismatch", "module compiled against", r"module compiled against (?:ABI|API) version .{0,30}numpy"
    ),
    Pattern("numpy-import-failed", "numpy.core.multiarray failed", r"numpy\._?core\.multiarray failed to import"),
    Pattern("torch-numpy-unavailable", "numpy is not available", r"numpy is not available", framework="torch"),
    Pattern("torch-numpy-unavailable", "infer dtype of numpy", r"could not infer dtype of numpy\.", framework="torch"),
    Pattern("protobuf-too-new", "descriptors cannot", r"descriptors cannot (?:not )?be created directly"),
    Pattern("protobuf-too-new", "messagefactory", r"'MessageFactory' object has no attribute 'GetPrototype'"),
    Pattern(
        "protobuf-too-old",
        "google.protobuf",
        r"cannot import name '(?:builder|runtime_version)' from '?google\.protobuf",
    ),
    Pattern(
        "protobuf-too-old", "_internal_create_key", r"google\.protobuf\.\w+' has no attribute '_internal_create_key'"
    ),
    Pattern(
        "protobuf-too-old",
        "gencode/runtime",
        r"detected (?:mismatched|incompatible) protobuf gencode/runtime (?:major )?versions?",
    ),
    # --- Windows: its prompt (unless it only leads into Linux), what the issue forms ask for, its loader
    *(
        Pattern(
            "windows-prompt",
            f"{drive}:\\",
            rf"^\s{{0,8}}(?:\([^()\s]{{1,60}}\) ?)?(?:PS )?{drive}:\\[^<>|\"*?:]{{0,200}}>"
            r"(?!\s*(?:wsl|bash|ubuntu|ssh|docker|$))",
            states={"os.family": "windows"},
        )
        for drive in "cdef"
    ),
    Pattern(
        "windows-stated",
        "windows 1",
        r"^\W*(?:os|system|operating system|系统|操作系统)\W{1,4}(?:microsoft )?windows 1[01](?!.{0,80}wsl)",
        states={"os.family": "windows"},
    ),
    Pattern(
        "windows-stated",
        "os platform and distribution",
        r"os platform and distribution\W{1,20}(?:\(e\.g\.[^)]{0,80}\)\W{0,10})?(?:microsoft )?windows 1[01]"
        r"(?!.{0,80}wsl)",
        states={"os.family": "windows"},
        joined=True,
    ),
    Pattern(
        "dll-load-failed",
        "dll load failed while importing",
        r"dll load failed while importing (?P<module>\w+)",
    ),
    # --- compiling extensions
    Pattern("extension-cuda-mismatch", "cuda version", _OTHER_CUDA, framework="torch", joined=True),
    Pattern(
        "extension-cuda-mismatch",
        "cuda extensions are being compiled",
        r"compiled with a version of cuda that does not match the version used to compile pytorch",
        framework="torch",
    ),
    Pattern(
        "nvcc-unknown-gpu",
        "unsupported gpu architecture",
        r"nvcc fatal\s*:\s*unsupported gpu architecture '(?P<arch>(?:compute|sm)_\w+)'",
    ),
    # --- code for the GPU (error 209 itself is read in read_errors)
    Pattern(
        "torch-arch-incompatible",
        "is not compatible with the current pytorch",
        r"(?:^|\W)(?P<gpu>\w[\w .()-]{0,80}?) with cuda capability (?P<arch>sm_\d+) is not compatible with the current",
        framework="torch",
    ),
    Pattern(
        "torch-arch-list",
        "install supports cuda capabilities",
        r"install supports cuda capabilities (?P<archs>(?:(?:sm|compute)_\w+[\s,]*)+)",
        framework="torch",
    ),
    Pattern(
        "torch-gpu-outside",
        "which is of cuda capability",
        r"found gpu\d* (?P<gpu>.+?) which is of (?:compute|cuda) capability \(?(?P<arch>\d+\.\d+)\)?"
        r"(?:.*?(?:supported by this (?:library|version of pytorch)) is "
        r"\(?(?P<least>\d+\.\d+)\)?(?: - \(?(?P<most>\d+\.\d+)\)?)?)?",
        framework="torch",
        joined=True,
    ),
    Pattern("torch-gpu-too-old", "no longer supports this gpu", r"no longer supports this gpu because it is too old"),
    Pattern("torch-no-kernels", "include kernels for this gpu", r"does not include kernels for this gpu"),
    Pattern("torch-no-kernels", "no published pytorch cuda", r"no published pytorch cuda builds? for release"),
    Pattern(
        "tensorflow-gpu-too-old",
        "minimum required cuda capability",
        r"with cuda compute capability (?P<arch>\d+\.\d+)\. the minimum required cuda capability is "
        r"(?P<least>\d+\.\d+)",
        framework="tensorflow",
    ),
    Pattern(
        "ptx-target-unknown", "does not support target", r"ptx version .{0,10}does not support target 'sm_(?P<sm>\d+)"
    ),
    Pattern(
        "ptx-target-unknown",
        "is not defined for option 'gpu-name'",
        r"ptxas fatal\s*:\s*value 'sm_(?P<sm>\d+)\w*' is not defined for option 'gpu-name'",
    ),
    Pattern("cuda-invalid-ptx", "cuda_error_invalid_", r"CUDA_ERROR_INVALID_(?:PTX|HANDLE)"),
    # --- which Python, which module
    Pattern(
        "framework-not-found",
        "no module named",
        rf"ModuleNotFoundError: No module named ['\"](?P<module>{_FRAMEWORK_MODULES})['\".]",
    ),
    Pattern(
        "framework-shadowed",
        "partially initialized module",
        rf"partially initialized module ['\"](?P<module>{_FRAMEWORK_MODULES})['\"] has no attribute",
    ),
)
