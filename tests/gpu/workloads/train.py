"""A small PyTorch training run: convolutions on synthetic images, mixed precision, optional data loader workers."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    """Random images made on the CPU, as slow as decoding would be."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, index: int):
        generator = torch.Generator().manual_seed(index)
        return torch.rand(3, self.size, self.size, generator=generator), index % 100


def network() -> nn.Module:
    layers: list[nn.Module] = []
    channels = 3
    for width in (64, 128, 256, 512):
        for _ in range(3):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            channels = width
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--workers", type=int, default=-1, help="-1: the data is on the GPU already")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--size", type=int, default=112)
    arguments = parser.parse_args()
    device = torch.device("cuda")
    model = network().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    loss_function = nn.CrossEntropyLoss()
    if arguments.workers < 0:
        fixed = (
            torch.rand(arguments.batch, 3, arguments.size, arguments.size, device=device),
            torch.randint(0, 100, (arguments.batch,), device=device),
        )
        batches = iter(lambda: fixed, None)
    else:
        loader = DataLoader(
            Images(arguments.size), batch_size=arguments.batch, num_workers=arguments.workers, pin_memory=True
        )
        batches = iter(loader)
    end = time.monotonic() + arguments.seconds
    steps = 0
    while time.monotonic() < end:
        images, labels = next(batches)
        images = images.to(device, non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = loss_function(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        steps += 1
        if steps % 20 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    print("steps", steps, flush=True)


if __name__ == "__main__":
    main()
