"""Knows: how a file becomes the syntax tree of a script. Must not know: what is looked for in it.

Python files and Jupyter notebooks (their code cells, one after the other). The encoding is the declared one, UTF-8 or
GB 18030 (what editors on Chinese Windows write). Nothing of the file is ever run or imported.
"""

from __future__ import annotations

import ast
import codecs
import io
import json
import re
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import cannot_read, check_regular_file, printable, shown
from gpumon_gui.core.messages import _

#: Training scripts have 5 to 100 kB. A tree takes about a hundred times its text, and Python's parser lets nothing else
#: run while it makes one: 0.2 s for so much.
MAX_BYTES: Final = 300_000
#: Notebooks hold their outputs, pictures included.
MAX_NOTEBOOK_BYTES: Final = 50_000_000
#: Characters of a line that a signal quotes.
_TEXT_LIMIT: Final = 4000
_PYTHON_2: Final = re.compile(
    r"Missing parentheses in call to '(?:print|exec)'|multiple exception types must be parenthesized"
    r"|leading zeros in decimal integer literals|inconsistent use of tabs"
)
_MAGIC: Final = re.compile(r"(?P<indent>\s*)(?:[%!?]|\w[\w.]*\?{1,2}\s*$)(?P<rest>.*)")
_ASSIGNED_MAGIC: Final = re.compile(r"(?P<start>\s*[\w, ]+=\s*)[%!].*")
_ENV_MAGIC: Final = re.compile(r"\s*%(?:set_)?env\s+(?P<name>\w+)\s*[= ]\s*(?P<value>\S*)\s*$")


class _Cell(msgspec.Struct):
    """Of a notebook; ``input`` is what old ones call the source. Its outputs may be huge and are passed over."""

    cell_type: str = ""
    source: str | list[str] = ""
    input: str | list[str] = ""

    @property
    def text(self) -> str:
        """The source."""
        source = self.source or self.input
        return source if isinstance(source, str) else "".join(source)


class _Sheet(msgspec.Struct):
    cells: list[_Cell]


class _Notebook(msgspec.Struct):
    cells: list[_Cell] | None = None
    worksheets: list[_Sheet] = []  #: of old ones


@dataclass(frozen=True, slots=True)
class Script:
    """A parsed file. ``name`` is what evidence calls it; ``cells`` are the first lines of a notebook's code cells."""

    name: str
    text: str
    tree: ast.Module
    cells: tuple[tuple[int, int], ...] = ()

    @property
    def is_notebook(self) -> bool:
        """Whether it came from code cells."""
        return bool(self.cells)

    def place(self, line: int) -> tuple[str, int]:
        """The source's name and the line in it: in notebooks the cell and the line of that cell."""
        return _place(self.name, self.cells, line)


def quoted(lines: Sequence[str], number: int) -> str:
    """One line of the source as it is quoted; lines count from 1."""
    text = " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""
    return text[:_TEXT_LIMIT]  # what is shown is shorter


