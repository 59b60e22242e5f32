"""Knows: how an option and its values are said. Must not know: files, widgets."""

from __future__ import annotations

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.settings.catalogue import BY_KEY
from gpumon_gui.settings.option import Choice, Number, Option, OptionValue

_LONGEST = 60


def title(option: Option) -> str:
    """What an option is called where the one it hangs on does not stand above it:
    ``A run on the GPU ended: that took at least``."""
    label = _(option.label).lstrip("… ")
    return _("{option}: {part}").format(option=_(BY_KEY[option.needs].label), part=label) if option.needs else label


def said(option: Option, value: OptionValue) -> str:
    """A value as the page shows it: ``Dark``, ``10 min``, ``on``."""
    kind = option.kind
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if isinstance(kind, Choice):
        return _(dict(kind.choices)[str(value)])
    if isinstance(kind, Number):
        return _(kind.unit).format(value=f"{value:g}")
    return _(", ").join(value if isinstance(value, tuple) else (str(value),)) or _("none")


def written(raw: object) -> str:
    """A value as it stands in the file, whatever it is, on one short line."""
    text = printable(str(raw).lower() if isinstance(raw, bool) else str(raw))
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
