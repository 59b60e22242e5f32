"""Knows: machines seen through the operating system: Linux' DRM files, Windows' counters. Must not know: tests."""

from __future__ import annotations

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import SourceState
from gpumon_gui.telemetry.base import Source, SourceUnavailable
from gpumon_gui.telemetry.drm.source import DrmSource
from gpumon_gui.telemetry.dxgi.library import D3dkmt
from gpumon_gui.telemetry.dxgi.source import DxgiSource, Windows
from gpumon_gui.telemetry.nvml.bus import WindowsBus
from gpumon_gui.telemetry.nvml.library import Library
from gpumon_gui.telemetry.nvml.source import NvmlSource
from gpumon_gui.telemetry.pdh.library import Pdh
from gpumon_gui.telemetry.pdh.source import PdhSource
from gpumon_gui.telemetry.synthetic.cards import RTX_3070_LAPTOP, card, sm
from gpumon_gui.telemetry.synthetic.host import Person, SyntheticHost
from gpumon_gui.telemetry.synthetic.loads import cores, desktop, idle, steady, training
from gpumon_gui.telemetry.synthetic.nvml_library import ALL_ONES_64, Client, Code, Driver, NvmlStandIn
from gpumon_gui.telemetry.synthetic.scenario import NOWHERE, Machine, Scenario, Staged, Tree, nvml_source
from gpumon_gui.telemetry.synthetic.trees import DrmCard, Painter
from gpumon_gui.telemetry.synthetic.windows_library import (
    Adapter,
    Doze,
    EmptyRegistry,
    KmtStandIn,
    PdhStandIn,
    PnpStandIn,
    Worker,
)

NVIDIA_ENGINES = (
    "3D", "Compute_0", "LegacyOverlay", "VideoDecode", "Security", "Copy", "Copy", "VideoEncode", "Graphics_1", "Cuda",
)  # fmt: skip
INTEL_ENGINES = ("3D", "Compute", "Copy", "VideoDecode", "VideoProcessing", "GSC")
COMPUTE_0, CUDA, COPY = 1, 9, 5


def _absent() -> Library:
    raise SourceUnavailable("no-driver", state=SourceState.ABSENT)


def radeon(clock: Clock) -> Machine:
    """An AMD card alone, without any NVIDIA driver; ROCm trains on it."""
    tree = Tree()
    load = training(0.92)
    painters = (
        Painter(7_101, {"gfx": idle, "compute": load}, vram_gib=13.4, gtt_gib=0.3),
        Painter(2_120, {"gfx": desktop()}, vram_gib=0.5),
    )
    board = DrmCard(tree, 0, "amdgpu", "1002:744c", "0000:0a:00.0", painters, load, vram_gib=24, power_w=355)
    people = [Person(7_101, "python3", framework="PyTorch"), Person(2_120, "plasmashell")]
    return _linux(clock, tree, board, people)


def intel_only(clock: Clock) -> Machine:
    """A laptop with nothing but Intel's integrated GPU."""
    tree = Tree()
    load = desktop()
    painters = (Painter(1_700, {"render": load, "video": steady(0.2, 0.05)}, gtt_gib=0.7),)
    board = DrmCard(tree, 0, "i915", "8086:46a6", "0000:00:02.0", painters, load)
    return _linux(clock, tree, board, [Person(1_700, "chromium")])


def radeon_unplugged(clock: Clock) -> Machine:
    """An external AMD card is pulled out after 3 s."""
    tree = Tree()
    load = steady(0.6, 0.2)
    painters = (Painter(7_202, {"gfx": load}, vram_gib=3),)
    board = DrmCard(
        tree, 0, "amdgpu", "1002:744c", "0000:0a:00.0", painters, load, vram_gib=24, power_w=355,
        present=lambda now_s: now_s < 2.5,
    )  # fmt: skip
    return _linux(clock, tree, board, [Person(7_202, "blender")])


def _linux(clock: Clock, tree: Tree, board: DrmCard, people: list[Person]) -> Machine:
    sources: list[Source] = [NvmlSource(_absent, NOWHERE, "linux"), Staged(DrmSource(tree.root), board.act, clock)]
    return Machine(sources, SyntheticHost(clock, people, cores=16, ram_gib=32))


