"""Knows: how to compute something known on each GPU inside the user's own interpreter, in phases that can be seen from
outside. Must not know: anything of the rest of this program, nor what anybody saw.

Runs as a child process of *that* interpreter: standard library only, Python 3.6 syntax, no import from here. What was
claimed leaves as JSON lines through a channel of its own, as with ``probe.py``, as soon as it is known.

    proof.py RESULT FRAMEWORK [name=number,...]

For each GPU: matrix products in each precision, checked element by element against Python's own arithmetic; then
phases idle, load, idle, load … of unequal length. With each load goes a block of memory of another size that is given
back afterwards, so that this process can be told by its steps where its number cannot be seen. Each edge of a phase is
a line with both clocks. Never takes more than a quarter of the memory that is free once the framework has started.
"""

import ctypes
import json
import operator
import os
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

MARK = "\x1eGPUMON "
MAX_TEXT = 4000
MAX_DEVICES = 16
SEED = 20261130
#: Elements that are checked: a block of so many rows and columns; a million products in plain Python at most.
BLOCK = 8
#: Largest matrix: from here on no card of today gets faster.
MAX_SIDE = 8192
SIDES = (256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, MAX_SIDE)
#: One product shall last about so long: short enough to end a phase in time, long enough not to measure starts.
PRODUCT_S = 0.02
#: Error allowed, as a share of the root mean square of the checked elements (which is 1 when the result is rubbish).
#: Each is ten to a hundred times the rounding of the format: 24, 11, 11 and 8 bits, with sums kept in 24 bits or, with
#: reduced precision reduction, in 11.
TOLERANCE = {"fp32": 1e-4, "tf32": 1e-2, "fp16": 2e-2, "bf16": 1e-1}
BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2}
#: Unequal on purpose: nothing that repeats by itself keeps this rhythm.
LOADS = (1.0, 0.8, 1.2, 0.9, 1.1, 0.7)
IDLES = (1.0, 1.2, 0.8, 1.1, 0.9, 1.0, 1.3)
STEPS = (1.0, 0.5, 0.75, 0.35, 0.9, 0.6)
MIB = 1 << 20
#: On the processor the best of so many short runs counts; more are made while others hold it up.
RUNS, MOST_RUNS = 5, 12
#: Of the time that it wanted to compute this process waited for a core: others had it.
WAITED = 0.1
#: Below this the library's own work space is a large part of it.
SMALL_BUDGET = 512 * MIB


class Channel:
    """Where the claims go. Opened before anything else has run. The same as in ``probe.py``."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._mark = MARK if path == "-" else ""
        if path == "-":
            self._fd = os.dup(1)
            os.dup2(2, 1)
        else:
            self._fd = self._open()

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))

    def _send(self, line: Dict[str, Any]) -> None:
        data = (self._mark + json.dumps(line) + "\n").encode("ascii")
        try:
            os.write(self._fd, data)
        except OSError:
            self._fd = self._open()
            os.write(self._fd, data)

    def put(self, path: str, value: Any) -> None:
        """A claim."""
        self._send({"put": "proof." + path, "value": value})

    def stage(self, name: str) -> None:
        """What is tried next."""
        self._send({"stage": name})

    def done(self) -> None:
        """All was tried."""
        self._send({"done": True})


def told(error: BaseException) -> str:
    """An exception with what caused it."""
    parts = []  # type: List[str]
    current = error  # type: Optional[BaseException]
    while current is not None and len(parts) < 5:
        try:
            words = str(current)
        except BaseException:
            words = "(its text cannot be read)"
        parts.append("%s: %s" % (type(current).__name__, words))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n".join(parts)[:MAX_TEXT]


def attempt(call: Callable[[], Any], default: Any = None) -> Any:
    """The call's value, or the default when it raises."""
    try:
        return call()
    except BaseException:
        return default


def clocks() -> Dict[str, float]:
    """Now, on the monotonic clock and in UTC."""
    return {"monotonic_s": round(time.monotonic(), 4), "utc_s": round(time.time(), 4)}


def pause(seconds: float) -> None:
    """Do nothing."""
    threading.Event().wait(seconds)


def is_memory(error: BaseException) -> bool:
    """Whether an exception says that memory is short, in any framework's words."""
    words = (type(error).__name__ + " " + attempt(lambda: str(error), "")).lower()
    memory = ("outofmemory", "out of memory", "resourceexhausted", "resource_exhausted", "cublas_status_alloc_failed")
    return any(word in words for word in memory)


class NoMemory(Exception):  # noqa: N818
    """Not even the smallest matrices fit."""


# -- the driver: which card an index stands for --------------------------------------------------------------------


