"""The catalogue check finds what would reach a user untranslated or broken; update mends what a tool can."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

HEADER = 'msgid ""\nmsgstr ""\n"Language: zh_CN\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n"MIME-Version: 1.0\\n"\n'
HEADER += '"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n\n'
CODE = """
_("Power")
N_("Used by "
   "{name}")
ngettext("one GPU", "{count} GPUs", n)
print("not marked")
"""
DONE = """msgid "Power"
msgstr "功耗"

#, python-brace-format
msgid "Used by {name}"
msgstr "由 {name} 使用"

#, python-brace-format
msgid "one GPU"
msgid_plural "{count} GPUs"
msgstr[0] "{count} 块 GPU"
"""


class House:
    """A package with one module and its catalogue."""

    def __init__(self, tool: ModuleType, folder: Path) -> None:
        self.tool, self.package, self.locale = tool, folder / "package", folder / "locale"
        self.po = self.locale / "zh_CN" / "LC_MESSAGES" / "gpumon.po"
        self.package.mkdir()
        self.po.parent.mkdir(parents=True)
        (self.package / "a.py").write_text(CODE, encoding="utf-8")
        self.po.write_bytes((HEADER + DONE).encode())  # with the line ends of the checkout, on Windows too

    def check(self) -> list[str]:
        return list(self.tool.check(self.locale, self.package))

    def update(self) -> list[str]:
        return list(self.tool.update(self.locale, self.package))


@pytest.fixture
def house(translations: ModuleType, tmp_path: Path) -> House:
    return House(translations, tmp_path)


def test_a_complete_catalogue_passes_and_update_leaves_it_alone(house: House) -> None:
    before = house.po.read_bytes()
    assert house.check() == []
    assert house.update() == []
    assert house.po.read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('msgstr "功耗"', 'msgstr ""', "not translated: Power"),
        ('msgid "Power"', '#, fuzzy\nmsgid "Power"', "fuzzy: Power"),
        ('msgid "Power"\nmsgstr "功耗"\n', "", "not in the catalogue: Power"),
        ('msgid "Power"', 'msgid "Fan"\nmsgstr "风扇"\n\nmsgid "Power"', "no longer in the code: Fan"),
        ('msgid "Power"', '#~ msgid "Fan"\n#~ msgstr "风扇"\n\nmsgid "Power"', "obsolete entry: Fan"),
        ("由 {name} 使用", "由 {名称} 使用", "placeholders differ (name, 名称): Used by {name}"),
        ("由 {name} 使用", "由 {name 使用", "unmatched brace"),
        ("由 {name} 使用", "由 {name} %s 使用", "placeholders differ (%s): Used by {name}"),
        ("{count} 块 GPU", "一块 GPU", "placeholders differ (count): one GPU"),
        ('msgid "Power"', '#: a.py:2\nmsgid "Power"', "is not as the tool writes it"),
    ],
)
def test_each_fault_is_named(house: House, old: str, new: str, fault: str) -> None:
    text = house.po.read_text(encoding="utf-8")
    assert old in text
    house.po.write_text(text.replace(old, new), encoding="utf-8")
    assert any(fault in line for line in house.check()), house.check()


def test_new_texts_wait_and_gone_ones_leave(house: House) -> None:
    (house.package / "a.py").write_text('_("Power")\n_("Power limit")\n', encoding="utf-8")
    assert house.update() == ["zh_CN: Power limit"]
    text = house.po.read_text(encoding="utf-8")
    assert "功耗" in text
    assert "Used by" not in text
    assert 'msgid "Power limit"\nmsgstr ""' in text  # no guess from the one that is alike


def test_moving_code_changes_no_catalogue(house: House) -> None:
    before = house.po.read_bytes()
    (house.package / "a.py").unlink()
    (house.package / "z.py").write_text("\n\n\n" + CODE, encoding="utf-8")
    assert house.update() == []
    assert house.po.read_bytes() == before


def test_no_catalogue_at_all_is_a_fault(translations: ModuleType, tmp_path: Path) -> None:
    assert translations.check(tmp_path) != []


def test_the_tool_sees_every_marked_text(translations: ModuleType) -> None:
    """Inside an f-string it depends on the version of Python whether a marked text is found."""
    known = {message.id if isinstance(message.id, str) else message.id[0] for message in translations.extract()}
    missed = [
        f"{path.name}:{node.lineno}: {node.args[0].value!r}"
        for path in sorted(translations.PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in translations.KEYWORDS
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value not in known
    ]
    assert missed == []
