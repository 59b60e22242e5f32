"""The log reader: signals point to their lines, facts to theirs; a big log stays small in memory."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumon_gui.diagnosis.facts import Document, Origin
from gpumon_gui.diagnosis.logs.block import Block
from gpumon_gui.diagnosis.logs.pattern import Pattern
from gpumon_gui.diagnosis.logs.reader import FAULT, KEPT, LINE_LIMIT, Messages, read, read_log
from gpumon_gui.diagnosis.logs.table import BLOCKS, PATTERNS

OLD = "The NVIDIA driver on your system is too old (found version 11040)."
SNIPPETS = (
    OLD,
    'Traceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/torch/a.py", line 3, in f',
    'OSError: [WinError 126] 找不到指定的模块。 Error loading "C:\\x\\fbgemm.dll" or one of its dependencies.',
    "| NVIDIA-SMI 535.54.03   Driver Version: 535.54.03   CUDA Version: 12.2 |",
    "|   0  NVIDIA A100-SXM...  On   | 00000000:07:00.0 Off |                   On |",
    "==============NVSMI LOG==============\nDriver Version : 1\nGPU 00000000:00:06.0\n    Product Name : X",
    "PyTorch version: 2.1\nIs debug build: False\nCUDA used to build PyTorch: None",
    "torch==2.1.0\nnumpy==1\nscipy==2\npandas==3\n",
    "Package    Version\n---------- -----\ntorch      2.1.0+cu118",
    "ERROR: Could not find a version that satisfies the requirement torch==2.0+cu118 (from versions: 2.1.0, 2.2.0)",
    "Found device 0 with properties: \npciBusID: 0000:01:00.0 name: X computeCapability: 6.1",
    "\x1b[31m",
    "\r 5%|",
    "\x00",
)


def test_a_signal_points_to_its_line_and_carries_values() -> None:
    found = read(f"first\n\n{OLD}\nlast".encode(), "train.log")
    (signal,) = found.signals
    assert (signal.kind, signal.framework) == ("torch-driver-too-old", "torch")
    assert signal.values == {"found": 11040}
    assert signal.origin == Origin("train.log", 3)
    assert found.lines == 4


def test_line_numbers_hold_over_chunks_and_long_lines() -> None:
    data = ("x" * 70 + "\n") * 40_000 + "y" * 3_000_000 + "\n" + OLD + "\n"
    found = read(data.encode())
    assert [signal.origin.line for signal in found.signals] == [40_002]


def test_a_message_in_the_middle_of_a_very_long_line_is_found() -> None:
    found = read(("{" * 2_500_000 + OLD + "}" * 100_000).encode())
    assert [signal.kind for signal in found.signals] == ["torch-driver-too-old"]
    assert len(found.signals[0].text) <= LINE_LIMIT


def test_repeated_signals_are_bounded_first_ones_and_the_last() -> None:
    found = read("\n".join([OLD] * 50_000).encode())
    lines = [signal.origin.line for signal in found.signals]
    assert lines == [*range(1, KEPT + 1), 50_000]


def test_a_message_after_thousands_of_look_alikes_is_found() -> None:
    noise = "".join(f"is it too old (found version {number}?\n" for number in range(60_000))
    assert len(read((noise + OLD).encode()).signals) == 1


def test_a_line_belongs_to_the_framework_that_printed_it() -> None:
    log = (
        "2023-01-01 I tensorflow/core/platform/cpu_feature_guard.cc:193] optimized\n"
        '  File "/usr/lib/python3/dist-packages/torch/nn/functional.py", line 12, in linear\n'
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
    )
    signal = next(signal for signal in read(log.encode()).signals if signal.kind == "cuda-error-209")
    assert signal.framework == "torch"


def test_a_joined_pattern_sees_a_wrapped_message() -> None:
    messages = Messages((Pattern("wrapped", "one", r"one two (?P<three>\w+)", joined=True, numbers=("three",)),))
    found = read_log(io.BytesIO(b"  one\n   two\n  3\n"), messages)
    assert found.signals[0].values == {"three": 3}


def test_facts_of_patterns_first_said_counts() -> None:
    pattern = Pattern("v", "ver", r"ver (?P<v>\S+)", facts={"v": "torch.version"}, states={"torch.cuda_build": None})
    found = read_log(io.BytesIO(b"a\nver 2.1\nver 2.2\n"), Messages((pattern,)))
    assert found.facts == {"torch": {"version": "2.1", "cuda_build": None}}
    assert found.origins["torch.version"] == Origin("log", 2)


def test_merging_keeps_what_the_document_has_and_its_origin() -> None:
    found = read(b"PyTorch version: 2.1.0\nIs debug build: False\nCUDA used to build PyTorch: 11.8\n")
    document = found.merge_into(Document({"torch": {"version": "2.5"}, "gpus": []}))
    assert document.facts["torch"] == {"version": "2.5", "cuda_build": "11.8", "hip_build": None} or (
        document.facts["torch"] == {"version": "2.5", "cuda_build": "11.8"}
    )
    assert document.log_given
    view = next(iter(document.views()))
    assert view.origin("torch.cuda_build").source == "log"
    assert view.origin("torch.version") == Origin("facts")


def test_a_block_that_raises_is_told_and_loses_nothing_else() -> None:
    def bad(_lines: object) -> None:
        raise ValueError("bad")

    messages = Messages((Pattern("found", "mark", "mark"),), (Block("b", ("mark",), bad),))
    kinds = {signal.kind: signal.values for signal in read_log(io.BytesIO(b"a mark"), messages).signals}
    assert kinds == {"found": {}, FAULT: {"block": "b", "error": "ValueError: bad"}}


def test_an_empty_log_is_still_a_log() -> None:
    assert read(b"").merge_into(Document()).log_given
    assert not read(b"").signals


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.kind)
def test_hints_are_plain_texts_in_lower_case(pattern: Pattern) -> None:
    assert pattern.hint == pattern.hint.lower()
    assert len(pattern.hint) >= 3
    assert "\n" not in pattern.hint


def test_blocks_have_names_of_their_own() -> None:
    names = [block.name for block in BLOCKS]
    assert len(names) == len(set(names))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=4000))
def test_random_bytes_never_raise(data: bytes) -> None:
    assert FAULT not in {signal.kind for signal in read(data).signals}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=60)), max_size=30), st.data())
def test_mixtures_torn_anywhere_never_raise(parts: list[str], data: st.DataObject) -> None:
    encoding = data.draw(st.sampled_from(("utf-8", "utf-16", "utf-16-be", "gb18030")))
    raw = "\n".join(parts).encode(encoding, "replace") + "\n".join(parts).encode("utf-8", "replace")
    start = data.draw(st.integers(0, len(raw)))
    found = read(raw[start : data.draw(st.integers(start, len(raw)))])
    for signal in found.signals:
        assert signal.kind != FAULT
        assert signal.origin.line is not None
        assert 1 <= signal.origin.line <= max(1, found.lines)


@pytest.mark.parametrize(
    ("log", "facts"),
    [
        ("C:\\Users\\li>python t.py", {"os": {"family": "windows"}}),
        ("(base) PS D:\\项目 1> python", {"os": {"family": "windows"}}),
        ("PS C:\\Users\\x> wsl\nuser@pc:~$ python", {}),
        ("### OS Platform and Distribution\n\nWindows 11", {"os": {"family": "windows"}}),
        ("OS Platform and Distribution: Windows 11, WSL2", {}),
        ("操作系统：Windows 11", {"os": {"family": "windows"}}),
        ("- OS: Windows 10 Pro", {"os": {"family": "windows"}}),
        ("OS: Windows 11 with WSL 2", {}),
        (">>> tf.config.list_physical_devices('GPU')\n[]", {"tensorflow": {"gpu_count": 0}}),
        ("运行 print(tf.config.list_physical_devices('GPU')) 输出 []", {"tensorflow": {"gpu_count": 0}}),
        ("gpus = tf.config.list_physical_devices('GPU')\nx = []", {}),
        ("Num GPUs Available:  0", {"tensorflow": {"gpu_count": 0}}),
        ("Num GPUs Available:  1", {}),
    ],
)
def test_what_people_paste_around_the_messages(log: str, facts: dict[str, object]) -> None:
    assert read(io.BytesIO(log.encode()), "x").facts == facts