class Driver:
    """NVIDIA's driver library, asked beside the framework: it counts as the frameworks do, within this process."""

    def __init__(self) -> None:
        self.library = None  # type: Any
        for name in ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so"):
            self.library = attempt(lambda name=name: ctypes.CDLL(name))  # type: ignore[misc]
            if self.library is not None:
                break
        if self.library is not None and attempt(lambda: self.library.cuInit(0), 1) != 0:
            self.library = None

    def _handle(self, index: int) -> Optional[ctypes.c_int]:
        handle = ctypes.c_int()
        if self.library is None or self.library.cuDeviceGet(ctypes.byref(handle), index) != 0:
            return None
        return handle

    def pci(self, index: int) -> Optional[str]:
        """``0000:01:00.0``."""
        handle = self._handle(index)
        text = ctypes.create_string_buffer(32)
        if handle is None or self.library.cuDeviceGetPCIBusId(text, 32, handle) != 0:
            return None
        return text.value.decode("ascii", "replace")

    def uuid(self, index: int) -> Optional[str]:
        """``GPU-…``; a MIG instance's own where the driver knows how."""
        handle = self._handle(index)
        raw = (ctypes.c_ubyte * 16)()
        if handle is None:
            return None
        call = getattr(self.library, "cuDeviceGetUuid_v2", None) or getattr(self.library, "cuDeviceGetUuid", None)
        if call is None or call(ctypes.byref(raw), handle) != 0:
            return None
        digits = "".join("%02x" % byte for byte in raw)
        return "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def memory(self, index: int) -> Optional[Tuple[int, int]]:
        """Free and total bytes, by the context that the framework itself uses."""
        handle = self._handle(index)
        context = ctypes.c_void_p()
        if handle is None or self.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle) != 0:
            return None
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        old = ctypes.c_void_p()
        if self.library.cuCtxPushCurrent_v2(context) != 0:
            return None
        code = self.library.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        self.library.cuCtxPopCurrent_v2(ctypes.byref(old))
        return (free.value, total.value) if code == 0 else None


def hip_pci(index: int) -> Optional[str]:
    """AMD's word for the card behind an index, by the library the process has loaded."""
    with open("/proc/self/maps") as maps:
        paths = [line.split()[-1] for line in maps if "libamdhip64" in line]
    text = ctypes.create_string_buffer(32)
    library = ctypes.CDLL(paths[0])
    return text.value.decode("ascii", "replace") if library.hipDeviceGetPCIBusId(text, 32, index) == 0 else None


# -- frameworks ----------------------------------------------------------------------------------------------------


class Backend:
    """What is asked of a framework. ``place`` is a GPU's index, or None for the CPU."""

    name = ""
    #: Whether it can compute without a GPU.
    has_cpu = True
    #: Whether memory that is given up goes back to the driver at once: else blocks tell nothing.
    gives_back = True
    #: So many short products are started as one, where starting one takes longer than computing it.
    group = 1

    def __init__(self) -> None:
        self.driver = Driver()
        self.cpu_reason = ""
        self.error = ""

    def version(self) -> str:
        """As the framework states it."""
        raise NotImplementedError

    def devices(self) -> List[Dict[str, Any]]:
        """The GPUs it sees: ``index``, ``name``, ``pci``, ``uuid`` … Empty: sets ``cpu_reason`` and ``error``."""
        raise NotImplementedError

    def memory(self, place: int) -> Optional[Tuple[int, int]]:
        """Free and total bytes."""
        return self.driver.memory(place)

    def limit(self, place: int, share: float) -> None:
        """Forbid to take more than this share of the whole memory, where the framework can."""

    def precisions(self, device: Dict[str, Any]) -> List[str]:
        """What is worth measuring."""
        raise NotImplementedError

    def set_precision(self, precision: str) -> None:
        """Switch what stands for products of 32 bit numbers."""

    def matrix(self, side: int, precision: str, place: Optional[int], seed: int) -> Any:
        """Numbers between -0.5 and 0.5 by a seed."""
        raise NotImplementedError

    def product(self, left: Any, right: Any) -> Any:
        """Their matrix product; may return before it is done."""
        raise NotImplementedError

    def products(self, left: Any, right: Any, times: int, group: int) -> Any:
        """So many of them, ``group`` (1 or the framework's own) started as one, and the last result; may return before
        they are done."""
        result = None
        for _ in range(times):
            result = self.product(left, right)
        return result

    def wait(self, result: Any, place: Optional[int]) -> None:
        """Until it is done."""
        raise NotImplementedError

    def corner(self, matrix: Any, rows: int, columns: int) -> List[List[float]]:
        """The upper left part as numbers."""
        raise NotImplementedError

    def where(self, result: Any) -> str:
        """Where the framework says that it lies."""
        raise NotImplementedError

    def block(self, size: int, place: int) -> Any:
        """Memory that is written to, or None."""
        raise NotImplementedError

    def release(self) -> None:
        """Give memory that nobody holds back to the driver."""


