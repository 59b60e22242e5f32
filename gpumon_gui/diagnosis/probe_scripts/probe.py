"""Knows: how to read facts inside the user's own interpreter. Must not know: anything of the rest of this program.

Runs as a child process of *that* interpreter: standard library only, Python 3.6 syntax, no import from here. One
section a process, so that a framework that hangs or crashes takes nothing with it. Facts leave as JSON lines through a
channel of their own as soon as they are known: what was found before a crash is kept, and whatever is printed on
standard output is somebody else's.

    probe.py RESULT SECTION [PROJECT]

RESULT is a file, or ``-`` for the standard output (``wsl.exe`` passes nothing else), which then gets the lines behind
a mark while everything printed goes to standard error. A line is ``{"put": path, "value": value}``,
``{"stage": what is being tried}`` or ``{"done": true}``.
"""

import json
import os
import re
import sys
import threading
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

MARK = "\x1eGPUMON "
MAX_TEXT = 4000
MAX_WARNINGS = 20
MAX_LINE = 100000

FRAMEWORKS = ("torch", "tensorflow", "jax", "onnxruntime", "cupy")
#: Modules whose files tell which copy would be imported.
MODULES = FRAMEWORKS + ("numpy", "torchvision", "torchaudio", "keras", "jaxlib", "google.protobuf", "ctranslate2")
#: Distributions that matter for the GPU or that clash with those; normalised names. Others stay private.
PACKAGES = re.compile(
    r"^(torch.*|pytorch.*|tensorflow.*|tf-.*|keras.*|jax.*|flax|numpy|scipy|protobuf|grpcio|h5py|ml-dtypes|typing-extensions|"
    r"onnx.*|cupy.*|cuda-.*|nvidia-.*|triton.*|rocm.*|intel-.*|mkl.*|openvino.*|xformers|bitsandbytes|flash-attn.*|"
    r"transformers|accelerate|diffusers|deepspeed|vllm|lightning.*|ultralytics|ctranslate2|faster-whisper|"
    r"openai-whisper|whisperx|numba|llvmlite|pycuda|cudf.*|cuml.*|rmm.*|paddlepaddle.*|mxnet.*|llama-cpp-python|"
    r"sentence-transformers|fastai|timm|gymnasium|stable-baselines3|detectron2|mmcv.*|apex|horovod|opencv-.*|pandas|"
    r"tensorrt.*|tensorboard.*|optree|opt-einsum|pip|setuptools|wheel|uv|absl-py|pynvml|ipykernel)$"
)
#: Never what may be a secret (NVIDIA_API_KEY) and never Terraform's (TF_VAR_…), which share these prefixes.
VARIABLES = re.compile(
    r"^(?!TF_(?:VAR|CLI|TOKEN|WORKSPACE|LOG|CLOUD|HTTP|DATA_DIR|INPUT|PLUGIN|REATTACH)(?:_|$))"
    r"(?!.*(?:API_?KEY|ACCESS_?KEY|AUTH|CREDENTIAL|PASS(?:WD|WORD)|SECRET|TOKEN))"
    r"(CUDA_.*|CUDNN_.*|NVIDIA_.*|NCCL_.*|TF_.*|TORCH_.*|PYTORCH_.*|XLA_.*|JAX_.*|HIP_.*|ROCR?_.*|HSA_.*|GPU_.*|"
    r"ORT_.*|CUPY_.*|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|PYTHONHOME|PYTHONNOUSERSITE|VIRTUAL_ENV|CONDA_PREFIX|"
    r"CONDA_DEFAULT_ENV|OMP_NUM_THREADS|MKL_.*|KMP_.*|KERAS_BACKEND|USE_TF|USE_TORCH|LOCAL_RANK|RANK|WORLD_SIZE)$"
)
LIBRARIES = re.compile(
    r"(?:^|[/\\])(?:lib)?(cudart|cudnn|cublas|cuda\.so|nvcuda|cufft|curand|cusolver|cusparse|nvrtc|nvJitLink|nccl|"
    r"nvidia-ml|nvml|amdhip|hsa-runtime|rocblas|MIOpen|torch_cuda|torch_hip|torch_cpu|c10|zlibwapi|libiomp|gomp|"
    r"onnxruntime_providers|nvinfer|tensorflow_framework|nvvm|cupti)",
    re.IGNORECASE,
)


