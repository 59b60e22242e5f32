"""Knows: drivers that are absent, old, broken, or may not be asked. Must not know: tests."""

from __future__ import annotations

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import SourceState
from gpumon_gui.telemetry.base import SourceUnavailable
from gpumon_gui.telemetry.nvml.library import Library
from gpumon_gui.telemetry.nvml.source import NvmlSource
from gpumon_gui.telemetry.synthetic.cards import A100, GTX_1060, RTX_2080_SUPER, RTX_4090, card, sm
from gpumon_gui.telemetry.synthetic.host import Person, SyntheticHost
from gpumon_gui.telemetry.synthetic.loads import cores, steady, training
from gpumon_gui.telemetry.synthetic.nvml_library import (
    ALL_ONES_64,
    BEFORE_2017,
    DRIVER_NOT_LOADED,
    LIB_RM_VERSION_MISMATCH,
    NO_PERMISSION,
    NOT_SUPPORTED,
    Client,
    Code,
    Driver,
    Instance,
)
from gpumon_gui.telemetry.synthetic.scenario import NOWHERE, Machine, Scenario, Tree, nvidia_machine

GIB = 1 << 30
MIB = 1 << 20


def _no_library() -> Library:
    raise SourceUnavailable("no-driver", state=SourceState.ABSENT)


def _damaged_library() -> Library:
    raise SourceUnavailable("library-damaged", "libnvidia-ml.so.1: file too short")


def no_driver(clock: Clock) -> Machine:
    """There is no NVML library."""
    return Machine([NvmlSource(_no_library, NOWHERE, "linux")], SyntheticHost(clock))


def damaged_library(clock: Clock) -> Machine:
    """The library cannot be loaded."""
    return Machine([NvmlSource(_damaged_library, NOWHERE, "linux")], SyntheticHost(clock))


def not_loaded(clock: Clock) -> Machine:
    """The library is there, the kernel module is not."""
    return nvidia_machine(clock, Driver([], init=Code(DRIVER_NOT_LOADED)))


def mismatch(clock: Clock) -> Machine:
    """The driver was updated and the computer not restarted."""
    tree = Tree()
    version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025"
    tree.write("proc/driver/nvidia/version", version)
    tree.write("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.159.03", "")
    host = SyntheticHost(clock)
    host.keeps = (tree,)
    driver = Driver([card(RTX_4090)], init=Code(LIB_RM_VERSION_MISMATCH))
    return nvidia_machine(clock, driver, host, root=tree.root)


def no_permission(clock: Clock) -> Machine:
    """The account may not open /dev/nvidia*."""
    return nvidia_machine(clock, Driver([card(RTX_4090)], init=Code(NO_PERMISSION)))


def no_device(clock: Clock) -> Machine:
    """The driver runs and has no GPU."""
    return nvidia_machine(clock, Driver([]))


def partly_refused(clock: Clock) -> Machine:
    """Some figures and the process list need rights this account does not have."""
    board = card(A100, training(), used_gib=31)
    board.figures.update({"power": Code(NO_PERMISSION), "ecc.0.0": Code(NO_PERMISSION)})
    driver = Driver([board], list_code=NO_PERMISSION, utilization_code=NO_PERMISSION)
    return nvidia_machine(clock, driver)


def old_driver(clock: Clock) -> Machine:
    """A driver of 2016: half of the functions are missing, processes come in 16 bytes, memory without the reserve."""
    load = steady(0.6, 0.2)
    clients = (Client(900, 1200 * MIB), Client(901, 300 * MIB), Client(902, 80 * MIB, "G"))
    board = card(GTX_1060, load, used_gib=2, clients=clients)
    people = [Person(900 + number, name) for number, name in enumerate(("caffe", "python", "Xorg"))]
    return nvidia_machine(clock, Driver([board], b"375.66", missing=BEFORE_2017), SyntheticHost(clock, people))


def struct_of_535(clock: Clock) -> Machine:
    """A driver 535 whose process list has 32 bytes per entry under the name of the one with 24."""
    load = training()
    clients = tuple(Client(700 + 10 * number, (3 + number) * GIB, sm=sm(load, 0.3)) for number in range(3))
    people = [Person(700 + 10 * number, f"worker-{number}", framework="PyTorch") for number in range(3)]
    driver = Driver([card(A100, load, used_gib=13, clients=clients)], b"535.54.03", process_bytes=32)
    return nvidia_machine(clock, driver, SyntheticHost(clock, people))


