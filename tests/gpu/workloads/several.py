"""Workloads on two GPUs and more: even and uneven ranks, layers in turns, collectives that dominate or hang."""

import os
import socket
import time

import torch
import torch.distributed as dist
from pace import Pace, run
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

WIDTH, DEPTH = 8192, 6


def network(pace, depth: int = DEPTH, width: int = WIDTH) -> nn.Module:
    """Wide layers: long kernels, and 128 MiB of gradients each in bfloat16."""
    width = pace.pick(width, 64)
    return nn.Sequential(*(layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.GELU())))


def devices(pace) -> list[torch.device]:
    """All GPUs; two times the CPU for a dry run."""
    if pace.device.type == "cuda":
        return [torch.device("cuda", index) for index in range(torch.cuda.device_count())]
    return [pace.device, pace.device]


def spawn(pace, work, *more) -> None:
    """A rank per device; the first one tells the pace."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    count = len(devices(pace))
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.multiprocessing.spawn(_rank, (count, pace.seconds, pace.device.type, work, *more), nprocs=count)


def _rank(rank: int, count: int, seconds: float, kind: str, work, *more) -> None:
    on_gpu = kind == "cuda"
    if on_gpu:
        torch.cuda.set_device(rank)
    dist.init_process_group("nccl" if on_gpu else "gloo", rank=rank, world_size=count)
    pace = Pace(seconds, f"cuda:{rank}" if on_gpu else kind)
    if rank:
        pace.ready = lambda: setattr(pace, "begin", time.monotonic())  # one READY is enough
    work(pace, rank, *more)
    dist.destroy_process_group()


def together(pace):
    """Steps until the first rank's time is over: a rank that leaves earlier breaks the others' collectives."""
    end, seconds = torch.zeros(1, device=pace.device), pace.seconds
    pace.seconds = float("inf")
    for step in pace.steps():
        yield step
        end.fill_(dist.get_rank() == 0 and pace.begin > 0 and pace.elapsed > seconds)
        dist.all_reduce(end)
        if end.item():
            return


def _train(pace, _rank: int, rows: tuple[int, ...]) -> None:
    model = network(pace).to(pace.device)
    model = DistributedDataParallel(model, device_ids=[pace.device.index] if pace.device.type == "cuda" else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    count = rows[min(_rank, len(rows) - 1)]
    data = torch.rand(pace.pick(count, 4), pace.pick(WIDTH, 64), device=pace.device)
    for _ in together(pace):
        with torch.autocast(pace.device.type, dtype=torch.bfloat16):
            loss = model(data).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def even_ranks(pace) -> None:
    """DistributedDataParallel, the same work on each."""
    spawn(pace, _train, (16384,))


def uneven_ranks(pace) -> None:
    """The second rank has three times the rows."""
    spawn(pace, _train, (8192, 24576))


def small_batches(pace) -> None:
    """So few rows that exchanging the gradients takes longer than making them."""
    spawn(pace, _train, (256,))


def _collectives(pace, _rank: int) -> None:
    data = torch.rand(pace.pick(1 << 29, 1 << 10), device=pace.device)
    small = torch.rand(pace.pick(1024, 16), pace.pick(1024, 16), device=pace.device)
    for _ in together(pace):
        small = torch.tanh(small @ small)
        dist.all_reduce(data)
        data.mul_(0.5)


def collectives(pace) -> None:
    """2 GiB are summed over the ranks in each step, for hardly any arithmetic."""
    spawn(pace, _collectives)


def _hang(pace, rank: int) -> None:
    data = torch.rand(pace.pick(1 << 24, 1 << 10), device=pace.device)
    for step in pace.steps():
        if rank and step >= 0 and pace.elapsed > 0.5:
            time.sleep(pace.seconds)  # the others wait for this one
            os._exit(0)
        dist.all_reduce(data)
        pace.settle()


def hang(pace) -> None:
    """One rank leaves without a word; the others are in a collective."""
    spawn(pace, _hang)


def _stray(pace, rank: int) -> None:
    first = torch.ones(1, device="cuda:0" if pace.device.type == "cuda" else "cpu")
    _train(pace, rank, (16384,))
    del first


def context_on_the_first(pace) -> None:
    """Every rank also opens the first GPU."""
    spawn(pace, _stray)


def layers_in_turns(pace) -> None:
    """One process, half of the layers on each GPU, one batch at a time: they take turns within a step."""
    _turns(pace, 8192, 1)


def slow_turns(pace) -> None:
    """The same with steps of seconds."""
    _turns(pace, 32768, 24)


def _turns(pace, rows: int, repeats: int) -> None:
    places = devices(pace)
    parts = [network(pace).to(place) for place in places]
    optimizers = [torch.optim.SGD(part.parameters(), lr=1e-4) for part in parts]
    data = torch.rand(pace.pick(rows, 4), pace.pick(WIDTH, 64), device=places[0])
    for _ in pace.steps(2):
        value = data
        for part, place in zip(parts, places, strict=True):
            value = value.to(place)
            with torch.autocast(place.type, dtype=torch.bfloat16):
                for _ in range(repeats):
                    value = functional.layer_norm(part(value).float(), value.shape[1:])
        value.pow(2).mean().backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        for place in places:
            if place.type == "cuda":
                torch.cuda.synchronize(place)


def data_parallel(pace) -> None:
    """torch.nn.DataParallel: outputs and gradients are gathered on the first GPU."""
    model = nn.DataParallel(network(pace).to(devices(pace)[0])) if pace.device.type == "cuda" else network(pace)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    data = torch.rand(pace.pick(32768, 4), pace.pick(WIDTH, 64), device=devices(pace)[0])
    for _ in pace.steps():
        with torch.autocast(pace.device.type, dtype=torch.bfloat16):
            loss = model(data).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def only_the_first(pace) -> None:
    """All the work on the first GPU."""
    model = network(pace).to(pace.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    data = torch.rand(pace.pick(16384, 4), pace.pick(WIDTH, 64), device=pace.device)
    for _ in pace.steps():
        with torch.autocast(pace.device.type, dtype=torch.bfloat16):
            loss = model(data).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    run(
        (
            even_ranks,
            uneven_ranks,
            small_batches,
            collectives,
            hang,
            context_on_the_first,
            layers_in_turns,
            slow_turns,
            data_parallel,
            only_the_first,
        )
    )
