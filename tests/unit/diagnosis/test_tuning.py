"""What to change, in the words of the framework that was seen."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import gpumon_gui.diagnosis
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, WORKERS
from gpumon_gui.diagnosis.tuning import devices, kernels, loader, memory, precision

FRAMEWORKS = (tuning.TORCH, tuning.TENSORFLOW, tuning.JAX)
#: What is typed into a terminal or set in the environment, not Python.
NOT_PYTHON = ("torchrun", "py-spy", "export ", "nvidia-smi")


def view(framework: str | None) -> View:
    return View("pid 7", {"job": {"program": {"framework": framework} if framework else {}}}, job=True)


def spoken(framework: str | None, *topics: str) -> str:
    return "\n".join(step.text + "\n" + step.command for step in tuning.steps(view(framework), *topics))


def test_advice_is_that_of_the_framework() -> None:
    assert "num_workers" in spoken("PyTorch", "workers")
    assert "AUTOTUNE" not in spoken("PyTorch", "workers")
    assert "AUTOTUNE" in spoken("TensorFlow", "workers")
    assert "num_workers" not in spoken("TensorFlow", "workers")
    assert "Grain" in spoken("JAX", "workers")


def test_an_unknown_framework_gets_both() -> None:
    both = spoken(None, "workers")
    assert "num_workers" in both
    assert "AUTOTUNE" in both
    assert spoken("CuPy", "workers") == both


def test_two_frameworks_in_one_process_get_both() -> None:
    both = spoken("PyTorch, TensorFlow", "amp")
    assert "autocast" in both
    assert "mixed_float16" in both


def test_numbers_are_filled_in() -> None:
    assert "num_workers=9" in "".join(step.command for step in tuning.steps(view("PyTorch"), "workers", workers=9))
    assert "--pid 42" in "".join(step.command for step in tuning.steps(view(None), "one-process", pid=42))


@pytest.mark.parametrize("topic", tuning.TOPICS)
def test_every_topic_helps_somebody(topic: str) -> None:
    variants = tuning.TOPICS[topic]
    assert variants
    for steps in variants.values():
        assert all(text.strip() for text, _code in steps)
        codes = [code for _text, code in steps if isinstance(code, str)]
        assert all("$" not in code.replace("$WORKERS", "").replace("$PID", "") for code in codes)


def test_every_topic_is_advised_by_somebody() -> None:
    """What no rule names is dead text; what a rule names is there."""
    named: set[str] = set()
    for file in Path(gpumon_gui.diagnosis.__path__[0]).rglob("*.py"):
        if file.parent.name != "tuning":
            tree = ast.parse(file.read_text(encoding="utf-8"))
            named |= {
                node.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and str(node.value) == node.value
            }
    assert sorted(tuning.TOPICS.keys() - named) == []


@pytest.mark.parametrize(
    ("what", "asks"),
    [
        (GPU_MEMORY, "larger batch|batch larger|larger ones|Keep on the GPU"),
        (WORKERS, r"\$WORKERS"),
    ],
)
def test_what_needs_more_of_something_says_so(what: str, asks: str) -> None:
    asking = {
        topic
        for topic, variants in tuning.TOPICS.items()
        if any(re.search(asks, f"{text} {code}") for steps in variants.values() for text, code in steps)
    }
    assert asking == {topic for topic, takes in tuning.TAKES.items() if takes == what}


def test_no_topic_stands_in_two_files() -> None:
    fields = (devices, kernels, loader, memory, precision)
    assert sum(len(field.TOPICS) for field in fields) == len(tuning.TOPICS)


def test_variables_are_set_as_the_shell_does_it() -> None:
    def command(family: str) -> str:
        facts = {"os": {"family": family}, "job": {"program": {"framework": "JAX"}}}
        return tuning.steps(View("pid 7", facts, job=True), "limit-memory")[0].command

    assert command("linux") == "export XLA_PYTHON_CLIENT_PREALLOCATE=false"
    assert command("windows") == '$env:XLA_PYTHON_CLIENT_PREALLOCATE = "false"'


@pytest.mark.parametrize("topic", tuning.TOPICS)
def test_code_can_be_read_by_python(topic: str) -> None:
    """An ellipsis in it stands for what only the user knows."""
    for steps in tuning.TOPICS[topic].values():
        for code in (code for _text, code in steps if isinstance(code, str)):
            plain = code.replace("$WORKERS", "4").replace("(…, ", "(").replace("(…)", "(...)").replace("=…", "=...")
            lines = [line for line in plain.splitlines() if not line.startswith(NOT_PYTHON)]
            if lines and lines[0].startswith("@"):
                lines.append("def step(): ...")
            ast.parse("\n".join(lines))


@pytest.mark.parametrize(
    "text", ["tf.data", "AUTOTUNE", "cache()", "interleave", "TFRecord", "prefetch", "mixed_float16"]
)
def test_what_tensorflow_needs_is_there(text: str) -> None:
    assert text in spoken("TensorFlow", *tuning.TOPICS)


@pytest.mark.parametrize(
    "text",
    [
        *("persistent_workers", "pin_memory", "prefetch_factor", "non_blocking", "autocast", "torch.compile"),
        *("cudnn.benchmark", "channels_last", "CUDAGraph", "DistributedDataParallel", "expandable_segments"),
        "set_per_process_memory_fraction",
    ],
)
def test_what_pytorch_needs_is_there(text: str) -> None:
    assert text in spoken("PyTorch", *tuning.TOPICS)
