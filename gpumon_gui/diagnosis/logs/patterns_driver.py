"""Knows: what is printed when the driver, the system or the container is at fault. Must not know: rules.

CUDA's own error numbers are read by ``read_errors.py`` (``cuda-error-<number>``), Xids by ``patterns_speed.py``.
"""

from __future__ import annotations

from typing import Final

from gpumon_gui.diagnosis.logs.pattern import Pattern

_CONTAINER_CLI: Final = "nvidia-container-cli"

PATTERNS: Final[tuple[Pattern, ...]] = (
    # PyTorch, c10/cuda/CUDAFunctions.cpp and torch/csrc/cuda.
    Pattern(
        "torch-driver-too-old",
        "too old (found version",
        r"NVIDIA driver on your system is too old \(found version (?P<found>\d+)\)",
        framework="torch",
        numbers=("found",),
    ),
    Pattern("torch-no-driver", "found no nvidia driver", r"Found no NVIDIA driver on your system", framework="torch"),
    Pattern(
        "torch-no-gpus",
        "no cuda gpus are available",
        r"No CUDA GPUs are available",
        framework="torch",
        states={"torch.cuda_available": False},
    ),
    Pattern(
        "torch-driver-init-failed",
        "cuda driver initialization failed",
        r"CUDA driver initialization failed, you might not have a CUDA gpu",
        framework="torch",
    ),
    Pattern("torch-unknown-error", "cuda unknown error", r"CUDA unknown error - this may be due to", framework="torch"),
    Pattern(
        "torch-device-count-assert",
        "device < num_gpus",
        r"device >= 0 && device < num_gpus.{0,20}INTERNAL ASSERT FAILED",
        framework="torch",
    ),
    Pattern(
        "app-cannot-use-gpu",
        "torch is not able to use gpu",
        r"Torch is not able to use GPU",
        framework="torch",
        states={"torch.cuda_available": False},
    ),
    # TensorFlow, tsl/xla stream executor's cuda_diagnostics.cc.
    Pattern(
        "tf-kernel-driver-not-running",
        "kernel driver does not appear to be running",
        r"kernel driver does not appear to be running on this host",
        framework="tensorflow",
    ),
    Pattern(
        "driver-library-mismatch",
        "does not match dso version",
        r"kernel version (?P<kernel>\d[\d.]+) does not match DSO version (?P<library>\d[\d.]+)",
        framework="tensorflow",
        facts={"kernel": "driver.kernel_module_version", "library": "driver.library_version"},
    ),
    # nvidia-smi and NVML.
    Pattern(
        "smi-no-driver",
        "couldn't communicate with the nvidia driver",
        r"couldn't communicate with the NVIDIA driver",
        states={"driver.nvidia_smi_works": False},
    ),
    Pattern(
        "driver-library-mismatch",
        "version mismatch",
        r"driver/library version mismatch|NVML/RM version mismatch",
    ),
    Pattern("driver-library-mismatch", "rmversionmismatch", r"LibRmVersionMismatch"),
    # TensorFlow's cuda_diagnostics.cc again; Paddle's device list.
    Pattern(
        "tf-driver-versions",
        "libcuda reported version",
        r"libcuda reported version is: (?P<library>\d[\d.]+\d)",
        framework="tensorflow",
        facts={"library": "driver.library_version"},
    ),
    Pattern(
        "tf-driver-versions",
        "kernel reported version",
        r"kernel reported version is: (?P<kernel>\d[\d.]+\d)",
        framework="tensorflow",
        facts={"kernel": "driver.kernel_module_version"},
        states={"driver.kernel_module_loaded": True},
    ),
    Pattern(
        "paddle-versions",
        "driver api version",
        r"Driver API Version: (?P<cuda>\d+\.\d+)",
        framework="paddle",
        facts={"cuda": "driver.cuda_version"},
    ),
    Pattern(
        "nvml-library-version",
        "nvml library version",
        r"NVML library version: (?P<library>\d[\d.]+)",
        facts={"library": "driver.library_version"},
    ),
    Pattern(
        "driver-library-mismatch",
        "client has the version",
        r"client has the version (?P<library>\d[\d.]+\d).{0,60}kernel module has the version (?P<kernel>\d[\d.]+\d)",
        facts={"kernel": "driver.kernel_module_version", "library": "driver.library_version"},
        joined=True,
    ),
    Pattern("nvml-unknown-error", "failed to initialize nvml", r"Failed to initialize NVML: Unknown Error"),
    Pattern("nvml-driver-not-loaded", "driver not loaded", r"(?:NVML\w*|nvml error)\W.{0,20}driver not loaded"),
    Pattern("nvml-driver-not-loaded", "drivernotloaded", r"NVMLError_DriverNotLoaded"),
    Pattern(
        "nvml-blocked-by-system",
        "access blocked by the operating system",
        r"GPU access blocked by the operating system",
    ),
    Pattern("smi-no-devices", "no devices were found", r"^\W*No devices were found"),
    Pattern(
        "nvidia-smi-not-found",
        "nvidia-smi",
        r"nvidia-smi['\"”’]?\s?(?:: (?:command )?not found|：\s?未找到命令|不是内部或外部命令|项识别为"
        r"|is not recognized)"
        r"|The term ['\"]nvidia-smi['\"] is not recognized|No such file or directory: ['\"]nvidia-smi",
    ),
    Pattern(
        "nvcc-not-found",
        "nvcc",
        r"\bnvcc['\"”’]?\s?(?:: (?:command )?not found|：\s?未找到命令|不是内部或外部命令|项识别为"
        r"|is not recognized)"
        r"|The term ['\"]nvcc['\"] is not recognized|No such file or directory: ['\"][^'\"]*nvcc",
    ),
    # The kernel, its modules and their packages.
    Pattern(
        "nvidia-module-missing",
        "module nvidia",
        r"modprobe: (?:FATAL|ERROR): Module nvidia(?:-current)? not found|Module nvidia not found in directory",
    ),
    Pattern(
        "nvidia-module-rejected",
        "not available",
        r"could not insert '?nvidia\S*.{0,20}: Required key not available",
    ),
    Pattern(
        "nvidia-module-rejected",
        "rejected",
        r"could not insert '?nvidia\S*.{0,20}: Key was rejected by service|nvidia: .{0,80}signature.{0,60}rejected"
        r"|Loading of (?:unsigned module|module with unavailable key) is rejected",
    ),
    Pattern(
        "nvidia-module-insert-failed",
        "could not insert",
        r"could not insert '?nvidia'?.{0,20}: (?P<reason>No such device|Exec format error|Invalid argument"
        r"|Unknown symbol)",
    ),
    Pattern(
        "nvidia-module-build-failed",
        "bad return status",
        r"Bad return status for module build on kernel.{0,200}nvidia",
        joined=True,
    ),
    Pattern(
        "nvidia-module-build-failed", "dkms", r"dkms.{0,80}nvidia.{0,80}fail|nvidia.{0,80}dkms.{0,60}(?:fail|error)"
    ),
    Pattern("nouveau-in-use", "nouveau", r"Kernel driver in use: nouveau|^nouveau\s+\d{4,}\s+\d+"),
    Pattern("secure-boot-on", "secureboot enabled", r"SecureBoot enabled", states={"os.secure_boot": True}),
    Pattern(
        "proc-driver-version",
        "nvrm version",
        r"NVRM version: NVIDIA UNIX .*?Kernel Module.*?\s(?P<kernel>\d{3}\.[\d.]+)\s",
        facts={"kernel": "driver.kernel_module_version"},
        states={"driver.kernel_module_loaded": True},
    ),
    Pattern(
        "nvidia-uvm-missing",
        "nvidia-uvm",
        r"/dev/nvidia-uvm\S*.{0,60}(?:No such file|cannot|can't|failed|denied|Input/output error|= -1)"
        r"|(?:FATAL|ERROR).{0,40}nvidia-uvm",
    ),
    Pattern(
        "nvidia-uvm-missing",
        "nvidia_uvm",
        r"(?:FATAL|ERROR|fail|not (?:found|loaded)).{0,60}nvidia_uvm|nvidia_uvm.{0,40}(?:fail|not (?:found|loaded))",
    ),
    Pattern(
        "resumed-from-suspend",
        "pm: suspend exit",
        r"PM: suspend exit",
        states={"os.resumed_from_suspend": True},
    ),
    Pattern(
        "fabric-manager-failed",
        "fabric",
        r"nvidia-fabricmanager.{0,60}(?:fail|inactive|not (?:be )?found|exited|dead)"
        r"|Fabric ?Manager.{0,60}(?:not running|failed to start)",
    ),
    Pattern(
        "fabric-manager-failed",
        "nvidia-fabricmanager.service",
        r"nvidia-fabricmanager\.service.{0,400}Active: (?:failed|inactive)",
        joined=True,
    ),
    Pattern(
        "fabric-manager-version-differs",
        "fabric manager",
        r"fabric manager.{0,60}version (?P<manager>\d[\d.]+\d).{0,60}(?:don't|doesn't|does not"
        r"|do not) match.{0,60}?(?P<driver>\d[\d.]+\d)",
        joined=True,
    ),
    Pattern(
        "gpu-stuck-asleep",
        "d3cold",
        r"(?:Unable to change power state from|can't change power state from|stuck in) D3cold",
    ),
    Pattern(
        "dgpu-switched-off",
        "integrated",
        r"(?:supergfxctl|envycontrol|gfx ?mode|graphics mode|GPU mode).{0,40}\bintegrated\b",
    ),
    Pattern("dgpu-switched-off", "dgpu_disable", r"dgpu_disable\s*[:=]?\s*1"),
    Pattern(
        "windows-device-code",
        "43)",
        r"\((?:Code|代码|코드|コード|Código|Код) ?(?P<code>43)\)",
        numbers=("code",),
    ),
    Pattern(
        "windows-device-code",
        "45)",
        r"\((?:Code|代码|코드|コード|Código|Код) ?(?P<code>45)\)",
        numbers=("code",),
    ),
    Pattern(
        "display-driver-stopped",
        "nvlddmkm",
        r"nvlddmkm.{0,60}(?:stopped responding|停止响应)|VIDEO_TDR_FAILURE.{0,40}nvlddmkm",
    ),
    Pattern("display-driver-stopped", "gpu progress", r"NVRM:.{0,60}(?:GSP RPC timeout|Timeout (?:after|waiting))"),
    Pattern(
        "display-driver-stopped",
        "rpc timeout",
        r"NVRM:.{0,80}GSP.{0,20}RPC timeout|Timeout after \d+s of waiting for RPC response from GPU",
    ),
    # Licences and MIG.
    Pattern("vgpu-license-status", "license status", r"License Status\s*: (?P<status>\w[\w ]*)"),
    Pattern(
        "vgpu-unlicensed",
        "licens",
        r"(?:vGPU|GRID|nvidia-gridd).{0,80}(?:unlicensed|no valid license|valid \S* ?licen[cs]e not found"
        r"|failed to acquire licen[cs]e)",
    ),
    Pattern("mig-device-listed", "(uuid: mig-", r"\bMIG (?P<profile>\d+g\.\d+gb\S*)\s+Device\s+(?P<index>\d+):"),
    Pattern("mig-device-in-use", "cuda_visible_devices", r"CUDA_VISIBLE_DEVICES\W{1,4}(?P<value>MIG-\S+)"),
    # WSL.
    Pattern("wsl-seen", "/usr/lib/wsl/", r"/usr/lib/wsl/", states={"os.wsl": True, "os.family": "linux"}),
    Pattern(
        "wsl-seen",
        "microsoft-standard",
        r"microsoft-standard(?:-WSL2)?",
        states={"os.wsl": True, "os.family": "linux"},
    ),
    Pattern(
        "wsl-no-adapters",
        "no adapters were found",
        r"WSL environment detected but no adapters were found",
        states={"os.wsl": True, "os.family": "linux"},
    ),
    Pattern("libcuda-from", "libcuda.so", r"libcuda\.so(?:\.\d+)* (?:=>|\(.*\) =>) (?P<path>/\S+)"),
    *(
        Pattern(
            "linux-driver-package",
            package,
            rf"(?:^ii\s+|Setting up |apt(?:-get)? (?:-y )?install (?:\S+ )*)(?P<package>{package}\d{{3}}\S*)",
        )
        for package in ("libnvidia-compute-", "nvidia-driver-", "nvidia-dkms-")
    ),
    # Containers.
    Pattern(
        "docker-no-gpu-driver",
        "could not select device driver",
        r"could not select device driver (?:\S+ )?with capabilities: \[\[.*?gpu",
    ),
    Pattern("docker-no-gpu-driver", "gpu vendor from cdi", r"failed to discover GPU vendor from CDI"),
    Pattern(
        "docker-no-gpu-driver",
        "nvidia-container",
        r"exec: \\?\"?nvidia-container-(?:runtime(?:-hook)?|cli)\\?\"?: executable file not found",
    ),
    Pattern("docker-runtime-unknown", "runtime name: ", r"unknown or invalid runtime name: nvidia"),
    Pattern(
        "docker-runtime-unknown", "unknown runtime", r"unknown (?:or invalid )?runtime (?:name|specified):? ?nvidia"
    ),
    Pattern("cdi-device-unknown", "cdi device", r"unresolvable CDI devices? (?P<device>nvidia\.com/gpu\S*)"),
    Pattern(
        "container-needs-newer-driver",
        "unsatisfied condition",
        r"unsatisfied condition: (?:cuda|driver)\s?>=? ?(?P<cuda>\d[\d.]*)",
    ),
    Pattern(
        "container-cli-failed",
        _CONTAINER_CLI,
        r"nvidia-container-cli: (?P<reason>(?:initialization|detection|mount|device|container"
        r"|ldcache) error: .{0,120})",
    ),
    Pattern(
        "container-without-driver",
        "nvidia driver was not detected",
        r"The NVIDIA Driver was not detected\.\s+GPU functionality will not be available",
        states={"os.container": True},
    ),
    Pattern("no-cgroups-setting", "no-cgroups", r"^\s*no-cgroups\s*=\s*true"),
    Pattern(
        "container-nvml-fails-at-start",
        "docker run",
        r"(?:docker|podman) run .{0,400}\bnvidia-smi\b.{0,200}?Failed to initialize NVML: Unknown Error",
        states={"os.container": True},
        joined=True,
    ),
    Pattern("systemd-reloaded", "daemon-reload", r"systemctl daemon-reload"),
    Pattern("inside-container", "/.dockerenv", r"(?<!\w)/\.dockerenv", states={"os.container": True}),
    # AMD and ROCm.
    Pattern(
        "kfd-gpu-not-supported", "not supported in kfd", r"(?:amdgpu: )?\b(?P<gpu>\w{1,40})\s{1,4}not supported in kfd"
    ),
    Pattern("kfd-open-failed", "/dev/kfd", r"/dev/kfd(?: read-write)?['\"]?: (?P<reason>[A-Z][\w ]+)"),
    Pattern("kfd-open-failed", "/dev/kfd", r"(?P<reason>Permission denied).{0,30}/dev/kfd"),
    Pattern("rocm-not-in-group", "member of", r"not (?:a )?member of \"?(?P<group>render|video)\"? group"),
    Pattern(
        "rocm-arch-not-built",
        "tensilelibrary",
        r"rocBLAS error: .{0,80}TensileLibrary\S*(?:.{0,60}GPU arch ?: (?P<arch>gfx\w+))?",
    ),
    Pattern("rocm-arch-not-built", "hiperrornobinaryforgpu", r"hipErrorNoBinaryForGpu"),
    Pattern("rocm-arch-not-built", "invalid device function", r"HIP error: invalid device function"),
    Pattern("rocm-module-not-loaded", "rock module", r"ROCk module is NOT loaded"),
    # Windows' GPU counters.
    Pattern(
        "windows-gpu-counters-missing",
        "gpu engine",
        r"(?:Unable to find|No valid|not (?:be )?found|找不到).{0,80}GPU Engine|GPU Engine.{0,80}(?:No valid counters"
        r"|not (?:be )?found)",
    ),
    Pattern("windows-gpu-counters-missing", "pdh_cstatus_no", r"PDH_CSTATUS_NO_(?:OBJECT|COUNTER|COUNTERNAME)"),
)
