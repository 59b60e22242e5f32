"""Knows: which kernel files graphics cards have on Linux, and what they say over time. Must not know: who reads them.

Layouts as in the kernel's documents named by ``telemetry.drm``; values after recorded machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gpumon_gui.telemetry.synthetic.loads import Load, mean, ripple
from gpumon_gui.telemetry.synthetic.nvml_library import NvmlStandIn
from gpumon_gui.telemetry.synthetic.scenario import Tree

GIB = 1 << 30
#: A suspended card goes to sleep so long after the last one who used it let go (measured on a laptop: 6 s).
SUSPEND_AFTER_S = 6.0

PCI_IDS = """\
1002  Advanced Micro Devices, Inc. [AMD/ATI]
\t744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]
8086  Intel Corporation
\t46a6  Alder Lake-P GT2 [Iris Xe Graphics]
\te20b  Battlemage G21 [Arc B580]
"""


@dataclass(slots=True)
class Painter:
    """A process with an open DRM file. ``engines``: engine name → load; ``vram_gib`` and ``gtt_gib`` resident."""

    pid: int
    engines: dict[str, Load]
    vram_gib: float = 0.0
    gtt_gib: float = 0.0
    busy_ns: dict[str, float] = field(default_factory=dict)


class DrmCard:
    """An amdgpu, i915 or xe card in a tree."""

    def __init__(
        self,
        tree: Tree,
        number: int,
        driver: str,
        pci_id: str,
        slot: str,
        painters: tuple[Painter, ...],
        load: Load,
        *,
        vram_gib: float = 0.0,
        power_w: float = 0.0,
        present: Callable[[float], bool] = lambda _now_s: True,
    ) -> None:
        self._tree = tree
        self._number = number
        self._driver = driver
        self._pci_id = pci_id
        self._slot = slot
        self._painters = painters
        self._load = load
        self._vram_gib = vram_gib
        self._power_w = power_w
        self._present = present
        self._is_there = False
        self._last_s = 0.0

    @property
    def _device(self) -> str:
        return f"sys/devices/pci0000:00/{self._slot}"

    def act(self, now_s: float) -> None:
        """The machine at this second."""
        if not self._present(now_s):
            if self._is_there:
                self._unplug()
            return
        if not self._is_there:
            self._plug()
        passed_s, self._last_s = now_s - self._last_s, now_s
        if self._driver == "amdgpu":
            self._amdgpu(now_s)
        else:
            busy = self._load(now_s) > 0.02
            self._tree.write(f"sys/class/drm/card{self._number}/gt_act_freq_mhz", "1300" if busy else "300")
            self._tree.write(f"sys/class/drm/card{self._number}/gt_RP0_freq_mhz", "1400")
        for painter in self._painters:
            self._fdinfo(painter, now_s, passed_s)

    def _plug(self) -> None:
        self._is_there = True
        tree, device = self._tree, self._device
        tree.write("usr/share/misc/pci.ids", PCI_IDS)
        vendor, model = self._pci_id.split(":")
        uevent = f"DRIVER={self._driver}\nPCI_CLASS=30000\nPCI_ID={self._pci_id.upper()}\nPCI_SLOT_NAME={self._slot}"
        tree.write(f"{device}/uevent", uevent)
        tree.write(f"{device}/vendor", f"0x{vendor}")
        tree.write(f"{device}/device", f"0x{model}")
        tree.write(f"{device}/power/runtime_status", "active")
        tree.write(f"{device}/power/control", "on")
        for node in (f"card{self._number}", f"renderD{128 + self._number}"):
            tree.link(f"sys/class/drm/{node}/device", device)

    def _unplug(self) -> None:
        self._is_there = False
        for node in (f"card{self._number}", f"renderD{128 + self._number}"):
            self._tree.remove(f"sys/class/drm/{node}")
        self._tree.remove(self._device)

    def _amdgpu(self, now_s: float) -> None:
        tree, device, load = self._tree, self._device, self._load
        busy = load(now_s)
        power_w = 0.06 * self._power_w + 0.86 * self._power_w * mean(load, now_s, 2.0)
        tree.write(f"{device}/gpu_busy_percent", str(round(100 * busy)))
        tree.write(f"{device}/mem_busy_percent", str(round(41 * busy)))
        tree.write(f"{device}/mem_info_vram_total", str(int(self._vram_gib * GIB)))
        used_gib = 0.7 + sum(painter.vram_gib for painter in self._painters)
        tree.write(f"{device}/mem_info_vram_used", str(int(used_gib * (1 + 0.01 * ripple(now_s / 3)) * GIB)))
        tree.write(f"{device}/mem_info_gtt_total", str(16 * GIB))
        tree.write(f"{device}/mem_info_gtt_used", str(GIB // 8))
        tree.write(f"{device}/pp_dpm_sclk", "0: 500Mhz\n1: 2304Mhz *" if busy > 0.02 else "0: 500Mhz *\n1: 2304Mhz")
        tree.write(f"{device}/pp_dpm_mclk", "0: 96Mhz\n1: 1249Mhz *" if busy > 0.02 else "0: 96Mhz *\n1: 1249Mhz")
        tree.write(f"{device}/current_link_speed", "16.0 GT/s PCIe")
        tree.write(f"{device}/current_link_width", "16")
        hwmon = f"{device}/hwmon/hwmon3"
        tree.write(f"{hwmon}/name", "amdgpu")
        for number, (label, above) in enumerate((("edge", 0), ("junction", 14), ("mem", 22)), 1):
            tree.write(f"{hwmon}/temp{number}_label", label)
            heat = 38 + 34 * mean(load, now_s, 40.0) + (above if busy > 0.02 else 1)
            tree.write(f"{hwmon}/temp{number}_input", str(int(1000 * heat)))
        tree.write(f"{hwmon}/power1_average", str(int(1e6 * (power_w + 2 * ripple(now_s)))))
        tree.write(f"{hwmon}/power1_cap", str(int(1e6 * self._power_w)))
        tree.write(f"{hwmon}/fan1_input", str(int(600 + 1100 * mean(load, now_s, 40.0))))

    def _fdinfo(self, painter: Painter, now_s: float, passed_s: float) -> None:
        render = f"/dev/dri/renderD{128 + self._number}"
        lines = [
            "pos:\t0",
            "flags:\t02100002",
            f"drm-driver:\t{self._driver}",
            f"drm-pdev:\t{self._slot}",
            f"drm-client-id:\t{painter.pid}",
        ]
        for engine, load in painter.engines.items():
            before = painter.busy_ns.get(engine, 1e9)
            painter.busy_ns[engine] = before + 1e9 * passed_s * load(now_s)
            lines.append(f"drm-engine-{engine}:\t{int(painter.busy_ns[engine])} ns")
        if self._vram_gib:
            lines.append(f"drm-memory-vram:\t{int(painter.vram_gib * GIB) >> 10} KiB")
        lines.append(f"drm-memory-gtt:\t{int(painter.gtt_gib * GIB) >> 10} KiB")
        self._tree.link(f"proc/{painter.pid}/fd/9", render)
        self._tree.write(f"proc/{painter.pid}/fdinfo/9", "\n".join(lines))


class NvidiaBus:
    """An NVIDIA card on the PCI bus of a tree, with the kernel's power management: it sleeps when nobody uses it and
    nobody holds an NVML session on it. ``wakes`` counts how often it was touched while it slept."""

    def __init__(
        self, tree: Tree, slot: str, model: str, library: NvmlStandIn, used: Callable[[float], bool], *, can_sleep: bool
    ) -> None:
        self._tree = tree
        self._slot = slot
        self._bus = f"0000{slot}".upper()
        self._library = library
        self._used = used
        self._can_sleep = can_sleep
        self._last_use_s = float("-inf")
        self._is_asleep = can_sleep and not used(0.0)
        self.wakes = 0
        base = f"sys/bus/pci/devices/{slot}"
        tree.write(f"{base}/vendor", "0x10de")
        tree.write(f"{base}/class", "0x030000")
        tree.write(f"{base}/power/control", "auto" if can_sleep else "on")
        tree.write("sys/bus/pci/drivers/nvidia/module", "")
        tree.link(f"{base}/driver", "sys/bus/pci/drivers/nvidia")
        tree.write(f"proc/driver/nvidia/gpus/{slot}/information", f"Model: \t\t {model}\nIRQ:   \t\t 186")
        self._tell()

    def act(self, now_s: float) -> None:
        """The card at this second."""
        held = self._bus in self._library.attached
        if self._is_asleep and held:
            self.wakes += 1
        if held or self._used(now_s):
            self._last_use_s = now_s
        self._is_asleep = self._can_sleep and now_s - self._last_use_s >= SUSPEND_AFTER_S
        self._tell()

    def _tell(self) -> None:
        status = "suspended" if self._is_asleep else "active"
        self._tree.write(f"sys/bus/pci/devices/{self._slot}/power/runtime_status", status)
