"""Runtime hook: empty stand-ins for QtOpenGL and QtOpenGLWidgets.

pyqtgraph imports both when it starts but uses them only with useOpenGL=True, which GPUMon never sets: 11 MB less.
"""

import sys
from types import ModuleType


class _Stub(ModuleType):
    def __getattr__(self, name: str) -> type:
        if not name.startswith("Q"):
            raise AttributeError(name)
        from PySide6.QtWidgets import QWidget

        return type(name, (QWidget,), {})


for _name in ("QtOpenGL", "QtOpenGLWidgets"):
    sys.modules[f"PySide6.{_name}"] = _Stub(f"PySide6.{_name}")
