"""Knows: the banners that say, for each environment, whether its frameworks compute on the GPU. Must not know: why."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpumon_gui.ui.theme import L, M, Text, Theme
from gpumon_gui.ui.widgets.section import Mark, wrapped
from gpumon_gui.ui.widgets.spoken_card import SpokenCard
from gpumon_gui.ui.wizard.words import VERDICT_MARK


class VerdictBanner(SpokenCard):
    """The verdict's sentence, and below it both sides: what the framework says, what was seen."""

    def __init__(self, theme: Theme, verdict: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.verdict = verdict
        self.text = text
        head, *rest = [line.strip() for line in text.split("\n")]
        self._mark = Mark(theme, self)
        # What is only claimed although there was a proof (its lines tell) was not seen.
        kind = "attention" if verdict == "claimed" and rest else VERDICT_MARK.get(verdict, "info")
        self._mark.set_kind(kind)
        title = wrapped(theme, Text.STRONG if verdict != "not_installed" else Text.BODY, parent=self)
        title.setText(head)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(title)
        if rest:
            more = wrapped(theme, Text.CAPTION, parent=self)
            more.setText("\n".join(rest))
            texts.addWidget(more)
        row = QHBoxLayout(self)
        row.setContentsMargins(L, M, L, M)
        row.setSpacing(M)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(texts, 1)
        self.set_spoken(text)
        theme.changed.connect(self._recolour)
        self._recolour()

    @Slot()
    def _recolour(self) -> None:
        colours, kind = self._theme.colours, self._mark.kind
        self.set_colours(colours.tone_back(kind), "" if kind == "info" else colours.tone(kind))
