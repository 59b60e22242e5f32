"""A run whose bottleneck changes: healthy training on data that lie on the GPU, then the same fed by a slow loader in
the training process, then healthy again. Prints the moment of each change."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader
from train import Images, network


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30, help="of each phase")
    arguments = parser.parse_args()
    device = torch.device("cuda")
    torch.backends.cudnn.benchmark = True
    model = network().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_function = nn.CrossEntropyLoss()
    images = torch.rand(256, 3, 112, 112, device=device)
    labels = torch.randint(0, 100, (256,), device=device)
    loader = iter(DataLoader(Images(112), batch_size=256))

    def step(batch: torch.Tensor, wanted: torch.Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_function(model(batch), wanted)
        loss.backward()
        optimizer.step()

    start = time.monotonic()
    for name in ("healthy", "starved", "healthy"):
        print(f"{time.time():.1f} {name} from {time.monotonic() - start:.1f} s", flush=True)
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end:
            if name == "healthy":
                step(images, labels)
                torch.cuda.synchronize()
            else:
                batch, wanted = next(loader)
                step(batch.to(device), wanted.to(device))


if __name__ == "__main__":
    main()
