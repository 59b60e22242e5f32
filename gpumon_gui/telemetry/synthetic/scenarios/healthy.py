"""Knows: machines on which nothing is wrong. Must not know: tests."""

from __future__ import annotations

from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import N_
from gpumon_gui.telemetry.drm.source import DrmSource
from gpumon_gui.telemetry.synthetic.cards import A100, H200, L4, RTX_3070_LAPTOP, RTX_4090, Model, card, sm
from gpumon_gui.telemetry.synthetic.host import Person, SyntheticHost
from gpumon_gui.telemetry.synthetic.loads import Load, bursts, cores, desktop, idle, steady, training
from gpumon_gui.telemetry.synthetic.nvml_library import Card, Client, Driver, NvmlStandIn
from gpumon_gui.telemetry.synthetic.scenario import Machine, Scenario, Staged, Tree, nvidia_machine, nvml_source
from gpumon_gui.telemetry.synthetic.trees import DrmCard, NvidiaBus, Painter

GIB = 1 << 30
MIB = 1 << 20

TRAIN = Person(
    41_207,
    "python",
    ("python", "train.py", "--model", "resnet50", "--amp"),
    cpu=cores(1.05, 0.2),
    rss_gib=5.8,
    threads=41,
    executable="/home/ada/miniforge3/envs/torch/bin/python3.12",
    framework="PyTorch",
    environment="torch",
)
ON_CPU = Person(
    41_990,
    "python",
    ("python", "finetune.py"),
    cpu=cores(11.4, 0.4),
    rss_gib=9.1,
    threads=33,
    executable="/home/ada/venvs/tf/bin/python",
    framework="TensorFlow",
    environment="tf",
    on_gpu=False,
)


def one_gpu_training(clock: Clock) -> Machine:
    """A workstation: a training run with epochs, the desktop beside it, a TensorFlow job that forgot the GPU."""
    load = training()
    clients = (
        Client(TRAIN.pid, int(13.7 * GIB), sm=sm(load, 0.97), memory_busy=44),
        Client(2_311, 412 * MIB, "G", sm=2),
        Client(3_020, 268 * MIB, "CG", sm=1),
    )
    people = (
        TRAIN,
        ON_CPU,
        Person(2_311, "Xorg", ("/usr/lib/xorg/Xorg", ":0"), cores(0.03, 0.02), 0.2, 9, user="root"),
        Person(3_020, "gnome-shell", ("/usr/bin/gnome-shell",), cores(0.05, 0.03), 0.5, 28),
    )
    board = card(RTX_4090, load, used_gib=14.6, clients=clients)
    board.figures["display_active"] = 1
    return nvidia_machine(clock, Driver([board]), SyntheticHost(clock, people, cores=16, ram_gib=64))


def h200_serving(clock: Clock) -> Machine:
    """A server card that answers requests in bursts, with hardware counters (GPM)."""
    load = bursts()
    clients = (Client(9_120, 61 * GIB, sm=sm(load)),)
    people = (
        Person(
            9_120, "VLLM::EngineCore", ("vllm", "serve", "--port", "8000"), cores(1.2, 0.4), 21, 180, "svc",
            framework="PyTorch", environment="vllm",
        ),
    )  # fmt: skip
    driver = Driver([card(H200, load, used_gib=61.2, clients=clients)])
    return nvidia_machine(clock, driver, SyntheticHost(clock, people, cores=32, ram_gib=512))


def idle_holding(clock: Clock) -> Machine:
    """A process holds memory and does nothing; the desktop needs little."""
    clients = (Client(5_150, 60 * GIB),)
    people = (
        Person(
            5_150, "jupyter-lab", ("python", "-m", "ipykernel_launcher"), cores(0.01, 0.01), 3, 25,
            framework="PyTorch",
        ),
    )  # fmt: skip
    driver = Driver([card(H200, idle, used_gib=61.2, clients=clients)])
    return nvidia_machine(clock, driver, SyntheticHost(clock, people))