class Channel:
    """Where the facts go. Opened before anything else has run."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._mark = MARK if path == "-" else ""
        if path == "-":
            self._fd = os.dup(1)
            os.dup2(2, 1)  # whatever is printed from here on
        else:
            self._fd = self._open()

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))

    def _send(self, line: Dict[str, Any]) -> None:
        text = json.dumps(line)
        if len(text) > MAX_LINE:
            return
        data = (self._mark + text + "\n").encode("ascii")
        try:
            os.write(self._fd, data)
        except OSError:  # somebody closed all files, as daemons do
            self._fd = self._open()
            os.write(self._fd, data)

    def put(self, path: str, value: Any) -> None:
        """A fact."""
        self._send({"put": path, "value": value})

    def stage(self, name: str) -> None:
        """What is tried next: what a crash or a hang is then blamed on."""
        self._send({"stage": name})

    def done(self) -> None:
        """The section came to its end."""
        self._send({"done": True})


class Warned:
    """Collects the texts of Python's warnings in place of printing them."""

    def __init__(self) -> None:
        self.texts = []  # type: List[str]

    def __enter__(self) -> "Warned":
        self._old = warnings.showwarning
        warnings.showwarning = self._take
        warnings.simplefilter("default")
        return self

    def __exit__(self, *_details: Any) -> None:
        warnings.showwarning = self._old

    def _take(self, message: Any, category: Any, *_rest: Any, **_more: Any) -> None:
        text = "%s: %s" % (getattr(category, "__name__", "Warning"), message)
        if len(self.texts) < MAX_WARNINGS and "Deprecat" not in text.split(":")[0]:
            self.texts.append(text[:MAX_TEXT])


def told(error: BaseException) -> str:
    """An exception with what caused it, as a traceback would end."""
    parts = []
    seen = 0
    current = error  # type: Optional[BaseException]
    while current is not None and seen < 5:
        try:
            words = str(current)
        except BaseException:
            words = "(its text cannot be read)"
        parts.append("%s: %s" % (type(current).__name__, words))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        seen += 1
    return "\n".join(parts)[:MAX_TEXT]


def attempt(call: Callable[[], Any], default: Any = None) -> Any:
    """The call's value, or the default when it raises: one fact less."""
    try:
        return call()
    except BaseException:
        return default


# -- the interpreter ----------------------------------------------------------------------------------------------


