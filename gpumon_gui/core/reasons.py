"""Knows: the words for reasons, states and source failures. Must not know: where they are shown."""

from __future__ import annotations

from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceState, SourceHealth, SourceState
from gpumon_gui.core.values import Missing, Reason

REASON_TEXT: dict[Reason, str] = {
    Reason.NOT_SUPPORTED: N_("not supported by this device or driver"),
    Reason.NOT_OFFERED_IN_VM: N_("not offered in a virtual machine"),
    Reason.NO_PERMISSION: N_("needs administrator rights"),
    Reason.DRIVER_MODEL: N_("not available in the WDDM driver model"),
    Reason.MIG: N_("undefined while the card is split (MIG)"),
    Reason.ASLEEP: N_("asleep, not woken"),
    Reason.DEVICE_LOST: N_("the driver lost this device"),
    Reason.NOT_ANSWERING: N_("the driver does not answer"),
    Reason.SOURCE_GONE: N_("the source went away"),
    Reason.IMPLAUSIBLE: N_("the driver gave an impossible value"),
    Reason.FIRST_SAMPLE: N_("needs a second sample"),
    Reason.NOT_READ: N_("not read in this sample"),
    Reason.ERROR: N_("reading failed"),
}

DEVICE_STATE_TEXT: dict[DeviceState, str] = {
    DeviceState.OK: "",
    DeviceState.ASLEEP: N_("Asleep. GPUMon does not wake it."),
    DeviceState.LOST: N_("The driver lost this GPU. It fell off the bus, was unplugged or needs a reset."),
    DeviceState.SICK: N_(
        "The driver returns invalid data for this GPU. Update the driver; 555.85 on WSL is known for it."
    ),
    DeviceState.NOT_ANSWERING: N_("The driver does not answer for this GPU."),
}

#: Why a source cannot be used: code → one sentence with the next step. Stable codes; a source raises them.
SOURCE_TEXT: dict[str, str] = {
    "no-driver": N_(
        "No NVIDIA driver was found. If this machine has an NVIDIA GPU, install the driver from nvidia.com/drivers."
    ),
    "driver-not-loaded": N_(
        "The NVIDIA driver is installed but not running. Restart the computer; on Linux check "
        "that the kernel module is loaded (modprobe nvidia)."
    ),
    "driver-library-mismatch": N_(
        "The NVIDIA driver was updated: kernel module and library have different versions. Restart the computer."
    ),
    "no-permission": N_("This account may not read the GPU. On Linux check the rights of /dev/nvidia*."),
    "no-device": N_("The driver runs, but there is no GPU it can use."),
    "no-drm-device": N_("No AMD or Intel GPU with a Linux kernel driver was found."),
    "other-users-hidden": N_(
        "Processes of other users are hidden from this account, so engine times and processes cover its own only."
    ),
    "driver-restarted": N_("The driver was restarted. GPUMon looks for the devices again."),
    "gpu-lost": N_("A GPU was lost by the driver. The others go on."),
    "devices-changed": N_("A GPU was added, removed or split. GPUMon looked for the devices again."),
    "power-frozen": N_(
        "The power reading of a GPU is frozen. Drivers 581 to 595 do this after the computer slept: update the driver, "
        "or restart the computer."
    ),
    "processes-no-permission": N_("This account may not list the processes that use the GPU."),
    "library-damaged": N_("The NVIDIA library cannot be loaded. Reinstall the driver."),
    "not-on-this-system": N_("Not available on this operating system."),
    "gpu-counters-unavailable": N_(
        "Windows' GPU performance counters are missing or damaged. Run 'lodctr /R' in an "
        "administrator's command prompt, then restart."
    ),
    "counters-no-permission": N_(
        "This account may not read performance counters. Add it to the group 'Performance Monitor Users'."
    ),
    "hung": N_("A driver call did not return. GPUMon restarted its sampler and goes on without this source for now."),
    "crashed": N_("Reading this source ended GPUMon's sampler several times, so it is left out for now."),
    "over-budget": N_("This source is slow on this machine, so it is read less often."),
    "resting": N_("Nothing uses the GPU, so GPUMon let go of it and it can fall asleep."),
    "asleep": N_("All GPUs of this source are asleep. GPUMon does not wake them."),
    "read-failed": N_("Reading failed; it is tried again."),
    "bug": N_("An internal fault in GPUMon; please report it."),
}

SOURCE_STATE_TEXT: dict[SourceState, str] = {
    SourceState.OK: N_("working"),
    SourceState.ABSENT: N_("not present"),
    SourceState.FAILED: N_("failed"),
    SourceState.SLOW: N_("slow"),
    SourceState.RESTING: N_("resting"),
    SourceState.NOT_ANSWERING: N_("does not answer"),
}


def missing_text(value: Missing) -> str:
    """Why a value is missing, in the user's language, with the technical word in brackets where there is one."""
    words = _(REASON_TEXT[value.reason])
    return f"{words} ({value.detail})" if value.detail else words


def health_text(health: SourceHealth) -> str:
    """One sentence on a source, with the technical word in brackets; empty when there is nothing to say."""
    if not health.code:  # it works; its detail is for whoever looks closely
        return ""
    words = _(SOURCE_TEXT.get(health.code, ""))
    if not words:
        return health.detail
    return f"{words} ({health.detail})" if health.detail else words