class Torch(Backend):
    """PyTorch, with CUDA or ROCm."""

    name = "torch"

    def __init__(self) -> None:
        Backend.__init__(self)
        import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]

        self.torch = torch  # type: Any
        self.hip = attempt(lambda: getattr(torch.version, "hip", None))

    def version(self) -> str:
        return str(self.torch.__version__)

    def devices(self) -> List[Dict[str, Any]]:
        torch = self.torch
        build = attempt(lambda: torch.version.cuda)
        if build is None and self.hip is None:
            self.cpu_reason = "cpu-build"
            return []
        if not torch.cuda.is_available():
            self.cpu_reason = "no-gpu-seen"
            try:
                torch.zeros(1, device="cuda")
            except BaseException as error:
                self.error = told(error)
            return []
        found = []
        for index in range(min(int(torch.cuda.device_count()), MAX_DEVICES)):
            properties = torch.cuda.get_device_properties(index)
            device = {"index": index, "name": str(properties.name)}  # type: Dict[str, Any]
            capability = attempt(lambda p=properties: (int(p.major), int(p.minor)))  # type: ignore[misc]
            if capability is not None and self.hip is None:
                device["compute_capability"] = "%d.%d" % capability
            uuid = attempt(lambda p=properties: str(p.uuid))  # type: ignore[misc]
            if uuid and self.hip is None:
                device["uuid"] = uuid if uuid.startswith(("GPU-", "MIG-")) else "GPU-" + uuid
            pci = attempt(
                lambda p=properties: "%04x:%02x:%02x.0" % (p.pci_domain_id, p.pci_bus_id, p.pci_device_id)  # type: ignore[misc]
            )
            # The driver's word first: the framework is the one that is being checked.
            device["pci"] = attempt(lambda i=index: hip_pci(i) if self.hip else self.driver.pci(i)) or pci  # type: ignore[misc]
            if "uuid" not in device and self.hip is None:
                device["uuid"] = attempt(lambda i=index: self.driver.uuid(i))  # type: ignore[misc]
            found.append(device)
        return found

    def memory(self, place: int) -> Optional[Tuple[int, int]]:
        free, total = self.torch.cuda.mem_get_info(place)
        return int(free), int(total)

    def limit(self, place: int, share: float) -> None:
        budget = share * self.memory(place)[1]  # type: ignore[index]
        if budget < SMALL_BUDGET:  # else cuBLAS takes two work spaces of 32 MiB on recent cards; read at its first use
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:2")
            os.environ.setdefault("CUBLASLT_WORKSPACE_SIZE", "4096")
        attempt(lambda: self.torch.cuda.set_per_process_memory_fraction(share, place))

    def precisions(self, device: Dict[str, Any]) -> List[str]:
        capability = attempt(lambda: float(device["compute_capability"]), 0.0)
        if self.hip is not None:
            return ["fp32", "fp16", "bf16"]
        return ["fp32", "tf32", "fp16", "bf16"] if capability >= 8.0 else ["fp32", "fp16"]

    def set_precision(self, precision: str) -> None:
        def switch() -> None:
            self.torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"

        attempt(switch)

    def _device(self, place: Optional[int]) -> Any:
        return self.torch.device("cpu" if place is None else "cuda:%d" % place)

    def matrix(self, side: int, precision: str, place: Optional[int], seed: int) -> Any:
        torch = self.torch
        torch.manual_seed(seed)
        kind = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(precision, torch.float32)
        return torch.empty((side, side), dtype=kind, device=self._device(place)).uniform_(-0.5, 0.5)

    def product(self, left: Any, right: Any) -> Any:
        return self.torch.matmul(left, right)

    def wait(self, result: Any, place: Optional[int]) -> None:
        if place is not None:
            self.torch.cuda.synchronize(place)

    def corner(self, matrix: Any, rows: int, columns: int) -> List[List[float]]:
        return list(matrix[:rows, :columns].to(self.torch.float32).cpu().tolist())

    def where(self, result: Any) -> str:
        return str(result.device)

    def block(self, size: int, place: int) -> Any:
        return self.torch.ones(size, dtype=self.torch.uint8, device=self._device(place))

    def release(self) -> None:
        attempt(lambda: self.torch._C._cuda_clearCublasWorkspaces())
        attempt(lambda: self.torch.cuda.empty_cache())


