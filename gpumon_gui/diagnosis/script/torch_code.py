"""Knows: devices, models, data loaders and training loops of PyTorch code. Must not know: what is good or bad in it."""

from __future__ import annotations

import ast
import re
from enum import Enum
from functools import cached_property
from typing import Final

from gpumon_gui.diagnosis.script.code import FUNCTIONS, UNKNOWN, Code, names_in, plain_name, root_name

#: Modules whose functions move models and batches by themselves.
MOVERS: Final = frozenset(
    (
        "accelerate", "lightning", "pytorch_lightning", "lightning_fabric", "fastai", "ignite", "deepspeed", "catalyst",
        "composer", "trl", "ultralytics", "detectron2", "mmengine", "mmcv", "skorch", "monai", "ray", "colossalai",
        "torchtune",
    )
)  # fmt: skip
_CUDA_TEXT: Final = re.compile(r"(?i)^\s*(?:cuda|gpu|xpu|mps|hip)\b")
_LOADERS: Final = (
    "torch.utils.data.DataLoader",
    "torch_geometric.loader.DataLoader",
    "torch_geometric.data.DataLoader",
)
_DATA_PARALLEL: Final = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel")
_DDP: Final = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
)
#: Wrappers of an iterable that yield its items.
_AROUND: Final = frozenset(
    ("enumerate", "tqdm", "zip", "track", "iter", "islice", "progress_bar", "trange", "log_every")
)
_LOSS: Final = re.compile(r"(?i)loss|criterion|cross_entropy|mse|nll|objective")
#: What gives a plain number or array, or cuts the graph.
_DETACHED: Final = frozenset(("item", "detach", "numpy", "tolist", "data", "float", "int", "cpu_value", "len", "round"))


class Device(Enum):
    """Where an expression sends something."""

    CPU = "cpu"
    GPU = "gpu"  #: also "cuda if there is one"
    UNKNOWN = "unknown"


