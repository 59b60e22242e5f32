"""Knows: drivers that hang, are slow, or take their process with them. Must not know: tests."""

from __future__ import annotations

import os
import signal

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import N_
from gpumon_gui.telemetry.synthetic.cards import A100, RTX_4090, card
from gpumon_gui.telemetry.synthetic.loads import steady, training
from gpumon_gui.telemetry.synthetic.nvml_library import Driver, Fault
from gpumon_gui.telemetry.synthetic.scenario import Machine, Scenario, hang, nvidia_machine, pause


def _driver(fault: Fault) -> Driver:
    return Driver([card(A100, training(), number=0), card(A100, steady(0.5, 0.2), number=1)], faults=(fault,))


def hang_in_getter(clock: Clock) -> Machine:
    """A getter does not return, for every card, after a second."""
    return nvidia_machine(clock, _driver(Fault(hang, "nvmlDeviceGetPowerUsage", from_s=1.0)))


def hang_in_one(clock: Clock) -> Machine:
    """A getter does not return for the second card."""
    return nvidia_machine(clock, _driver(Fault(hang, "nvmlDeviceGetTemperature", card=1, from_s=1.0)))


def hang_in_init(clock: Clock) -> Machine:
    """nvmlInit does not return."""
    return nvidia_machine(clock, _driver(Fault(hang, "nvmlInit_v2")))


def killed(clock: Clock) -> Machine:
    """The process is killed in a getter."""
    return nvidia_machine(clock, _driver(Fault(lambda: _die("SIGKILL"), "nvmlDeviceGetPowerUsage", from_s=1.0)))


def crashed(clock: Clock) -> Machine:
    """The driver's library crashes in a getter."""
    return nvidia_machine(clock, _driver(Fault(lambda: _die("SIGSEGV"), "nvmlDeviceGetPowerUsage", from_s=1.0)))


def slow(clock: Clock) -> Machine:
    """Each sweep takes 0.4 s."""

    def act() -> None:
        pause(clock, 0.4)

    fault = Fault(act, "nvmlDeviceGetUtilizationRates")
    return nvidia_machine(clock, Driver([card(RTX_4090, steady(0.5, 0.2))], faults=(fault,)))


def _die(name: str) -> int | None:
    if os.name == "nt":
        os.abort()
    os.kill(os.getpid(), getattr(signal, name))
    hang()  # the signal comes at once, but maybe to another thread
    return None


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "hang",
        N_("A driver call does not return after a second."),
        hang_in_getter,
        rows=(14,),
        shows=(
            "nvml: A driver call did not return.",
            "NVIDIA A100-SXM4-80GB: The driver does not answer for this GPU.",
            "NVIDIA A100-SXM4-80GB | GPU utilization: — the driver does not answer",
        ),
        deadly=True,
    ),
    Scenario(
        "hang-one-gpu",
        N_("A driver call does not return for one of two GPUs."),
        hang_in_one,
        rows=(14,),
        shows=("nvml: A driver call did not return.",),
        deadly=True,
    ),
    Scenario(
        "hang-in-init",
        N_("The driver does not start."),
        hang_in_init,
        rows=(14,),
        shows=("nvml: A driver call did not return.",),
        deadly=True,
    ),
    Scenario(
        "killed-in-call",
        N_("The process that reads is killed in a driver call."),
        killed,
        rows=(1, 2),
        shows=("nvml: Reading this source ended GPUMon's sampler several times",),
        deadly=True,
    ),
    Scenario(
        "crash-in-call",
        N_("The driver's library crashes in a call."),
        crashed,
        rows=(1, 2),
        shows=("nvml: Reading this source ended GPUMon's sampler several times",),
        deadly=True,
    ),
    Scenario(
        "slow-driver",
        N_("Each look at the driver takes 0.4 s."),
        slow,
        rows=(16,),
        shows=("nvml: This source is slow on this machine, so it is read less often.",),
        watch_s=8,
    ),
)
