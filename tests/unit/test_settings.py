"""Settings: what the user relies on: kept, repaired one by one, never lost."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import pytest

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.settings import words
from gpumon_gui.settings.catalogue import BY_KEY, OPTIONS, SECTIONS
from gpumon_gui.settings.option import Choice, Flag, Number, Texts, WrongValue
from gpumon_gui.settings.store import MOST_BYTES, NAME, Loaded, load, save
from gpumon_gui.settings.values import Values


def changed(**values: object) -> Values:
    result = Values()
    for key, value in values.items():
        result = result.with_value(key.replace("__", "."), value)
    return result


def test_every_option_takes_its_default_and_stands_in_a_known_section() -> None:
    sections = {name for name, _title in SECTIONS}
    for option in OPTIONS:
        assert option.kind.checked(option.default) == option.default
        assert not option.section or (option.section in sections and option.label)
        assert not option.needs or isinstance(BY_KEY[option.needs].kind, Flag)
    assert len(BY_KEY) == len(OPTIONS)
    assert not any(other.startswith(key + ".") for key in BY_KEY for other in BY_KEY), "a table and a value"


def test_what_is_chosen_is_there_again(tmp_path: Path) -> None:
    folder = tmp_path / "设置"
    values = changed(
        general__theme="dark",
        alerts__temperature__celsius=85,
        diagnostics__interpreters=["C:\\Python 3\\python.exe", "张"],
    )
    save(folder, values)
    loaded = load(folder)
    assert loaded.values == values
    assert loaded.repairs == ()
    assert tomllib.loads((folder / NAME).read_text(encoding="utf-8"))["general"] == {"theme": "dark"}


def test_a_value_back_at_its_default_leaves_the_file(tmp_path: Path) -> None:
    save(tmp_path, changed(general__theme="dark"))
    save(tmp_path, changed(general__theme="dark").with_value("general.theme", "system"))
    assert "theme" not in (tmp_path / NAME).read_text(encoding="utf-8")


def test_comments_and_keys_of_a_newer_version_stay(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('# mine\n[general]\ntheme = "light" # eyes\nfuture = 3\n[far.away]\nx = 1\n')
    save(tmp_path, load(tmp_path).values.with_value("general.theme", "dark"))
    text = (tmp_path / NAME).read_text()
    assert "# mine" in text
    assert "future = 3" in text
    assert "[far.away]" in text
    assert load(tmp_path).values.text("general.theme") == "dark"


def test_a_file_saved_by_notepad_keeps_comments_and_keys_too(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes('# mine\r\n[general]\r\nfuture = "未来"\r\n'.encode("utf-8-sig"))
    save(tmp_path, changed(general__theme="dark"))
    text = (tmp_path / NAME).read_text(encoding="utf-8")
    assert "# mine" in text
    assert 'future = "未来"' in text
    assert load(tmp_path).values.text("general.theme") == "dark"


def test_one_wrong_entry_is_repaired_alone_and_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('[general]\ntheme = "pink"\nlanguage = "zh_CN"\n[alerts]\nquiet_minutes = "ten"\n')
    loaded = load(tmp_path)
    assert loaded.values == changed(general__language="zh_CN")
    assert [repair.key for repair in loaded.repairs] == ["general.theme", "alerts.quiet_minutes"]
    assert [repair.text() for repair in loaded.repairs] == [
        "The setting “Theme” cannot be “pink”. It is now “As the system”.",
        "The setting “Say the same again after” cannot be “ten”. It is now “10 min”.",
    ]
    assert 'theme = "pink"' in (tmp_path / "settings.broken.toml").read_text()


@pytest.mark.parametrize("content", [b"[general\n", b"\xff\xfe\x00x", b"x" * (2 << 20), b"general = 3\n"])
def test_a_broken_file_means_the_usual_values(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert load(tmp_path).values == Values()
    save(tmp_path, changed(general__theme="dark"))
    assert load(tmp_path).values == changed(general__theme="dark")


def test_what_was_repaired_is_named_as_on_the_page_without_key_or_english_detail(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(
        "[alerts.run_ended]\nminutes = -1\n[alerts]\non = 1\n[diagnostics]\ninterpreters = [true]\n"
        '[history]\nmost_gigabytes = "\\u0007 plenty"\n[tray]\nhint_shown = "x"\n'
    )
    texts = [repair.text() for repair in load(tmp_path).repairs]
    assert "The setting “Show notifications” cannot be “1”. It is now “on”." in texts
    assert "The setting “A run on the GPU ended: that took at least” cannot be “-1”. It is now “2 min”." in texts
    assert "The setting “Further Python interpreters” cannot be “[True]”. It is now “none”." in texts
    assert "The setting “Keep a history: At most” cannot be “\\x07 plenty”. It is now “1 GB”." in texts
    assert texts.count("") == 1  # the hint was never on the page
    assert not any(key in text for text in texts for key in BY_KEY)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"[general]\ntheme = \n", "is damaged in line 2:"), (b"\xff\xfe\x00x", "is damaged:")],
)
def test_a_damaged_file_is_told_with_its_line_and_where_it_is_kept(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / NAME).write_bytes(content)
    (repair,) = load(tmp_path).repairs
    assert said in repair.text()
    assert repair.text().endswith("It is kept as settings.broken.toml.")


def test_every_option_and_its_usual_value_can_be_said() -> None:
    for option in OPTIONS:
        if option.section:
            assert words.title(option)
            assert "…" not in words.title(option)
            assert words.said(option, option.default)


def test_the_same_broken_file_is_kept_once(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"[general\n")
    for _ in range(3):
        assert len(load(tmp_path).repairs) == 1
    assert sorted(path.name for path in tmp_path.glob("settings.broken*")) == ["settings.broken.toml"]


def test_nothing_there_is_no_fault(tmp_path: Path) -> None:
    assert load(tmp_path / "none").values == Values()
    assert load(tmp_path / "none").repairs == ()


def test_a_folder_in_place_of_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    assert len(load(tmp_path).repairs) == 1
    with pytest.raises(OutputFailed, match="settings"):
        save(tmp_path, Values())


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, changed(general__theme="dark"))

    def full(_number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputFailed, match="No space left"):
        save(tmp_path, Values())
    monkeypatch.undo()
    assert load(tmp_path).values == changed(general__theme="dark")
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize("text", ["a=" + "[" * 100_000, "{a=" * 5000, "a = " + "[{b=" * 5000])
def test_a_file_that_goes_too_deep_is_damaged_and_kept(text: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(text)
    loaded = load(tmp_path)
    assert loaded.values == Values()
    assert "settings.broken.toml" in loaded.repairs[0].text()
    save(tmp_path, changed(general__theme="dark"))
    assert load(tmp_path) == Loaded(changed(general__theme="dark"))
    assert (tmp_path / "settings.broken.toml").read_text() == text


@pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes of POSIX")
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_what_never_ends_is_not_read(kind: str, tmp_path: Path) -> None:
    if kind == "pipe":
        os.mkfifo(tmp_path / NAME)
    else:
        (tmp_path / NAME).symlink_to("/dev/zero")
    loaded = load(tmp_path)
    assert not loaded.can_be_kept
    (repair,) = loaded.repairs
    assert str(tmp_path / NAME) in repair.text()
    assert "not a regular file" in repair.text()
    with pytest.raises(OutputFailed, match="not a regular file"):
        save(tmp_path, Values())


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("")
    (tmp_path / NAME).symlink_to(kept)
    save(tmp_path, changed(general__theme="dark"))
    assert (tmp_path / NAME).is_symlink()
    assert "dark" in kept.read_text()


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        (Flag(default=True), 1),
        (Choice("a", (("a", ""),)), "b"),
        (Choice("a", (("a", ""),)), ["a"]),
        (Number(1, 0, 5), 6),
        (Number(1, 0, 5), True),
        (Number(1, 0, 5), 1.5),
        (Number(1, 0, 5, whole=False), float("nan")),
        (Texts(), "one"),
        (Texts(), [1]),
        (Texts(most=1), ["a", "b"]),
    ],
)
def test_a_wrong_value_is_refused(kind: Flag | Choice | Number | Texts, raw: object) -> None:
    with pytest.raises(WrongValue):
        kind.checked(raw)


def test_lists_lose_what_is_empty_or_double() -> None:
    assert Texts().checked([" a ", "", "a", "b"]) == ("a", "b")


def test_two_windows_do_not_overwrite_each_others_choices(tmp_path: Path) -> None:
    save(tmp_path, changed(general__language="zh_CN"), {"general.language"})
    save(tmp_path, changed(general__theme="dark"), {"general.theme"})
    assert load(tmp_path).values == changed(general__language="zh_CN", general__theme="dark")


def test_a_file_that_cannot_be_read_now_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, changed(general__theme="dark"))

    def denied(_self: Path, *_arguments: object, **_more: object) -> str:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", denied)
        loaded = load(tmp_path)
        assert not loaded.can_be_kept
        assert len(loaded.repairs) == 1
        with pytest.raises(OutputFailed):
            save(tmp_path, Values())
    assert load(tmp_path).values == changed(general__theme="dark")


def test_a_file_that_was_damaged_while_the_window_was_open_is_kept_before_it_is_written(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("# mine\n[general\n")
    save(tmp_path, changed(general__theme="dark"))
    assert (tmp_path / "settings.broken.toml").read_text() == "# mine\n[general\n"
    assert load(tmp_path).values == changed(general__theme="dark")


def test_a_damaged_file_that_cannot_be_kept_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / NAME).write_text("# mine\n[general\n")

    def full(_self: Path, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert not load(tmp_path).can_be_kept
    with pytest.raises(OutputFailed, match=NAME):
        save(tmp_path, changed(general__theme="dark"))
    assert (tmp_path / NAME).read_text() == "# mine\n[general\n"


def test_a_file_that_is_no_settings_file_by_its_size_is_kept_whole(tmp_path: Path) -> None:
    content = b"#" * (MOST_BYTES + 10)
    (tmp_path / NAME).write_bytes(content)
    assert load(tmp_path).values == Values()
    assert (tmp_path / "settings.broken.toml").read_bytes() == content