class TorchCode:
    """What a script does with PyTorch."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._devices: dict[str, Device] = {}

    @cached_property
    def used(self) -> bool:
        """Whether the script imports PyTorch, or a library that brings it."""
        return bool(self.code.packages & {"torch", "transformers", "diffusers"})

    @cached_property
    def has_mover(self) -> bool:
        """Whether a library is imported that moves things by itself."""
        if self.code.packages & MOVERS:
            return True
        names = {self.code.method(call) for call in self.code.calls}
        return bool(names & {"Trainer", "Seq2SeqTrainer", "SFTTrainer", "Accelerator", "set_default_device"}) or any(
            self.code.method(call) == "set_default_tensor_type" for call in self.code.calls
        )

    # -- devices --------------------------------------------------------------------------------------------------

    def device(self, node: ast.expr | None) -> Device:
        """The device that an expression names."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                if node.value.strip().lower().partition(":")[0] == "cpu":
                    return Device.CPU
                return Device.GPU if _CUDA_TEXT.match(node.value) else Device.UNKNOWN
            return Device.GPU if isinstance(node.value, int) and not isinstance(node.value, bool) else Device.UNKNOWN
        if isinstance(node, ast.JoinedStr):
            first = node.values[0] if node.values else None
            return self.device(first) if isinstance(first, ast.Constant) else Device.UNKNOWN
        if isinstance(node, ast.IfExp):
            return self._either([node.body, node.orelse])
        if isinstance(node, ast.BoolOp):
            return self._either(node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            return self.device(node.left)
        if isinstance(node, ast.Call):
            called = self.code.called(node)
            if called in ("torch.device", "device") and (node.args or node.keywords):
                return self.device(self.code.keyword(node, "type", 0) or self.code.keyword(node, "device", 0))
            if called.endswith(".format"):
                return self.device(node.func.value) if isinstance(node.func, ast.Attribute) else Device.UNKNOWN
            return Device.GPU if called.startswith("torch.cuda.") else Device.UNKNOWN
        name = plain_name(node)
        if not name:
            return Device.UNKNOWN
        if name not in self._devices:
            self._devices[name] = Device.UNKNOWN  # for names that lead back to themselves
            values = [value for value, _node in self.code.assigned.get(name, [])]
            if values:
                self._devices[name] = self._either(values)
        return self._devices[name]

    def _either(self, nodes: list[ast.expr]) -> Device:
        found = {self.device(node) for node in nodes}
        if Device.GPU in found:
            return Device.GPU
        return Device.CPU if found == {Device.CPU} else Device.UNKNOWN

    def target(self, call: ast.Call) -> Device | None:
        """Where ``x.to(…)``, ``x.cuda()`` or ``x.cpu()`` sends; None for other calls and for ``.to(dtype)``."""
        if not isinstance(call.func, ast.Attribute):
            return None
        method = call.func.attr
        if method in ("cuda", "xpu"):
            return Device.GPU
        if method == "cpu" and not call.args:
            return Device.CPU
        if method not in ("to", "to_empty", "to_device"):
            return None
        wanted = self.code.keyword(call, "device", 0)
        if wanted is None or self.code.name(wanted).startswith(
            ("torch.float", "torch.bfloat", "torch.half", "torch.long")
        ):
            return None
        if self.code.name(wanted).startswith(
            ("torch.int", "torch.uint", "torch.double", "torch.channels", "torch.bool")
        ):
            return None
        return self.device(wanted)

    @cached_property
    def asks_for_gpu(self) -> bool:
        """Whether anything in the script may put something onto a GPU."""
        for node in self.code.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CUDA_TEXT.match(node.value):
                return True
            if isinstance(node, ast.Attribute) and node.attr in ("cuda", "xpu", "mps"):
                return True
        moves = (self.target(call) for call in self.code.calls)
        return any(move in (Device.GPU, Device.UNKNOWN) for move in moves) or any(
            keyword.arg in ("device", "device_map", "accelerator", "gpus", "use_cuda", "device_ids", "cuda")
            and self.device(keyword.value) is not Device.CPU
            for call in self.code.calls
            for keyword in call.keywords
        )

    # -- models ---------------------------------------------------------------------------------------------------

    @cached_property
    def module_classes(self) -> frozenset[str]:
        """Classes of this file that are (subclasses of) ``nn.Module``."""
        found: set[str] = set()
        for _ in range(3):
            for name, node in self.code.classes.items():
                bases = [self.code.name(base) for base in node.bases]
                if any(base in ("torch.nn.Module", "nn.Module") or base in found for base in bases):
                    found.add(name)
        return frozenset(found)

    def is_model(self, node: ast.expr) -> bool:
        """Whether an expression makes a model on the CPU: a class of this file, torch's own, torchvision, timm."""
        if not isinstance(node, ast.Call):
            return False
        called = self.code.called(node)
        if self.code.keyword(node, "device") is not None:
            return False
        if called in self.module_classes:
            return not self._moves_itself(called)
        if called.startswith(("torchvision.models.", "timm.create_model", "torch.hub.load")):
            return "weights" not in called.lower()
        if called.startswith("diffusers.") and called.endswith(".from_pretrained"):
            return not {keyword.arg for keyword in node.keywords} & {"device_map", None}
        if called.startswith("torch.nn."):
            last = called.rpartition(".")[2]
            return last[:1].isupper() and not last.endswith(("Loss", "Parallel", "Parameter", "Optimizer"))
        return (
            called.startswith("transformers.")
            and not called.startswith(("transformers.TF", "transformers.Flax"))
            and called.endswith((".from_pretrained", ".from_config"))
            and ("Model" in called or "For" in called)
            and not {keyword.arg for keyword in node.keywords} & {"device_map", None}
        )

    def _moves_itself(self, name: str) -> bool:
        return any(
            isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda") and self.target(call) is not None
            for call in self.code.calls_inside(self.code.classes[name], functions=True)
        )

    @cached_property
    def models(self) -> dict[str, ast.Assign | ast.AnnAssign]:
        """Name → the assignment that makes it, for models that this file makes."""
        found: dict[str, ast.Assign | ast.AnnAssign] = {}
        for name, values in self.code.assigned.items():
            if name.startswith("self."):
                continue
            for value, node in values:
                in_class = any(isinstance(up, ast.ClassDef) for up in self.code.above(node))  # a part of a model
                if (
                    isinstance(node, ast.Assign | ast.AnnAssign)
                    and not in_class
                    and self.is_model(self._unmoved(value))
                ):
                    found.setdefault(name, node)
        return found

    def _unmoved(self, node: ast.expr) -> ast.expr:
        """``Net()`` of ``Net().to(device)``."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and self.target(node) is not None:
            node = node.func.value
        return node

    # -- loaders --------------------------------------------------------------------------------------------------

    @cached_property
    def loaders(self) -> list[ast.Call]:
        """Each ``DataLoader(…)``."""
        return [
            call
            for call in self.code.calls
            if self.code.called(call) in _LOADERS or (self.used and self.code.called(call).endswith("data.DataLoader"))
        ]

    @cached_property
    def _loader_set(self) -> frozenset[ast.AST]:
        return frozenset(self.loaders)

    def loader_of(self, node: ast.expr) -> ast.Call | None:
        """The loader that an iterable is, through ``enumerate``, ``tqdm`` and names."""
        loaders = self._loader_set
        while isinstance(node, ast.Call) and node not in loaders:
            if self.code.method(node) not in _AROUND or not node.args:
                return None
            node = node.args[0]
        if isinstance(node, ast.Call):
            return node
        made = self.code.made_by(node)
        found = [one for one in made if isinstance(one, ast.Call) and one in loaders]
        return found[0] if found and len(found) == len(made) else None

    # -- loops ----------------------------------------------------------------------------------------------------

    @cached_property
    def training_loops(self) -> list[ast.AST]:
        """The innermost loops in which gradients are computed: one turn is one step."""
        found: dict[ast.AST, None] = {}
        for call in self.code.calls:
            if self._is_backward(call):
                around = self.code.loops_around(call)
                if around:
                    found[around[0]] = None
                    continue
                function = self.code.scope(call)
                if isinstance(function, FUNCTIONS):
                    for caller in self.code.callers(function):
                        around = self.code.loops_around(caller)
                        if around and self._is_batch_loop(around[0]):
                            found[around[0]] = None
        return list(found)

    @staticmethod
    def _is_backward(call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr in ("backward", "manual_backward")

    def _is_batch_loop(self, loop: ast.AST) -> bool:
        """Not a loop over epochs: it has no further loop over data in it."""
        return not any(isinstance(node, ast.For | ast.AsyncFor) for node in self.code.inside(loop))

    def is_with_gradients(self, node: ast.AST) -> bool:
        """Whether what runs there records a graph: not under no_grad, inference_mode and the like."""
        if any(_is_no_grad(self.code, context) for context in self.code.withs_around(node)):
            return False
        function = self.code.scope(node)
        callers = self.code.callers(function)
        if callers and all(
            any(_is_no_grad(self.code, context) for context in self.code.withs_around(call)) for call in callers
        ):
            return False
        return not self._switches_gradients

    @cached_property
    def _switches_gradients(self) -> bool:
        """Whether gradients are switched by a call, for what runs behind it."""
        return any(
            self.code.called(call)
            in ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.no_grad().__enter__")
            or any(keyword.arg == "volatile" for keyword in call.keywords)  # before PyTorch 0.4
            for call in self.code.calls
        )

    def gives_graph(self, node: ast.expr, loop: ast.AST, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an expression in a loop is a tensor that holds its graph: the loss, or made from it. ``seen``: names
        on the way here; one that is made from itself (``ema = 0.9 * ema + …``) adds nothing."""
        if isinstance(node, ast.BinOp):
            return self.gives_graph(node.left, loop, seen) or self.gives_graph(node.right, loop, seen)
        if isinstance(node, ast.Subscript | ast.Attribute):
            return not self._is_cut(node) and self.gives_graph(node.value, loop, seen)
        if isinstance(node, ast.List) and len(node.elts) == 1:
            return self.gives_graph(node.elts[0], loop, seen)
        if isinstance(node, ast.Call):
            if self._is_cut(node):
                return False
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("mean", "sum", "clone", "unsqueeze", "view"):
                return self.gives_graph(node.func.value, loop, seen)
            called = self.code.called(node)
            return (
                called.startswith(("torch.nn.functional.", "F."))
                or self.is_loss_call(node)
                or self._is_model_call(node)
            )
        if not isinstance(node, ast.Name) or node.id in seen:
            return False
        if node.id in self._backwarded(loop):
            given = [value for value, at in self.code.assigned.get(node.id, []) if self._within(at, loop)]
            return not any(self._is_cut(value) for value in given)
        values = [value for value, at in self.code.assigned.get(node.id, []) if self._within(at, loop)]
        return bool(values) and all(
            isinstance(value, ast.Call | ast.BinOp) and self.gives_graph(value, loop, seen | {node.id})
            for value in values
        )

    def is_loss_call(self, call: ast.Call) -> bool:
        """``criterion(…)``, ``loss_fn(…)``: an object that was made as one of torch's losses, or is a model's
        output."""
        if isinstance(call.func, ast.Name):
            made = self.code.made_by(call.func)
            if any(isinstance(one, ast.Call) and self.code.called(one).endswith("Loss") for one in made):
                return True
            return bool(_LOSS.search(call.func.id)) and call.func.id not in self.code.functions
        return False

    def _is_model_call(self, call: ast.Call) -> bool:
        return plain_name(call.func) in self.models or plain_name(call.func) in (
            "model",
            "net",
            "self.model",
            "self.net",
        )

    def _backwarded(self, loop: ast.AST) -> set[str]:
        names = set()
        for call in self.code.calls_inside(loop):
            if self._is_backward(call) and isinstance(call.func, ast.Attribute):
                names.add(root_name(call.func.value))
                for argument in call.args:
                    names |= set(names_in(argument))
                scaled = call.func.value
                if isinstance(scaled, ast.Call):
                    for argument in scaled.args:
                        names |= set(names_in(argument))
        return names - {""}

    @staticmethod
    def _is_cut(node: ast.AST) -> bool:
        """``loss.item()``, ``float(loss)``, ``loss.detach().cpu()``: without the graph."""
        while isinstance(node, ast.Call | ast.Attribute):
            if isinstance(node, ast.Attribute) and node.attr in _DETACHED:
                return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _DETACHED:
                return True
            node = node.func if isinstance(node, ast.Call) else node.value
        return False

    def _within(self, node: ast.AST, loop: ast.AST) -> bool:
        return any(up is loop for up in self.code.above(node))

    def backwarded_anywhere(self, name: str) -> bool:
        """Whether gradients are computed from this name somewhere."""
        for call in self.code.calls:
            if self._is_backward(call) and isinstance(call.func, ast.Attribute):
                if name in names_in(call.func.value) or any(name in names_in(argument) for argument in call.args):
                    return True
            elif self.code.called(call) in ("torch.autograd.grad", "torch.autograd.backward") and name in names_in(
                call
            ):
                return True
        return False


def wraps_in_data_parallel(code: Code) -> list[ast.Call]:
    """Each ``nn.DataParallel(…)``."""
    return [call for call in code.calls if code.called(call) in _DATA_PARALLEL]


def wraps_in_ddp(code: Code) -> list[ast.Call]:
    """Each ``DistributedDataParallel(…)`` or FSDP."""
    return [call for call in code.calls if code.called(call) in _DDP]


def _is_no_grad(code: Code, context: ast.expr) -> bool:
    node = context.func if isinstance(context, ast.Call) else context
    last = code.name(node).rpartition(".")[2] or (node.attr if isinstance(node, ast.Attribute) else "")
    return last in ("no_grad", "inference_mode", "set_grad_enabled", "eval_mode")


def is_zero_number(value: object) -> bool:
    """The constant 0, not False and not unknown."""
    return value is not UNKNOWN and isinstance(value, int) and not isinstance(value, bool) and value == 0
