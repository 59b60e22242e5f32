"""A wrong command line and the help are told in one language, argparse's part too."""

from __future__ import annotations

import re
from gettext import NullTranslations

import pytest

from gpumon_gui.app.arguments import WrongUsage, parse
from gpumon_gui.cli import main
from gpumon_gui.core import messages


class Foreign(NullTranslations):
    """Every text in a language that nobody speaks."""

    def gettext(self, message: str) -> str:
        """Placeholders stay as they are."""
        place = r"\{[^}]*\}|%\(\w+\)[sr]|%[sr]|[^\W\d_]+"
        return re.sub(place, lambda found: found[0] if found[0][0] in "{%" else "¤" * len(found[0]), message)


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever language is asked for."""
    monkeypatch.setitem(messages._state, "catalogue", Foreign())
    monkeypatch.setattr(main, "set_language", lambda _name: "en")


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["snapshot", "--jsn"], "gpumon: ¤¤¤¤¤¤¤¤¤¤¤¤ ¤¤¤¤¤¤¤¤¤: --jsn. ¤¤¤ gpumon --¤¤¤¤.\n"),
        (
            ["--lang", "xx"],
            "gpumon: ¤¤¤¤¤¤¤¤ --lang: ¤¤¤¤¤¤¤ ¤¤¤¤¤¤: 'xx' (¤¤¤¤¤¤ ¤¤¤¤ 'en', 'zh_CN'). ¤¤¤ gpumon --¤¤¤¤.\n",
        ),
        (["watch", "--pid", "1", "--replay"], "gpumon watch: ¤¤¤¤¤¤¤¤ --replay: ¤¤¤¤¤¤¤¤ ¤¤¤ ¤¤¤¤¤¤¤¤."),
    ],
)
def test_a_wrong_command_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("foreign")
def test_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--help"]) == 0
    out = capsys.readouterr().out
    known = {"gpumon", "version", "lang", "zh_CN", "snapshot", "record", "diagnose", "watch", "self", "test", "help"}
    assert set(re.findall(r"[A-Za-z_]{3,}", out)) <= known


@pytest.mark.usefixtures("foreign")
def test_the_windows_own_options() -> None:
    with pytest.raises(WrongUsage) as caught:
        parse(["--nonsense"])
    assert str(caught.value) == "¤¤¤¤¤¤¤¤¤¤¤¤ ¤¤¤¤¤¤¤¤¤: --nonsense"