class TensorFlow(Backend):
    """TensorFlow 2 (and late 1.x) in eager mode. Its allocator keeps what it once took."""

    name = "tensorflow"
    gives_back = False

    def __init__(self) -> None:
        Backend.__init__(self)
        import tensorflow  # type: ignore[import-not-found,import-untyped,unused-ignore]

        self.tf = tensorflow  # type: Any
        if not attempt(lambda: self.tf.executing_eagerly(), False):
            self.tf.compat.v1.enable_eager_execution()

    def version(self) -> str:
        return str(self.tf.__version__)

    def devices(self) -> List[Dict[str, Any]]:
        tf = self.tf
        config = tf.config
        listed = attempt(lambda: config.list_physical_devices("GPU"))
        if listed is None:
            listed = config.experimental.list_physical_devices("GPU")
        if not listed:
            has_gpu = attempt(lambda: bool(tf.test.is_built_with_cuda()) or bool(tf.test.is_built_with_rocm()), False)
            self.cpu_reason = "no-gpu-seen" if has_gpu else "cpu-build"
            return []
        found = []
        for index, each in enumerate(listed[:MAX_DEVICES]):
            attempt(lambda d=each: config.experimental.set_memory_growth(d, True))  # type: ignore[misc]
            details = attempt(lambda d=each: dict(config.experimental.get_device_details(d)), {})  # type: ignore[misc]
            device = {"index": index, "name": str(details.get("device_name", each.name))}  # type: Dict[str, Any]
            if details.get("compute_capability"):
                device["compute_capability"] = ".".join(str(part) for part in details["compute_capability"])
            device["pci"] = attempt(lambda i=index: self.driver.pci(i))  # type: ignore[misc]
            device["uuid"] = attempt(lambda i=index: self.driver.uuid(i))  # type: ignore[misc]
            found.append(device)
        return found

    def precisions(self, device: Dict[str, Any]) -> List[str]:
        capability = attempt(lambda: float(device["compute_capability"]), 0.0)
        return ["fp32", "tf32", "fp16", "bf16"] if capability >= 8.0 else ["fp32", "fp16"]

    def set_precision(self, precision: str) -> None:
        attempt(lambda: self.tf.config.experimental.enable_tensor_float_32_execution(precision == "tf32"))

    def _at(self, place: Optional[int]) -> Any:
        return self.tf.device("/CPU:0" if place is None else "/GPU:%d" % place)

    def matrix(self, side: int, precision: str, place: Optional[int], seed: int) -> Any:
        tf = self.tf
        kind = {"fp16": tf.float16, "bf16": tf.bfloat16}.get(precision, tf.float32)
        with self._at(place):
            return tf.cast(tf.random.stateless_uniform((side, side), (seed, 1), -0.5, 0.5), kind)

    def product(self, left: Any, right: Any) -> Any:
        device = attempt(lambda: left.device, "")
        with self.tf.device(device):
            return self.tf.matmul(left, right)

    def wait(self, result: Any, place: Optional[int]) -> None:
        result[0, 0].numpy()

    def corner(self, matrix: Any, rows: int, columns: int) -> List[List[float]]:
        return list(self.tf.cast(matrix[:rows, :columns], self.tf.float32).numpy().tolist())

    def where(self, result: Any) -> str:
        return str(result.device)

    def block(self, size: int, place: int) -> Any:
        with self._at(place):
            return self.tf.ones((size,), self.tf.uint8)