def struct_refused(clock: Clock) -> Machine:
    """A driver that has the newer memory function and refuses its struct."""
    driver = Driver([card(RTX_4090, steady(0.4, 0.1), used_gib=6)], b"510.39.01", refused_structs=True)
    return nvidia_machine(clock, driver)


def mig_card(clock: Clock) -> Machine:
    """An A100 split in two; a process runs in one instance."""
    load = training()
    instances = (
        Instance(
            1,
            b"MIG-5c1a9e40-8a0b-5e61-9a3d-000000000001",
            b"NVIDIA A100-SXM4-80GB MIG 3g.40gb",
            _instance_memory(40, 12),
            (Client(610, 12 * GIB, sm=sm(load, 0.4)),),
        ),
        Instance(
            2,
            b"MIG-5c1a9e40-8a0b-5e61-9a3d-000000000002",
            b"NVIDIA A100-SXM4-80GB MIG 4g.40gb",
            _instance_memory(40, 0),
        ),
    )
    board = card(A100, load, used_gib=12.2)
    # nvml.h: undefined while MIG is on; drivers answer NOT_SUPPORTED or 0.
    board.figures.update({"mig_mode": 1, "utilization": 0, "memory_utilization": 0})
    board.instances = instances
    people = [Person(610, "python", (), cores(1.0), framework="PyTorch")]
    return nvidia_machine(clock, Driver([board]), SyntheticHost(clock, people))


def _instance_memory(total_gib: int, used_gib: int) -> dict[str, float]:
    total, used = total_gib * GIB, used_gib * GIB
    return {
        "memory_total": total,
        "memory_reserved": 0,
        "memory_used": used,
        "memory_used_v1": used,
        "memory_free": total - used,
    }


def vgpu_guest(clock: Clock) -> Machine:
    """A virtual machine with a slice of a card: half of the figures are not offered."""
    board = card(A100, training(), used_gib=6)
    for name in (
        "power",
        "power_limit",
        "power_limit_default",
        "power_limit_min",
        "power_limit_max",
        "temperature.0",
        "temperature_limit.0",
        "temperature_limit.1",
        "temperature_limit.3",
        "clock.2",
        "energy",
        "pcie_gen",
        "pcie_width",
        "throttle",
        "ecc.0.0",
        "ecc.1.0",
        "field.82",
        "field.186",
        "field.197",
        "field.198",
    ):
        board.figures.pop(name, None)
    board.figures.update({"virtualization": 2, "name": b"GRID A100D-16C"})
    return nvidia_machine(clock, Driver([board], list_code=NOT_SUPPORTED, utilization_code=NOT_SUPPORTED))


