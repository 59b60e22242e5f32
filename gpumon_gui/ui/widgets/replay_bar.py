"""Knows: the controls of a replay: play, position, speed, file. Must not know: files, samples, threads."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QSlider, QStyle, QStyleOptionSlider, QWidget

from gpumon_gui.bridge.replay import Replay, ReplayState
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.ui.theme import L, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.text import FixedLabel

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
SKIP_S = 5.0
#: The slider counts tenths of a second: 32 bits are enough for six years.
_PER_S = 10
#: Radius of the slider's handle.
_KNOB = 8


class ReplayBar(QWidget):
    """One row. Space plays and pauses; left and right go five seconds, with Shift one sample; Home and End.

    The row sends what the user does to the replay and shows what the replay says; it keeps no state of its own.
    """

    def __init__(self, replay: Replay, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._replay = replay
        self.play_button = FlatButton(theme, "play", parent=self)
        self.slider = SeekSlider(theme, self)
        self.position_label = FixedLabel(
            theme, muted=True, align=Qt.AlignmentFlag.AlignRight, sample="0:00:00", parent=self
        )
        self.duration_label = FixedLabel(theme, muted=True, sample="0:00:00", parent=self)
        self.speed_button = FlatButton(theme, "speed", speed_text(1.0), parent=self)
        self.name_label = FixedLabel(theme, Text.BODY, sample="a-longer-recording.gpumon", parent=self)
        for label in (self.position_label, self.duration_label, self.name_label):
            label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._menu = QMenu(self)
        self._speeds: dict[float, QAction] = {}
        self._fill_menu()
        self.speed_button.set_menu(self._menu)

        row = QHBoxLayout(self)
        row.setContentsMargins(L, S, L, S)
        row.setSpacing(S)
        row.addWidget(self.play_button)
        row.addWidget(self.position_label)
        row.addWidget(self.slider, 1)
        row.addWidget(self.duration_label)
        row.addWidget(self.speed_button)
        row.addWidget(self.name_label)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

        self.play_button.clicked.connect(self._on_play_clicked)
        self.slider.sought.connect(self._on_sought)
        replay.duration_known.connect(self._on_duration_known)
        replay.position_changed.connect(self._on_position_changed)
        replay.state_changed.connect(self._on_state_changed)
        self._on_duration_known(replay.duration_s)
        self._on_position_changed(replay.position_s)
        self.retranslate()

    def retranslate(self) -> None:
        """Texts in the user's language."""
        self.setAccessibleName(_("Replay"))
        self.slider.setAccessibleName(_("Position in the recording"))
        self.slider.setToolTip(_("Position in the recording. Left and right: 5 seconds, with Shift one sample."))
        self.speed_button.setAccessibleName(_("Replay speed"))
        self.speed_button.setToolTip(_("Replay speed"))
        self._on_state_changed()
        self._describe()

    # -- what the replay says

    @Slot()
    def _on_state_changed(self) -> None:
        state = self._replay.state
        is_playing = state is ReplayState.PLAYING
        self.play_button.set_icon_name("pause" if is_playing else "play")
        text = _("Pause the replay (Space)") if is_playing else _("Play (Space)")
        self.play_button.setAccessibleName(text)
        self.play_button.setToolTip(text)
        is_open = self._replay.duration_s > 0 or state in (ReplayState.PAUSED, ReplayState.PLAYING, ReplayState.ENDED)
        for widget in (self.play_button, self.slider, self.speed_button):
            widget.setEnabled(is_open)
        path = self._replay.path
        self.name_label.set_text(self._replay.name)
        self.name_label.set_tip("" if path is None else shown(path))
        self._check_speed()

    @Slot(float)
    def _on_duration_known(self, duration_s: float) -> None:
        self.slider.set_length(round(duration_s * _PER_S))
        self.duration_label.set_text(clock_text(duration_s))
        self._on_state_changed()

    @Slot(float)
    def _on_position_changed(self, position_s: float) -> None:
        self.slider.show_value(round(position_s * _PER_S))
        self.position_label.set_text(clock_text(position_s))
        self._describe()

    # -- what the user does

    @Slot()
    def _on_play_clicked(self) -> None:
        self._replay.toggle()

    @Slot(int)
    def _on_sought(self, value: int) -> None:
        self.position_label.set_text(clock_text(value / _PER_S))
        self._replay.seek(value / _PER_S)

    @Slot(QAction)
    def _on_speed_chosen(self, action: QAction) -> None:
        self._replay.set_speed(float(action.data()))
        self._check_speed()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.slider.isEnabled():
            super().keyPressEvent(event)
            return
        key, with_shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._replay.toggle()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            sign = 1 if key == Qt.Key.Key_Right else -1
            if with_shift:
                self._replay.step(sign)
            else:
                self._replay.skip(sign * SKIP_S)
        elif key == Qt.Key.Key_Home:
            self._replay.seek(0.0)
        elif key == Qt.Key.Key_End:
            self._replay.seek(self._replay.duration_s)
        else:
            super().keyPressEvent(event)

    # -- small things

    def _fill_menu(self) -> None:
        group = QActionGroup(self._menu)
        for speed in SPEEDS:
            action = QAction(speed_text(speed), self._menu)
            action.setCheckable(True)
            action.setData(speed)
            group.addAction(action)
            self._menu.addAction(action)
            self._speeds[speed] = action
        group.triggered.connect(self._on_speed_chosen)

    def _check_speed(self) -> None:
        speed = self._replay.speed
        self.speed_button.set_text(speed_text(speed))
        if speed in self._speeds:
            self._speeds[speed].setChecked(True)

    def _describe(self) -> None:
        """What a screen reader says of the slider: a time, not a bare number."""
        self.slider.setAccessibleDescription(
            _("{position} of {duration}").format(
                position=clock_text(self._replay.position_s), duration=clock_text(self._replay.duration_s)
            )
        )


