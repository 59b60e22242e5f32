"""Knows: how a watch reaches the pages, the sampler, the history and the alerts. Must not know: how it is judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Slot

from gpumon_gui.app.alerts import Alerts
from gpumon_gui.app.awaited import PATIENCE_S, Awaited
from gpumon_gui.app.keeping import Keeping
from gpumon_gui.app.watch_report import WatchReport
from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.bridge.watching import MOST, SHARE, Program, Watched, Watching
from gpumon_gui.core.messages import N_, _, ngettext
from gpumon_gui.core.model import DeviceKey, Sample
from gpumon_gui.diagnosis.alerts.alert import VERDICT, Alert
from gpumon_gui.diagnosis.behaviour.machine_facts import machine_here, machine_recorded
from gpumon_gui.diagnosis.finding import Severity
from gpumon_gui.diagnosis.report import words
from gpumon_gui.history.marker import Marker, MarkerKind
from gpumon_gui.telemetry.derive.adapters import adapters
from gpumon_gui.ui.charts.bands import BandStyle
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.widgets import watch_texts
from gpumon_gui.ui.widgets.message_bar import Tone

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.behaviour.watcher import Turn
    from gpumon_gui.ui.widgets.watch_panel import WatchPanel

_ALARMING = (Severity.BLOCKS, Severity.CRASHES)
_TITLE = N_("A watched program has a serious problem")
_TEXT = N_("{program}: {verdict}")


class Watches(QObject):
    """Lives in the GUI thread; belongs to the window."""

    def __init__(
        self,
        window: MainWindow,
        feed: Feed,
        translation: Translation,
        keeping: Keeping | None = None,
        alerts: Alerts | None = None,
        *,
        share: float = SHARE,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._feed = feed
        self._keeping = keeping
        self._alerts = alerts
        self._told: dict[Program, int] = {}
        self._awaited: Awaited | None = None
        self.report = WatchReport(window)
        self.watching = Watching(feed, _recorded if window.is_recorded else machine_here, self, share=share)
        self.watching.changed.connect(self._on_changed)
        self.watching.pids_changed.connect(self._on_pids)
        self._performance: Any = window.pages["performance"]
        for name in ("performance", "processes"):
            window.pages[name].watch_wanted.connect(self.watch)
        feed.status_changed.connect(self._on_status)
        translation.changed.connect(self._on_language)
        window.add_closer(self.watching.close)

    @property
    def panel(self) -> WatchPanel | None:
        """The panel, once something was watched."""
        panel: WatchPanel | None = self._performance.split.panel
        return panel

    @Slot(object)
    def watch(self, program: Program) -> None:
        """Watch a program and show its panel beside the charts of the GPU that it uses."""
        if not self.watching.start(program):
            text = ngettext(
                "{count} program is watched already. Stop watching it first.",
                "{count} programs are watched already. Stop watching one of them first.",
                MOST,
            )
            self._window.message.say(text.format(count=MOST), Tone.ATTENTION)
            return
        panel = self._performance.split.make_panel()
        if program not in self._told:
            self._told[program] = 0
        if panel.current is None:
            panel.stop_wanted.connect(self.watching.stop)
            panel.finding_chosen.connect(self._on_finding)
            panel.chosen.connect(self._on_chosen)
            panel.report_wanted.connect(self.report.ask)
        panel.show_watched(self.watching.watched)
        self._on_status()
        self._show(panel, program)

    def show(self, pid: int) -> bool:
        """Bring the panel of a watched process on show; False: it is not watched."""
        panel = self.panel
        program = next((one.program for one in reversed(self.watching.watched) if one.program.pid == pid), None)
        if panel is None or program is None:
            return False
        if panel.is_folded:
            panel.toggle_fold()
        self._show(panel, program)
        return True

    def _show(self, panel: WatchPanel, program: Program) -> None:
        panel.choose(program)
        self._select_device(program)
        self._window.show_page("performance")
        self._performance.refresh()  # the room of the panel is what the page can spare
        self._performance.split.show_panel(True)
        by_keyboard = self._window.testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
        reason = Qt.FocusReason.ShortcutFocusReason if by_keyboard else Qt.FocusReason.OtherFocusReason
        panel.card.setFocus(reason)  # what had it is on another page now

    @Slot(object)
    def watch_when_seen(self, pid: int, *, is_here: bool = True) -> None:
        """Watch a process from the first sample on that lists it; it is read from now on. In place of another that
        was not seen yet. ``is_here``: a process of this machine; else of a recording or a scripted machine."""
        if self._awaited is not None:
            self._awaited.give_up()
        self._awaited = Awaited(self._window, self._feed, pid, self, is_here=is_here)
        self._awaited.seen.connect(self._on_seen)
        self._on_pids()

    @Slot(object)
    def _on_seen(self, program: Program) -> None:
        self._awaited = None
        self.watch(program)

    def _select_device(self, program: Program) -> None:
        sample = self._feed.latest
        processes = () if sample is None else sample.processes
        for process in processes:
            if program.is_same(process) and process.uses:
                devices = [use.device for use in process.uses]
                if self._performance.selected() not in devices:
                    self._performance.select(devices[0])
                return

    @Slot()
    def _on_changed(self) -> None:
        panel = self.panel
        if panel is None:
            return
        watched = self.watching.watched
        for one in watched:
            self._tell(one)
        self._told = {one.program: self._told.get(one.program, 0) for one in watched}
        panel.show_watched(watched)
        self._performance.split.show_panel(bool(watched))
        self._on_status()
        self._mark()

    @Slot(object)
    def _on_finding(self, chosen: object) -> None:
        """Show where it is to be seen, however long ago it began."""
        panel = self.panel
        if chosen is not None and panel is not None and panel.current is not None:
            self._show_devices_of(panel.current)
        self._mark()
        starts = [band.start_utc_s for band in self._performance.bands if band.style is BandStyle.CHOSEN]
        if chosen is not None and starts:
            self._performance.reach(min(starts))

    @Slot()
    def _mark(self) -> None:
        panel = self.panel
        watched = None if panel is None else panel.watched()
        if panel is None or watched is None:
            self._performance.mark((), ())
        else:
            self._performance.mark(watch_texts.bands(watched, panel.chosen_finding), watched.devices)

    @Slot(object)
    def _on_chosen(self, program: Program) -> None:
        self._show_devices_of(program)
        self._on_status()
        self._mark()

    def _show_devices_of(self, program: Program) -> None:
        """One of them, if none is on show."""
        state = self.watching.state(program)
        if state is not None and state.devices and self._performance.selected() not in state.devices:
            self._performance.select(state.devices[0])

    @Slot()
    def _on_pids(self) -> None:
        awaited = () if self._awaited is None else (self._awaited.pid,)
        self._window.pace.set_watched((*self.watching.pids, *awaited), self.watching.interval_s)

    @Slot()
    def _on_status(self, *_status: object) -> None:
        panel = self.panel
        if panel is None:
            return
        watched, sample = panel.watched(), self._feed.latest
        status = self._feed.status
        if status.state is FeedState.PAUSED and not self._window.is_recorded:
            notice = _("Updates are paused, so nothing new is seen.")
        elif status.is_over and watched is not None and _is_waiting(watched):
            notice = _("The recording is over. Play it again to see what the program does.")
        elif status.state is FeedState.PAUSED and watched is not None and _is_waiting(watched):
            notice = _("The recording is paused, so nothing new is seen.")
        elif watched is not None and sample is not None and not adapters(sample.inventory):
            text = _("GPUMon finds no GPU that {program} could use.")  # the verdict says so too once there is one
            notice = "" if _has_finding(watched) else text.format(program=watch_texts.called(watched.program))
        elif watched is not None and _is_off_the_gpu(watched):
            notice = _("It has not used a GPU so far. GPUMon goes on watching.")
        else:
            notice = ""
        panel.set_notice(notice)

    @Slot()
    def _on_language(self) -> None:
        self._on_status()
        self._mark()

    def _tell(self, watched: Watched) -> None:
        """A verdict that is another one leaves a mark, and an alert where it is serious. Not in a recording: that
        happened long ago."""
        turns = watched.verdict.history if watched.verdict is not None else ()
        told = self._told.get(watched.program, 0)
        self._told[watched.program] = len(turns)
        if self._window.is_recorded:
            return
        device = watched.devices[0] if watched.devices else None
        for turn in turns[told:]:
            if self._keeping is not None:
                self._keeping.add_marker(marker_of(watched.program, turn, device))
            finding = turn.finding
            if self._alerts is not None and finding is not None and finding.severity in _ALARMING:
                self._alerts.centre.add(alert_of(watched.program, turn, device))


def marker_of(program: Program, turn: Turn, device: DeviceKey | None) -> Marker:
    """A verdict as a mark in the history."""
    finding = turn.finding
    return Marker(
        utc_s=turn.utc_s,
        kind=MarkerKind.VERDICT,
        code="" if finding is None else finding.code,
        text=finding.title if finding is not None else words.IDLE if turn.is_idle else watch_texts.NOTHING,
        parameters=() if finding is None else tuple(finding.values.items()),
        subject=f"{program.name} ({program.pid})",
        device=device,
        tone=watch_texts.tone(finding, is_idle=turn.is_idle),
    )


def alert_of(program: Program, turn: Turn, device: DeviceKey | None) -> Alert:
    """A serious verdict as an alert."""
    values = {"program": watch_texts.called(program), "verdict": watch_texts.turn_sentence(turn)}
    return Alert(VERDICT, f"pid {program.pid}", turn.utc_s, _TITLE, _TEXT, values, device, program.pid)


def _has_finding(watched: Watched) -> bool:
    verdict = watched.verdict
    return verdict is not None and watch_texts.has_said(verdict) and watch_texts.said(verdict) is not None


def _is_waiting(watched: Watched) -> bool:
    """Whether more must be seen for a verdict."""
    return bool(watch_texts.waiting(watched))


def _is_off_the_gpu(watched: Watched) -> bool:
    """Whether it was watched for a while and never came to a GPU."""
    return not watched.devices and not watched.ended and not watched.fault and watched.seen_s >= PATIENCE_S


def _recorded(sample: Sample) -> Mapping[str, Any]:
    return machine_recorded(sample, {})