def laptop_hybrid(clock: Clock) -> Machine:
    """A laptop: the Intel GPU draws the desktop, the NVIDIA GPU sleeps; a program uses it from second 20 to 40."""

    def wanted(now_s: float) -> bool:
        return 20 <= now_s < 40

    def load(now_s: float) -> float:
        return steady(0.7, 0.2)(now_s) if wanted(now_s) else 0.0

    renderer = Person(
        6_611, "blender", ("blender", "scene.blend"), cores(0.8, 0.3), 1.4, 22, from_s=20, until_s=40,
        executable="/usr/bin/blender",
    )  # fmt: skip
    tree = Tree()
    clients = (Client(6_611, 1900 * MIB, "CG", sm=sm(load), begins_s=20, ends_s=40),)
    board = card(RTX_3070_LAPTOP, load, used_gib=0.3, clients=clients, bus="00000000:01:00.0")
    library = NvmlStandIn(Driver([board]), clock)
    bus = NvidiaBus(tree, "0000:01:00.0", RTX_3070_LAPTOP.name, library, wanted, can_sleep=True)
    screen = desktop()
    painters = (
        Painter(1_880, {"render": screen, "copy": idle}, gtt_gib=0.34),
        Painter(4_404, {"render": desktop(3), "video": steady(0.11, 0.04)}, gtt_gib=0.61),
    )
    intel = DrmCard(tree, 0, "i915", "8086:46a6", "0000:00:02.0", painters, screen)
    people = (
        renderer,
        Person(1_880, "gnome-shell", ("/usr/bin/gnome-shell",), cores(0.06, 0.04), 0.4, 24),
        Person(4_404, "firefox", ("/usr/lib/firefox/firefox",), cores(0.3, 0.2), 1.1, 92),
    )
    sources = [
        Staged(nvml_source(library, tree.root), bus.act, clock),
        Staged(DrmSource(tree.root), intel.act, clock),
    ]
    host = SyntheticHost(clock, people, cores=12, ram_gib=16)
    return Machine(sources, host, library, wakes=lambda: bus.wakes)


def many(clock: Clock, count: int, model: Model) -> Machine:
    """A server full of equal cards; one process per card trains, every fifth card is free."""
    cards: list[Card] = []
    people: list[Person] = []
    for number in range(count):
        load: Load = idle if number % 5 == 4 else training(0.94 - 0.02 * (number % 4), seed=number)
        clients: tuple[Client, ...] = ()
        if load is not idle:
            pid = 30_000 + 7 * number
            clients = (Client(pid, int((0.5 + 0.03 * (number % 8)) * model.memory_gib * GIB), sm=sm(load)),)
            command = ("python", "-m", "torch.distributed.run", "pretrain.py", f"--local-rank={number}")
            people.append(
                Person(pid, "python", command, cores(1.0, 0.1, number), 7, 60, framework="PyTorch", environment="ddp")
            )
        used = 0.4 if load is idle else (0.51 + 0.03 * (number % 8)) * model.memory_gib
        cards.append(card(model, load, number=number, used_gib=used, clients=clients))
    host = SyntheticHost(clock, people, cores=64, ram_gib=1024, load=steady(0.3, 0.1))
    return nvidia_machine(clock, Driver(cards), host)


