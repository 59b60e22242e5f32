"""The classic case: ResNet-50 trained from JPEG files, each remedy an option, as in many first training scripts."""

import argparse
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from networks import resnet50
from PIL import Image, ImageEnhance, ImageOps
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
STORED = 256


#: What the photos may be like; one core needs the longer the larger they are.
SIZES = ((320, 240), (400, 300), (480, 360), (560, 420), (640, 480))


def make_one(task: tuple[Path, int, tuple[int, int]]) -> None:
    """One photo-like JPEG: soft shapes with some grain."""
    path, seed, size = task
    generator = np.random.default_rng(seed)
    small = generator.integers(0, 256, (12, 16, 3), dtype=np.uint8)
    soft = np.asarray(Image.fromarray(small).resize(size, Image.Resampling.BICUBIC), np.int16)
    grain = generator.integers(-18, 19, soft.shape, dtype=np.int16)
    Image.fromarray(np.clip(soft + grain, 0, 255).astype(np.uint8)).save(path, quality=90)


def store_one(path: Path) -> np.ndarray:
    """Decoded once, for good: the shorter side scaled, the middle kept."""
    return np.asarray(ImageOps.fit(Image.open(path).convert("RGB"), (STORED, STORED), Image.Resampling.BILINEAR))


class Photos(Dataset):
    """Decode, crop, scale, mirror, change colours, normalise: everything on the CPU for each image and epoch."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int):
        image = Image.open(self.paths[index]).convert("RGB")
        width, height = image.size
        side = random.randint(height // 2, height)
        left, top = random.randint(0, width - side), random.randint(0, height - side)
        image = image.resize((224, 224), Image.Resampling.BILINEAR, box=(left, top, left + side, top + side))
        if random.random() < 0.5:
            image = ImageOps.mirror(image)
        image = ImageEnhance.Brightness(image).enhance(random.uniform(0.7, 1.3))
        image = ImageEnhance.Color(image).enhance(random.uniform(0.7, 1.3))
        pixels = (np.asarray(image, np.float32) / 255 - np.float32(MEAN)) / np.float32(DEVIATION)
        return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1))), index % 1000


class Stored(Dataset):
    """Reads images decoded before, and crops; what is left is done on the GPU for the whole batch."""

    def __init__(self, file: Path, count: int) -> None:
        self.images = np.memmap(file, np.uint8, "r", shape=(count, STORED, STORED, 3))

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int):
        top, left = random.randint(0, STORED - 224), random.randint(0, STORED - 224)
        crop = self.images[index, top : top + 224, left : left + 224]
        return torch.from_numpy(np.ascontiguousarray(crop)).permute(2, 0, 1), index % 1000


def augment_on_gpu(images):
    """Mirror, brightness, colour, normalise: one batch at once."""
    images = images.float().div_(255)
    some = lambda low, high: torch.empty(len(images), 1, 1, 1, device=images.device).uniform_(low, high)  # noqa: E731
    images = torch.where(some(0, 1) < 0.5, images.flip(3), images) * some(0.7, 1.3)
    grey = images.mean(1, keepdim=True)
    images = (grey + (images - grey) * some(0.7, 1.3)).clamp_(0, 1)
    mean, deviation = (torch.tensor(part, device=images.device)[:, None, None] for part in (MEAN, DEVIATION))
    return (images - mean) / deviation


def cost_ms(folder: Path, size: tuple[int, int]) -> float:
    """What one core needs for one photo of this size, in milliseconds."""
    trial = folder / "trial.jpg"
    make_one((trial, 0, size))
    photos = Photos([trial])
    photos[0]
    begin = time.perf_counter()
    for _ in range(50):
        photos[0]
    trial.unlink()
    return (time.perf_counter() - begin) * 20


def prepare(folder: Path, count: int, cost: float) -> list[Path]:
    """The files, made once: photos of the size that costs one core about ``cost`` milliseconds each."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:06}.jpg" for number in range(count)]
    if all(path.exists() for path in paths):
        return paths
    costs = {size: cost_ms(folder, size) for size in SIZES}
    size = min(SIZES, key=lambda one: abs(costs[one] - cost))
    print(f"PHOTOS {size[0]} x {size[1]}, {costs[size]:.2f} ms each", flush=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(make_one, [(path, number, size) for number, path in enumerate(paths)], chunksize=32))
        if not (stored := folder / "stored.bin").exists():
            with stored.open("wb") as file:
                file.writelines(image.tobytes() for image in pool.map(store_one, paths, chunksize=32))
    return paths


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=8192)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=18, help="stop after the epoch in which this time is over")
    parser.add_argument("--cost", type=float, default=3.2, help="milliseconds of one core for one photo")
    parser.add_argument("--prepare", action="store_true", help="make the files and stop")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--pin", action="store_true", help="pinned memory and copies that do not block")
    parser.add_argument("--persistent", action="store_true", help="workers that stay, and more batches ahead")
    parser.add_argument("--amp", action="store_true", help="mixed precision, channels_last, cudnn.benchmark")
    parser.add_argument("--stored", action="store_true", help="images decoded beforehand, colours on the GPU")
    options = parser.parse_args()
    paths = prepare(options.folder, options.images, options.cost)
    if options.prepare:
        return
    device, layout = torch.device(options.device), torch.channels_last if options.amp else torch.contiguous_format
    data = Stored(options.folder / "stored.bin", len(paths)) if options.stored else Photos(paths)
    more = {"persistent_workers": True, "prefetch_factor": 4} if options.persistent else {}
    loader = DataLoader(
        data, options.batch, shuffle=True, drop_last=True, num_workers=options.workers, pin_memory=options.pin, **more
    )
    model = resnet50().to(device, memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    torch.backends.cudnn.benchmark = options.amp
    settle = torch.cuda.synchronize if device.type == "cuda" else lambda: None

    def step(images, labels) -> None:
        images = images.to(device, non_blocking=options.pin)
        labels = labels.to(device, non_blocking=options.pin)
        images = augment_on_gpu(images) if options.stored else images
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=options.amp):
            loss = functional.cross_entropy(model(images.to(memory_format=layout)), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    kind = torch.uint8 if options.stored else torch.float32
    for _ in range(5):  # kernels are loaded and chosen
        step(torch.zeros(options.batch, 3, 224, 224, dtype=kind), torch.zeros(options.batch, dtype=torch.long))
    settle()
    if options.persistent:
        next(iter(loader))  # the workers start once, before the first epoch
    print("READY", flush=True)
    begin = time.monotonic()
    while time.monotonic() - begin < options.seconds:
        epoch = time.monotonic()
        for images, labels in loader:
            step(images, labels)
        settle()
        print(f"EPOCH {epoch:.3f} {time.monotonic():.3f} {len(loader) * options.batch}", flush=True)


if __name__ == "__main__":
    main()
