"""What a person gives, alone and as part of a diagnosis of this machine."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any, NoReturn

import pytest

from gpumon_gui.core.clock import Instant, SystemClock
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.diagnosis.ask import Ask
from gpumon_gui.diagnosis.checking import Cancelled, Step, Tools, check, file_kind
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import Document, Origin
from gpumon_gui.diagnosis.given import Given, attached, combined
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.report import text
from gpumon_gui.diagnosis.report.document import report
from gpumon_gui.diagnosis.rules.table import RULES

TOO_OLD = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update\n"
HERE = Document(
    {
        "os": {"family": "linux"},
        "driver": {"version": "580.1"},
        "environments": [
            {"interpreter": {"path": "/a/bin/python"}, "torch": {"version": "2.5.1"}},
            {"interpreter": {"path": "/b/bin/python"}},
        ],
    },
    origins={"driver": Origin("nvidia-smi")},
)


def test_all_of_it_becomes_one_document(tmp_path: Path) -> None:
    facts, log, script = tmp_path / "facts.json", tmp_path / "x.log", tmp_path / "train.py"
    facts.write_text('{"schema": "gpumon-facts/1", "os": {"family": "windows"}}', encoding="utf-8")
    log.write_text(TOO_OLD, encoding="utf-8")
    script.write_text("import torch\nmodel = torch.nn.Linear(2, 2)\nmodel(torch.zeros(2).cuda())\n", encoding="utf-8")
    document = combined(Given(facts=facts, logs=(log,), log_text="CUDA out of memory", scripts=(script,)))
    assert document.facts["os"]["family"] == "windows"
    assert document.log_given
    assert {signal.origin.source for signal in document.signals} >= {"x.log"}
    assert "driver-too-old" in [finding.code for finding in diagnose(document, RULES).findings]


def test_of_several_logs_all_are_read_and_each_finding_says_which(tmp_path: Path) -> None:
    environment, run, again = tmp_path / "collect.txt", tmp_path / "run.log", tmp_path / "again" / "run.log"
    again.parent.mkdir()
    environment.write_text("PyTorch version: 2.1.0+cu118\nCUDA used to build PyTorch: 11.8\n", encoding="utf-8")
    run.write_text(TOO_OLD, encoding="utf-8")
    again.write_text("RuntimeError: CUDA error: no kernel image is available for execution on the device\n")
    document = combined(Given(logs=(environment, run, again)))
    found = {signal.origin.source for signal in document.signals}
    assert found >= {"run.log", "again/run.log"}
    assert document.origins["torch.version"].source == "collect.txt"


def test_a_missing_log_is_told_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"gone\.log"):
        combined(Given(logs=(tmp_path / "gone.log",)))


def _no_instruments() -> NoReturn:
    raise AssertionError("nothing is computed")


def test_a_check_that_is_cancelled_reads_no_more_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "endless.log"
    with log.open("wb") as file:
        file.truncate(1 << 40)  # a file with a hole: no disk is used
    cancel = Event()
    told: list[float] = []

    def on_step(step: Step) -> None:
        told.append(step.fraction)
        cancel.set()

    ask = Ask(machine=False, given=Given(logs=(log,)))
    tools = Tools(LiveGateway(), _no_instruments, SystemClock())
    with pytest.raises(Cancelled):
        check(ask, tools, on_step, cancel)
    assert told == [0.0]


def test_how_far_a_log_is_read_is_told(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"epoch 1\n" * 400_000)
    told: list[int] = []
    combined(Given(logs=(log,)), look=told.append)
    assert told[0] == 0
    assert told[-1] == log.stat().st_size
    assert told == sorted(told)
    assert len(told) > 3


def test_a_log_joins_the_environment_that_it_is_from() -> None:
    document = attached(HERE, combined(Given(log_text=TOO_OLD)), "/b/bin/python")
    assert len(document.facts["environments"]) == 2
    assert document.own_signals[0] == ()
    assert [signal.kind for signal in document.own_signals[1]] == ["torch-driver-too-old"]
    found = {(finding.code, finding.subject) for finding in diagnose(document, RULES).findings}
    assert ("driver-too-old", "/a/bin/python") not in found
    assert document.facts["driver"] == {"version": "580.1"}


def test_a_log_of_nobody_knows_where_gets_an_entry_of_its_own() -> None:
    document = attached(HERE, combined(Given(log_text=TOO_OLD)), None)
    assert len(document.facts["environments"]) == 3
    assert [bool(own) for own in document.own_signals] == [False, False, True]
    assert [view.subject for view in document.views()] == ["machine", "/a/bin/python", "/b/bin/python", "environment"]


def test_what_was_found_here_counts_before_what_a_log_says() -> None:
    more = Document(
        {"torch": {"version": "1.0", "cuda_build": "11.8"}, "driver": {"version": "1"}, "profile": {"file": "t"}},
        origins={"torch": Origin("log"), "driver": Origin("log"), "profile": Origin("t")},
        log_given=True,
    )
    document = attached(HERE, more, "/a/bin/python")
    own = document.facts["environments"][0]
    assert own["torch"] == {"version": "2.5.1", "cuda_build": "11.8"}
    assert "driver" not in own
    assert document.origins["environments.0.profile"] == Origin("t")
    assert document.log_given


OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB "
    "of which 600.00 MiB is free. {process}Of the allocated memory 21.00 GiB is allocated by PyTorch, and 500.00 MiB "
    "is reserved by PyTorch but unallocated.\n"
)
STATED = "Including non-PyTorch memory, this process has 22.50 GiB memory in use. "
NO_GPU: dict[str, Any] = {"os": {"family": "linux"}, "gpus": [], "driver": {}}
RTX = {"vendor": "nvidia", "name": "NVIDIA GeForce RTX 4090", "memory_total_bytes": 24564 << 20}
SMALL_RTX = {**RTX, "memory_total_bytes": 8 << 30}
RADEON = {"vendor": "amd", "name": "AMD Radeon RX 7900 XTX", "memory_total_bytes": 24 << 30}
INTEL = {"vendor": "intel", "name": "Intel Arc Graphics"}
ONE_GPU: dict[str, Any] = {
    "os": {"family": "linux"},
    "gpus": [RTX],
    "driver": {"version": "580.1", "nvidia_smi_works": True},
}
TRACEBACK = 'Traceback (most recent call last):\n  File "{file}", line 3, in f\nRuntimeError: CUDA out of memory\n'
WINDOWS_FILE = r"C:\Users\ada\env\Lib\site-packages\torch\nn.py"


@pytest.mark.parametrize(
    ("here", "log", "what"),
    [
        (NO_GPU, OUT_OF_MEMORY.format(process=STATED), ["gpu_memory"]),
        (ONE_GPU, OUT_OF_MEMORY.format(process=STATED), []),
        (
            {**ONE_GPU, "gpus": [SMALL_RTX]},
            OUT_OF_MEMORY.format(process=""),
            ["gpu_memory"],
        ),
        ({**ONE_GPU, "gpus": [{**RTX, "mig_mode": "Enabled"}]}, OUT_OF_MEMORY.format(process=""), []),
        ({**NO_GPU, "os": {"family": "linux", "container": "docker"}}, OUT_OF_MEMORY.format(process=""), []),
        ({**NO_GPU, "driver": {"version": "580.1"}}, OUT_OF_MEMORY.format(process=""), []),  # a lost card
        ({**NO_GPU, "gpus": [RADEON]}, OUT_OF_MEMORY.format(process="").replace("CUDA", "HIP"), []),
        ({**ONE_GPU, "gpus": [SMALL_RTX, RADEON]}, OUT_OF_MEMORY.format(process="").replace("CUDA", "HIP"), []),
        ({**ONE_GPU, "gpus": [SMALL_RTX, INTEL]}, OUT_OF_MEMORY.format(process=""), ["gpu_memory"]),
        ({**NO_GPU, "gpus": [INTEL]}, OUT_OF_MEMORY.format(process=""), []),  # of a size that nobody knows
        (NO_GPU, "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-7e6d3ba2-7a55-4a2e-a9b3-0a0c0b0d0e0f)\n", ["gpu"]),
        (ONE_GPU, "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-7e6d3ba2-7a55-4a2e-a9b3-0a0c0b0d0e0f)\n", ["gpu"]),
        (ONE_GPU, "GPU 0: NVIDIA GeForce RTX 4090 (UUID: GPU-7e6d3ba2-7a55-4a2e-a9b3-0a0c0b0d0e0f)\n", []),
        (ONE_GPU, TRACEBACK.format(file=WINDOWS_FILE), ["system"]),
        ({"os": {"family": "linux", "wsl": True}}, TRACEBACK.format(file=WINDOWS_FILE), []),
        ({"os": {"family": "windows"}}, TRACEBACK.format(file="/usr/lib/python3.11/site-packages/a.py"), []),  # WSL
    ],
)
def test_a_log_of_another_machine_is_told_from_one_of_this(here: dict[str, Any], log: str, what: list[str]) -> None:
    document = attached(Document({**here, "environments": []}), combined(Given(log_text=log)), None)
    assert [one["what"] for one in document.facts["given"].get("elsewhere", ())] == what


def test_what_is_here_instead_is_said_of_any_maker() -> None:
    log = combined(Given(log_text="GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-7e6d3ba2-7a55-4a2e-a9b3-0a0c0b0d0e0f)\n"))
    document = attached(Document({**NO_GPU, "gpus": [RADEON], "environments": []}), log, None)
    (difference,) = document.facts["given"]["elsewhere"]
    assert (difference["there"], difference["here"]) == ("NVIDIA A100-SXM4-40GB", "AMD Radeon RX 7900 XTX")


def _told(document: Document) -> str:
    return text.terminal(report(document, diagnose(document, RULES), RULES, Instant(0.0, 0.0), None))


def test_what_a_log_shows_is_said_of_the_log() -> None:
    log = combined(Given(log_text=OUT_OF_MEMORY.format(process=STATED)))
    told = _told(attached(Document({**NO_GPU, "environments": []}), log, None))
    assert "oom-genuine · Crashes · certain · a log from another machine" in told
    assert (
        "The log comes from another machine, or from before this one was changed: GPU memory 23.6 GB (here: none)"
        in told
    )
    document = attached(Document({**ONE_GPU, "environments": []}), log, None)
    assert "oom-genuine · Crashes · certain · the log" in _told(document)
    assert {one.subject for one in diagnose(document, RULES).findings} == {"machine"}  # the contract of the JSON form


ELSEWHERE = """OS: Microsoft Windows 11 Pro
PyTorch version: 2.1.0+cpu
CUDA used to build PyTorch: None
Is CUDA available: False
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 3060
"""


def test_what_is_wrong_here_explains_no_log_of_another_machine() -> None:
    log = combined(Given(log_text="Collecting environment information...\n" + ELSEWHERE))
    driver = {"nvidia_smi_found": False, "kernel_module_loaded": False}
    here = {**NO_GPU, "driver": driver, "environments": HERE.facts["environments"][1:]}
    document = attached(Document(here), log, "/b/bin/python")
    findings = [(one.code, one.severity.value) for one in diagnose(document, RULES).findings]
    assert findings == [("torch-cpu-only-build", "blocks"), ("no-gpu-in-this-machine", "info")]
    told = _told(document)
    assert "PyTorch in a log from another machine cannot use the GPU." in told
    assert "Operating system Windows (here: Linux), GPU NVIDIA GeForce RTX 3060 (here: none)" in told


def test_what_this_machine_shows_too_is_said_of_it() -> None:
    told = _told(attached(HERE, combined(Given(log_text=TOO_OLD)), None))
    assert "driver-too-old" in told
    assert "comes from another machine" not in told


def test_what_a_process_holds_is_only_what_the_message_says() -> None:
    for process, held in ((STATED, "22.5 GB"), ("", "21.5 GB")):
        document = combined(Given(log_text=OUT_OF_MEMORY.format(process=process)))
        finding = diagnose(document, RULES).findings[0]
        assert finding.values["held"] == held


def test_nothing_given_changes_nothing() -> None:
    assert attached(HERE, combined(Given()), None) is HERE
    assert Given().is_empty


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("train.py", "", "script"),
        ("Train.IPYNB", "{}", "script"),
        ("trace.json", '{"traceEvents": []}', "profile"),
        ("facts.json", '{"schema": "gpumon-facts/1"}', "facts"),
        ("report.json", '{\n "schema": "gpumon-report/1"}', "facts"),
        ("x.xplane.pb", "", "profile"),
        ("snapshot.pickle", "", "profile"),
        ("output.txt", "", "log"),
        ("nohup.out", "", "log"),
    ],
)
def test_dropped_files_are_told_apart_by_name_and_head(name: str, content: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert file_kind(tmp_path / name) == kind


def test_what_an_environment_shares_with_the_machine_keeps_its_origin() -> None:
    views = {view.subject: view for view in HERE.views()}
    assert views["/a/bin/python"].origin("driver.version") == Origin("nvidia-smi")
    assert views["/a/bin/python"].origin("torch.version") == Origin("facts")
