"""Instance names: what real drivers and PowerShell give, and what must not be taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.telemetry.pdh.instances import (
    CACHE_SIZE,
    AdapterInstance,
    Node,
    ProcessInstance,
    User,
    parse_adapter,
    parse_engine,
    parse_process,
)

# Seen on real machines: NVIDIA, AMD, Intel, NPU, PowerShell's lower case, Basic Render Driver.
REAL = [
    ("pid_25832_luid_0x00000000_0x0000DABC_phys_0_eng_9_engtype_Cuda", 25832, 0xDABC, 0, 9, "Cuda"),
    ("pid_25832_luid_0x00000000_0x0000DABC_phys_0_eng_1_engtype_Compute_0", 25832, 0xDABC, 0, 1, "Compute_0"),
    ("pid_856_luid_0x00000000_0x000098FE_phys_0_eng_9_engtype_Graphics_1", 856, 0x98FE, 0, 9, "Graphics_1"),
    ("pid_4_luid_0x00000000_0x0001898C_phys_0_eng_5_engtype_JPEG_Decode_0", 4, 0x1898C, 0, 5, "JPEG_Decode_0"),
    ("pid_23392_luid_0x00000000_0x00016E59_phys_0_eng_7_engtype_OFA_0", 23392, 0x16E59, 0, 7, "OFA_0"),
    (
        "pid_18360_luid_0x00000000_0x0000B750_phys_0_eng_2_engtype_High Priority Compute",
        18360,
        0xB750,
        0,
        2,
        "High Priority Compute",
    ),
    ("pid_6860_luid_0x00000000_0x0001A331_phys_0_eng_10_engtype_Video Codec 0", 6860, 0x1A331, 0, 10, "Video Codec 0"),
    (
        "pid_10736_luid_0x00000000_0x00016626_phys_0_eng_5_engtype_video codec engine",
        10736,
        0x16626,
        0,
        5,
        "video codec engine",
    ),
    (
        "pid_10916_luid_0x00000001_0x00012C5A_phys_0_eng_10_engtype_GDI Render",
        10916,
        0x1_0001_2C5A,
        0,
        10,
        "GDI Render",
    ),
    ("pid_12332_luid_0x00000000_0x000128A6_phys_0_eng_0_engtype_Neural", 12332, 0x128A6, 0, 0, "Neural"),
    ("pid_23516_luid_0x00000000_0x0000FA31_phys_1_eng_0_engtype_VideoDecode", 23516, 0xFA31, 1, 0, "VideoDecode"),
    ("pid_1212_luid_0x00000000_0x00005c30_phys_0_eng_0_engtype_3d", 1212, 0x5C30, 0, 0, "3d"),
    ("PID_9184_LUID_0X00000000_0X0000C1DA_PHYS_0_ENG_0_ENGTYPE_3D", 9184, 0xC1DA, 0, 0, "3D"),
    ("pid_7_luid_0x00000000_0x00012cae_phys_0_eng_2_engtype_", 7, 0x12CAE, 0, 2, ""),
    ("pid_1_luid_0x0_0x1_phys_0_eng_9_engtype_a_engtype_b", 1, 1, 0, 9, "a_engtype_b"),
    ("pid_0_luid_0x00000000_0x0000C7A5_phys_0_eng_0_engtype_3D", 0, 0xC7A5, 0, 0, "3D"),
    ("pid_1_luid_0xFFFFFFFF_0x00000001_phys_0_eng_0_engtype_3D", 1, 0xFFFFFFFF_00000001, 0, 0, "3D"),
]


@pytest.mark.parametrize(("name", "pid", "luid", "phys", "engine", "engtype"), REAL)
def test_reads_what_drivers_write(name: str, pid: int, luid: int, phys: int, engine: int, engtype: str) -> None:
    assert parse_engine(name) == (User(pid, luid), Node(luid, phys, engine), engtype)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "_Total",
        "pid_",
        "luid_0x00000000_0x0000C7A5_phys_0",
        "pid_1_luid_0x00000000_0x0000C7A5_phys_0",
        "pid_1_luid_0x00000000_0x0000C7A5_phys_0_eng_0",
        "pid_1_luid_0x00000000_0x0000C7A5_phys_0_eng_x_engtype_3D",
        "pid_1_luid_00000000_0x0000C7A5_phys_0_eng_0_engtype_3D",
        "pid_1_luid_0x00000000_phys_0_eng_0_engtype_3D",
        "pid_1_luid_0x000000000_0x0000C7A5_phys_0_eng_0_engtype_3D",
        "pid_-1_luid_0x00000000_0x0000C7A5_phys_0_eng_0_engtype_3D",
        "pid_4294967296_luid_0x00000000_0x0000C7A5_phys_0_eng_0_engtype_3D",
        "x pid_1_luid_0x00000000_0x0000C7A5_phys_0_eng_0_engtype_3D",
        "pid_١_luid_0x00000000_0x0000C7A5_phys_0_eng_0_engtype_3D",  # a digit, but not one of these
    ],
)
def test_skips_what_is_no_engine(name: str) -> None:
    assert parse_engine(name) is None


def test_memory_names() -> None:
    luid = 0xC7A5
    assert parse_process("pid_6120_luid_0x00000000_0x0000C7A5_phys_1") == ProcessInstance(User(6120, luid), 1)
    assert parse_adapter("LUID_0x00000000_0x0000c7a5_phys_0") == AdapterInstance(luid, 0)
    assert parse_adapter("luid_0xffffffff_0x00001234_phys_1") == AdapterInstance(0xFFFFFFFF00001234, 1)
    # Local and non-local adapter sets add a part; that is another grammar.
    assert parse_adapter("luid_0x00000000_0x0000c7a5_phys_0_part_0") is None
    assert parse_process("pid_6120_luid_0x00000000_0x0000C7A5_phys_0_eng_0_engtype_3D") is None


@given(st.text())
def test_never_raises(name: str) -> None:
    parse_engine(name)
    parse_process(name)
    parse_adapter(name)


@given(
    pid=st.integers(0, 0xFFFFFFFF),
    high=st.integers(-(2**31), 2**31 - 1),
    low=st.integers(0, 2**32 - 1),
    phys=st.integers(0, 63),
    engine=st.integers(0, 999),
    engtype=st.text(max_size=40),
)
def test_every_name_of_the_grammar_comes_back(
    pid: int, high: int, low: int, phys: int, engine: int, engtype: str
) -> None:
    adapter = f"luid_0x{high & 0xFFFFFFFF:08X}_0x{low:08X}_phys_{phys}"
    luid = (high << 32 | low) & 0xFFFFFFFF_FFFFFFFF
    assert parse_engine(f"pid_{pid}_{adapter}_eng_{engine}_engtype_{engtype}") == (
        User(pid, luid),
        Node(luid, phys, engine),
        engtype,
    )
    assert parse_process(f"pid_{pid}_{adapter}") == ProcessInstance(User(pid, luid), phys)
    assert parse_adapter(adapter) == AdapterInstance(luid, phys)


def test_the_cache_is_bounded() -> None:
    for pid in range(CACHE_SIZE + 100):
        parse_engine(f"pid_{pid}_luid_0x0_0x1_phys_0_eng_0_engtype_3D")
    info = parse_engine.cache_info()
    assert info.currsize <= CACHE_SIZE
    parse_engine.cache_clear()
