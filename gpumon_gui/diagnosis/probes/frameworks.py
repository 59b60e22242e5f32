"""Knows: which frameworks are asked in which way, and how their sections become an environment's facts.
Must not know: how a process is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from gpumon_gui.diagnosis.environments.base import Environment
from gpumon_gui.diagnosis.facts import Signal
from gpumon_gui.diagnosis.gateway import Gateway
from gpumon_gui.diagnosis.probes.base import heard
from gpumon_gui.diagnosis.probes.python import Section, run_section, shortened

#: Lines in which TensorFlow's loader names the file that was missing.
_LOADER = re.compile(r"dlerror|dlopen|could not load|cannot open shared|Skipping registering", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Framework:
    """``packages`` are the distributions that bring it, for its version where the import fails; ``variables`` are set
    in its process only: a full log, and no grabbing of all memory on the GPU."""

    name: str
    packages: re.Pattern[str]
    variables: Mapping[str, str] = field(default_factory=dict)


FRAMEWORKS: tuple[Framework, ...] = (
    Framework("torch", re.compile(r"^torch$")),
    Framework(
        "tensorflow",
        re.compile(r"^(tensorflow|tensorflow-(cpu|gpu|intel|rocm|macos|directml.*)|tf-nightly.*)$"),
        {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_FORCE_GPU_ALLOW_GROWTH": "true"},
    ),
    Framework("jax", re.compile(r"^jax$"), {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
    Framework("onnxruntime", re.compile(r"^onnxruntime(-.*)?$")),
    Framework("cupy", re.compile(r"^cupy(-.*)?$")),
)


@dataclass(frozen=True, slots=True)
class Read:
    """Facts of one framework (``problem`` and ``problem_stage`` where its process did not end well), and signals."""

    facts: dict[str, Any]
    signals: tuple[Signal, ...] = ()
    problem: str = ""


def installed(interpreter: Mapping[str, Any], framework: Framework) -> bool:
    """Whether there is something to import, or a package that says so."""
    files = interpreter.get("interpreter", {}).get("module_files", {})
    return framework.name in files or _packaged(interpreter, framework) is not None


def _packaged(interpreter: Mapping[str, Any], framework: Framework) -> str | None:
    packages = interpreter.get("packages", {})
    return next((version for name, version in packages.items() if framework.packages.match(name)), None)


def read_framework(
    gateway: Gateway,
    environment: Environment,
    framework: Framework,
    interpreter: Mapping[str, Any],
    *,
    project: str | None,
    timeout_s: float,
    cancel: Event,
) -> Read:
    """Import it in a process of its own and ask it."""

    def section(more: Mapping[str, str]) -> Section:
        return run_section(
            gateway,
            environment,
            framework.name,
            project=project,
            timeout_s=timeout_s,
            cancel=cancel,
            changes={**framework.variables, **more},
        )

    done = section({})
    facts: dict[str, Any] = dict(done.facts.get(framework.name, {}))
    output = done.output
    if framework.name == "tensorflow" and facts.get("gpu_count") == 0 and facts.get("built_with_cuda"):
        # Since 2.12 the log says that a library is missing but not which one, unless all is logged.
        more = section({"TF_CPP_MAX_VLOG_LEVEL": "3"}).output
        output += "".join(f"\n{line}" for line in more.splitlines() if _LOADER.search(line) and line not in output)
    version = _packaged(interpreter, framework)
    if version is not None:
        facts.setdefault("version", version)
    if done.problem:
        facts["problem"] = done.problem
        facts["problem_stage"] = done.stage
        facts.setdefault("error", f"{done.problem} at '{done.stage}': {done.detail}"[:4000])
    if framework.name == "tensorflow" or done.problem or facts.get("error"):
        facts["log"] = shortened(output)
    said = [output, str(facts.get("error") or ""), *(str(text) for text in facts.get("warnings") or ())]
    log = heard("\n".join(text for text in said if text), framework.name)
    for name, value in log.facts.get(framework.name, {}).items():
        facts.setdefault(name, value)
    return Read(facts, log.signals, done.problem)