def wddm(clock: Clock) -> Machine:
    """Windows: the driver lists processes, but their memory belongs to Windows."""
    load = steady(0.55, 0.2)
    clients = (Client(8_844, ALL_ONES_64, "C", sm=sm(load)), Client(1_212, ALL_ONES_64, "CG", sm=1))
    board = card(RTX_2080_SUPER, load, used_gib=0.8, clients=clients)
    board.figures.update({"driver_model": 0, "persistence_mode": Code(NOT_SUPPORTED)})
    people = [Person(8_844, "ffmpeg.exe", ("ffmpeg.exe", "-i", "a.mkv")), Person(1_212, "dwm.exe")]
    return nvidia_machine(clock, Driver([board], b"591.86"), SyntheticHost(clock, people), platform="win32")


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "no-driver",
        N_("No NVIDIA driver is installed."),
        no_driver,
        rows=(25,),
        shows=("nvml: No NVIDIA driver was found.", "nvidia.com/drivers", "host | CPU: "),
    ),
    Scenario(
        "library-damaged",
        N_("The driver's library is damaged."),
        damaged_library,
        rows=(25,),
        shows=("nvml: The NVIDIA library cannot be loaded. Reinstall the driver. (libnvidia-ml.so.1: file too short)",),
    ),
    Scenario(
        "driver-not-loaded",
        N_("The NVIDIA driver is installed but its kernel module is not loaded."),
        not_loaded,
        rows=(8, 25),
        shows=("nvml: The NVIDIA driver is installed but not running.", "modprobe nvidia", "host | CPU: "),
    ),
    Scenario(
        "driver-mismatch",
        N_("The driver was updated without a restart: library and kernel module differ."),
        mismatch,
        rows=(8,),
        shows=(
            "kernel module and library have different versions. Restart the computer. "
            "(nvidia.ko 580.95.05, libnvidia-ml.so 580.159.03)",
            "host | CPU: ",
        ),
        never=("Traceback", "internal fault"),
    ),
    Scenario(
        "no-permission",
        N_("This account may not use the NVIDIA driver."),
        no_permission,
        rows=(15,),
        shows=("nvml: This account may not read the GPU.",),
    ),
    Scenario(
        "no-device",
        N_("The NVIDIA driver runs without any GPU."),
        no_device,
        rows=(25,),
        shows=("nvml: The driver runs, but there is no GPU it can use.",),
    ),
    Scenario(
        "partly-refused",
        N_("Some figures and the list of processes need more rights."),
        partly_refused,
        rows=(15,),
        shows=(
            "NVIDIA A100-SXM4-80GB | Power: — needs administrator rights",
            "NVIDIA A100-SXM4-80GB | GPU utilization: 9",
            "nvml: This account may not list the processes that use the GPU.",
            "no processes: Missing rights",
        ),
    ),
    Scenario(
        "old-driver",
        N_("A driver of 2016 that lacks half of the functions."),
        old_driver,
        rows=(9, 24),
        shows=(
            "NVIDIA GeForce GTX 1060 6GB | GPU utilization: ",
            "NVIDIA GeForce GTX 1060 6GB | JPEG Decode: — not supported by this device or driver",
            "caffe 900 | Dedicated GPU memory: 1.2 GiB",
            "python 901 | Dedicated GPU memory: 0.3 GiB",
            "Xorg 902: Graphics only",
        ),
        never=("impossible", "reading failed"),
    ),
    Scenario(
        "struct-535",
        N_("A driver 535 whose process list has another layout under the same name."),
        struct_of_535,
        rows=(9,),
        shows=(
            "worker-0 700 | Dedicated GPU memory: 3.0 GiB",
            "worker-1 710 | Dedicated GPU memory: 4.0 GiB",
            "worker-2 720 | Dedicated GPU memory: 5.0 GiB",
        ),
        never=("Exited",),
    ),
    Scenario(
        "struct-refused",
        N_("A driver that refuses the newer memory struct."),
        struct_refused,
        rows=(9,),
        shows=("NVIDIA GeForce RTX 4090 | Dedicated GPU memory: ", "Dedicated GPU memory, total: 24.0 GiB"),
    ),
    Scenario(
        "mig",
        N_("A card that is split into instances (MIG)."),
        mig_card,
        rows=(11,),
        shows=(
            "NVIDIA A100-SXM4-80GB | GPU utilization: — undefined while the card is split (MIG)",
            "NVIDIA A100-SXM4-80GB MIG 3g.40gb | Dedicated GPU memory: 12.0 GiB",
            "python 610 | Dedicated GPU memory: 12.0 GiB",
        ),
        never=("GPU utilization: 0 %",),
    ),
    Scenario(
        "vgpu",
        N_("A virtual machine with a slice of a card."),
        vgpu_guest,
        rows=(15, 24),
        shows=(
            "GRID A100D-16C | Power: — not offered in a virtual machine",
            "GRID A100D-16C | GPU temperature: — not offered in a virtual machine",
            "GRID A100D-16C | GPU utilization: 9",
            "no processes: Processes are hidden from here",
        ),
        never=("reading failed",),
    ),
    Scenario(
        "wddm",
        N_("Windows without its GPU counters: the driver knows the processes, not their memory."),
        wddm,
        rows=(4,),
        shows=(
            "ffmpeg.exe 8844 | Dedicated GPU memory: — not available in the WDDM driver model",
            "ffmpeg.exe 8844: Computing on GPU",
        ),
        never=("GiB GiB", "17179869184", "impossible"),
    ),
)
