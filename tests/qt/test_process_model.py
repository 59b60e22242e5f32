"""The table of processes, drawn as text: what is listed, in which order, what an update touches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, Qt

from gpumon_gui.core import messages
from gpumon_gui.core.model import ProcessPresence, ProcessSample, ProcessUse, Sample, UseKind
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.ui.models.process_model import HEAT_ROLE, TOTAL_ROLE, Col, ProcessFilter, ProcessModel
from tests.qt.samples import GIB, START_UTC_S, device_key, make_sample

NOT_OFFERED = Missing(Reason.NOT_SUPPORTED, "nvml", "NVML_ERROR_NOT_SUPPORTED")


def gpu_use(pid: int, gpu: Value | float, memory: float = GIB, device: int = 0, engine: str = "") -> ProcessUse:
    value = gpu if isinstance(gpu, Reading | Missing) else Reading(gpu, "nvml")
    values = {"process_gpu_utilization": value, "process_memory_bytes": Reading(memory, "nvml")}
    return ProcessUse(pid, device_key(device), UseKind.COMPUTE, values, engine)


def make_process(pid: int, name: str, *uses: ProcessUse, cpu: float = 0.5, **more: object) -> ProcessSample:
    base = ProcessSample(
        pid,
        START_UTC_S - 1000.0,
        name,
        ProcessPresence.RUNNING,
        uses=uses,
        values={"process_cpu": Reading(cpu, "host"), "process_rss_bytes": Reading(2 * GIB, "host")},
    )
    return replace(base, **more)  # type: ignore[arg-type]


def sample_of(*processes: ProcessSample, sequence: int = 1, gpus: int = 2) -> Sample:
    made = make_sample(gpus=gpus)
    return replace(
        made,
        sequence=sequence,
        monotonic_s=1000.0 + sequence,
        utc_s=START_UTC_S + sequence,
        processes=processes,
    )


TRAINING = make_process(
    41, "python", gpu_use(41, 0.9, 13 * GIB, 0, "Compute_0"), gpu_use(41, 0.4, 12 * GIB, 1), framework="PyTorch"
)
NOTEBOOK = make_process(7, "jupyter", gpu_use(7, 0.0, 60 * GIB, 1), cpu=0.0, user="mei")
UNKNOWN = make_process(300, "blob", gpu_use(300, NOT_OFFERED, 2 * GIB))
ON_CPU = make_process(52, "训练", cpu=15.9, framework="TensorFlow", command=("python", "cpu.py"))

SHOWN = (Col.NAME, Col.PID, Col.STATE, Col.GPU, Col.ENGINE, Col.MEMORY, Col.CPU)


@pytest.fixture
def model(qapp: object) -> Iterator[ProcessModel]:
    made = ProcessModel()
    yield made
    made.deleteLater()


def drawn(table: ProcessModel | ProcessFilter, columns: tuple[Col, ...] = SHOWN) -> str:
    """The table as lines of text."""
    rows = range(table.rowCount())
    return "\n".join(" | ".join(str(table.index(row, column).data()) for column in columns) for row in rows)


def test_the_table(model: ProcessModel) -> None:
    model.update(sample_of(TRAINING, NOTEBOOK, UNKNOWN, ON_CPU))
    assert (
        drawn(model)
        == """\
