"""Real frameworks in real environments: what is measured in them is what is so.

An index may give another build than meant, so each test first says which one it got. This machine may have a GPU or
not; what depends on one is asserted for both.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.diagnosis.collect import Options, collect
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.environments.base import Wanted
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.finding import Confidence, Severity
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.rules.table import RULES
from tests.probes import building

pytestmark = pytest.mark.timeout(building.TIMEOUT_S)

HAS_DRIVER = Path("/proc/driver/nvidia/version").exists()
without_driver = pytest.mark.skipif(HAS_DRIVER, reason="about a machine without an NVIDIA driver")


@cache
def looked(name: str) -> Document:
    """Everything about the environment of that recipe, and the machine."""
    try:
        python = building.made(name)
    except building.NoPython as missing:
        pytest.skip(str(missing))
    except subprocess.CalledProcessError:
        pytest.fail(f"the environment {name} could not be made")
    return collect(LiveGateway(), Options(Wanted((str(python),), everywhere=False)))


def facts_of(name: str, framework: str) -> dict[str, Any]:
    (environment,) = looked(name).facts["environments"]
    facts = environment[framework]
    assert "problem" not in facts, facts
    assert isinstance(facts, dict)
    return facts


def packages_of(name: str) -> dict[str, str]:
    (environment,) = looked(name).facts["environments"]
    return dict(environment["packages"])


def codes(name: str) -> dict[str, str]:
    """The findings about the environment that are no symptoms: code → severity."""
    document = looked(name)
    (environment,) = document.facts["environments"]
    diagnosis = diagnose(document, RULES)
    assert diagnosis.bugs == ()
    return {
        finding.code: finding.severity.value
        for finding in diagnosis.findings
        if finding.subject == environment["interpreter"]["path"] and finding.symptom_of is None
    }


def kinds(name: str) -> set[str]:
    return {signal.kind for signals in looked(name).own_signals for signal in signals}


def test_torch_cpu_wheel() -> None:
    facts = facts_of("torch-cpu", "torch")
    if facts["cuda_build"] is not None:
        pytest.skip(f"the index gave the CUDA build {facts['version']}")
    assert facts["version"].startswith("2.13.0")
    assert facts["cuda_available"] is False
    assert facts["arch_list"] == []
    assert facts["hip_build"] is None
    assert "error" not in facts
    assert any("libtorch_cpu" in entry["path"] for entry in facts["loaded_libraries"])
    assert "torch-cpu-only-build" in codes("torch-cpu")


def test_torch_cuda_wheel() -> None:
    facts = facts_of("torch-cuda", "torch")
    assert facts["version"].startswith("2.14.1")
    assert facts["cuda_build"] == "13.0"
    assert {"sm_80", "sm_90", "sm_120"} <= set(facts["arch_list"])  # without a GPU too
    assert facts["cudnn_version"].startswith("9.")
    versions = {entry["name"]: entry.get("version") for entry in facts["loaded_libraries"]}
    assert versions["libcudart.so.13"] == "13.0"
    assert any(name.startswith("libcudnn.so.9") for name in versions)
    assert "torch-cpu-only-build" not in codes("torch-cuda")


@without_driver
def test_torch_cuda_wheel_without_a_driver() -> None:
    facts = facts_of("torch-cuda", "torch")
    assert (facts["cuda_available"], facts["device_count"], facts["first_call_ok"]) == (False, 0, False)
    assert "Found no NVIDIA driver" in facts["error"]
    assert facts["warnings"] == []  # the silent case: False with no warning on a CUDA build
    assert "torch-no-driver" in kinds("torch-cuda")
    driver = looked("torch-cuda").facts["driver"]
    assert driver["nvidia_smi_found"] is False
    assert "libcuda.so.1" in driver["cuda_library_error"]


def test_tensorflow_cpu() -> None:
    facts = facts_of("tensorflow-cpu", "tensorflow")
    assert facts["version"] == "2.21.0"
    assert facts["built_with_cuda"] is False
    assert facts["gpu_count"] == 0
    assert "oneDNN" in facts["log"]  # the log of the import was captured
    assert "tf-cpu-only-build" in codes("tensorflow-cpu")


@without_driver
def test_tensorflow_cuda_build_without_cuda_libraries() -> None:
    facts = facts_of("tensorflow-cuda", "tensorflow")
    assert facts["version"] == "2.21.0"
    assert facts["built_with_cuda"] is True
    assert facts["cuda_build"].startswith("12.")
    assert facts["cudnn_build"] == "9"
    assert "compute_90" in facts["arch_list"]
    assert facts["gpu_count"] == 0
    assert not any(name.startswith("nvidia-") for name in packages_of("tensorflow-cuda"))
    assert "tf-no-cudart" in kinds("tensorflow-cuda")
    assert "libcuda.so.1" in facts["log"]  # named only where everything is logged


@without_driver
def test_tensorflow_2_10_with_its_old_log() -> None:
    facts = facts_of("tensorflow-2.10", "tensorflow")
    assert facts["version"] == "2.10.1"
    assert (facts["built_with_cuda"], facts["cuda_build"], facts["cudnn_build"]) == (True, "11.2", "8")
    assert facts["gpu_count"] == 0
    assert "Could not load dynamic library" in facts["log"]
    assert "tf-library-not-found" in kinds("tensorflow-2.10")


def test_torch_with_numpy_2() -> None:
    facts = facts_of("torch-numpy2", "torch")
    assert facts["version"].startswith("1.12.1")
    assert facts["cuda_build"] == "10.2"
    assert packages_of("torch-numpy2")["numpy"] == "2.0.2"
    assert any("_ARRAY_API not found" in text for text in facts["warnings"])
    assert "numpy-abi-mismatch" in codes("torch-numpy2")


def test_protobuf_clash() -> None:
    facts = facts_of("protobuf-clash", "tensorflow")
    assert facts["import_ok"] is False
    assert "Descriptors can" in facts["error"]
    assert facts["version"] == "2.8.0"  # from the package
    assert "protobuf-version-conflict" in codes("protobuf-clash")


def test_onnxruntime_twice() -> None:
    facts = facts_of("ort-both", "onnxruntime")
    packages = packages_of("ort-both")
    assert (packages["onnxruntime"], packages["onnxruntime-gpu"]) == ("1.22.1", "1.22.0")
    assert "CUDAExecutionProvider" not in facts["available_providers"]
    assert facts["session_providers"][-1] == "CPUExecutionProvider"
    assert "ort-cpu-package-shadows-gpu" in codes("ort-both")


def test_jax_on_the_cpu() -> None:
    facts = facts_of("jax-cupy", "jax")
    assert facts["version"] == facts["jaxlib_version"] == "0.10.2"
    assert (facts["backend"], facts["device_count"]) == ("cpu", 0)  # no CUDA plug-in is installed, GPU or not
    assert "error" not in facts


def test_cupy() -> None:
    facts = facts_of("jax-cupy", "cupy")
    assert facts["version"] == "14.0.1"
    assert facts["cuda_build"].startswith("12.")
    assert facts["is_hip"] is False
    if not HAS_DRIVER:
        assert facts["first_call_ok"] is False
        assert "cudaErrorInsufficientDriver" in facts["error"]


# -- what is said of them: collect and engine together --------------------------------------------------------------

#: Builds that could not use a GPU either: the missing one is said first.
BESIDE_THE_MISSING_GPU = {
    "torch-cpu-only-build",
    "tf-cpu-only-build",
    "tf-cuda-libs-not-found",
    "ort-cpu-package-shadows-gpu",
}
#: environment → the cause in it, on a machine without GPU and driver.
TRUE_CAUSES = {
    "torch-cpu": "torch-cpu-only-build",
    "torch-cuda": "no-gpu-in-this-machine",
    "torch-numpy2": "numpy-abi-mismatch",
    "tensorflow-cpu": "tf-cpu-only-build",
    "tensorflow-cuda": "tf-cuda-libs-not-found",
    "tensorflow-2.10": "tf-cuda-libs-not-found",
    "protobuf-clash": "protobuf-version-conflict",
    "ort-both": "ort-cpu-package-shadows-gpu",
    "jax-cupy": "no-gpu-in-this-machine",
}


@without_driver
@pytest.mark.parametrize("name", TRUE_CAUSES)
def test_the_true_cause_is_named_and_nothing_false_beside_it(name: str) -> None:
    if name == "torch-cpu" and facts_of("torch-cpu", "torch")["cuda_build"] is not None:
        pytest.skip("the index gave a CUDA build")
    diagnosis = diagnose(looked(name), RULES)
    assert diagnosis.bugs == ()
    first, *others = diagnosis.findings
    if TRUE_CAUSES[name] in BESIDE_THE_MISSING_GPU:
        assert (first.code, first.severity) == ("no-gpu-in-this-machine", Severity.BLOCKS)
        first, *others = others
    assert first.code == TRUE_CAUSES[name]
    assert first.severity is not Severity.INFO
    # The machine has no GPU: that is true of each. Nothing else is wrong with any of them.
    assert {finding.code for finding in others} <= {"no-gpu-in-this-machine", "benign-log-noise"}


def test_a_broken_interpreter(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    python.chmod(0o755)
    document = collect(LiveGateway(), Options(Wanted((str(python),), everywhere=False)))
    first = diagnose(document, RULES).findings[0]
    assert (first.code, first.subject) == ("python-interpreter-broken", str(python))
    assert first.confidence is Confidence.HIGH


def test_an_environment_whose_python_was_removed(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    python.unlink()
    python.symlink_to(tmp_path / "removed" / "python3")
    document = collect(LiveGateway(), Options(Wanted((str(python),), everywhere=False)))
    first = diagnose(document, RULES).findings[0]
    assert (first.code, first.subject) == ("python-interpreter-broken", str(python))
    assert any(step.command == f"python3 -m venv --clear {folder}" for step in first.advice)
