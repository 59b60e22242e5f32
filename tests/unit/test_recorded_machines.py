"""Whole machines as they answered once (tests/machines/*/gateway.jsonl): what is known of them, and what is said.

``GPUMON_UPDATE_MACHINES=1`` writes ``facts.json`` anew; review the difference, never edit it by hand.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gpumon_gui.diagnosis.collect import Options, collect
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.environments.base import Wanted
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.facts_file import parse
from gpumon_gui.diagnosis.finding import Severity, Verdict
from gpumon_gui.diagnosis.recorded_gateway import RecordedGateway
from gpumon_gui.diagnosis.rules.table import RULES

MACHINES = Path(__file__).resolve().parents[1] / "machines"
NAMES = sorted(path.parent.name for path in MACHINES.glob("*/gateway.jsonl"))


def collected(name: str) -> Document:
    return collect(RecordedGateway(MACHINES / name), Options(Wanted()))


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_machine_gives_its_facts(name: str) -> None:
    facts = json.loads(json.dumps(collected(name).facts))
    parse({"schema": "gpumon-facts/1", **facts})
    path = MACHINES / name / "facts.json"
    if os.environ.get("GPUMON_UPDATE_MACHINES"):
        path.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    assert facts == json.loads(path.read_text(encoding="utf-8"))


def test_nothing_is_found_wrong_on_a_server_whose_frameworks_compute() -> None:
    document = collected("h200-torch-linux")
    diagnosis = diagnose(document, RULES)
    assert diagnosis.bugs == ()
    assert [finding.code for finding in diagnosis.findings if finding.severity is not Severity.INFO] == []
    verdicts = {(entry.subject, entry.framework): entry.verdict for entry in diagnosis.verdicts}
    for framework in ("torch", "jax"):
        assert verdicts["/opt/torch/.venv/bin/python", framework] is Verdict.CLAIMED
    (environment,) = (entry for entry in document.facts["environments"] if "torch" in entry["packages"])
    assert "sm_90" in environment["torch"]["arch_list"]
    assert environment["torch"]["first_call_ok"] is True
    assert environment["onnxruntime"]["session_providers"] == ["AzureExecutionProvider", "CPUExecutionProvider"]