def windows_laptop(clock: Clock) -> Machine:
    """Windows on a hybrid laptop: CUDA runs on the NVIDIA GPU's Compute_0 and Cuda engines, 3D is quiet."""
    load = training(0.95)
    screen = desktop()
    compositor = {0: screen}
    adapters = (
        Adapter(
            0x0000_F4A1, "Intel(R) Iris(R) Xe Graphics", 0x8086, 0x46A6, 1 << 5 | 3, (0, 2, 0), 0.125, 15.9,
            INTEL_ENGINES,
            (Worker(1_304, compositor, 0.0, 0.35), Worker(9_408, {0: steady(0.05, 0.04), 3: steady(0.12)}, 0.0, 0.6)),
        ),
        Adapter(
            0x0001_1B3C, RTX_3070_LAPTOP.name, 0x10DE, 0x249D, 1 << 4 | 3, (1, 0, 0), 7.8, 15.9, NVIDIA_ENGINES,
            (
                Worker(11_972, {COMPUTE_0: lambda now_s: 0.4 * load(now_s), CUDA: load, COPY: steady(0.06)}, 5.2, 0.2),
                Worker(1_304, {}, 0.05, 0.02),
            ),
            temperature_c=61,
        ),
        Adapter(0x0000_E0D2, "Microsoft Basic Render Driver", 0x1414, 0x8C, 1 << 2, (0, 0, 0), 0, 15.9, ("3D",) * 3),
    )  # fmt: skip
    clients = (Client(11_972, ALL_ONES_64, "C", sm=sm(load)), Client(1_304, ALL_ONES_64, "CG"))
    board = card(RTX_3070_LAPTOP, load, used_gib=5.3, clients=clients, bus="00000000:01:00.0")
    board.figures.update({"driver_model": 0, "persistence_mode": Code(3)})
    library = NvmlStandIn(Driver([board], b"572.83"), clock)
    people = (
        Person(11_972, "python.exe", ("python.exe", "train.py"), cores(1.0, 0.1), 3.2, 48, framework="PyTorch"),
        Person(1_304, "dwm.exe", (), cores(0.04, 0.02), 0.2, 19, user="DWM-1"),
        Person(9_408, "msedge.exe", (), cores(0.2, 0.1), 0.5, 41),
    )
    sources: list[Source] = [nvml_source(library, platform="win32"), *_windows(adapters, clock)]
    return Machine(sources, SyntheticHost(clock, people, cores=14, ram_gib=32), library)


def windows_asleep(clock: Clock) -> Machine:
    """Windows on a hybrid laptop: the NVIDIA GPU is off and is used from second 20 to 40."""

    def wanted(now_s: float) -> bool:
        return 20 <= now_s < 40

    board = card(RTX_3070_LAPTOP, lambda now_s: 0.8 if wanted(now_s) else 0.0, used_gib=0.2, bus="00000000:01:00.0")
    board.figures["driver_model"] = 0
    library = NvmlStandIn(Driver([board], b"572.83"), clock)
    doze = Doze(clock, library, board.bus, wanted)
    adapters = (
        Adapter(
            0xF4A1, "Intel(R) Iris(R) Xe Graphics", 0x8086, 0x46A6, 1 << 5 | 3, (0, 2, 0), 0.125, 15.9, INTEL_ENGINES,
            (Worker(1_304, {0: desktop()}, 0.0, 0.35),),
        ),
        Adapter(
            0x11B3C, RTX_3070_LAPTOP.name, 0x10DE, 0x249D, 1 << 4 | 3, (1, 0, 0), 7.8, 15.9, NVIDIA_ENGINES,
            temperature_c=58, power_state=doze,
        ),
    )  # fmt: skip
    bus = WindowsBus(PnpStandIn(adapters), lambda: True)
    sources: list[Source] = [nvml_source(library, platform="win32", bus=bus), *_windows(adapters, clock)]
    host = SyntheticHost(clock, [Person(1_304, "dwm.exe")])
    return Machine(sources, host, library, wakes=lambda: doze.wakes)


def windows_sums(clock: Clock) -> Machine:
    """Windows: three engines at 90 % each, and a compositor that is charged with exabytes."""
    engines = {3: steady(0.9), COPY: steady(0.9), COPY + 1: steady(0.9)}
    adapters = (
        Adapter(
            0x11B3C, "NVIDIA GeForce RTX 3070", 0x10DE, 0x2484, 3, (1, 0, 0), 7.8, 15.9, NVIDIA_ENGINES,
            (Worker(2_200, engines, 1.5, 0.1), Worker(1_304, {0: steady(0.02)}, 7.9e9, 0.0)),
        ),
    )  # fmt: skip
    people = [Person(2_200, "obs64.exe"), Person(1_304, "dwm.exe")]
    sources = _windows(adapters, clock)
    return Machine([NvmlSource(_absent, NOWHERE, "win32"), *sources], SyntheticHost(clock, people))


