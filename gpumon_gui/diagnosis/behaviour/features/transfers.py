"""Knows: what a job moves between host and GPU, against what the link can. Must not know: CPU, rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import mean, middle, rounded
from gpumon_gui.diagnosis.behaviour.work import Work, engines_of, work_of

#: Bytes per second and lane by PCIe generation, after line coding (PCI-SIG: 2.5 GT/s 8b/10b … 32 GT/s 128b/130b, 64
#: GT/s with FLITs).
_LANE: Final = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
#: What is left of it for data: headers of packets with 256 bytes take about an eighth.
_PAYLOAD: Final = 0.87
#: A copy from pageable memory goes through a buffer of the driver, filled by one core: a core copies 4 to 10 GB/s.
_ONE_CORE: Final = 6e9
_COPY_ENGINES: Final = ("copy",)


def of_job(scene: Scene) -> Mapping[str, Any]:
    """The device with the most traffic. ``rx_bytes_per_s``: host to GPU, ``tx_bytes_per_s``: GPU to host, means;
    ``link_bytes_per_s``: what the link can (generation and lanes in use, absent where unknown); ``link_share``: the
    busier direction over it.

    ``time``: share of the time that copies of this size take when one core makes them (pageable memory), at most 1;
    ``engine``: busy share of the copy engines (Windows); ``copies``: share of time in which the GPU did something
    and no kernel ran; ``peer_bytes_per_s``: the busiest NVLink direction.
    """
    if scene.job is None:
        return {}
    works = work_of(scene.window, scene.job, scene.others)
    if not works:
        return {}
    work = max(works, key=lambda one: _rate(one, "pcie_rx_bytes_per_s") or 0.0)
    rx, tx = _rate(work, "pcie_rx_bytes_per_s"), _rate(work, "pcie_tx_bytes_per_s")
    engine = None if work.alone is False else mean(engines_of(work.track, _COPY_ENGINES))
    link = _link(work)
    most = max((rate for rate in (rx, tx) if rate is not None), default=None)
    busy, kernels = mean(work.busy), mean(work.kernels)
    copies = None
    if busy is not None and kernels is not None and "gpu_utilization" in work.track.series:
        copies = max(0.0, busy - kernels)
    links = (_rate(one, f"nvlink_{way}_bytes_per_s") for one in works for way in ("rx", "tx"))
    peers = [rate for rate in links if rate is not None]
    return {
        "rx_bytes_per_s": rounded(rx, 0),
        "tx_bytes_per_s": rounded(tx, 0),
        "link_bytes_per_s": rounded(link, 0),
        "link_share": rounded(most / link) if most is not None and link else None,
        "time": rounded(min(1.0, most / min(_ONE_CORE, link or _ONE_CORE))) if most is not None else None,
        "engine": rounded(engine),
        "copies": rounded(copies),
        "peer_bytes_per_s": rounded(max(peers), 0) if peers else None,
    }


def _rate(work: Work, name: str) -> float | None:
    return mean(work.of_device(name))


def _link(work: Work) -> float | None:
    """Generation and width are read while it works: a link that saves power counts less while idle."""
    generation, width = middle(work.track.series.get("pcie_gen")), middle(work.track.series.get("pcie_width"))
    lane = None if generation is None else _LANE.get(round(generation))
    return None if lane is None or not width else lane * width * _PAYLOAD
