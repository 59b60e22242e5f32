"""Knows: what a device is: names, versions, limits. Must not know: what changes from sweep to sweep."""

from __future__ import annotations

import ctypes
from typing import Any

from gpumon_gui.core.identity import parse_pci_address
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.nvml.getters import MILLI, STATIC_SCALARS
from gpumon_gui.telemetry.nvml.layouts import Bar1Memory, PciInfo
from gpumon_gui.telemetry.nvml.library import (
    LOST,
    NEVER,
    NO_PERMISSION,
    SUCCESS,
    DeviceLost,
    Library,
    NvmlError,
    error_name,
    is_rubbish,
)

SOURCE = "nvml"

# The words behind the numbers stand in nvml.h: nvmlDeviceArchitecture_t,
_ARCHITECTURES = {
    2: "Kepler", 3: "Maxwell", 4: "Pascal", 5: "Volta", 6: "Turing", 7: "Ampere", 8: "Ada Lovelace", 9: "Hopper",
    10: "Blackwell",
}  # fmt: skip
_DRIVER_MODELS = {0: "WDDM", 1: "TCC", 2: "MCDM"}  # nvmlDriverModel_t
_COMPUTE_MODES = {0: "Default", 1: "Exclusive thread", 2: "Prohibited", 3: "Exclusive process"}
# nvmlGpuVirtualizationMode_t
_VIRTUALIZATION = {0: "None", 1: "Pass-through", 2: "vGPU", 3: "vGPU host", 4: "vSGA host"}
_ON_OFF = {0: "Disabled", 1: "Enabled"}


def missing(code: int) -> Missing:
    """A failed call as a missing value."""
    if code in NEVER:
        return Missing(Reason.NOT_SUPPORTED, SOURCE)
    if code == NO_PERMISSION:
        return Missing(Reason.NO_PERMISSION, SOURCE)
    return Missing(Reason.ERROR, SOURCE, error_name(code))


def system_values(library: Library) -> dict[str, Value]:
    """Driver and CUDA versions: the same for all devices."""
    values: dict[str, Value] = {}
    values["driver_version"] = _text(library, "nvmlSystemGetDriverVersion")
    version = ctypes.c_int()
    code = library.call("nvmlSystemGetCudaDriverVersion_v2", ctypes.byref(version))
    if code == SUCCESS and version.value > 0:
        major, minor = divmod(version.value, 1000)
        values["cuda_driver_version"] = Reading(f"{major}.{minor // 10}", SOURCE)
    else:
        values["cuda_driver_version"] = missing(code)
    return values


def device_values(library: Library, handle: Any) -> dict[str, Value]:
    """Everything that is read once per device."""
    values: dict[str, Value] = {}
    for scalar in STATIC_SCALARS:
        out = scalar.ctype()
        arguments = [ctypes.c_uint(argument) for argument in scalar.arguments]
        code = library.call(scalar.symbols[0], handle, *arguments, ctypes.byref(out))
        values[scalar.metric] = _number(scalar.metric, code, out.value if scalar.per == 1 else out.value / scalar.per)
    low, high = ctypes.c_uint(), ctypes.c_uint()
    code = library.call("nvmlDeviceGetPowerManagementLimitConstraints", handle, ctypes.byref(low), ctypes.byref(high))
    for metric, out in (("power_limit_min_w", low), ("power_limit_max_w", high)):
        values[metric] = _number(metric, code, out.value / MILLI)
    values["vbios_version"] = _text(library, "nvmlDeviceGetVbiosVersion", handle)
    values["compute_capability"] = _compute_capability(library, handle)
    values["architecture"] = _word(library, "nvmlDeviceGetArchitecture", handle, _ARCHITECTURES)
    return values


def mode_values(library: Library, handle: Any) -> dict[str, Value]:
    """Modes an administrator can change while the driver runs; read again now and then."""
    values = {
        "compute_mode": _word(library, "nvmlDeviceGetComputeMode", handle, _COMPUTE_MODES),
        "persistence_mode": _word(library, "nvmlDeviceGetPersistenceMode", handle, _ON_OFF),
        "virtualization": _word(library, "nvmlDeviceGetVirtualizationMode", handle, _VIRTUALIZATION),
        "display_attached": _word(library, "nvmlDeviceGetDisplayActive", handle, _ON_OFF),
        "driver_model": _pair(
            library, handle, _DRIVER_MODELS, "nvmlDeviceGetDriverModel_v2", "nvmlDeviceGetDriverModel"
        ),
        "ecc_mode": _pair(library, handle, _ON_OFF, "nvmlDeviceGetEccMode"),
        "mig_mode": _pair(library, handle, _ON_OFF, "nvmlDeviceGetMigMode"),
    }
    bar1 = Bar1Memory()
    code = library.call("nvmlDeviceGetBAR1MemoryInfo", handle, ctypes.byref(bar1))
    for metric, number in (("bar1_used_bytes", bar1.bar1Used), ("bar1_total_bytes", bar1.bar1Total)):
        values[metric] = _number(metric, code, number)
    return values


def pci_address_of(library: Library, handle: Any) -> str | None:
    """``dddddddd:bb:dd.f`` or None when the driver gives none or rubbish. Raises DeviceLost."""
    info = PciInfo()
    found = library.first("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2")
    if found is None:
        return None
    code = found[1](handle, ctypes.byref(info))
    if code in LOST:
        raise DeviceLost(error_name(code))
    if code != SUCCESS:
        return None
    return parse_pci_address(info.busId.decode("ascii", "replace"))


def _number(metric: str, code: int, raw: float) -> Value:
    return checked(metric, raw, SOURCE) if code == SUCCESS else missing(code)


def _text(library: Library, symbol: str, *arguments: Any) -> Value:
    try:
        words = library.text(symbol, *arguments)
    except NvmlError as error:
        return missing(error.code)
    return Missing(Reason.IMPLAUSIBLE, SOURCE, "unreadable text") if is_rubbish(words) else Reading(words, SOURCE)


def _word(library: Library, symbol: str, handle: Any, words: dict[int, str]) -> Value:
    out = ctypes.c_uint()
    code = library.call(symbol, handle, ctypes.byref(out))
    if code != SUCCESS:
        return missing(code)
    word = words.get(out.value)
    return Missing(Reason.NOT_SUPPORTED, SOURCE, str(out.value)) if word is None else Reading(word, SOURCE)


def _pair(library: Library, handle: Any, words: dict[int, str], *symbols: str) -> Value:
    """Functions that answer "current" and "pending"."""
    current, pending = ctypes.c_uint(), ctypes.c_uint()
    found = library.first(*symbols)
    if found is None:
        return Missing(Reason.NOT_SUPPORTED, SOURCE)
    code = found[1](handle, ctypes.byref(current), ctypes.byref(pending))
    if code != SUCCESS:
        return missing(code)
    word = words.get(current.value)
    return Missing(Reason.NOT_SUPPORTED, SOURCE, str(current.value)) if word is None else Reading(word, SOURCE)


def _compute_capability(library: Library, handle: Any) -> Value:
    major, minor = ctypes.c_int(), ctypes.c_int()
    code = library.call("nvmlDeviceGetCudaComputeCapability", handle, ctypes.byref(major), ctypes.byref(minor))
    return Reading(f"{major.value}.{minor.value}", SOURCE) if code == SUCCESS else missing(code)
