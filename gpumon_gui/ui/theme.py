"""Knows: every colour, distance and type size of the window. Must not know: pages, values.

One table for light, dark and high contrast. Chart colours come from the Okabe-Ito set (told apart with every common
colour blindness), shifted in lightness until they stand at 3:1 against their background (WCAG 2.2, 1.4.11); text
stands at 4.5:1 (1.4.3).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QToolTip

# The spacing scale, in device-independent pixels.
XS: Final = 4
S: Final = 8
M: Final = 12
L: Final = 16
XL: Final = 24
RADIUS: Final = 6


class Scheme(StrEnum):
    """What the user chose."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Series(StrEnum):
    """What a chart shows; each has its colour."""

    ENGINE = "engine"
    MEMORY = "memory"
    SHARED = "shared"
    CPU = "cpu"
    RAM = "ram"


class Text(StrEnum):
    """The type scale."""

    CAPTION = "caption"
    BODY = "body"
    STRONG = "strong"
    VALUE = "value"
    SUBTITLE = "subtitle"
    TITLE = "title"


#: Size relative to the system's font, and weight.
TYPE_SCALE: Final[dict[Text, tuple[float, QFont.Weight]]] = {
    Text.CAPTION: (0.92, QFont.Weight.Normal),
    Text.BODY: (1.0, QFont.Weight.Normal),
    Text.STRONG: (1.0, QFont.Weight.DemiBold),
    Text.VALUE: (1.45, QFont.Weight.Normal),
    Text.SUBTITLE: (1.12, QFont.Weight.DemiBold),
    Text.TITLE: (1.9, QFont.Weight.DemiBold),
}


#: What has a colour of its own wherever it is said; the mildest first.
TONES: Final = ("good", "info", "attention", "bad")


@dataclass(frozen=True, slots=True)
class Colours:
    """One scheme. Colours are ``#rrggbb``.

    ``text`` is for reading, ``muted`` for captions, ``faint`` for what is greyed (stale, asleep, lost). ``good`` …
    ``info`` colour marks that also differ in shape; ``*_back`` are the quiet backgrounds of banners.
    """

    dark: bool
    window: str
    surface: str
    border: str
    text: str
    muted: str
    faint: str
    accent: str
    on_accent: str
    hover: str
    selected: str
    chart_back: str
    chart_grid: str
    good: str
    attention: str
    bad: str
    info: str
    good_back: str
    attention_back: str
    bad_back: str
    info_back: str
    series: dict[Series, str]
    fill_alpha: int = 46

    def tone(self, kind: str, other: str = "") -> str:
        """The colour of one of :data:`TONES`; ``other`` for any other kind."""
        return str(getattr(self, kind)) if kind in TONES else other

    def tone_back(self, kind: str, other: str = "") -> str:
        """The quiet one behind text."""
        return str(getattr(self, f"{kind}_back")) if kind in TONES else other


LIGHT: Final = Colours(
    dark=False,
    window="#f3f3f3",
    surface="#fcfcfc",
    border="#dedede",
    text="#1a1a1a",
    muted="#5c5c5c",
    faint="#767676",
    accent="#005fb8",
    on_accent="#ffffff",
    hover="#eaeaea",
    selected="#e2e2e2",
    chart_back="#ffffff",
    chart_grid="#ececec",
    good="#0f7b3f",
    attention="#8a5a00",
    bad="#c42b1c",
    info="#005fb8",
    good_back="#e6f4ea",
    attention_back="#fff4d6",
    bad_back="#fde7e4",
    info_back="#e7f1fa",
    series={
        Series.ENGINE: "#0072b2",
        Series.MEMORY: "#a23b80",
        Series.SHARED: "#bf5000",
        Series.CPU: "#00805e",
        Series.RAM: "#8a6d00",
    },
)

