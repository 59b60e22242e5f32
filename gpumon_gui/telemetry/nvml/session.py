"""Knows: one NVML session: start, the devices in it, end. Must not know: when to start or end it."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpumon_gui.core.identity import key_of, parse_pci_address
from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceKind, DeviceSample, DeviceState, ProcessUse, SourceState
from gpumon_gui.core.values import Missing, Reason, Value, text
from gpumon_gui.telemetry.base import SourceUnavailable
from gpumon_gui.telemetry.nvml import static
from gpumon_gui.telemetry.nvml.device import DeviceReader
from gpumon_gui.telemetry.nvml.gpm import Gpm
from gpumon_gui.telemetry.nvml.library import (
    DRIVER_NOT_LOADED,
    INIT_NO_ATTACH,
    LIB_RM_VERSION_MISMATCH,
    LOST,
    NO_PERMISSION,
    SUCCESS,
    DeviceLost,
    Library,
    NvmlError,
    error_name,
    is_rubbish,
)

SOURCE = static.SOURCE
UNNAMED = "nvml-index:"  #: begin of the key of a card that could not say who it is
MIG_SLOTS = 64  #: no card has more; a driver that says so gives rubbish
MODES_S = 30.0  #: modes and BAR1 are read again after this time


class Session:
    """NVML between init and shutdown. Not reused after ``close``."""

    def __init__(self, library: Library, root: Path, *, asleep: frozenset[str]) -> None:
        """Start NVML without touching the devices whose PCI addresses are ``asleep``. Raises SourceUnavailable."""
        self._library = library
        self._readers: dict[DeviceKey, DeviceReader] = {}
        self._infos: dict[DeviceKey, DeviceInfo] = {}
        self._tuple: tuple[DeviceInfo, ...] | None = None
        self._lost: dict[DeviceKey, str] = {}
        self._modes_due_s: float | None = None
        self._is_stale = False
        self._split: dict[DeviceKey, frozenset[str]] = {}
        code = self._init(attach=not asleep)
        if code != SUCCESS:
            raise _refused(code, root)
        try:
            self._system = static.system_values(library)
            self._count = library.uint("nvmlDeviceGetCount_v2")
            for index in range(self._count):
                self._add(index, asleep)
        except NvmlError as error:
            self.close()
            raise SourceUnavailable("read-failed", str(error)) from error
        if self._count == 0:
            self.close()
            raise SourceUnavailable("no-device", state=SourceState.ABSENT)

    @property
    def infos(self) -> tuple[DeviceInfo, ...]:
        """All devices of the session, lost ones included."""
        if self._tuple is None:
            self._tuple = tuple(self._infos.values())
        return self._tuple

    @property
    def is_stale(self) -> bool:
        """Whether a card was split or joined (MIG) since the session began: only a new one sees its instances."""
        return self._is_stale

    @property
    def may_not_list(self) -> bool:
        """Whether the driver refused to list processes for want of rights."""
        return any(reader.may_not_list for reader in self._readers.values())

    @property
    def power_frozen(self) -> tuple[str, ...]:
        """Names of the cards whose power reading does not move."""
        return tuple(self._infos[key].name for key, reader in self._readers.items() if reader.is_power_frozen)

    @property
    def lost(self) -> Mapping[DeviceKey, str]:
        """Devices the driver lost, with NVML's word."""
        return self._lost

    def count_changed(self) -> bool:
        """Whether devices came or went since the session began. Raises NvmlError when the session is over."""
        return self._library.uint("nvmlDeviceGetCount_v2") != self._count

    def read(self, now_s: float, *, details: bool) -> dict[DeviceKey, DeviceSample]:
        """One sweep. A lost device keeps its place; the others go on. Raises NvmlError when the session is over."""
        self._refresh_modes(now_s)
        samples = {}
        for key, info in self._infos.items():
            reader = self._readers.get(key)
            if reader is not None:
                try:
                    samples[key] = self._judged(reader.read(now_s, details=details), info)
                    continue
                except DeviceLost as error:
                    self._lose(key, str(error))
            samples[key] = gone(key, DeviceState.LOST, Reason.DEVICE_LOST, self._lost.get(key, ""))
        return samples

    def read_processes(self, now_s: float, *, utilization: bool) -> tuple[ProcessUse, ...]:
        """Processes of all devices that answer. A split card lists those of its instances too: each counts once, where
        it runs. Raises NvmlError when the session is over."""
        uses: list[ProcessUse] = []
        inside: set[tuple[DeviceKey, int]] = set()
        for key, reader in self._readers.items():
            with contextlib.suppress(DeviceLost):
                found = reader.read_processes(now_s, utilization=utilization)
                uses.extend(found)
                if (parent := self._infos[key].parent) is not None:
                    inside.update((parent, use.pid) for use in found)
        return tuple(use for use in uses if (use.device, use.pid) not in inside)

    def close(self) -> None:
        """End the session and with it every hold on the devices."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()
        self._library.call("nvmlShutdown")

    def _init(self, *, attach: bool) -> int:
        if not attach and self._library.find("nvmlInitWithFlags") is not None:
            return self._library.call("nvmlInitWithFlags", ctypes.c_uint(INIT_NO_ATTACH))
        found = self._library.first("nvmlInit_v2", "nvmlInit")
        return 13 if found is None else found[1]()

    def _add(self, index: int, asleep: frozenset[str]) -> None:
        handle = ctypes.c_void_p()
        if asleep:
            # By index NVML may wake the card to find out what it is; only addresses known to be awake are asked for.
            return
        code = self._library.call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        if code != SUCCESS:
            self._unnamed(index, error_name(code))
            return
        self._adopt(handle, index)

    def _unnamed(self, index: int, word: str) -> None:
        """A card that is lost before it could say who it is."""
        key = DeviceKey(f"{UNNAMED}{index}")
        self._infos[key] = DeviceInfo(key, "NVIDIA GPU", "nvidia", DeviceKind.UNKNOWN, index, sources=(SOURCE,))
        self._lost[key] = word
        self._tuple = None

    def add_address(self, address: str, index: int) -> None:
        """Add an awake device by its PCI address (used when others of the machine sleep)."""
        handle = ctypes.c_void_p()
        code = self._library.call("nvmlDeviceGetHandleByPciBusId_v2", address.encode(), ctypes.byref(handle))
        if code == SUCCESS:
            self._adopt(handle, index)

    def _adopt(self, handle: Any, index: int) -> None:
        try:
            info = self._describe(handle, index)
        except DeviceLost as error:
            self._unnamed(index, str(error))
            return
        gpm = Gpm(self._library, handle) if Gpm.supported(self._library, handle) else None
        self._infos[info.key] = info
        self._tuple = None
        self._readers[info.key] = DeviceReader(self._library, handle, info, gpm=gpm)
        if text(info.static.get("mig_mode")) == "Enabled":
            self._add_instances(handle, info)

    def _describe(self, handle: Any, index: int) -> DeviceInfo:
        address = static.pci_address_of(self._library, handle)
        name, uuid = self._name(handle), self._uuid(handle)
        values: dict[str, Value] = {**self._system, **static.device_values(self._library, handle)}
        values.update(static.mode_values(self._library, handle))
        if text(values.get("virtualization")) == "vGPU":
            values = {metric: _in_vm(value) for metric, value in values.items()}
        return DeviceInfo(
            key=key_of(address, uuid=uuid, name=f"nvml-{index}"),
            name=name,
            vendor="nvidia",
            kind=DeviceKind.DISCRETE,
            index=index,
            pci_address=address,
            uuid=uuid,
            sources=(SOURCE,),
            static=values,
        )

    def _add_instances(self, handle: Any, parent: DeviceInfo) -> None:
        """One device per MIG instance of a split card."""
        found = self._instances(handle)
        self._split[parent.key] = frozenset(uuid or "" for _index, _instance, uuid in found)
        for index, instance, uuid in found:
            info = DeviceInfo(
                key=key_of(uuid=uuid, name=f"{parent.key}/mig-{index}"),
                name=self._name(instance),
                vendor="nvidia",
                kind=DeviceKind.MIG,
                index=index,
                uuid=uuid,
                parent=parent.key,
                sources=(SOURCE,),
            )
            self._infos[info.key] = info
            gpm = self._instance_gpm(handle, instance)
            self._readers[info.key] = DeviceReader(self._library, instance, info, gpm=gpm)

    def _instances(self, handle: Any) -> list[tuple[int, Any, str | None]]:
        try:
            limit = self._library.uint("nvmlDeviceGetMaxMigDeviceCount", handle)
        except NvmlError:
            return []
        found = []
        for index in range(min(limit, MIG_SLOTS)):
            instance = ctypes.c_void_p()
            code = self._library.call(
                "nvmlDeviceGetMigDeviceHandleByIndex", handle, ctypes.c_uint(index), ctypes.byref(instance)
            )
            if code == SUCCESS:  # NOT_FOUND: this slot is free
                found.append((index, instance, self._uuid(instance)))
        return found

    def _instance_gpm(self, parent: Any, instance: Any) -> Gpm | None:
        if not Gpm.supported(self._library, parent):
            return None
        try:
            return Gpm(self._library, parent, self._library.uint("nvmlDeviceGetGpuInstanceId", instance))
        except NvmlError:
            return None

    def _name(self, handle: Any) -> str:
        try:
            name = self._library.text("nvmlDeviceGetName", handle)
        except NvmlError:
            return "NVIDIA GPU"
        return "NVIDIA GPU" if is_rubbish(name) else name

    def _uuid(self, handle: Any) -> str | None:
        try:
            uuid = self._library.text("nvmlDeviceGetUUID", handle)
        except NvmlError:
            return None
        return None if is_rubbish(uuid) else uuid

    def _judged(self, sample: DeviceSample, info: DeviceInfo) -> DeviceSample:
        if text(info.static.get("virtualization")) != "vGPU":
            return sample
        return replace(sample, values={metric: _in_vm(value) for metric, value in sample.values.items()})

    def _refresh_modes(self, now_s: float) -> None:
        if self._modes_due_s is None:
            self._modes_due_s = now_s + MODES_S
        if now_s < self._modes_due_s:
            return
        self._modes_due_s = now_s + MODES_S
        for key, reader in self._readers.items():
            info = self._infos[key]
            if info.parent is None:
                fresh = static.mode_values(self._library, reader.handle)
                if text(fresh["mig_mode"]) != text(info.static.get("mig_mode")):
                    self._is_stale = True
                elif key in self._split:
                    now = frozenset(uuid or "" for _index, _instance, uuid in self._instances(reader.handle))
                    self._is_stale = self._is_stale or now != self._split[key]
                if text(info.static.get("virtualization")) == "vGPU":
                    fresh = {metric: _in_vm(value) for metric, value in fresh.items()}
                if any(info.static.get(metric) != value for metric, value in fresh.items()):
                    self._infos[key] = replace(info, static={**info.static, **fresh})
                    self._tuple = None

    def _lose(self, key: DeviceKey, word: str) -> None:
        self._lost[key] = word
        reader = self._readers.pop(key, None)
        if reader is not None:
            reader.close()


def gone(key: DeviceKey, state: DeviceState, reason: Reason, detail: str = "") -> DeviceSample:
    """A sample that says why there is nothing."""
    values: dict[str, Value] = {
        metric: Missing(reason, SOURCE, detail)
        for metric in ("gpu_utilization", "memory_used_bytes", "temperature_c", "power_w")
    }
    return DeviceSample(key, state, detail, values)


def _in_vm(value: Value) -> Value:
    if isinstance(value, Missing) and value.reason is Reason.NOT_SUPPORTED:
        return Missing(Reason.NOT_OFFERED_IN_VM, value.source, value.detail)
    return value


def _refused(code: int, root: Path) -> SourceUnavailable:
    if code == DRIVER_NOT_LOADED:
        return SourceUnavailable("driver-not-loaded", error_name(code))
    if code == NO_PERMISSION:
        return SourceUnavailable("no-permission", error_name(code))
    if code == LIB_RM_VERSION_MISMATCH:
        return SourceUnavailable("driver-library-mismatch", _versions(root) or error_name(code))
    if code in LOST:
        return SourceUnavailable("gpu-lost", error_name(code))
    return SourceUnavailable("read-failed", f"nvmlInit: {error_name(code)}")


def _versions(root: Path) -> str:
    """The kernel module's and the library's versions, as far as they can be found without NVML. By the names of their
    files, which are the same in every language."""
    found = []
    with contextlib.suppress(OSError):
        words = (root / "proc/driver/nvidia/version").read_text("utf-8", "replace").split()
        number = next((word for word in words if word.count(".") >= 1 and word[0].isdigit()), "")
        found += [f"nvidia.ko {number}"] if number else []
    for folder in ("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib"):
        names = sorted(path.name for path in (root / folder).glob("libnvidia-ml.so.*.*"))
        if names:
            found.append(f"libnvidia-ml.so {names[-1].removeprefix('libnvidia-ml.so.')}")
            break
    return ", ".join(found)


def placeholder(address: str, name: str | None, index: int) -> DeviceInfo:
    """A device that is known from the PCI bus only."""
    return DeviceInfo(
        key=key_of(parse_pci_address(address)),
        name=name or "NVIDIA GPU",
        vendor="nvidia",
        kind=DeviceKind.DISCRETE,
        index=index,
        pci_address=parse_pci_address(address),
        sources=(SOURCE,),
    )