python | 41 | Computing on GPU | 90 % | GPU 0 - Compute 0 | 25.0 GB | 0.50
jupyter | 7 | Holding memory, idle | 0 % | GPU 1 | 60.0 GB | 0.00
blob | 300 | Cannot tell | — | GPU 0 | 2.0 GB | 0.50
训练 | 52 | On CPU only | — | — | — | 15.90"""
    )


def test_foreign_names_stay_one_line_and_are_no_html(model: ProcessModel) -> None:
    script = "import torch\nfor batch in loader:\n    <b>step</b>()"
    evil = make_process(9, "two\nlines\u202e", command=("python", "-c", script), executable="<h1>" + "x" * 5000, cpu=9)
    model.update(sample_of(evil))
    quoted = '"' if sys.platform == "win32" else "'"  # as the system's own shell has it
    assert drawn(model, (Col.NAME, Col.COMMAND)).split("\n") == [
        rf"two\nlines\u202e | python -c {quoted}import torch\nfor batch in loader:\n    <b>step</b>(){quoted}"
    ]
    for column in (Col.NAME, Col.COMMAND):
        tip = model.index(0, column).data(Qt.ItemDataRole.ToolTipRole)
        assert "<b>" not in tip
        assert "<h1>" not in tip
        assert max(map(len, tip.split("\n"))) < 150


def test_one_device_shows_only_what_happens_there(model: ProcessModel) -> None:
    model.set_device(device_key(1))
    model.update(sample_of(TRAINING, NOTEBOOK, UNKNOWN, ON_CPU))
    assert (
        drawn(model)
        == """\