def interpreter(channel: Channel, project: str) -> None:
    """Who runs, what is installed, which files would be imported."""
    import platform
    import struct
    import sysconfig

    base = getattr(sys, "base_prefix", sys.prefix)
    channel.put("interpreter.path", sys.executable)
    channel.put("interpreter.version", ".".join(str(part) for part in sys.version_info[:3]))
    channel.put("interpreter.implementation", platform.python_implementation())
    channel.put("interpreter.bits", struct.calcsize("P") * 8)
    channel.put("interpreter.machine", platform.machine())
    channel.put("interpreter.free_threaded", bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
    channel.put("interpreter.prefix", sys.prefix)
    channel.put("interpreter.base_prefix", base)
    kind, source = origin(base)
    channel.put("interpreter.kind", kind)
    if source:
        channel.put("interpreter.install_source", source)
    channel.put(
        "interpreter.externally_managed",
        os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")),
    )
    channel.put(
        "interpreter.variables", dict((k, v[:MAX_TEXT]) for k, v in sorted(os.environ.items()) if VARIABLES.match(k))
    )

    channel.stage("packages")
    packages, twice, installers, files = distributions(sys.path)
    channel.put("packages", packages)
    if twice:
        channel.put("interpreter.duplicate_packages", twice)
    channel.put("interpreter.installers", installers)
    channel.put("interpreter.package_folders", files)
    conda = conda_packages(sys.prefix)
    if conda:
        channel.put("interpreter.conda_packages", conda)

    channel.stage("modules")
    found = {}
    for name in MODULES:
        place = attempt(lambda name=name: module_file(name))  # type: ignore[misc]
        if place:
            found[name] = place
    channel.put("interpreter.module_files", found)
    shadows = shadowed(found, project)
    channel.put("interpreter.shadowed_modules", shadows)


def origin(base: str) -> Tuple[str, str]:
    """The kind of this environment and who made it."""

    def below(*names: str) -> str:
        return os.path.join(sys.prefix, *names)

    if os.path.isdir(below("conda-meta")):
        return "conda", "conda"
    if sys.prefix != base:
        words = attempt(lambda: open(below("pyvenv.cfg"), encoding="utf-8").read(), "") or ""
        if re.search(r"^uv\s*=", words, re.MULTILINE):
            return "venv", "uv"
        return "venv", "pip"
    folded = sys.prefix.replace("\\", "/").lower()
    if "/windowsapps/" in folded or "pythonsoftwarefoundation.python" in folded:
        return "store", "pip"
    if "/.pyenv/" in folded or "/pyenv-win/" in folded:
        return "pyenv", "pip"
    if "/uv/python/" in folded:
        return "uv", "uv"
    return "system", "pip"


def distributions(path: List[str]) -> Tuple[Dict[str, str], Dict[str, List[str]], Dict[str, str], Dict[str, str]]:
    """Installed distributions that matter, by the names of their metadata folders: damaged metadata cannot hide them.

    name → version (the copy that is found first), name → all versions where there are several, name → installer,
    name → the folder it lies in (frameworks and numpy only).
    """
    packages = {}  # type: Dict[str, str]
    copies = {}  # type: Dict[str, List[str]]
    installers = {}  # type: Dict[str, str]
    folders = {}  # type: Dict[str, str]
    seen = set()
    for folder in path:
        real = os.path.realpath(folder or ".")
        if real in seen:
            continue
        seen.add(real)
        for entry in sorted(attempt(lambda real=real: os.listdir(real), [])):  # type: ignore[misc]
            match = re.match(
                r"^(?P<name>[A-Za-z0-9_.\-]+?)-(?P<version>[0-9][^-]*)(?:-py[0-9.]+)?\.(?P<kind>dist|egg)-info$", entry
            )
            if match is None:
                continue
            name = re.sub(r"[-_.]+", "-", match.group("name")).lower()
            if not PACKAGES.match(name):
                continue
            version = (
                match.group("version").replace("_", "+") if "_" in match.group("version") else match.group("version")
            )
            copies.setdefault(name, []).append(version)
            if name in packages:
                continue
            packages[name] = version
            if name in FRAMEWORKS or name == "numpy" or name.split("-")[0] in ("tensorflow", "onnxruntime", "cupy"):
                folders[name] = folder
                source = os.path.join(real, entry, "INSTALLER")
                installer = attempt(lambda source=source: open(source, encoding="utf-8").read(40).strip())  # type: ignore[misc]
                if installer:
                    installers[name] = installer
    twice = dict((name, versions) for name, versions in copies.items() if len(versions) > 1)
    return packages, twice, installers, folders


def conda_packages(prefix: str) -> Dict[str, str]:
    """conda's packages that matter: name → ``version build``, from the names of its records."""
    found = {}
    for entry in attempt(lambda: os.listdir(os.path.join(prefix, "conda-meta")), []):
        match = re.match(r"^(.+)-([^-]+)-([^-]+)\.json$", entry)
        if match and (
            PACKAGES.match(match.group(1)) or re.match(r"^(cudatoolkit|cudnn|libcud|nccl|libtorch|__)", match.group(1))
        ):
            found[match.group(1)] = "%s %s" % (match.group(2), match.group(3))
    return found


def module_file(name: str) -> Optional[str]:
    """The file that ``import name`` would take, without running it; a folder without ``__init__`` is named as such."""
    import importlib.util

    if "." in name and module_file(name.split(".")[0]) is None:
        return None
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    if spec.origin and spec.origin != "namespace":
        return spec.origin
    locations = list(spec.submodule_search_locations or [])
    return locations[0] + os.sep if locations else None


def shadowed(found: Dict[str, str], project: str) -> Dict[str, str]:
    """Frameworks that a file of the user's own would hide: in the project's folder, or already first on the path."""
    import importlib.machinery

    shadows = {}
    for name in FRAMEWORKS + ("numpy",):
        place = found.get(name, "")
        if place and os.path.basename(place) in (name + ".py", name + ".pyc"):
            shadows[name] = place
        if project:
            spec = attempt(lambda name=name: importlib.machinery.PathFinder.find_spec(name, [project]))  # type: ignore[misc]
            # A folder without __init__.py hides nothing: a real package later on the path wins.
            if spec is not None and spec.origin and spec.origin != "namespace" and spec.origin != place:
                shadows[name] = spec.origin
    return shadows


# -- libraries ----------------------------------------------------------------------------------------------------


def loaded_files() -> List[str]:
    """Files mapped into this process; empty where the system does not tell."""
    if os.name == "nt":
        return windows_modules()
    if not os.path.exists("/proc/self/maps"):
        return []
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = (line.split(None, 5)[5].strip() for line in maps if line.count("/"))
        return sorted(set(path for path in paths if path.startswith("/")))


def windows_modules() -> List[str]:
    """By K32EnumProcessModulesEx (psapi.h)."""
    import ctypes

    kernel32 = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    process = ctypes.c_void_p(-1)  # this one
    handles = (ctypes.c_void_p * 2048)()
    needed = ctypes.c_uint32()
    if not kernel32.K32EnumProcessModulesEx(process, handles, ctypes.sizeof(handles), ctypes.byref(needed), 3):
        return []
    paths = []
    buffer = ctypes.create_unicode_buffer(4096)
    for handle in handles[: min(len(handles), needed.value // ctypes.sizeof(ctypes.c_void_p))]:
        if kernel32.K32GetModuleFileNameExW(process, ctypes.c_void_p(handle), buffer, len(buffer)):
            paths.append(buffer.value)
    return sorted(set(paths))


def libraries() -> List[Dict[str, str]]:
    """The CUDA, cuDNN, ROCm … libraries in this process, with versions where they tell them."""
    found = []
    for path in loaded_files():
        if LIBRARIES.search(path) is None:
            continue
        entry = {"name": os.path.basename(path), "path": path}
        version = attempt(lambda path=path: library_version(path))  # type: ignore[misc]
        if version:
            entry["version"] = version
        found.append(entry)
    return found[:80]


def library_version(path: str) -> Optional[str]:
    """Asks a library that is loaded already; only those whose version call needs no GPU."""
    import ctypes

    name = os.path.basename(path).lower()
    if re.match(r"^(lib)?cudnn(\.so|64_)", name):
        function = ctypes.CDLL(path).cudnnGetVersion
        function.restype = ctypes.c_size_t
        return cudnn_text(int(function()))
    if re.match(r"^(lib)?cudart", name):
        number = ctypes.c_int()
        if ctypes.CDLL(path).cudaRuntimeGetVersion(ctypes.byref(number)) == 0:
            return cuda_text(number.value)
    return None


def cuda_text(number: int) -> str:
    """12040 → 12.4."""
    return "%d.%d" % (number // 1000, number % 1000 // 10)


def cudnn_text(number: int) -> str:
    """8902 → 8.9.2 (cudnn_version.h up to 8), 90100 → 9.1.0 (from 9 on)."""
    if number >= 90000:
        return "%d.%d.%d" % (number // 10000, number % 10000 // 100, number % 100)
    return "%d.%d.%d" % (number // 1000, number % 1000 // 100, number % 100)


def driver(channel: Channel, _project: str) -> None:
    """What the CUDA driver library says by itself: no framework, no context, no memory on the GPU."""
    import ctypes

    names = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
    library = None
    error = ""
    for name in names:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError as found:
            error = error or str(found)
    if library is None:
        channel.put("driver.cuda_library_error", error[:MAX_TEXT])
        return
    places = [path for path in attempt(loaded_files, []) if re.search(r"[/\\](libcuda\.so|nvcuda\.dll)", path, re.I)]
    if places:
        channel.put("driver.cuda_library_path", places[0])
    number = ctypes.c_int()
    if library.cuDriverGetVersion(ctypes.byref(number)) == 0 and number.value > 0:
        channel.put("driver.cuda_library_level", cuda_text(number.value))
    channel.stage("cuInit")
    code = int(library.cuInit(0))
    channel.put("driver.cuda_init_code", code)
    if code:
        words = ctypes.c_char_p()
        if attempt(lambda: library.cuGetErrorName(code, ctypes.byref(words)), 1) == 0 and words.value:
            channel.put("driver.cuda_init_error", words.value.decode("ascii", "replace"))
        return
    if library.cuDeviceGetCount(ctypes.byref(number)) == 0:
        channel.put("driver.cuda_device_count", number.value)


# -- frameworks ---------------------------------------------------------------------------------------------------


def load(channel: Channel, name: str) -> Any:
    """The imported framework; None, with its error told, when that fails. Also a module that is an empty shell."""
    channel.stage("import " + name)
    begin = time.time()
    try:
        module = __import__(name)
    except BaseException as error:
        channel.put(name + ".import_ok", False)
        channel.put(name + ".error", told(error))
        return None
    channel.put(name + ".import_seconds", round(time.time() - begin, 2))
    place = getattr(module, "__file__", None)
    channel.put(name + ".file", place or attempt(lambda: list(module.__path__)[0] + os.sep))
    version = getattr(module, "__version__", None)
    if version is None:
        channel.put(name + ".import_ok", False)
        channel.put(
            name + ".error", "ImportError: '%s' was imported from %s, which is not the framework" % (name, place)
        )
        return None
    channel.put(name + ".import_ok", True)
    channel.put(name + ".version", str(version))
    return module


def torch(channel: Channel, _project: str) -> None:
    """PyTorch: build, devices, the first call on the GPU."""
    with Warned() as warned:
        try:
            module = load(channel, "torch")
            if module is not None:
                torch_facts(channel, module)
        finally:
            channel.put("torch.warnings", warned.texts)
            channel.put("torch.loaded_libraries", attempt(libraries, []))


def torch_facts(channel: Channel, module: Any) -> None:
    """In the order of rising danger."""
    build = attempt(lambda: module.version.cuda)
    hip = attempt(lambda: getattr(module.version, "hip", None))
    channel.put("torch.cuda_build", build)
    channel.put("torch.hip_build", hip)
    channel.put("torch.xpu_build", attempt(lambda: getattr(module.version, "xpu", None)))
    channel.put("torch.git_version", attempt(lambda: str(module.version.git_version)[:12]))
    if build is None and hip is None:
        channel.put("torch.arch_list", [])
        channel.put("torch.cuda_available", False)
        channel.put("torch.device_count", 0)
        return
    # get_arch_list() is empty without a GPU; the flags it is made from are not.
    flags = attempt(lambda: module._C._cuda_getArchFlags())
    channel.put("torch.arch_list", flags.split() if flags else attempt(lambda: list(module.cuda.get_arch_list()), []))
    channel.stage("cudnn")
    cudnn = attempt(lambda: module.backends.cudnn.version())
    if isinstance(cudnn, int):
        channel.put("torch.cudnn_version", cudnn_text(cudnn) if hip is None else str(cudnn))
    channel.stage("torch.cuda.is_available()")
    available = bool(module.cuda.is_available())
    channel.put("torch.cuda_available", available)
    channel.put("torch.device_count", int(attempt(module.cuda.device_count, 0)))
    channel.stage("first call on the GPU")
    try:
        value = (module.zeros(1, device="cuda") + 1).item()
        channel.put("torch.first_call_ok", value == 1)
    except BaseException as error:
        channel.put("torch.first_call_ok", False)
        channel.put("torch.error", told(error))
    if not available:
        return
    channel.stage("devices")
    channel.put("torch.current_device", attempt(lambda: int(module.cuda.current_device())))
    devices = []
    for index in range(min(int(module.cuda.device_count()), 32)):
        device = {"index": index}  # type: Dict[str, Any]
        properties = attempt(lambda index=index: module.cuda.get_device_properties(index))  # type: ignore[misc]
        if properties is not None:
            device["name"] = str(properties.name)
            device["compute_capability"] = "%d.%d" % (properties.major, properties.minor)
            device["memory_total_bytes"] = int(properties.total_memory)
            arch = getattr(properties, "gcnArchName", None)
            if arch and hip is not None:  # CUDA builds put the name there
                device["arch"] = str(arch)
        for name in ("allocated", "reserved"):
            size = attempt(lambda name=name, index=index: int(getattr(module.cuda, "memory_" + name)(index)))  # type: ignore[misc]
            if size is not None:
                device["memory_%s_bytes" % name] = size
        devices.append(device)
    channel.put("torch.devices", devices)


def tensorflow(channel: Channel, _project: str) -> None:
    """TensorFlow 1 and 2. Its log goes to standard error, where the parent takes it."""
    with Warned() as warned:
        try:
            module = load(channel, "tensorflow")
            if module is not None:
                tensorflow_facts(channel, module)
        finally:
            channel.put("tensorflow.warnings", warned.texts)
            channel.put("tensorflow.loaded_libraries", attempt(libraries, []))


def tensorflow_facts(channel: Channel, module: Any) -> None:
    """In the order of rising danger."""
    channel.stage("build info")
    channel.put("tensorflow.built_with_cuda", attempt(lambda: bool(module.test.is_built_with_cuda())))
    channel.put("tensorflow.built_with_rocm", attempt(lambda: bool(module.test.is_built_with_rocm())))
    info = attempt(lambda: dict(module.sysconfig.get_build_info()), {})
    for ours, theirs in (("cuda_build", "cuda_version"), ("cudnn_build", "cudnn_version")):
        if info.get(theirs):
            channel.put("tensorflow." + ours, str(info[theirs]))
    if info.get("cuda_compute_capabilities"):
        channel.put("tensorflow.arch_list", [str(entry) for entry in info["cuda_compute_capabilities"]])
    channel.stage("list of devices")
    listed = attempt(lambda: module.config.list_physical_devices("GPU"))
    if listed is None:
        listed = attempt(lambda: module.config.experimental.list_physical_devices("GPU"))
    if listed is not None:
        channel.put("tensorflow.gpu_count", len(listed))
        details = []
        for device in listed:
            found = attempt(lambda device=device: dict(module.config.experimental.get_device_details(device)), {})  # type: ignore[misc]
            entry = {"name": str(found.get("device_name", device.name))}
            capability = found.get("compute_capability")
            if capability:
                entry["compute_capability"] = ".".join(str(part) for part in capability)
            details.append(entry)
        channel.put("tensorflow.devices", details)
    if listed == []:
        return  # nothing to initialise, and nothing more to learn
    channel.stage("device_lib.list_local_devices()")
    try:
        from tensorflow.python.client import device_lib  # type: ignore[import-not-found,import-untyped,unused-ignore]

        local = [device for device in device_lib.list_local_devices() if device.device_type == "GPU"]
        if listed is None:
            channel.put("tensorflow.gpu_count", len(local))
        channel.put(
            "tensorflow.local_devices",
            [
                {
                    "name": device.name,
                    "description": device.physical_device_desc,
                    "memory_limit_bytes": device.memory_limit,
                }
                for device in local
            ],
        )
    except BaseException as error:
        channel.put("tensorflow.error", told(error))


def jax(channel: Channel, _project: str) -> None:
    """jax: the backend it chose. ``device_count`` counts GPUs: jax itself also counts the CPU as a device."""
    with Warned() as warned:
        try:
            module = load(channel, "jax")
            if module is None:
                return
            channel.put("jax.jaxlib_version", attempt(lambda: str(__import__("jaxlib").__version__)))
            channel.stage("jax.devices()")
            try:
                devices = list(module.devices())
            except BaseException as error:
                channel.put("jax.error", told(error))
                return
            backend = str(module.default_backend())
            channel.put("jax.backend", backend)
            channel.put("jax.device_count", 0 if backend == "cpu" else len(devices))
            channel.put(
                "jax.devices", [{"name": str(getattr(device, "device_kind", device))} for device in devices[:32]]
            )
            if backend != "cpu":
                channel.stage("first call on the GPU")
                try:
                    channel.put("jax.first_call_ok", float(module.numpy.zeros(1)[0] + 1) == 1.0)
                except BaseException as error:
                    channel.put("jax.first_call_ok", False)
                    channel.put("jax.error", told(error))
        finally:
            channel.put("jax.warnings", warned.texts)
            channel.put("jax.loaded_libraries", attempt(libraries, []))


def onnxruntime(channel: Channel, _project: str) -> None:
    """ONNX Runtime: what the build offers, and what a session really gets. TensorRT is left out: it is slow to fail
    and never needed for CUDA."""
    with Warned() as warned:
        try:
            module = load(channel, "onnxruntime")
            if module is None:
                return
            offered = attempt(lambda: [str(name) for name in module.get_available_providers()])
            if offered is None:
                channel.put("onnxruntime.error", "ImportError: onnxruntime has no get_available_providers()")
                return
            channel.put("onnxruntime.available_providers", offered)
            channel.put("onnxruntime.device", attempt(lambda: str(module.get_device())))
            channel.put("onnxruntime.build_info", attempt(lambda: str(module.get_build_info())[:MAX_TEXT]))
            channel.stage("session")
            attempt(lambda: module.set_default_logger_severity(2))
            wanted = [name for name in offered if "Tensorrt" not in name and "TensorRT" not in name]
            try:
                session = module.InferenceSession(identity_model(), providers=wanted)
                providers = [str(name) for name in session.get_providers()]
                channel.put("onnxruntime.session_providers", providers)
                if "CUDAExecutionProvider" in wanted and "CUDAExecutionProvider" not in providers:
                    # Libraries from pip packages are found only after this call (ONNX Runtime 1.21 and newer).
                    channel.stage("session after preload_dlls()")
                    module.preload_dlls()
                    session = module.InferenceSession(identity_model(), providers=wanted)
                    again = [str(name) for name in session.get_providers()]
                    channel.put("onnxruntime.preloaded_session_providers", again)
            except AttributeError:
                pass  # an older ONNX Runtime has no preload_dlls()
            except BaseException as error:
                channel.put("onnxruntime.error", told(error))
        finally:
            channel.put("onnxruntime.warnings", warned.texts)
            channel.put("onnxruntime.loaded_libraries", attempt(libraries, []))


def identity_model() -> bytes:
    """A model of one Identity node on one float, as onnx.proto writes it (field numbers from there)."""

    def number(field: int, value: int) -> bytes:
        return bytes((field << 3, value))

    def block(field: int, content: bytes) -> bytes:
        return bytes((field << 3 | 2, len(content))) + content

    shape = block(2, block(1, number(1, 1)))  # TensorShapeProto: one dimension of 1
    kind = block(2, block(1, number(1, 1) + shape))  # TypeProto.Tensor of FLOAT (1)
    node = block(1, b"x") + block(2, b"y") + block(4, b"Identity")
    graph = block(1, node) + block(2, b"g") + block(11, block(1, b"x") + kind) + block(12, block(1, b"y") + kind)
    return number(1, 7) + block(7, graph) + block(8, block(1, b"") + number(2, 13))


def cupy(channel: Channel, _project: str) -> None:
    """CuPy: its CUDA, the devices, the first call."""
    with Warned() as warned:
        try:
            module = load(channel, "cupy")
            if module is None:
                return
            runtime = attempt(lambda: module.cuda.runtime)
            channel.put("cupy.is_hip", attempt(lambda: bool(runtime.is_hip)))
            build = attempt(lambda: int(module.cuda.driver.get_build_version()))
            if isinstance(build, int) and build > 1000:
                channel.put("cupy.cuda_build", cuda_text(build))
            channel.stage("device count")
            try:
                channel.put("cupy.device_count", int(runtime.getDeviceCount()))
                channel.stage("first call on the GPU")
                channel.put("cupy.first_call_ok", float((module.zeros(1) + 1)[0]) == 1.0)
            except BaseException as error:
                channel.put("cupy.first_call_ok", False)
                channel.put("cupy.error", told(error))
        finally:
            channel.put("cupy.warnings", warned.texts)
            channel.put("cupy.loaded_libraries", attempt(libraries, []))


SECTIONS = {
    "interpreter": interpreter,
    "driver": driver,
    "torch": torch,
    "tensorflow": tensorflow,
    "jax": jax,
    "onnxruntime": onnxruntime,
    "cupy": cupy,
}  # type: Dict[str, Callable[[Channel, str], None]]


def guard(limit_s: float) -> None:
    """End when the parent is gone or after the limit, whatever hangs. As in ``proof.py``."""
    if sys.platform.startswith("linux"):

        def end_with_parent() -> None:
            import ctypes

            ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL

        attempt(end_with_parent)
    parent = attempt(os.getppid)

    def watch() -> None:
        end = time.monotonic() + limit_s
        while time.monotonic() < end and attempt(os.getppid) == parent:
            threading.Event().wait(0.5)
        os._exit(3)

    thread = threading.Thread(target=watch)
    thread.daemon = True
    thread.start()


#: Far beyond what anybody waits for a section.
LIMIT_S = 900


def main(arguments: List[str]) -> None:
    """Run one section. The exit code tells nothing: ``done`` does."""
    here = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else None
    sys.path[:] = [entry for entry in sys.path if here is None or os.path.abspath(entry or ".") != here]
    channel = Channel(arguments[0])
    attempt(lambda: guard(LIMIT_S))
    SECTIONS[arguments[1]](channel, arguments[2] if len(arguments) > 2 else "")
    channel.done()
    sys.stdout.flush()
    sys.stderr.flush()
    # Frameworks can crash or hang while they are torn down, which is no fault of the user's set-up.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
