"""Knows: AMD's compute stack on Linux by its files. Must not know: which cards it supports."""

from __future__ import annotations

from threading import Event

from gpumon_gui.diagnosis.gateway import Gateway, matches, read_text
from gpumon_gui.diagnosis.probes.base import NOTHING, Found, known


def probe(gateway: Gateway, _cancel: Event) -> Found:
    """``rocm``: version, whether ``/dev/kfd`` is there and open to this user, and the user's groups."""
    version = (read_text(gateway, "/opt/rocm/.info/version", 200) or "").strip()
    kfd = gateway.info("/dev/kfd")
    if gateway.platform != "linux" or (not version and kfd is None):
        return NOTHING
    access = "missing" if kfd is None else "ok" if kfd.readable and kfd.writable else "denied"
    nodes = [gateway.info(path) for path in matches(gateway, "/dev/dri", "renderD*")]
    groups = gateway.ask("groups")
    return Found(
        {
            "rocm": known(
                version=version or None,
                kfd=access,
                render_nodes=len(nodes),
                render_access=any(node is not None and node.readable and node.writable for node in nodes)
                if nodes
                else None,
                groups=[name for name in groups if name in ("render", "video", "root")]
                if isinstance(groups, list)
                else None,
            )
        }
    )