DARK: Final = Colours(
    dark=True,
    window="#1f1f1f",
    surface="#2a2a2a",
    border="#3d3d3d",
    text="#f4f4f4",
    muted="#b8b8b8",
    faint="#8f8f8f",
    accent="#60cdff",
    on_accent="#00263a",
    hover="#2f2f2f",
    selected="#383838",
    chart_back="#191919",
    chart_grid="#2c2c2c",
    good="#6ccb8f",
    attention="#fcc84a",
    bad="#ff8f85",
    info="#60cdff",
    good_back="#1f3326",
    attention_back="#3a3018",
    bad_back="#402422",
    info_back="#1d2f3a",
    series={
        Series.ENGINE: "#56b4e9",
        Series.MEMORY: "#e08bbd",
        Series.SHARED: "#f0913f",
        Series.CPU: "#33c79a",
        Series.RAM: "#e3cf3f",
    },
)

# Contrast first: no greys for text, no quiet backgrounds, borders in the colour of the text.
_PLAIN_LIGHT: Final = replace(
    LIGHT,
    window="#ffffff",
    surface="#ffffff",
    border="#000000",
    text="#000000",
    muted="#000000",
    faint="#3c3c3c",
    accent="#00377a",
    hover="#e6e6e6",
    selected="#cfe4ff",
    chart_grid="#d0d0d0",
    good="#00522a",
    attention="#5a3a00",
    bad="#8f0f00",
    info="#00377a",
    good_back="#ffffff",
    attention_back="#ffffff",
    bad_back="#ffffff",
    info_back="#ffffff",
)
_PLAIN_DARK: Final = replace(
    DARK,
    window="#000000",
    surface="#000000",
    border="#ffffff",
    text="#ffffff",
    muted="#ffffff",
    faint="#cccccc",
    accent="#1aebff",
    on_accent="#000000",
    hover="#262626",
    selected="#003b52",
    chart_back="#000000",
    chart_grid="#3a3a3a",
    good="#7dffb0",
    attention="#ffe14d",
    bad="#ffb0a8",
    info="#1aebff",
    good_back="#000000",
    attention_back="#000000",
    bad_back="#000000",
    info_back="#000000",
)

# Where Chinese glyphs come from when the system's font has none: Windows, macOS, Linux.
_CHINESE: Final = (
    "Microsoft YaHei UI",
    "Microsoft YaHei",
    "PingFang SC",
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
)
# What code is written in when the system names no font of equal width: Windows, macOS, Linux.
_CODE: Final = (
    "Cascadia Mono",
    "Consolas",
    "Menlo",
    "Noto Sans Mono",
    "DejaVu Sans Mono",
    "Ubuntu Mono",
    "Liberation Mono",
    "Courier New",
)
# What a desktop without a configured font gets, instead of whatever sorts first.
_LATIN: Final = ("Noto Sans", "Inter", "Cantarell", "Ubuntu", "Noto Sans CJK SC", "DejaVu Sans")
_GENERIC: Final = frozenset({"", "sans", "sans serif", "sans-serif"})


