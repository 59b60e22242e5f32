"""``gpumon diagnose --profile``: what stands in the terminal and in the reports, and how it ends."""

from __future__ import annotations

import json
import os
import pickle
import re
from pathlib import Path

import pytest

from gpumon_gui.cli.main import run
from tests.unit.diagnosis.profiles.files import DATA, event, write

TENSOR_FREE = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_ffma"
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """Ten steps: 700 of each 1000 µs in the data loader, 300 µs on the GPU."""
    events = []
    for step in range(10):
        at = step * 1000
        events += [
            event("user_annotation", LOADER, at, 700),
            event("cpu_op", "aten::mm", at + 700, 20, **{"External id": step}),
            event("kernel", TENSOR_FREE, at + 700, 300, device=0, **{"External id": step}),
        ]
    return write(tmp_path / "trace.json", events)


def test_the_terminal_shows_cause_and_tables(waiting: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", "--profile", str(waiting)]) == 1
    out = capsys.readouterr().out
    assert "input-pipeline-bound" in out
    assert "For 70 % of the profile" in out
    assert "GPU 0: busy 30 %, waiting for copies 0 %, idle 70 %" in out
    for title in ("Top operators by GPU time", "Top kernels", "Longest gaps"):
        assert title in out
    row = next(line for line in out.splitlines() if "aten::mm" in line)
    assert row.split() == ["aten::mm", "10", "3.00", "ms", "100.0", "%"]
    assert "torch.utils.collect_env" not in out, "a profile is not asked for what a log would tell"


@pytest.mark.parametrize("suffix", ["md", "html", "json"])
def test_reports_hold_the_tables(suffix: str, waiting: Path, tmp_path: Path) -> None:
    target = tmp_path / f"report.{suffix}"
    assert run(["diagnose", "--profile", str(waiting), "--report", str(target)]) == 1
    written = target.read_text(encoding="utf-8")
    assert "Top operators by GPU time" in written
    assert "aten::mm" in written
    if suffix == "json":
        section = json.loads(written)["sections"][0]
        assert section["tables"][0]["rows"][0] == ["aten::mm", "10", "3.00 ms", "100.0 %"]


def test_names_from_a_profile_are_only_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "<script>alert(1)</script> | `x` \x1b[31m"
    trace = write(tmp_path / "t.json", [event("kernel", name, 0, 10, device=0), event("cpu_op", name, 0, 20)])
    for suffix in ("html", "md"):
        target = tmp_path / f"r.{suffix}"
        assert run(["diagnose", "--profile", str(trace), "--report", str(target)]) == 0
        written = target.read_text(encoding="utf-8")
        assert "\x1b" not in written
        assert suffix == "md" or "<script>alert" not in written
        assert suffix == "html" or r"</script> \| `x`" in written
    assert "\x1b" not in capsys.readouterr().out


def test_call_sites_are_redacted_in_a_report(tmp_path: Path) -> None:
    frames = [{"name": "step", "filename": f"{Path.home()}/secret/train.py", "line": 3}]
    block = {"size": 1 << 21, "requested_size": 1 << 21, "state": "active_allocated", "frames": frames}
    snapshot = tmp_path / "s.pickle"
    snapshot.write_bytes(pickle.dumps({"segments": [{"device": 0, "total_size": 1 << 21, "blocks": [block]}]}))
    target = tmp_path / "r.md"
    assert run(["diagnose", "--profile", str(snapshot), "--report", str(target)]) == 0
    written = target.read_text(encoding="utf-8")
    assert "Largest live allocations" in written
    assert "train.py:3" in written
    assert f"{Path.home()}/" not in written


def test_a_profile_joins_a_log(waiting: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    log.write_text("UserWarning: User provided device_type of 'cuda', but CUDA is not available. Disabling\n")
    run(["diagnose", "--profile", str(waiting), "--log", str(log), "--json"])
    made = json.loads(capsys.readouterr().out)
    assert "input-pipeline-bound" in [finding["code"] for finding in made["findings"]]
    assert made["facts"]["profile"]["kernel_count"] == 10
    assert len(made["findings"]) > 1


def test_a_report_s_facts_can_be_judged_again(waiting: Path, tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    assert run(["diagnose", "--profile", str(waiting), "--report", str(target)]) == 1
    assert run(["diagnose", "--facts", str(target)]) == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"hello", "neither"),
        (b'{"traceEvents": [', "incomplete"),
        (b"\x80\x04cos\nsystem\n.", "os.system"),
        (b"", "empty"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    assert run(["diagnose", "--profile", str(path)]) == 2
    err = capsys.readouterr().err
    assert str(path) in err
    assert says in err
    assert err.count("\n") == 1


def test_of_a_folder_each_kind_is_read_and_the_rest_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a.trace.json", [event("kernel", "k", 0, 10, device=0)])
    (tmp_path / "memory.pickle").write_bytes((DATA / "h200" / "leak.pickle").read_bytes())
    (tmp_path / "data.pickle").write_bytes(pickle.dumps({"images": [1, 2, 3]}))
    older = tmp_path / "older"
    older.mkdir()
    write(older / "b.trace.json", [event("kernel", "k", 0, 10, device=0)])
    for path, when in ((older, 1_000), (tmp_path / "memory.pickle", 1_000), (tmp_path / "data.pickle", 2_000)):
        os.utime(path, (when, when))
    run(["diagnose", "--profile", str(tmp_path)])
    out = capsys.readouterr().out
    assert "Profile a.trace.json" in out
    assert "Memory snapshot memory.pickle" in out
    assert "Not read, since a newer one was: older/b.trace.json" in out
    assert re.search(r"Not read: .*data\.pickle.* no memory snapshot", " ".join(out.split()))


def test_a_folder_is_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", "--profile", str(DATA / "tensorflow")]) == 0
    assert "TensorFlow" in capsys.readouterr().out
