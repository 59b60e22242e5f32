"""Knows: what is clicked before a picture of the wizard, of what floats and of high contrast is taken. Must not know:
which pictures are wanted (``screenshots.py``).

    QT_SCALE_FACTOR=2 python packaging/scenes.py FOLDER NAME,NAME WxH…

takes the scenes of these names ("": all) in both languages and themes and in these sizes.

One window for all of it: language, theme and size change as they do for a user. The samples are those of a scripted
machine, the diagnosis that of a recorded one (``tests/machines``), so nothing of the machine at hand is looked at.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from threading import Event

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PySide6.QtCore import QEventLoop, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWidget

from gpumon_gui.app.arguments import Arguments, Screenshot
from gpumon_gui.app.diagnosing import Diagnosing
from gpumon_gui.app.origins import make_live_origin
from gpumon_gui.app.preferences import Preferences
from gpumon_gui.bridge.alerts import AlertCentre
from gpumon_gui.bridge.diagnosis_job import DiagnosisJob
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.formatters import duration, took
from gpumon_gui.core.redact import Private
from gpumon_gui.diagnosis.alerts import memory_full, run_ended, spill
from gpumon_gui.diagnosis.alerts.alert import Alert, Figure, Said
from gpumon_gui.diagnosis.gateway import Command, Ran
from gpumon_gui.diagnosis.proof.run import NoInstruments
from gpumon_gui.diagnosis.recorded_gateway import RecordedGateway
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.pages.diagnostics import DiagnosticsPage
from gpumon_gui.ui.theme import SCHEMES, Theme
from gpumon_gui.ui.tray.mini import MiniMonitor
from gpumon_gui.ui.widgets.alert_list import Bell

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ("en", "zh_CN")
THEMES = ("light", "dark")
CONTRAST = ("high contrast light", "high contrast dark")
SCENARIO = "one-gpu-training"
MACHINE = ROOT / "tests" / "machines" / "h200-torch-linux"
#: What its owner did to it.
HIDDEN_GPU = {"CUDA_VISIBLE_DEVICES": "-1"}
LOG = """\
UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of \
which 1.12 GiB is free. Process 4711 has 21.30 GiB memory in use.
"""
#: Answers given before the check stands still for its picture.
ANSWERED = 4
WARM_S = 12.0
PATIENCE_S = 60.0


class Machine(RecordedGateway):
    """The recorded machine; while ``held`` it stops to answer after some questions."""

    def __init__(self) -> None:
        super().__init__(MACHINE)
        self.changes: Mapping[str, str] = HIDDEN_GPU
        self.is_held = False
        self.answered = 0

    def variables(self) -> Mapping[str, str]:
        return {**super().variables(), **self.changes}

    def run(self, command: Command, cancel: Event | None = None) -> Ran:
        while self.is_held and self.answered >= ANSWERED and not (cancel is not None and cancel.wait(0.02)):
            pass
        self.answered += 1
        return super().run(command, cancel)


class Unwatched(NoInstruments):
    """Instruments that see nothing."""

    def close(self) -> None:
        """Nothing to end."""


class Set:
    """The window and what belongs to it."""

    def __init__(self, app: QApplication, folder: Path, sizes: list[tuple[int, int]], only: frozenset[str]) -> None:
        self.app, self.folder, self.sizes, self.only = app, folder, sizes, only
        self.theme, self.translation, self.feed = Theme(), Translation(), Feed()
        self.theme.apply(app)
        self.origin = make_live_origin(SCENARIO, self.feed, SystemClock())
        self.window = MainWindow(self.feed, self.theme, self.translation, self.origin)
        self.window.setMinimumSize(0, 0)
        self.settings = Settings(None, Values(), self.window)
        arguments = Arguments(screenshot=Screenshot(folder / "none.png"), welcome=True)
        Preferences(self.settings, self.window)
        self.diagnosing = Diagnosing(self.window, self.theme, self.translation, self.settings, arguments)
        self.machine = Machine()
        page = self.window.pages["diagnostics"]
        assert isinstance(page, DiagnosticsPage)
        self.page = page
        page.set_job(DiagnosisJob(gateway=lambda: self.machine, instruments=Unwatched))
        self.centre = AlertCentre(self.feed, None, self.window)
        self.bell = Bell(self.theme, self.centre, self.window)
        self.window.add_tool(self.bell)
        self.translation.changed.connect(self.bell.retranslate)
        self.mini = MiniMonitor(self.feed, self.theme, self.window)
        self.translation.changed.connect(self.mini.retranslate)
        self.count = 0

    def close(self) -> None:
        self.mini.close_down()
        self.settings.close()
        self.window.close_down()
        self.origin.close(2.5)

    # -- time

    def wait(self, seconds: float) -> None:
        loop = QEventLoop()
        QTimer.singleShot(round(seconds * 1000), loop, loop.quit)
        loop.exec()

    def until(self, holds: Callable[[], bool]) -> None:
        for _turn in range(round(PATIENCE_S / 0.05)):
            if holds():
                return
            self.wait(0.05)
        raise TimeoutError("a scene does not come about")

    # -- pictures

    def take(self, scene: str, shown: QWidget | None = None, themes: tuple[str, ...] = THEMES) -> None:
        """In every language and theme; the whole window in every size, or one widget as it is."""
        if self.only and scene not in self.only:
            return
        scale = int(os.environ.get("QT_SCALE_FACTOR", "1"))
        for language, theme in product(LANGUAGES, themes):
            self.translation.set_language(language)
            self.theme.colours = SCHEMES[theme]
            self.app.setPalette(self.theme.palette())
            self.theme.changed.emit()
            for size in self.sizes:
                self.window.resize(*size)
                self.wait(0.25)
                name = f"{scene}-{language}-{theme.replace(' ', '-')}"
                name += f"-{scale}00.png" if shown is not None else f"-{size[0]}x{size[1]}-{scale}00.png"
                (shown or self.window).grab().save(str(self.folder / name), "PNG")
                self.count += 1
                if shown is not None:
                    break

    # -- the scenes, in this order

    def welcome(self) -> None:
        self.diagnosing.welcome()
        self.take("welcome")

    def diagnostics_empty(self) -> None:
        self.window.show_page("diagnostics")
        self.take("diagnostics-empty")

    def choose(self) -> None:
        self.diagnosing.run()
        self.until(lambda: self.page.wizard is not None and self.page.wizard.choose.environments.count() > 0)
        self.wait(1.0)
        self.take("wizard-choose")

    def running(self) -> None:
        wizard = self.wizard
        self.machine.is_held, self.machine.answered = True, 0
        wizard.choose.given.paste.setPlainText(LOG)
        wizard.choose.proof.setChecked(False)
        wizard.go_on()
        self.wait(2.0)
        self.take("wizard-running")
        self.machine.is_held = False

    def findings(self) -> None:
        wizard = self.wizard
        self.until(lambda: wizard.findings.result is not None and wizard.findings.isVisible())
        self.take("wizard-findings")
        self.take("wizard-findings", themes=CONTRAST)
        wizard.findings.area.verticalScrollBar().setValue(wizard.findings.area.verticalScrollBar().maximum())
        self.take("wizard-findings-end")

    def help(self) -> None:
        self.wizard.findings.cards[0].help_button.click()
        self.take("wizard-help")
        self.wizard.go_back()

    def report(self) -> None:
        self.wizard.go_on()
        self.wait(1.5)
        self.take("wizard-report")
        self.wizard.go_back()

    def diagnostics(self) -> None:
        self.machine.changes = {}
        wizard, before = self.wizard, self.wizard.findings.result
        wizard.check_again(before)
        self.until(lambda: wizard.findings.result is not before and wizard.findings.isVisible())
        self.take("wizard-checked-again")
        wizard.go_back()
        self.wait(1.0)
        self.take("diagnostics")

    def settings_page(self) -> None:
        self.window.show_page("settings")
        self.take("settings")
        self.take("settings", themes=CONTRAST)
        area = self.window.pages["settings"].area
        area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
        self.take("settings-end")

    def contrast(self) -> None:
        for page in ("performance", "processes"):
            self.window.show_page(page)
            self.wait(1.0)
            self.take(page, themes=CONTRAST)

    def alerts(self) -> None:
        self.bell.panel.open_below(self.bell)
        self.take("alerts-empty", self.bell.panel)
        now = self.feed.latest.utc_s if self.feed.latest is not None else 0.0
        used = Said(run_ended.ENERGY, {"energy": "310 Wh"})
        run = {"program": "train.py", "pid": "4711", "time": Figure(took, 2520.0), "energy": used}
        full = {"gpu": "GPU 0", "used": "22.1 GB", "total": "24.0 GB", "time": Figure(duration, 360.0)}
        self.centre.add(
            Alert("run-ended", "4711", now - 90_000, run_ended.TITLE, run_ended.TEXT, run),
            Alert("spill", "0", now - 1900, spill.TITLE, spill.TEXT, {"gpu": "GPU 0", "shared": "3.4 GB"}),
            Alert("memory-full", "0", now - 60, memory_full.TITLE, memory_full.TEXT, full),
        )
        self.window.show_page("performance")
        self.bell.panel.open_below(self.bell)
        self.take("alerts", self.bell.panel)
        self.take("bell", self.bell)
        self.bell.panel.close()

    def mini_monitor(self) -> None:
        self.mini.toggle()
        self.wait(1.0)
        self.take("mini", self.mini)
        self.take("mini", self.mini, CONTRAST)
        self.mini.toggle()

    @property
    def wizard(self):  # type: ignore[no-untyped-def]
        assert self.page.wizard is not None
        return self.page.wizard

    def scenes(self) -> Iterator[Callable[[], None]]:
        yield self.welcome
        yield self.diagnostics_empty
        yield self.choose
        yield self.running
        yield self.findings
        yield self.help
        yield self.report
        yield self.diagnostics
        yield self.settings_page
        yield self.contrast
        yield self.alerts
        yield self.mini_monitor


def _on_qt_message(kind: QtMsgType, _context: object, message: str) -> None:
    if not message.startswith("This plugin does not support"):  # of the offscreen plug-in
        print(f"{kind.name}: {message}", file=sys.stderr)


def main(arguments: list[str]) -> int:
    """Take them; prints how many."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [(int(width), int(height)) for width, height in (text.split("x") for text in arguments[2:])]
    qInstallMessageHandler(_on_qt_message)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication([])
    with tempfile.TemporaryDirectory() as kept:
        stage = Set(app, folder, sizes, frozenset(arguments[1].split(",")) - {""})
        stage.page.set_folder(Path(kept), private=Private(("sam",), ("/home/sam",), ("gpu-server",)))
        stage.window.resize(*sizes[0])
        QCursor.setPos(stage.window.geometry().bottomRight())  # on no button
        stage.window.show()
        stage.origin.start()
        try:
            stage.wait(WARM_S)
            for scene in stage.scenes():
                scene()
        finally:
            stage.close()
    print(stage.count)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