class SeekSlider(QSlider):
    """A slider that goes to where it is pressed, and tells user's moves apart from shown ones.

    Signals:
        sought(int): the user wants this value.
    """

    sought = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._is_showing = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)
        self.valueChanged.connect(self._on_value_changed)

    def set_length(self, length: int) -> None:
        """The value at the right end."""
        self._is_showing = True
        self.setRange(0, max(1, length))
        self.setPageStep(max(1, length // 10))
        self._is_showing = False

    def show_value(self, value: int) -> None:
        """Move the handle without a signal; not while the user holds it."""
        if not self.isSliderDown():
            self._is_showing = True
            self.setValue(value)
            self._is_showing = False

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        control, style, colours = QStyle.ComplexControl.CC_Slider, self.style(), self._theme.colours
        handle = QRectF(style.subControlRect(control, option, QStyle.SubControl.SC_SliderHandle, self)).center()
        middle = self.height() / 2
        groove = QRectF(1, middle - 2, self.width() - 2, 4)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.faint if colours.border == colours.text else colours.border))
        painter.drawRoundedRect(groove, 2, 2)
        colour = QColor(colours.accent if self.isEnabled() else colours.faint)
        groove.setRight(handle.x())
        painter.setBrush(colour)
        painter.drawRoundedRect(groove, 2, 2)
        painter.setPen(QPen(QColor(colours.text if self.hasFocus() else colours.border), 1.4))
        painter.setBrush(QColor(colours.surface))
        painter.drawEllipse(QPointF(handle.x(), middle), _KNOB, _KNOB)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        inner = _KNOB - (3 if self.underMouse() or self.isSliderDown() else 4)
        painter.drawEllipse(QPointF(handle.x(), middle), inner, inner)
        painter.end()

    @Slot(int)
    def _on_value_changed(self, value: int) -> None:
        if not self._is_showing:
            self.sought.emit(value)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            control, style = QStyle.ComplexControl.CC_Slider, self.style()
            groove = style.subControlRect(control, option, QStyle.SubControl.SC_SliderGroove, self)
            handle = style.subControlRect(control, option, QStyle.SubControl.SC_SliderHandle, self)
            if not handle.contains(event.position().toPoint()):
                place = round(event.position().x()) - groove.x() - handle.width() // 2
                self.setValue(
                    QStyle.sliderValueFromPosition(
                        self.minimum(), self.maximum(), place, groove.width() - handle.width(), option.upsideDown
                    )
                )
        super().mousePressEvent(event)  # now on the handle: a drag begins

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            super().keyPressEvent(event)
        else:
            event.ignore()  # the row knows what the arrows mean


def speed_text(speed: float) -> str:
    """``0.25×``, ``1×``."""
    return f"{speed:g}×"


def clock_text(seconds: float) -> str:
    """``0:07``, ``1:02:03``: a position, in whole seconds."""
    minutes, second = divmod(int(seconds + 1e-6), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
