"""Knows: programs whose profile or memory snapshot has one known fault each. Must not know: GPUMon.

``python tests/gpu/make_profiles.py FOLDER`` with a PyTorch that has CUDA (under 40 s). It writes small profiler traces
and memory snapshots and ``figures.json``: what PyTorch itself and this program count in the same runs, so that a
reader can be checked against numbers that it did not make. Without a GPU only the traces are made (``--device cpu``).
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

torch: Any = importlib.import_module("torch")
nn: Any = torch.nn

SIZE = 96
BATCH = 32


class SlowImages(torch.utils.data.Dataset):  # type: ignore[misc]
    """Pictures that cost a CPU core about ``milliseconds`` each, as decoding and augmentation do."""

    def __init__(self, count: int, milliseconds: float) -> None:
        self.count, self.seconds = count, milliseconds / 1000

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        image = torch.full((3, SIZE, SIZE), float(index % 7))
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            image = image.flip(2) * 0.99
        return image, index % 10


def network(width: int) -> Any:
    """A convolutional classifier; its kernels are heavy from a width of 64 on."""
    layers: list[Any] = []
    channels = 3
    for wide in (width, width * 2, width * 4):
        layers += [nn.Conv2d(channels, wide, 3, padding=1), nn.BatchNorm2d(wide), nn.ReLU(), nn.MaxPool2d(2)]
        channels = wide
    return nn.Sequential(
        *layers, nn.Flatten(), nn.Linear(channels * (SIZE // 8) ** 2, 512), nn.ReLU(), nn.Linear(512, 10)
    )


class Maker:
    """Runs one program after the other, and writes down what they themselves know."""

    def __init__(self, folder: Path, device: str) -> None:
        self.folder, self.device = folder, device
        self.cuda = device == "cuda"
        self.figures: dict[str, Any] = {
            "torch": torch.__version__,
            "device": torch.cuda.get_device_name(0) if self.cuda else "cpu",
        }

    def wait(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()

    def profile(self, name: str, warm: Callable[[], None], run: Callable[[], dict[str, Any]]) -> None:
        """Trace ``run`` (after ``warm``) into ``name.json.gz``; ``run`` returns figures of its own."""
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self.cuda:
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        warm()
        self.wait()
        with torch.profiler.profile(activities=activities) as profiler:
            start = time.perf_counter()
            own = run()
            self.wait()
            wall = time.perf_counter() - start
        plain = self.folder / f"{name}.json"
        profiler.export_chrome_trace(str(plain))
        packed = self.folder / f"{name}.json.gz"
        packed.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))
        plain_bytes = plain.stat().st_size
        plain.unlink()
        averages = profiler.key_averages()
        device_events = [event for event in profiler.events() if str(event.device_type).endswith("CUDA")]
        by_name: dict[str, dict[str, float]] = {}
        for event in device_events:
            one = by_name.setdefault(event.name, {"count": 0, "us": 0.0})
            one["count"] += 1
            one["us"] += event.time_range.end - event.time_range.start
        operators = [
            {
                "name": average.key,
                "count": average.count,
                "self_cpu_us": average.self_cpu_time_total,
                "self_device_us": getattr(average, "self_device_time_total", 0),
            }
            for average in averages
        ]
        operators.sort(key=lambda one: (-one["self_device_us"], -one["self_cpu_us"]))
        kernels = sorted(by_name.items(), key=lambda item: -item[1]["us"])
        self.figures[name] = {
            "wall_s": wall,
            "json_bytes": plain_bytes,
            "gz_bytes": packed.stat().st_size,
            "operators": operators[:25],
            "device_events": [{"name": kernel, **numbers} for kernel, numbers in kernels[:40]],
            "device_event_count": len(device_events),
            **own,
        }

    def loader(self) -> None:
        """A network that waits for a data loader with one slow worker; copies are pageable and blocking."""
        model = network(32).to(self.device)
        steps, milliseconds = 8, 4.0
        data = torch.utils.data.DataLoader(
            SlowImages(BATCH * (steps + 2), milliseconds), batch_size=BATCH, num_workers=1
        )
        rest: list[Iterator[Any]] = []

        def warm() -> None:
            rest.append(iter(data))
            for _ in range(2):
                train(model, *(part.to(self.device) for part in next(rest[0])))

        def run() -> dict[str, Any]:
            waited, done = 0.0, 0
            for _ in range(steps):
                start = time.perf_counter()
                images, labels = next(rest[0])
                waited += time.perf_counter() - start
                train(model, images.to(self.device), labels.to(self.device))
                done += 1
            return {"steps": done, "loader_wait_s": waited, "bytes_per_step": BATCH * (3 * SIZE * SIZE * 4 + 8)}

        self.profile("slow_loader", warm, run)

    def convolutions(self, name: str, *, amp: bool) -> None:
        """Heavy convolutions on data that lies on the GPU, in float16 or in full float32."""
        if self.cuda:
            torch.backends.cuda.matmul.allow_tf32 = False
            torch.backends.cudnn.allow_tf32 = False
            torch.backends.cudnn.benchmark = True
        batch = 128 if self.cuda else 4
        model = network(64).to(self.device)
        images = torch.randn(batch, 3, SIZE, SIZE, device=self.device)
        labels = torch.arange(batch, device=self.device) % 10

        def run() -> dict[str, Any]:
            for _ in range(5):
                train(model, images, labels, amp=amp, device=self.device)
            return {"steps": 5, "amp": amp}

        def warm() -> None:
            for _ in range(3):
                train(model, images, labels, amp=amp, device=self.device)

        self.profile(name, warm, run)

    def item(self) -> None:
        """A small network whose loss is read each step: launches are tiny, and each step waits."""
        model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).to(self.device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        inputs = torch.randn(64, 256, device=self.device)
        labels = torch.arange(64, device=self.device) % 10
        heavy = torch.randn(4096, 4096, device=self.device) if self.cuda else inputs

        def step() -> float:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            (heavy @ heavy.T).mul_(0.5)  # the wait has something to wait for
            return float(loss.item())

        def run() -> dict[str, Any]:
            losses = [step() for _ in range(60)]
            return {"steps": len(losses), "items": len(losses)}

        def warm() -> None:
            for _ in range(5):
                step()

        self.profile("item_each_step", warm, run)

    def copies(self) -> None:
        """Large pageable batches, copied while the GPU waits, for little work."""
        host = torch.randn(64 if self.cuda else 2, 1024, 1024)
        pinned = host.pin_memory() if self.cuda else host

        def step(source: Any) -> None:
            there = source.to(self.device)
            (there * 2).sum()
            there[:8].to("cpu")

        def run() -> dict[str, Any]:
            for _ in range(6):
                step(host)
            step(pinned)
            htod, dtoh = 7 * host.numel() * 4, 7 * host[:8].numel() * 4
            return {"pageable_htod": 6, "pinned_htod": 1, "dtoh": 7, "htod_bytes": htod, "dtoh_bytes": dtoh}

        self.profile("copies", lambda: step(host), run)

    def snapshot(self, name: str, program: Callable[[], dict[str, Any]]) -> None:
        """Record the allocator's history while ``program`` runs; its snapshot becomes ``name.pickle``."""
        torch.cuda.empty_cache()
        torch.cuda.memory._record_memory_history(max_entries=8000, stacks="python")
        own = program()
        torch.cuda.synchronize()
        torch.cuda.memory._dump_snapshot(str(self.folder / f"{name}.pickle"))
        statistics = torch.cuda.memory_stats()
        torch.cuda.memory._record_memory_history(enabled=None)
        wanted = ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes")
        self.figures[name] = {
            "pickle_bytes": (self.folder / f"{name}.pickle").stat().st_size,
            **{key: statistics.get(f"{key}.all.current") for key in wanted},
            **own,
        }

    def leak(self) -> None:
        """Results kept in a list: each step holds 16 MiB more, the result and the input that its gradient needs."""
        kept: list[Any] = []
        model = nn.Linear(1024, 1024).to(self.device)

        def program() -> dict[str, Any]:
            for _ in range(40):
                keep_activation(kept, model)
                torch.randn(1024, 1024, device="cuda").sum()  # this one is given back
            return {
                "steps": 40,
                "kept_bytes_per_step": 2 * 2048 * 1024 * 4,
                "kept": len(kept),
                "function": "keep_activation",
            }

        self.snapshot("leak", program)
        kept.clear()

    def fragments(self) -> None:
        """Of many blocks in a row every second one is given back: much is free, nothing of it in one piece."""
        kept: list[Any] = []

        def program() -> dict[str, Any]:
            blocks = [torch.empty(6 << 20, dtype=torch.uint8, device="cuda") for _ in range(120)]
            kept.extend(blocks[::2])
            del blocks
            return {"kept_blocks": len(kept), "block_bytes": 6 << 20, "freed_blocks": 60}

        self.snapshot("fragments", program)
        kept.clear()


