"""The list of tests that Windows skips names tests that exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.windows import limits

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("start", [*limits.WINDOWS, *limits.WINE])
def test_every_entry_is_the_beginning_of_a_test(start: str) -> None:
    file, _, rest = start.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert any(name.startswith(rest.partition("[")[0]) for name in names if name.startswith("test_"))
