"""Workloads whose data lies on the GPU: what the kernels and the loop around them are like decides."""

import time

import torch
from networks import Language, VisionTransformer, resnet50
from pace import run
from torch import nn
from torch.nn import functional


def language_model(pace, batch: int = 16, watch=None) -> None:
    """Trains a language model in bfloat16 and reads the loss each step, which costs nothing: the kernels are long."""
    device = pace.device
    model = Language(pace.pick(1536, 64), pace.pick(12, 2)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=device.type == "cuda")
    length = pace.pick(1024, 32)
    for step in pace.steps():
        tokens = torch.randint(0, 32000, (pace.pick(batch, 2), length + 1), device=device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logits = model(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if watch:
            watch(step)
        loss.item()


def language_model_small_share(pace) -> None:
    """The same with a smaller batch: two of them share a GPU."""
    language_model(pace, batch=4)


def vision_transformer_fp32(pace) -> None:
    """ViT-B/16 in plain float32, TF32 off (the default for matrix products)."""
    torch.backends.cudnn.allow_tf32 = False
    model = VisionTransformer(pace.pick(768, 64), pace.pick(12, 2)).to(pace.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = torch.rand(pace.pick(96, 2), 3, 224, 224, device=pace.device)
    labels = torch.randint(0, 1000, (len(images),), device=pace.device)
    for _ in pace.steps():
        functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def recurrent_by_hand(pace) -> None:
    """A small LSTM stepped in a Python loop: thousands of tiny kernels, the CPU launches them one by one."""
    cell, head = nn.LSTMCell(64, 128).to(pace.device), nn.Linear(128, 10).to(pace.device)
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
    series = torch.rand(100, 16, 64, device=pace.device)
    labels = torch.randint(0, 10, (16,), device=pace.device)
    for _ in pace.steps():
        state = torch.zeros(16, 128, device=pace.device), torch.zeros(16, 128, device=pace.device)
        for value in series:
            state = cell(value, state)
        functional.cross_entropy(head(state[0]), labels).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def single_image_requests(pace) -> None:
    """ResNet-50 answers one image at a time in half precision; PyTorch spreads the making of each over all cores."""
    kind = pace.pick(torch.float16, torch.float32)
    model = resnet50().to(pace.device, kind).eval()
    with torch.inference_mode():
        for _ in pace.steps(20):
            image = torch.rand(1, 3, 224, 224).to(pace.device, kind)
            model(image).argmax(1).item()


def single_image_one_thread(pace) -> None:
    """The same, with the small CPU operations kept on one thread."""
    torch.set_num_threads(1)
    single_image_requests(pace)


def look_at_every_tensor(pace) -> None:
    """Reads a number back for each layer's output and each gradient, each step: the GPU runs dry each time."""
    device, depth = pace.device, pace.pick(24, 2)
    model = Language(pace.pick(1024, 64), depth, vocabulary=8000).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=device.type == "cuda")
    tokens = torch.randint(0, 8000, (pace.pick(16, 2), pace.pick(513, 17)), device=device)
    looking = [False]

    def look(_module, _given, out) -> None:
        if looking[0]:
            out.abs().mean().item()

    for block in model.blocks:
        block.register_forward_hook(look)

    def step() -> None:
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logits = model(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        if looking[0]:
            for parameter in model.parameters():
                parameter.grad.norm().item()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for looking[0] in (False, True):  # what the looking costs: the proof that this run is what its name says
        for timed in (False, True):
            pace.settle()
            begin = time.monotonic()
            for _ in range(pace.pick(15, 2)):
                step()
            pace.settle()
            if timed:
                print(f"looking {looking[0]}: {(time.monotonic() - begin) / pace.pick(15, 2) * 1000:.1f} ms a step")
    for _ in pace.steps(1):
        step()


def generate_tokens(pace) -> None:
    """A 13-billion-parameter decoder in bfloat16 makes one token at a time: every weight is read for each."""
    width, inner, depth = pace.pick((5120, 13824, 40), (64, 128, 2))
    kind = pace.pick(torch.bfloat16, torch.float32)
    shapes = ((3 * width, width), (width, width), (2 * inner, width), (width, inner))
    layers = [[torch.full(shape, 1e-3, device=pace.device, dtype=kind) for shape in shapes] for _ in range(depth)]
    with torch.inference_mode():
        for _ in pace.steps():
            x = torch.ones(1, width, device=pace.device, dtype=kind)
            for qkv, out, up, down in layers:
                values = functional.linear(functional.layer_norm(x, (width,)), qkv)[:, -width:]
                x = x + functional.linear(values, out)
                gate, value = functional.linear(functional.layer_norm(x, (width,)), up).chunk(2, 1)
                x = x + functional.linear(functional.silu(gate) * value, down)
            x.sum().item()


def stream_elementwise(pace) -> None:
    """Large arrays added and scaled, as unfused optimisers and simulations on grids do."""
    size = pace.pick(1 << 29, 1 << 20)
    a, b, c = (torch.rand(size, device=pace.device) for _ in range(3))
    for _ in pace.steps():
        for _ in range(10):
            torch.add(a, b, alpha=0.5, out=c)
            c.mul_(0.9)
            a.add_(c, alpha=0.1)
        pace.settle()


def spin(pace) -> None:
    """A kernel that waits: busy by the driver's account, no work, as in a collective that never completes."""
    for _ in pace.steps(1):
        if pace.device.type == "cuda":
            torch.cuda._sleep(400_000_000)  # cycles: about 0.2 s
            torch.cuda.synchronize()
        else:
            time.sleep(0.2)


if __name__ == "__main__":
    run(
        (
            language_model,
            language_model_small_share,
            vision_transformer_fp32,
            recurrent_by_hand,
            single_image_requests,
            single_image_one_thread,
            look_at_every_tensor,
            generate_tokens,
            stream_elementwise,
            spin,
        )
    )
