"""The compatibility tables: spot facts from their sources, and the rules that read them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gpumon_gui.diagnosis.compat import cudnn, drivers, frameworks, gpus, tables, tensorflow, torch
from gpumon_gui.diagnosis.compat.capability import Code, code_for, parse_capability, torch_supports

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "compat"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_table_loads_and_every_entry_names_its_source(path: Path) -> None:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, rows in table.items():
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            assert all(row["sources"] for row in rows), name


def test_tables_are_read_once_and_hold_versions() -> None:
    assert tables.table("torch") is tables.table("torch")
    assert tables.version("13.x") == (13,)
    with pytest.raises(ValueError, match="no version"):
        tables.version("any")


# --- GPU code -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arch_list", "capability", "code"),
    [
        (["sm_80", "sm_86", "sm_90"], (8, 9), Code.BINARY),  # RTX 40 runs the 8.6 code
        (["sm_50", "sm_60", "sm_70"], (6, 1), Code.BINARY),
        (["sm_70", "sm_75"], (6, 1), Code.NONE),
        (["sm_80", "sm_86", "sm_90"], (12, 0), Code.NONE),
        (["sm_120"], (12, 1), Code.BINARY),
        (["sm_100"], (10, 3), Code.BINARY),
        (["sm_86"], (8, 0), Code.NONE),  # minor numbers only go up
        (["sm_90", "compute_90"], (12, 0), Code.PTX),
        (["compute_90"], (8, 6), Code.NONE),
        (["sm_90a"], (9, 0), Code.BINARY),
        (["sm_100a"], (10, 3), Code.NONE),
        (["compute_100a"], (12, 0), Code.NONE),
        (["sm_70"], (7, 2), Code.NONE),  # Xavier needs its own
        (["gfx90a", "nonsense", ""], (8, 0), Code.NONE),
        ([], (8, 0), Code.NONE),
    ],
)
def test_what_runs_on_a_gpu(arch_list: list[str], capability: tuple[int, int], code: Code) -> None:
    assert code_for(arch_list, capability) is code
    assert torch_supports(arch_list, capability) is (code is not Code.NONE)


def test_orin_runs_its_neighbours_code_from_cuda_13_2_on() -> None:
    assert not torch_supports(["sm_80"], (8, 7), (13, 0))
    assert torch_supports(["sm_80"], (8, 7), (13, 2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8.6", (8, 6)), ("sm_120", (12, 0)), ("compute_90a", (9, 0)), ("12.0", (12, 0)), ("gfx1100", None), ("8", None)],
)
def test_compute_capabilities_are_read(text: str, expected: tuple[int, int] | None) -> None:
    assert parse_capability(text) == expected


# --- PyTorch --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("driver", "capability", "system", "python", "expected"),
    [
        ((12, 4), (8, 6), "windows", (3, 12), ("cu126", "2.14.1")),  # 12.4 runs any 12.x build; 2.15 has none
        ((13, 0), (8, 6), "windows", (3, 12), ("cu130", "2.15.0")),
        ((13, 2), (9, 0), "linux", (3, 13), ("cu132", "2.15.0")),
        ((12, 8), (12, 0), "windows", (3, 12), ("cu128", "2.11.0")),  # RTX 50 with a CUDA 12 driver
        ((13, 0), (6, 1), "windows", (3, 12), ("cu126", "2.14.1")),  # Pascal left with cu126
        ((11, 4), (8, 6), "linux", (3, 9), ("cu118", "2.7.1")),
        ((10, 2), (6, 1), "linux", (3, 7), ("cu102", "1.12.1")),
        (None, None, "windows", None, ("cu126", "2.14.1")),
        (None, (12, 0), "linux", (3, 12), ("cu128", "2.11.0")),
    ],
)
def test_the_best_torch_for_a_machine(
    driver: tuple[int, ...] | None,
    capability: tuple[int, int] | None,
    system: torch.System,
    python: tuple[int, ...] | None,
    expected: tuple[str, str],
) -> None:
    choice = torch.best_torch_index(driver, capability, system, python)
    assert choice is not None
    assert (choice.variant, choice.release) == expected
    assert choice.index == f"https://download.pytorch.org/whl/{expected[0]}"


@pytest.mark.parametrize(
    ("driver", "capability", "system", "python"),
    [
        ((12, 4), (8, 6), "macos", (3, 12)),
        ((9, 0), (6, 1), "linux", (3, 8)),
        ((12, 4), (8, 6), "linux", (3, 99)),
        ((13, 0), (3, 0), "linux", (3, 12)),
    ],
)
def test_no_torch_where_none_fits(
    driver: tuple[int, ...], capability: tuple[int, int], system: torch.System, python: tuple[int, ...]
) -> None:
    assert torch.best_torch_index(driver, capability, system, python) is None


def test_a_release_can_be_kept() -> None:
    choice = torch.best_torch_index((12, 4), (8, 6), "linux", (3, 10), release=(2, 2, 2))
    assert choice is not None
    assert (choice.variant, choice.release) == ("cu121", "2.2.2")
    assert torch.best_torch_index((12, 8), (12, 0), "linux", (3, 10), release=(2, 2, 2)) is None


def test_torch_2_8_holds_other_code_in_cu126_than_in_cu128() -> None:
    release = torch.torch_release((2, 8, 0))
    assert release is not None
    assert torch_supports(release.code("cu126", "linux"), (6, 1))
    assert not torch_supports(release.code("cu128", "linux"), (6, 1))
    assert not torch_supports(release.code("cu126", "linux"), (12, 0))


def test_what_pip_gives_on_each_system() -> None:
    release = torch.torch_release((2, 15))
    assert release is not None
    assert (release.default["windows"], release.default["linux"]) == ("cpu", "cu132")
    assert release.has_python((3, 15, 1), "linux")
    assert not release.has_python((3, 10), "linux")
    newest = torch.newest_with_python((3, 9), "linux")
    assert newest is not None
    assert newest.version == (2, 8)


def test_cudnn_of_a_wheel() -> None:
    assert torch.bundled_cudnn((2, 3, 1), (12, 1)) == (8, 9, 2, 26)
    assert torch.bundled_cudnn((2, 4, 0), (12, 1)) == (9, 1, 0, 70)
    assert torch.bundled_cudnn((2, 4, 0), (11, 3)) is None
    assert torch.bundled_cudnn((0, 4), (9, 0)) is None


# --- drivers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [
        ((550, 54, 14), (12, 4)),
        ((566, 14), (12, 7)),
        ((572, 16), (12, 8)),
        ((581, 29), (13, 0)),
        ((470, 82), (11, 4)),
        ((390,), None),
        ((999,), None),
    ],
)
def test_cuda_level_of_a_driver(driver: tuple[int, ...], cuda: tuple[int, ...] | None) -> None:
    assert drivers.cuda_of_driver(driver) == cuda


def test_a_driver_runs_every_build_of_its_cuda_major() -> None:
    assert drivers.driver_runs((12, 2), (12, 8))
    assert not drivers.driver_runs((12, 8), (13, 0))
    assert drivers.driver_runs((13, 0), (10, 2))
    assert not drivers.driver_runs((10, 1), (10, 2))  # no such compatibility before 11


def test_minimum_drivers() -> None:
    assert drivers.minimum_driver((12, 8), windows=False) == (525, 60, 13)
    assert drivers.minimum_driver((12, 8), windows=True) == (528, 33)
    assert drivers.minimum_driver((13, 0), windows=True) == (580,)
    assert drivers.minimum_driver((10, 1), windows=False) == (418, 39)
    assert drivers.minimum_driver((14, 0), windows=False) is None


def test_library_names_tell_the_cuda_version() -> None:
    assert drivers.cuda_of_library("cudart64_101.dll") == ((10, 1),)
    assert drivers.cuda_of_library("cudart64_110.dll") == ((11, 0), (11,))
    assert drivers.cuda_of_library("libcudart.so.12") == ((12,),)
    assert drivers.cuda_of_library("libm.so.6") == ()


# --- GPUs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA H200", (9, 0)),
        ("NVIDIA A100-SXM4-40GB MIG 3g.20gb", (8, 0)),
        ("NVIDIA A100 80GB PCIe", (8, 0)),
        ("NVIDIA GeForce GTX 1060 6GB", (6, 1)),
        ("NVIDIA GeForce GTX 1650 with Max-Q Design", (7, 5)),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", (8, 9)),
        ("NVIDIA GeForce RTX 5090", (12, 0)),
        ("Tesla T4", (7, 5)),
        ("NVIDIA A10G", (8, 6)),
        ("  nvidia   geforce rtx 3080 ti ", (8, 6)),
        ("NVIDIA GB10", (12, 1)),
    ],
)
def test_names_tell_the_compute_capability(name: str, capability: tuple[int, int]) -> None:
    found = gpus.product(name)
    assert found is not None
    assert found.capability == capability
    assert found.certain


def test_names_sold_with_several_chips_are_not_certain() -> None:
    found = gpus.product("NVIDIA GeForce GT 1030")
    assert found is not None
    assert not found.certain


def test_unknown_names_stay_unknown() -> None:
    assert gpus.product("AMD Radeon RX 7900 XTX") is None
    assert gpus.product("") is None


def test_tensor_cores_are_a_matter_of_the_product() -> None:
    sixteen, twenty = gpus.product("GeForce GTX 1660"), gpus.product("GeForce RTX 2060")
    assert sixteen is not None
    assert twenty is not None
    assert (sixteen.capability, twenty.capability) == ((7, 5), (7, 5))
    assert (sixteen.tensor_cores, twenty.tensor_cores) == (False, True)


def test_old_architectures_name_their_last_cuda_and_driver() -> None:
    pascal = gpus.architecture((6, 1))
    assert pascal is not None
    assert (pascal.family, pascal.last_cuda, pascal.last_branch) == ("Pascal", (12, 9), "R580")
    assert gpus.architecture((1, 0)) is None


# --- TensorFlow, cuDNN and others ------------------------------------------------------------------------------------


def test_what_tensorflow_wants() -> None:
    build = tensorflow.tensorflow_wants((2, 10, 1))
    assert build is not None
    assert (build.cuda, build.cudnn, build.windows_gpu, build.extra) == ((11, 2), (8, 1), True, "")
    assert "cudart64_110.dll" in build.libraries_windows
    newest = tensorflow.tensorflow_wants((2, 21))
    assert newest is not None
    assert (newest.cuda, newest.cudnn, newest.windows_gpu, newest.extra) == ((12, 5), (9, 3), False, "and-cuda")
    assert not torch_supports(newest.code(), (5, 2))
    assert code_for(newest.code(), (12, 0)) is Code.PTX
    assert tensorflow.tensorflow_wants((1, 4)) is None
    assert tensorflow.tensorflow_wants((2,)) is None


def test_the_last_tensorflow_for_windows_gpus_and_for_a_python() -> None:
    windows = tensorflow.newest_tensorflow((3, 10), windows_gpu=True)
    assert windows is not None
    assert windows.version == tensorflow.LAST_WINDOWS_GPU
    assert tensorflow.newest_tensorflow((3, 12), windows_gpu=True) is None
    old = tensorflow.newest_tensorflow((3, 8))
    assert old is not None
    assert old.version == (2, 13)


def test_cudnn_names_and_versions() -> None:
    assert cudnn.cudnn_major_of("cudnn_ops_infer64_8.dll") == 8
    assert cudnn.cudnn_major_of("/usr/lib/libcudnn_ops.so.9.1.0") == 9
    assert cudnn.cudnn_major_of("cudnn64_7.dll") == 7
    assert cudnn.cudnn_major_of("cublas64_12.dll") is None
    assert cudnn.cudnn_files(9, windows=False)[0] == "libcudnn.so.9"
    assert cudnn.cudnn_files(6, windows=False) == ()
    assert cudnn.needs_zlibwapi((8, 4))
    assert not cudnn.needs_zlibwapi((8, 1))
    assert not cudnn.needs_zlibwapi((9, 1))
    assert cudnn.cudnn_serves((8, 9), (8, 6))
    assert not cudnn.cudnn_serves((8, 1), (8, 6))
    assert not cudnn.cudnn_serves((9, 1), (8, 6))
    assert cudnn.version_of_number(8902) == (8, 9, 2)
    assert cudnn.version_of_number(90100) == (9, 1, 0)
    assert cudnn.pip_package(12) == "nvidia-cudnn-cu12"
    assert cudnn.pip_package(10) is None


def test_what_onnxruntime_wants() -> None:
    old, usual = frameworks.onnxruntime_gpu_wants((1, 16, 3)), frameworks.onnxruntime_gpu_wants((1, 20, 1))
    assert old is not None
    assert usual is not None
    assert (old.cuda, old.cudnn[0]) == ((11, 8), 8)
    assert (usual.cuda, usual.cudnn) == ((12,), (9,))
    newer = frameworks.onnxruntime_gpu_wants((1, 40))
    assert newer is not None
    assert newer.cuda == (13,)
    assert frameworks.onnxruntime_gpu_wants((0, 5)) is None