class Jax(Backend):
    """jax. Its computations go to the device on which the matrices lie. Starting one takes some 0.1 ms, and with memory
    that goes back to the driver each waits for the GPU."""

    name = "jax"
    group = 16

    def __init__(self) -> None:
        Backend.__init__(self)
        import jax  # type: ignore[import-not-found,import-untyped,unused-ignore]

        self.jax = jax  # type: Any
        self.precision = "highest"
        self._devices = []  # type: List[Any]
        self._chains = {}  # type: Dict[str, Any]

    def version(self) -> str:
        return str(self.jax.__version__)

    def devices(self) -> List[Dict[str, Any]]:
        try:
            self._devices = [each for each in self.jax.local_devices() if each.platform != "cpu"]
        except BaseException as error:
            self.error = told(error)
            self._devices = []
        if not self._devices:
            import importlib.util

            plugins = []  # type: List[str]
            for name in ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin"):
                if attempt(lambda n=name: importlib.util.find_spec(n)):  # type: ignore[misc]
                    plugins.append(name)
            self.cpu_reason = "no-gpu-seen" if plugins else "cpu-build"
            return []
        found = []
        for index, each in enumerate(self._devices[:MAX_DEVICES]):
            ordinal = attempt(lambda d=each: int(d.local_hardware_id), index)  # type: ignore[misc]
            device = {"index": index, "name": str(getattr(each, "device_kind", each))}  # type: Dict[str, Any]
            capability = attempt(lambda d=each: str(d.compute_capability))  # type: ignore[misc]
            if capability:
                device["compute_capability"] = capability
            device["pci"] = attempt(lambda o=ordinal: self.driver.pci(o))  # type: ignore[misc]
            device["uuid"] = attempt(lambda o=ordinal: self.driver.uuid(o))  # type: ignore[misc]
            found.append(device)
        return found

    def memory(self, place: int) -> Optional[Tuple[int, int]]:
        ordinal = attempt(lambda: int(self._devices[place].local_hardware_id), place)
        return self.driver.memory(ordinal)

    def precisions(self, device: Dict[str, Any]) -> List[str]:
        capability = attempt(lambda: float(device["compute_capability"]), 0.0)
        return ["fp32", "tf32", "fp16", "bf16"] if capability >= 8.0 else ["fp32", "fp16"]

    def set_precision(self, precision: str) -> None:
        self.precision = "highest" if precision == "fp32" else "default"

    def _device(self, place: Optional[int]) -> Any:
        return self.jax.devices("cpu")[0] if place is None else self._devices[place]

    def matrix(self, side: int, precision: str, place: Optional[int], seed: int) -> Any:
        jax = self.jax
        numpy = jax.numpy
        kind = {"fp16": numpy.float16, "bf16": numpy.bfloat16}.get(precision, numpy.float32)
        with jax.default_device(self._device(place)):
            return jax.random.uniform(jax.random.PRNGKey(seed), (side, side), numpy.float32, -0.5, 0.5).astype(kind)

    def product(self, left: Any, right: Any) -> Any:
        return self.jax.numpy.matmul(left, right, precision=self.precision)

    def products(self, left: Any, right: Any, times: int, group: int) -> Any:
        if group == 1:
            return Backend.products(self, left, right, times, group)
        chain = self._chains.get(self.precision)
        if chain is None:
            chain = self._chains[self.precision] = self.jax.jit(self._chain(self.precision))
        result = None
        for _ in range(times // group):
            result = chain(left, right)
        return result

    def _chain(self, precision: str) -> Callable[[Any, Any], Any]:
        """``group`` products, each of which needs the one before: else a compiler would keep only one of them."""
        lax, matmul = self.jax.lax, self.jax.numpy.matmul

        def chain(left: Any, right: Any) -> Any:
            def step(_number: Any, carry: Any) -> Any:
                left, result = carry
                # Adds nothing, but for all that a compiler knows it could: 0 times infinity is no number.
                corner = left[:1, :1] + 0 * result[:1, :1]
                left = lax.dynamic_update_slice(left, corner, (0, 0))
                return left, matmul(left, right, precision=precision)

            first = matmul(left, right, precision=precision)
            return lax.fori_loop(0, self.group - 1, step, (left, first))[1]

        return chain

    def wait(self, result: Any, place: Optional[int]) -> None:
        result.block_until_ready()

    def corner(self, matrix: Any, rows: int, columns: int) -> List[List[float]]:
        return list(matrix[:rows, :columns].astype(self.jax.numpy.float32).tolist())

    def where(self, result: Any) -> str:
        return str(attempt(lambda: list(result.devices())[0]) or result.device())

    def block(self, size: int, place: int) -> Any:
        with self.jax.default_device(self._device(place)):
            made = self.jax.numpy.ones((size,), self.jax.numpy.uint8)
        made.block_until_ready()
        return made


class CuPy(Backend):
    """CuPy; its CPU side is NumPy."""

    name = "cupy"
    has_cpu = False

    def __init__(self) -> None:
        Backend.__init__(self)
        import cupy  # type: ignore[import-not-found,import-untyped,unused-ignore]
        import numpy

        self.cupy = cupy  # type: Any
        self.numpy = numpy  # type: Any

    def version(self) -> str:
        return str(self.cupy.__version__)

    def devices(self) -> List[Dict[str, Any]]:
        try:
            count = int(self.cupy.cuda.runtime.getDeviceCount())
        except BaseException as error:
            self.cpu_reason = "no-gpu-seen"
            self.error = told(error)
            return []
        found = []
        for index in range(min(count, MAX_DEVICES)):
            properties = attempt(lambda i=index: self.cupy.cuda.runtime.getDeviceProperties(i), {})  # type: ignore[misc]
            name = properties.get("name", b"")
            device = {"index": index, "name": name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)}  # type: Dict[str, Any]
            if "major" in properties:
                device["compute_capability"] = "%d.%d" % (properties["major"], properties["minor"])
            own = attempt(lambda i=index: str(self.cupy.cuda.Device(i).pci_bus_id))  # type: ignore[misc]
            device["pci"] = attempt(lambda i=index: self.driver.pci(i)) or own  # type: ignore[misc]
            device["uuid"] = attempt(lambda i=index: self.driver.uuid(i))  # type: ignore[misc]
            found.append(device)
        return found

    def memory(self, place: int) -> Optional[Tuple[int, int]]:
        with self.cupy.cuda.Device(place):
            free, total = self.cupy.cuda.runtime.memGetInfo()
        return int(free), int(total)

    def precisions(self, device: Dict[str, Any]) -> List[str]:
        return ["fp32", "fp16"]

    def matrix(self, side: int, precision: str, place: Optional[int], seed: int) -> Any:
        count = side * side
        if place is None:
            return (self.numpy.random.RandomState(seed).rand(side, side) - 0.5).astype("float32")
        kind = "float16" if precision == "fp16" else "float32"
        with self.cupy.cuda.Device(place):
            numbers = self.cupy.arange(count, dtype="uint32") * (2654435761 % (1 << 32)) + seed
            return ((numbers >> 8).astype("float32") / (1 << 24) - 0.5).astype(kind).reshape(side, side)

    def product(self, left: Any, right: Any) -> Any:
        if isinstance(left, self.numpy.ndarray):
            return left @ right
        with left.device:
            return left @ right

    def wait(self, result: Any, place: Optional[int]) -> None:
        if place is not None:
            self.cupy.cuda.Device(place).synchronize()

    def corner(self, matrix: Any, rows: int, columns: int) -> List[List[float]]:
        return list(matrix[:rows, :columns].astype("float32").tolist())

    def where(self, result: Any) -> str:
        return "cpu" if isinstance(result, self.numpy.ndarray) else "cuda:%d" % result.device.id

    def block(self, size: int, place: int) -> Any:
        with self.cupy.cuda.Device(place):
            made = self.cupy.ones((size,), "uint8")
            self.cupy.cuda.Device(place).synchronize()
        return made

    def release(self) -> None:
        attempt(lambda: self.cupy.get_default_memory_pool().free_all_blocks())


