"""Proofs on a real H200, judged again from what the script said and the instruments recorded (tests/gpu/proof.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.diagnosis.proof.claims import Claims, DeviceClaim, Moment, Phase, Run
from gpumon_gui.diagnosis.proof.judge import Outcome, Why, judge
from gpumon_gui.telemetry.recording.open import open_recording

DATA = Path(__file__).parents[1] / "data/proof"


def claims(name: str, **changes: Any) -> Claims:
    said = json.loads((DATA / "h200-claims.json").read_text(encoding="utf-8"))[name]
    devices = []
    for device in said["devices"]:
        phases = tuple(
            Phase(**{**phase, "begin": Moment(**phase["begin"]), "end": Moment(**phase["end"])})
            for phase in device["phases"]
        )
        runs = tuple(Run(**run) for run in device["runs"])
        devices.append(DeviceClaim(**{**device, "phases": phases, "runs": runs}))
    parts = {"devices": tuple(devices), "clock": Moment(**said["clock"]), "cpu": Run(**said["cpu"])}
    return Claims(**{**said, **parts, "pids": frozenset(said["pids"]), **changes})


@pytest.mark.parametrize("name", ["plain", "little-memory"])
def test_what_a_real_gpu_showed(name: str) -> None:
    recording = open_recording(DATA / "h200.gpumon")
    samples = [recording.sample(index) for index in range(len(recording))]
    recording.close()
    proof = judge(claims(name), samples)
    assert (proof.outcome, proof.why) == (Outcome.PROVEN, Why.OWN_WORK)
    # The same claims by a process that never was on the GPU: what the true one did is another's work.
    lie = judge(claims(name, pids=frozenset({999_999})), samples)
    assert (lie.outcome, lie.why) == (Outcome.NOT_SEEN, Why.OTHER_PROCESS)
