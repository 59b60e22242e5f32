"""Knows: the figures below the charts. Must not know: sources.

Large figures first, then details. What a device never offers is folded away into one line that lists it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpumon_gui.core.identity import parse_pci_address
from gpumon_gui.core.messages import N_, _, ngettext
from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.values import Reading, Value, number
from gpumon_gui.telemetry.derive.engines import busiest
from gpumon_gui.telemetry.derive.gauges import power_limit
from gpumon_gui.telemetry.provenance import source_name
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.theme import L, M, Text, Theme
from gpumon_gui.ui.tips import plain
from gpumon_gui.ui.widgets.arrow_focus import ArrowFocus
from gpumon_gui.ui.widgets.engine_panel import engine_tip, spoken
from gpumon_gui.ui.widgets.responsive_grid import ResponsiveGrid
from gpumon_gui.ui.widgets.subject import Subject
from gpumon_gui.ui.widgets.text import FixedLabel


@dataclass(frozen=True, slots=True)
class Shown:
    """What a cell says; ``offered`` False folds it away."""

    caption: str
    text: str
    tip: str = ""
    offered: bool = True


Cell = Callable[[Subject], Shown]


class NumberCell(QWidget):
    """A caption and its figure below."""

    def __init__(self, theme: Theme, role: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.caption = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self.figure = FixedLabel(theme, role, parent=self)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 2)  # below: the line that marks the focus
        box.setSpacing(1)
        box.addWidget(self.caption)
        box.addWidget(self.figure)

    def say(self, shown: Shown, dimmed: bool) -> None:
        """New caption, figure and tool tip."""
        self.caption.set_text(shown.caption)
        self.caption.set_tip(shown.tip)
        self.figure.set_text(shown.text)
        self.figure.set_tip(shown.tip)
        self.figure.set_dimmed(dimmed)
        name = spoken("", shown.caption, shown.text)
        if name != self.accessibleName():
            self.setAccessibleName(name)
        if shown.tip != self.accessibleDescription():
            self.setAccessibleDescription(shown.tip)
            self.setWhatsThis(plain(shown.tip))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Underlined with the focus."""
        if self.hasFocus():
            painter = QPainter(self)
            painter.fillRect(0, self.height() - 2, self.width(), 2, QColor(self._theme.colours.accent))
            painter.end()


