"""Knows: the wizard's fourth page: in which form a report is saved, and what is hidden in it.
Must not know: how it is made or written."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QTextCharFormat, QTextOption
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpumon_gui.bridge.diagnosis_files import Preview
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import N_, _
from gpumon_gui.ui.theme import L, M, S, Text, Theme
from gpumon_gui.ui.widgets.fields import FlatHeader, Framed
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.report_buttons import ReportButtons
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars
from gpumon_gui.ui.widgets.section import set_text, wrapped
from gpumon_gui.ui.widgets.ticks import Radio

FORMATS: tuple[tuple[str, str], ...] = (
    (".html", N_("HTML (to read in a browser)")),
    (".md", N_("Markdown (to paste into a forum)")),
    (".json", N_("JSON (for programs)")),
)
KIND: dict[str, str] = {
    "user": N_("user name"),
    "host": N_("computer name"),
    "home": N_("home folder"),
    "folder": N_("folder"),
    "address": N_("IP address"),
    "secret": N_("secret"),
    "serial": N_("serial number"),
    "id": N_("id of a device"),
}
#: What kind and how often are read whole; the words share the rest.
_FIXED, _STRETCH = QHeaderView.ResizeMode.Fixed, QHeaderView.ResizeMode.Stretch
_WIDTHS = (_FIXED, _STRETCH, _STRETCH, _FIXED)
#: Below this width the list stands under the text.
_NARROW = 900


class ReportPage(QWidget):
    """Signals:
    form_chosen(str): another form; the suffix.
    """

    form_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: Preview | None = None
        self.message = MessageBar(theme, closable=True, parent=self)
        self.saved = ReportButtons(theme, self)
        self.saved.hide()
        self._intro = wrapped(theme, parent=self)
        self._group = QButtonGroup(self)
        self.forms: dict[str, Radio] = {}
        row = self._choices = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(S)
        for suffix, _label in FORMATS:
            button = Radio(theme, self)
            button.setObjectName(suffix)
            self._group.addButton(button)
            self.forms[suffix] = button
            row.addWidget(button)
        choices = QHBoxLayout()
        choices.addLayout(row)
        choices.addStretch(1)
        self.forms[".html"].setChecked(True)
        self._group.buttonClicked.connect(self._on_form)
        self._text_title = QLabel(self)
        self._text_title.setFont(theme.font(Text.STRONG))
        self.text = QTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.document().setDefaultStyleSheet("pre {white-space: pre-wrap}")  # as browsers do; Qt reads no other
        self.text.setTabChangesFocus(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        use_thin_bars(self.text, theme)
        self._list_title = QLabel(self)
        self._list_title.setFont(theme.font(Text.STRONG))
        self.replaced = QTreeWidget(self)
        self.replaced.setRootIsDecorated(False)
        self.replaced.setFrameShape(QFrame.Shape.NoFrame)
        header = FlatHeader(theme, self.replaced)
        header.align(3)
        self.replaced.setHeader(header)
        header.setStretchLastSection(False)
        self.replaced.setColumnCount(4)
        for number, mode in enumerate(_WIDTHS):
            header.setSectionResizeMode(number, mode)
        self.replaced.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        use_thin_bars(self.replaced, theme)
        self._list = Framed(theme, self.replaced, self)
        left, right = QVBoxLayout(), QVBoxLayout()
        for box, title, framed in (
            (left, self._text_title, Framed(theme, self.text, self)),
            (right, self._list_title, self._list),
        ):
            box.setSpacing(S)
            box.addWidget(title)
            box.addWidget(framed, 1)
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(M)
        self._both.addLayout(left, 3)
        self._both.addLayout(right, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(L, S, L, S)
        column.setSpacing(S)
        column.addWidget(self.message)
        column.addWidget(self.saved, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._intro)
        column.addLayout(choices)
        column.addSpacing(S)
        column.addLayout(self._both, 1)
        self.retranslate()

    @property
    def suffix(self) -> str:
        """The form chosen."""
        return next(suffix for suffix, button in self.forms.items() if button.isChecked())

    def begin(self) -> None:
        """A report shall be saved."""
        self.message.hide()
        self.saved.hide()
        self._shown = None
        self._write("")
        self.replaced.clear()
        self._tell()

    def show_preview(self, preview: Preview) -> None:
        """What would be written."""
        if preview.suffix != self.suffix:
            return
        self._shown = preview
        self._write(preview.text)
        self.replaced.clear()
        for kind, word, instead, count in preview.replaced:
            item = QTreeWidgetItem(self.replaced)
            for number, words in enumerate((_(KIND[kind]), printable(word), printable(instead), str(count))):
                item.setText(number, words)
                item.setToolTip(number, words)
            item.setTextAlignment(3, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for number, mode in enumerate(_WIDTHS):
            if mode is _FIXED:
                self.replaced.resizeColumnToContents(number)
                self.replaced.setColumnWidth(number, self.replaced.columnWidth(number) + S)
        self._tell()

    def tell_saved(self, file: str, fault: str) -> None:
        """How the writing went."""
        if fault:
            self.message.say(fault, Tone.BAD)
        else:
            self.saved.file = Path(file)
            self.message.say(_("Saved as {file}.").format(file=printable(file)), Tone.GOOD)
        self.saved.setVisible(not fault)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        set_text(
            self._intro,
            _(
                "The report is for somebody who helps you. What is recognised as the name of a person or a computer, "
                "an address, a folder of your own, a secret, a serial number or a device's id is replaced in it, the "
                "same by the same. Names of files, packages and environments stay. Read it before you pass it "
                "on; nothing is sent."
            ),
        )
        for suffix, label in FORMATS:
            self.forms[suffix].setText(_(label))
        self.replaced.setHeaderLabels([_("What"), _("In the original"), _("In the report"), _("Times")])
        self.replaced.setAccessibleName(_("What is replaced"))
        self.text.setAccessibleName(_("What is saved"))
        self.message.retranslate()
        self.saved.retranslate()
        shown = self._shown
        if shown is not None:
            self.show_preview(shown)
        self._tell()

    def _write(self, text: str) -> None:
        """A page as a browser shows it; any other text as it is."""
        self.text.setCurrentCharFormat(QTextCharFormat())
        if text.startswith("<!doctype html>"):
            self.text.setFont(self._theme.font(Text.BODY))
            self.text.setHtml(text)
        else:
            self.text.setFont(self._theme.code_font(Text.CAPTION))
            self.text.setPlainText(text)

    def _tell(self) -> None:
        shown = self._shown
        self._text_title.setText(_("What is saved") if shown is not None else _("The report is being made…"))
        if shown is None:
            self._list_title.setText("")
        elif shown.replaced:
            count = len(shown.replaced)
            self._list_title.setText(_("Replaced: {count}").format(count=count))
        else:
            self._list_title.setText(_("Nothing had to be replaced"))
        self._list.setVisible(shown is not None and bool(shown.replaced))
        self._fit()

    @Slot()
    def _on_form(self) -> None:
        if self._shown is None or self._shown.suffix != self.suffix:
            self._shown = None
            self._tell()
            self.form_chosen.emit(self.suffix)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        wide, high = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        needed = sum(button.sizeHint().width() + S for button in self.forms.values()) + 2 * L
        self._choices.setDirection(high if needed > self.width() else wide)
        has_list = self._shown is not None and bool(self._shown.replaced)
        self._both.setDirection(wide if has_list and self.width() >= _NARROW else high)
        self._both.setStretch(1, 2 if has_list else 0)
