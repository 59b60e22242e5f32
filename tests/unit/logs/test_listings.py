"""What nvidia-smi, collect_env, pip, conda, TensorFlow and tracebacks print becomes the facts that they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.diagnosis.facts import SCHEMA, Signal
from gpumon_gui.diagnosis.facts_file import parse
from gpumon_gui.diagnosis.logs.read_errors import library_version
from gpumon_gui.diagnosis.logs.reader import LogFacts, read
from gpumon_gui.diagnosis.logs.sizes import bytes_of

DATA = Path(__file__).parents[2] / "data" / "logs"


def facts_of(text: str) -> Any:
    found = read(text.encode())
    parse({"schema": SCHEMA, **found.facts})  # of the types that facts have
    return found.facts


def sample(name: str) -> LogFacts:
    return read((DATA / name).read_bytes())


def only(text: str, kind: str) -> Signal:
    (signal,) = [signal for signal in read(text.encode()).signals if signal.kind == kind]
    return signal


def test_smi_table_of_driver_580() -> None:
    found = sample("nvidia-smi-h200-linux-580.txt")
    assert found.facts["driver"] == {"version": "580.159.04", "cuda_version": "13.0", "nvidia_smi_works": True}
    assert found.facts["gpu_count"] == 1
    assert found.facts["gpus"] == [
        {
            "name": "NVIDIA H200",
            "vendor": "nvidia",
            "memory_used_bytes": 0,
            "memory_total_bytes": 143771 << 20,
            "power_state": "P0",
            "mig_mode": "Disabled",
        }
    ]
    assert found.origins["gpus.0"].line == 9


def test_smi_table_of_driver_610_on_windows() -> None:
    found = sample("nvidia-smi-windows-610.txt")
    assert found.facts["driver"] == {"version": "610.62", "cuda_version": "13.3", "nvidia_smi_works": True}
    names = [(gpu["name"], gpu["driver_model"]) for gpu in found.facts["gpus"]]
    assert names == [("NVIDIA GeForce RTX 4070", "WDDM"), ("Quadro RTX 6000", "TCC")]
    assert all("mig_mode" not in gpu for gpu in found.facts["gpus"])


def test_smi_in_wsl_the_windows_driver_counts() -> None:
    line = "| NVIDIA-SMI 615.71.08              KMD Version: 616.92        CUDA UMD Version: 13.4     |"
    assert facts_of(line)["driver"]["version"] == "616.92"


def test_smi_query() -> None:
    found = sample("nvidia-smi-q-h200-linux-580.txt")
    (gpu,) = found.facts["gpus"]
    assert gpu["name"] == "NVIDIA H200"
    assert gpu["memory_total_bytes"] == 143771 << 20
    assert gpu["vgpu"] is False
    assert found.facts["driver"]["version"] == "580.159.04"


def test_two_listings_of_one_card_are_one_card() -> None:
    tensorflow = (
        "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 5957 MB memory:  -> device: 0, name: NVIDIA "
        "GeForce RTX 4070 Laptop GPU, pci bus id: 0000:01:00.0, compute capability: 8.9\n"
    )
    table = (DATA / "nvidia-smi-windows-610.txt").read_text(encoding="utf-8")
    gpus = facts_of(tensorflow + table)["gpus"]
    assert len(gpus) == 2
    assert gpus[0]["compute_capability"] == "8.9"
    assert gpus[0]["driver_model"] == "WDDM"


def test_collect_env_could_not_collect_is_a_cpu_build() -> None:
    found = sample("collect-env-cpu-windows.txt")
    assert found.facts["torch"] == {
        "version": "2.5.1",
        "cuda_available": False,
        "cuda_build": None,
        "hip_build": None,
    }
    assert found.facts["os"]["family"] == "windows"
    assert found.facts["interpreter"] == {"version": "3.11.9", "bits": 64, "kind": "conda"}
    assert found.facts["toolkit"]["nvcc_version"] == "12.1.66"
    assert found.facts["toolkit"]["cudnn_copies"][0]["version"] == "8"
    assert found.facts["gpus"] == [{"name": "NVIDIA GeForce RTX 3060", "vendor": "nvidia"}]
    assert "collect-env-torch-without-cuda" in {signal.kind for signal in found.signals}


def test_collect_env_without_torch_says_nothing_of_its_build() -> None:
    text = (
        "PyTorch version: N/A\nIs debug build: N/A\nCUDA used to build PyTorch: N/A\nROCM used to build PyTorch: N/A\n"
    )
    assert "torch" not in facts_of(text)


def test_pip_replaces_a_cuda_torch() -> None:
    log = (
        "Attempting uninstall: torch\n    Found existing installation: torch 2.3.0+cu121\n"
        "    Uninstalling torch-2.3.0+cu121:\n      Successfully uninstalled torch-2.3.0+cu121\n"
        "Successfully installed accelerate-0.30.1 torch-2.4.0 nvidia-cublas-cu12-12.1.3.1\n"
    )
    facts = facts_of(log)
    assert facts["torch"] == {"version": "2.4.0"}  # nothing is known of the new one's build
    assert facts["packages"]["nvidia-cublas-cu12"] == "12.1.3.1"
    assert only(log, "pip-uninstalled").values == {"package": "torch", "version": "2.3.0+cu121"}


def test_pip_list_and_freeze_and_conda_list() -> None:
    listed = "Package   Version\n--------- ------------\nnumpy   1.26.4\ntorch   2.1.0+cu118\n\nother text 3\n"
    assert facts_of(listed)["packages"] == {"numpy": "1.26.4", "torch": "2.1.0+cu118"}
    assert facts_of(listed)["torch"]["cuda_build"] == "11.8"
    frozen = "numpy==1.26.4\nscipy==1.11\ntorch==2.1.0+cpu\nzope.interface==6.0\n"
    assert facts_of(frozen)["packages"]["zope-interface"] == "6.0"
    assert facts_of(frozen)["torch"]["cuda_build"] is None
    conda = (
        "# packages in environment at /opt/ml:\n# Name   Version   Build  Channel\nnumpy 1.26.4   py311_0  defaults\n"
    )
    assert facts_of(conda)["packages"] == {"numpy": "1.26.4"}
    assert facts_of(conda)["interpreter"]["kind"] == "conda"


def test_a_single_pin_in_a_text_is_no_installed_package() -> None:
    assert "packages" not in facts_of("please try\ntorch==2.1.0\nand tell us\n")


def test_from_versions() -> None:
    text = "Could not find a version that satisfies the requirement torch==2.0.0+cu118 (from versions: 2.0.0, 2.0.1)"
    values = only(text, "pip-no-matching-version").values
    assert (values["package"], values["wanted"], values["offered"]) == ("torch", "==2.0.0+cu118", ("2.0.0", "2.0.1"))
    assert only(text.replace("2.0.0, 2.0.1", "none"), "pip-no-matching-version").values["offered"] == ()


@pytest.mark.parametrize(
    ("text", "capability"),
    [
        (
            "Found device 0 with properties: \npciBusID: 0000:01:00.0 name: GeForce GTX 1080 computeCapability: 6.1\n",
            "6.1",
        ),
        ("name: GeForce GTX 1080 major: 6 minor: 1 memoryClockRate(GHz): 1.7335\n", "6.1"),
        ("  StreamExecutor device (0): NVIDIA A100-SXM4-80GB, Compute Capability 8.0\n", "8.0"),
    ],
)
def test_device_lines(text: str, capability: str) -> None:
    (gpu,) = facts_of(text)["gpus"]
    assert gpu["compute_capability"] == capability
    assert gpu["vendor"] == "nvidia"


def test_lspci_lists_all_makers() -> None:
    text = (
        "00:02.0 VGA compatible controller: Intel Corporation Alder Lake-P Integrated Graphics Controller (rev 0c)\n"
        "0000:01:00.0 3D controller [0302]: NVIDIA Corporation GA107M [GeForce RTX 3050 Mobile] (rev a1)\n"
    )
    assert [gpu["vendor"] for gpu in facts_of(text)["gpus"]] == ["intel", "nvidia"]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('File "/home/u/miniconda3/envs/ml/lib/python3.9/site-packages/a.py"', ("3.9", "conda", "linux")),
        ('File "/home/u/p/.venv/lib/python3.12/site-packages/a.py"', ("3.12", "venv", "linux")),
        ('File "/Users/u/p/venv/lib/python3.12/site-packages/a.py"', ("3.12", "venv", "macos")),
        (
            r'File "C:\Users\u\AppData\Local\Programs\Python\Python310\lib\site-packages\a.py"',
            ("3.10", None, "windows"),
        ),
        (r'File "D:\anaconda3\envs\tf\lib\site-packages\a.py"', (None, "conda", "windows")),
    ],
)
def test_paths_tell_interpreter_and_system(text: str, facts: tuple[str | None, str | None, str]) -> None:
    found = facts_of(text)
    interpreter = found.get("interpreter", {})
    assert (interpreter.get("version"), interpreter.get("kind"), found["os"]["family"]) == facts
    assert "path" not in interpreter


def test_sys_version() -> None:
    text = "3.13.1 experimental free-threading build (main, Dec  3 2024, 17:59:52) [MSC v.1942 64 bit (AMD64)]"
    found = facts_of(text)
    assert found["interpreter"] == {"version": "3.13.1", "free_threaded": True, "bits": 64}
    assert found["os"]["family"] == "windows"


def test_a_traceback_is_one_signal() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "run.py", line 3, in <module>\n    import torch\n'
        '  File "/opt/conda/lib/python3.10/site-packages/torch/__init__.py", line 141, in <module>\n    raise err\n'
        "OSError: [WinError 126] 找不到指定的模块。\nError loading it\n\nlater text\n"
    )
    signal = only(text, "python-exception")
    assert signal.values == {
        "type": "OSError",
        "message": "[WinError 126] 找不到指定的模块。 Error loading it",
        "package": "torch",
    }
    assert signal.origin.line == 6


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Unexpected error from cudaGetDeviceCount(). Did you run some. Error 804: forward", "cuda-error-804"),
        ("failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", "cuda-error-100"),
        ("CUDA failure 100: no CUDA-capable device", "cuda-error-100"),
        ("Call to cuInit results in CUDA_ERROR_UNKNOWN (999)", "cuda-error-999"),
        ('unable to load cuda driver library error="cuda driver library init failure: 999"', "cuda-error-999"),
        ("failed call to cuInit: UNKNOWN ERROR (303)", "cuda-error-303"),
        ("cudaErrorInsufficientDriver", "cuda-error-35"),
        ("CUDA error: unspecified launch failure", "cuda-error-719"),
        ("cuda runtime error (46) : all CUDA-capable devices are busy or unavailable", "cuda-error-46"),
        ("OSError: [WinError 1455] 页面文件太小，无法完成操作。", "winerror-1455"),
        (
            'LoadLibrary failed with error 126 "" when trying to load "x\\onnxruntime_providers_cuda.dll"',
            "winerror-126",
        ),
    ],
)
def test_error_numbers(text: str, kind: str) -> None:
    assert kind in {signal.kind for signal in read(text.encode()).signals}


def test_the_named_dll_comes_along() -> None:
    text = (
        'OSError: [WinError 126] x. Error loading "C:\\ProgramData\\Lib\\site-packages\\torch\\lib\\fbgemm.dll" or one'
    )
    assert only(text, "winerror-126").values["library"] == "fbgemm.dll"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("libcudart.so.11.0", ("cudart", "11.0")),
        ("cudart64_101.dll", ("cudart", "10.1")),
        ("cudart64_110.dll", ("cudart", "11.0")),
        ("cublasLt64_12.dll", ("cublasLt", "12")),
        ("cudnn_ops_infer64_8.dll", ("cudnn_ops_infer", "8")),
        ("libcudnn_ops.so.9.1.0", ("cudnn_ops", "9.1.0")),
        ("nvcuda.dll", ("nvcuda", "")),
    ],
)
def test_names_of_libraries_carry_versions(file: str, expected: tuple[str, str]) -> None:
    assert library_version(file) == expected


def test_missing_library() -> None:
    text = (
        "Could not load dynamic library 'libcusolver.so.11'; dlerror: libnvJitLink.so.12: cannot open shared object "
        "file: No such file or directory"
    )
    names = [signal.values["library"] for signal in read(text.encode()).signals if signal.kind == "library-missing"]
    assert names == ["libcusolver.so.11", "libnvJitLink.so.12"]


def test_sizes() -> None:
    assert bytes_of("20.00 MiB") == 20 << 20
    assert bytes_of("143771 MiB") == 143771 << 20
    assert bytes_of("17179869184.00 GiB") is None
    assert bytes_of("none") is None
