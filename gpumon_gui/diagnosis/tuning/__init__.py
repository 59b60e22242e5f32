"""Knows: what to change in a program, by topic and framework, with the code to write. Must not know: when that is
advised.

``steps(view, "workers", "amp")`` gives the steps of those topics for the framework seen in the program; where none was
seen, those of PyTorch and TensorFlow, each with its name. A topic without a variant for a framework gives its general
steps (key :data:`ANY`), else nothing. One file per field. Sources: PyTorch's performance tuning guide and
torch.utils.data, TensorFlow's guides "Better performance with the tf.data API", "Mixed precision" and "Use a GPU",
JAX's GPU performance tips and its page on GPU memory allocation.
"""

from __future__ import annotations

from typing import Final

from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, WORKERS, Step
from gpumon_gui.diagnosis.tuning import devices, kernels, loader, memory, precision
from gpumon_gui.diagnosis.tuning.topic import ANY, JAX, LEARNING, TENSORFLOW, TORCH, Topics, Variable

__all__ = ["JAX", "LEARNING", "TAKES", "TENSORFLOW", "TOPICS", "TORCH", "seen", "steps"]

TOPICS: Final[Topics] = {
    **loader.TOPICS,
    **kernels.TOPICS,
    **precision.TOPICS,
    **memory.TOPICS,
    **devices.TOPICS,
}

#: What a topic needs more of.
TAKES: Final = {
    "batch-size": GPU_MEMORY,
    "larger-batch": GPU_MEMORY,
    "rarer-exchange": GPU_MEMORY,
    "keep-on-gpu": GPU_MEMORY,
    "workers": WORKERS,
}


def seen(view: View) -> tuple[str, ...]:
    """The frameworks that advice is known for and that the program (or its profile) has; empty where none is known."""
    recorded = {"torch": TORCH, "tensorflow": TENSORFLOW, "jax": JAX}.get(view.text("profile.framework") or "", "")
    if view.known("memory_snapshot"):
        recorded = TORCH
    found = (view.text("job.program.framework") or recorded).split(", ")
    return tuple(name for name in LEARNING if name in found)


def steps(view: View, *topics: str, workers: int | None = None, pid: int | None = None) -> tuple[Step, ...]:
    """The steps of some topics. ``workers``: a number of loading processes to start with; ``pid``: a process to look
    at. Raises KeyError for an unknown topic."""
    found: list[Step] = []
    for topic in topics:
        variants = TOPICS[topic]
        chosen = [name for name in seen(view) or (TORCH, TENSORFLOW) if name in variants]
        if not chosen and ANY in variants:
            chosen = [ANY]
        texts: set[str] = set()
        for name in chosen:
            for text, code in variants[name]:
                if text not in texts:
                    found.append(Step(text, command=_written(view, code, workers, pid), takes=TAKES.get(topic, "")))
                texts.add(text)
    return tuple(found)


def _written(view: View, code: str | tuple[Variable, ...], workers: int | None, pid: int | None) -> str:
    if isinstance(code, tuple):
        return "\n".join(advice.set_variable(view, one.name, one.value) for one in code)
    return code.replace("$WORKERS", str(workers or 4)).replace("$PID", str(pid or "PID"))
