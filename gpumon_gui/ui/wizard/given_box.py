"""Knows: how a person gives files and pasted text to be judged. Must not know: what is read from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal, Slot
from PySide6.QtGui import QColor, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from gpumon_gui.core.files import printable, shown
from gpumon_gui.core.formatters import memory
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.given import Given
from gpumon_gui.ui.theme import RADIUS, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.fields import Framed
from gpumon_gui.ui.widgets.questions import file_dialog
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars
from gpumon_gui.ui.widgets.section import Card, set_text, wrapped
from gpumon_gui.ui.widgets.tab_order import put_behind

#: More text than this is kept but not laid out: an editor with 50 MB stands still for seconds.
MOST_SHOWN = 200_000
_LABEL: dict[str, str] = {
    "facts": N_("Facts or saved report"),
    "log": N_("Log"),
    "profile": N_("Profile or memory snapshot"),
    "script": N_("Script or notebook"),
    "": N_("Being looked at"),
}


class PasteBox(QPlainTextEdit):
    """Takes pasted text of any size, and files that are dropped or pasted.

    Signals:
        files_given(list): paths.
        large_pasted(str): text too long to show.
    """

    files_given = Signal(list)
    large_pasted = Signal(str)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = local_files(source)
        if paths:
            self.files_given.emit(paths)
        elif source.hasText() and len(source.text()) + self.document().characterCount() > MOST_SHOWN:
            self.large_pasted.emit(source.text())
        else:
            super().insertFromMimeData(source)


class _GivenRow(QWidget):
    def __init__(self, theme: Theme, kind: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        label = QLabel(f"{_(_LABEL[kind])}: {name}", self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setFont(theme.font(Text.BODY))
        self.remove_button = FlatButton(theme, "close", "", self)
        self.remove_button.setAccessibleName(_("Remove {file}").format(file=name))
        self.remove_button.setToolTip(_("Remove"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(label, 1)
        row.addWidget(self.remove_button)


class GivenBox(Card):
    """What is given besides the machine.

    Signals:
        changed(): something was added or removed.
        files_added(tuple): paths of which :meth:`set_kind` shall tell what they are; looking at them may take long.
    """

    changed = Signal()
    files_added = Signal(tuple)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._given = Given()
        self._unsorted: tuple[Path, ...] = ()
        self._large = ""
        self._is_over = False
        self.setAcceptDrops(True)
        self._hint = wrapped(theme, muted=True, parent=self)
        self.paste = PasteBox(self)
        self.paste.setTabChangesFocus(True)
        self.paste.setFrameShape(QFrame.Shape.NoFrame)
        use_thin_bars(self.paste, theme)
        self.paste.setFont(theme.code_font(Text.CAPTION))
        self.paste.setFixedHeight(5 * self.paste.fontMetrics().height())
        self.paste.files_given.connect(self._on_files)
        self.paste.large_pasted.connect(self._on_large)
        self.paste.textChanged.connect(self.changed)
        self.add_button = FlatButton(theme, "", "", self, framed=True)
        self.add_button.clicked.connect(self._on_add)
        self._last: QWidget = self.add_button  #: behind which Tab reaches what comes next
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        buttons = QHBoxLayout()
        buttons.addWidget(self.add_button)
        buttons.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(L, M, L, M)
        box.setSpacing(S)
        box.addWidget(self._hint)
        box.addLayout(self._rows)
        box.addLayout(buttons)
        box.addWidget(Framed(theme, self.paste, self))
        self.retranslate()

    @property
    def given(self) -> Given:
        """All of it."""
        return replace(self._given, log_text=self._large + self.paste.toPlainText())

    @property
    def is_empty(self) -> bool:
        """Whether nothing is given."""
        return self._given.is_empty and self.is_sorted and not self._large and self.paste.document().isEmpty()

    def clear(self) -> None:
        """Nothing is given."""
        self._given, self._unsorted, self._large = Given(), (), ""
        self.paste.clear()
        self._show_rows()

    @property
    def is_sorted(self) -> bool:
        """Whether it is known of every file what it is."""
        return not self._unsorted

    def add_files(self, paths: Sequence[Path]) -> None:
        """More files."""
        self._unsorted = tuple(dict.fromkeys((*self._unsorted, *paths)))
        self._show_rows()
        self.files_added.emit(tuple(paths))

    def refuse(self, path: Path) -> bool:
        """Drop a file that cannot be read; False when nobody waits for it any more."""
        if path not in self._unsorted:
            return False
        self._remove("", path)
        return True

    def set_kind(self, path: Path, kind: str) -> Path | None:
        """What an added file is. Of facts and of profiles only one can be judged, the last one; the one that it
        replaces is returned."""
        if path not in self._unsorted:
            return None  # nobody wants it any more
        before = None
        self._unsorted = tuple(each for each in self._unsorted if each != path)
        if kind == "script":
            self._given = replace(self._given, scripts=tuple(dict.fromkeys((*self._given.scripts, path))))
        elif kind == "log":
            self._given = replace(self._given, logs=tuple(dict.fromkeys((*self._given.logs, path))))
        elif kind == "facts":
            before, self._given = self._given.facts, replace(self._given, facts=path)
        else:
            before, self._given = self._given.profile, replace(self._given, profile=path)
        self._show_rows()
        return before if before != path else None

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        set_text(
            self._hint,
            _(
                "Drop files here: what your program printed (a log), its script or notebook, a profile, a memory "
                "snapshot. They are read, never run."
            ),
        )
        self.add_button.set_text(_("Add files…"))
        self.paste.setPlaceholderText(_("Or paste here what your program printed."))
        self.paste.setAccessibleName(_("What your program printed"))
        self._show_rows()

    def _show_rows(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._last = self.add_button
        given = self._given
        files = [("facts", given.facts), *(("log", log) for log in given.logs), ("profile", given.profile)]
        files += [("script", script) for script in given.scripts]
        files += [("", path) for path in self._unsorted]
        for kind, path in files:
            if path is not None:
                self._add_row(kind, shown(path), path)
        if self._large:
            size = memory(len(self._large.encode("utf-8", "replace")))
            self._add_row("log", _("pasted text, {size}").format(size=size), None)
        put_behind(self._last, self.paste)
        self.changed.emit()

    def _add_row(self, kind: str, name: str, path: Path | None) -> None:
        row = _GivenRow(self._theme, kind, printable(name), self)
        row.remove_button.clicked.connect(partial(self._remove, kind, path))
        self._rows.addWidget(row)
        put_behind(self._last, row)
        self._last = row

    def _remove(self, kind: str, path: Path | None, *_checked: bool) -> None:
        given = self._given
        if path is None:
            self._large = ""
        elif not kind:
            self._unsorted = tuple(each for each in self._unsorted if each != path)
        elif kind == "script":
            self._given = replace(given, scripts=tuple(script for script in given.scripts if script != path))
        elif kind == "facts":
            self._given = replace(given, facts=None)
        elif kind == "log":
            self._given = replace(given, logs=tuple(log for log in given.logs if log != path))
        else:
            self._given = replace(given, profile=None)
        self._show_rows()

    @Slot()
    def _on_add(self) -> None:
        dialog = file_dialog(self, _("Files to judge"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self._on_files)
        dialog.open()

    @Slot(list)
    def _on_files(self, paths: list[str]) -> None:
        self.add_files([Path(path) for path in paths])

    @Slot(str)
    def _on_large(self, text: str) -> None:
        self._large += self.paste.toPlainText() + text
        self.paste.clear()
        self._show_rows()

    # -- drops

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_files(event.mimeData()) or event.mimeData().hasText():
            self._is_over = True
            self.update()
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._is_over = False
        self.update()

    def dropEvent(self, event: QDropEvent) -> None:
        self._is_over = False
        self.update()
        self.paste.insertFromMimeData(event.mimeData())
        event.acceptProposedAction()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._is_over:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._theme.colours.accent), 2))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), RADIUS, RADIUS)
            painter.end()


def local_files(data: QMimeData) -> list[str]:
    """The files of a drop or of the clipboard."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
