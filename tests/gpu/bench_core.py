"""Knows: what a refresh costs against the bare calls and against nvitop, and what the sampler process costs.

``python -m tests.gpu.bench_core`` on a machine with an NVIDIA GPU. Prints figures and their ratio to the budgets:
refresh ≤ 1.5 × the bare calls and ≥ 100 × cheaper than nvitop's snapshot; sampler at 1 Hz ≤ 0.3 % of a core with core
metrics, ≤ 1.2 % with everything on show, ≤ 45 MB.

Must not know: the window.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil
import pynvml

from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.model import Demand
from gpumon_gui.telemetry.nvml.getters import SCALARS, Group
from gpumon_gui.telemetry.nvml.library import load
from gpumon_gui.telemetry.nvml.source import NvmlSource
from gpumon_gui.telemetry.process import SamplerProcess
from gpumon_gui.telemetry.wire import Frame

SECONDS = 40.0


def median_us(call: Callable[[], Any], times: int) -> tuple[float, float]:
    """Median wall time and mean CPU time of a call in microseconds."""
    walls = []
    cpu = time.process_time()
    for _ in range(times):
        start = time.perf_counter_ns()
        call()
        walls.append(time.perf_counter_ns() - start)
    return statistics.median(walls) / 1000, (time.process_time() - cpu) / times * 1e6


def main() -> int:
    """Print the figures."""
    clock, core = SystemClock(), Demand(details=False, processes=False, cpu_processes=False)
    source = NvmlSource()
    source.open()
    source.devices(clock.now())
    source.read(clock.now(), core)
    bare = bare_calls()
    bare_us, _cpu = median_us(bare, 2000)
    bound_us, _cpu = median_us(pynvml_calls(), 2000)
    ours_us, _cpu = median_us(lambda: (source.devices(clock.now()), source.read(clock.now(), core)), 2000)
    print(
        f"bare calls {bare_us:.1f} us through ctypes, {bound_us:.1f} us through pynvml; "
        f"core refresh {ours_us:.1f} us = {ours_us / bare_us:.2f} x and {ours_us / bound_us:.2f} x (budget 1.5)"
    )
    print(f"a process with NVML started and nothing else: {nvml_alone_mb()}")
    try:
        from nvitop import Device
    except ImportError:
        print("nvitop is not installed here")
    else:
        devices = Device.all()
        theirs_us, theirs_cpu = median_us(lambda: [device.as_snapshot() for device in devices], 20)
        ratio = theirs_us / ours_us
        print(f"nvitop snapshot {theirs_us:.0f} us wall, {theirs_cpu:.0f} us CPU = {ratio:.0f} x a core refresh")
    source.close()
    for label, demand, budget in (
        ("core metrics", core, 0.3),
        ("everything on show", Demand(), 1.2),
    ):
        sampler(label, demand, budget)
    return 0


def bare_calls() -> Callable[[], None]:
    """The C calls a core refresh makes, with arguments bound beforehand, in a plain loop."""
    library = load(["libnvidia-ml.so.1"])
    library.require("nvmlInit_v2")
    handle = ctypes.c_void_p()
    library.require("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(0), ctypes.byref(handle))
    memory = pynvml.c_nvmlMemory_v2_t()
    memory.version = pynvml.nvmlMemory_v2
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (library.find("nvmlDeviceGetUtilizationRates"), (handle, ctypes.byref(pynvml.c_nvmlUtilization_t()))),
        (library.find("nvmlDeviceGetMemoryInfo_v2"), (handle, ctypes.byref(memory))),
    ]
    for scalar in SCALARS:
        found = library.first(*scalar.symbols)
        if scalar.group is Group.CORE and found is not None:
            fixed = [ctypes.c_uint(argument) for argument in scalar.arguments]
            more = [ctypes.byref(ctypes.c_uint())] if scalar.extra_out else []
            calls.append((found[1], (handle, *fixed, ctypes.byref(scalar.ctype()), *more)))

    def run() -> None:
        for function, arguments in calls:
            function(*arguments)

    return run


def pynvml_calls() -> Callable[[], None]:
    """The same figures as every Python program reads them."""
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)

    def run() -> None:
        pynvml.nvmlDeviceGetUtilizationRates(handle)
        pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
        pynvml.nvmlDeviceGetTemperature(handle, 0)
        pynvml.nvmlDeviceGetPowerUsage(handle)
        for clock in range(4):
            pynvml.nvmlDeviceGetClockInfo(handle, clock)
        pynvml.nvmlDeviceGetPerformanceState(handle)
        pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle)
        pynvml.nvmlDeviceGetEncoderUtilization(handle)
        pynvml.nvmlDeviceGetDecoderUtilization(handle)
        pynvml.nvmlDeviceGetJpgUtilization(handle)
        pynvml.nvmlDeviceGetOfaUtilization(handle)

    return run


def nvml_alone_mb() -> str:
    """Memory of Python as it is, and with NVML started through ctypes alone."""
    script = (
        "import ctypes,resource\n"
        "rss=lambda: int(open('/proc/self/statm').read().split()[1])*resource.getpagesize()/1e6\n"
        "before=rss(); l=ctypes.CDLL('libnvidia-ml.so.1'); loaded=rss(); l.nvmlInit_v2(); h=ctypes.c_void_p()\n"
        "l.nvmlDeviceGetHandleByIndex_v2(0,ctypes.byref(h)); started=rss()\n"
        "pss=[x for x in open('/proc/self/smaps_rollup') if x.startswith('Pss:')][0].split()[1]\n"
        "print(f'{before:.1f} MB, library loaded {loaded:.1f}, started {started:.1f} MB (PSS {int(pss)/1e3:.1f})')"
    )
    return subprocess.check_output([sys.executable, "-c", script], text=True).strip()


def sampler(label: str, demand: Demand, budget_percent: float) -> None:
    """CPU and memory of the sampler process at 1 Hz."""
    child = SamplerProcess()
    try:
        child.send(demand)
        process = psutil.Process(child.pid)
        samples = wait(child, 6.0)
        before, start = process.cpu_times(), time.monotonic()
        samples = wait(child, SECONDS)
        after, seconds = process.cpu_times(), time.monotonic() - start
        cpu = (after.user - before.user + after.system - before.system) / seconds * 100
        memory = process.memory_full_info()
        print(
            f"sampler, {label}: {cpu:.2f} % of a core (budget {budget_percent} %, x {cpu / budget_percent:.2f}), "
            f"RSS {memory.rss / 1e6:.1f} MB (budget 45), PSS {memory.pss / 1e6:.1f} MB, "
            f"{samples} samples in {seconds:.0f} s"
        )
    finally:
        child.stop()


def wait(child: SamplerProcess, seconds: float) -> int:
    """Read frames for a while; how many came."""
    end, samples = time.monotonic() + seconds, 0
    while (left := end - time.monotonic()) > 0:
        samples += sum(isinstance(message, Frame) for message in child.receive(left))
    return samples


if __name__ == "__main__":
    sys.exit(main())
