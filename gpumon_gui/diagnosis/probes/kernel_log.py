"""Knows: where the kernel's messages are. Must not know: what they mean (``logs``)."""

from __future__ import annotations

from threading import Event

from gpumon_gui.diagnosis.gateway import Command, Gateway, which
from gpumon_gui.diagnosis.probes.base import NOTHING, Found, heard

_ABOUT_GPUS = r"nvidia|nvrm|\bxid\b|nouveau|amdgpu|\bkfd\b|i915|\bxe \b|lockdown|secure ?boot|fallen off"


def probe(gateway: Gateway, cancel: Event) -> Found:
    """Signals only. Many systems show the log to root alone: then there are none."""
    if gateway.platform != "linux" or which(gateway, "dmesg") is None:
        return NOTHING
    command = Command(("dmesg",), timeout_s=10, limit_bytes=2_000_000, only_lines=_ABOUT_GPUS)
    ran = gateway.run(command, cancel)
    return Found({}, heard(ran.stdout, "kernel log").signals) if ran.ok and ran.stdout else NOTHING
