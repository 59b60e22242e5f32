import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def work(rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    torch.set_float32_matmul_precision("high")
    model = DistributedDataParallel(torch.nn.Linear(10, 10).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        model(torch.randn(20, 10, device=rank)).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    mp.spawn(work, args=(2,), nprocs=2)
