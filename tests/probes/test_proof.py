"""Proof in real environments of this machine: frameworks that have only the processor say so, with the reason."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from threading import Event

import pytest

from gpumon_gui.cli.main import run
from gpumon_gui.diagnosis.collect import Options, collect
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.environments.base import Environment, Kind, Wanted
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.finding import Verdict
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.probe_scripts import proof as script
from gpumon_gui.diagnosis.proof.judge import Outcome, Why
from gpumon_gui.diagnosis.proof.proved import proved
from gpumon_gui.diagnosis.proof.run import Options as ProofOptions
from gpumon_gui.diagnosis.proof.run import Target, prove_one
from gpumon_gui.diagnosis.rules.table import RULES
from gpumon_gui.telemetry.instruments import LiveInstruments
from tests.probes import building

pytestmark = pytest.mark.timeout(building.TIMEOUT_S)

LIAR = Path(__file__).parents[1] / "gpu/workloads/liar"


def python(name: str) -> str:
    try:
        return str(building.made(name))
    except building.NoPython as missing:
        pytest.skip(str(missing))
    except subprocess.CalledProcessError:
        pytest.fail(f"the environment {name} could not be made")


def looked(name: str) -> Document:
    """The environment of that recipe, put to the proof."""
    gateway = LiveGateway()
    document = collect(gateway, Options(Wanted((python(name),), everywhere=False)))
    return proved(gateway, document, LiveInstruments, lambda _progress: None, Event())


@pytest.mark.parametrize(
    ("name", "framework", "code"),
    [("torch-cpu", "torch", "torch-cpu-only-build"), ("tensorflow-cpu", "tensorflow", "tf-cpu-only-build")],
)
def test_a_cpu_build_computes_on_the_cpu_and_says_why(name: str, framework: str, code: str) -> None:
    document = looked(name)
    (environment,) = document.facts["environments"]
    proof = environment[framework]["proof"]
    assert (proof["verdict"], proof["why"]) == ("cpu", "cpu-build")
    assert proof["cpu"]["right"]
    assert proof["cpu"]["error"] < proof["cpu"]["tolerance"]
    assert proof["cpu"]["flops_per_s"] > 1e8
    diagnosis = diagnose(document, RULES)
    assert code in {finding.code for finding in diagnosis.findings}
    verdicts = {verdict.framework: verdict for verdict in diagnosis.verdicts}
    # What is said first: where there is no card, no other build would help.
    assert (verdicts[framework].verdict, verdicts[framework].code) == (Verdict.FAILS, diagnosis.findings[0].code)


@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="about a machine without an NVIDIA driver")
@pytest.mark.parametrize(("name", "framework"), [("torch-cuda", "torch"), ("tensorflow-cuda", "tensorflow")])
def test_a_gpu_build_without_a_gpu_computes_on_the_cpu(name: str, framework: str) -> None:
    (environment,) = looked(name).facts["environments"]
    proof = environment[framework]["proof"]
    assert (proof["verdict"], proof["why"]) == ("cpu", "no-gpu-seen")
    assert proof["cpu"]["right"]


@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="about a machine without an NVIDIA driver")
def test_jax_has_a_cpu_and_cupy_has_none() -> None:
    (environment,) = looked("jax-cupy").facts["environments"]
    assert environment["jax"]["proof"]["verdict"] == "cpu"
    assert environment["cupy"]["proof"]["verdict"] == "fails"
    assert "cudaError" in environment["cupy"]["proof"]["error"]


GROUP = """
import sys
sys.path.insert(0, sys.argv[1])
import proof
jax = proof.Jax()
left, right = (jax.matrix(512, "fp32", None, seed) for seed in (1, 2))
jax.set_precision("fp32")
one, many = jax.product(left, right), jax.products(left, right, 2 * jax.group, jax.group)
assert (one == many).all()
times = [proof.timed(jax, left, right, None, jax.group, group)[0] for group in (jax.group, 1) * 5]
assert min(times[::2]) > 0.5 * min(times[1::2]), times
"""


def test_jax_computes_each_product_of_a_group() -> None:
    """A compiler that saw that they are alike would compute one."""
    command = [python("jax-cupy"), "-c", GROUP, str(Path(script.__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scenario", ["idle-holding", "one-gpu-training", "eight-gpus"])
def test_a_framework_that_lies_is_not_seen_by_instruments(scenario: str) -> None:
    """The stub says that it computes on the card at 0000:01:00.0; the synthetic machine has one there, with others'
    work on it."""
    environment = Environment(python("torch-cpu"), Kind.VENV, "x", "", variables={"PYTHONPATH": str(LIAR)})
    instruments = LiveInstruments(scenario=scenario)
    try:
        proven = prove_one(LiveGateway(), Target(0, environment, "torch"), instruments, ProofOptions(), Event())
    finally:
        instruments.close()
    (device,) = proven.proof.devices
    assert device.outcome is Outcome.NOT_SEEN
    assert device.why is not Why.NO_INSTRUMENT
    assert device.seen.device is not None
    assert device.seen.samples > 20


@pytest.mark.parametrize("options", [(), ("--no-proof",)])
def test_diagnose_proves_unless_told_not_to(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(LIAR / "torch", tmp_path / "torch")  # what lies in this program's own folder is no user's
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run(["diagnose", "--python", python("torch-cpu"), "--json", *options])
    document = json.loads(capsys.readouterr().out)
    (verdict,) = [entry for entry in document["verdicts"] if entry["framework"] == "torch"]
    assert verdict["verdict"] == "claimed"
    (environment,) = document["facts"]["environments"]
    if options:
        assert "proof" not in environment["torch"]
        assert "proof" not in verdict
    else:
        assert environment["torch"]["proof"]["verdict"] == "not-seen"
        assert "that was not seen" in verdict["proof"][0][0]
        assert "gpu-claimed-but-not-seen" in {finding["code"] for finding in document["findings"]}
