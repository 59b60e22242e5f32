"""What a user gets for a facts document: the facts, or one line that says what is wrong and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.diagnosis.facts import SCHEMA, UNKNOWN, Document, View
from gpumon_gui.diagnosis.facts_file import load, parse
from tests.wording import no_such_file


def facts(**keys: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, **keys}


def nested(levels: int) -> Any:
    value: Any = 1
    for _level in range(levels):
        value = [value]
    return value


def only_view(document: Document) -> View:
    (view,) = document.views()
    return view


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"torch": {"arch_list": "sm_80"}}, "torch.arch_list: expected a list of strings"),
        ({"torch": {"arch_list": ["sm_80", 90]}}, "torch.arch_list: expected a list of strings"),
        ({"torch": {"cuda_available": "no"}}, "torch.cuda_available: expected true or false"),
        ({"torch": {"cuda_build": 12.1}}, "torch.cuda_build: expected a text"),
        ({"torch": "2.5"}, "torch: expected an object"),
        ({"gpus": {"name": "A100"}}, "gpus: expected a list of objects"),
        ({"gpus": [{}, {"compute_capability": 8.6}]}, "gpus[1].compute_capability: expected a text"),
        ({"gpus": ["A100"]}, "gpus[0]: expected an object"),
        ({"gpus": [{"memory_total_gib": "24 GB"}]}, "gpus[0].memory_total_gib: expected a number"),
        ({"gpus": [{"memory_total_bytes": float("nan")}]}, "gpus[0].memory_total_bytes: expected a number"),
        ({"host": {"memory_total_bytes": 10**400}}, "host.memory_total_bytes: expected a number"),
        ({"future": [{"share": float("nan")}]}, "future[0].share: expected a number"),
        ({"gpu_count": 10**400}, "gpu_count: expected a number"),
        ({"future": {"key": nested(200)}}, "future: nested too deeply"),
        ({"gpu_count": True}, "gpu_count: expected a whole number, not negative"),
        ({"gpu_count": -1}, "gpu_count: expected a whole number, not negative"),
        ({"os": {"container": 1}}, "os.container: expected true, false or a text"),
        ({"packages": {"numpy": 2}}, "packages.numpy: expected a text"),
        ({"packages": ["numpy"]}, "packages: expected an object of names and texts"),
        (
            {"environments": [{"torch": {"warnings": "none"}}]},
            "environments[0].torch.warnings: expected a list of strings",
        ),
        ({"toolkit": {"cudnn_copies": [{"path": 1}]}}, "toolkit.cudnn_copies[0].path: expected a text"),
        ({"environments": [{"interpreter": {"bits": 64.0}}]}, "environments[0].interpreter.bits: expected a whole"),
    ],
)
def test_a_wrong_type_names_its_path(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        parse(facts(**keys))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("value", [None, [], "facts", 3, {}, {"schema": "gpumon-facts/2"}, {"schema": 1}])
def test_another_kind_of_document_is_named(value: object) -> None:
    with pytest.raises(UnreadableInput):
        parse(value)


def test_versions_in_prose_are_no_error() -> None:
    view = only_view(
        parse(
            facts(
                interpreter={"version": "3.8 (conda)"},
                torch={"version": "<=2.3.1"},
                packages={"tensorflow": "installed"},
                os={"container": "podman"},
            )
        )
    )
    assert view.version("interpreter.version") == (3, 8)
    assert view.version("torch.version") is None
    assert view.text("packages.tensorflow") == "installed"


def test_null_is_a_value_and_absence_is_unknown() -> None:
    view = only_view(parse(facts(torch={"cuda_build": None}, driver={"version": None})))
    assert view.get("torch.cuda_build") is None
    assert view.get("driver.version") is None
    assert view.get("torch.hip_build") is UNKNOWN


def test_unknown_keys_are_kept() -> None:
    document = parse(facts(torch={"magma": "2.6"}, future={"key": [1, None, {"a": 2}]}))
    assert document.facts == {"torch": {"magma": "2.6"}, "future": {"key": [1, None, {"a": 2}]}}


def test_what_people_say_never_reaches_the_rules() -> None:
    words = {"observed": {"gpu_util": 0}, "other": {"torch_build": "CPU-only"}, "framework": "torch"}
    document = parse(facts(**words, gpu_count=1, environments=[{**words, "torch": {"version": "2.5"}}]))
    assert document.facts == {"gpu_count": 1, "environments": [{"torch": {"version": "2.5"}}]}


def test_a_saved_report_is_read_by_its_facts() -> None:
    report = {"schema": "gpumon-report/1", "verdicts": [], "facts": {"gpu_count": 2}}
    assert parse(report).facts == {"gpu_count": 2}


TOO_OLD = "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040)."


def test_what_a_program_printed_is_read_like_a_log() -> None:
    document = parse(facts(torch={"warnings": [TOO_OLD]}, os={"family": "linux"}))
    (signal,) = only_view(document).signals("torch-driver-too-old")
    assert signal.origin.source == "torch.warnings"
    assert signal.framework == "torch"
    assert not document.log_given


def test_what_an_environment_printed_stays_its_own() -> None:
    document = parse(
        facts(
            environments=[{"interpreter": {"path": "/a"}}, {"interpreter": {"path": "/b"}, "torch": {"error": TOO_OLD}}]
        )
    )
    seen = {view.subject: len(view.signals("torch-driver-too-old")) for view in document.views()}
    assert (seen["/a"], seen["/b"]) == (0, 1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_in_the_encodings_editors_and_shells_write(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "事实.json"
    path.write_text(json.dumps(facts(os={"name": "Windows 11 家庭版"}), ensure_ascii=False), encoding=encoding)
    assert load(path).facts == {"os": {"name": "Windows 11 家庭版"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"schema": "gpumon-facts/1",\n  "gpus": [}', "{path}:2:12: not JSON: Expecting value"),
        (b"", "{path}:1:1: not JSON: Expecting value"),
        (b'{"schema": "gpumon-facts/1", "gpus": 3}', "{path}: gpus: expected a list of objects"),
        (b"[" * 200_000, "{path}: not a facts document."),
        (b"\x80\x81", "{path}: not a text file."),
        (b"\xff\xfe\x00", "{path}: not a text file."),
    ],
)
def test_a_broken_file_gives_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "facts.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableInput) as caught:
        load(path)
    assert str(caught.value) == message.format(path=path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    with pytest.raises(UnreadableInput) as caught:
        load(path)
    assert str(caught.value) == f"{path}: cannot be read ({no_such_file()})."
