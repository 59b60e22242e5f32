"""Knows: drivers that answer with numbers that cannot be. Must not know: tests."""

from __future__ import annotations

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import N_
from gpumon_gui.telemetry.synthetic.cards import (
    A100,
    GB10,
    H200,
    RTX_3070_LAPTOP,
    RTX_4090,
    card,
    gpm_figures,
    sm,
)
from gpumon_gui.telemetry.synthetic.host import Person, SyntheticHost
from gpumon_gui.telemetry.synthetic.loads import bursts, idle, steady, training
from gpumon_gui.telemetry.synthetic.nvml_library import (
    ALL_ONES_32,
    ALL_ONES_64,
    NOT_FOUND,
    Client,
    Code,
    Driver,
    Figure,
)
from gpumon_gui.telemetry.synthetic.scenario import Machine, Scenario, nvidia_machine

GIB = 1 << 30
SICK = "The driver returns invalid data for this GPU. Update the driver; 555.85 on WSL is known for it."
# dcgm_structs.h: DCGM_INT32_BLANK, DCGM_INT64_BLANK, DCGM_INT64_NOT_SUPPORTED
BLANK_32, BLANK_64, NOT_SUPPORTED_64 = 0x7FFFFFF0, 0x7FFFFFFFFFFFFFF0, 0x7FFFFFFFFFFFFFF2


def rubbish_bytes(clock: Clock) -> Machine:
    """Driver 555.85 on WSL: neither texts nor numbers are what they should be."""
    board = card(RTX_4090, steady(0.5, 0.2))
    board.figures.update(
        {
            "name": b"\xf0\x9f\x01\xfe\xff\x8d\x02GeF\x80",
            "uuid": b"\xff\xfe\x80\x81\x82",
            "bus_id": b"\x90\x91:zz:\xff",
            "vbios": b"\xc3\x28\xa0",
            "utilization": 1_936_287_860,
            "memory_utilization": 1_869_357_167,
            "temperature.0": 3_221_225_985,
            "power": 4_026_531_839,
            "clock.0": 2_863_311_530,
            "clock.1": 2_863_311_530,
            "pstate": 1_431_655_765,
            "memory_used": 0xDEADBEEFCAFEBABE,
        }
    )
    return nvidia_machine(clock, Driver([board], b"\x80\x81555.85"))


def all_ones(clock: Clock) -> Machine:
    """Each figure is all ones, 32 or 64 bits wide, for the card and for its processes."""
    board = card(A100, training(), clients=(Client(77, ALL_ONES_64 - 1, sm=ALL_ONES_32),))
    for name in ("utilization", "memory_utilization", "temperature.0", "power", "clock.1", "power_limit", "encoder"):
        board.figures[name] = ALL_ONES_32
    for name in ("memory_used", "energy", "ecc.0.0"):
        board.figures[name] = ALL_ONES_64
    people = [Person(77, "python", framework="PyTorch")]
    return nvidia_machine(clock, Driver([board]), SyntheticHost(clock, people))


def dcgm_blanks(clock: Clock) -> Machine:
    """DCGM's codes for "no value" come through as numbers."""
    board = card(A100, steady(0.5, 0.1))
    for name in ("utilization", "temperature.0", "power", "clock.1"):
        board.figures[name] = BLANK_32
    board.figures.update({"energy": BLANK_64, "memory_used": NOT_SUPPORTED_64, "ecc.0.0": 140_737_488_355_328})
    return nvidia_machine(clock, Driver([board]))


def over_100(clock: Clock) -> Machine:
    """The utilization of the card and of a process is far above 100 %, now and then."""
    board = card(A100, steady(0.6, 0.1), clients=(Client(88, 9 * GIB, sm=lambda now_s: 45 if now_s % 2 < 1 else 1309),))

    def utilization(now_s: float) -> float:
        return 61 if now_s < 3 else 376

    board.figures["utilization"] = utilization
    return nvidia_machine(clock, Driver([board]), SyntheticHost(clock, [Person(88, "python", framework="JAX")]))


