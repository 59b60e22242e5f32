"""``gpumon diagnose --script`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpumon_gui.cli.main import run

SCRIPTS = Path(__file__).resolve().parents[1] / "data" / "scripts"


def test_the_report_names_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", "--script", str(SCRIPTS / "tf_device_cpu.py")]) == 1
    out = capsys.readouterr().out
    assert "tf_device_cpu.py:5" in out
    assert 'with tf.device("/CPU:0"):' in out
    assert 'with tf.device("/GPU:0"):' in out, "the better form"


def test_json_has_the_line_in_the_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", "--script", str(SCRIPTS / "keras_rnn_slow.py"), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    first = document["findings"][0]
    assert (first["code"], first["confidence"]) == ("rnn-not-using-cudnn-kernel", "high")
    assert {evidence["line"] for evidence in first["evidence"]} == {9, 10, 11}
    assert {evidence["source"] for evidence in first["evidence"]} == {"keras_rnn_slow.py"}


def test_a_good_script_has_no_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", "--script", str(SCRIPTS / "torch_good.py"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_a_device_that_is_the_processor_is_called_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        'import torch\ndevice = "cpu"\nmodel = torch.nn.Linear(10, 10)\nmodel.to(device)\n'
        "opt = torch.optim.SGD(model.parameters(), 0.1)\ntotal = 0\nfor x in range(100):\n"
        "    loss = model(torch.randn(1, 10)).sum()\n    loss.backward()\n    opt.step()\n    total += loss\n",
        encoding="utf-8",
    )
    assert run(["diagnose", "--script", str(script), "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {one["code"] for one in findings} == {"code-runs-on-cpu", "gpu-memory-growing"}
    run(["diagnose", "--script", str(script)])
    assert "The GPU is not used · certain" in capsys.readouterr().out


def test_hints_alone_need_no_action() -> None:
    assert run(["diagnose", "--script", str(SCRIPTS / "torch_no_mixed_precision.py")]) == 0


def test_scripts_log_and_facts_are_judged_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, facts = tmp_path / "x.log", tmp_path / "facts.json"
    log.write_text("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).\n")
    facts.write_text(json.dumps({"schema": "gpumon-facts/1", "os": {"family": "windows"}}))
    names = ("windows_no_guard.py", "visible_devices_hidden.py")
    scripts = [argument for name in names for argument in ("--script", str(SCRIPTS / name))]
    assert run(["diagnose", *scripts, "--log", str(log), "--facts", str(facts), "--json"]) == 1
    codes = {finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert {"driver-too-old", "windows-dataloader-spawn", "cuda-visible-devices-hides-gpu"} <= codes


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"x = (\n", "train.py:1"), (b"\0", "train.py:1"), (b"print 1\n", "train.py:1"), (None, "train.py")],
)
def test_what_is_no_script_is_one_line(
    content: bytes | None, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    if content is not None:
        script.write_bytes(content)
    assert run(["diagnose", "--script", str(script)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert said.err.count("\n") == 1


def test_a_script_is_no_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", "--script", "x.py", "--python", "python3"]) == 2
    assert "--script" in capsys.readouterr().err
