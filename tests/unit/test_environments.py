"""Every Python the user may mean is found, each once, and nothing is run to find it."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest

from gpumon_gui.diagnosis.collect import Options, collect
from gpumon_gui.diagnosis.environments.base import Environment, Kind, Wanted
from gpumon_gui.diagnosis.environments.frameworks import frameworks_in
from gpumon_gui.diagnosis.environments.search import find_environments
from gpumon_gui.diagnosis.gateway import Ran
from tests.unit.fake_gateway import FakeGateway

HOME = {"HOME": "/home/me", "PATH": "/usr/bin:/bin"}
WINDOWS = {
    "USERPROFILE": "C:\\Users\\me",
    "LOCALAPPDATA": "C:\\Users\\me\\AppData\\Local",
    "APPDATA": "C:\\Users\\me\\AppData\\Roaming",
    "ProgramData": "C:\\ProgramData",
    "Path": "C:\\Users\\me\\AppData\\Local\\Microsoft\\WindowsApps;C:\\Py311",
}


def found(gateway: FakeGateway, wanted: Wanted | None = None) -> dict[str, Environment]:
    return {entry.path: entry for entry in find_environments(gateway, wanted or Wanted())}


def linux(files: dict[str, str | bytes | None], **variables: str) -> FakeGateway:
    return FakeGateway("linux", files, {**HOME, **variables})


# -- frameworks --------------------------------------------------------------------------------------------------


def test_the_frameworks_of_an_environment_are_told_by_its_folders() -> None:
    site = "/home/me/.venv/lib/python3.11/site-packages/"
    gateway = linux(
        {
            "/usr/bin/python3.11": "elf",
            "/home/me/.venv/pyvenv.cfg": "home = /usr/bin",
            "/home/me/.venv/bin/python": "-> /usr/bin/python3.11",
            **{
                f"{site}{name}": None
                for name in (
                    "tensorflow_cpu-2.15.0.dist-info",
                    "torch-2.5.1+cu124.dist-info",
                    "torchvision-0.20.1.dist-info",
                    "torch_geometric-2.6.dist-info",
                    "tensorflow_estimator-2.15.0.dist-info",
                    "onnxruntime_gpu-1.19.2.dist-info",
                    "cupy_cuda12x-13.3.0.dist-info",
                    "jaxlib-0.4.35.dist-info",
                )
            },
            "/usr/lib/python3/dist-packages/torch-1.13.1-py3.11.egg-info": None,
            "/usr/lib/python3.9/site-packages/jax-0.4.30.dist-info": None,
        }
    )
    environments = found(gateway, Wanted(pythons=("/home/me/.venv/bin/python", "/usr/bin/python3.11")))
    assert frameworks_in(gateway, environments["/home/me/.venv/bin/python"]) == (
        ("torch", "2.5.1+cu124"),
        ("tensorflow", "2.15.0"),
        ("onnxruntime", "1.19.2"),
        ("cupy", "13.3.0"),
    )
    assert frameworks_in(gateway, environments["/usr/bin/python3.11"]) == (("torch", "1.13.1"),)
    assert gateway.commands == []  # nothing was run


def test_the_frameworks_of_an_environment_are_told_in_windows_too() -> None:
    gateway = FakeGateway(
        "win32",
        {
            "C:\\Py311\\python.exe": "mz",
            "C:\\Py311\\Lib\\site-packages\\TensorFlow_Intel-2.15.0.dist-info": None,
        },
        WINDOWS,
    )
    environments = found(gateway, Wanted(pythons=("C:\\Py311\\python.exe", "C:\\gone\\python.exe")))
    assert [frameworks_in(gateway, one) for one in environments.values()] == [(("tensorflow", "2.15.0"),), ()]


# -- PATH ---------------------------------------------------------------------------------------------------------


def test_one_interpreter_under_many_names_is_one_entry_that_knows_its_names() -> None:
    gateway = linux(
        {
            "/usr/bin/python3.11": "elf",
            "/usr/bin/python3": "-> python3.11",
            "/bin": "-> /usr/bin",
            "/usr/bin/python3-config": "",
        }
    )
    entries = found(gateway)
    assert list(entries) == ["/usr/bin/python3"]
    entry = entries["/usr/bin/python3"]
    assert entry.on_path_as == ("python3", "python3.11")
    assert entry.kind is Kind.SYSTEM
    assert gateway.commands[:] == []


def test_a_name_belongs_to_the_first_folder_that_has_it() -> None:
    gateway = linux({"/opt/a/python3": "elf", "/usr/bin/python3": "elf2"}, PATH="/opt/a:/usr/bin")
    entries = found(gateway)
    assert entries["/opt/a/python3"].on_path_as == ("python3",)
    assert entries["/usr/bin/python3"].on_path_as == ()


def test_a_venv_is_not_its_base() -> None:
    gateway = linux(
        {
            "/usr/bin/python3": "elf",
            "/work/.venv/bin/python": "-> /usr/bin/python3",
            "/work/.venv/bin/python3": "-> python",
            "/work/.venv/pyvenv.cfg": "home = /usr/bin\nprompt = 'deep'\nuv = 0.9\n",
        },
        PATH="/work/.venv/bin:/usr/bin",
    )
    entries = found(gateway)
    assert list(entries) == ["/work/.venv/bin/python", "/usr/bin/python3"]
    venv = entries["/work/.venv/bin/python"]
    assert (venv.kind, venv.name, venv.base, venv.on_path_as) == (Kind.VENV, "deep", "/usr/bin", ("python", "python3"))


# -- projects -----------------------------------------------------------------------------------------------------


def venv(folder: str) -> dict[str, str | bytes | None]:
    return {f"{folder}/bin/python": "elf " + folder, f"{folder}/pyvenv.cfg": "home = /usr/bin"}


def test_environments_of_a_project() -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"/home/me/net").digest()).decode()[:8]
    poetry = f"/home/me/.cache/pypoetry/virtualenvs/net-{digest}-py3.11"
    other = "/home/me/.cache/pypoetry/virtualenvs/net-AAAAAAAA-py3.11"
    pipenv = "/home/me/.local/share/virtualenvs/net-x1y2z3"
    files = {
        **venv("/home/me/net/odd-name"),
        **venv("/home/me/net/.venv"),
        **venv(poetry),
        **venv(other),
        **venv(pipenv),
        f"{pipenv}/.project": "/home/me/net\n",
        **venv("/home/me/.local/share/virtualenvs/else-1"),
        "/home/me/.local/share/virtualenvs/else-1/.project": "/home/me/else",
        "/home/me/net/build/bin/python": "no environment",
    }
    entries = found(linux(files), Wanted(project="/home/me/net", everywhere=False))
    assert {path.removesuffix("/bin/python"): entry.origins for path, entry in entries.items()} == {
        "/home/me/net/.venv": ("project",),
        "/home/me/net/odd-name": ("project",),
        poetry: ("poetry",),
        pipenv: ("pipenv",),
    }
    assert entries["/home/me/net/.venv/bin/python"].name == "net/.venv"


def test_a_folder_inside_a_project_has_the_projects_environment() -> None:
    entries = found(linux(venv("/w/net/.venv")), Wanted(project="/w/net/src", everywhere=False))
    assert list(entries) == ["/w/net/.venv/bin/python"]


# -- conda, pyenv -------------------------------------------------------------------------------------------------


def conda(prefix: str) -> dict[str, str | bytes | None]:
    return {f"{prefix}/bin/python": "elf " + prefix, f"{prefix}/conda-meta/history": ""}


def test_conda_environments_registered_based_and_elsewhere() -> None:
    files = {
        **conda("/home/me/miniforge3"),
        "/home/me/miniforge3/condabin/conda": "",
        **conda("/home/me/miniforge3/envs/torch"),
        **conda("/data/envs/tf"),
        **conda("/big/envs/listed"),
        **conda("/scratch/named"),
        "/home/me/.conda/environments.txt": "/data/envs/tf\n/gone/env\n/home/me/miniforge3\n",
        "/home/me/.condarc": "channels:\n  - conda-forge\nenvs_dirs:\n  - /big/envs\n  - ~/none\n",
    }
    entries = found(linux(files, CONDA_PREFIX="/scratch/named"))
    names = {entry.prefix: entry.name for entry in entries.values()}
    assert names == {
        "/scratch/named": "named",
        "/data/envs/tf": "tf",
        "/home/me/miniforge3": "base",
        "/home/me/miniforge3/envs/torch": "torch",
        "/big/envs/listed": "listed",
    }
    assert {entry.kind for entry in entries.values()} == {Kind.CONDA}


def test_pyenvs_shims_stand_for_the_interpreter_they_start() -> None:
    files: dict[str, str | bytes | None] = {
        "/home/me/.pyenv/shims/python": "#!/usr/bin/env bash",
        "/home/me/.pyenv/shims/python3.9": "#!/usr/bin/env bash",
        "/home/me/.pyenv/version": "3.11.7\n",
        "/w/.python-version": "3.9\n",
    }
    for version in ("3.9.18", "3.11.7"):
        files[f"/home/me/.pyenv/versions/{version}/bin/python"] = f"-> python{version[:-2].rstrip('.')}"
        files[f"/home/me/.pyenv/versions/{version}/bin/python{version[:-2].rstrip('.')}"] = "elf"
    files["/home/me/.pyenv/versions/3.9.18/bin/python3.9"] = "elf"
    gateway = linux(files, PATH="/home/me/.pyenv/shims:/usr/bin")
    entries = found(gateway)
    chosen = [entry.name for entry in entries.values() if "python" in entry.on_path_as]
    assert chosen == ["3.11.7"]
    assert not any("shims" in path for path in entries)
    in_project = found(gateway, Wanted(project="/w"))
    assert [entry.name for entry in in_project.values() if "python" in entry.on_path_as] == ["3.9.18"]


# -- named, processes, kernels ------------------------------------------------------------------------------------


def test_what_the_user_names_is_first_and_what_is_not_there_is_said() -> None:
    gateway = linux({**venv("/e"), "/usr/bin/python3": "elf", "/empty/readme": ""})
    entries = found(gateway, Wanted(pythons=("/e", "/nope/python", "python3", "/empty"), everywhere=False))
    assert [(entry.path, entry.problem) for entry in entries.values()] == [
        ("/e/bin/python", ""),
        ("/nope/python", "not-found"),
        ("/usr/bin/python3", ""),
        ("/empty", "no-python"),
    ]


def test_a_folder_stands_for_the_environments_in_it() -> None:
    gateway = linux({**venv("/w/project/.venv"), **venv("/envs/a"), **venv("/envs/b"), "/w/project/train.py": ""})
    entries = found(gateway, Wanted(pythons=("/w/project", "/envs"), everywhere=False))
    assert list(entries) == ["/w/project/.venv/bin/python", "/envs/a/bin/python", "/envs/b/bin/python"]


def test_relative_paths_are_from_the_users_folder() -> None:
    gateway = FakeGateway("linux", venv("/w/net/.venv"), HOME, asked={"cwd": "/w/net/src"})
    entries = found(gateway, Wanted(pythons=("../.venv",), everywhere=False))
    assert list(entries) == ["/w/net/.venv/bin/python"]
    document = collect(gateway, Options(Wanted(project="..", everywhere=False), machine=False))
    assert [entry["interpreter"]["path"] for entry in document.facts["environments"]] == ["/w/net/.venv/bin/python"]


@pytest.mark.parametrize(
    ("called", "variables"),
    [("/e/bin/python", {}), ("bin/python", {}), ("python", {"PATH": "/x:/e/bin:/usr/bin"})],
)
def test_a_running_process_is_its_venv_not_the_base_it_runs_on(called: str, variables: dict[str, str]) -> None:
    process = {
        "pid": 7,
        "exe": "/usr/bin/python3",
        "cmdline": [called, "train.py"],
        "cwd": "/e",
        "environ": {"CUDA_VISIBLE_DEVICES": "3", **variables},
    }
    files = {**venv("/e"), "/usr/bin/python3": "elf"}
    gateway = FakeGateway("linux", files, HOME, asked={"process 7": process})
    entries = found(gateway, Wanted(pid=7, everywhere=False))
    assert list(entries) == ["/e/bin/python"]
    assert entries["/e/bin/python"].variables["CUDA_VISIBLE_DEVICES"] == "3"


def test_a_process_that_is_no_python_or_gone_gives_nothing() -> None:
    process = {"pid": 7, "exe": "/usr/bin/blender", "cmdline": ["blender"]}
    gateway = FakeGateway("linux", {"/usr/bin/blender": "elf"}, HOME, asked={"process 7": process})
    assert found(gateway, Wanted(pid=7, everywhere=False)) == {}
    assert found(gateway, Wanted(pid=8, everywhere=False)) == {}


def test_kernels_name_their_interpreters() -> None:
    def kernel(*argv: str, language: str = "python") -> str:
        return json.dumps({"argv": list(argv), "display_name": "Deep", "language": language})

    files = {
        **venv("/e"),
        **conda("/home/me/miniconda3"),
        "/home/me/.local/share/jupyter/kernels/deep/kernel.json": kernel("/e/bin/python", "-m", "ipykernel"),
        "/home/me/.local/share/jupyter/kernels/r/kernel.json": kernel("R", language="R"),
        "/home/me/.local/share/jupyter/kernels/gone/kernel.json": kernel("/gone/bin/python"),
        "/home/me/.local/share/jupyter/kernels/broken/kernel.json": "{",
        "/home/me/.local/share/jupyter/kernels/list/kernel.json": "[]",
        "/home/me/.local/share/jupyter/kernels/nested/kernel.json": "[" * 100_000,
        "/home/me/miniconda3/share/jupyter/kernels/python3/kernel.json": kernel("python", "-m", "ipykernel"),
    }
    entries = found(linux(files))
    assert entries["/e/bin/python"].origins == ("Jupyter kernel Deep",)
    assert entries["/home/me/miniconda3/bin/python"].origins == ("conda", "Jupyter kernel Deep")
    assert len(entries) == 2


# -- Windows ------------------------------------------------------------------------------------------------------


def test_windows_registry_store_and_links_of_the_shop() -> None:
    apps = "C:\\Users\\me\\AppData\\Local\\Microsoft\\WindowsApps"
    store = f"{apps}\\PythonSoftwareFoundation.Python.3.12_qbz5n2kfra8p0\\python.exe"
    gateway = FakeGateway(
        "win32",
        {f"{apps}\\python.exe": "", store: "", "C:\\Py311\\python.exe": "mz", "D:\\other\\python.exe": "mz"},
        WINDOWS,
        {"py --list-paths": " -V:3.11 *        C:\\Py311\\python.exe\r\n -V:Astral/x  D:\\other\\python.exe\r\n"},
        {
            "HKLM\\SOFTWARE\\Python\\PythonCore\\3.11\\InstallPath": {"": "C:\\Py311\\"},
            "HKCU\\SOFTWARE\\Python\\PythonCore\\3.8\\InstallPath": {"ExecutablePath": "C:\\removed\\python.exe"},
            "HKLM\\SOFTWARE\\Python\\PyLauncher": {"x": "y"},
        },
    )
    entries = found(gateway)
    assert {path: (entry.kind, entry.origins) for path, entry in entries.items()} == {
        "C:\\Py311\\python.exe": (Kind.SYSTEM, ("PATH", "registry", "py launcher")),
        "D:\\other\\python.exe": (Kind.SYSTEM, ("py launcher",)),
        store: (Kind.STORE, ("store",)),
    }
    assert [command.words[0] for command in gateway.commands] == ["py", "wsl.exe"]


def test_case_and_slashes_do_not_make_two_of_one_on_windows() -> None:
    gateway = FakeGateway(
        "win32",
        {"C:\\Py311\\python.exe": "mz", "C:\\Py311\\python3.exe": "mz"},
        {**WINDOWS, "Path": "c:\\py311;C:/Py311"},
    )
    assert len(found(gateway)) == 1


def test_a_venv_process_on_windows_is_found_by_the_launcher_that_started_it() -> None:
    process = {
        "pid": 7,
        "exe": "C:\\Py311\\python.exe",
        "cmdline": ["C:\\Py311\\python.exe", "train.py"],
        "parent_exe": "C:\\net\\.venv\\Scripts\\python.exe",
    }
    files = {
        "C:\\Py311\\python.exe": "mz",
        "C:\\net\\.venv\\Scripts\\python.exe": "mz",
        "C:\\net\\.venv\\pyvenv.cfg": "home = C:\\Py311",
    }
    gateway = FakeGateway("win32", files, WINDOWS, asked={"process 7": process})
    assert list(found(gateway, Wanted(pid=7, everywhere=False))) == ["C:\\net\\.venv\\Scripts\\python.exe"]


def wsl(running: str, every: str) -> FakeGateway:
    return FakeGateway(
        "win32",
        {},
        WINDOWS,
        {
            "wsl.exe --list --quiet --running": Ran(0, running.encode("utf-16-le")),
            "wsl.exe --list --quiet": Ran(0, every.encode("utf-16-le")),
            "wsl.exe -d Ubuntu": "/usr/bin/python3\n/home/u/tf/bin/python\nnoise\n",
            "wsl.exe -d Debian": "/usr/bin/python3\n",
        },
    )


def test_inside_wsl_only_running_distributions_are_asked() -> None:
    gateway = wsl("Ubuntu\r\ndocker-desktop\r\n", "Ubuntu\r\nDebian\r\n")
    entries = find_environments(gateway, Wanted())
    assert [(entry.distribution, entry.path, entry.kind) for entry in entries] == [
        ("Ubuntu", "/usr/bin/python3", Kind.WSL),
        ("Ubuntu", "/home/u/tf/bin/python", Kind.WSL),
    ]
    assert not any("Debian" in command.words for command in gateway.commands)


def test_stopped_distributions_are_started_with_consent_only() -> None:
    entries = find_environments(wsl("", "Ubuntu\r\nDebian\r\n"), Wanted(starts_wsl=True))
    assert {entry.distribution for entry in entries} == {"Ubuntu", "Debian"}
    assert find_environments(wsl("", "Ubuntu\r\n"), Wanted()) == ()
