"""Reading scripts: encodings, notebooks, and files that are none. Nothing of a script is ever run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.diagnosis.script.check import check
from gpumon_gui.diagnosis.script.reader import MAX_BYTES, read


def line_of(path: Path) -> str:
    """The one line that a user reads."""
    with pytest.raises(UnreadableInput) as raised:
        check(path)
    said = str(raised.value)
    assert "\n" not in said
    assert path.name in said
    return said


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("名 = '训练'\n".encode(), "训练"),
        (b"\xef\xbb\xbf" + "名 = '训练'\n".encode(), "训练"),
        ("# -*- coding: gbk -*-\n名 = '训练'\n".encode("gbk"), "训练"),
        ("名 = '训练'\n".encode("gb18030"), "训练"),  # as editors on Chinese Windows save it, undeclared
        ("名 = '训练'\n".encode("utf-16"), "训练"),  # as PowerShell writes it
        (b"# -*- coding: latin-1 -*-\nname = '\xe9'\n", "é"),
        (b"# -*- coding: utf-8 -*-\nname = '\xe9'\n", "é"),  # declared, and not so
    ],
)
def test_encodings(data: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_bytes(data)
    assert name in read(path).text


def test_lines_count_as_editors_count(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_bytes(b"a = 1\r\n\x0cb = 2\r\nc = 'x\x1cy'\r\nimport os\r\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\r\n")
    (signal,) = (one for one in check(path).signals if one.kind == "script-cuda-visible-devices-hidden")
    assert signal.origin.line == 5
    assert signal.text == "os.environ['CUDA_VISIBLE_DEVICES'] = ''"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"x = 1\nfor in range(3):\n", ":2: "),
        (b"x = (1,\n", ":1: "),
        (b"print 'hello'\n", "Python 2"),
        (b"try:\n    pass\nexcept ValueError, error:\n    pass\n", ":3: is Python 2"),
        (b"x = 1\ny = \0\n", ":2: is no Python script (it holds null bytes)"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "null bytes"),
        (b"\x80\x81\x82\xfe\xff" * 10, ":1: "),
        (b"# -*- coding: klingon -*-\n", "klingon"),
        (b"x = 1\n    y = 2\n", ":2: "),
        (b"(" * 5000 + b")" * 5000, "is n"),
        (b"x = " + b"-" * 200_000 + b"1\n", "nested too deeply"),
        (b"x = a" + b".b" * 100_000 + b"\n", "nested too deeply"),
        (b"if a: pass\n" + b"elif a: pass\n" * 20_000, "nested too deeply"),
        (b"x = " + b"+".join([b"1"] * 100_000) + b"\n", "nested too deeply"),
    ],
)
def test_what_does_not_parse_is_one_line_with_the_place(data: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(data)
    assert says in line_of(path)


def test_what_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "big.py"
    path.write_bytes(b"x = 1\n" * (10_000_000 // 6))
    assert f"larger than {MAX_BYTES // 1000} kB" in line_of(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    assert "is a folder" in line_of(tmp_path)
    assert "cannot be read" in line_of(tmp_path / "missing.py")
    assert "\n" not in line_of_odd_name(tmp_path)


def line_of_odd_name(tmp_path: Path) -> str:
    if sys.platform == "win32":
        return ""
    path = tmp_path / "a\nb.py"
    path.write_text("x = ")
    with pytest.raises(UnreadableInput) as raised:
        read(path)
    return str(raised.value)


@pytest.mark.skipif(sys.platform == "win32", reason="no such modes there")
def test_what_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.py"
    path.write_text("x = 1\n")

    def refuses(*_given: object, **_named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuses)  # root may read everything
    assert "Permission denied" in line_of(path)


def test_nothing_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    path = tmp_path / "script.py"
    path.write_text(f"import torch\nopen({str(trace)!r}, 'w')\nraise SystemExit(5)\n")
    check(path)
    assert not trace.exists()
    assert "torch" not in sys.modules


def notebook(tmp_path: Path, *cells: str) -> Path:
    path = tmp_path / "book.ipynb"
    entries = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "# x"}, *entries]}), encoding="utf-8")
    return path


def test_a_notebook_is_its_code_cells(tmp_path: Path) -> None:
    path = notebook(tmp_path, "!pip install torch\n%matplotlib inline\nx = !ls\nx?", "%%bash\nls | wc", "y = 2")
    script = read(path)
    assert script.place(len(script.text.splitlines())) == ("book.ipynb[4]", 1)


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": [{"cell_type": "code", "source": "x = 1", "outputs": [{"data": [NaN, 1e999, {"cells": 3}]}]}]}',
        '\ufeff{"cells": [{"cell_type": "code", "source": ["x = ", "1"], "outputs": [[1]]}]}',
        '{"worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1", "language": "python"}]}]}',
    ],
)
def test_what_a_notebook_holds_beside_its_code_does_not_matter(text: str, tmp_path: Path) -> None:
    path = tmp_path / "book.ipynb"
    path.write_text(text, encoding="utf-8")
    assert read(path).text == "x = 1\n"


def test_a_fault_in_a_notebook_names_the_cell(tmp_path: Path) -> None:
    assert "book.ipynb[3]:2: is no valid Python" in line_of(notebook(tmp_path, "x = 1", "y = 2\nz = = 3"))


@pytest.mark.parametrize("text", ["not json", "[]", '{"cells": 5}', '{"cells": [1]}', "[" * 100_000])
def test_what_is_no_notebook(text: str, tmp_path: Path) -> None:
    path = tmp_path / "book.ipynb"
    path.write_text(text)
    line_of(path)
