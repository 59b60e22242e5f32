"""Knows: what a complete program consists of, as counts. Must not know: the window.

Run on a frozen build, the counts are compared with the checkout's: a module that packaging left out shows up here.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from gpumon_gui import __version__
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import LANGUAGES, _, locale_root
from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.reasons import SOURCE_TEXT
from gpumon_gui.core.resources import resource_root
from gpumon_gui.diagnosis import probe_scripts
from gpumon_gui.system import console, paths
from gpumon_gui.telemetry.table import SOURCES

LIBRARIES = ("jinja2", "msgspec", "numpy", "platformdirs", "psutil", "pynvml", "sqlite3", "tomlkit")


def summary() -> str:
    """One line for the help."""
    return _("count what the program consists of and check that nothing is missing")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own options."""
    parser.add_argument("--json", action="store_true", help=_("one JSON document (schema gpumon-self-test/1)"))


def run(arguments: argparse.Namespace) -> int:
    """Print the counts; 3 when a part is missing."""
    counts = {name: count() for name, count in COUNTS}
    broken = [name for name in LIBRARIES if not _imports(name)]
    missing = [name for name, number in counts.items() if number == 0] + broken
    document = {
        "schema": "gpumon-self-test/1",
        "program": f"GPUMon {__version__}",
        "python": platform.python_version(),
        "frozen": bool(getattr(sys, "frozen", False)),
        "counts": counts,
        "libraries": {name: name not in broken for name in LIBRARIES},
        "missing": missing,
        "folders": _folders(),
    }
    if arguments.json:
        console.put(json.dumps(document, indent=2))
    else:
        lines = [f"{name:10} {number}" for name, number in counts.items()]
        lines.append(_("Missing: {names}").format(names=", ".join(missing)) if missing else _("Complete."))
        console.put("\n".join(lines))
    return 3 if missing else 0


def _folders() -> dict[str, str]:
    try:
        found = paths.folders()
    except GpumonError:  # no home: nothing will be kept
        return {}
    return {"config": str(found.config), "data": str(found.data), "logs": str(found.logs), "state": str(found.state)}


def _languages() -> int:
    compiled = [name for name in LANGUAGES if (locale_root() / name / "LC_MESSAGES" / "gpumon.mo").is_file()]
    return 1 + len(compiled) if len(compiled) == len(LANGUAGES) - 1 else 0  # English needs no catalogue


def _scenarios() -> int:
    from gpumon_gui.telemetry.synthetic.table import SCENARIOS  # only loaded when asked for

    return len(SCENARIOS)


def _rules() -> int:
    from gpumon_gui.diagnosis.rules.table import RULES  # only loaded when asked for

    return len(RULES)


def _scripts() -> int:
    return sum(1 for _file in Path(probe_scripts.__file__).parent.glob("*.py"))  # other Pythons run them as files


def _files(folder: str, pattern: str) -> int:
    return sum(1 for _file in (resource_root() / folder).glob(pattern))


def _imports(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


COUNTS: tuple[tuple[str, Callable[[], int]], ...] = (
    ("sources", lambda: len(SOURCES)),
    ("metrics", lambda: len(METRICS)),
    ("codes", lambda: len(SOURCE_TEXT)),
    ("scenarios", _scenarios),
    ("languages", _languages),
    ("icons", lambda: _files("icons", "*.svg")),
    ("demos", lambda: _files("demo", "*.gpumon")),
    ("rules", _rules),
    ("scripts", _scripts),
    ("tables", lambda: _files("compat", "*.toml")),
    ("reports", lambda: _files("report", "*.html")),
)