def mixed_vendors(clock: Clock) -> Machine:
    """A workstation with an AMD and an NVIDIA card; ROCm trains on the one, the other serves."""
    tree = Tree()
    radeon_load = training(0.9, 30.0, 4.0)
    nvidia_load = bursts(0.5)
    painters = (
        Painter(7_077, {"gfx": idle, "compute": radeon_load}, vram_gib=11.2, gtt_gib=0.2),
        Painter(2_020, {"gfx": desktop(), "enc": idle}, vram_gib=0.6, gtt_gib=0.1),
    )
    radeon = DrmCard(
        tree, 0, "amdgpu", "1002:744c", "0000:0a:00.0", painters, radeon_load, vram_gib=24, power_w=355,
    )  # fmt: skip
    board = card(L4, nvidia_load, number=2, used_gib=7.4, clients=(Client(8_181, 7 * GIB, sm=sm(nvidia_load)),))
    library = NvmlStandIn(Driver([board]), clock)
    bus = NvidiaBus(tree, "0000:03:00.0", L4.name, library, lambda _now_s: True, can_sleep=False)
    people = (
        Person(7_077, "python3", ("python3", "train.py"), cores(1.1, 0.2), 6, 40, framework="PyTorch"),
        Person(2_020, "kwin_wayland", (), cores(0.05, 0.03), 0.3, 18),
        Person(8_181, "tritonserver", ("tritonserver", "--model-repository=/models"), cores(0.6, 0.3), 3, 70),
    )
    sources = [
        Staged(nvml_source(library, tree.root), bus.act, clock),
        Staged(DrmSource(tree.root), radeon.act, clock),
    ]
    return Machine(sources, SyntheticHost(clock, people, cores=24, ram_gib=64), library)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "one-gpu-training",
        N_("A workstation with one GPU: a training run in epochs, and a job that was left on the CPU."),
        one_gpu_training,
        shows=(
            "python 41207: Computing on GPU",
            "Xorg 2311: Graphics only",
            "python 41990: On CPU only",
            "P-state: 0.0",
        ),
        never=("impossible", "reading failed"),
    ),
    Scenario(
        "h200-serving",
        N_("A server card that answers requests in bursts, with hardware counters."),
        h200_serving,
        shows=("NVIDIA H200 | SM activity: ", "VLLM::EngineCore 9120: Computing on GPU"),
        never=("impossible",),
        watch_s=12,
    ),
    Scenario(
        "idle-holding",
        N_("A notebook holds 60 GiB of device memory and computes nothing."),
        idle_holding,
        shows=("jupyter-lab 5150: Holding memory, idle", "NVIDIA H200 | GPU utilization: 0 %"),
        watch_s=8,
    ),
    Scenario(
        "laptop-hybrid",
        N_("A laptop: an Intel GPU draws, the NVIDIA GPU sleeps and is used for a while."),
        laptop_hybrid,
        rows=(21, 22),
        shows=(
            "NVIDIA GeForce RTX 3070 Laptop GPU: Asleep. GPUMon does not wake it.",
            "nvml: All GPUs of this source are asleep",
            "Intel Alder Lake-P GT2 [Iris Xe Graphics] | Busiest engine: ",
            "firefox 4404: ",
        ),
        never=("lost this GPU",),
        watch_s=15,
    ),
    Scenario(
        "eight-gpus",
        N_("A server with eight A100 cards that train together."),
        lambda clock: many(clock, 8, A100),
        rows=(16,),
        shows=("python 30049: Computing on GPU",),
    ),
    Scenario(
        "sixteen-gpus",
        N_("A server with sixteen cards."),
        lambda clock: many(clock, 16, A100),
        rows=(16,),
        shows=("python 30105: Computing on GPU",),
    ),
    Scenario(
        "twenty-gpus",
        N_("A server with twenty cards."),
        lambda clock: many(clock, 20, L4),
        rows=(16,),
        shows=("python 30126: Computing on GPU",),
    ),
    Scenario(
        "mixed-vendors",
        N_("An AMD and an NVIDIA card in one workstation."),
        mixed_vendors,
        rows=(22,),
        shows=(
            "Radeon RX 7900 XT/7900 XTX] | GPU utilization: ",
            "NVIDIA L4 | GPU utilization: ",
            "python3 7077: Computing on GPU",
            "tritonserver 8181: Computing on GPU",
        ),
        never=("lost this GPU",),
        watch_s=10,
    ),
)
