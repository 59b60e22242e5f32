"""Knows: how the first window hears what a second start asks for. Must not know: widgets, what is done then."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from gpumon_gui.system.single_instance import ANSWER, MOST_BYTES, Place, decoded

_log = logging.getLogger("gpumon.instance")


class Doorman(QObject):
    """Listens at the place of the first one; whoever makes it holds the claim. Lives in the GUI thread.

    Signals:
        asked(object): a :class:`Request` of a second start; it has been answered.
    """

    asked = Signal(object)

    def __init__(self, place: Place, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._place = place
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def open(self) -> bool:
        """Begin to listen. False: second starts will find nobody who answers."""
        QLocalServer.removeServer(self._place.address)  # of one that was killed: the claim is ours
        if self._server.listen(self._place.address):
            return True
        _log.info("nobody can be heard at %s: %s", self._place.address, self._server.errorString())
        return False

    def close(self) -> None:
        """Listen no more."""
        self._server.close()

    @Slot()
    def _on_connection(self) -> None:
        while (caller := self._server.nextPendingConnection()) is not None:
            caller.readyRead.connect(self._on_words)
            caller.disconnected.connect(caller.deleteLater)
            if caller.bytesAvailable():
                self._hear(caller)

    @Slot()
    def _on_words(self) -> None:
        caller = self.sender()
        if isinstance(caller, QLocalSocket):
            self._hear(caller)

    def _hear(self, caller: QLocalSocket) -> None:
        if not caller.canReadLine():
            if caller.bytesAvailable() >= MOST_BYTES:
                caller.abort()
            return
        request = decoded(bytes(caller.readLine(MOST_BYTES).data()))
        if request is None:
            caller.abort()
            return
        caller.write(ANSWER)
        caller.flush()  # the caller hangs up: a pipe that we close takes unread words with it
        self.asked.emit(request)
