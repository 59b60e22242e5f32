"""Knows: where the kernel's messages are. Must not know: what they mean (``logs``)."""

from __future__ import annotations

import re
from threading import Event

from gpumon_gui.diagnosis.gateway import Command, Gateway, which
from gpumon_gui.diagnosis.probes.base import NOTHING, Found, heard

_ABOUT_GPUS = re.compile(
    r"nvidia|nvrm|\bxid\b|nouveau|amdgpu|\bkfd\b|i915|\bxe \b|lockdown|secure ?boot|fallen off", re.I
)


def probe(gateway: Gateway, cancel: Event) -> Found:
    """Signals only. Many systems show the log to root alone: then there are none."""
    if gateway.platform != "linux" or which(gateway, "dmesg") is None:
        return NOTHING
    ran = gateway.run(Command(("dmesg",), timeout_s=10, limit_bytes=2_000_000), cancel)
    lines = [line for line in ran.out.splitlines() if _ABOUT_GPUS.search(line)] if ran.ok else []
    return Found({}, heard("\n".join(lines), "kernel log").signals) if lines else NOTHING
