"""What the Windows build makes is complete, and what does not belong there is found."""

from __future__ import annotations

import re
import struct
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from gpumon_gui.system import autostart, paths
from tests.conftest import ROOT, packaging_module


@pytest.fixture
def packaging(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of packaging/ import each other; nothing of it stays behind."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    for name in ("report", "system_packages", "environment", "audit", "licences", "windows_build"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.fixture
def audit(packaging: None) -> ModuleType:
    return packaging_module("audit")


@pytest.fixture
def licences(packaging: None) -> ModuleType:
    return packaging_module("licences")


@pytest.fixture
def build(packaging: None) -> ModuleType:
    return packaging_module("windows_build")


def program(*libraries: str) -> bytes:
    """The least of a 64-bit Windows program (winnt.h) that loads these DLLs: one section, one import table."""
    start = 0x200  # of the section, in the file and in memory
    table = b""
    names = b""
    names_at = start + 20 * (len(libraries) + 1)
    for library in libraries:
        table += struct.pack("<IIIII", 1, 0, 0, names_at + len(names), 1)
        names += library.encode() + b"\0"
    section = table + bytes(20) + names
    optional = struct.pack("<H", 0x20B) + bytes(110) + struct.pack("<IIII", 0, 0, start, len(section))
    optional += bytes(240 - len(optional))
    header = b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, len(optional), 0)
    described = b".all\0\0\0\0" + struct.pack("<IIII", len(section), start, len(section), start) + bytes(16)
    image = b"MZ" + bytes(0x3A) + struct.pack("<I", 0x40) + header + optional + described
    return image + bytes(start - len(image)) + section


@pytest.fixture
def folder(audit: ModuleType, tmp_path: Path) -> Path:
    """A built folder in which everything needed is there."""
    for name in audit._NEEDED:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(program("KERNEL32.dll", "api-ms-win-crt-heap-l1-1-0.dll") if name.endswith("exe") else b"x")
    return tmp_path


SYSTEM = {"kernel32.dll"}


def test_a_complete_folder_has_no_faults(audit: ModuleType, folder: Path) -> None:
    assert audit.imports(program("KERNEL32.dll", "b.dll")) == {"kernel32.dll", "b.dll"}
    assert audit.faults(folder, SYSTEM) == []


def test_a_missing_part_is_named(audit: ModuleType, folder: Path) -> None:
    (folder / "_internal/resources/locale/zh_CN/LC_MESSAGES/gpumon.mo").unlink()
    assert audit.faults(folder, SYSTEM) == ["_internal/resources/locale/zh_CN/LC_MESSAGES/gpumon.mo is missing"]


def test_a_dll_that_windows_lacks_is_named_unless_it_is_there(audit: ModuleType, folder: Path) -> None:
    (folder / "_internal/a.pyd").write_bytes(program("Strange.dll"))
    assert audit.faults(folder, SYSTEM) == ["_internal/a.pyd needs strange.dll, which is neither here nor in Windows"]
    (folder / "_internal/Strange.dll").write_bytes(program("kernel32.dll"))
    assert audit.faults(folder, SYSTEM) == []


@pytest.mark.parametrize("name", ["_internal/torch/x.pyd", "_internal/PySide6/opengl32sw.dll"])
def test_what_has_no_place_is_named(audit: ModuleType, folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"x")
    assert audit.faults(folder, SYSTEM) == [f"{name} has no place here"]


@pytest.mark.parametrize("mark", [b"Wine builtin DLL", b"ucrtwine."])
def test_what_comes_from_the_lab_is_named(audit: ModuleType, folder: Path, mark: bytes) -> None:
    (folder / "_internal/a.dll").write_bytes(program("kernel32.dll").replace(bytes(40), mark.ljust(40, b"\0"), 1))
    assert audit.faults(folder, SYSTEM) == ["_internal/a.dll comes from the lab, not from Windows"]


def test_a_part_without_its_licence_is_refused(licences: ModuleType, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger-1.dist-info"
    stranger.mkdir()
    (stranger / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n", encoding="utf-8")
    (stranger / "RECORD").write_text("stranger/__init__.py,,\nstranger-1.dist-info/METADATA,,\n", encoding="utf-8")
    with pytest.raises(Exception, match=r"not in packaging/requirements\.txt: stranger"):
        licences.gather(tmp_path / "out", tmp_path, tmp_path, {"stranger", "os"}, "3.11")


def test_the_portable_form_has_the_mark_that_the_program_looks_for(
    build: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "FOLDER", folder)
    monkeypatch.setattr(build, "DIST", tmp_path)
    with zipfile.ZipFile(build.make_portable("1.2.3")) as packed:
        names = packed.namelist()
    assert f"GPUMon/{paths.PORTABLE_MARK}" in names
    assert "GPUMon/gpumon-gui.exe" in names


def test_the_version_resource_says_the_version_as_numbers_and_words(build: ModuleType) -> None:
    text = build._version_resource("gpumon", "command line", "1.2.3")
    assert "filevers=(1, 2, 3, 0)" in text
    assert "StringStruct('FileVersion', '1.2.3')" in text
    assert "gpumon.exe" in text


def test_signing_is_left_out_without_a_command_and_failure_is_told(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a b.exe"
    file.write_bytes(b"x")
    monkeypatch.delenv("GPUMON_SIGN", raising=False)
    build.sign([file])
    writer = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('signed')"
    monkeypatch.setenv("GPUMON_SIGN", f'"{sys.executable}" -c "{writer}" {{file}}')
    if sys.platform != "win32":  # there the words keep their quotes
        build.sign([file])
        assert file.read_text(encoding="utf-8") == "signed"
        monkeypatch.setenv("GPUMON_SIGN", "false {file}")
        with pytest.raises(Exception, match=r"a b\.exe could not be signed"):
            build.sign([file])


def test_the_installer_and_the_settings_write_the_same_autostart() -> None:
    script = (ROOT / "packaging/windows/installer.nsi").read_text(encoding="utf-8")
    wanted = autostart.windows_line((r"$INSTDIR\gpumon-gui.exe", autostart.TRAY_OPTION))
    lines = re.findall(r'WriteRegStr HKCU "\$\{RUN_KEY\}" "(\w+)" \'(.+)\'', script)
    assert lines == [(autostart.NAME, wanted)] * 2
    assert f'!define RUN_KEY "{autostart.RUN}"' in script


def test_both_programs_are_what_windows_should_know_about_them() -> None:
    manifest = (ROOT / "packaging/windows/gpumon.manifest").read_text(encoding="utf-8")
    for words in ("PerMonitorV2", "<longPathAware", "UTF-8</activeCodePage>", 'level="asInvoker"'):
        assert words in manifest
