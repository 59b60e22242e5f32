"""Knows: how the table of processes looks and is handled. Must not know: where processes come from."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpumon_gui.core.messages import _
from gpumon_gui.telemetry.derive.process_state import STATE_TEXT, ProcessState
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.models.process_model import (
    COLUMNS,
    GIVES_WAY,
    HEAT_ROLE,
    SHORT_ROLE,
    STATE_ROLE,
    TOTAL_ROLE,
    Col,
    ProcessFilter,
)
from gpumon_gui.ui.theme import L, M, S, Series, Text, Theme
from gpumon_gui.ui.widgets import column_room
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars

ROW_HEIGHT = 30
#: The strongest tint, at 100 %: text must keep its contrast.
HEAT_ALPHA = 105

_SORT_ROOM = 11

Index = QModelIndex | QPersistentModelIndex


def _left(header: QHeaderView, logical: int) -> int:
    """Room left of a cell's text: the first column stands on the margin of the page."""
    return L if header.visualIndex(logical) == 0 else S


class _Header(QHeaderView):
    """Two lines as in Task Manager: what the whole machine uses, and the name of the column."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self.setSectionsClickable(True)
        self.setSectionsMovable(True)
        self.setFirstSectionMovable(False)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(48)
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        total, label = QFontMetrics(self._theme.font(Text.SUBTITLE)), QFontMetrics(self._theme.font(Text.CAPTION))
        size.setHeight(_SORT_ROOM + total.height() + label.height() + S)
        return size

    def sectionSizeFromContents(self, logical: int) -> QSize:
        return QSize(self._width(logical, COLUMNS[Col(logical)].sample, M), self.sizeHint().height())

    def least(self, logical: int) -> int:
        """The width that a column cannot do without."""
        column = COLUMNS[Col(logical)]
        return max(self.minimumSectionSize(), self._width(logical, column.least or column.sample, 0))

    def _width(self, logical: int, sample: str, air: int) -> int:
        label = QFontMetrics(self._theme.font(Text.CAPTION)).horizontalAdvance(_(COLUMNS[Col(logical)].header)) + air
        metrics = QFontMetrics(self._theme.font(Text.BODY))
        content = metrics.horizontalAdvance(sample)
        if logical == Col.STATE:
            content = max(metrics.horizontalAdvance(_(text)) for text in STATE_TEXT.values()) + 9 + S
        # 2: the parts of a pixel that the metrics round away would cost a letter
        return max(label, content) + 2 + _left(self, logical) + S

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        colours = self._theme.colours
        painter.save()
        painter.fillRect(rect, QColor(colours.window))
        painter.setPen(QColor(colours.border))
        painter.drawLine(rect.right(), rect.top() + S, rect.right(), rect.bottom() - S)
        painter.drawLine(rect.left(), rect.bottom(), rect.right(), rect.bottom())
        side = Qt.AlignmentFlag.AlignRight if COLUMNS[Col(logical)].numeric else Qt.AlignmentFlag.AlignLeft
        inner = rect.adjusted(_left(self, logical), _SORT_ROOM, -S, -S // 2)
        total = self.model().headerData(logical, Qt.Orientation.Horizontal, TOTAL_ROLE)
        if total:
            painter.setFont(self._theme.font(Text.SUBTITLE))
            painter.setPen(QColor(colours.text))
            painter.drawText(inner, side | Qt.AlignmentFlag.AlignTop, total)
        painter.setFont(self._theme.font(Text.CAPTION))
        painter.setPen(QColor(colours.muted))
        label = self.model().headerData(logical, Qt.Orientation.Horizontal)
        label = painter.fontMetrics().elidedText(label, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, side | Qt.AlignmentFlag.AlignBottom, label)
        if self.isSortIndicatorShown() and self.sortIndicatorSection() == logical:
            self._sort_mark(painter, rect)
        painter.restore()

    def _sort_mark(self, painter: QPainter, rect: QRect) -> None:
        up = self.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
        x, y, turn = rect.center().x() + 0.5, rect.top() + 6.0, -2.0 if up else 2.0
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.colours.muted), 1.2))
        painter.drawPolyline([QPointF(x - 4, y - turn), QPointF(x, y + turn), QPointF(x + 4, y - turn)])


class _Delegate(QStyledItemDelegate):
    """Flat rows; a tint behind numbers that grows with them; a mark before the state."""

    def __init__(self, theme: Theme, parent: QTableView) -> None:
        super().__init__(parent)
        self._theme = theme
        self._table = parent
        self.hovered_row = -1
        self.is_dimmed = False

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours = self._theme.colours
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.fillRect(rect, QColor(colours.surface))
        heat = index.data(HEAT_ROLE)
        if heat is not None:
            tint = self._theme.series(Series.ENGINE)
            tint.setAlpha(round(10 + (HEAT_ALPHA - 10) * heat))
            painter.fillRect(rect, tint)
        if selected:
            tint = QColor(colours.accent)
            tint.setAlpha(48)
            painter.fillRect(rect, tint)
        elif index.row() == self.hovered_row:
            tint = QColor(colours.text)
            tint.setAlpha(14)
            painter.fillRect(rect, tint)
        if selected and index.column() == self._first_column():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent))
            painter.drawRoundedRect(QRectF(rect.left() + 1, rect.top() + 7, 3, rect.height() - 14), 1.5, 1.5)
        inner = rect.adjusted(_left(self._table.horizontalHeader(), index.column()), 0, -S, 0)
        if index.column() == Col.STATE:
            self._mark(painter, ProcessState(index.data(STATE_ROLE)), QRectF(inner.left(), rect.center().y() - 4, 9, 9))
            inner.adjust(9 + S, 0, 0, 0)
        text = index.data()
        painter.setFont(self._theme.font(Text.BODY))
        painter.setPen(QColor(colours.faint if self.is_dimmed or not self._is_value(index) else colours.text))
        metrics = painter.fontMetrics()
        if metrics.horizontalAdvance(text) > inner.width():
            text = metrics.elidedText(index.data(SHORT_ROLE) or text, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, index.data(Qt.ItemDataRole.TextAlignmentRole), text)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, ROW_HEIGHT)

    def _first_column(self) -> int:
        header = self._table.horizontalHeader()
        return next((c for v in range(len(Col)) if not header.isSectionHidden(c := header.logicalIndex(v))), 0)

    def _is_value(self, index: Index) -> bool:
        if index.column() == Col.STATE:
            return index.data(STATE_ROLE) not in (ProcessState.UNKNOWN, ProcessState.FOREIGN)
        return index.data(Qt.ItemDataRole.UserRole) is not None

    def _mark(self, painter: QPainter, state: ProcessState, rect: QRectF) -> None:
        """Shape and colour: full disc computes, half holds, ring uses no GPU, dash is unknown, square has ended."""
        colours = self._theme.colours
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = QColor(
            {
                ProcessState.COMPUTING: colours.good,
                ProcessState.GRAPHICS: colours.info,
                ProcessState.USING: colours.info,
                ProcessState.HOLDING: colours.attention,
                ProcessState.CPU_ONLY: colours.bad,
                ProcessState.STARTING: colours.info,
                ProcessState.WORKER: colours.good,
                ProcessState.EXITED: colours.bad,
            }.get(state, colours.faint)
        )
        ring = rect.adjusted(0.8, 0.8, -0.8, -0.8)
        painter.setPen(QPen(colour, 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if state in (ProcessState.COMPUTING, ProcessState.GRAPHICS, ProcessState.USING):
            painter.setBrush(colour)
            painter.drawRect(ring) if state is ProcessState.GRAPHICS else painter.drawEllipse(ring)
        elif state is ProcessState.HOLDING:
            painter.drawEllipse(ring)
            painter.setBrush(colour)
            painter.drawChord(ring, 180 * 16, 180 * 16)
        elif state in (ProcessState.CPU_ONLY, ProcessState.IDLE, ProcessState.STARTING, ProcessState.WORKER):
            painter.drawEllipse(ring)
        elif state is ProcessState.EXITED:
            painter.drawLine(ring.topLeft(), ring.bottomRight())
            painter.drawLine(ring.topRight(), ring.bottomLeft())
        else:
            middle = QPointF(ring.width() / 2, 0)
            painter.drawLine(ring.center() - middle, ring.center() + middle)


def _add_choice(menu: QMenu, group: QActionGroup, text: str, data: int, chosen: bool) -> None:
    action = QAction(text, menu)
    action.setCheckable(True)
    action.setChecked(chosen)
    action.setData(data)
    group.addAction(action)
    menu.addAction(action)


class ProcessTable(QTableView):
    """The table. Columns are chosen in the header's context menu. Where there is no room for all, they get narrower
    and the least important ones give way; what the user chose or made wider comes back with the room.

    Signals:
        menu_wanted(QPoint): a context menu for the selected row at a global position.
        copy_wanted(): Ctrl+C.
        end_wanted(): Delete.
        watch_wanted(): Enter, or a double click on a row.
    """

    menu_wanted = Signal(QPoint)
    copy_wanted = Signal()
    end_wanted = Signal()
    watch_wanted = Signal()

    def __init__(self, theme: Theme, proxy: ProcessFilter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._by_keyboard = False
        self._wanted = {column for column in Col if COLUMNS[column].shown}
        self._stays: set[Col] = set()  #: chosen although there was no room
        self._bare: frozenset[Col] = frozenset()  #: nothing stands in them
        self._made: dict[Col, int] = {}  #: widths, by the user
        self._room: int | None = None  #: before it was laid out there is any
        self._is_fitting = False
        self.setModel(proxy)
        self._delegate = _Delegate(theme, self)
        self.setItemDelegate(self._delegate)
        header = _Header(theme, self)
        self.setHorizontalHeader(header)
        header.sectionResized.connect(self._on_resized)
        header.sectionMoved.connect(self._fit)
        header.setSortIndicator(Col.GPU, Qt.SortOrder.DescendingOrder)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_columns_menu)
        self.setSortingEnabled(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setMouseTracking(True)
        use_thin_bars(self, theme)
        self.verticalHeader().hide()
        height = max(ROW_HEIGHT, QFontMetrics(theme.font(Text.BODY)).height() + 10)
        self.verticalHeader().setDefaultSectionSize(height)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.doubleClicked.connect(self._on_double_click)
        theme.changed.connect(self._recolour)
        self._recolour()
        self.retranslate()

    def set_dimmed(self, dimmed: bool) -> None:
        """Grey: the values are not of now."""
        if dimmed != self._delegate.is_dimmed:
            self._delegate.is_dimmed = dimmed
            self.viewport().update()

    @Slot(object)
    def set_bare(self, columns: frozenset[Col]) -> None:
        """The columns in which nothing stands: they give way before another one gets narrower."""
        self._bare = columns
        self._fit()

    def show_column(self, column: Col, on: bool) -> None:
        """Have a column on show or not; one that is asked for does not give way."""
        if on:
            self._wanted.add(column)
            self._stays.add(column)
        else:
            self._wanted.discard(column)
            self._stays.discard(column)
        self._fit()

    @property
    def asked(self) -> frozenset[Col]:
        """Columns that were asked for and so do not give way."""
        return frozenset(self._stays)

    def columns_state(self) -> bytes:
        """Columns, their order and widths as Qt keeps them, whatever room there is now."""
        self._apply({column: self._usual(column) for column in Col}, self._wanted)
        state = bytes(self.horizontalHeader().saveState().data())
        self._fit()
        return state

    def restore_columns(self, state: bytes, asked: Collection[Col] = ()) -> None:
        """What :meth:`columns_state` and :attr:`asked` gave."""
        header = self.horizontalHeader()
        self._is_fitting = True
        is_restored = header.restoreState(state)
        header.setStretchLastSection(False)  # an older version stretched it
        self._is_fitting = False
        if not is_restored:
            return
        self._wanted = {column for column in Col if not header.isSectionHidden(column)} | {Col.NAME}
        self._stays = set(asked) & self._wanted
        self._made = {column: header.sectionSize(column) for column in self._wanted}
        self.retranslate()  # room for texts that have grown

    def columns_menu(self, parent: QWidget | None = None) -> QMenu:
        """A menu with a tick for each column; the name always stays."""
        menu = QMenu(_("Columns"), parent or self)
        for column in Col:
            action = QAction(_(COLUMNS[column].header), menu)
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(column))
            action.setEnabled(column is not Col.NAME)
            action.setData(int(column))
            menu.addAction(action)
        menu.triggered.connect(self._on_column_chosen)
        return menu

    def sort_menu(self, parent: QWidget | None = None) -> QMenu:
        """A menu with the visible columns to sort by, and the two directions: sorting without a mouse."""
        header = self.horizontalHeader()
        menu = QMenu(_("Sort by"), parent or self)
        columns, orders = QActionGroup(menu), QActionGroup(menu)
        for column in (Col(header.logicalIndex(visual)) for visual in range(header.count())):
            if not self.isColumnHidden(column):
                chosen = header.sortIndicatorSection() == column
                _add_choice(menu, columns, _(COLUMNS[column].header), int(column), chosen)
        menu.addSeparator()
        descending = header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
        _add_choice(menu, orders, _("Ascending"), 0, not descending)
        _add_choice(menu, orders, _("Descending"), 1, descending)
        columns.triggered.connect(self._on_sort_column)
        orders.triggered.connect(self._on_sort_order)
        return menu

    def retranslate(self) -> None:
        """Write the texts again and make room for them."""
        self.setAccessibleName(_("Processes that use the GPU"))
        self._made = {column: width for column, width in self._made.items() if width > self._of_content(column)}
        self._fit()

    def _usual(self, column: Col) -> int:
        """Its width where there is room."""
        return self._made.get(column) or self._of_content(column)

    def _of_content(self, column: Col) -> int:
        return self.horizontalHeader().sectionSizeFromContents(column).width()

    @Slot()
    def _fit(self, *_moved: int) -> None:
        header = self._header()
        order = [Col(header.logicalIndex(visual)) for visual in range(header.count())]
        usual = {column: self._usual(column) for column in order if column in self._wanted}
        least = {column: header.least(column) for column in usual}
        stays = self._stays | {column for column in self._wanted if not COLUMNS[column].shown}
        room = sum(usual.values()) if self._room is None else self._room
        widths = column_room.fit(usual, least, room, GIVES_WAY, stays, self._bare)
        self._apply(widths, widths)

    def _apply(self, widths: Mapping[Col, int], shown: Collection[Col]) -> None:
        self._is_fitting = True
        for column in Col:
            self.setColumnHidden(column, column not in shown)
            if column in widths:
                self.setColumnWidth(column, widths[column])
        self._is_fitting = False

    @Slot(int, int, int)
    def _on_resized(self, logical: int, _before: int, width: int) -> None:
        """The user moved a border; the last column ends where the table does."""
        if self._is_fitting or not width:
            return
        header = self._header()
        order = (Col(header.logicalIndex(visual)) for visual in range(header.count()))
        shown = [one for one in order if not header.isSectionHidden(one)]
        column, last = Col(logical), shown[-1]
        if column is not last or self._room is None:
            self._made[column] = width
        if self._room is not None:
            others = sum(header.sectionSize(one) for one in shown[:-1])
            self._apply({last: max(header.least(last), self._room - others)}, shown)

    def _header(self) -> _Header:
        header = self.horizontalHeader()
        assert isinstance(header, _Header)
        return header

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != self._room:
            self._room = event.size().width()
            self._fit()  # first: the scroll bar would flash up
        super().resizeEvent(event)

    @Slot()
    def _recolour(self) -> None:
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Base, QColor(self._theme.colours.surface))
        self.setPalette(palette)
        self.viewport().update()
        self.horizontalHeader().viewport().update()

    @Slot(QModelIndex)
    def _on_double_click(self, _index: QModelIndex) -> None:
        self.watch_wanted.emit()

    @Slot(QPoint)
    def _open_columns_menu(self, position: QPoint) -> None:
        menu = self.columns_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.horizontalHeader().mapToGlobal(position))

    @Slot(QAction)
    def _on_sort_column(self, action: QAction) -> None:
        column = Col(action.data())
        numeric = COLUMNS[column].numeric  # the largest numbers first, names from A
        self.sortByColumn(column, Qt.SortOrder.DescendingOrder if numeric else Qt.SortOrder.AscendingOrder)

    @Slot(QAction)
    def _on_sort_order(self, action: QAction) -> None:
        order = Qt.SortOrder.DescendingOrder if action.data() else Qt.SortOrder.AscendingOrder
        self.sortByColumn(self.horizontalHeader().sortIndicatorSection(), order)

    @Slot(QAction)
    def _on_column_chosen(self, action: QAction) -> None:
        self.show_column(Col(action.data()), action.isChecked())

    # -- behaviour

    def rowsAboutToBeRemoved(self, parent: Index, start: int, end: int) -> None:
        """A process that ends takes its selection along. Qt would select the next row, and a key meant for the old
        one would hit another process."""
        if start <= self.currentIndex().row() <= end:
            self.clearSelection()
            self.selectionModel().clearCurrentIndex()
        super().rowsAboutToBeRemoved(parent, start, end)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.end_wanted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.watch_wanted.emit()
        elif event.key() == Qt.Key.Key_Space:
            event.ignore()  # pauses the window
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._by_keyboard = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._by_keyboard and self.hasFocus():
            painter = QPainter(self.viewport())
            paint_ring(painter, QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1), self._theme.colours, 0)
            painter.end()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = (
            self.currentIndex() if event.reason() == QContextMenuEvent.Reason.Keyboard else self.indexAt(event.pos())
        )
        if not index.isValid():
            return
        self.selectRow(index.row())
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        where = self.visualRect(index).center() if keyboard else event.pos()
        self.menu_wanted.emit(self.viewport().mapToGlobal(where))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.indexAt(event.position().toPoint()).row())
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)
        super().leaveEvent(event)

    def _hover(self, row: int) -> None:
        if row != self._delegate.hovered_row:
            for changed in (self._delegate.hovered_row, row):
                top, height = self.rowViewportPosition(changed), self.verticalHeader().defaultSectionSize()
                if changed >= 0:
                    self.viewport().update(0, top, self.viewport().width(), height)
            self._delegate.hovered_row = row
