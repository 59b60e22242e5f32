"""Knows: the text of ``/proc/PID/fdinfo/FD`` of a DRM file. Must not know: whose it is, or what changed.

Format: kernel, Documentation/gpu/drm-usage-stats.rst. One ``key: value [unit]`` per line. Times are nanoseconds,
memory is bytes unless it says KiB or MiB. Of the memory keys of one region ``drm-resident-`` counts, on older
kernels ``drm-memory-`` (amdgpu's name for the same), then ``drm-total-``. ``drm-shared-``, ``-active-`` and
``-purgeable-`` are parts of these and are not added.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_MEMORY_KEYS = (("drm-resident-", 0), ("drm-memory-", 1), ("drm-total-", 2))


@dataclass(slots=True)
class Engine:
    """Counters of one engine for one client.

    ``busy_ns`` grows while it works (i915, amdgpu, nouveau); xe instead counts ``cycles`` against ``total_cycles``
    of the engine's clock. ``capacity``: how many equal engines share the name.
    """

    busy_ns: int | None = None
    cycles: int | None = None
    total_cycles: int | None = None
    capacity: int = 1


@dataclass(slots=True)
class Client:
    """One opened DRM file. ``id`` is unique per device; duplicated descriptors repeat it. None where not told."""

    driver: str
    pdev: str = ""
    id: int | None = None
    engines: dict[str, Engine] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)

    @property
    def dedicated_bytes(self) -> int | None:
        """Resident in the card's own memory; None when the driver reports no such region."""
        return self._sum(("vram", "local", "stolen-local"))

    @property
    def shared_bytes(self) -> int | None:
        """Resident in system memory; None when the driver reports no such region."""
        return self._sum(("gtt", "system", "cpu", "stolen-system"))

    def _sum(self, regions: tuple[str, ...]) -> int | None:
        # Region names carry an instance number: vram0, local0, system0.
        found = [size for name, size in self.memory.items() if name.rstrip("0123456789") in regions]
        return sum(found) if found else None

    @property
    def worked(self) -> bool:
        """Whether it ever used an engine or holds memory: idle descriptors of session managers do neither."""
        return any(e.busy_ns or e.cycles for e in self.engines.values()) or any(self.memory.values())


def parse(text: bytes) -> Client | None:
    """The client a fdinfo file describes, or None if it is not a DRM file. Broken lines are left out, never raised."""
    start = text.find(b"drm-driver:")
    if start < 0:
        return None
    client = Client("")
    rank: dict[str, int] = {}
    for raw in text[start:].decode("utf-8", "replace").splitlines():
        key, colon, rest = raw.partition(":")
        words = rest.split()
        if not colon or not words or not key.startswith("drm-"):
            continue
        value = words[0]
        if key == "drm-driver":
            client.driver = value
        elif key == "drm-pdev":
            client.pdev = value
        elif value.isascii() and value.isdecimal():
            _number(client, rank, key, int(value), words[1] if len(words) > 1 else "")
    return client


def _number(client: Client, rank: dict[str, int], key: str, value: int, unit: str) -> None:
    if key == "drm-client-id":
        client.id = value
    elif key.startswith("drm-engine-capacity-"):
        if value > 0:  # "Zero capacity is not allowed"
            _engine(client, key[20:]).capacity = value
    elif key.startswith("drm-engine-"):
        if unit == "ns":  # the only unit the kernel's document allows; a cut line has none
            _engine(client, key[11:]).busy_ns = value
    elif key.startswith("drm-total-cycles-"):
        _engine(client, key[17:]).total_cycles = value
    elif key.startswith("drm-cycles-"):
        _engine(client, key[11:]).cycles = value
    elif unit in _UNITS:
        for prefix, order in _MEMORY_KEYS:
            region = key.removeprefix(prefix)
            if region != key and order <= rank.get(region, 9):
                rank[region] = order
                client.memory[region] = value * _UNITS[unit]


def _engine(client: Client, name: str) -> Engine:
    return client.engines.setdefault(name, Engine())
