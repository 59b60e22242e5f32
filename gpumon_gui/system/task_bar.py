"""Knows: whether Windows' task bar is light or dark. Must not know: what is drawn on it."""

from __future__ import annotations

from gpumon_gui.system.user_registry import UserRegistry

_PERSONALIZE = r"Software\Microsoft\Windows\CurrentVersion\Themes\Personalize"


def is_task_bar_light(registry: UserRegistry) -> bool:
    """From ``SystemUsesLightTheme``, which is the task bar's; ``AppsUseLightTheme`` is the windows'. Builds of Windows
    that do not have it have a dark one."""
    return registry.read(_PERSONALIZE, "SystemUsesLightTheme") == 1
