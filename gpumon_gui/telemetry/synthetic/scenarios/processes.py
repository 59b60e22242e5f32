"""Knows: process lists that do not fit the operating system's. Must not know: tests."""

from __future__ import annotations

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import ProcessPresence
from gpumon_gui.telemetry.synthetic.cards import A100, RTX_4090, card, sm
from gpumon_gui.telemetry.synthetic.host import Person, SyntheticHost
from gpumon_gui.telemetry.synthetic.loads import idle, steady, training
from gpumon_gui.telemetry.synthetic.nvml_library import Client, Driver, Fault
from gpumon_gui.telemetry.synthetic.scenario import Machine, Scenario, nvidia_machine

GIB = 1 << 30

NAMES = ("训练模型", "обучение", "学習-🚀", "caf\udce9-model", "عملية", "a" * 180)


def names(clock: Clock) -> Machine:
    """Names in Chinese, Cyrillic, Arabic, with an emoji, with a byte that is no UTF-8, and a very long one."""
    load = training()
    clients = tuple(Client(600 + number, GIB, sm=sm(load, 0.15)) for number in range(len(NAMES)))
    people = [
        Person(
            600 + number,
            name,
            ("python", f"/home/用户/项目/{name}.py"),
            user="用户",
            executable=f"/home/用户/{name}",
            environment=name,
            framework="PyTorch",
        )
        for number, name in enumerate(NAMES)
    ]
    board = card(RTX_4090, load, used_gib=6.5, clients=clients)
    return nvidia_machine(clock, Driver([board]), SyntheticHost(clock, people))


def dead(clock: Clock) -> Machine:
    """The driver lists a zombie, and a pid that no process has any more; both still hold memory."""
    clients = (Client(510, 8 * GIB), Client(511, 4 * GIB), Client(512, 2 * GIB, sm=30))
    people = [Person(510, "trainer", presence=ProcessPresence.ZOMBIE), Person(512, "python", framework="JAX")]
    board = card(A100, steady(0.3, 0.05), used_gib=14.2, clients=clients)
    return nvidia_machine(clock, Driver([board]), SyntheticHost(clock, people))


def recycled(clock: Clock) -> Machine:
    """A process ends after 4 s, and a new one gets its pid at once."""
    load = steady(0.5, 0.1)
    clients = (Client(520, 3 * GIB, sm=sm(load)),)
    people = [
        Person(520, "trainer", ("python", "train.py"), until_s=4, framework="PyTorch"),
        Person(520, "editor", ("code", "notes.md"), from_s=4),
    ]
    return nvidia_machine(
        clock, Driver([card(A100, load, used_gib=3.2, clients=clients)]), SyntheticHost(clock, people)
    )


def foreign(clock: Clock) -> Machine:
    """In a container: the driver gives pids of the host."""
    load = training()
    clients = (Client(1_204_331, 20 * GIB, sm=sm(load)),)
    host = SyntheticHost(clock, foreign=True)
    return nvidia_machine(clock, Driver([card(A100, load, used_gib=20.4, clients=clients)]), host)


def hidden(clock: Clock) -> Machine:
    """In a container or WSL: memory is in use, and the list is empty."""
    return nvidia_machine(clock, Driver([card(A100, training(), used_gib=38)]), SyntheticHost(clock, foreign=True))


def absurd_list(clock: Clock) -> Machine:
    """The driver says that its list of processes has four billion entries."""
    driver = Driver([card(A100, idle, used_gib=0.3)], absurd_count=True)
    return nvidia_machine(clock, driver)


def vanishing(clock: Clock) -> Machine:
    """Processes come and go in each second."""
    clients = tuple(Client(530 + number, GIB, sm=20, begins_s=number, ends_s=number + 2.5) for number in range(12))
    people = [Person(530 + number, f"job-{number}", until_s=number + 1.5, framework="JAX") for number in range(12)]
    board = card(A100, steady(0.4, 0.1), used_gib=3, clients=clients)
    return nvidia_machine(clock, Driver([board], faults=(Fault(lambda: None),)), SyntheticHost(clock, people))


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "process-names",
        N_("Process names in many scripts, with an emoji and with bytes that are no text."),
        names,
        rows=(17,),
        shows=("训练模型 600: Computing on GPU", "обучение 601: ", "学習-🚀 602: ", "caf\\udce9-model 603: "),
    ),
    Scenario(
        "dead-processes",
        N_("A zombie and a process that has exited still hold device memory."),
        dead,
        rows=(10,),
        shows=(
            "trainer 510: Exited, memory still held",
            "PID 511: Exited, memory still held",
            "PID 511 | Dedicated GPU memory: 4.0 GiB",
            "python 512: Computing on GPU",
        ),
    ),
    Scenario(
        "recycled-pid",
        N_("A process ends and another one gets its number."),
        recycled,
        rows=(10,),
        shows=("editor 520: ",),
        watch_s=7,
    ),
    Scenario(
        "foreign-pids",
        N_("In a container: the driver gives process numbers of the host."),
        foreign,
        rows=(23,),
        shows=("PID 1204331: Not visible from here",),
        never=("Exited",),
    ),
    Scenario(
        "hidden-processes",
        N_("In a container or WSL: device memory is in use, yet no process is listed."),
        hidden,
        rows=(23,),
        shows=("no processes: Processes are hidden from here", "The processes run outside this container"),
        never=("No process uses the GPU",),
    ),
    Scenario(
        "absurd-list",
        N_("A driver whose list of processes claims four billion entries."),
        absurd_list,
        rows=(9,),
        shows=("NVIDIA A100-SXM4-80GB | GPU utilization: 0 %",),
        never=("internal fault",),
    ),
    Scenario(
        "short-lived",
        N_("Processes that come and go every second."),
        vanishing,
        rows=(10,),
        shows=("NVIDIA A100-SXM4-80GB | GPU utilization: ", "job-"),
        never=("internal fault",),
    ),
)