def keep_activation(kept: list[Any], model: Any) -> None:
    """The classic leak: a result is remembered together with what it needs for its gradient."""
    kept.append(model(torch.ones(2048, 1024, device="cuda", requires_grad=False)).relu_())


def train(model: Any, images: Any, labels: Any, *, amp: bool = False, device: str = "cuda") -> None:
    """One step of plain gradient descent."""
    cast = torch.autocast(device, dtype=torch.float16 if device == "cuda" else torch.bfloat16) if amp else nullcontext()
    with cast:
        loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.sub_(parameter.grad, alpha=1e-4)
            parameter.grad = None


def main() -> int:
    """Make everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    maker = Maker(folder, arguments.device)
    programs: list[Callable[[], None]] = [
        maker.loader,
        lambda: maker.convolutions("conv_amp", amp=True),
        lambda: maker.convolutions("conv_fp32", amp=False),
        maker.item,
        maker.copies,
    ]
    if maker.cuda:
        programs += [maker.leak, maker.fragments]
    for program in programs:
        start = time.perf_counter()
        program()
        print(f"{time.perf_counter() - start:.1f} s", flush=True)
        (folder / "figures.json").write_text(json.dumps(maker.figures, indent=1), encoding="utf-8")
    for file in sorted(folder.iterdir()):
        print(f"{file.stat().st_size:9d} {file.name}")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "4")
    raise SystemExit(main())
