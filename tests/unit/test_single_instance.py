"""Who is the first window of a user and session, and how it is asked; without Qt."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpumon_gui.app.arguments import Arguments, Screenshot
from gpumon_gui.app.first import enter
from gpumon_gui.system.single_instance import (
    ANSWER,
    MOST_BYTES,
    Place,
    Request,
    ask_first,
    claim,
    decoded,
    find_place,
)

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Unix sockets and file locks")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    tmp_path.chmod(0o700)
    if sys.platform == "win32":  # one session is all there is
        return Place(f"Local\\GPUMon.test.{os.getpid()}", f"GPUMon.test.{os.getpid()}")
    found = find_place({"XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": ":7"})
    assert found is not None
    return found


@on_linux
@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"DISPLAY": ":0"}, "gpumon-_0"),
        ({"DISPLAY": ":0.1"}, "gpumon-_0"),  # a screen of the same display
        ({"DISPLAY": "localhost:10.0"}, "gpumon-localhost_10"),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-1"}, "gpumon-wayland-1"),
        ({"WAYLAND_DISPLAY": "/run/x/../w"}, "gpumon-_run_x_.._w"),
    ],
)
def test_each_session_has_a_place_of_its_own(environ: dict[str, str], name: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert find_place({"XDG_RUNTIME_DIR": str(tmp_path), **environ}) == Place(
        str(tmp_path / f"{name}.lock"), str(tmp_path / f"{name}.socket")
    )


@on_linux
@pytest.mark.parametrize("environ", [{}, {"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}])
def test_windows_that_nobody_sees_are_not_looked_for(environ: dict[str, str], tmp_path: Path) -> None:
    assert find_place({"XDG_RUNTIME_DIR": str(tmp_path), **environ}) is None


@on_linux
@pytest.mark.parametrize("login", ["", "/no/such/folder", "shared"])
def test_without_a_folder_of_the_login_ours_is_closed_to_others(
    login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if login == "shared":
        (tmp_path / login).mkdir()
        (tmp_path / login).chmod(0o777)
        login = str(tmp_path / login)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = find_place({"XDG_RUNTIME_DIR": login, "DISPLAY": ":0"})
    ours = tmp_path / f"gpumon-{os.geteuid()}"
    assert found is not None
    assert Path(found.lock).parent == ours
    assert ours.stat().st_mode & 0o777 == 0o700
    ours.chmod(0o777)  # somebody else's trap
    assert find_place({"DISPLAY": ":0"}) is None


def test_one_is_first_until_it_ends(place: Place) -> None:
    ours = claim(place)
    assert ours is not None
    assert claim(place) is None
    ours.close()
    ours.close()
    theirs = claim(place)
    assert theirs is not None
    theirs.close()


def test_a_killed_first_one_leaves_the_place_free(place: Place) -> None:
    script = (
        "import sys; from gpumon_gui.system.single_instance import *\n"
        f"held = claim(Place({place.lock!r}, {place.address!r}))\n"
        "print(held is not None, flush=True); sys.stdin.read()"
    )
    first = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert first.stdout is not None
    assert first.stdout.readline().strip() == b"True"
    assert claim(place) is None
    first.kill()
    first.communicate()
    ours = claim(place)
    assert ours is not None
    ours.close()


@on_linux
def test_a_lock_that_is_a_link_is_refused(place: Place, tmp_path: Path) -> None:
    Path(place.lock).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        claim(place)
    assert not (tmp_path / "elsewhere").exists()


def test_a_request_survives_the_way() -> None:
    request = Request(show=False, page="processes", activation="令牌 1\n", watch=4711)
    line = request.encoded()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decoded(line) == request


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", b"\xff\n", b"[]\n", b"{}\n", b'{"show": 1, "page": "", "activation": ""}\n', b"[" * 4000],
)
def test_anything_else_is_no_request(line: bytes) -> None:
    assert decoded(line) is None


@on_linux
@pytest.mark.parametrize(("answer", "heard"), [(ANSWER, True), (b"no\n", False), (b"", False)])
def test_the_answer_counts(answer: bytes, heard: bool, place: Place) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place.address)
        server.listen()
        got: list[bytes] = []

        def serve() -> None:
            caller, _where = server.accept()
            with caller:
                got.append(caller.recv(MOST_BYTES))
                caller.sendall(answer)

        serving = threading.Thread(target=serve)
        serving.start()
        assert ask_first(place, Request(page="processes")) is heard
        serving.join()
    assert decoded(got[0]) == Request(page="processes")


def test_nobody_at_the_place_costs_a_bounded_time(place: Place) -> None:
    assert not ask_first(place, Request(), patience_s=0.1)
    assert not ask_first(place, Request(page="x" * MOST_BYTES), patience_s=60)


@on_linux
def test_a_first_one_that_hangs_costs_a_bounded_time(place: Place) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place.address)
        server.listen()
        assert not ask_first(place, Request(), patience_s=0.2)


@pytest.mark.skipif(sys.platform != "win32", reason="sessions and users of Windows")
def test_the_place_holds_session_and_user() -> None:
    found = find_place({})
    assert found is not None
    assert found.lock == f"Local\\{found.address}"
    program, session, user = found.address.split(".", 2)
    assert (program, session.isdigit(), user) == ("GPUMon", True, os.environ["USERNAME"])
    assert find_place({"QT_QPA_PLATFORM": "offscreen:x"}) is None


def test_what_is_not_the_live_window_is_on_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    tmp_path.chmod(0o700)
    first = enter(Arguments())
    assert first.claim is not None
    for arguments in (
        Arguments(demo=True),
        Arguments(replay=tmp_path / "x"),
        Arguments(scenario="mig"),
        Arguments(screenshot=Screenshot(tmp_path / "x.png")),
    ):
        entry = enter(arguments)
        assert (entry.handed_over, entry.claim, entry.is_alone) == (False, None, True)
    first.claim.close()


@on_linux
def test_what_cannot_be_found_out_costs_no_window(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpumon_gui.app.first.find_place", lambda: place)
    Path(place.lock).mkdir()
    entry = enter(Arguments())
    assert (entry.handed_over, entry.claim, entry.is_alone) == (False, None, True)
