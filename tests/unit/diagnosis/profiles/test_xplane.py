"""XSpace with a GPU, encoded here by the wire format's own rules: kernels, copies, steps, and what does not count."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.diagnosis.profiles.read import read
from tests.unit.diagnosis.profiles.files import DATA, profile

MS = 10**9  # picoseconds
DETAILS = "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"
HALF = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn"


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def part(field: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


def named(field: int, key: int, name: str) -> bytes:
    """An entry of event_metadata (4) or stat_metadata (5)."""
    return part(field, number(1, key) + part(2, number(1, key) + part(2, name)))


def happened(metadata: int, start_ps: int, length_ps: int, *stats: bytes) -> bytes:
    body = number(1, metadata) + number(2, start_ps) + number(3, length_ps)
    return part(4, body + b"".join(part(4, stat) for stat in stats))


def line(name: str, *events: bytes, start_ns: int = 1_000_000) -> bytes:
    return part(3, number(1, 7) + part(2, name) + number(3, start_ns) + b"".join(events))


def space(*planes: bytes) -> bytes:
    return b"".join(part(1, plane) for plane in planes)


GPU = (
    part(2, "/device:GPU:0")
    + line(
        "Stream #20(MemcpyH2D,Compute)",
        happened(1, 2 * MS, 3 * MS, number(1, 11) + part(5, "dense/MatMul:MatMul")),
        happened(
            2, 5 * MS, 2 * MS, number(1, 10) + part(5, "kind_src:pinned kind_dst:device size:4096 dest:0 async:1")
        ),
    )
    + line("TensorFlow Ops", happened(3, 0, 9 * MS))
    + line("Steps", happened(3, 0, 9 * MS))
    + named(4, 1, HALF)
    + named(4, 2, "MemcpyH2D")
    + named(4, 3, "derived")
    + named(5, 10, "memcpy_details")
    + named(5, 11, "tf_op")
    + named(5, 12, "compute_cap_major")
    + named(5, 13, "compute_cap_minor")
    + part(6, number(1, 12) + number(3, 8))
    + part(6, number(1, 13) + number(3, 6))
)
CPU = (
    part(2, "/host:CPU")
    + line("python", happened(1, 0, 10 * MS, number(1, 5) + number(4, 3)), happened(2, 0, 2 * MS))
    + named(4, 1, "train")
    + named(4, 2, "IteratorGetNext")
    + named(5, 5, "step_num")
)


def test_a_gpu_in_xplane(tmp_path: Path) -> None:
    """A step of 10 ms: the data loader 0-2, a kernel 2-5, a copy 5-7, then nothing."""
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(space(CPU, GPU, part(2, "/host:metadata")))
    found = profile(path)
    assert found["duration_s"] == pytest.approx(0.01)
    assert found["step_count"] == 1
    assert found["gpu_busy_share"] == pytest.approx(0.3)
    assert found["gpu_copy_share"] == pytest.approx(0.2)
    assert found["idle_while"]["data_loader"] == pytest.approx(0.2)
    assert found["operators"] == [{"name": "dense/MatMul", "count": 1, "seconds": pytest.approx(0.003), "share": 1.0}]
    assert found["copies"][0] == {
        "direction": "htod", "count": 1, "seconds": pytest.approx(0.002), "bytes": 4096, "pageable_share": 0.0
    }  # fmt: skip
    assert found["heavy_tensor_core_share"] == 1.0
    assert found["compute_capability"] == "8.6"


def test_damaged_bytes_end_in_one_line_or_in_facts(tmp_path: Path) -> None:
    """Whatever is cut or overwritten: never another exception, never without end."""
    whole = space(CPU, GPU) + (DATA / "tensorflow" / "tf-2.10.xplane.pb").read_bytes()[:3_000]
    chance = random.Random(4)
    path = tmp_path / "host.xplane.pb"
    for _attempt in range(150):
        data = bytearray(whole[: chance.randrange(1, len(whole))] if chance.random() < 0.5 else whole)
        for _change in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        data[0] = 0x0A
        path.write_bytes(data)
        with suppress(UnreadableInput):
            read(path)