def windows_without_counters(clock: Clock) -> Machine:
    """Windows whose counter registry is damaged: no GPU counters."""
    adapters = (
        Adapter(0x0001_1B3C, "NVIDIA GeForce RTX 3070", 0x10DE, 0x2484, 3, (1, 0, 0), 7.8, 15.9, NVIDIA_ENGINES),
    )
    sources = _windows(adapters, clock, add_status=0xC0000BB8)
    return Machine([NvmlSource(_absent, NOWHERE, "win32"), *sources], SyntheticHost(clock))


def _windows(adapters: tuple[Adapter, ...], clock: Clock, *, add_status: int = 0) -> list[Source]:
    kmt, pdh = KmtStandIn(adapters), PdhStandIn(adapters, clock, add_status=add_status)
    return [
        DxgiSource(lambda: Windows(D3dkmt(kmt), EmptyRegistry(), PnpStandIn(adapters))),
        PdhSource(lambda: Pdh(pdh)),
    ]


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "amd-only",
        N_("An AMD card without any NVIDIA driver."),
        radeon,
        rows=(25,),
        shows=(
            "Radeon RX 7900 XT/7900 XTX] | GPU utilization: ",
            "python3 7101: Computing on GPU",
            "nvml: No NVIDIA driver was found.",
        ),
        watch_s=8,
    ),
    Scenario(
        "intel-only",
        N_("A laptop with Intel's integrated GPU only."),
        intel_only,
        rows=(22, 25),
        shows=("Intel Alder Lake-P GT2 [Iris Xe Graphics] | Busiest engine: ", "chromium 1700: "),
        never=("Dedicated GPU memory: 0.0 GiB",),
        watch_s=8,
    ),
    Scenario(
        "amd-unplugged",
        N_("An external AMD card is pulled out after 3 s."),
        radeon_unplugged,
        rows=(13,),
        shows=("The driver lost this GPU.", "drm: A GPU was lost by the driver. The others go on."),
        watch_s=7,
    ),
    Scenario(
        "windows-laptop",
        N_("Windows on a hybrid laptop, with CUDA at work."),
        windows_laptop,
        rows=(4, 22),
        shows=(
            "NVIDIA GeForce RTX 3070 Laptop GPU | engine Cuda: 9",
            "NVIDIA GeForce RTX 3070 Laptop GPU | engine Compute_0: ",
            "Intel(R) Iris(R) Xe Graphics | engine 3D: ",
            "python.exe 11972 | Dedicated GPU memory: 5.2 GiB",
            "python.exe 11972: Computing on GPU",
        ),
        never=("WDDM driver model", "17179869184"),
        watch_s=8,
    ),
    Scenario(
        "windows-asleep",
        N_("Windows on a hybrid laptop whose NVIDIA GPU is off and is used for a while."),
        windows_asleep,
        rows=(21,),
        shows=(
            "NVIDIA GeForce RTX 3070 Laptop GPU: Asleep. GPUMon does not wake it.",
            "NVIDIA GeForce RTX 3070 Laptop GPU | GPU utilization: — asleep, not woken",
            "nvml: All GPUs of this source are asleep",
        ),
        never=("lost this GPU",),
        watch_s=15,
    ),
    Scenario(
        "windows-sums",
        N_("Windows: several engines are busy at once, and a process is charged with exabytes."),
        windows_sums,
        rows=(19, 20),
        shows=(
            "NVIDIA GeForce RTX 3070 | Busiest engine: 90 %",
            "obs64.exe 2200 | GPU: 90 %",
            "obs64.exe 2200 | Dedicated GPU memory: 1.5 GiB",
            "dwm.exe 1304 | Dedicated GPU memory: — the driver gave an impossible value",
        ),
        never=("270 %", "180 %"),
    ),
    Scenario(
        "windows-no-counters",
        N_("Windows whose GPU performance counters are damaged."),
        windows_without_counters,
        rows=(25,),
        shows=(
            "pdh: Windows' GPU performance counters are missing or damaged. Run 'lodctr /R'",
            "(0xC0000BB8)",
            "NVIDIA GeForce RTX 3070",
        ),
    ),
)
