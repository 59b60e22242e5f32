"""Knows: what is said about the program itself. Must not know: the window."""

from __future__ import annotations

import platform
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from gpumon_gui import __version__
from gpumon_gui.core.messages import _
from gpumon_gui.ui import icons
from gpumon_gui.ui.open_location import offer_log

_SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard

#: Distribution name and licence of what the program is built on.
COMPONENTS: tuple[tuple[str, str], ...] = (
    ("PySide6-Essentials", "LGPL-3.0"),
    ("pyqtgraph", "MIT"),
    ("numpy", "BSD-3-Clause"),
    ("psutil", "BSD-3-Clause"),
    ("nvidia-ml-py", "BSD-3-Clause"),
    ("msgspec", "BSD-3-Clause"),
    ("platformdirs", "MIT"),
)


def about_text() -> str:
    """Version, licence, components."""
    from importlib import metadata  # 2 MB that only this dialog needs

    lines = [
        _("GPU monitor that proves whether TensorFlow and PyTorch code computes on the GPU."),
        "",
        _("Licence: GPL-3.0-or-later"),
        f"Python {platform.python_version()}, Qt {QLibraryInfo.version().toString()}, {platform.platform(terse=True)}",
        "",
        _("Built on:"),
    ]
    for name, licence in COMPONENTS:
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:  # a frozen build carries no metadata of packages
            version = ""
        lines.append(f"{name} {version} ({licence})".replace("  ", " "))
    return "\n".join(lines)


def about_box(parent: QWidget, log: Path | None = None) -> QMessageBox:
    """The dialog, not yet shown. ``log`` is the program's log file."""
    box = QMessageBox(parent)
    box.setWindowTitle(_("About GPUMon"))
    box.setIconPixmap(icons.icon("app", "").pixmap(64, 64))
    box.setText(f"GPUMon {__version__}")
    box.setInformativeText(about_text())
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setStandardButtons(QMessageBox.StandardButton.Close)
    box.setDefaultButton(QMessageBox.StandardButton.Close)
    box.setTextInteractionFlags(_SELECTABLE)
    offer_log(box, log)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return box
