"""What a window costs before anybody asks for more: what is loaded and made at the start, and what later."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpumon_gui.ui.page_shelf import PageShelf


def test_a_page_is_made_when_it_is_first_wanted_and_only_once() -> None:
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name.upper()

    shelf = PageShelf(("one", "two"), make)
    told: list[str] = []
    shelf.when_made("two", told.append)
    assert (list(shelf), shelf.made(), made, told) == (["one", "two"], [], [], [])
    assert (shelf["two"], shelf["two"]) == ("TWO", "TWO")
    assert (shelf.made(), made, told) == (["TWO"], ["two"], ["TWO"])
    shelf.when_made("two", told.append)
    assert told == ["TWO", "TWO"]
    with pytest.raises(KeyError):
        shelf["three"]


def test_the_start_loads_nothing_that_only_other_pages_need() -> None:
    """Each costs a megabyte of memory, or a tenth of a second of the start, of who only looks at the charts."""
    script = "import sys; import gpumon_gui.app.composition; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    unwanted = ("psutil", "pynvml", "jinja2", "html", "ssl", "hashlib", "multiprocessing.pool")
    parts = (
        "gpumon_gui.diagnosis.rules",
        "gpumon_gui.diagnosis.behaviour.watcher",
        "gpumon_gui.diagnosis.report.text",
        "gpumon_gui.telemetry.synthetic",
        "gpumon_gui.ui.wizard",
        "gpumon_gui.ui.pages.diagnostics",
        "gpumon_gui.ui.pages.history",
        "gpumon_gui.ui.widgets.watch_panel",
    )
    assert not [name for name in loaded if name in unwanted or name.startswith(parts)]
