"""Damaged, foreign and hostile files: one line that names the file and the place, and no more memory than needed."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.diagnosis.profiles import json_events, opening
from gpumon_gui.diagnosis.profiles.read import read
from gpumon_gui.telemetry.recording.schema import RECORDING
from tests.unit.diagnosis.profiles.files import DATA, event, profile, write

RECORDED = RECORDING.application_id.to_bytes(4, "big")

TRACE = json.dumps(
    {"traceEvents": [event("kernel", "k", 0, 10, device=0), event("cpu_op", "aten::mm", 0, 20)]}
).encode()


class Runs:
    """A pickle that runs a program when it is read carelessly."""

    def __reduce__(self) -> Any:
        return os.system, ("echo hacked > hacked.txt",)


def nested(depth: int) -> bytes:
    return b'{"traceEvents": [' + b"[" * depth + b"]" * depth + b"]}"


BROKEN: tuple[tuple[str, bytes, tuple[str, ...]], ...] = (
    ("empty", b"", ("the file is empty",)),
    ("cut in an event", TRACE[:60], ("ends too early", "incomplete")),
    ("cut between events", TRACE[: TRACE.index(b"}, {") + 2], ("ends too early", "after 1 events")),
    ("no JSON in line 3", b'{"traceEvents": [\n{"ph": "M"},\n{"ph": oops}]}', (":3:", "after 1 events", "Expecting")),
    ("a missing comma", b'{"traceEvents": [{"ph": "M"}\n{"ph": "M"}]}', (":2:", "comma")),
    ("other JSON", b'{"schema": "gpumon-facts/1", "gpus": [1, 2, {"a": null}]}', ("no traceEvents",)),
    ("events that are no list", b'{"traceEvents": {"a": 1}}', ("not a list",)),
    ("only events without time", b'{"traceEvents": [{"ph": "X", "name": "k"}]}', ("no events with a time",)),
    ("no event at all", b'{"traceEvents": []}', ("no events with a time",)),
    ("nested without end", nested(1_000_000), ("nested too deeply", "a.json:1:")),
    ("nested and never closed", b'{"traceEvents": [' + b"[" * 1_000_000, ("nested too deeply",)),
    ("an endless text", b'{"traceEvents": [{"name": "' + b"a" * (18 << 20), ("16 MB",)),
    ("a number of many digits", b'{"traceEvents": [{"ts": ' + b"1" * 10_000 + b"}]}", ("broken",)),
    ("UTF-16 without a mark", TRACE.decode().encode("utf-16-le"), ("broken", "a.json:1:")),
    ("plain text", b"Epoch 1: loss 0.3\n", ("neither a profiler trace",)),
    ("a picture", b"\x89PNG\r\n\x1a\n" + bytes(100), ("neither a profiler trace",)),
    ("Nsight's database", b"SQLite format 3\x00" + bytes(100), ("Nsight",)),
    ("our recording", b"SQLite format 3\x00" + bytes(52) + RECORDED + bytes(50), ("recording of GPUMon", "--replay")),
    ("a saved model", b"PK\x03\x04" + bytes(100), ("zip",)),
    ("gzip cut", gzip.compress(TRACE)[:-12], ("ends too early",)),
    ("gzip damaged", gzip.compress(TRACE * 9)[:40] + b"\xff" * 60, ("the compressed file",)),
    ("gzip with a wrong sum", gzip.compress(TRACE[:-1])[:-8] + bytes(8), ("damaged",)),
    ("a pickle that runs a program", pickle.dumps(Runs()), ("refused", "system")),
    ("a pickle of a class", pickle.dumps({"segments": Path("x")}), ("refused", "pathlib")),
    ("a pickle with an old global", b"\x80\x02cos\nsystem\n(S'ls'\ntR.", ("refused", "os.system")),
    ("a pickle with an extension", b"\x80\x02\x82\x01.", ("damaged",)),
    ("a pickle with a persistent id", b"\x80\x04\x8c\x01aQ.", ("refused", "persistent")),
    ("a pickle that claims 1 TB", b"\x80\x04\x8e" + (1 << 40).to_bytes(8, "little") + b"abc", ()),
    ("a pickle cut", pickle.dumps({"segments": [{"blocks": list(range(1000))}]})[:-50], ("ends too early",)),
    ("another pickle", pickle.dumps([1, 2, 3]), ("no segments",)),
    ("a pickle of text", pickle.dumps("hello"), ("no segments",)),
    ("XSpace cut", (DATA / "tensorflow" / "tf-2.21.xplane.pb").read_bytes()[:100_000], ("XSpace", "byte")),
    ("bytes like XSpace", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", ("XSpace",)),
    ("an XSpace of nothing", b"\x0a\x00", ("no",)),
)  # fmt: skip


@pytest.mark.parametrize(("content", "says"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_one_line_that_names_file_and_place(content: bytes, says: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableInput) as caught:
        read(path)
    message = str(caught.value)
    assert "a.json" in message
    assert "\n" not in message
    assert [part for part in says if part not in message] == []
    assert not Path("hacked.txt").exists()


def test_missing_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"no\.json"):
        read(tmp_path / "no.json")
    with pytest.raises(UnreadableInput, match="no profile in this folder"):
        read(tmp_path)


@pytest.mark.parametrize("encode", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(encode: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(TRACE.decode().encode(encode))
    assert profile(path)["kernel_count"] == 1


def test_a_bare_list_may_lack_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    whole = json.dumps([event("kernel", "k", 0, 10, device=0), event("kernel", "k", 20, 10, device=0)]).encode()
    for content in (whole, whole[:-1], whole[:-1] + b",\n"):
        path.write_bytes(content)
        assert profile(path)["kernel_count"] == 2


def test_what_stands_behind_the_events_does_not_matter(tmp_path: Path) -> None:
    r"""Old versions on Windows wrote ``"traceName": "C:\Users…"`` without escaping it."""
    path = tmp_path / "a.json"
    path.write_bytes(TRACE[:-1] + b',"traceName": "C:\\Users\\x\\trace.json"}')
    assert profile(path)["kernel_count"] == 1


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_values_may_lie_across_the_windows_of_the_reader(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_events, "_CHUNK", size)
    name = 'a "quoted" \\ name, snow: ☃ 雪'
    path = tmp_path / "a.json"
    events = [event("cpu_op", name, 1.25, 1e2, number=-1.5e-3, flag=True, none=None) for _ in range(5)]
    path.write_text(json.dumps({"first": 12, "traceEvents": events}, ensure_ascii=False), encoding="utf-8")
    monkeypatch.setattr(json_events, "HEADER", {"first"})
    with opening.content(path) as source:
        reader = json_events.TraceReader(source, path)
        assert list(reader.events()) == events
    assert reader.header == {"first": 12}


def bomb(content: Callable[[int], bytes], count: int) -> bytes:
    """A small gzip file of very much."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = io.BytesIO()
    for number in range(count):
        packed.write(packer.compress(content(number)))
    packed.write(packer.flush())
    return packed.getvalue()


