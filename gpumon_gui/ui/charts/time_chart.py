"""Knows: how a value over time is shown: caption, plot, foot. Must not know: samples, devices.

Like Task Manager: caption left above the plot, figure right, the span below. Nothing is drawn while nobody can see it.
Keys: left and right move a cross-hair from value to value, Home and End go to both ends, Escape puts it away.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QFocusEvent, QFontMetrics, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.announce import announce
from gpumon_gui.ui.charts.bands import Band, BandStyle, PlacedBand
from gpumon_gui.ui.charts.decimate import GAP_MIN_S, Array
from gpumon_gui.ui.charts.plot import Plot
from gpumon_gui.ui.theme import XS, S, Series, Text, Theme
from gpumon_gui.ui.tips import plain
from gpumon_gui.ui.widgets.text import FixedLabel

_EMPTY: Array = np.empty(0)
#: The caption is this much higher than its text: room for the line that marks the focus.
CAPTION_HEIGHT_EXTRA = 4
#: So many keys lead from one end to the other at most.
_STRIDES = 120
_NO_MODIFIERS = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


class TimeChart(QWidget):
    """One chart. ``form`` writes a value (canonical unit) for the tool tip, ``sample`` is the longest usual figure."""

    def __init__(
        self,
        theme: Theme,
        series: Series = Series.ENGINE,
        form: Callable[[float], str] = formatters.percent,
        *,
        caption: QWidget | None = None,
        sample: str = "100 %",
        foot: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._series = series
        self._form = form
        self._span_s = 60.0
        self._top = 1.0
        self._ago: Array = _EMPTY
        self._values: Array = _EMPTY
        self._now_utc_s = 0.0
        self._dimmed = False
        self._pending = False
        self._bands: tuple[Band, ...] = ()
        self._cursor_utc_s: float | None = None
        self._about = ""

        self.caption = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self.caption.setHidden(caption is not None)
        self.figure = FixedLabel(theme, Text.CAPTION, align=Qt.AlignmentFlag.AlignRight, sample=sample)
        self._plot = Plot(self)
        self._plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._plot.viewport().installEventFilter(self)
        self._plot.viewport().setMouseTracking(True)
        self._left = FixedLabel(theme, Text.CAPTION, muted=True)
        self._right = FixedLabel(theme, Text.CAPTION, muted=True, align=Qt.AlignmentFlag.AlignRight)
        self._right.set_text("0")
        self._foot = QWidget(self)

        head = QHBoxLayout()
        head.setSpacing(S)
        head.addWidget(self.caption if caption is None else caption, 1)
        head.addWidget(self.figure)
        below = QHBoxLayout(self._foot)
        below.setContentsMargins(0, 0, 0, 0)
        below.addWidget(self._left, 3)
        below.addWidget(self._right, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(XS)
        box.addLayout(head)
        box.addWidget(self._plot, 1)
        box.addWidget(self._foot)
        self._foot.setVisible(foot)
        self.setMinimumHeight(96)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

        theme.changed.connect(self._recolour)
        self._recolour()
        self.retranslate()

    def set_span(self, seconds: float) -> None:
        """Length of the time axis."""
        if seconds != self._span_s:
            self._span_s = seconds
            self.retranslate()
            self._plot.set_range(self._span_s, self._top)
            self._draw()

    def set_top(self, top: float) -> None:
        """Upper end of the value axis, in the unit of the values."""
        if top != self._top and top > 0:
            self._top = top
            self._plot.set_range(self._span_s, self._top)

    def set_data(self, times: Array, values: Array, now_s: float, now_utc_s: float) -> None:
        """Show a series: ascending monotonic seconds, and the two clocks at its right edge. NaN is a gap."""
        self._ago = times - now_s
        self._values = values
        self._now_utc_s = now_utc_s
        self._show_cursor()
        self._draw()

    def set_bands(self, bands: tuple[Band, ...]) -> None:
        """Mark parts of the time behind the curve; the pointer over one tells what it is."""
        if bands != self._bands:
            self._bands = bands
            self._draw()

    @property
    def bands(self) -> tuple[Band, ...]:
        """The parts that are marked."""
        return self._bands

    def explanation(self, ago_s: float) -> str:
        """What the tool tip says for a moment, in seconds before now (negative); empty where there is nothing."""
        lines = []
        near = int(np.argmin(np.abs(self._ago - ago_s))) if len(self._ago) else -1
        if near >= 0 and abs(float(self._ago[near]) - ago_s) <= max(GAP_MIN_S, self._span_s / 100):
            value = float(self._values[near])
            when = moments.clock(self._now_utc_s + float(self._ago[near]))
            lines += [_("no value") if np.isnan(value) else self._form(value), when]
        at_utc_s = self._now_utc_s + ago_s
        lines += [band.text for band in self._bands if band.start_utc_s <= at_utc_s <= band.end_utc_s]
        return "\n".join(dict.fromkeys(lines))

    def set_texts(self, caption: str, figure: str, spoken: str, about: str = "") -> None:
        """Caption, the figure at the right, what a screen reader says (``GPU 0 Compute 87 percent``), and what is said
        about the figure, with its counter."""
        self.caption.set_text(caption)
        self.figure.set_text(figure)
        if self.accessibleName() != spoken:
            self.setAccessibleName(spoken)
        if about != self._about:
            self._about = about
            self._explain_keys()

    def has_room(self, caption: str) -> bool:
        """Whether a caption stands whole beside the figure."""
        room = self.width() - self.figure.sizeHint().width() - S
        return QFontMetrics(self.caption.font()).horizontalAdvance(caption) <= room

    @property
    def cursor_utc_s(self) -> float | None:
        """The moment below the cross-hair."""
        return self._cursor_utc_s

    @property
    def foot(self) -> str:
        """What stands below at the left: the span, or value and time at the cross-hair."""
        return self._left.text

    def set_dimmed(self, dimmed: bool) -> None:
        """Grey: the values are not of now."""
        if dimmed != self._dimmed:
            self._dimmed = dimmed
            self.figure.set_dimmed(dimmed)
            self._recolour()

    def retranslate(self) -> None:
        """Say span and keys in the user's language, whose letters may be higher."""
        self.caption.setFixedHeight(self.caption.sizeHint().height() + CAPTION_HEIGHT_EXTRA)
        self._show_cursor()
        self._explain_keys()

    def drawn(self) -> tuple[Array, Array]:
        """The series on show (seconds before now, values); for tests."""
        return self._ago, self._values

    def showEvent(self, event: QEvent) -> None:
        """Draw what arrived while hidden."""
        if self._pending:
            self._draw(visible=True)

    def resizeEvent(self, event: QEvent) -> None:
        """More or fewer pixel columns."""
        self._draw()

    def expose(self) -> None:
        """Called when scrolling may have brought the chart into sight."""
        if self._pending:
            self._draw()

    # -- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the module."""
        shown = np.flatnonzero(self._ago >= -self._span_s)
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -len(shown), Qt.Key.Key_End: len(shown)}
        step = steps.get(Qt.Key(event.key()))
        if step is not None and len(shown) and event.modifiers() in _NO_MODIFIERS:
            last = len(self._ago) - 1
            if self._cursor_utc_s is None:  # from the end that the key leads away from, or to
                at = int(shown[0]) if step < -1 else last
            else:
                now = int(np.argmin(np.abs(self._ago + (self._now_utc_s - self._cursor_utc_s))))
                stride = max(1, len(shown) // _STRIDES) if abs(step) == 1 else 1
                at = min(max(now + step * stride, int(shown[0])), last)
            self._cursor_utc_s = self._now_utc_s + float(self._ago[at])
            self._show_cursor()
            announce(self, self.explanation(float(self._ago[at])).replace("\n", ", "))
        elif event.key() == Qt.Key.Key_Escape and self._cursor_utc_s is not None:
            self._put_away()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The frame says where the keyboard is."""
        self._plot.set_mark(QColor(self._theme.colours.text))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """No cross-hair where the keyboard is not; a menu is no other place."""
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self._plot.set_mark(None)
            self._put_away()

    def _put_away(self) -> None:
        self._cursor_utc_s = None
        self._show_cursor()

    def _show_cursor(self) -> None:
        """The cross-hair stays on its moment, until that leaves the chart."""
        ago = None if self._cursor_utc_s is None else self._cursor_utc_s - self._now_utc_s
        if ago is not None and not -self._span_s <= ago <= 0.001:
            self._cursor_utc_s = ago = None
        self._plot.set_cursor(ago)
        told = "" if ago is None else self.explanation(ago).replace("\n", "  ·  ")
        self._left.set_text(told or formatters.span(self._span_s))

    def _explain_keys(self) -> None:
        keys = _("Left and Right move a cross-hair from value to value, Escape puts it away.")
        self.setAccessibleDescription(self._about)
        self.setWhatsThis(plain("\n".join(part for part in (self._about, keys) if part)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Value and time under the pointer."""
        if event.type() == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._explain(event)
        elif event.type() == QEvent.Type.Leave:
            QToolTip.hideText()
        return False

    def _draw(self, visible: bool = False) -> None:
        if not visible and (not self._plot.in_sight()):
            self._pending = True
            return
        self._pending = False
        self._plot.set_bands(tuple(self._placed(band) for band in self._bands))
        self._plot.set_data(self._ago, self._values)

    def _explain(self, event: QMouseEvent) -> None:
        at_s = -self._span_s * (1.0 - event.position().x() / max(1, self._plot.width()))
        text = self.explanation(at_s)
        if text:
            QToolTip.showText(event.globalPosition().toPoint(), plain(text), self._plot)
        else:
            QToolTip.hideText()

    def _placed(self, band: Band) -> PlacedBand:
        colours = self._theme.colours
        colour = colours.muted if band.style is BandStyle.JUDGED else colours.tone(band.tone)
        start_s, end_s = band.start_utc_s - self._now_utc_s, band.end_utc_s - self._now_utc_s
        return PlacedBand(start_s, end_s, QColor(colours.faint if self._dimmed else colour), band.style)

    def _recolour(self) -> None:
        colours = self._theme.colours
        self._plot.set_mark(QColor(colours.text) if self.hasFocus() else None)
        curve = QColor(colours.faint) if self._dimmed else self._theme.series(self._series)
        alpha = 24 if self._dimmed else colours.fill_alpha
        border = QColor(colours.border) if self._dimmed else _mixed(curve, QColor(colours.chart_back), 0.55)
        self._plot.set_colours(QColor(colours.chart_back), border, QColor(colours.chart_grid), curve, alpha)
        self._draw()


def _mixed(a: QColor, b: QColor, share: float) -> QColor:
    return QColor.fromRgbF(
        a.redF() * share + b.redF() * (1 - share),
        a.greenF() * share + b.greenF() * (1 - share),
        a.blueF() * share + b.blueF() * (1 - share),
    )
