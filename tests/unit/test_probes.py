"""Machines made of a few files and answers: which facts the probes make of them."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from gpumon_gui.diagnosis.collect import Options, collect
from gpumon_gui.diagnosis.environments.base import Wanted
from gpumon_gui.diagnosis.facts_file import parse
from gpumon_gui.diagnosis.gateway import Failure, Ran
from gpumon_gui.diagnosis.probes.gpus import count, joined
from gpumon_gui.diagnosis.probes.table import PROBES
from gpumon_gui.diagnosis.probes.windows_gpus import nvidia_version
from tests.unit.fake_gateway import FakeGateway

SMI = (Path(__file__).parents[1] / "data/logs/nvidia-smi-q-h200-linux-580.txt").read_text(encoding="utf-8")
PCI = "/sys/bus/pci/devices"
HOME = {"HOME": "/home/me", "PATH": "/usr/bin"}
WINDOWS = {"USERPROFILE": "C:\\Users\\me", "SystemRoot": "C:\\Windows", "Path": "C:\\Windows\\System32"}
X86 = {"uname": {"machine": "x86_64"}}


def facts(gateway: FakeGateway) -> dict[str, Any]:
    """Everything about the machine; it is a valid facts document."""
    document = collect(gateway, Options(Wanted(everywhere=False)))
    parse({"schema": "gpumon-facts/1", **document.facts})
    return dict(document.facts)


def alone(name: str, gateway: FakeGateway) -> dict[str, Any]:
    """The facts of one probe."""
    (probe,) = (entry for entry in PROBES if entry.id == name)
    return dict(probe.probe(gateway, Event()).facts)


def card(address: str, vendor: str, device: str, driver: str = "", **more: str) -> dict[str, str | bytes | None]:
    folder = f"{PCI}/{address}"
    files: dict[str, str | bytes | None] = {
        f"{folder}/class": "0x030000\n",
        f"{folder}/vendor": f"0x{vendor}\n",
        f"{folder}/device": f"0x{device}\n",
        **{f"{folder}/{name}": text for name, text in more.items()},
    }
    if driver:
        files[f"{folder}/driver"] = f"-> /sys/bus/pci/drivers/{driver}"
        files[f"/sys/bus/pci/drivers/{driver}/bind"] = ""
    return files


def test_what_only_windows_has_is_no_step_elsewhere() -> None:
    def steps(platform: str) -> set[str]:
        told: set[str] = set()
        collect(FakeGateway(platform), Options(Wanted(everywhere=False)), lambda progress: told.add(progress.title))
        return told

    assert "Graphics cards in Windows" in steps("win32")
    assert "Graphics cards in Windows" not in steps("linux")


# -- nothing is known of a machine that answers nothing -----------------------------------------------------------


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
def test_absent_is_unknown_never_false_or_zero(platform: str) -> None:
    found = facts(FakeGateway(platform))
    assert "gpus" not in found
    assert "gpu_count" not in found
    assert "kernel_module_loaded" not in found["driver"]
    assert found["os"].get("secure_boot") is None
    assert found["driver"]["nvidia_smi_found"] is False  # this one was looked for


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
def test_nothing_but_the_gateway_is_asked(platform: str, opened: list[str]) -> None:
    facts(FakeGateway(platform))
    assert [path for path in opened if path.startswith(("/proc", "/sys", "/dev", "/etc"))] == []


# -- Linux --------------------------------------------------------------------------------------------------------


def test_a_server_with_its_driver() -> None:
    gateway = FakeGateway(
        "linux",
        {
            **card("0000:00:06.0", "10de", "2335", "nvidia", power_state="D0"),
            "/usr/bin/nvidia-smi": "elf",
            "/usr/share/misc/pci.ids": "10de  NVIDIA\n\t2335  GH100 [H200]\n1102  Creative\n\t2335  other\n",
            "/proc/version": "Linux version 6.8.0-45-generic (x) #45\n",
            "/proc/modules": "nvidia_uvm 1 0 - Live 0x0\nnvidia 2 1 nvidia_uvm, Live 0x0\n",
            "/sys/module/nvidia/version": "580.159.04\n",
            "/lib/modules/6.8.0-45-generic/modules.dep": "updates/dkms/nvidia.ko.zst: kernel/x.ko\n",
            "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1": "-> libnvidia-ml.so.580.159.03",
            "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.159.03": "elf",
            "/dev/nvidia0": "dev!",
            "/dev/nvidiactl": "dev",
            "/dev/nvidia-nvswitch0": "dev",
            "/usr/bin/systemctl": "elf",
            "/etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
        },
        HOME,
        {
            "/usr/bin/nvidia-smi -q": SMI,
            "/usr/bin/nvidia-smi --query-gpu": "0, GPU-1, 00000000:00:06.0, 9.0, Disabled, Default\n",
            "systemctl is-active nvidia-fabricmanager": Ran(3, b"inactive\n"),
        },
        asked=X86,
    )
    found = facts(gateway)
    (gpu,) = found["gpus"]
    assert gpu["name"] == "NVIDIA H200"
    assert gpu["compute_capability"] == "9.0"
    assert gpu["kernel_driver"] == "nvidia"
    assert (gpu["mig_mode"], gpu["vgpu"], gpu["power_state"]) == ("Disabled", False, "P0")
    assert found["gpu_count"] == 1
    driver = found["driver"]
    assert (driver["version"], driver["cuda_version"], driver["nvidia_smi_works"]) == ("580.159.04", "13.0", True)
    assert (driver["kernel_module_version"], driver["library_version"]) == ("580.159.04", "580.159.03")
    assert (driver["kernel_module_loaded"], driver["uvm_loaded"], driver["nouveau_loaded"]) == (True, True, False)
    assert driver["kernel_module_installed"] is True
    assert {entry["path"]: entry["access"] for entry in driver["device_files"]}["/dev/nvidia0"] == "denied"
    assert driver["fabric_manager"] == {"nvswitch": True, "running": False}
    assert found["os"]["name"] == "Ubuntu 24.04.1 LTS"


def test_a_driver_that_does_not_answer() -> None:
    gateway = FakeGateway(
        "linux",
        {
            **card("0000:01:00.0", "10de", "2684", "nouveau"),
            "/usr/bin/nvidia-smi": "elf",
            "/proc/modules": "nouveau 1 0\n",
        },
        HOME,
        {
            "/usr/bin/nvidia-smi": Ran(
                9, b"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
            )
        },
        asked=X86,
    )
    document = collect(gateway, Options(Wanted(everywhere=False)))
    driver = document.facts["driver"]
    assert driver["nvidia_smi_works"] is False
    assert "couldn't communicate" in driver["nvidia_smi_error"]
    assert (driver["kernel_module_loaded"], driver["nouveau_loaded"]) == (False, True)
    assert document.facts["gpus"][0]["kernel_driver"] == "nouveau"
    assert document.signals
    assert document.signals[0].origin.source == "nvidia-smi"


def test_nvidia_smi_that_hangs_is_told_as_such() -> None:
    files = {"/usr/bin/nvidia-smi": "elf"}
    hung = Ran(None, failure=Failure.TIMED_OUT)
    driver = facts(FakeGateway("linux", files, HOME, {"/usr/bin/nvidia-smi": hung}))["driver"]
    assert (driver["nvidia_smi_works"], driver["nvidia_smi_error"]) == (False, "timed-out")
    assert driver["responding"] is False


def test_a_kernel_without_modules_is_known_to_have_none_loaded() -> None:
    driver = facts(FakeGateway("linux", {"/sys/module/printk/parameters/time": "Y"}, HOME))["driver"]
    assert (driver["kernel_module_loaded"], driver["nouveau_loaded"]) == (False, False)


def test_an_old_nvidia_smi_without_compute_capabilities_still_tells_the_rest() -> None:
    gateway = FakeGateway(
        "linux",
        {"/usr/bin/nvidia-smi": "elf"},
        HOME,
        {
            "/usr/bin/nvidia-smi -q": SMI,
            "/usr/bin/nvidia-smi --query-gpu=index,uuid,pci.bus_id,compute_cap": Ran(2, b'Field "compute_cap" is not'),
            "/usr/bin/nvidia-smi --query-gpu=index,uuid,pci.bus_id,d": "0, GPU-1, 00000000:00:06.0, Enabled, x",
        },
    )
    (gpu,) = facts(gateway)["gpus"]
    assert (gpu["uuid"], gpu["bus"], gpu["display_active"]) == ("GPU-1", "0000:00:06.0", True)
    assert "compute_capability" not in gpu


def test_a_laptop_with_two_vendors() -> None:
    files = {
        **card("0000:00:02.0", "8086", "9a49", "i915"),
        **card("0000:01:00.0", "10de", "25a0", "nvidia", power_state="D3cold"),
        f"{PCI}/0000:02:00.0/class": "0x010802\n",
        "/sys/class/dmi/id/chassis_type": "10\n",
        "/sys/power/suspend_stats/success": "3\n",
    }
    found = facts(FakeGateway("linux", files, HOME, asked=X86))
    assert [(gpu["vendor"], gpu.get("integrated")) for gpu in found["gpus"]] == [("intel", True), ("nvidia", None)]
    assert found["gpu_count"] == 1
    assert found["gpus"][1]["power_state"] == "D3cold"
    assert found["host"]["hybrid_graphics"] is True
    assert found["host"]["laptop"] is True
    assert found["os"]["resumed_from_suspend"] is True


def test_a_bus_without_a_gpu_is_known_to_have_none() -> None:
    files: dict[str, str | bytes | None] = {f"{PCI}/0000:00:00.0/class": "0x060000\n"}
    found = facts(FakeGateway("linux", files, HOME, asked=X86))
    assert (found["gpus"], found["gpu_count"]) == ([], 0)
    board = facts(FakeGateway("linux", files, HOME, asked={"uname": {"machine": "aarch64"}}))
    assert "gpus" not in board  # a Jetson's GPU is on no bus


def test_wsl_with_a_linux_driver_in_the_way() -> None:
    files: dict[str, str | bytes | None] = {
        "/proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2 (x)",
        "/dev/dxg": "dev",
        "/usr/lib/wsl/lib/libcuda.so.1": "elf",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.1": "-> libcuda.so.535.183.01",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01": "elf",
        "/usr/lib/wsl/lib/nvidia-smi": "elf",
        "/proc/modules": "",
        f"{PCI}/x/class": "0x030200\n",
        f"{PCI}/x/vendor": "0x1414\n",
    }
    found = facts(FakeGateway("linux", files, HOME, {"/usr/lib/wsl/lib/nvidia-smi -q": SMI}, asked=X86))
    assert (found["os"]["wsl"], found["os"]["wsl_version"]) == (True, 2)
    assert [entry["path"] for entry in found["driver"]["libcuda_copies"]] == [
        "/usr/lib/wsl/lib/libcuda.so.1",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    ]
    assert found["driver"]["nvidia_smi_on_path"] is False
    assert found["driver"]["nvidia_smi_path"] == "/usr/lib/wsl/lib/nvidia-smi"
    assert "kernel_module_loaded" not in found["driver"]  # the driver is Windows'
    assert found["gpu_count"] == 1


OVERLAY = "30 1 0:26 / / rw - overlay overlay rw,lowerdir=/x\n"
DISK = "27 1 254:0 / / rw - ext4 /dev/vda rw\n"


@pytest.mark.parametrize(
    ("files", "variables", "expected"),
    [
        ({"/.dockerenv": "", "/proc/self/mountinfo": OVERLAY}, {}, "docker"),
        ({"/.dockerenv": "", "/proc/self/mountinfo": DISK}, {}, False),  # an image that became a disk
        ({"/run/.containerenv": ""}, {}, "podman"),
        ({"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "x"}, "kubernetes"),
        ({}, {"container": "lxc"}, "lxc"),
        ({"/proc/1/cgroup": "0::/init.scope\n"}, {}, False),
        ({"/proc/1/cgroup": "3:cpu:/docker/abc\n"}, {}, "docker"),
    ],
)
def test_containers(files: dict[str, str], variables: dict[str, str], expected: object) -> None:
    assert alone("system", FakeGateway("linux", files, variables))["os"]["container"] == expected


@pytest.mark.parametrize(("last", "expected"), [(b"\x06\0\0\0\x01", True), (b"\x06\0\0\0\x00", False)])
def test_secure_boot(last: bytes, expected: bool) -> None:
    path = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    assert alone("system", FakeGateway("linux", {path: last}))["os"]["secure_boot"] is expected


@pytest.mark.parametrize(
    ("maker", "expected"),
    [("QEMU Standard PC", "QEMU/KVM"), ("Microsoft Corporation Virtual Machine", "Hyper-V"), ("LENOVO", False)],
)
def test_virtual_machines(maker: str, expected: object) -> None:
    found = alone("system", FakeGateway("linux", {"/sys/class/dmi/id/sys_vendor": maker}))
    assert found["os"]["virtual_machine"] == expected


def test_toolkits_and_the_one_a_terminal_uses() -> None:
    files: dict[str, str | bytes | None] = {
        "/usr/local/cuda-11.8/version.json": '{"cuda": {"version": "11.8.0"}}',
        "/usr/local/cuda-10.2/version.txt": "CUDA Version 10.2.89\n",
        "/usr/local/cuda-12.4/bin/nvcc": "elf",
        "/usr/local/cuda": "-> cuda-12.4",
        "/usr/local/cuda-broken": "",
    }
    variables = {"HOME": "/home/me", "PATH": "/usr/local/cuda/bin:/usr/bin", "CUDA_HOME": "/usr/local/cuda-11.8"}
    printed = "Cuda compilation tools, release 12.4, V12.4.131\n"
    toolkit = facts(FakeGateway("linux", files, variables, {"/usr/local/cuda/bin/nvcc --version": printed}))["toolkit"]
    assert (toolkit["cuda_version"], toolkit["nvcc_version"]) == ("12.4.131", "12.4.131")
    assert toolkit["cuda_path"] == "/usr/local/cuda-11.8"
    assert toolkit["cuda_bin_on_path"] is True
    assert sorted(entry["version"] for entry in toolkit["toolkits"]) == ["10.2.89", "11.8.0", "12.4"]


def test_a_toolkit_no_terminal_finds() -> None:
    files: dict[str, str | bytes | None] = {"/usr/local/cuda-11.8/version.json": '{"cuda": {"version": "11.8.0"}}'}
    toolkit = facts(FakeGateway("linux", files, HOME))["toolkit"]
    assert (toolkit["cuda_version"], toolkit["cuda_bin_on_path"]) == ("11.8.0", False)
    assert "nvcc_version" not in toolkit


def test_copies_of_cudnn_in_search_order() -> None:
    files: dict[str, str | bytes | None] = {}
    for folder, version in (
        ("/apps/cudnn/lib", "8.0.3"),
        ("/usr/lib/x86_64-linux-gnu", "8.9.2"),
        ("/usr/local/cuda-12.4/lib64", "9.1.0"),
    ):
        files[f"{folder}/libcudnn.so.{version}"] = "elf"
        files[f"{folder}/libcudnn.so.{version[0]}"] = f"-> libcudnn.so.{version}"
    cache = "2 libs found\n\tlibz.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libz.so.1\n"
    variables = {**HOME, "LD_LIBRARY_PATH": "/apps/cudnn/lib:/none"}
    toolkit = facts(FakeGateway("linux", files, variables, {"/sbin/ldconfig -p": cache}))["toolkit"]
    assert [(entry["version"], entry.get("searched")) for entry in toolkit["cudnn_copies"]] == [
        ("8.0.3", "LD_LIBRARY_PATH"),
        ("8.9.2", "loader cache"),
        ("9.1.0", None),
    ]
    assert toolkit["cudnn_version"] == "8.0.3"


def test_rocm_and_who_may_use_it() -> None:
    files: dict[str, str | bytes | None] = {
        **card("0000:03:00.0", "1002", "744c", "amdgpu"),
        "/opt/rocm/.info/version": "6.2.0-66\n",
        "/dev/kfd": "dev!",
        "/dev/dri/renderD128": "dev!",
    }
    found = facts(FakeGateway("linux", files, HOME, asked={**X86, "groups": ["me", "video"]}))
    assert found["rocm"] == {
        "version": "6.2.0-66",
        "kfd": "denied",
        "render_nodes": 1,
        "render_access": False,
        "groups": ["video"],
    }
    assert found["gpus"][0]["vendor"] == "amd"
    assert found["gpu_count"] == 1


def test_only_variables_that_matter_are_taken() -> None:
    variables = {
        "CUDA_VISIBLE_DEVICES": "",
        "LD_LIBRARY_PATH": "/x",
        "SECRET_TOKEN": "s",
        "NVIDIA_API_KEY": "s",
        "TF_VAR_db_password": "s",  # Terraform's, as the next two
        "TF_VAR_region": "eu",
        "TF_CLI_CONFIG_FILE": "/home/me/.terraformrc",
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_GPU_ALLOCATOR": "cuda_malloc_async",
        "PATH": "/home/me/bin:/usr/local/cuda/bin",
    }
    found = alone("variables", FakeGateway("linux", {}, variables))["environment"]
    assert found == {
        "CUDA_VISIBLE_DEVICES": "",
        "LD_LIBRARY_PATH": "/x",
        "PATH": "/usr/local/cuda/bin",
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_GPU_ALLOCATOR": "cuda_malloc_async",
    }


def test_the_kernel_log_speaks_only_where_it_may_be_read() -> None:
    files: dict[str, str | bytes | None] = {"/usr/bin/dmesg": "elf"}
    line = (
        "[  12.3] NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.\n[1.0] usb 1-1: something else\n"
    )
    (probe,) = (entry for entry in PROBES if entry.id == "kernel-log")
    found = probe.probe(FakeGateway("linux", files, HOME, {"dmesg": line}), Event())
    assert any("xid" in signal.kind for signal in found.signals)
    denied = Ran(1, b"", b"dmesg: read kernel buffer failed: Operation not permitted")
    assert probe.probe(FakeGateway("linux", files, HOME, {"dmesg": denied}), Event()).signals == ()


# -- Windows ------------------------------------------------------------------------------------------------------

ENUM = "HKLM\\SYSTEM\\CurrentControlSet\\Enum\\PCI"
SERVICES = "HKLM\\SYSTEM\\CurrentControlSet\\Services"
CLASS = "HKLM\\SYSTEM\\CurrentControlSet\\Control\\Class"
DISPLAY = "{4d36e968-e325-11ce-bfc1-08002be10318}"


def windows_card(device: str, service: str, number: int, *, started: bool, flags: int = 0) -> dict[str, dict[str, Any]]:
    registry: dict[str, dict[str, Any]] = {
        f"{ENUM}\\{device}\\4&1": {
            "ClassGUID": DISPLAY,
            "Service": service,
            "Driver": f"{DISPLAY}\\{number:04}",
            "ConfigFlags": flags,
        },
        f"{CLASS}\\{DISPLAY}\\{number:04}": {
            "DriverDesc": f"Card {number}",
            "DriverVersion": "32.0.15.6636",
            "HardwareInformation.qwMemorySize": (8 << 30).to_bytes(8, "little").hex(),
        },
    }
    if started:
        registry[f"{SERVICES}\\{service}\\Enum"] = {"0": f"PCI\\{device}\\4&1", "Count": 1}
    return registry


def test_windows_lists_what_runs_and_what_is_switched_off_not_what_was_taken_out() -> None:
    registry = {
        **windows_card("VEN_8086&DEV_9A49&SUBSYS_1", "igfxn", 0, started=True),
        **windows_card("VEN_10DE&DEV_2684&SUBSYS_1", "nvlddmkm", 1, started=True),
        **windows_card("VEN_10DE&DEV_1B80&SUBSYS_1", "nvold", 2, started=False),
        **windows_card("VEN_1002&DEV_744C&SUBSYS_1", "amdkmdag", 3, started=False, flags=1),
        **windows_card("VEN_1414&DEV_008E&SUBSYS_1", "basic", 4, started=True),
    }
    found = facts(FakeGateway("win32", {}, WINDOWS, registry=registry))
    assert [(gpu["vendor"], gpu["name"], gpu.get("disabled")) for gpu in found["gpus"]] == [
        ("amd", "Card 3", True),
        ("nvidia", "Card 1", None),
        ("intel", "Card 0", None),
    ]
    assert found["gpus"][1]["memory_total_bytes"] == 8 << 30
    assert found["driver"]["version"] == "566.36"
    assert found["gpu_count"] == 1


def test_windows_system_facts() -> None:
    registry: dict[str, dict[str, Any]] = {
        "HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion": {
            "ProductName": "Windows 10 Pro",
            "CurrentBuildNumber": "22631",
            "DisplayVersion": "23H2",
        },
        "HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers": {"HwSchMode": 2},
        "HKLM\\SYSTEM\\CurrentControlSet\\Control\\SecureBoot\\State": {"UEFISecureBootEnabled": 1},
        "HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management": {"PagingFiles": []},
    }
    memory = {"total": 16 << 30, "available": 1 << 30, "commit_limit": 16 << 30, "commit_available": 1 << 20}
    found = facts(FakeGateway("win32", {}, WINDOWS, registry=registry, asked={"windows-memory": memory}))
    assert found["os"]["name"] == "Windows 11 Pro"
    assert (found["os"]["hags_setting"], found["os"]["secure_boot"]) == ("on", True)
    assert found["host"]["page_file"] == "none"
    assert found["host"]["commit_limit_bytes"] == 16 << 30


@pytest.mark.parametrize(
    "path",
    [
        "C:\\Windows\\System32\\nvidia-smi.exe",
        "C:\\Program Files\\NVIDIA Corporation\\NVSMI\\nvidia-smi.exe",
        "C:\\Windows\\System32\\DriverStore\\FileRepository\\nvlt.inf_amd64_1\\nvidia-smi.exe",
    ],
)
def test_nvidia_smi_is_found_in_all_known_places(path: str) -> None:
    variables = {**WINDOWS, "Path": "C:\\Windows", "ProgramW6432": "C:\\Program Files"}
    driver = facts(FakeGateway("win32", {path: "mz"}, variables, {f"{path} -q": SMI}))["driver"]
    assert driver["nvidia_smi_path"].lower() == path.lower()
    assert (driver["nvidia_smi_on_path"], driver["nvidia_smi_works"]) == (False, True)


def test_windows_cudnn_and_zlibwapi() -> None:
    bin_folder = "C:\\CUDA\\v11.8\\bin"
    files: dict[str, str | bytes | None] = {
        f"{bin_folder}\\cudnn64_8.dll": "mz",
        "C:\\Program Files\\NVIDIA\\CUDNN\\v9.5\\bin\\12.6\\cudnn64_9.dll": "mz",
    }
    variables = {**WINDOWS, "Path": bin_folder, "CUDA_PATH": "C:\\CUDA\\v11.8", "ProgramFiles": "C:\\Program Files"}
    toolkit = facts(FakeGateway("win32", files, variables))["toolkit"]
    assert [(entry["version"], entry.get("searched")) for entry in toolkit["cudnn_copies"]] == [
        ("8", "PATH"),
        ("9", None),
    ]
    assert toolkit["zlibwapi_found"] is False
    files[f"{bin_folder}\\zlibwapi.dll"] = "mz"
    assert facts(FakeGateway("win32", files, variables))["toolkit"]["zlibwapi_found"] is True


@pytest.mark.parametrize(
    ("windows", "expected"),
    [("32.0.15.6636", "566.36"), ("27.21.14.5671", "456.71"), ("31.0.15.2802", "528.02"), ("1.2", None), ("", None)],
)
def test_windows_numbers_of_nvidias_driver(windows: str, expected: str | None) -> None:
    assert nvidia_version(windows) == expected


# -- lists of GPUs ------------------------------------------------------------------------------------------------


def test_a_card_on_the_bus_that_the_driver_does_not_list_is_told() -> None:
    by_driver = [{"vendor": "nvidia", "name": "A", "bus": "0000:02:00.0"}]
    by_system = [
        {"vendor": "nvidia", "bus": "0000:01:00.0"},
        {"vendor": "nvidia", "bus": "0000:02:00.0", "kernel_driver": "nvidia"},
        {"vendor": "intel", "bus": "0000:00:02.0"},
    ]
    gpus = joined(by_driver, by_system)
    assert [gpu.get("name", gpu["bus"]) for gpu in gpus] == ["A", "0000:01:00.0", "0000:00:02.0"]
    assert gpus[0]["kernel_driver"] == "nvidia"
    assert [gpu.get("listed_by_driver") for gpu in gpus] == [None, False, None]
    assert count(gpus) == 1


def test_what_the_caller_measured_counts_before_the_probes() -> None:
    given = {"driver": {"version": "1.0"}, "gpus": [{"name": "from telemetry"}]}
    gateway = FakeGateway("linux", card("0000:01:00.0", "10de", "2684"), HOME, asked=X86)
    document = collect(gateway, Options(Wanted(everywhere=False), given=given))
    assert document.facts["driver"]["version"] == "1.0"
    assert document.facts["gpus"] == [{"name": "from telemetry"}]


def test_each_fact_knows_the_probe_it_is_from() -> None:
    gateway = FakeGateway("linux", {"/usr/bin/nvidia-smi": "elf"}, HOME, {"/usr/bin/nvidia-smi -q": SMI})
    document = collect(gateway, Options(Wanted(everywhere=False)))
    assert document.origins["driver.version"].source == "nvidia-smi"
    assert document.origins["driver.version"].time_utc_s == 1_800_000_000.0
    assert document.origins["os.family"].source == "system"


def test_a_probe_that_fails_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = FakeGateway("linux", {"/etc/os-release": "ID=x"}, HOME)
    monkeypatch.setattr(gateway, "registry", None)
    monkeypatch.setattr(gateway, "listing", lambda *_words: 1 / 0)
    failed: list[str] = []
    document = collect(
        gateway,
        Options(Wanted(everywhere=False)),
        lambda step: failed.append(step.id) if step.state.value == "failed" else None,
    )
    assert "pci" in failed
    assert document.facts["os"]["distribution"] == "x"
