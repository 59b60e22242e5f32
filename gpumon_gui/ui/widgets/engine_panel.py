"""Knows: the four engine charts and their drop-downs. Must not know: how engines are found (telemetry.derive)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKey
from gpumon_gui.telemetry.derive.engines import SLOTS, WINDOW_S, Engine, EngineChoice, engines
from gpumon_gui.telemetry.provenance import engine_counter, source_name
from gpumon_gui.ui import formatters
from gpumon_gui.ui.charts.chart_grid import ChartGrid
from gpumon_gui.ui.charts.time_chart import CAPTION_HEIGHT_EXTRA, TimeChart
from gpumon_gui.ui.text_height import text_height
from gpumon_gui.ui.theme import L, Series, Text, Theme
from gpumon_gui.ui.widgets.subject import Subject


def engine_caption(engine: Engine) -> str:
    """The name of an engine above its chart; the driver's GPU-Util says whose it is."""
    if engine.metric == "gpu_utilization" and engine.value.source:
        return f"{engine.label} ({source_name(engine.value.source)})"
    return engine.label


def engine_tip(engine: Engine) -> str:
    """What the figure is and where it comes from."""
    if engine.metric:
        return formatters.value_tip(engine.metric, engine.value)
    source = engine.value.source
    return formatters.source_line(source, engine_counter(source)) if source else ""


