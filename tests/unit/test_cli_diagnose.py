"""``gpumon diagnose`` as a user meets it: given facts, given logs, this machine's own interpreter."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gpumon_gui.cli.main import run

TOO_OLD = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).\n"


def test_a_log_is_judged_and_the_line_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "训练.log"
    log.write_text("epoch 1\n" + TOO_OLD, encoding="utf-8")
    assert run(["diagnose", "--log", str(log), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "gpumon-report/1"
    first = document["findings"][0]
    assert (first["code"], first["rank"], first["severity"]) == ("driver-too-old", 1, "blocks")
    assert first["evidence"][0]["line"] == 2
    assert first["advice"]


def test_facts_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"schema": "gpumon-facts/1", "torch": {"version": "2.5.1", "cuda_build": None}}))
    assert run(["diagnose", "--facts", str(facts)]) == 1
    out = capsys.readouterr().out
    assert "torch-cpu-only-build" in out
    assert "pip" in out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"schema": "gpumon-facts/1", "torch": {"arch_list": "sm_86"}}', "torch.arch_list"),
        ("not json", "facts.json:1:1"),
        ('{"schema": "other"}', "gpumon-facts/1"),
    ],
)
def test_a_broken_facts_file_is_one_line(
    content: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(content)
    assert run(["diagnose", "--facts", str(facts)]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--log", "/no/such.log"], "/no/such.log"),
        (["--log", "/"], "/"),
        (["--report", "report.docx"], ".html, .md or .json"),
        (["--python", "/no/such/python"], "/no/such/python"),
        (["--project", "/no/such/folder"], "/no/such/folder"),
        (["--log", "x", "--python", "y"], "judge what is given"),
        (["--facts", "x", "--facts", "y"], "--facts: it can be given only once"),
        (["--profile", "x", "--profile", "y"], "--profile: it can be given only once"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", *arguments]) == 2
    err = capsys.readouterr().err
    assert (str(Path(says)) if says.startswith("/") else says) in err
    assert err.count("\n") == 1


def test_of_two_logs_both_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("AssertionError: Torch not compiled with CUDA enabled\n")
    second.write_text(
        "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update\n"
    )
    assert run(["diagnose", "--log", str(first), "--log", str(second), "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    sources = {evidence["source"] for finding in findings for evidence in finding["evidence"]}
    assert sources >= {"a.txt", "b.txt"}


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_a_report_is_saved_and_redacted(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    log.write_text(f'File "{Path.home()}/train.py"\n' + TOO_OLD)
    target = tmp_path / f"report.{suffix}"
    assert run(["diagnose", "--log", str(log), "--report", str(target)]) == 1
    written = target.read_text(encoding="utf-8")
    assert "driver-too-old" in written
    assert f"{Path.home()}/" not in written
    assert str(target) in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="no limit for files there")
def test_a_disk_that_fills_up_leaves_no_half_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import resource  # POSIX only

    log, target = tmp_path / "x.log", tmp_path / "report.html"
    log.write_text(TOO_OLD)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        code = run(["diagnose", "--log", str(log), "--report", str(target)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code == 2
    assert str(target) in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a device of POSIX")
def test_a_log_that_never_ends_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", "--log", "/dev/zero"]) == 2
    assert capsys.readouterr().err == "gpumon: /dev/zero: is not a regular file.\n"


def test_a_healthy_log_has_no_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "fine.log"
    log.write_text("epoch 1 loss 0.3\nepoch 2 loss 0.2\n")
    assert run(["diagnose", "--log", str(log)]) == 0
    assert capsys.readouterr().out


def test_this_interpreter_is_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["diagnose", "--python", sys.executable, "--json"])
    assert code in (0, 1)
    document = json.loads(capsys.readouterr().out)
    (environment,) = document["facts"]["environments"]
    assert environment["interpreter"]["version"] == sys.version.split()[0]
    assert all(bug["code"] == "" for bug in document["bugs"])


def test_a_search_that_fails_is_not_silent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(*_given: object) -> None:
        raise RuntimeError("no entries")

    monkeypatch.setattr("gpumon_gui.diagnosis.collect.find_environments", fails)
    run(["diagnose", "--json"])
    said = capsys.readouterr()
    json.loads(said.out)
    assert "RuntimeError: no entries" in said.err


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_whose_files_they_were_is_not_in_the_report(suffix: str, tmp_path: Path) -> None:
    folder = tmp_path / "Acme Corp" / "bobby"
    folder.mkdir(parents=True)
    venv = folder / "Big Deal" / ".venv" / "bin" / "python"
    log, script, facts, written = (folder / name for name in ("x.log", "train.py", "facts.json", f"r.{suffix}"))
    log.write_text(f"bobby@deskbox:{folder}$ python x.py\nbobby on deskbox: {TOO_OLD}", encoding="utf-8")
    script.write_text(f"import torch\nroot = {str(folder)!r}\ndevice = 'cpu'  # {folder}\ntorch.ones(3).to(device)\n")
    torch = {
        "version": "2.5.1+cpu",
        "cuda_build": None,
        "cuda_available": False,
        "error": f"{venv}: of bobby@mail.acme.com",
    }
    environment = {"interpreter": {"path": str(venv), "name": "Big Deal/.venv"}, "torch": torch}
    facts.write_text(json.dumps({"schema": "gpumon-facts/1", "environments": [environment]}))
    given = ["--facts", str(facts), "--log", str(log), "--script", str(script)]
    assert run(["diagnose", *given, "--report", str(written)]) == 1
    report = written.read_text(encoding="utf-8")
    assert [word for word in ("Acme", "bobby", "Big Deal", "acme.com", "deskbox") if word in report] == []
    assert "train.py" in report
    assert ".venv" in report
