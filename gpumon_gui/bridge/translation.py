"""Knows: the language of the running window, Qt's own dialogs included. Must not know: which texts there are."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator, Signal

from gpumon_gui.core import messages


class Translation(QObject):
    """Switches the language at run time. Lives in the GUI thread.

    Signals:
        changed(): every text must be written again. Emitted after Qt's own texts have changed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._qt: QTranslator | None = None

    def set_language(self, name: str | None) -> str:
        """Use a language; None follows the system. Returns the language now in use."""
        used = messages.set_language(name)
        application = QCoreApplication.instance()
        assert application is not None
        if self._qt is not None:
            application.removeTranslator(self._qt)
            self._qt.deleteLater()  # it holds its whole file in memory
            self._qt = None
        QLocale.setDefault(QLocale(used))
        if used != "en":
            translator = QTranslator(self)
            if translator.load(f"qtbase_{used}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
                application.installTranslator(translator)
                self._qt = translator
        self.changed.emit()
        return used
