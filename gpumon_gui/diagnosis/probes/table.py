"""Knows: which probes of the machine there are, in which order their facts count. Must not know: what they look for."""

from __future__ import annotations

from dataclasses import dataclass

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.probes import (
    cudnn,
    host,
    kernel_log,
    nvidia_driver,
    nvidia_smi,
    pci_gpus,
    rocm,
    system,
    toolkit,
    variables,
    windows_gpus,
)
from gpumon_gui.diagnosis.probes.base import Probe


@dataclass(frozen=True, slots=True)
class MachineProbe:
    """``id`` is the origin of its facts; ``title`` a message id for people who watch. ``of_windows``: it has nothing to
    look at elsewhere."""

    id: str
    title: str
    probe: Probe
    of_windows: bool = False


PROBES: tuple[MachineProbe, ...] = (
    MachineProbe("system", N_("Operating system"), system.probe),
    MachineProbe("host", N_("Processor and memory"), host.probe),
    MachineProbe("nvidia-smi", N_("NVIDIA driver"), nvidia_smi.probe),
    MachineProbe("pci", N_("Graphics cards"), pci_gpus.probe),
    MachineProbe("registry", N_("Graphics cards in Windows"), windows_gpus.probe, of_windows=True),
    MachineProbe("nvidia-driver", N_("Kernel module and driver libraries"), nvidia_driver.probe),
    MachineProbe("toolkit", N_("CUDA toolkits"), toolkit.probe),
    MachineProbe("cudnn", N_("cuDNN"), cudnn.probe),
    MachineProbe("rocm", N_("ROCm"), rocm.probe),
    MachineProbe("variables", N_("Environment variables"), variables.probe),
    MachineProbe("kernel-log", N_("Kernel log"), kernel_log.probe),
)