@pytest.mark.parametrize("filling", [b" ", b"["])
def test_a_small_file_of_much_content_is_refused_early(filling: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(bomb(lambda number: b'{"traceEvents": [' if not number else filling * (1 << 20), 150))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(UnreadableInput, match=r"a\.json\.gz"):
        read(path)


def test_the_newest_profile_of_a_log_directory(tmp_path: Path) -> None:
    """TensorBoard's layout: the newest run, and of its files the one that holds everything."""
    for run, when in (("2026_01_01", 1_000_000), ("2026_02_02", 2_000_000)):
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        write(folder / "host.trace.json", [event("cpu_op", run, 0, 10)])
        os.utime(folder, (when, when))
    assert profile(tmp_path)["operators"][0]["name"] == "2026_02_02"
    newest = tmp_path / "plugins" / "profile" / "2026_02_02"
    (newest / "host.xplane.pb").write_bytes((DATA / "tensorflow" / "tf-2.21.xplane.pb").read_bytes())
    os.utime(newest, (2_000_000, 2_000_000))
    assert profile(tmp_path)["file"] == "host.xplane.pb"


class _StoppedError(Exception):
    pass


@pytest.mark.parametrize("name", ["h200/leak.pickle", "tensorflow/tf-2.10.xplane.pb", "trace.json", "trace.json.gz"])
def test_who_looks_at_the_reading_can_end_it(tmp_path: Path, name: str) -> None:
    path = DATA / name
    if name.startswith("trace"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(TRACE) if name.endswith("gz") else TRACE)

    def look(_done: int) -> None:
        raise _StoppedError

    with pytest.raises(_StoppedError):
        read(path, look)
