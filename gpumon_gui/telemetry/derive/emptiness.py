"""Knows: why a list of processes is empty. Must not know: how it is shown.

An empty list means "nothing runs" only when everything that could hide a process has been ruled out.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceKind, DeviceState, Sample, SourceHealth, SourceState
from gpumon_gui.core.reasons import DEVICE_STATE_TEXT, health_text
from gpumon_gui.core.values import number, text

#: More device memory than a driver needs for a display and for itself: somebody holds it.
HELD_BYTES = 512 << 20

TITLE: dict[str, str] = {
    "waiting": N_("Waiting for the first reading"),
    "not-read": N_("Not read yet"),
    "filtered": N_("No process matches"),
    "stale": N_("No new readings"),
    "source": N_("The processes cannot be read"),
    "no-gpu": N_("No GPU was found"),
    "asleep": N_("The GPU is asleep"),
    "device": N_("The GPU does not answer"),
    "rights": N_("Missing rights"),
    "wddm": N_("Windows does not say which processes use this GPU"),
    "hidden": N_("Processes are hidden from here"),
    "mig": N_("The card is split (MIG)"),
    "idle": N_("No process uses the GPU"),
}

EXPLANATION: dict[str, str] = {
    "waiting": N_("The sampler is starting."),
    "not-read": N_("Processes are read only while somebody looks at them. They appear with the next reading."),
    "filtered": N_("Hidden by the search or the device filter: {count}"),
    "stale": N_("Which processes use the GPU is not known at the moment. They appear with the next reading."),
    "source": "",
    "no-gpu": N_("No driver that GPUMon can read reports a GPU on this machine."),
    "asleep": N_("Nothing can run on it while it sleeps. GPUMon does not wake it."),
    "device": "",
    "rights": N_(
        "This account may not see the processes of others. Start GPUMon with administrator rights to see all of them."
    ),
    "wddm": N_(
        "In the WDDM driver model the NVIDIA driver does not list processes, and Windows' own GPU counters are not "
        "available. If they are damaged, run 'lodctr /R' in an administrator's command prompt and restart."
    ),
    "hidden": N_(
        "{used} of device memory are in use, yet the driver lists no process. The processes run outside this "
        "container, on the Windows side of WSL, or on the host of this virtual machine; start GPUMon there (a "
        "container can be started with --pid=host)."
    ),
    "mig": N_(
        "Processes run inside the instances of a split card, and this account sees only instances that it was given. "
        "Choose an instance, or start GPUMon with administrator rights."
    ),
    "idle": N_("Start a program that uses CUDA, a game or a video, and it appears here."),
}


@dataclass(frozen=True, slots=True)
class Emptiness:
    """Why nothing is listed. ``used_bytes`` and ``count`` fill the sentence; ``health`` or ``device_state`` bring their
    own."""

    code: str
    used_bytes: float = 0.0
    count: int = 0
    health: SourceHealth | None = None
    device_state: DeviceState = DeviceState.OK

    @property
    def title(self) -> str:
        """A few words in the user's language."""
        return _(TITLE[self.code])

    def explanation(self, used: str = "") -> str:
        """The sentence in the user's language; ``used`` is ``used_bytes`` as the caller writes byte counts."""
        if self.health is not None:
            return health_text(self.health)
        if self.device_state is not DeviceState.OK:
            return _(DEVICE_STATE_TEXT[self.device_state])
        return _(EXPLANATION[self.code]).format(count=self.count, used=used)


def explain(sample: Sample | None, device: DeviceKey | None = None, hidden_rows: int = 0) -> Emptiness:
    """Why the list of processes is empty.

    ``device`` restricts the question to one device; ``hidden_rows`` is the number of processes that a search or filter
    keeps out of sight. Checked in this order: the filter, the source, the device, rights, what hides processes, and
    only then "nothing runs".
    """
    if sample is None:
        return Emptiness("waiting")
    if hidden_rows:
        return Emptiness("filtered", count=hidden_rows)
    broken = _broken(sample.health)
    devices = [info for info in sample.inventory if device is None or info.key == device]
    devices = [info for info in devices if device is not None or info.kind is not DeviceKind.SOFTWARE]
    if not devices:
        absent = broken is None or broken.state is SourceState.ABSENT
        return Emptiness("no-gpu" if absent else "source", health=broken)
    states = [sample.devices[info.key].state for info in devices if info.key in sample.devices]
    if states and all(state is DeviceState.ASLEEP for state in states):
        return Emptiness("asleep")
    awake = [state for state in states if state is not DeviceState.ASLEEP]
    if awake and all(state is not DeviceState.OK for state in awake):
        return Emptiness("device", device_state=awake[0])
    rights = next((health for health in sample.health if health.code in _RIGHTS), None)
    if rights is not None:
        return Emptiness("rights", health=rights)
    if broken is not None:
        return Emptiness("source", health=broken)
    if any(_driver_model(info) == "WDDM" for info in devices) and not _works(sample.health, "pdh"):
        return Emptiness("wddm")
    if any(_split(info) for info in devices):
        return Emptiness("mig")
    used = sum(_used(sample, info) for info in devices)
    if used > HELD_BYTES:
        return Emptiness("hidden", used_bytes=used)
    return Emptiness("idle")


_RIGHTS = ("no-permission", "processes-no-permission", "counters-no-permission")


def _broken(health: tuple[SourceHealth, ...]) -> SourceHealth | None:
    """The source whose failure explains an empty list: failed first, then one that found nothing of its kind."""
    named = [one for one in health if health_text(one)]
    for state in (SourceState.NOT_ANSWERING, SourceState.FAILED):
        for one in named:
            if one.state is state:
                return one
    if any(one.state in (SourceState.OK, SourceState.SLOW, SourceState.RESTING) for one in _gpu_sources(health)):
        return None
    return next((one for one in named if one.code == "no-driver"), None)


def _gpu_sources(health: tuple[SourceHealth, ...]) -> list[SourceHealth]:
    return [one for one in health if one.name != "host"]


def _works(health: tuple[SourceHealth, ...], name: str) -> bool:
    return any(one.name == name and one.state in (SourceState.OK, SourceState.SLOW) for one in health)


def _driver_model(info: DeviceInfo) -> str:
    return (text(info.static.get("driver_model")) or "").upper()


def _split(info: DeviceInfo) -> bool:
    return (text(info.static.get("mig_mode")) or "").lower().startswith(("enabled", "on"))


def _used(sample: Sample, info: DeviceInfo) -> float:
    found = sample.devices.get(info.key)
    return 0.0 if found is None or info.parent is not None else number(found.values.get("memory_used_bytes")) or 0.0
