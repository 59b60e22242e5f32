"""Workloads that hold, leak, pause, or compute elsewhere."""

import math
import multiprocessing
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from compute import language_model
from feeding import fixed, train
from networks import resnet50
from pace import run
from torch import nn
from torch.nn import functional


def leak(pace, mib: int = 64) -> None:
    """Trains well and keeps some of every step on the GPU for good: features "for later"."""
    kept = []

    def watch(_step: int) -> None:
        kept.append(torch.rand(pace.pick(mib << 18, 1024), device=pace.device))

    language_model(pace, watch=watch)


def leak_slowly(pace) -> None:
    """The same with little: PyTorch takes 2 GiB from the driver every 12 s."""
    leak(pace, 16)


def cache_until_full(pace) -> None:
    """Trains and fills a cache on the GPU that stops growing at 12 GiB, some eight seconds later."""
    kept: list[torch.Tensor] = []

    def watch(_step: int) -> None:
        limit = pace.pick(12 << 30, 1 << 20)
        if pace.begin and sum(part.nbytes for part in kept) < limit * min(1.0, pace.elapsed / 8):
            kept.append(torch.rand(pace.pick(32 << 20, 1024), device=pace.device))

    language_model(pace, watch=watch)


def nearly_full(pace) -> None:
    """Trains in a memory that is full but for 1.2 %."""
    batches, held = fixed(pace), []

    def fill():
        for number in range(1 << 30):
            if number == 6 and pace.device.type == "cuda":  # the network's own need is met by then
                free, total = torch.cuda.mem_get_info()
                held.append(torch.zeros(int(free - 0.012 * total), dtype=torch.uint8, device=pace.device))
            yield next(batches)

    train(pace, fill(), warm=16)


def evaluate_on_cpu(pace) -> None:
    """Six seconds of training, then four of scoring and saving on the CPU, again and again."""
    device = pace.device
    model = resnet50().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = next(fixed(pace))
    images = images.float().div_(255).to(memory_format=torch.channels_last)
    generator = np.random.default_rng(0)
    begin = None
    for _ in pace.steps():
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        pace.settle()
        begin = begin or (time.monotonic() if pace.begin else None)
        if begin and time.monotonic() - begin >= 6:
            with tempfile.TemporaryDirectory() as folder:
                torch.save(model.state_dict(), Path(folder) / "checkpoint.pt")
            while time.monotonic() - begin < 10:  # ranking metrics, as in retrieval
                np.argsort(generator.random((200, 5000)), axis=1)
            begin = time.monotonic()


def environment(pipe) -> None:
    """A physics simulator in Python: a pendulum on a cart, small time steps."""
    x = speed = turn = 0.0
    angle = 0.1
    while True:
        push = pipe.recv()
        for _ in range(4000):
            sine, cosine = math.sin(angle), math.cos(angle)
            force = (push + 0.05 * turn * turn * sine) / 1.1
            spin = (9.8 * sine - cosine * force) / (0.5 * (1.333 - 0.1 * cosine * cosine / 1.1))
            x, speed = (x + 1e-5 * speed) % 10, (speed + 1e-5 * force) % 10
            angle, turn = (angle + 1e-5 * turn) % math.tau, (turn + 1e-5 * spin) % 10
        pipe.send((x, speed, angle, turn))


def reinforcement(pace) -> None:
    """A policy on the GPU, its simulators in processes on the CPU: the network waits for the next observation."""
    count = pace.pick(14, 2)
    pipes = []
    for _ in range(count):
        here, there = multiprocessing.Pipe()
        multiprocessing.Process(target=environment, args=(there,), daemon=True).start()
        pipes.append(here)
    policy = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1))
    policy.to(pace.device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-4)
    seen, observed = [], torch.zeros(count, 4, device=pace.device)
    for _ in pace.steps(40):
        with torch.no_grad():
            pushes = policy(observed).squeeze(1).tolist()
        for pipe, push in zip(pipes, pushes, strict=True):
            pipe.send(push)
        observed = torch.tensor([pipe.recv() for pipe in pipes], device=pace.device)
        seen.append(observed)
        if len(seen) == 64:
            policy(torch.cat(seen)).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            seen.clear()


def forgotten_on_cpu(pace) -> None:
    """Asks for the GPU, prints its name, and trains a network that never left the CPU."""
    torch.zeros(1, device=pace.device)
    torch.set_num_threads(pace.pick(os.cpu_count() or 1, 2))
    model = resnet50()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = torch.rand(pace.pick(32, 2), 3, 224, 224), torch.randint(0, 1000, (pace.pick(32, 2),))
    for _ in pace.steps(2):
        functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    run(
        (
            leak,
            leak_slowly,
            cache_until_full,
            nearly_full,
            evaluate_on_cpu,
            reinforcement,
            forgotten_on_cpu,
        )
    )