BACKENDS = {"torch": Torch, "tensorflow": TensorFlow, "jax": Jax, "cupy": CuPy}  # type: Dict[str, Any]


# -- measuring -----------------------------------------------------------------------------------------------------


def error_of(backend: Backend, left: Any, right: Any, result: Any, side: int) -> float:
    """The largest error of the checked elements, as a share of their root mean square. NaN counts as infinite."""
    rows = backend.corner(left, BLOCK, side)
    columns = list(zip(*backend.corner(right, side, BLOCK)))
    got = backend.corner(result, BLOCK, BLOCK)
    wanted = [[sum(map(operator.mul, row, column)) for column in columns] for row in rows]
    square = sum(value * value for line in wanted for value in line) / float(BLOCK * BLOCK)
    worst = 0.0
    for line, truth in zip(got, wanted):
        for value, right_value in zip(line, truth):
            off = abs(value - right_value)
            worst = max(worst, off if off == off else 1e30)
    return min(worst / (square**0.5 if square > 0 else 1e-30), 1e30)


def timed(
    backend: Backend, left: Any, right: Any, place: Optional[int], times: int, group: int = 1
) -> Tuple[float, Any]:
    """Seconds for so many products, and the last one."""
    begin = time.perf_counter()
    result = backend.products(left, right, times, group)
    backend.wait(result, place)
    return max(time.perf_counter() - begin, 1e-7), result


def pace(backend: Backend, left: Any, right: Any, place: Optional[int]) -> Tuple[float, int]:
    """Seconds for one product, everything loaded and compiled, and how many are best started as one."""
    timed(backend, left, right, place, 1)
    each = timed(backend, left, right, place, 1)[0]
    group = backend.group if place is not None and each <= PRODUCT_S / 2 else 1
    few = max(3, group)
    if group > 1:
        timed(backend, left, right, place, few, group)
    return timed(backend, left, right, place, few, group)[0] / few, group