class Theme(QObject):
    """The look in force. Lives in the GUI thread.

    Signals:
        changed(): colours are different; whoever caches pens or pictures makes them anew.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._scheme = Scheme.SYSTEM
        self._fonts: dict[Text, QFont] = {}
        self._code_fonts: dict[Text, QFont] = {}
        self.colours = self._chosen()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._follow)
        hints.accessibility().contrastPreferenceChanged.connect(self._follow)

    @property
    def scheme(self) -> Scheme:
        """What the user chose."""
        return self._scheme

    def set_scheme(self, scheme: Scheme) -> None:
        """Choose light or dark, or follow the system again. Takes effect at once, title bars included."""
        self._scheme = scheme
        hints = QGuiApplication.styleHints()
        if scheme is Scheme.SYSTEM:
            hints.unsetColorScheme()
        else:
            hints.setColorScheme(Qt.ColorScheme.Dark if scheme is Scheme.DARK else Qt.ColorScheme.Light)
        self._follow()

    def apply(self, app: QApplication) -> None:
        """Give the application style, font and palette. Called once, before the first window."""
        native = sys.platform == "win32" and app.style().name().lower() == "windows11"
        if not native:
            app.setStyle("Fusion")
        app.setFont(self.font(Text.BODY))
        self._colour(app)

    def font(self, role: Text) -> QFont:
        """The font of a role; figures of equal width, so that changing numbers do not move."""
        font = self._fonts.get(role)
        if font is None:
            font = self._fonts[role] = _font(*TYPE_SCALE[role])
        return font

    def code_font(self, role: Text = Text.BODY) -> QFont:
        """The font of commands and code, as large as that role; Chinese in a path comes from the role's own."""
        font = self._code_fonts.get(role)
        if font is None:
            font = self._code_fonts[role] = QFont(self.font(role))
            font.setFamilies([_code_family(), *font.families()])
            font.setStyleHint(QFont.StyleHint.Monospace)
            font.setFixedPitch(True)
        return font

    def series(self, series: Series) -> QColor:
        """The colour of a curve."""
        return QColor(self.colours.series[series])

    def palette(self) -> QPalette:
        """The colours as Qt's widgets ask for them."""
        return _palette(self.colours)

    def _follow(self) -> None:
        colours = self._chosen()
        if colours == self.colours:
            return
        self.colours = colours
        app = QApplication.instance()
        if isinstance(app, QApplication):
            self._colour(app)
        self.changed.emit()

    def _colour(self, app: QApplication) -> None:
        app.setPalette(self.palette())
        if sys.platform != "win32":  # where they follow the scheme themselves; else yellow without a desktop's word
            QToolTip.setPalette(self.palette())

    def _chosen(self) -> Colours:
        hints = QGuiApplication.styleHints()
        dark = hints.colorScheme() == Qt.ColorScheme.Dark if self._scheme is Scheme.SYSTEM else False
        dark = dark or self._scheme is Scheme.DARK
        if hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast:
            return _PLAIN_DARK if dark else _PLAIN_LIGHT
        return DARK if dark else LIGHT


#: Every scheme by name, for tests of contrast and for pictures.
SCHEMES: Final[dict[str, Colours]] = {
    "light": LIGHT,
    "dark": DARK,
    "high contrast light": _PLAIN_LIGHT,
    "high contrast dark": _PLAIN_DARK,
}


def _font(scale: float, weight: QFont.Weight) -> QFont:
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    installed = frozenset(QFontDatabase.families())
    family = system.family()
    if family.lower() in _GENERIC:
        family = next((name for name in _LATIN if name in installed), family)
    font = QFont(system)
    font.setFamilies([family, *(name for name in _CHINESE if name in installed and name != family)])
    size = system.pointSizeF()
    if size > 0:
        font.setPointSizeF(round(size * scale * 2) / 2)
    else:
        font.setPixelSize(round(system.pixelSize() * scale))
    font.setWeight(weight)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def _code_family() -> str:
    """The system's, unless it names one whose letters differ in width (without a desktop it does)."""
    family = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    installed = frozenset(QFontDatabase.families())
    if family in installed and QFontDatabase.isFixedPitch(family):
        return family
    return next((name for name in _CODE if name in installed), family)


def _palette(colours: Colours) -> QPalette:
    role = QPalette.ColorRole
    table = {
        role.Window: colours.window,
        role.WindowText: colours.text,
        role.Base: colours.surface,
        role.AlternateBase: colours.hover,
        role.Text: colours.text,
        role.Button: colours.surface,
        role.ButtonText: colours.text,
        role.BrightText: colours.bad,
        role.ToolTipBase: colours.surface,
        role.ToolTipText: colours.text,
        role.PlaceholderText: colours.muted,
        role.Highlight: colours.accent,
        role.HighlightedText: colours.on_accent,
        role.Link: colours.accent,
        role.LinkVisited: colours.accent,
        role.Accent: colours.accent,
        role.Light: colours.hover,
        role.Midlight: colours.hover,
        role.Mid: colours.border,
        role.Dark: colours.border,
        role.Shadow: colours.border,
    }
    palette = QPalette()
    for name, colour in table.items():
        palette.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(colours.faint))
    palette.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(colours.selected))
    return palette
