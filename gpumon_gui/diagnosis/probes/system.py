"""Knows: the operating system, and in what it runs (WSL, container, virtual machine). Must not know: GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Event
from typing import Any

from gpumon_gui.diagnosis.gateway import Gateway, RegistryKey, is_windows, read_text, variable
from gpumon_gui.diagnosis.probes.base import Found, known

_NT = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion"
_BIOS = r"HKLM\HARDWARE\DESCRIPTION\System\BIOS"
_GRAPHICS = r"HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers"
_SECURE_BOOT = r"HKLM\SYSTEM\CurrentControlSet\Control\SecureBoot\State"
#: 22000 is the first build of Windows 11; the registry still calls it 10.
_WINDOWS_11 = 22000
_EFI_SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#: DMI chassis types of portable computers (SMBIOS 3.x, table 17).
_PORTABLE = frozenset((8, 9, 10, 11, 14, 30, 31, 32))
_MACHINES = (
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("qemu", "QEMU/KVM"),
    ("kvm", "QEMU/KVM"),
    ("bochs", "QEMU/KVM"),
    ("xen", "Xen"),
    ("parallels", "Parallels"),
    ("virtual machine", "Hyper-V"),
    ("google compute", "Google Cloud"),
    ("amazon ec2", "Amazon EC2"),
    ("openstack", "OpenStack"),
    ("alibaba", "Alibaba Cloud"),
    ("tencent", "Tencent Cloud"),
)


def probe(gateway: Gateway, _cancel: Event) -> Found:
    """``os`` and the parts of ``host`` that name the machine."""
    if is_windows(gateway):
        return Found(_windows(gateway))
    return Found(_linux(gateway) if gateway.platform == "linux" else _other(gateway))


def _windows(gateway: Gateway) -> dict[str, Any]:
    nt = gateway.registry(_NT) or RegistryKey()
    build = str(nt.values.get("CurrentBuildNumber", ""))
    name = str(nt.values.get("ProductName", "Windows"))
    if build.isdigit() and int(build) >= _WINDOWS_11:
        name = name.replace("Windows 10", "Windows 11")
    graphics = gateway.registry(_GRAPHICS)
    setting = graphics.values.get("HwSchMode") if graphics is not None else None
    boot = gateway.registry(_SECURE_BOOT)
    secure = boot.values.get("UEFISecureBootEnabled") if boot is not None else None
    bios = (gateway.registry(_BIOS) or RegistryKey()).values
    maker = f"{bios.get('SystemManufacturer', '')} {bios.get('SystemProductName', '')}"
    facts = known(
        family="windows",
        name=name,
        version=gateway.ask("windows-version") or build or None,
        display_version=nt.values.get("DisplayVersion"),
        wsl=False,
        container=False,
        secure_boot=bool(secure) if secure is not None else None,
        # 2 is on, 1 is off; absent means the driver's default.
        hags_setting={2: "on", 1: "off"}.get(setting) if isinstance(setting, int) else None,
        virtual_machine=_machine(maker) if maker.strip() else None,
    )
    return {"os": facts}


def _linux(gateway: Gateway) -> dict[str, Any]:
    release = _settings(read_text(gateway, "/etc/os-release") or "")
    version = (read_text(gateway, "/proc/version") or "").strip()
    kernel = re.search(r"Linux version (\S+)", version)
    wsl = "microsoft" in version.lower() or variable(gateway, "WSL_DISTRO_NAME") is not None
    vendor = " ".join(
        (read_text(gateway, f"/sys/class/dmi/id/{name}") or "").strip() for name in ("sys_vendor", "product_name")
    )
    efi = gateway.read(_EFI_SECURE_BOOT, 16)
    chassis = (read_text(gateway, "/sys/class/dmi/id/chassis_type") or "").strip()
    suspended = (read_text(gateway, "/sys/power/suspend_stats/success") or "").strip()
    uname = gateway.ask("uname")
    machine = str(uname.get("machine", "")) if isinstance(uname, Mapping) else ""
    facts = known(
        family="linux",
        name=release.get("PRETTY_NAME") or release.get("NAME"),
        distribution=release.get("ID"),
        version=release.get("VERSION_ID"),
        kernel=kernel.group(1) if kernel else None,
        machine=machine or None,
        wsl=wsl,
        # WSL 1 has no GPU at all; its kernel is called Microsoft, that of WSL 2 microsoft-standard.
        wsl_version=(2 if "microsoft-standard" in version or "WSL2" in version else 1) if wsl else None,
        container=_container(gateway),
        secure_boot=bool(efi[-1]) if efi else None,
        resumed_from_suspend=int(suspended) > 0 if suspended.isdigit() else None,
        virtual_machine=None if wsl or not vendor.strip() else _machine(vendor),
    )
    laptop = int(chassis) in _PORTABLE if chassis.isdigit() else None
    return {"os": facts, "host": known(laptop=laptop)}


def _other(gateway: Gateway) -> dict[str, Any]:
    family = "macos" if gateway.platform == "darwin" else gateway.platform
    uname = gateway.ask("uname")
    facts = uname if isinstance(uname, Mapping) else {}
    return {
        "os": known(family=family, kernel=facts.get("release"), machine=facts.get("machine"), wsl=False),
    }


def _settings(text: str) -> dict[str, str]:
    """``KEY="value"`` lines."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def _machine(maker: str) -> str | bool:
    lower = maker.lower()
    return next((name for word, name in _MACHINES if word in lower), False)


def _root_is_a_disk(gateway: Gateway) -> bool:
    """Containers have a layered root, or a folder of another file system."""
    for line in (read_text(gateway, "/proc/self/mountinfo") or "").splitlines():
        fields, _, rest = line.partition(" - ")
        words, kind = fields.split(), rest.split()
        if len(words) > 4 and words[3:5] == ["/", "/"] and len(kind) > 1:
            return kind[0] in ("ext4", "xfs") and kind[1].startswith("/dev/")
    return False


def _container(gateway: Gateway) -> str | bool:
    if variable(gateway, "KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if not _root_is_a_disk(gateway):  # images that were made by docker and became a machine's disk keep its mark
        if gateway.info("/.dockerenv") is not None:
            return "docker"
        if gateway.info("/run/.containerenv") is not None:
            return "podman"
    told = variable(gateway, "container") or variable(gateway, "APPTAINER_CONTAINER")
    if told:
        return "apptainer" if "/" in told else told
    groups = read_text(gateway, "/proc/1/cgroup") or ""
    match = re.search(r"\b(docker|kubepods|libpod|lxc|containerd)\b", groups)
    return match.group(1) if match else False