def whole(times: float, group: int) -> int:
    """About so many products, in whole groups."""
    return max(group, int(times) // group * group)


def side_for(flops_per_s: float, limit: int, seconds: float) -> int:
    """The side of matrices whose product lasts about so long."""
    wanted = (max(flops_per_s, 1.0) * seconds / 2) ** (1 / 3.0)
    fitting = [side for side in SIDES if side <= min(wanted, limit)]
    return fitting[-1] if fitting else SIDES[0]


def measure(backend: Backend, precision: str, place: Optional[int], limit: int, seconds: float) -> Dict[str, Any]:
    """One precision: the result's error and the speed. Smaller matrices when memory is short. Raises NoMemory."""
    while True:
        try:
            return measured(backend, precision, place, limit, seconds)
        except BaseException as error:
            if not is_memory(error):
                raise
        smaller = [side for side in SIDES if side < limit]
        backend.release()
        if not smaller:
            raise NoMemory()
        limit = smaller[-1]


def measured(backend: Backend, precision: str, place: Optional[int], limit: int, seconds: float) -> Dict[str, Any]:
    """The same, for matrices no larger than ``limit``."""
    backend.set_precision(precision)
    side = min(limit, 512 if place is None else 1024)
    left = backend.matrix(side, precision, place, SEED)
    right = backend.matrix(side, precision, place, SEED + 1)
    each, _group = pace(backend, left, right, place)
    side = side_for(2.0 * side**3 / each, limit, PRODUCT_S)
    del left, right
    left = backend.matrix(side, precision, place, SEED)
    right = backend.matrix(side, precision, place, SEED + 1)
    each, group = pace(backend, left, right, place)
    is_busy = False
    if place is None:
        lost = Lost()
        times = whole(min(seconds / RUNS / each, 2000), group)
        runs = []  # type: List[float]
        while len(runs) < RUNS or (len(runs) < MOST_RUNS and lost.share() > WAITED):
            now, result = timed(backend, left, right, place, times, group)
            runs.append(now)
        took, is_busy = min(runs), lost.share() > WAITED
    else:
        times = whole(min(seconds / each, 2000), group)
        took, result = timed(backend, left, right, place, times, group)
    off = error_of(backend, left, right, result, side)
    return {
        "side": side,
        "error": off,
        "tolerance": TOLERANCE[precision],
        "right": off <= TOLERANCE[precision],
        "flops_per_s": 2.0 * side**3 * times / took,
        "seconds": round(took, 6),
        "products": times,
        "group": group,
        "busy": is_busy,
        "where": backend.where(result),
    }


class Lost:
    """The share of the time since it was made in which this process wanted a core that others had."""

    def __init__(self) -> None:
        self._since = attempt(self._now)

    def share(self) -> float:
        """0 to 1; 0 where nothing tells."""
        now = attempt(self._now)
        if now is None or self._since is None:
            return 0.0
        used, waited, others = (max(0.0, after - before) for after, before in zip(now, self._since))
        lost = min(waited, others)  # threads of one process can wait for each other
        return lost / (used + lost) if lost > 0 else 0.0

    @staticmethod
    def _now() -> Tuple[float, float, float]:
        """Seconds of all threads and cores together: computed, waited for a core, computed by others."""
        used = time.process_time()
        if sys.platform == "win32":  # nothing counts the waiting: what others use beyond the cores that are idle
            idle, kernel, user = (ctypes.c_ulonglong() for _ in range(3))
            ctypes.windll.kernel32.GetSystemTimes(ctypes.byref(idle), ctypes.byref(kernel), ctypes.byref(user))
            others = (kernel.value + user.value - idle.value) / 1e7 - used  # the kernel's time includes the idle one
            return used, others - idle.value / 1e7, others
        with open("/proc/stat") as stat:
            ticks = [int(word) for word in stat.readline().split()[1:9]]
        others = (sum(ticks) - ticks[3] - ticks[4]) / float(os.sysconf("SC_CLK_TCK")) - used  # idle, waiting for disks
        waited = 0.0
        for thread in os.listdir("/proc/self/task"):
            with open("/proc/self/task/%s/schedstat" % thread) as schedule:
                waited += int(schedule.read().split()[1]) / 1e9
        return used, waited, others


def on_cpu(channel: Channel, backend: Backend) -> None:
    """The same kind of work on the processor, smaller: the parent extrapolates."""
    channel.stage("CPU")
    try:
        channel.put("cpu", measure(backend, "fp32", None, 1024, 0.25))
    except NoMemory:
        channel.put("cpu", {"error_text": "out of memory"})
    except BaseException as error:
        channel.put("cpu", {"error_text": told(error)})


def on_device(channel: Channel, backend: Backend, device: Dict[str, Any], options: Dict[str, float]) -> None:
    """One GPU: every precision, then the phases."""
    place = device["index"]
    path = "devices.%d." % place
    channel.stage("memory of GPU %d" % place)
    found = backend.memory(place)
    if found is None:
        raise RuntimeError("the free memory of GPU %d is not known" % place)
    free, total = found
    budget = int(free * options["share"])
    channel.put(path + "memory", {"free_bytes": free, "total_bytes": total, "budget_bytes": budget})
    if budget < 4 * MIB:
        raise NoMemory()
    backend.limit(place, min(1.0, budget / float(total)))
    best = ""
    runs = {}  # type: Dict[str, Any]
    for precision in backend.precisions(device):
        channel.stage("%s on GPU %d" % (precision, place))
        # Three matrices in half of the budget: the other half is for the library's work space and the block.
        limit = max([side for side in SIDES if 3 * BYTES[precision] * side * side <= budget // 2] or [SIDES[0]])
        try:
            run = measure(backend, precision, place, limit, options["measure"])
        except NoMemory:
            run = {"problem": "little-memory"}
        except BaseException as error:
            run = {"problem": "failed", "error_text": told(error)}
        runs[precision] = run
        channel.put(path + "runs." + precision, run)
        backend.release()
        speed = run.get("flops_per_s", 0.0)
        if speed and (not best or speed > runs[best]["flops_per_s"]):
            best = precision
    if not best:
        return
    phases(channel, backend, place, path, best, runs[best], budget, options)


def phases(
    channel: Channel,
    backend: Backend,
    place: int,
    path: str,
    precision: str,
    run: Dict[str, Any],
    budget: int,
    options: Dict[str, float],
) -> None:
    """Idle, load, idle, load … with the matrices kept, the block coming and going."""
    backend.set_precision(precision)
    group = run["group"]
    side, largest = rehearsed(backend, place, precision, run["side"], group, budget, options)
    left = backend.matrix(side, precision, place, SEED)
    right = backend.matrix(side, precision, place, SEED + 1)
    few = whole(2, group)
    took, result = timed(backend, left, right, place, few, group)
    times = whole(min(500.0, 0.03 * few / took), group)
    result = None
    backend.release()  # the first rest is to be like the others
    repeats = int(options["repeats"])
    number = 0
    for turn in range(repeats + 1):
        idle(channel, path, number, IDLES[turn % len(IDLES)] * options["phase"])
        number += 1
        if turn == repeats:
            break
        channel.stage("load %d on GPU %d" % (turn + 1, place))
        size = int(largest * STEPS[turn % len(STEPS)]) // MIB * MIB
        block = None
        try:
            block = backend.block(size, place) if size else None
        except BaseException as error:
            if not is_memory(error):
                raise
            size = 0
        channel.put(path + "phases.%d" % number, {"kind": "load", "block_bytes": size, "begin": clocks()})
        begin, begin_cpu = time.perf_counter(), time.process_time()
        end = begin + LOADS[turn % len(LOADS)] * options["phase"]
        done = 0
        while time.perf_counter() < end:
            _took, result = timed(backend, left, right, place, times, group)
            done += times
        took = max(time.perf_counter() - begin, 1e-7)
        ended = {
            "end": clocks(),
            "precision": precision,
            "flops_per_s": 2.0 * side**3 * done / took,
            "cpu_s": round(time.process_time() - begin_cpu, 4),
        }
        for name in sorted(ended):
            channel.put(path + "phases.%d.%s" % (number, name), ended[name])
        number += 1
        del block
        backend.release()
    backend.set_precision("fp32")
    channel.put(path + "where", backend.where(result))
    del left, right, result
    backend.release()


def rehearsed(
    backend: Backend, place: int, precision: str, side: int, group: int, budget: int, options: Dict[str, float]
) -> Tuple[int, int]:
    """The side of the matrices and the largest block with which a load goes through. Raises NoMemory."""
    while True:
        spare = budget - 4 * BYTES[precision] * side * side
        largest = max(0, min(int(spare * 0.5), int(options["block_mib"]) * MIB)) // MIB * MIB
        for size in (largest, largest // 4 // MIB * MIB, 0) if backend.gives_back else (0,):
            try:
                left = backend.matrix(side, precision, place, SEED)
                right = backend.matrix(side, precision, place, SEED + 1)
                block = backend.block(size, place) if size else None
                _took, result = timed(backend, left, right, place, whole(3, group), group)
                del left, right, block, result
                backend.release()
                return side, size
            except BaseException as error:
                if not is_memory(error):
                    raise
            left = right = block = result = None
            backend.release()
        smaller = [each for each in SIDES if each < side]
        if not smaller:
            raise NoMemory()
        side = smaller[-1]


def idle(channel: Channel, path: str, number: int, seconds: float) -> None:
    """A phase without work."""
    channel.put(path + "phases.%d" % number, {"kind": "idle", "begin": clocks()})
    pause(seconds)
    channel.put(path + "phases.%d.end" % number, clocks())


def end_with_parent() -> None:
    """Linux: the kernel ends this process with its parent, even one that is stopped or hangs in a library."""
    if sys.platform.startswith("linux"):
        attempt(lambda: ctypes.CDLL(None).prctl(1, 9, 0, 0, 0))  # PR_SET_PDEATHSIG, SIGKILL


def guard(limit_s: float) -> None:
    """End when the parent is gone or after the limit, whatever hangs: inside WSL nobody else can end this process."""
    end_with_parent()
    parent = attempt(os.getppid)

    def watch() -> None:
        end = time.monotonic() + limit_s
        while time.monotonic() < end and attempt(os.getppid) == parent:
            pause(0.5)
        os._exit(3)

    thread = threading.Thread(target=watch)
    thread.daemon = True
    thread.start()


def namespace_pids() -> List[int]:
    """This process's numbers, from the outermost namespace that can be seen to its own."""
    with open("/proc/self/status") as status:
        lines = [line for line in status if line.startswith("NSpid:")]
    return [int(word) for word in lines[0].split()[1:]]


def prove(channel: Channel, name: str, options: Dict[str, float]) -> None:
    """All GPUs that the framework sees, or the processor."""
    channel.put("framework", name)
    channel.put("pid", os.getpid())
    channel.put("parent_pid", attempt(os.getppid))
    channel.put("namespace_pids", attempt(namespace_pids, []))
    channel.put("clock", clocks())
    channel.put("cores", os.cpu_count())
    channel.stage("import " + name)
    try:
        backend = BACKENDS[name]()
        channel.put("version", backend.version())
        channel.stage("list of GPUs")
        devices = backend.devices()
    except BaseException as error:
        channel.put("error", told(error))
        return
    for device in devices:
        channel.put("devices.%d" % device["index"], device)
    if not devices:
        channel.put("cpu_reason", backend.cpu_reason)
        if backend.error:
            channel.put("error", backend.error)
    if devices or backend.has_cpu:
        on_cpu(channel, backend)
    order = [device for device in devices if int(options["only"]) in (-1, device["index"])]
    for device in order:
        path = "devices.%d." % device["index"]
        try:
            on_device(channel, backend, device, options)
        except NoMemory:
            channel.put(path + "problem", "little-memory")
        except BaseException as error:
            channel.put(path + "problem", "little-memory" if is_memory(error) else "failed")
            channel.put(path + "error", told(error))
        backend.release()


OPTIONS = {"share": 0.25, "phase": 1.0, "repeats": 4, "measure": 0.25, "block_mib": 512, "only": -1, "limit": 900}


def main(arguments: List[str]) -> None:
    """Prove one framework. The exit code tells nothing: ``done`` does."""
    here = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else None
    sys.path[:] = [entry for entry in sys.path if here is None or os.path.abspath(entry or ".") != here]
    options = dict(OPTIONS)  # type: Dict[str, float]
    for part in (arguments[2] if len(arguments) > 2 else "").split(","):
        key, _, number = part.partition("=")
        if key in options:
            options[key] = float(number)
    channel = Channel(arguments[0])
    guard(options["limit"])
    prove(channel, arguments[1], options)
    channel.done()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
