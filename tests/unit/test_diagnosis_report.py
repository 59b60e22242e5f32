"""What a report says and what it may not say, in every form."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.messages import set_language
from gpumon_gui.core.redact import Private
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import Document, Origin, Signal
from gpumon_gui.diagnosis.logs.reader import read
from gpumon_gui.diagnosis.report import environments, tables, text
from gpumon_gui.diagnosis.report.document import report
from gpumon_gui.diagnosis.report.html import html
from gpumon_gui.diagnosis.rules.table import RULES
from tests.rules.case import load_all

NOW = Instant(0.0, 1_800_000_000.0)
PRIVATE = Private(("李雷",), ("C:\\Users\\李雷",), ("LAB-7",))
FACTS: dict[str, Any] = {
    "os": {"family": "windows", "name": "Windows 11"},
    "environment": {"HF_TOKEN": "hf_secret", "CUDA_PATH": "C:\\CUDA", "MASTER_ADDR": "10.0.0.7"},
    "environments": [
        {
            "interpreter": {"path": "C:\\Users\\李雷\\ml\\python.exe", "version": "3.11.9"},
            "packages": {"torch": "2.5.1+cpu", "nvidia-cublas": "13.1.0.3"},
            "torch": {"version": "2.5.1+cpu", "cuda_build": None, "cuda_available": False, "error": "<b>LAB-7</b>"},
        }
    ],
}


@pytest.fixture
def made() -> dict[str, Any]:
    document = Document(FACTS, origins={"environments.0.torch": Origin("torch probe", time_utc_s=NOW.utc_s)})
    return report(document, diagnose(document, RULES), RULES, NOW, PRIVATE)


def test_the_document_follows_the_schema(made: dict[str, Any]) -> None:
    assert made["schema"] == "gpumon-report/1"
    finding = made["findings"][0]
    assert finding["code"] == "torch-cpu-only-build"
    assert finding["rank"] == 1
    assert finding["subject"] == "~\\folder1\\python.exe"
    assert {"what": "torch.cuda_build", "value": "null", "source": "torch probe"}.items() <= finding["evidence"][
        1
    ].items()
    (verdict,) = [entry for entry in made["verdicts"] if entry["framework"] == "torch"]
    assert (verdict["verdict"], verdict["code"]) == ("fails", "torch-cpu-only-build")
    json.dumps(made)


@pytest.mark.parametrize("form", ["json", "terminal", "markdown", "html"])
def test_nothing_private_is_in_any_form(made: dict[str, Any], form: str) -> None:
    forms: dict[str, Callable[[dict[str, Any]], str]] = {
        "terminal": text.terminal,
        "markdown": text.markdown,
        "html": html,
        "json": json.dumps,
    }
    written = forms[form](made)
    for word in ("李雷", "\\u674e", "LAB-7", "hf_secret", "10.0.0.7"):
        assert word not in written
    assert "2.5.1" in json.dumps(made)


def test_versions_are_no_addresses(made: dict[str, Any]) -> None:
    document = Document({"driver": {"version": "31.0.15.5222"}, "note": "at 31.0.15.52"})
    plain = report(document, diagnose(document, RULES), RULES, NOW, PRIVATE)
    assert plain["facts"]["driver"]["version"] == "31.0.15.5222"
    assert made["facts"]["environments"][0]["packages"]["nvidia-cublas"] == "13.1.0.3"


#: Where the rules' cases speak of somebody's own files.
OWN = ("/home/", "/py/", "C:\\Users\\")


def said_in(finding: dict[str, Any]) -> list[str]:
    """Every text of a finding save what it is about."""
    texts = [finding["title"], *finding["help"].values(), *finding["links"]]
    texts += [text for step in finding["advice"] for text in (step["text"], step["command"])]
    return [*texts, *(evidence["value"] for evidence in finding["evidence"])]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_advice_and_what_it_rests_on_stay(language: str) -> None:
    """Whatever a rule, a remedy or a table of ours names or quotes: hosts, addresses, files, commands, versions."""
    set_language(language)
    try:
        for case in (case for case in load_all() if case.expect == "hit"):
            document = case.document()
            found = diagnose(document, RULES)
            plain, hidden = (report(document, found, RULES, NOW, private) for private in (None, Private()))
            for before, after in zip(plain["findings"], hidden["findings"], strict=True):
                pairs = zip(said_in(before), said_in(after), strict=True)
                assert [pair for pair in pairs if pair[0] != pair[1] and not any(own in pair[0] for own in OWN)] == []
    finally:
        set_language("en")


def test_the_mirror_of_an_advice_stays_and_the_path_in_its_commands_does_not() -> None:
    log = read(b"AssertionError: Torch not compiled with CUDA enabled", "x.txt")
    for facts, python in ((FACTS, "C:\\Users\\user2\\folder1\\python.exe"), ({}, "python")):
        document = log.merge_into(Document(facts))
        made = report(document, diagnose(document, RULES), RULES, NOW, Private())
        commands = [step["command"] for finding in made["findings"] for step in finding["advice"]]
        mirrored = [command for command in commands if " https://mirrors.nju.edu.cn/pytorch/whl/cu" in command]
        assert mirrored[0].split()[0] == python


def test_a_path_with_blanks_and_an_apostrophe_is_hidden_in_a_command_too() -> None:
    path = "/Volumes/Bob's SSD/acme/bin/python"
    torch = {"version": "2.5.1+cpu", "cuda_build": None, "cuda_available": False}
    document = Document({"environments": [{"interpreter": {"path": path, "name": "acme"}, "torch": torch}]})
    made = report(document, diagnose(document, RULES), RULES, NOW, PRIVATE)
    assert "Bob" not in json.dumps(made)
    commands = [step["command"] for finding in made["findings"] for step in finding["advice"] if step["command"]]
    assert any(command.startswith("'/Volumes/folder1/acme/bin/python' -m pip") for command in commands)


@pytest.mark.parametrize("length", range(360, 402, 6))
def test_a_long_line_is_cut_after_what_is_private_was_hidden(length: int) -> None:
    start = "torch.cuda.OutOfMemoryError: CUDA out of memory. "
    line = start + "x" * (length - len(start) - 1) + " robert.miller@acme.com" + " y" * 2000
    document = read(line.encode(), "x.txt").merge_into(Document())
    found = diagnose(document, RULES)
    for private in (None, PRIVATE):
        values = {one["value"] for one in report(document, found, RULES, NOW, private)["findings"][0]["evidence"]}
        assert [len(value) for value in values] == [400]
    assert not any("rob" in value for value in values)


def test_a_line_with_backticks_is_quoted_whole_in_markdown() -> None:
    log = read(b"torch.cuda.OutOfMemoryError: CUDA out of memory. Set `a` or ``b``", "x.txt").merge_into(Document())
    written = text.markdown(report(log, diagnose(log, RULES), RULES, NOW, None))
    assert "- ``` Printed (x.txt:1): torch.cuda.OutOfMemoryError: CUDA out of memory. Set `a` or ``b`` ```\n" in written
    assert tables.quoted("plain") == "`plain`"


def test_html_is_whole_and_escaped(made: dict[str, Any]) -> None:
    class Links(HTMLParser):
        loads: list[str] = []  # noqa: RUF012 - one parser

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.loads += [str(value) for name, value in attrs if name == "src" or (tag == "link" and name == "href")]

    page = html(made)
    parser = Links()
    parser.feed(page)
    assert parser.loads == []
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_both_languages(made: dict[str, Any]) -> None:
    set_language("zh_CN")
    document = Document(FACTS)
    chinese = text.terminal(report(document, diagnose(document, RULES), RULES, NOW, PRIVATE))
    assert chinese != text.terminal(made)


def test_a_healthy_machine_is_told_so() -> None:
    facts = {"torch": {"version": "2.9.1", "cuda_build": "12.8", "cuda_available": True, "device_count": 1}}
    document = Document(facts)
    plain = report(document, diagnose(document, RULES), RULES, NOW, None)
    assert not [finding for finding in plain["findings"] if finding["severity"] != "info"]
    assert "Nothing wrong was found." in text.terminal(plain)
    assert plain["verdicts"][0]["verdict"] == "claimed"


def spoken(facts: dict[str, Any]) -> str:
    document = Document(facts)
    return text.terminal(report(document, diagnose(document, RULES), RULES, NOW, None))


def test_what_could_not_be_checked_is_not_called_healthy() -> None:
    said = spoken({"gpus": [], "environments": [{"interpreter": {"path": "/bin/ls", "problem": "failed"}}]})
    assert "Nothing wrong" not in said
    assert "--python" in said


def test_a_log_that_says_nothing_is_asked_for_more() -> None:
    said = spoken({})
    assert "Nothing wrong" not in said
    assert "nvidia-smi" in said


def test_causes_are_counted_once_and_topics_are_words() -> None:
    bare = [{"interpreter": {"path": f"/{name}/bin/python"}, "packages": {}} for name in "abcdef"]
    said = spoken({"os": {"family": "linux"}, "environments": bare})
    counts = [
        int(line.partition(": ")[2].partition(".")[0]) for line in said.splitlines() if line.startswith("Causes ")
    ]
    assert counts
    assert sum(counts) <= len(RULES)
    assert "the NVIDIA driver" in said
    assert "driver.version" not in said


def test_evidence_of_several_lines_stays_in_its_line() -> None:
    interpreter = {"path": "/bin/ls", "problem": "failed", "problem_detail": "exit code 2\nno such file"}
    said = spoken({"environments": [{"interpreter": interpreter}]})
    assert "exit code 2 no such file" in said


def test_no_gpu_is_the_answer_and_nothing_denies_it() -> None:
    said = spoken({"os": {"family": "linux", "wsl": False}, "gpus": [], "environments": []})
    assert "No GPU was found in this machine" in said
    assert "No cause was found" not in said


@pytest.mark.parametrize("form", [text.terminal, text.markdown])
def test_names_of_others_do_not_steer_the_terminal(form: Callable[[dict[str, Any]], str]) -> None:
    path = "/a\x1b[2J\nb/python"
    torch = {"version": "2.5.1+cpu\x1b[5m", "cuda_build": None, "cuda_available": False}
    document = Document({"environments": [{"interpreter": {"path": path}, "torch": torch}]})
    said = form(report(document, diagnose(document, RULES), RULES, NOW, None))
    assert "\x1b" not in said
    assert "PyTorch in /a\\x1b[2J\\nb/python cannot use the GPU." in said


def test_what_has_a_verdict_is_not_called_unknown(made: dict[str, Any]) -> None:
    (line,) = (line for line in text.summary(made).split("\n") if line.startswith("Causes that could not be judged"))
    assert "PyTorch," not in line
    assert "the program's output" in line


@pytest.mark.parametrize("form", [text.terminal, text.markdown, html])
def test_what_was_given_is_not_called_this_machine(form: Callable[[dict[str, Any]], str]) -> None:
    printed = Signal("torch-no-driver", Origin("train.log", 3), "torch", text="Found no NVIDIA driver on your system.")
    document = Document({}, signals=(printed,))
    shown = form(report(document, diagnose(document, RULES), RULES, NOW, PRIVATE))
    assert "driver-module-not-loaded" in shown
    assert "this machine" not in shown
    assert "give more" in shown


@pytest.mark.parametrize("form", [text.terminal, text.markdown, html])
def test_what_a_log_says_of_its_machine_stands_first(form: Callable[[dict[str, Any]], str]) -> None:
    facts = {"gpus": [{"name": "NVIDIA GeForce RTX 4090"}], "driver": {"version": "535.113.01"}}
    document = Document({**facts, "torch": {"cuda_available": False}}, log_given=True)
    shown = form(report(document, diagnose(document, RULES), RULES, NOW, PRIVATE))
    line = "the log: GPU: NVIDIA GeForce RTX 4090 · Driver version: 535.113.01"
    assert shown.index(line) < shown.index("cannot use the GPU")
    alone = Document(facts)
    assert line not in form(report(alone, diagnose(alone, RULES), RULES, NOW, PRIVATE))


def test_the_parts_of_the_explanation_have_names_in_html(made: dict[str, Any]) -> None:
    page = html(made)
    assert page.index("When this is wrong") < page.index(made["findings"][0]["help"]["wrong"][:20])


def test_a_helper_sees_the_system_first_and_the_steps_are_numbered(made: dict[str, Any]) -> None:
    lines = text.markdown(made).splitlines()
    assert lines[4].startswith("Windows 11 · GPU: —")
    steps = [line.partition(".")[0] for line in lines if line[:1].isdigit()]
    assert steps[:3] == ["1", "2", "3"]
    assert "Windows 11 · GPU: —" in html(made)


@pytest.mark.parametrize("form", [text.terminal, text.markdown, html])
def test_a_python_that_cannot_be_examined_is_not_just_missing(form: Callable[[dict[str, Any]], str]) -> None:
    old = {"path": "/usr/bin/python2", "version": "2.7.18", "problem": "failed"}
    facts = {"environments": [{"interpreter": old}, FACTS["environments"][0]]}
    made = report(Document(facts), diagnose(Document(facts), RULES), RULES, NOW, None)
    assert "Python 2.7.18 in /usr/bin/python2 is too old to be examined" in form(made)


ENVIRONMENTS: dict[str, Any] = {
    "facts": {
        "environments": [
            {"interpreter": {"path": path, "kind": kind, "name": name, "version": "3.11.7"}}
            for path, kind, name in (
                ("/p/bin/python", "pyenv", "3.11.7"),
                ("/p/bin/python3", "venv", "two"),
                ("/a/bin/python", "venv", "ml"),
                ("/c/bin/python", "conda", "two"),
                ("/usr/bin/python", "system", "/usr/bin/python"),
            )
        ]
    }
}


def test_an_environment_is_called_by_its_name_and_by_its_path_where_two_have_one() -> None:
    assert environments.names(ENVIRONMENTS) == {"/p/bin/python": "pyenv 3.11.7", "/a/bin/python": "ml"}
    said = environments.named("In /p/bin/python, /p/bin/python3, /usr/bin/python and /a/bin/python.", ENVIRONMENTS)
    assert said == "In pyenv 3.11.7, /p/bin/python3, /usr/bin/python and ml."
    assert environments.listed(ENVIRONMENTS)[:2] == [
        "pyenv 3.11.7 · Python 3.11.7 · /p/bin/python",
        "Python 3.11.7 · /p/bin/python3",
    ]


@pytest.mark.parametrize("form", [text.terminal, text.markdown, html])
def test_each_form_says_the_name_and_lists_the_path(form: Callable[[dict[str, Any]], str]) -> None:
    interpreter = {"path": "C:\\acme\\.venv\\python.exe", "name": "acme/.venv", "version": "3.11.9"}
    facts = {**FACTS, "environments": [{**FACTS["environments"][0], "interpreter": interpreter}]}
    made = report(Document(facts), diagnose(Document(facts), RULES), RULES, NOW, PRIVATE)
    said = form(made)
    if form is html:
        said = said[: said.index("<summary>All facts")]
    assert "acme" not in said
    assert "PyTorch in folder1/.venv cannot use the GPU." in said
    assert "folder1/.venv · Python 3.11.9 · C:\\folder1\\.venv\\python.exe" in said


def test_evidence_says_where_it_is_from_and_once_where_it_is_the_same() -> None:
    torch = {"what": "torch.version", "value": "2.5.1", "source": "torch"}
    driver = {"what": "driver.version", "value": "550.54", "source": "nvidia-smi"}
    printed = {"what": "torch-no-driver", "value": "no driver", "source": "train.log", "line": 7}
    assert text.evidence_lines([torch, torch])[0] == "Evidence (PyTorch)"
    assert text.evidence_lines([torch, torch])[1][0] == "PyTorch: 2.5.1"
    head, lines = text.evidence_lines([torch, driver, printed])
    assert (head, lines[1]) == ("Evidence", "NVIDIA driver: 550.54 · nvidia-smi")
    assert lines[2] == "Printed (train.log:7): no driver"
    assert text.evidence_lines([torch, torch, driver]) == (
        "Evidence (PyTorch)",
        ["PyTorch: 2.5.1", "PyTorch: 2.5.1", "NVIDIA driver: 550.54 · nvidia-smi"],
    )
    assert text.evidence_lines([printed])[0] == "Evidence"
