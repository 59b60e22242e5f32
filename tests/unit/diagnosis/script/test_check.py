"""The script check against scripts as users write them: each fault with its line, and nothing else."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.facts_file import parse
from gpumon_gui.diagnosis.finding import Confidence, Diagnosis
from gpumon_gui.diagnosis.rules.table import RULES
from gpumon_gui.diagnosis.script import table
from gpumon_gui.diagnosis.script.check import check

SCRIPTS = Path(__file__).resolve().parents[3] / "data" / "scripts"
#: File → code → the lines that its evidence must name. A code that is not listed must not be found.
EXPECTED: dict[str, dict[str, list[int]]] = json.loads((SCRIPTS / "expected.json").read_text(encoding="utf-8"))


@cache
def judged(name: str) -> Diagnosis:
    return diagnose(check(SCRIPTS / name).merge_into(Document()), RULES)


def of_text(tmp_path: Path, text: str, **facts: Any) -> Diagnosis:
    script = tmp_path / "train.py"
    script.write_text(text, encoding="utf-8")
    return diagnose(check(script).merge_into(parse({"schema": "gpumon-facts/1", **facts})), RULES)


def found(diagnosis: Diagnosis) -> dict[str, set[int | None]]:
    return {finding.code: {evidence.origin.line for evidence in finding.evidence} for finding in diagnosis.findings}


def test_each_script_has_its_expectation() -> None:
    files = {path.name for path in SCRIPTS.iterdir() if path.suffix in (".py", ".ipynb")}
    assert files == EXPECTED.keys()
    assert sum(not codes for codes in EXPECTED.values()) >= 20, "near misses"


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_script_has_its_faults_and_no_others(name: str) -> None:
    diagnosis = judged(name)
    assert not diagnosis.bugs
    lines = found(diagnosis)
    assert lines.keys() == EXPECTED[name].keys()
    for code, wanted in EXPECTED[name].items():
        assert set(wanted) <= lines[code], code


@pytest.mark.parametrize("name", sorted(name for name, codes in EXPECTED.items() if codes))
def test_a_finding_names_file_and_line_and_the_better_form(name: str) -> None:
    for finding in judged(name).findings:
        assert finding.advice
        commands = [step.command for step in finding.advice if step.command]
        assert len(set(commands)) == len(commands), "the same code twice"
        for evidence in finding.evidence:
            assert evidence.origin.source.startswith(name)
            assert evidence.origin.line is not None
            assert evidence.value, "the line itself"


def test_every_check_of_the_table_finds_something() -> None:
    from gpumon_gui.diagnosis.script.found import Found
    from gpumon_gui.diagnosis.script.reader import read
    from gpumon_gui.diagnosis.script.seen import Seen
    from gpumon_gui.diagnosis.script.sign import JUDGED

    silent = list(table.CHECKS)
    for name in EXPECTED:
        script = read(SCRIPTS / name)
        for one in tuple(silent):
            signals = Found(script)
            one(Seen(script), signals)
            if any(signal.kind != JUDGED for signal in signals.signals()):
                silent.remove(one)
    assert silent == []


def test_what_the_script_does_right_is_clear() -> None:
    clear = {entry.code for entry in judged("torch_good.py").clear}
    assert {"code-runs-on-cpu", "input-pipeline-bound", "mixed-precision-not-active", "gpu-memory-growing"} <= clear


def test_facts_weigh_what_a_script_shows(tmp_path: Path) -> None:
    text = (SCRIPTS / "windows_no_guard.py").read_text(encoding="utf-8")
    on_windows = of_text(tmp_path, text, os={"family": "windows"}).findings
    assert [(one.severity, one.confidence) for one in on_windows if one.code == "windows-dataloader-spawn"] == [
        ("crashes", "high")
    ]
    assert "windows-dataloader-spawn" not in found(of_text(tmp_path, text, os={"family": "linux"}))


def test_a_card_without_tensor_cores_is_not_told_of_mixed_precision(tmp_path: Path) -> None:
    text = (SCRIPTS / "torch_no_mixed_precision.py").read_text(encoding="utf-8")
    assert "mixed-precision-not-active" in found(of_text(tmp_path, text))
    old = [{"name": "NVIDIA GeForce GTX 1080", "compute_capability": "6.1"}]
    assert "mixed-precision-not-active" not in found(of_text(tmp_path, text, gpus=old))


def test_a_script_alone_is_no_proof_but_what_forces_the_cpu_is_certain() -> None:
    sure = {name: judged(name).findings[0].confidence for name in ("tf_device_cpu.py", "torch_nothing_moved.py")}
    assert sure == {"tf_device_cpu.py": "high", "torch_nothing_moved.py": "medium"}


def test_a_notebook_names_cell_and_line() -> None:
    (finding,) = judged("notebook_too_late.ipynb").findings
    places = {(evidence.origin.source, evidence.origin.line) for evidence in finding.evidence}
    assert places == {("notebook_too_late.ipynb[3]", 1), ("notebook_too_late.ipynb[2]", 5)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import torch\nx = x\ny = z\nz = y\ndevice = device or other\nother = device\ntorch.ones(1).to(device)\n",
        "import torch\ndef f(m):\n    f(m)\nm = torch.nn.Linear(1, 1)\nf(m)\nfor i in f(m):\n    m(i)\n",
        "from torch.utils.data import DataLoader\nd = {**d}\nd.update(d)\nDataLoader(*a, **d)\n",
        "import tensorflow as tf\nds = ds.map(ds)\ntf.data.Dataset.range(3)[0].map()\n",
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] += ',1'\nos.environ.update()\nos.putenv()\n",
        "import torch\nclass A(A, torch.nn.Module): pass\na = A()\na()()()()\n(lambda: a)().to()\n",
        "import torch\nfor x in y: (loss := x).backward()\nmatch x:\n    case [1, *_]: print(loss.item())\n",
        "import jax, onnxruntime, transformers\nonnxruntime.InferenceSession()\ntransformers.pipeline()\n",
    ],
)
def test_odd_scripts_raise_nothing(text: str, tmp_path: Path) -> None:
    assert not of_text(tmp_path, text).bugs


def test_a_copy_that_nobody_takes_leaves_everything_on_the_cpu_and_stops_nothing(tmp_path: Path) -> None:
    diagnosis = of_text(
        tmp_path,
        """import torch