python | 41 | Computing on GPU | 40 % | GPU 1 | 12.0 GB | 0.50
jupyter | 7 | Holding memory, idle | 0 % | GPU 1 | 60.0 GB | 0.00"""
    )


def test_a_missing_value_says_why_in_its_tool_tip(model: ProcessModel) -> None:
    model.update(sample_of(UNKNOWN))
    tip = model.index(0, Col.GPU).data(Qt.ItemDataRole.ToolTipRole)
    assert "not supported by this device or driver (NVML_ERROR_NOT_SUPPORTED)" in tip
    assert model.index(0, Col.GPU).data(HEAT_ROLE) is None


def test_the_header_says_what_the_machine_uses(model: ProcessModel) -> None:
    model.update(sample_of(TRAINING))
    header = [model.headerData(column, Qt.Orientation.Horizontal, TOTAL_ROLE) for column in (Col.GPU, Col.CPU)]
    assert header == ["87 %", "2.5"]


def test_rows_and_header_of_the_processor_have_one_unit_which_the_header_names(model: ProcessModel) -> None:
    """Eight cores at 31 % are 2.5 cores; a program on 15.9 of them says so in the same unit."""
    model.update(sample_of(ON_CPU))
    assert model.headerData(Col.CPU, Qt.Orientation.Horizontal) == "CPU cores"
    assert model.headerData(Col.CPU, Qt.Orientation.Horizontal, TOTAL_ROLE) == "2.5"
    cell = model.index(0, Col.CPU)
    assert cell.data() == "15.90"
    assert cell.data(Qt.ItemDataRole.ToolTipRole).startswith("1590 %\n")  # as other programs write it


def test_only_changed_cells_are_announced_and_nothing_is_reset(model: ProcessModel) -> None:
    model.update(sample_of(TRAINING, NOTEBOOK))
    announced: list[tuple[int, int, int]] = []
    resets: list[int] = []
    model.dataChanged.connect(lambda a, b, _roles: announced.append((a.row(), a.column(), b.column())))
    model.modelReset.connect(lambda: resets.append(1))
    model.rowsInserted.connect(lambda *_: resets.append(2))
    model.rowsRemoved.connect(lambda *_: resets.append(3))
    model.update(sample_of(TRAINING, NOTEBOOK, sequence=2))
    assert announced == []
    busier = replace(NOTEBOOK, uses=(gpu_use(7, 0.0, 61 * GIB, 1),))
    model.update(sample_of(TRAINING, busier, sequence=3))
    assert announced == [(1, Col.MEMORY, Col.MEMORY)]
    assert resets == []


def test_processes_come_and_go_in_place(model: ProcessModel) -> None:
    model.update(sample_of(TRAINING, NOTEBOOK, UNKNOWN, ON_CPU))
    removed: list[tuple[int, int]] = []
    inserted: list[tuple[int, int]] = []
    model.rowsRemoved.connect(lambda _parent, first, last: removed.append((first, last)))
    model.rowsInserted.connect(lambda _parent, first, last: inserted.append((first, last)))
    newcomer = make_process(99, "new")
    model.update(sample_of(newcomer, TRAINING, ON_CPU, sequence=2))
    assert removed == [(1, 2)]
    assert inserted == [(2, 2)]
    assert drawn(model, (Col.NAME,)) == "python\n训练\nnew"


def test_a_recycled_pid_is_another_row(model: ProcessModel) -> None:
    model.update(sample_of(TRAINING))
    removed: list[int] = []
    model.rowsRemoved.connect(lambda *_: removed.append(1))
    model.update(sample_of(replace(TRAINING, started_utc_s=START_UTC_S, name="other"), sequence=2))
    assert removed == [1]
    assert drawn(model, (Col.NAME, Col.PID)) == "other | 41"


@pytest.mark.parametrize(
    ("column", "order", "names"),
    [
        (Col.GPU, Qt.SortOrder.DescendingOrder, "python jupyter 训练 blob"),
        (Col.GPU, Qt.SortOrder.AscendingOrder, "jupyter python 训练 blob"),
        (Col.PID, Qt.SortOrder.AscendingOrder, "jupyter python 训练 blob"),
        (Col.MEMORY, Qt.SortOrder.DescendingOrder, "jupyter python blob 训练"),
        (Col.MEMORY, Qt.SortOrder.AscendingOrder, "blob python jupyter 训练"),
        (Col.CPU, Qt.SortOrder.DescendingOrder, "训练 python blob jupyter"),
        (Col.FRAMEWORK, Qt.SortOrder.AscendingOrder, "python 训练 jupyter blob"),
        (Col.FRAMEWORK, Qt.SortOrder.DescendingOrder, "训练 python jupyter blob"),
    ],
)
def test_numbers_sort_as_numbers_and_missing_ones_come_last_in_both_directions(
    model: ProcessModel, column: Col, order: Qt.SortOrder, names: str
) -> None:
    proxy = ProcessFilter(model, model)
    proxy.sort(column, order)
    model.update(sample_of(TRAINING, NOTEBOOK, UNKNOWN, ON_CPU))
    assert drawn(proxy, (Col.NAME,)).split() == names.split()


def test_the_order_follows_the_values(model: ProcessModel) -> None:
    proxy = ProcessFilter(model, model)
    proxy.sort(Col.MEMORY, Qt.SortOrder.DescendingOrder)
    model.update(sample_of(TRAINING, NOTEBOOK))
    assert drawn(proxy, (Col.NAME,)) == "jupyter\npython"
    model.update(sample_of(TRAINING, replace(NOTEBOOK, uses=(gpu_use(7, 0.0, GIB, 1),)), sequence=2))
    assert drawn(proxy, (Col.NAME,)) == "python\njupyter"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "python jupyter blob 训练"),
        ("PYTORCH", "python"),
        ("mei", "jupyter"),
        ("cpu.py", "训练"),
        ("训", "训练"),
        ("30", "blob"),
        ("python cpu", "训练"),
        ("nothing", ""),
    ],
)
def test_the_search_looks_at_name_pid_command_user_and_framework(model: ProcessModel, text: str, names: str) -> None:
    proxy = ProcessFilter(model, model)
    model.update(sample_of(TRAINING, NOTEBOOK, UNKNOWN, ON_CPU))
    proxy.set_search(text)
    assert drawn(proxy, (Col.NAME,)).split() == names.split()


def test_the_language_changes_every_text(model: ProcessModel) -> None:
    model.update(sample_of(TRAINING))
    messages.set_language("zh_CN")
    model.retranslate()
    assert model.headerData(Col.NAME, Qt.Orientation.Horizontal) == "名称"


def test_after_a_seek_nothing_is_left(model: ProcessModel) -> None:
    model.update(sample_of(TRAINING))
    model.clear()
    assert model.rowCount() == 0
    assert model.index(0, 0) == QModelIndex()