class CaptionButton(QToolButton):
    """The caption of a chart that opens a menu: text and a chevron, as in Task Manager.

    Signals:
        picked(str): the series of the engine the user chose.
    """

    picked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._choices: tuple[tuple[str, str, bool], ...] = ()
        self._current = ""
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFont(theme.font(Text.CAPTION))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    def set_choices(self, choices: tuple[tuple[str, str, bool], ...], current: str) -> None:
        """Series, name and group start of every engine, and the series on show. The menu is made when it opens."""
        self._choices = choices
        self._current = current
        name = next((name for series, name, _start in choices if series == current), "—")
        said = _("Engine of this chart: {name}").format(name=name)
        if said != self.accessibleName():  # a name may be the same in another language
            self.setText(name)
            self.setAccessibleName(said)

    def sizeHint(self) -> QSize:
        """As high as a caption; as wide as there is room."""
        width = QFontMetrics(self.font()).horizontalAdvance("Video Encode")
        return QSize(width + L, text_height(self.font()) + CAPTION_HEIGHT_EXTRA)

    def minimumSizeHint(self) -> QSize:
        """The longest usual name."""
        return self.sizeHint()

    def shown_text(self) -> str:
        """The name as far as there is room for it."""
        return QFontMetrics(self.font()).elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width() - L)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Text and chevron on the edge of the chart; in colour below the pointer, underlined with the focus."""
        colours = self._theme.colours
        text = self.shown_text()
        width = QFontMetrics(self.font()).horizontalAdvance(text)
        active = self.underMouse() or self.hasFocus() or self._menu.isVisible()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        painter.setPen(QColor(colours.accent if active else colours.text))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, text)
        x, y = width + 6, self.height() // 2 - 1
        pen = QPen(QColor(colours.accent if active else colours.muted), 1.4)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawLine(x, y, x + 3, y + 3)
        painter.drawLine(x + 3, y + 3, x + 6, y)
        if self.hasFocus():
            painter.fillRect(0, self.height() - 2, x + 6, 2, QColor(colours.accent))
        painter.end()

    def _fill(self) -> None:
        self._menu.clear()
        group = QActionGroup(self._menu)
        for series, name, start in self._choices:
            if start:
                self._menu.addSeparator()
            action = QAction(name, self._menu)
            action.setCheckable(True)
            action.setChecked(series == self._current)
            action.setActionGroup(group)
            action.triggered.connect(lambda _checked=False, chosen=series: self.picked.emit(chosen))
            self._menu.addAction(action)


class EnginePanel:
    """Four charts; which engine each shows is remembered per device."""

    def __init__(self, theme: Theme, grid: ChartGrid, parent: QWidget) -> None:
        """The charts become children of ``parent``, whose layout is ``grid``."""
        self._choice: dict[DeviceKey, EngineChoice] = {}
        self._follows = True
        self._subject: Subject | None = None
        self._buttons: list[CaptionButton] = []
        self._charts: list[TimeChart] = []
        for slot in range(SLOTS):
            button = CaptionButton(theme)
            chart = TimeChart(theme, Series.ENGINE, caption=button, parent=parent)
            button.picked.connect(lambda series, at=slot: self._picked(at, series))
            self._buttons.append(button)
            self._charts.append(chart)
            grid.add_engine(chart)

    @property
    def charts(self) -> Sequence[TimeChart]:
        """The charts in order."""
        return self._charts

    @property
    def buttons(self) -> Sequence[CaptionButton]:
        """The drop-downs in order."""
        return self._buttons

    def set_follows(self, on: bool) -> None:
        """Whether charts that the user did not choose follow the work."""
        self._follows = on
        if not on:
            self._choice.clear()  # back to the usual ones

    def show_subject(self, subject: Subject) -> None:
        """Draw the newest past of a device."""
        self._subject = subject
        offered = engines(subject.device)
        choice = self._choice.setdefault(subject.adapter.info.key, EngineChoice())
        choice.follows = self._follows
        slots = choice.update(offered, lambda series: subject.mean(series, WINDOW_S), subject.now_s)
        by_series = {engine.series: engine for engine in offered}
        first_figure = next((engine.series for engine in offered if not engine.from_os), "")
        names = tuple((e.series, engine_caption(e), e.series == first_figure and e is not offered[0]) for e in offered)
        for slot, (button, chart) in enumerate(zip(self._buttons, self._charts, strict=True)):
            engine = by_series.get(slots[slot]) if slot < len(slots) else None
            if chart.isHidden() != (engine is None):
                chart.setVisible(engine is not None)
            if engine is not None:
                button.set_choices(names, engine.series)
                cut = engine_caption(engine) if button.shown_text() != button.text() else ""
                tip = "\n".join(line for line in (cut, engine_tip(engine)) if line)
                if tip != button.toolTip():
                    button.setToolTip(tip)
                self._draw(chart, engine, subject)

    def retranslate(self) -> None:
        """Axis texts; captions come with the next sample, as high as the letters of the language."""
        for button, chart in zip(self._buttons, self._charts, strict=True):
            button.updateGeometry()
            chart.retranslate()

    def expose(self) -> None:
        """Scrolling may have brought charts into sight."""
        for chart in self._charts:
            chart.expose()

    def _draw(self, chart: TimeChart, engine: Engine, subject: Subject) -> None:
        name = engine_caption(engine)
        figure = formatters.value_text("engine_utilization", engine.value)
        chart.set_span(subject.span_s)
        chart.set_dimmed(subject.dimmed)
        chart.set_texts("", figure, spoken(subject.title, name, figure), engine_tip(engine))
        chart.set_data(*subject.series(engine.series), subject.now_s, subject.now_utc_s)

    def _picked(self, slot: int, series: str) -> None:
        if self._subject is not None:
            self._choice[self._subject.adapter.info.key].choose(slot, series)
            self.show_subject(self._subject)


def spoken(title: str, name: str, figure: str) -> str:
    """What a screen reader says about a chart: ``GPU 0 Compute 87 percent``, ``GPU 0 Power 403 of 450 W``."""
    used, slash, rest = figure.partition(" / ")
    if figure == formatters.DASH:
        figure = _("no value")
    elif figure.endswith(" %"):
        figure = _("{number} percent").format(number=figure.removesuffix(" %"))
    elif slash:
        figure = _("{size} of {total}").format(size=used, total=rest)
    return " ".join(part for part in (title, name, figure) if part)
