"""Workloads fed from the CPU side: loaders, disks, copies. Each trains or runs ResNet-50 in half precision."""

import mmap
import os
import tempfile
import time
from pathlib import Path

import torch
from networks import resnet50
from pace import run
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


def augment(image, passes: int):
    """Rotate and blur one image ``passes`` times on one core."""
    image = image[None].float()
    for number in range(passes):
        turn = torch.tensor([[[1.0, 0.02 * number, 0.0], [-0.02 * number, 1.0, 0.0]]])
        grid = functional.affine_grid(turn, image.shape, align_corners=False)
        image = functional.avg_pool2d(functional.grid_sample(image, grid, align_corners=False), 3, 1, 1)
    return image[0]


class Images(Dataset):
    """Stored images, each cropped, mirrored and (``cost_ms`` above 0) augmented on one CPU core."""

    def __init__(self, cost_ms: float) -> None:
        self.store = torch.randint(0, 256, (512, 3, 256, 256), dtype=torch.uint8)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        augment(self.store[0], 3)
        begin = time.perf_counter()
        augment(self.store[0], 10)
        passes = cost_ms / ((time.perf_counter() - begin) * 100)
        self.passes, self.share = max(1, round(passes)), min(1.0, passes)  # below one pass: some images only
        torch.set_num_threads(threads)
        print(f"augmentation: {self.passes} passes for {self.share:.0%} of the images", flush=True)

    def __len__(self) -> int:
        return 10_000_000

    def __getitem__(self, index: int):
        top, left = index * 7 % 32, index * 13 % 32
        image = self.store[index % 512, :, top : top + 224, left : left + 224]
        if index * 7919 % 1000 < self.share * 1000:
            image = augment(image, self.passes).to(torch.uint8)
        return image.flip(2) if index & 1 else image.clone(), index % 1000


class Files(IterableDataset):
    """Raw frames read from large files past the system's cache; a small part of each is used."""

    chunk = 8 << 20

    def __init__(self, folder: Path, files: int, size: int) -> None:
        self.paths = [folder / f"frames{number}.bin" for number in range(files)]
        block = os.urandom(self.chunk)
        for path in self.paths:
            with path.open("wb") as file:
                for _ in range(size // self.chunk):
                    file.write(block)
                file.flush()
                os.fsync(file.fileno())

    def __iter__(self):
        buffer = mmap.mmap(-1, self.chunk)  # aligned, as reads past the cache demand
        info = get_worker_info()
        at, step = (info.id, info.num_workers) if info else (0, 1)
        while True:
            handle = os.open(self.paths[at % len(self.paths)], os.O_RDONLY | os.O_DIRECT)
            offset = 0
            while os.preadv(handle, [buffer], offset) == self.chunk:
                frame = torch.frombuffer(buffer, dtype=torch.uint8, count=3 * 224 * 224).view(3, 224, 224).clone()
                yield frame, 1
                offset += self.chunk
            os.close(handle)
            at += step


def train(pace, batches, precise: bool = False, warm: int = 8) -> None:
    """ResNet-50 on what ``batches`` yields; float16 on tensor cores, or (``precise``) float32 as TF32."""
    device = pace.device
    model = resnet50().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler(device.type, enabled=not precise and device.type == "cuda")
    torch.backends.cudnn.benchmark = True
    for _ in pace.steps(pace.pick(warm, 1)):
        images, labels = next(batches)
        images = images.to(device, non_blocking=True).float().div_(255).to(memory_format=torch.channels_last)
        with torch.autocast(device.type, dtype=pace.pick(torch.float16, torch.bfloat16), enabled=not precise):
            loss = functional.cross_entropy(model(images), labels.to(device, non_blocking=True))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)


def loader(pace, cost_ms: float, workers: int, batch: int = 128):
    """Batches from ``workers`` processes that spend ``cost_ms`` of a core on each image."""
    batch, workers = pace.pick(batch, 2), pace.pick(workers, min(workers, 1))
    more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
    return iter(DataLoader(Images(cost_ms), batch, num_workers=workers, pin_memory=pace.device.type == "cuda", **more))


def fixed(pace, batch: int = 128):
    """The same batch, on the GPU already, again and again."""
    shape = (pace.pick(batch, 2), 3, 224, 224)
    images = torch.randint(0, 256, shape, dtype=torch.uint8, device=pace.device)
    labels = torch.randint(0, 1000, shape[:1], device=pace.device)
    return iter(lambda: (images, labels), None)


def two_workers(pace) -> None:
    """Two workers augment on the CPU; fourteen cores have nothing to do."""
    train(pace, loader(pace, 2, workers=2))


def two_workers_keep_up(pace) -> None:
    """Two workers only crop, and that is enough: the loop itself sets the speed."""
    train(pace, loader(pace, 0, workers=2))


def all_cores_augment(pace) -> None:
    """As many workers as cores, and augmentation that is too much for all of them."""
    train(pace, loader(pace, 14, workers=os.cpu_count() or 1))


def well_fed_tf32(pace) -> None:
    """Eight workers keep up with float32 training that runs on tensor cores as TF32: nothing is wrong."""
    torch.backends.cuda.matmul.allow_tf32 = True
    train(pace, loader(pace, 0, workers=8), precise=True)


def disk(pace) -> None:
    """Each image costs 8 MiB of reading past the cache; four workers wait for the disk."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        files = Files(Path(folder), 4, pace.pick(256 << 20, 32 << 20))
        train(pace, iter(DataLoader(files, pace.pick(32, 2), num_workers=pace.pick(4, 1), pin_memory=True)))


def starves_later(pace) -> None:
    """Trains on data that lies on the GPU, then after 15 s from a loader with one worker that augments."""
    slow, fast = loader(pace, 6, workers=1), fixed(pace)

    def batches():
        while not pace.begin or pace.elapsed < pace.pick(15, 4):
            yield next(fast)
        yield from slow

    train(pace, batches())


def frames_pageable(pace) -> None:
    """Video frames copied whole from ordinary memory, scaled and classified on the GPU: the copy takes most time."""
    frames = torch.randint(0, 256, pace.pick((96, 3, 1080, 1920), (1, 3, 108, 192)), dtype=torch.uint8)
    kind = pace.pick(torch.float16, torch.float32)
    model = resnet50().to(pace.device, kind).eval()
    with torch.inference_mode():
        for _ in pace.steps():
            small = functional.interpolate(frames.to(pace.device).to(kind), (224, 224), mode="bilinear")
            model(small / 255).argmax(1).cpu()


def frames_prefetched(pace) -> None:
    """Large batches copied from pinned memory on a second stream while the GPU trains: PCIe is busy, nobody waits."""
    images, labels = next(fixed(pace, 192))
    if pace.device.type == "cpu":
        return train(pace, fixed(pace))
    host = torch.empty(1 << 30, dtype=torch.uint8, pin_memory=True)
    card, stream = torch.empty_like(host, device=pace.device), torch.cuda.Stream()

    def batches():
        while True:
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                card.copy_(host, non_blocking=True)  # the frames of the next batch
            yield images, labels
            torch.cuda.current_stream().wait_stream(stream)

    return train(pace, batches())


if __name__ == "__main__":
    run(
        (
            two_workers,
            two_workers_keep_up,
            all_cores_augment,
            well_fed_tf32,
            disk,
            starves_later,
            frames_pageable,
            frames_prefetched,
        )
    )
