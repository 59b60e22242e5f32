"""Knows: which NVIDIA cards are plugged in and whether they sleep, without touching them. Must not know: NVML.

Linux answers from sysfs (``telemetry.runtime_pm``), Windows from its plug-and-play manager, whose property "power data"
is kept by the operating system (theantipopau/omencore pull request 166: asking leaves the card in D3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from gpumon_gui.core.identity import pci_address
from gpumon_gui.telemetry.runtime_pm import PowerState, RuntimeStatus, nvidia_devices, power_state, sysfs_address

AWAKE = PowerState(RuntimeStatus.UNKNOWN, can_sleep=False)


class Bus(Protocol):
    """Where cards are plugged in."""

    def cards(self) -> list[tuple[str, str | None]]:
        """PCI address and, where it is known, model of every card that NVIDIA's driver has, asleep or not."""
        ...

    def power(self, address: str) -> PowerState:
        """Power state of one of them."""
        ...


class NoBus:
    """Nothing is known: every card counts as awake."""

    def cards(self) -> list[tuple[str, str | None]]:
        """None."""
        return []

    def power(self, address: str) -> PowerState:
        """Awake."""
        return AWAKE


class LinuxBus:
    """sysfs below a root."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def cards(self) -> list[tuple[str, str | None]]:
        """Cards bound to the driver; others are passed through to a guest or belong to nouveau."""
        return [found for found in nvidia_devices(self._root) if self._is_ours(found[0])]

    def power(self, address: str) -> PowerState:
        """What the kernel's runtime power management says."""
        return power_state(self._root, address)

    def _is_ours(self, address: str) -> bool:
        link = self._root / "sys/bus/pci/devices" / sysfs_address(address) / "driver"
        try:
            return link.readlink().name == "nvidia"
        except OSError:
            return False


class PnpDevice(Protocol):
    """A display adapter as the plug-and-play manager lists it."""

    @property
    def node(self) -> int:
        """Its DEVINST."""
        ...

    @property
    def address(self) -> tuple[int, int, int]:
        """PCI bus, device, function."""
        ...

    @property
    def identity(self) -> str:
        """``PCI\\VEN_10DE&DEV_…``."""
        ...


class Pnp(Protocol):
    """The plug-and-play manager."""

    def devices(self) -> Sequence[PnpDevice]:
        """All display adapters present."""
        ...

    def power_state(self, node: int) -> int | None:
        """1 (D0, working) to 4 (D3, off); None when it is not known."""
        ...


class WindowsBus:
    """The plug-and-play manager. Only a laptop with a second GPU lets the NVIDIA one sleep: elsewhere the state is not
    looked at, since a driver that reports it wrongly would hide a card that works."""

    def __init__(self, pnp: Pnp, has_battery: Callable[[], bool]) -> None:
        self._pnp = pnp
        self._has_battery = has_battery
        self._nodes: dict[str, int] = {}
        self._can_sleep = False

    def cards(self) -> list[tuple[str, str | None]]:
        """NVIDIA's display adapters."""
        devices = self._pnp.devices()
        ours = [device for device in devices if "VEN_10DE" in device.identity.upper()]
        self._nodes = {pci_address(0, *device.address): device.node for device in ours}
        self._can_sleep = len(devices) > len(ours) > 0 and self._has_battery()
        return [(address, None) for address in self._nodes]

    def power(self, address: str) -> PowerState:
        """What the manager keeps of the adapter's power state."""
        node = self._nodes.get(address)
        if node is None or not self._can_sleep:
            return AWAKE
        state = self._pnp.power_state(node)
        if state is None:
            return PowerState(RuntimeStatus.UNKNOWN, can_sleep=True)
        return PowerState(RuntimeStatus.ACTIVE if state == 1 else RuntimeStatus.SUSPENDED, can_sleep=True)
