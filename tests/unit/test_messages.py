"""Sentences reach the user in their language, and in English when there is nothing better."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType

import pytest

from gpumon_gui.core import messages
from gpumon_gui.core.messages import N_, _, ngettext, sentences, set_language
from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.reasons import missing_text
from gpumon_gui.core.values import Missing, Reason

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory, translations: ModuleType) -> Path:
    """The catalogues of the checkout, compiled elsewhere."""
    folder = tmp_path_factory.mktemp("locale")
    shutil.copytree(ROOT / "resources" / "locale", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.mo"))
    assert translations.compile_catalogues(folder)
    return folder


@pytest.fixture
def chinese(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "locale_root", lambda: compiled)
    assert set_language("zh_CN") == "zh_CN"


@pytest.mark.usefixtures("chinese")
def test_a_marked_text_is_translated_when_it_is_shown() -> None:
    assert _(METRICS["gpu_utilization"].label) == "GPU 利用率"
    assert missing_text(Missing(Reason.NO_PERMISSION)) == "需要管理员权限"
    assert missing_text(Missing(Reason.ERROR, "nvml", "NVML_ERROR_UNKNOWN")) == "读取失败 (NVML_ERROR_UNKNOWN)"
    assert messages.language() == "zh_CN"
    set_language("en")
    assert _(METRICS["gpu_utilization"].label) == "GPU utilization"


@pytest.mark.usefixtures("chinese")
def test_an_unknown_text_and_the_empty_one_stay_as_they_are() -> None:
    assert _("not in any catalogue") == "not in any catalogue"
    assert _("") == ""  # gettext would give the header of the catalogue


def test_english_has_two_plural_forms() -> None:
    assert ngettext("one GPU", "{count} GPUs", 1) == "one GPU"
    assert ngettext("one GPU", "{count} GPUs", 0) == "{count} GPUs"


def test_marking_changes_nothing() -> None:
    assert N_("Power") == "Power"


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ("zh_CN", "zh_CN"),
        ("zh", "zh_CN"),
        ("zh-Hans-CN", "zh_CN"),
        ("zh_SG", "zh_CN"),
        ("zh_TW", "en"),
        ("zh-Hant-HK", "en"),
        ("zh_HK", "en"),
        ("en", "en"),
        ("de_DE", "en"),
        ("", "en"),
    ],
)
def test_other_names_lead_to_a_language_there_is(
    wanted: str, got: str, compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "locale_root", lambda: compiled)
    for variable in VARIABLES:
        monkeypatch.setenv(variable, "C")
    monkeypatch.setattr("sys.platform", "linux")
    assert set_language(wanted) == got


@pytest.mark.parametrize(
    ("variables", "got"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "C.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_none_follows_the_system(
    variables: dict[str, str], got: str, compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "locale_root", lambda: compiled)
    monkeypatch.setattr("sys.platform", "linux")
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert set_language(None) == got


def test_without_a_compiled_catalogue_it_stays_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "locale_root", lambda: tmp_path)
    assert set_language("zh_CN") == "en"
    assert _("Power") == "Power"


def test_the_catalogues_lie_in_the_checkout() -> None:
    assert (messages.locale_root() / "zh_CN" / "LC_MESSAGES" / "gpumon.po").is_file()
    assert set(messages.LANGUAGES) == {"en", *(path.name for path in messages.locale_root().iterdir() if path.is_dir())}


def test_sentences_follow_each_other_as_the_language_writes_them() -> None:
    assert sentences("Asleep.", "", "The greyed values are old.") == "Asleep. The greyed values are old."
    assert sentences("正在休眠。", "灰色数值已旧。") == "正在休眠。灰色数值已旧。"
    assert sentences("仍在运行？", "已结束。") == "仍在运行？已结束。"
    assert sentences("设备丢失 (code)", "灰色数值已旧。") == "设备丢失 (code) 灰色数值已旧。"
    assert sentences("", "") == ""
