"""Knows: in which folders Linux' loader looks for libraries. Must not know: which libraries."""

from __future__ import annotations

from gpumon_gui.diagnosis.gateway import Command, Gateway, variable, which


def library_folders(gateway: Gateway) -> tuple[str, ...]:
    """LD_LIBRARY_PATH first, then the folders of the loader's cache; each once."""
    own = [part for part in (variable(gateway, "LD_LIBRARY_PATH") or "").split(":") if part]
    return tuple(dict.fromkeys((*own, *cached_folders(gateway))))


def cached_folders(gateway: Gateway) -> tuple[str, ...]:
    """The folders ``ldconfig -p`` lists, in its order. Root's folders are not on everybody's PATH."""
    program = which(gateway, "ldconfig") or "/sbin/ldconfig"
    ran = gateway.run(Command((program, "-p"), timeout_s=10, limit_bytes=2_000_000))
    lines = (line.rpartition(" => ")[2].strip() for line in ran.out.splitlines() if " => " in line)
    return tuple(dict.fromkeys(path.rpartition("/")[0] for path in lines if path.startswith("/")))