from torch import nn

model = nn.Linear(64, 10)
device = torch.device("cuda")
for epoch in range(3):
    for x, y in torch.utils.data.DataLoader([], batch_size=8):
        x.to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
""",
    )
    (finding,) = (finding for finding in diagnosis.findings if finding.code == "code-runs-on-cpu")
    assert finding.severity == "slows"
    assert {evidence.origin.line for evidence in finding.evidence} == {4, 8}


def test_advice_keeps_the_value_and_the_framework_of_the_script(tmp_path: Path) -> None:
    diagnosis = of_text(
        tmp_path,
        """import os
import tensorflow as tf

x = tf.random.normal((10, 10))
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
with tf.device("/CPU:0"):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x, x[:, :1])
""",
    )
    commands = "\n".join(step.command for finding in diagnosis.findings for step in finding.advice)
    assert '"CUDA_VISIBLE_DEVICES"] = "-1"\nimport tensorflow as tf' in commands
    assert "torch" not in commands


def test_a_second_line_that_keeps_the_script_on_the_cpu_is_no_consequence_of_the_first(tmp_path: Path) -> None:
    diagnosis = of_text(
        tmp_path,
        """import os
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import jax
jax.config.update("jax_platform_name", "cpu")
print(jax.devices())
""",
    )
    codes = {finding.code: finding.symptom_of for finding in diagnosis.findings}
    assert codes == {"cuda-visible-devices-hides-gpu": None, "code-runs-on-cpu": None}


@pytest.mark.parametrize(
    ("name", "confidence"),
    [("torch_stream_sync_each_step.py", Confidence.MEDIUM), ("torch_event_sync_each_step.py", Confidence.LOW)],
)
def test_a_wait_for_a_part_of_the_gpu_is_less_certain(name: str, confidence: Confidence) -> None:
    (finding,) = judged(name).findings
    assert finding.confidence is confidence


@pytest.mark.parametrize(
    ("before", "wait", "is_found"),
    [
        ("s = torch.cuda.current_stream()", "s.synchronize()", True),
        ("from torch.cuda import current_stream", "current_stream().synchronize()", True),
        ("from torch.cuda import synchronize", "synchronize()", True),
        ("s = torch.cuda.Stream()", "s.synchronize()", True),
        ("s = torch.Event('cuda')", "s.synchronize()", True),
        ("", "self.copy_stream.synchronize()", True),
        ("", "self.remote.synchronize()", False),
        ("s = Remote()", "s.synchronize()", False),
        ("s = torch.cuda.Stream()", "s.query()", False),
    ],
)
def test_waits_for_streams_are_seen_through_names(tmp_path: Path, before: str, wait: str, is_found: bool) -> None:
    text = (
        f"import torch\n{before}\nmodel = torch.nn.Linear(2, 2).cuda()\n"
        "with torch.autocast('cuda'):\n"
        "    for x, y in torch.utils.data.DataLoader(data, num_workers=4, pin_memory=True):\n"
        f"        loss = model(x.cuda())\n        loss.backward()\n        {wait}\n"
    )
    assert ("cpu-gpu-sync-each-step" in found(of_text(tmp_path, text))) is is_found