class NumbersGrid(QWidget):
    """Figures of one device; ``large`` for the few that people look at first."""

    def __init__(self, theme: Theme, *, large: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        role = Text.VALUE if large else Text.BODY
        self._cells = [(cell, NumberCell(theme, role)) for cell in (_LARGE if large else _SMALL)]
        self._keys = ArrowFocus([widget for _cell, widget in self._cells], self)
        self._folded = FixedLabel(theme, Text.CAPTION, muted=True)
        self._folded.setVisible(not large)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(M)
        widest = QFontMetrics(theme.font(Text.CAPTION)).horizontalAdvance("Dedicated GPU memory")
        grid = (
            ResponsiveGrid(max(118, widest + 2), (2, 3, 4, 5, 6), L, M, share=True)
            if large
            else ResponsiveGrid(190, tuple(range(2, 9)), L, M)
        )
        for _cell, widget in self._cells:
            grid.add(widget)
        box.addLayout(grid)
        box.addWidget(self._folded)

    def show_subject(self, subject: Subject) -> None:
        """The figures of now."""
        missing = []
        for cell, widget in self._cells:
            shown = cell(subject)
            if widget.isHidden() == shown.offered:
                widget.setVisible(shown.offered)
            if shown.offered:
                widget.say(shown, subject.dimmed)
            else:
                missing.append(shown.caption)
        self._keys.settle()
        count = len(missing)
        line = ngettext(
            "{count} more figure is not offered by this device",
            "{count} more figures are not offered by this device",
            count,
        ).format(count=count)
        self._folded.set_text(line if count else "")
        self._folded.set_tip("\n".join(missing))

    def texts(self) -> dict[str, str]:
        """Caption → figure of everything on show."""
        return {w.caption.text: w.figure.text for _cell, w in self._cells if not w.isHidden()}


def _plain(metric: str, label: str = "") -> Cell:
    def cell(subject: Subject) -> Shown:
        value = subject.value(metric)
        caption = _(label or METRICS[metric].label)
        return Shown(
            caption,
            formatters.value_text(metric, value),
            formatters.value_tip(metric, value),
            subject.offered(metric),
        )

    return cell


def _date(metric: str) -> Cell:
    plain = _plain(metric)

    def cell(subject: Subject) -> Shown:
        shown = plain(subject)
        return replace(shown, text=moments.written_day(shown.text))

    return cell


def _clock(metric: str, highest: str) -> Cell:
    def cell(subject: Subject) -> Shown:
        value, top = subject.value(metric), subject.value(highest)
        text = formatters.pair(value, top, formatters.megahertz)
        return Shown(_(METRICS[metric].label), text, formatters.value_tip(metric, value), subject.offered(metric))

    return cell


def _utilization(subject: Subject) -> Shown:
    engine = busiest(subject.device)
    if engine is None:
        value = subject.value("gpu_utilization")
        return Shown(_("Utilization"), formatters.DASH, formatters.value_tip("gpu_utilization", value))
    caption = _("Utilization · {engine}").format(engine=engine.label)
    return Shown(caption, formatters.value_text("engine_utilization", engine.value), engine_tip(engine))


def _memory(label: str, used: str, total: str) -> Cell:
    def cell(subject: Subject) -> Shown:
        value = subject.value(used)
        text = formatters.memory_pair(value, subject.value(total))
        return Shown(_(label), text, formatters.value_tip(used, value), subject.offered(used))

    return cell


def _all_memory(subject: Subject) -> Shown:
    """Task Manager's "GPU memory": dedicated and shared together."""
    parts = [subject.value(m) for m in ("memory_used_bytes", "shared_used_bytes")]
    limits = [subject.value(m) for m in ("memory_total_bytes", "shared_total_bytes")]
    both = subject.offered("shared_used_bytes") and subject.offered("memory_used_bytes")
    text = formatters.memory_pair(_sum(parts), _sum(limits))
    return Shown(_("GPU memory"), text, _("Dedicated and shared memory together."), both)


def _sum(values: list[Value | None]) -> Value | None:
    numbers = [number(value) for value in values]
    known = [n for n in numbers if n is not None]
    source = next((v.source for v in values if v is not None), "")
    return Reading(sum(known), source) if len(known) == len(values) else None


def _power(subject: Subject) -> Shown:
    value = subject.value("power_w")
    text = formatters.pair(value, power_limit(subject.device, subject.adapter.info), formatters.watts)
    return Shown(_("Power"), text, formatters.value_tip("power_w", value), subject.offered("power_w"))


def _link(subject: Subject) -> Shown:
    gen, width = number(subject.value("pcie_gen")), number(subject.value("pcie_width"))
    top_gen, top_width = number(subject.value("pcie_gen_max")), number(subject.value("pcie_width_max"))
    text = formatters.DASH if gen is None or width is None else f"{gen:.0f}.0 ×{width:.0f}"
    if gen is not None and width is not None and top_gen and top_width and (gen < top_gen or width < top_width):
        text = _("{now} (of {most})").format(now=text, most=f"{top_gen:.0f}.0 ×{top_width:.0f}")
    tip = formatters.value_tip("pcie_gen", subject.value("pcie_gen"))
    return Shown(_("PCIe link"), text, tip, subject.offered("pcie_gen"))


def _location(subject: Subject) -> Shown:
    address = parse_pci_address(subject.adapter.info.pci_address or "")
    if address is None:
        return Shown(_("Physical location"), formatters.DASH, offered=False)
    domain, bus, rest = address.split(":")
    device, function = rest.split(".")
    text = _("PCI bus {bus}, device {device}, function {function}").format(
        bus=int(bus, 16), device=int(device, 16), function=int(function)
    )
    return Shown(_("Physical location"), text, f"{domain}:{bus}:{rest}")


def _sources(subject: Subject) -> Shown:
    names = _(", ").join(source_name(name) for name in subject.adapter.info.sources)
    return Shown(_("Sources"), names or formatters.DASH, offered=bool(names))


_LARGE: tuple[Cell, ...] = (
    _utilization,
    _memory(N_("Dedicated GPU memory"), "memory_used_bytes", "memory_total_bytes"),
    _memory(N_("Shared GPU memory"), "shared_used_bytes", "shared_total_bytes"),
    _all_memory,
    _plain("temperature_c"),
    _power,
)

_SMALL: tuple[Cell, ...] = (
    _plain("pstate"),
    _plain("throttle_reasons"),
    _clock("clock_sm_mhz", "clock_sm_max_mhz"),
    _clock("clock_graphics_mhz", "clock_graphics_max_mhz"),
    _clock("clock_memory_mhz", "clock_memory_max_mhz"),
    _clock("clock_video_mhz", "clock_video_max_mhz"),
    _plain("memory_temperature_c"),
    _plain("temperature_hotspot_c"),
    _plain("fan_ratio"),
    _plain("fan_rpm"),
    _link,
    _plain("pcie_rx_bytes_per_s"),
    _plain("pcie_tx_bytes_per_s"),
    _plain("nvlink_rx_bytes_per_s"),
    _plain("nvlink_tx_bytes_per_s"),
    _plain("memory_reserved_bytes"),
    _memory(N_("BAR1 memory"), "bar1_used_bytes", "bar1_total_bytes"),
    _plain("ecc_uncorrected"),
    _plain("driver_version"),
    _date("driver_date"),
    _plain("cuda_driver_version"),
    _plain("driver_model"),
    _plain("directx_version"),
    _plain("hags"),
    _plain("kernel_driver"),
    _plain("architecture"),
    _plain("compute_capability"),
    _plain("mig_mode"),
    _plain("virtualization"),
    _location,
    _sources,
)