def read(path: Path) -> Script:
    """Read and parse a script. Raises UnreadableInput with one line that names the file and, in it, the place."""
    check_regular_file(path)
    notebook = path.suffix.lower() == ".ipynb"
    limit = MAX_NOTEBOOK_BYTES if notebook else MAX_BYTES
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise UnreadableInput(cannot_read(path, error)) from error
    if len(data) > limit:
        message = _("{path}: is larger than {size} kB; that is no script.")
        raise UnreadableInput(message.format(path=shown(path), size=limit // 1000))
    if notebook:
        text, cells = _notebook(path, data)
    else:
        text, cells = _decoded(path, data), ()
    return parse(path, text, cells)


def parse(path: Path, text: str, cells: tuple[tuple[int, int], ...] = ()) -> Script:
    """Parse source text. Raises UnreadableInput."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # what is quoted must count lines as the parser does
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in the script are not our business
            tree = ast.parse(text)
    except SyntaxError as error:
        raise UnreadableInput(_syntax(path, error, cells)) from error
    except (RecursionError, MemoryError) as error:
        raise too_deep(path) from error
    except ValueError as error:  # lone surrogates, null bytes
        message = _("{path}: is no Python script ({detail}).")
        raise UnreadableInput(message.format(path=shown(path), detail=printable(str(error)))) from error
    return Script(printable(path.name), text, tree, cells)


def too_deep(path: Path) -> UnreadableInput:
    """For a script whose expressions or blocks are nested beyond what Python itself accepts."""
    return UnreadableInput(_("{path}: is nested too deeply to be read.").format(path=shown(path)))


def _place(name: str, cells: tuple[tuple[int, int], ...], line: int) -> tuple[str, int]:
    if not cells:
        return name, line
    at = max(0, bisect_right([first for first, _number in cells], line) - 1)
    first, number = cells[at]
    return f"{name}[{number}]", line - first + 1


def _syntax(path: Path, error: SyntaxError, cells: tuple[tuple[int, int], ...]) -> str:
    name, line = _place(shown(path), cells, error.lineno or 1)
    detail = printable(error.msg or "invalid syntax")
    if _PYTHON_2.search(detail):
        message = _("{file}:{line}: is Python 2 code; only Python 3 can be judged ({detail}).")
    else:
        message = _("{file}:{line}: is no valid Python ({detail}).")
    return message.format(file=name, line=line, detail=detail)


def _decoded(path: Path, data: bytes) -> str:
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):  # what PowerShell's ">" writes
            try:
                return data.decode(name)
            except UnicodeDecodeError:
                break
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        message = _("{file}:{line}: is no Python script (it holds null bytes).")
        raise UnreadableInput(message.format(file=shown(path), line=line))
    declared = "utf-8"
    try:
        declared, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        if "unknown encoding" in str(error):
            message = _("{file}:{line}: is no valid Python ({detail}).")
            raise UnreadableInput(message.format(file=shown(path), line=1, detail=printable(str(error)))) from error
    for encoding in (declared, "utf-8-sig", "gb18030", "latin-1"):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def _notebook(path: Path, data: bytes) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The code cells as one text, and where each begins (line, number of the cell among all cells)."""
    try:
        book = _book(data)
        cells = book.worksheets[0].cells if book.cells is None else book.cells
        sources = [(number, cell.text) for number, cell in enumerate(cells, start=1) if cell.cell_type == "code"]
    except json.JSONDecodeError as error:
        message = _("{file}:{line}: is no notebook ({detail}).")
        detail = printable(error.msg)
        raise UnreadableInput(message.format(file=shown(path), line=error.lineno, detail=detail)) from error
    except RecursionError as error:
        raise too_deep(path) from error
    except (IndexError, ValueError) as error:
        message = _("{path}: is no notebook (no list of cells).")
        raise UnreadableInput(message.format(path=shown(path))) from error
    lines: list[str] = []
    starts = []
    for number, source in sources:
        starts.append((len(lines) + 1, number))
        lines += _without_magic(source)
    text = "\n".join(lines) + "\n"
    if len(text) > MAX_BYTES:
        message = _("{path}: is larger than {size} kB; that is no script.")
        raise UnreadableInput(message.format(path=shown(path), size=MAX_BYTES // 1000))
    return text, tuple(starts) or ((1, 1),)


def _book(data: bytes) -> _Notebook:
    """Raises ValueError (of JSON: JSONDecodeError) and RecursionError."""
    try:
        return msgspec.json.decode(data, type=_Notebook)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # Python's reader knows more: NaN among outputs, other encodings, where a fault is
        return msgspec.convert(json.loads(data), _Notebook)


def _without_magic(source: str) -> list[str]:
    """The lines of a cell; what is IPython's and not Python's becomes ``pass``, and ``%env`` what it does."""
    lines = source.split("\n")
    if source.lstrip().startswith("%%") and not source.lstrip().startswith(("%%time", "%%capture", "%%timeit")):
        return [""] * len(lines)  # a cell of another language
    clean = []
    for line in lines:
        env = _ENV_MAGIC.match(line)
        magic = _MAGIC.match(line)
        if env is not None:
            clean.append(f"__import__('os').environ[{env['name']!r}] = {env['value']!r}")
        elif magic is not None:
            clean.append(f"{magic['indent']}pass")
        elif (assigned := _ASSIGNED_MAGIC.match(line)) is not None:
            clean.append(f"{assigned['start']}None")
        else:
            clean.append(line)
    return clean
