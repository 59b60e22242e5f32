"""Knows: cards and drivers that come and go. Must not know: tests."""

from __future__ import annotations

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import N_
from gpumon_gui.telemetry.synthetic.cards import A100, RTX_3070_LAPTOP, RTX_4090, card, sm
from gpumon_gui.telemetry.synthetic.host import Person, SyntheticHost
from gpumon_gui.telemetry.synthetic.loads import cores, steady, training
from gpumon_gui.telemetry.synthetic.nvml_library import GPU_IS_LOST, Card, Client, Code, Driver, Fault
from gpumon_gui.telemetry.synthetic.scenario import Machine, Scenario, nvidia_machine

GIB = 1 << 30
LOST = "The driver lost this GPU. It fell off the bus, was unplugged or needs a reset."
OTHERS = "nvml: A GPU was lost by the driver. The others go on."


def _cards(count: int = 3) -> list[Card]:
    cards = []
    for number in range(count):
        load = training(0.9, seed=number)
        clients = (Client(500 + number, 20 * GIB, sm=sm(load)),)
        cards.append(card(A100, load, number=number, used_gib=20.5, clients=clients))
        cards[-1].figures["name"] = f"NVIDIA A100 {'ABC'[number]}".encode()
    return cards


def _host(clock: Clock) -> SyntheticHost:
    people = [Person(500 + number, "python", (), cores(1.0, 0.1), framework="PyTorch") for number in range(3)]
    return SyntheticHost(clock, people)


def lost_at_start(clock: Clock) -> Machine:
    """The middle one of three cannot even be opened."""
    cards = _cards()
    cards[1].lost_from_s = 0.0
    return nvidia_machine(clock, Driver(cards), _host(clock))


def lost_while_described(clock: Clock) -> Machine:
    """The handle is given, then every question about the card fails."""
    cards = _cards()
    cards[1].figures["bus_id"] = Code(GPU_IS_LOST)
    return nvidia_machine(clock, Driver(cards), _host(clock))


def lost_in_mid_run(clock: Clock) -> Machine:
    """The middle one of three falls off the bus after 3 s."""
    cards = _cards()
    cards[1].lost_from_s = 2.5
    return nvidia_machine(clock, Driver(cards), _host(clock))


def reset_required(clock: Clock) -> Machine:
    """One card answers "reset required"."""
    fault = Fault(lambda: 16, "nvmlDeviceGetPowerUsage", card=1, from_s=2.5)
    return nvidia_machine(clock, Driver(_cards(), faults=(fault,)), _host(clock))


def unplugged(clock: Clock) -> Machine:
    """An external GPU is pulled out after 3 s."""
    inner = card(RTX_3070_LAPTOP, steady(0.1, 0.05), used_gib=0.5)
    outer = card(RTX_4090, steady(0.6, 0.2), number=4, used_gib=3)
    outer.present = lambda now_s: now_s < 2.5
    return nvidia_machine(clock, Driver([inner, outer]))


def plugged_in(clock: Clock) -> Machine:
    """An external GPU appears after 3 s."""
    inner = card(RTX_3070_LAPTOP, steady(0.1, 0.05), used_gib=0.5)
    outer = card(RTX_4090, steady(0.6, 0.2), number=4, used_gib=3)
    outer.present = lambda now_s: now_s >= 2.5
    return nvidia_machine(clock, Driver([inner, outer]))


def driver_restarted(clock: Clock) -> Machine:
    """The driver is restarted after 2.5 s and is gone for 3 s; afterwards all handles are new."""
    return nvidia_machine(clock, Driver(_cards(), outages=((2.5, 5.5),)), _host(clock))


def driver_gone(clock: Clock) -> Machine:
    """The driver is unloaded after 3 s and does not come back."""
    return nvidia_machine(clock, Driver(_cards(), outages=((2.5, float("inf")),)), _host(clock))


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "lost-gpu-at-start",
        N_("One of three GPUs is lost before GPUMon starts."),
        lost_at_start,
        rows=(2,),
        shows=(f"NVIDIA GPU: {LOST}", OTHERS, "NVIDIA A100 A | GPU utilization: 9", "python 502: Computing on GPU"),
    ),
    Scenario(
        "lost-gpu-while-described",
        N_("One of three GPUs is lost while GPUMon asks what it is."),
        lost_while_described,
        rows=(2,),
        shows=(f"NVIDIA GPU: {LOST}", OTHERS, "NVIDIA A100 C | GPU utilization: 8"),
    ),
    Scenario(
        "lost-gpu",
        N_("One of three GPUs falls off the bus after 3 s."),
        lost_in_mid_run,
        rows=(2,),
        shows=(
            f"NVIDIA A100 B: {LOST}",
            "NVIDIA A100 B | GPU utilization: — the driver lost this device (NVML_ERROR_GPU_IS_LOST)",
            OTHERS,
            "NVIDIA A100 A | GPU utilization: 9",
            "NVIDIA A100 C | GPU utilization: 8",
        ),
        watch_s=6,
    ),
    Scenario(
        "reset-required",
        N_("One of three GPUs needs a reset."),
        reset_required,
        rows=(2,),
        shows=(f"NVIDIA A100 B: {LOST}", "NVML_ERROR_RESET_REQUIRED", "NVIDIA A100 C | GPU utilization: 8"),
        watch_s=6,
    ),
    Scenario(
        "hot-unplug",
        N_("An external GPU is pulled out after 3 s."),
        unplugged,
        rows=(13,),
        shows=(f"NVIDIA GeForce RTX 4090: {LOST}", "NVIDIA GeForce RTX 3070 Laptop GPU | GPU utilization: "),
        watch_s=9,
    ),
    Scenario(
        "hot-plug",
        N_("An external GPU appears after 3 s."),
        plugged_in,
        rows=(13,),
        shows=(
            "NVIDIA GeForce RTX 4090 | GPU utilization: ",
            "nvml: A GPU was added, removed or split. GPUMon looked for the devices again.",
        ),
        watch_s=9,
    ),
    Scenario(
        "driver-restart",
        N_("The driver is restarted after 3 s; then every handle is a new one."),
        driver_restarted,
        rows=(1,),
        shows=("nvml: The driver was restarted.", "NVIDIA A100 B | GPU utilization: "),
        never=(LOST,),
        watch_s=12,
    ),
    Scenario(
        "driver-gone",
        N_("The driver is unloaded after 3 s."),
        driver_gone,
        rows=(1,),
        shows=(
            "nvml: The NVIDIA driver is installed but not running.",
            "NVIDIA A100 B: The driver does not answer for this GPU.",
            "NVIDIA A100 B | GPU utilization: — the source went away",
        ),
        watch_s=6,
    ),
)
