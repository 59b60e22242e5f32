"""Knows: which devices of the history can be shown, which comes first, what each is called. Must not know: widgets,
spans.

``here`` is what is in the machine now; None where the history is of another machine, or nothing is known yet.
"""

from __future__ import annotations

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceKind
from gpumon_gui.history.reading import Contents, StoredDevice
from gpumon_gui.telemetry.derive.adapters import adapters, first_choice
from gpumon_gui.ui.formatters import title_of

_HIDDEN = frozenset({DeviceKind.SOFTWARE.value})


def listed(contents: Contents) -> tuple[StoredDevice, ...]:
    """The devices to choose from: cards first, the machine last."""
    found = [d for d in contents.devices if not d.is_host and d.kind not in _HIDDEN]
    return (*found, *(d for d in contents.devices if d.is_host))


def by_key(contents: Contents, key: DeviceKey) -> StoredDevice | None:
    """The device of this key that was seen last."""
    found = [device for device in contents.devices if device.key == key]
    return max(found, key=lambda device: device.last_s, default=None)


def by_number(contents: Contents, number: int) -> StoredDevice | None:
    """The device of this row."""
    return next((device for device in contents.devices if device.number == number), None)


def first(contents: Contents, wanted: DeviceKey | None, here: tuple[DeviceInfo, ...] | None) -> StoredDevice | None:
    """What is shown until somebody chooses: what was asked for, else what the Performance page shows first."""
    shown = () if here is None else adapters(here)
    keys = ([] if wanted is None else [wanted]) + ([first_choice(shown).info.key] if shown else [])
    found = [device for key in keys if (device := by_key(contents, key)) is not None]
    return next(iter((*found, *listed(contents))), None)


def title(device: StoredDevice, contents: Contents, here: tuple[DeviceInfo, ...] | None) -> str:
    """``GPU 0``; what a card is called that is not in the machine now."""
    if device.is_host:
        return _("CPU and memory")
    if here is None:
        number = [one.number for one in listed(contents)].index(device.number)
        return _("GPU {number}").format(number=number)
    for adapter in adapters(here):
        if adapter.info.key == device.key and (adapter.info.uuid or device.uuid) == device.uuid:
            return title_of(adapter)
    return _("{name} (not here now)").format(name=device.name or device.key)
