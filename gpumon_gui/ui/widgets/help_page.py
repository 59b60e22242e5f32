"""Knows: the page behind a finding: what is looked for, why, how it is decided, when that is wrong, what to do.
Must not know: any one rule, who asks."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QLabel, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.report.words import HELP
from gpumon_gui.diagnosis.rule import Rule
from gpumon_gui.ui.theme import XL, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.fields import Framed
from gpumon_gui.ui.widgets.scroll_column import Content, ScrollColumn
from gpumon_gui.ui.widgets.section import set_text, wrapped
from gpumon_gui.ui.widgets.tab_order import put_behind

WIDEST = 860
_WINDOW = (640, 560)


class HelpPage(QWidget):
    """Shows one rule at a time."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rule: Rule | None = None
        content = Content(WIDEST, self)
        column = content.column
        column.setContentsMargins(L, S, L, XL)
        column.setSpacing(S)
        self._title_of: Callable[[], str] = str
        self.title = wrapped(theme, Text.SUBTITLE, parent=content)
        column.addWidget(self.title)
        self._code = QLabel(content)
        self._code.setFont(theme.font(Text.CAPTION))
        self._code.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self._code)
        column.addSpacing(S)
        self._titles: dict[str, QLabel] = {}
        self._texts: dict[str, QLabel] = {}
        for name, _title in HELP:
            title = self._titles[name] = QLabel(content)
            title.setFont(theme.font(Text.SUBTITLE))
            text = self._texts[name] = wrapped(theme, parent=content)
            column.addWidget(title)
            column.addWidget(text)
            column.addSpacing(M)
        self._links_title = QLabel(content)
        self._links_title.setFont(theme.font(Text.SUBTITLE))
        column.addWidget(self._links_title)
        self._links = QVBoxLayout()
        self._links.setSpacing(0)
        column.addLayout(self._links)
        column.addStretch(1)
        self.area = ScrollColumn(theme, self)
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.area.setWidget(content)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(S, 0, S, 0)
        outer.addWidget(Framed(theme, self.area, self))
        self.setFocusProxy(self.area)

    @property
    def text(self) -> str:
        """Everything it says."""
        return "\n".join(f"{self._titles[name].text()}\n{self._texts[name].text()}" for name, _title in HELP)

    def show_rule(self, code: str, title: Callable[[], str] = str) -> None:
        """Show the page of a code under the finding's title (in the language on show); KeyError for an unknown one."""
        from gpumon_gui.diagnosis.rules.table import RULES  # loaded with the verdict that is asked about

        self._title_of = title
        self._rule = {rule.code: rule for rule in RULES}[code]
        self.retranslate()
        self.area.verticalScrollBar().setValue(0)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        for name, title in HELP:
            set_text(self._titles[name], _(title))
        set_text(self._links_title, _("Read more"))
        if self._rule is None:
            return
        set_text(self.title, self._title_of())
        self.title.setVisible(bool(self.title.text()))
        self._code.setText(self._rule.code)
        for name, _title in HELP:
            set_text(self._texts[name], _(getattr(self._rule.help, name)))
        self.area.setAccessibleName("\n".join(part for part in (self.title.text(), self.text) if part))
        while (item := self._links.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self._links_title.setVisible(bool(self._rule.links))
        last: QWidget = self.area
        for link in self._rule.links:
            button = FlatButton(self._theme, "", link, self, link=True)
            button.setObjectName(link)
            button.setAccessibleName(_("Open {link} in the browser").format(link=link))
            button.clicked.connect(self._on_link)
            self._links.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            put_behind(last, button)
            last = button

    @Slot()
    def _on_link(self) -> None:
        QDesktopServices.openUrl(QUrl(self.sender().objectName()))


class HelpWindow(QDialog):
    """The page in a window of its own, beside what it explains."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.page = HelpPage(theme, self)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, M, 0, 0)
        box.addWidget(self.page)
        self.resize(*_WINDOW)
        self.retranslate()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self.setWindowTitle(_("How this was decided"))
        self.page.retranslate()


def show_help(theme: Theme, code: str, parent: QWidget, title: Callable[[], str] = str) -> None:
    """Show the page of a code beside ``parent``, in the window that is open already if there is one."""
    window = parent.findChild(HelpWindow) or HelpWindow(theme, parent)
    window.page.show_rule(code, title)
    window.show()
    window.raise_()
    window.activateWindow()
    window.page.setFocus(Qt.FocusReason.OtherFocusReason)