def stale_samples(clock: Clock) -> Machine:
    """The driver still has samples of a process that died half a minute ago, and its pid belongs to a new one."""
    board = card(A100, idle, clients=(Client(99, 2 * GIB, sm=Code(NOT_FOUND)), Client(98, 1 * GIB, sm=20)))
    driver = Driver([board], stale_samples=((99, 98, 30.0), (99, 255, 28.0)))
    return nvidia_machine(clock, driver, SyntheticHost(clock, [Person(99, "new-one"), Person(98, "python")]))


def hot_laptop(clock: Clock) -> Machine:
    """An idle laptop whose board power reads 593 W."""
    board = card(RTX_3070_LAPTOP, idle)
    board.figures["power"] = 593_000
    for name in ("power_limit_max", "power_limit_min", "power_limit_default"):  # laptops tell the limit in force only
        board.figures.pop(name)
    return nvidia_machine(clock, Driver([board]))


def negative(clock: Clock) -> Machine:
    """Numbers that were negative before the driver wrote them into unsigned ones."""
    board = card(RTX_4090, steady(0.3, 0.1))
    board.figures.update({"temperature.0": -12, "power": -4_000, "memory_used": -GIB})
    return nvidia_machine(clock, Driver([board]))


def counters(clock: Clock) -> Machine:
    """The PCIe byte counter wraps after 4 s, the energy counter starts again from zero after 40 s."""
    board = card(A100, training())
    start = 2**32 - 400_000_000

    def energy(now_s: float) -> int:
        return int(1000 * 250 * (now_s if now_s >= 40 else 90_000 + now_s))

    board.figures.update(
        {
            "field.197": lambda now_s: int(start + 100e6 * now_s) % 2**32,
            "field.198": lambda now_s: int(4.3e9 + 50e6 * now_s) % 2**32 if now_s < 40 else int(50e6 * (now_s - 40)),
            "energy": energy,
        }
    )
    return nvidia_machine(clock, Driver([board]))


def frozen_power(clock: Clock) -> Machine:
    """After the computer slept the power never changes any more, whatever the card does (drivers 581 to 595)."""

    def load(now_s: float) -> float:
        return 0.0 if now_s < 12 else steady(0.9, 0.05)(now_s)

    board = card(RTX_4090, load)
    board.figures["power"] = 34_211
    return nvidia_machine(clock, Driver([board], b"591.44"), platform="win32")


def nan_metrics(clock: Clock) -> Machine:
    """Hardware counters of which some are NaN: the others are fine, and the card is not sick."""
    load = bursts()
    board = card(H200, load, used_gib=12, clients=(Client(640, 11 * GIB, sm=sm(load)),))
    figures: dict[str, Figure] = gpm_figures(load)
    for gpm_id in (3, 11, 12, 13):
        figures[f"gpm.{gpm_id}"] = float("nan")
    figures["gpm.5"] = Code(999)
    board.figures.update(figures)
    people = [Person(640, "python", framework="PyTorch")]
    return nvidia_machine(clock, Driver([board]), SyntheticHost(clock, people))


