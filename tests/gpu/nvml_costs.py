"""Knows: what NVML calls cost on this card. Must not know: the rest of GPUMon.

Run on a machine with a GPU: ``python -m tests.gpu.nvml_costs``. Prints one line per call (median of 50, microseconds).
"""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import pynvml

from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.model import Demand
from gpumon_gui.core.values import Reading
from gpumon_gui.telemetry.nvml import static
from gpumon_gui.telemetry.nvml.getters import FIELDS, PCIE_FIELDS, SCALARS
from gpumon_gui.telemetry.nvml.gpm import Gpm
from gpumon_gui.telemetry.nvml.library import Library, error_name, load
from gpumon_gui.telemetry.nvml.processes import ProcessReader
from gpumon_gui.telemetry.nvml.source import NvmlSource


def median_us(call: Callable[[], Any], times: int = 50) -> float:
    """Median duration in microseconds."""
    durations = []
    for _ in range(times):
        start = time.perf_counter_ns()
        call()
        durations.append(time.perf_counter_ns() - start)
    return statistics.median(durations) / 1000


def main() -> int:
    """Print the costs, then what the source reads."""
    library: Library = load(["libnvidia-ml.so.1"])
    library.require("nvmlInit_v2")
    handle = ctypes.c_void_p()
    library.require("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(0), ctypes.byref(handle))
    for scalar in SCALARS:
        out = scalar.ctype()
        arguments = [ctypes.c_uint(argument) for argument in scalar.arguments]
        extra = [ctypes.byref(ctypes.c_uint())] if scalar.extra_out else []
        found = library.first(*scalar.symbols)
        if found is None:
            print(f"{scalar.metric:28} no such function")
            continue

        def call(function: Any = found[1], arguments: Any = arguments, out: Any = out, extra: Any = extra) -> int:
            return int(function(handle, *arguments, ctypes.byref(out), *extra))

        print(f"{scalar.metric:28} {median_us(call):9.1f} us  {error_name(call()) if call() else out.value}")
    for field in (*FIELDS, *PCIE_FIELDS):
        buffer = (pynvml.c_nvmlFieldValue_t * 1)()

        def ask(field: Any = field, buffer: Any = buffer) -> int:
            buffer[0].fieldId = field.field_id
            return library.call("nvmlDeviceGetFieldValues", handle, ctypes.c_int(1), ctypes.byref(buffer))

        cost = median_us(ask, 20)
        answer = buffer[0]
        result = f"ret {answer.nvmlReturn} type {answer.valueType} {answer.value.ullVal}"
        print(f"field {field.metric:22} {cost:9.1f} us  {result}")
    print(f"modes {median_us(lambda: static.mode_values(library, handle), 5):9.1f} us")
    print(f"static {median_us(lambda: static.device_values(library, handle), 3):9.1f} us")
    if Gpm.supported(library, handle):
        gpm = Gpm(library, handle)
        print(f"gpm {median_us(lambda: gpm.read({}), 10):9.1f} us")
    info = NvmlSource(lambda: library)
    reader = ProcessReader(library, handle, static_key(), wddm=False)
    print(f"processes {median_us(lambda: reader.read(0.0, None, utilization=False), 10):9.1f} us")
    print(f"processes and utilization {median_us(lambda: reader.read(0.0, None, utilization=True), 10):9.1f} us")
    print(
        f"one count {median_us(lambda: library.call('nvmlDeviceGetCount_v2', ctypes.byref(ctypes.c_uint()))):9.1f} us"
    )
    pcie_units(library, handle)
    show(info)
    return 0


def pcie_units(library: Library, handle: Any) -> None:
    """The byte counters' growth in ten seconds beside GPM's speeds: shows the unit of the counters."""
    buffer = (pynvml.c_nvmlFieldValue_t * 2)()
    gpm = Gpm(library, handle)
    counts = []
    speeds: dict[str, Any] = {}
    for _ in range(2):
        for index, field in enumerate(PCIE_FIELDS):
            buffer[index].fieldId = field.field_id
        library.require("nvmlDeviceGetFieldValues", handle, ctypes.c_int(2), ctypes.byref(buffer))
        counts.append([buffer[index].value.uiVal for index in range(2)])
        gpm.read(speeds)
        time.sleep(10.0)
    for index, field in enumerate(PCIE_FIELDS):
        growth = (counts[1][index] - counts[0][index]) % 2**32
        speed = speeds[field.metric.replace("total_bytes", "bytes_per_s")]
        print(f"{field.metric} grew by {growth / 10:.0f} a second; GPM: {speed}")


def static_key() -> Any:
    """A key for a reader that stands alone."""
    return "pci:0"


def show(source: NvmlSource) -> None:
    """What the source says, twice, with a second between for the figures that need two samples."""
    clock = SystemClock()
    source.open()
    for _ in range(2):
        infos = source.devices(clock.now())
        samples = source.read(clock.now(), Demand())
        uses = source.read_processes(clock.now(), Demand())
        time.sleep(1.0)
    for info in infos:
        print(json.dumps({k: v for k, v in vars_of(info).items() if k != "static"}, default=str))
        for metric, value in sorted({**info.static, **samples[info.key].values}.items()):
            print(f"  {metric:32} {value.value if isinstance(value, Reading) else value}")
    for use in uses:
        print(use)
    source.close()


def vars_of(thing: Any) -> dict[str, Any]:
    """Fields of a slotted dataclass."""
    return {name: getattr(thing, name) for name in thing.__dataclass_fields__}


if __name__ == "__main__":
    sys.exit(main())
