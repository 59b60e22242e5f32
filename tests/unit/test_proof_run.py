"""A proof from end to end: a real child process, scripted instruments, no process left whatever happens."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.model import DeviceSample, Sample
from gpumon_gui.core.values import Reading
from gpumon_gui.diagnosis.collect import Progress, State
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.environments.base import Environment, Kind
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.finding import Verdict
from gpumon_gui.diagnosis.gateway import Failure, Ran
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.orphans import MARK
from gpumon_gui.diagnosis.probe_scripts import probe
from gpumon_gui.diagnosis.probe_scripts import proof as script
from gpumon_gui.diagnosis.proof.claims import claims_of
from gpumon_gui.diagnosis.proof.evidence import Seen
from gpumon_gui.diagnosis.proof.facts import facts_of
from gpumon_gui.diagnosis.proof.judge import Outcome, Proof, Setting, Why, judge
from gpumon_gui.diagnosis.proof.peaks import peak, peak_at, proportion
from gpumon_gui.diagnosis.proof.run import (
    NoInstruments,
    Options,
    Proven,
    Target,
    prove,
    prove_one,
    targets_of,
    with_proofs,
)
from gpumon_gui.diagnosis.report import text
from gpumon_gui.diagnosis.report.document import report
from gpumon_gui.diagnosis.report.proof import sentences
from gpumon_gui.diagnosis.rules.gpu_claimed_but_not_seen import RULE
from gpumon_gui.diagnosis.rules.table import RULES
from tests.unit.fake_gateway import FakeGateway
from tests.unit.proof_world import Card, claims, said, samples

LIAR = Path(__file__).parents[1] / "gpu/workloads/liar"
QUICK = Options(phase_s=0.1, measure_s=0.01, start_s=30)
posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")


@dataclass
class Scripted:
    """Fifty readings a second of a GPU on which nothing happens."""

    hz: float = 50.0
    begin_s: float = 0.0
    calls: list[str] = field(default_factory=list)

    def start(self, cancel: Event) -> None:
        self.calls.append("start")
        self.begin_s = time.monotonic()

    def samples(self) -> Sequence[Sample]:
        now = SystemClock().now()
        info = Card().info
        count = int((now.monotonic_s - self.begin_s) * self.hz)
        values = {"gpu_utilization": Reading(0.0, "nvml"), "power_w": Reading(80.0, "nvml")}
        found = []
        for number in range(count):
            at_s = self.begin_s + number / self.hz
            utc_s = now.utc_s - now.monotonic_s + at_s
            devices = {info.key: DeviceSample(info.key, values=values)}
            found.append(Sample(number, at_s, utc_s, 1 / self.hz, (info,), devices))
        return found

    def stop(self) -> None:
        self.calls.append("stop")


def liar() -> Target:
    environment = Environment(sys.executable, Kind.VENV, "x", sys.prefix, variables={"PYTHONPATH": str(LIAR)})
    return Target(0, environment, "torch")


def stand_in(folder: Path, body: str) -> Target:
    """An interpreter that is a shell script; ``$2`` is the file for the result."""
    file = folder / "python"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return Target(0, Environment(str(file), Kind.VENV, "x", str(folder)), "torch")


_before: set[int] = set()


@pytest.fixture(autouse=True)
def others() -> None:
    """Proofs that somebody else runs on this machine now are not ours."""
    _before.clear()
    _before.update(left_behind())


def left_behind() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if entry.name.isdecimal() and int(entry.name) not in _before:
            try:
                words = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"{MARK}=".encode() in words and b"PYTHONDONTWRITEBYTECODE=1" in words:
                found.append(int(entry.name))
    return found


def test_a_framework_that_lies_is_claimed_and_not_seen() -> None:
    instruments = Scripted()
    proven = prove_one(LiveGateway(), liar(), instruments, QUICK, Event())
    assert proven.proof.claims.problem == ""
    (device,) = proven.proof.devices
    assert (device.outcome, device.why) == (Outcome.NOT_SEEN, Why.NO_RISE)
    assert device.claim.where == "cuda:0"
    assert all(run.right for run in device.claim.runs)
    assert sum(phase.load for phase in device.claim.phases) == 4
    assert instruments.calls == ["start", "stop"]
    share = device.proportion
    assert share is not None
    assert share.share is not None
    assert share.share > 1.5


def test_a_quarter_of_the_free_memory_is_the_most() -> None:
    assert "share=0.25," in Options(memory_share=0.9).words()
    proven = prove_one(LiveGateway(), liar(), Scripted(), replace(QUICK, memory_share=1.0, repeats=3), Event())
    claim = proven.proof.devices[0].claim
    assert 0 < claim.budget_bytes <= claim.free_bytes // 4


def test_a_cancel_acts_within_half_a_second_and_leaves_nothing() -> None:
    cancel = Event()
    stopped: list[float] = []

    def stop() -> None:
        stopped.append(time.monotonic())
        cancel.set()

    timer = Timer(1.0, stop)
    timer.start()
    told: list[Progress] = []
    try:
        proofs = prove(LiveGateway(), [liar(), liar()], Scripted(), Options(), told.append, cancel)
    finally:
        timer.join()
    assert time.monotonic() - stopped[0] < 0.5
    assert left_behind() == []
    assert [proven.proof.why for proven in proofs] == [Why.CANCELLED]
    assert [progress.state for progress in told] == [State.RUNNING, State.CANCELLED, State.CANCELLED]
    document = Document({"environments": [{"interpreter": {"path": "x"}, "torch": {"version": "2"}}]})
    assert with_proofs(document, proofs).facts == document.facts


@posix
def test_an_interpreter_that_hangs_is_ended(tmp_path: Path) -> None:
    target = stand_in(tmp_path, "sleep 600 & sleep 600")
    options = Options(start_s=0.3, per_gpu_s=0.0)
    proven = prove_one(LiveGateway(), target, NoInstruments(), options, Event())
    assert (proven.proof.outcome, proven.proof.why) == (Outcome.NOT_MEASURED, Why.TIMED_OUT)
    assert left_behind() == []


@posix
@pytest.mark.parametrize(
    "body",
    [
        'head -c 100000 /dev/urandom > "$2"; head -c 100000 /dev/urandom',
        'printf \'{"put": "proof.devices", "value": [1]}\\n{"put": "proof.pid", "value": 1e400}\\n\' > "$2"',
        # Longer than Python reads as a number.
        'printf \'{"put": "proof.devices.%06000d", "value": {"index": 0}}\\n\' 7 > "$2"',
        "exit 3",
        ":",
    ],
)
def test_rubbish_is_no_verdict(body: str, tmp_path: Path) -> None:
    proof = prove_one(LiveGateway(), stand_in(tmp_path, body), NoInstruments(), QUICK, Event()).proof
    assert (proof.outcome, proof.why) == (Outcome.NOT_MEASURED, Why.NO_ANSWER)
    json.dumps(facts_of(proof), allow_nan=False)


@posix
def test_megabytes_of_output_are_dropped(tmp_path: Path) -> None:
    body = 'yes noise | head -c 30000000; yes noise | head -c 30000000 >&2; yes x | head -c 9000000 > "$2"'
    proven = prove_one(LiveGateway(), stand_in(tmp_path, body), NoInstruments(), QUICK, Event())
    assert proven.proof.outcome is Outcome.NOT_MEASURED
    assert len(proven.proof.claims.detail) < 5000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the bound is for Linux")
@pytest.mark.parametrize("body", ["{eat}", "{eat} & wait"])
def test_a_process_that_eats_memory_is_ended(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpumon_gui.diagnosis.children.bound_bytes", lambda: 300_000_000)
    eat = f"{sys.executable} -c 'held = []\nwhile True: held.append(bytes(b\"x\" * 20_000_000))'"
    target = stand_in(tmp_path, f"ulimit -v 8000000\n{body.format(eat=eat)}")
    proof = prove_one(LiveGateway(), target, NoInstruments(), QUICK, Event()).proof
    assert (proof.outcome, proof.why) == (Outcome.NOT_MEASURED, Why.TOO_MUCH_MEMORY)
    assert left_behind() == []
    document, _verdict, _code = judged(proof)
    assert "took more and more main memory" in page(document)


@posix
def test_a_process_that_crashes_fails(tmp_path: Path) -> None:
    proof = prove_one(LiveGateway(), stand_in(tmp_path, "kill -SEGV $$"), NoInstruments(), QUICK, Event()).proof
    assert (proof.outcome, proof.why) == (Outcome.FAILS, Why.CRASHED)


@pytest.mark.parametrize("speed", [5e-324, 1e308])
def test_a_speed_beyond_reason_is_none_and_the_report_can_be_read(speed: float) -> None:
    facts = said()
    facts["proof"]["cpu"]["flops_per_s"] = speed
    facts["proof"]["devices"]["0"]["runs"]["fp32"]["flops_per_s"] = 1e14
    proof = judge(claims_of("torch", facts), samples(Card()))
    assert proof.outcome is Outcome.PROVEN
    made = facts_of(proof)
    json.dumps(made, allow_nan=False)
    assert "times_cpu" not in made["devices"][0]["claimed"]


@pytest.mark.parametrize("busy", [False, True])
def test_a_processor_that_others_had_is_no_measure(busy: bool) -> None:
    facts = said()
    facts["proof"]["cpu"]["busy"] = busy
    made = facts_of(judge(claims_of("torch", facts), samples(Card())))
    assert ("times_cpu" in made["devices"][0]["claimed"]) is not busy
    told = "\n".join(line for group in sentences(made, "PyTorch", "python") for line in group)
    assert ("× this processor" in told) is not busy
    assert ("which was busy with other work: at least" in told) is busy
    alone = "".join(sentences({**made, "verdict": "cpu", "devices": []}, "PyTorch", "python")[0])
    assert ("at least" in alone) is busy


class Slow(script.Backend):
    """Products take ``each`` seconds by a clock of the test; starting some takes ``start_s``, a new size a second."""

    group = 16

    def __init__(self, each: Callable[[int], float], start_s: float) -> None:
        self.now_s, self.each, self.start_s = 0.0, each, start_s
        self.sizes: set[tuple[int, int]] = set()
        self.runs: list[float] = []

    def matrix(self, side: int, precision: str, place: int | None, seed: int) -> Any:
        return side

    def products(self, left: Any, right: Any, times: int, group: int) -> Any:
        assert times % group == 0
        size = (left, group)
        took = 0.0 if size in self.sizes else 1.0
        self.sizes.add(size)
        took += times // group * self.start_s + times * self.each(left)
        self.now_s += took
        self.runs.append(took)
        return left

    def wait(self, result: Any, place: int | None) -> None:
        """It is done."""

    def corner(self, matrix: Any, rows: int, columns: int) -> list[list[float]]:
        return [[1.0] * columns] * rows

    def where(self, result: Any) -> str:
        return "here"


@pytest.mark.parametrize("flops_per_s", [7e14, 1e14, 2e12, 2e10])
def test_neither_compiling_nor_starting_short_products_counts(
    flops_per_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(lambda side: 2.0 * side**3 / flops_per_s, 0.0005)
    monkeypatch.setattr(time, "perf_counter", lambda: slow.now_s)
    run = script.measured(slow, "fp16", 0, 8192, 0.25)
    assert run["flops_per_s"] == pytest.approx(flops_per_s, rel=0.07)
    assert slow.now_s < len(slow.sizes) + 1.2  # compiling, and little else


def test_of_the_processor_the_best_of_several_runs_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = iter([1.0, 1.0, 1.0, 1.0, 3.0, 2.0, 1.0, 9.0, 2.0, *[5.0] * 20])
    slow = Slow(lambda side: next(turns) * 2.0 * side**3 / 5e10, 0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: slow.now_s)
    monkeypatch.setattr(script.Lost, "share", lambda _self: 0.0)
    run = script.measured(slow, "fp32", None, 1024, 0.25)
    assert run["flops_per_s"] == pytest.approx(5e10)
    assert not run["busy"]
    count = len(slow.runs)
    monkeypatch.setattr(script.Lost, "share", lambda _self: 0.5)
    slow.each = lambda side: 2.0 * side**3 / 5e10
    run = script.measured(slow, "fp32", None, 1024, 0.25)
    assert run["busy"]
    assert len(slow.runs) - count == 6 + script.MOST_RUNS  # bounded


@pytest.mark.parametrize(
    ("later", "share"),
    [
        ((8.0, 2.0, 3.0), 0.2),
        ((8.0, 2.0, 0.0), 0.0),  # its own threads waited for each other
        ((0.0, 0.0, 9.0), 0.0),
        ((8.0, -1.0, 3.0), 0.0),  # a thread ended, and what it had waited is gone
        (None, 0.0),
    ],
)
def test_what_others_had_of_the_processor(
    later: tuple[float, float, float] | None, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script.Lost, "_now", staticmethod(lambda: (0.0, 0.0, 0.0)))
    lost = script.Lost()
    monkeypatch.setattr(script.Lost, "_now", staticmethod(lambda: later))
    assert lost.share() == pytest.approx(share)


@pytest.mark.skipif(
    sys.platform != "win32" and not Path("/proc/self/schedstat").exists(), reason="nothing counts the waiting here"
)
def test_this_system_tells_what_others_had_of_the_processor() -> None:
    used, _waited, others = script.Lost._now()
    assert used > 0.0
    assert others > 0.0


def test_more_devices_and_phases_than_there_can_be_are_left_out() -> None:
    facts = said()
    device = facts["proof"]["devices"]["0"]
    device["phases"] = {str(number): device["phases"]["1"] for number in range(5000)}
    facts["proof"]["devices"] = {str(number): device for number in range(500)}
    found = claims_of("torch", facts).devices
    assert [one.index for one in found] == list(range(64))
    assert len(found[0].phases) == 64


def test_progress_counts_targets() -> None:
    gateway = FakeGateway(runs={"/e/bin/python": Ran(None, failure=Failure.TIMED_OUT)})
    environment = Environment("/e/bin/python", Kind.VENV, "e", "/e")
    told: list[Progress] = []
    prove(gateway, [Target(0, environment, name) for name in ("torch", "jax")], NoInstruments(), None, told.append)
    assert [(progress.id, progress.state, progress.done, progress.total) for progress in told] == [
        ("proof-torch", State.RUNNING, 0, 2),
        ("proof-torch", State.TIMED_OUT, 1, 2),
        ("proof-jax", State.RUNNING, 1, 2),
        ("proof-jax", State.TIMED_OUT, 2, 2),
    ]
    assert "proof.py" in gateway.commands[0].words[1]
    assert gateway.commands[1].changes["XLA_PYTHON_CLIENT_ALLOCATOR"] == "platform"


def test_inside_wsl_the_script_and_its_settings_go_in() -> None:
    gateway = FakeGateway("win32", {}, {}, {"wsl.exe -d Ubuntu": ""})
    environment = Environment("/usr/bin/python3", Kind.WSL, "Ubuntu", "/usr", distribution="Ubuntu")
    prove_one(gateway, Target(0, environment, "torch"), NoInstruments(), Options(), Event())
    (command,) = gateway.commands
    assert "def on_device(" in command.input
    assert command.words[-5:-1] == ("/usr/bin/python3", "-", "-", "torch")
    assert command.words[-1].startswith("share=0.25,")
    assert probe.MARK == script.MARK


FACTS = {
    "os": {"family": "linux", "container": "docker"},
    "environments": [
        {
            "interpreter": {"path": "/a/bin/python", "kind": "conda", "name": "a", "prefix": "/a"},
            "torch": {"version": "2.5.1", "import_ok": True, "device_count": 2},
            "tensorflow": {"version": "2.16.1", "import_ok": False},
            "jax": {"version": None},
            "cupy": {"version": "13.0", "import_ok": True, "problem": "crashed"},
        },
        {"interpreter": {"path": "/b/bin/python", "problem": "not-started"}, "torch": {"version": "2.5.1"}},
    ],
}


def test_what_is_worth_a_proof() -> None:
    (target,) = targets_of(Document(FACTS))
    assert (target.framework, target.gpus, target.index) == ("torch", 2, 0)
    assert target.environment == Environment("/a/bin/python", Kind.CONDA, "a", "/a")
    assert target.setting == Setting(container=True)


def judged(proof: Proof, **torch: object) -> tuple[Document, Verdict, str | None]:
    own = {"version": "2.11.0", "import_ok": True, "cuda_available": True, **torch}
    document = Document({"environments": [{"interpreter": {"path": "/e/python", "name": "e"}, "torch": own}]})
    target = Target(0, Environment("/e/python", Kind.VENV, "e", "/e"), "torch")
    document = with_proofs(document, (Proven(target, proof, time_utc_s=1_800_000_000.0),))
    (verdict,) = diagnose(document, RULES).verdicts
    return document, verdict.verdict, verdict.code


def page(document: Document) -> str:
    return text.terminal(report(document, diagnose(document, RULES), RULES, SystemClock().now(), None))


def test_a_proof_becomes_the_verdict_with_both_sides() -> None:
    document, verdict, code = judged(judge(claims(), samples(Card())))
    assert (verdict, code) == (Verdict.PROVEN, None)
    said_here = page(document)
    first = said_here.splitlines()[0]
    assert "PyTorch 2.11.0+cu130 in e computes on GPU 0 (NVIDIA H200) – proven: 600 TFLOP/s in fp16" in first
    assert "50.0 × this processor" in first
    assert "seen by NVML" in first
    assert "61 % of what this card can do in fp16" in said_here
    assert "this process used 100 % of the GPU under load and 0 % at rest" in said_here
    assert "PCI 00000000:01:00.0" in said_here
    assert document.origins["environments.0.torch.proof"].source == "proof"


def test_a_lie_becomes_a_finding() -> None:
    document, verdict, code = judged(judge(claims(), samples(Card(works=False))))
    assert (verdict, code) == (Verdict.CLAIMED, "gpu-claimed-but-not-seen")
    said_here = page(document)
    assert "that was not seen" in said_here
    assert "proven" not in said_here
    assert "gpu-claimed-but-not-seen" in said_here


def test_a_failing_computation_keeps_the_cause_of_the_rules() -> None:
    facts = said()
    device = facts["proof"]["devices"]["0"]
    device.update(problem="failed", error="RuntimeError: CUDA error: no kernel image is available", runs={}, phases={})
    proof = judge(claims_of("torch", facts), ())
    document, verdict, _code = judged(proof, arch_list=["sm_70"], cuda_build="12.8")
    assert verdict is Verdict.FAILS
    assert "fails on GPU 0" in page(document)
    assert "no kernel image" in page(document)


def test_the_error_of_the_script_is_read_like_a_log(tmp_path: Path) -> None:
    lines = [
        {"put": "proof.pid", "value": 1},
        {"put": "proof.devices.0", "value": {"index": 0}},
        {"put": "proof.devices.0.problem", "value": "failed"},
        {
            "put": "proof.devices.0.error",
            "value": "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        },
        {"done": True},
    ]
    result = "".join(json.dumps(line) + "\n" for line in lines).encode()
    gateway = FakeGateway(runs={"/e/python": Ran(0, result=result)})
    target = Target(0, Environment("/e/python", Kind.VENV, "e", "/e"), "torch")
    proven = prove_one(gateway, target, NoInstruments(), QUICK, Event())
    assert proven.proof.outcome is Outcome.FAILS
    assert proven.signals
    document = Document({"environments": [{"interpreter": {"path": "/e/python"}, "torch": {"version": "2"}}]})
    assert with_proofs(document, (proven,)).own_signals[0] == proven.signals


def test_a_framework_without_gpu_is_said_to_compute_on_the_cpu() -> None:
    proof = judge(claims_of("torch", said({}, cpu_reason="cpu-build")), ())
    document, verdict, code = judged(proof, cuda_available=False, cuda_build=None)
    assert (verdict, code) == (Verdict.FAILS, "torch-cpu-only-build")
    assert "computes on the CPU only (1.00 TFLOP/s)" in page(document)


def test_a_damaged_proof_in_a_facts_file_ends_no_report() -> None:
    whole = facts_of(judge(claims(), samples(Card(works=False, others={7: lambda _at: 0.3}))))
    for facts in damaged(whole):
        own = {"version": "2.11.0", "cuda_available": True, "proof": facts}
        document = Document({"environments": [{"interpreter": {"path": "/e/python", "name": "e"}, "torch": own}]})
        diagnosis = diagnose(document, (RULE,))
        assert not diagnosis.bugs
        text.terminal(report(document, diagnosis, (RULE,), SystemClock().now(), None))


def damaged(facts: Any) -> Iterator[Any]:
    """The proof with one value after the other replaced by what does not belong there."""
    for key, value in facts.items():
        others: tuple[Any, ...] = (None, 3, "x", [], {}, [3])
        for other in others:
            yield {**facts, key: other}
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, Mapping):
            for part in damaged(inner):
                yield {**facts, key: [part] if isinstance(value, list) else part}


def test_known_cards_have_a_peak() -> None:
    assert peak("NVIDIA H200", "fp16") == pytest.approx(989.4e12)
    assert peak("NVIDIA H100 80GB HBM3", "tf32") == pytest.approx(494.7e12)
    assert peak("NVIDIA GeForce RTX 4090", "bf16") == pytest.approx(165.2e12)
    assert peak("Tesla T4", "bf16") is None
    assert peak("NVIDIA GeForce RTX 4090 Laptop GPU", "fp16") is None


#: Cores and boost clock as in the whitepapers that gpu_peaks.toml names.
BOOSTS = [
    ("GeForce RTX 2080 Ti", "7.5", 4352, 1545),
    ("GeForce RTX 2070", "7.5", 2304, 1620),
    ("GeForce RTX 3090", "8.6", 10496, 1695),
    ("GeForce RTX 3070", "8.6", 5888, 1725),
    ("GeForce RTX 4090", "8.9", 16384, 2520),
    ("GeForce RTX 4060", "8.9", 3072, 2460),
    ("GeForce RTX 5090", "12.0", 21760, 2407),
]


@pytest.mark.parametrize(("name", "capability", "cores", "boost_mhz"), BOOSTS)
def test_cores_and_clock_make_the_figure_of_the_data_sheet(
    name: str, capability: str, cores: int, boost_mhz: int
) -> None:
    for precision in ("fp32", "tf32", "fp16", "bf16"):
        stated = peak(name, precision)
        reckoned = peak_at(name, capability, cores, boost_mhz, precision)
        assert reckoned == (None if stated is None else pytest.approx(stated, rel=0.02))


def test_a_laptop_card_is_judged_by_its_cores_and_its_highest_clock() -> None:
    name = "NVIDIA GeForce RTX 4060 Laptop GPU"
    facts = said(speed=19e12)
    facts["proof"]["devices"]["0"].update(name=name, compute_capability="8.9")
    claim = claims_of("torch", facts).devices[0]
    assert proportion(claim, Seen()).share is None  # type: ignore[union-attr]
    found = proportion(claim, Seen(cores=3072, clock_max_mhz=3105, clock_mhz=1900, throttle=0x4))
    assert found is not None
    assert found.at_highest_clock
    assert found.share == pytest.approx(19e12 / (4 * 3072 * 3105e6))
    assert found.limit == "power"
    assert peak_at("NVIDIA RTX 3000 Ada Generation Laptop GPU", "8.9", 4608, 2115, "fp16") is None


def test_the_share_of_a_laptop_card_says_which_clock_it_means() -> None:
    expected = {"share": 0.498, "precision": "fp16", "limit": "power", "clock_max_mhz": 3105, "at_highest_clock": True}
    device = {"verdict": "proven", "name": "NVIDIA GeForce RTX 4060 Laptop GPU", "expected": expected}
    lines = [line for group in sentences({"devices": [device]}, "PyTorch", "python") for line in group]
    (share,) = (line for line in lines if "highest clock" in line)
    assert share == (
        "That is 50 % of what this card could do in fp16 at its highest clock (3,105 MHz); "
        "the power limit holds the clocks down, which is normal at full load."
    )
