"""Knows: the choice of one GPU or all. Must not know: what is left out by it."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKey
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.button import FlatButton


class DeviceFilter(FlatButton):
    """Which GPU's processes are on show. Hidden while there is no choice.

    Signals:
        chosen(object): a DeviceKey, or None for all.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "", "", parent, framed=True)
        self.device: DeviceKey | None = None
        self._devices: dict[DeviceKey, tuple[str, str]] = {}
        self._choices = QMenu(self)
        self._choices.triggered.connect(self._on_triggered)
        self.set_menu(self._choices)
        self.retranslate()

    def set_devices(self, devices: dict[DeviceKey, tuple[str, str]]) -> None:
        """Offer these: key to short and full name. A chosen one that is gone gives way to all."""
        if devices != self._devices:
            self._devices = devices
            if self.device not in devices:
                self.device = None
            self.retranslate()

    def retranslate(self) -> None:
        """Write every text again."""
        self._choices.clear()
        entries: list[tuple[DeviceKey | None, str]] = [(None, _("All GPUs"))]
        entries += [
            (key, _("{gpu} · {name}").format(gpu=short, name=name)) for key, (short, name) in self._devices.items()
        ]
        for key, label in entries:
            action = self._choices.addAction(label)
            action.setData(key)
            action.setCheckable(True)
            action.setChecked(key == self.device)
        self.set_text(self._devices[self.device][0] if self.device is not None else _("All GPUs"))
        self.setToolTip(_("Show only the processes of one GPU"))
        self.setAccessibleName(_("GPU: {gpu}").format(gpu=self.text()))
        self.setVisible(len(self._devices) > 1)

    def choose(self, device: DeviceKey | None) -> None:
        """Show the processes of a device, or of all."""
        self.device = device
        self.retranslate()
        self.chosen.emit(device)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        self.choose(action.data())