def unified_memory(clock: Clock) -> Machine:
    """A device that shares the processor's memory: its own is 0 bytes."""
    load = steady(0.7, 0.1)
    board = card(GB10, load, clients=(Client(720, 30 * GIB, sm=sm(load)),))
    return nvidia_machine(clock, Driver([board]), SyntheticHost(clock, [Person(720, "python", framework="PyTorch")]))


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "rubbish-bytes",
        N_("A driver that returns rubbish for name and numbers, as 555.85 does on WSL."),
        rubbish_bytes,
        rows=(3,),
        shows=(f"NVIDIA GPU: {SICK}", "NVIDIA GPU | GPU temperature: — the driver gave an impossible value"),
        never=("\N{REPLACEMENT CHARACTER}", "internal fault"),
    ),
    Scenario(
        "all-ones",
        N_("A driver that answers with all bits set."),
        all_ones,
        rows=(4, 5),
        shows=(
            f"NVIDIA A100-SXM4-80GB: {SICK}",
            "NVIDIA A100-SXM4-80GB | GPU utilization: — the driver gave an impossible value",
            "NVIDIA A100-SXM4-80GB | Dedicated GPU memory: — the driver gave an impossible value",
        ),
        never=("17179869184", "4294967295 %", "internal fault"),
    ),
    Scenario(
        "dcgm-blanks",
        N_('Codes for "no value" arrive as numbers.'),
        dcgm_blanks,
        rows=(4, 5),
        shows=(f"NVIDIA A100-SXM4-80GB: {SICK}", "GPU temperature: — the driver gave an impossible value"),
        never=("9223372036854775794", "140737488355328 "),
    ),
    Scenario(
        "over-100-percent",
        N_("Utilization far above 100 %."),
        over_100,
        rows=(6,),
        shows=("NVIDIA A100-SXM4-80GB | GPU utilization: — the driver gave an impossible value (3.76)",),
        never=("376 %", "1309 %", "GPU utilization: 100 %"),
        watch_s=6,
    ),
    Scenario(
        "stale-samples",
        N_("Old utilization samples of a process that died, under a pid that belongs to a new one."),
        stale_samples,
        rows=(6, 10),
        shows=("python 98: Computing on GPU",),
        never=("98 %", "255 %"),
    ),
    Scenario(
        "593-watt-laptop",
        N_("An idle laptop whose power reads 593 W."),
        hot_laptop,
        rows=(7,),
        shows=("NVIDIA GeForce RTX 3070 Laptop GPU | Power: — the driver gave an impossible value (593 W)",),
        never=("593.0 W",),
    ),
    Scenario(
        "negative-values",
        N_("Negative numbers in unsigned answers."),
        negative,
        rows=(5, 7),
        shows=(
            "NVIDIA GeForce RTX 4090 | GPU temperature: — the driver gave an impossible value",
            "NVIDIA GeForce RTX 4090 | Power: — the driver gave an impossible value",
        ),
    ),
    Scenario(
        "counter-wrap",
        N_("Counters that wrap and start anew."),
        counters,
        rows=(7,),
        shows=("NVIDIA A100-SXM4-80GB | PCIe sent: 100.0 MB/s", "NVIDIA A100-SXM4-80GB | PCIe received: 50.0 MB/s"),
        never=("impossible", "| PCIe sent: 0.0 MB/s"),
        watch_s=8,
    ),
    Scenario(
        "frozen-power",
        N_("The power reading stopped moving when the computer slept."),
        frozen_power,
        rows=(18,),
        shows=(
            "NVIDIA GeForce RTX 4090 | Power: — the driver gave an impossible value (frozen at 34.2 W)",
            "nvml: The power reading of a GPU is frozen. Drivers 581 to 595",
        ),
        watch_s=30,
    ),
    Scenario(
        "nan-metrics",
        N_("Hardware counters of which some are not a number."),
        nan_metrics,
        rows=(5, 11),
        shows=(
            "NVIDIA H200 | SM activity: ",
            "NVIDIA H200 | SM occupancy: — the driver gave an impossible value (NaN)",
            "NVIDIA H200 | Tensor core activity: — reading failed (NVML_ERROR_UNKNOWN)",
        ),
        never=(SICK,),
    ),
    Scenario(
        "unified-memory",
        N_("A device without memory of its own."),
        unified_memory,
        rows=(12,),
        shows=(
            "NVIDIA GB10 | Dedicated GPU memory, total: — not supported by this device or driver (unified memory)",
            "NVIDIA GB10 | Dedicated GPU memory: — not supported by this device or driver (unified memory)",
            "python 720 | Dedicated GPU memory: 30.0 GiB",
        ),
        never=("Dedicated GPU memory: 0.0 GiB", "ZeroDivisionError"),
    ),
)
