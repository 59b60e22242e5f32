"""Knows: how a diagnosis runs beside the GUI thread: environments are found, files told apart, checks run, a cancel
ends them. Must not know: widgets, what is checked.

The diagnosis is only loaded when it is first asked for: a window that never runs one does without its rules.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from gpumon_gui.bridge.worker import LoopThread, Worker, fault_text
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.errors import GpumonError, UnreadableInput
from gpumon_gui.core.files import check_regular_file

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.ask import Ask, Result
    from gpumon_gui.diagnosis.checking import Step
    from gpumon_gui.diagnosis.environments.base import Environment
    from gpumon_gui.diagnosis.gateway import Gateway
    from gpumon_gui.diagnosis.proof.proved import OwnInstruments

#: After a cancel the person is free again at the latest; whatever still ends does so by itself.
PATIENCE_MS = 400
#: For the end of the program: commands are killed at once, a file that is being read is not.
_END_S = 2.0


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker shall do; ``number`` tells its answers from those of an order that was given up. ``ask``: check;
    ``before``: check again, ``subject`` alone or (None) everything; ``modules``: load them; none of these: look for
    environments with ``pythons``."""

    number: int
    cancel: Event
    ask: Ask | None = None
    before: Result | None = None
    subject: str | None = None
    pythons: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Environments:
    """What was found on this machine, environments with frameworks first. ``frameworks``: path, and names and versions
    as their files say. ``versions`` (path, version of Python) are known a moment later, when it ``is_whole``."""

    found: tuple[Environment, ...] = ()
    frameworks: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a check ended: a result, or one line about what cannot be read, or neither (it was cancelled). ``before`` and
    ``subject`` are those of the order. ``is_ending``: it was cancelled and its last step still runs to its end."""

    result: Result | None = None
    before: Result | None = None
    subject: str | None = None
    fault: str = ""
    is_ending: bool = False


class _Diagnoser(Worker):
    """Signals carry the order's number first."""

    prepared = Signal()
    stepped = Signal(int, object)
    found = Signal(int, object)
    ended = Signal(int, object)

    def __init__(self, gateway: Callable[[], Gateway] | None, instruments: Callable[[], OwnInstruments] | None) -> None:
        super().__init__()
        self._gateway = gateway
        self._instruments = instruments
        self._cancel = Event()  #: of what is done now

    def wake(self) -> None:
        """See :meth:`Worker.wake`."""
        self._cancel.set()

    @Slot(object)
    def work(self, order: Order) -> None:
        """Do it; an answer comes in any case."""
        number = order.number
        self._cancel = order.cancel
        if self.stop_event.is_set():
            order.cancel.set()
        if order.modules:
            try:
                for name in order.modules:
                    importlib.import_module(name)
            finally:  # what is broken shows when it is used
                self.prepared.emit()
        elif order.ask is None and order.before is None:
            self.found.emit(number, self._guard(order, self._find))
        else:
            self.ended.emit(number, self._guard(order, self._check))

    def _guard(self, order: Order, work: Callable[[Order], Any]) -> Any:
        try:
            return work(order)
        except Exception as error:  # noqa: BLE001 - told, and the window must not wait for ever
            self.tell_fault(error)
            if order.ask is None and order.before is None:
                return Environments()
            return Outcome(before=order.before, subject=order.subject, fault=fault_text(error))

    def _find(self, order: Order) -> Environments:
        from gpumon_gui.diagnosis.environments.base import Wanted
        from gpumon_gui.diagnosis.environments.frameworks import frameworks_in
        from gpumon_gui.diagnosis.environments.search import find_environments
        from gpumon_gui.diagnosis.probes.python import version_of

        door = self._door()
        found = find_environments(door, Wanted(pythons=order.pythons), order.cancel)
        installed = {environment.path: frameworks_in(door, environment) for environment in found}
        found = tuple(sorted(found, key=lambda one: "named" not in one.origins and not installed[one.path]))
        frameworks = tuple(installed.items())
        self.found.emit(order.number, Environments(found, frameworks, is_whole=False))
        versions = []
        for environment in found:
            version = None if environment.problem else version_of(door, environment, order.cancel)
            if version is not None:
                versions.append((environment.path, version))
        return Environments(found, frameworks, tuple(versions))

    def _check(self, order: Order) -> Outcome:
        from gpumon_gui.diagnosis.checking import Cancelled, Tools, check, check_again

        tools = Tools(self._door(), self._watch(), SystemClock())

        def tell(step: Step) -> None:
            self.stepped.emit(order.number, step)

        try:
            if order.before is not None:
                result = check_again(order.before, order.subject, tools, tell, order.cancel)
            else:
                assert order.ask is not None
                result = check(order.ask, tools, tell, order.cancel)
        except Cancelled:
            return Outcome(before=order.before, subject=order.subject)
        except GpumonError as error:
            return Outcome(before=order.before, subject=order.subject, fault=str(error))
        return Outcome(result, order.before, order.subject)

    def _door(self) -> Gateway:
        if self._gateway is not None:
            return self._gateway()
        from gpumon_gui.diagnosis.live_gateway import LiveGateway

        return LiveGateway()

    def _watch(self) -> Callable[[], OwnInstruments]:
        if self._instruments is not None:
            return self._instruments
        from gpumon_gui.telemetry.instruments import LiveInstruments

        return LiveInstruments


class _Sorter(Worker):
    """Looks at some files, once."""

    told = Signal(object, str)
    refused = Signal(object, str)
    done = Signal()

    def __init__(self, paths: tuple[Path, ...]) -> None:
        super().__init__()
        self._paths = paths

    def run(self) -> None:
        from gpumon_gui.diagnosis.checking import file_kind

        for path in self._paths:
            if self.stop_event.is_set():
                break
            try:
                if not path.is_dir():
                    check_regular_file(path)  # a pipe or a device would be read without end
                self.told.emit(path, file_kind(path))
            except UnreadableInput as error:
                self.refused.emit(path, str(error))
        self.done.emit()


class DiagnosisJob(QObject):
    """One diagnosis at a time. Lives in the GUI thread; its thread starts with the first order.

    ``gateway`` and ``instruments`` make what the checks ask and what watches a proof (None: this machine).

    Signals:
        prepared(): what :meth:`prepare` was asked for is loaded.
        found(object): :class:`Environments`, after :meth:`find`: first what there is, then with versions.
        stepped(object): a :class:`~gpumon_gui.diagnosis.checking.Step`.
        ended(object): an :class:`Outcome`; exactly one for each check.
        settled(): nothing runs any more of the checks that ended while their last step still ran.
        file_sorted(object, str): a path given to :meth:`sort` and what it most likely is.
        file_refused(object, str): such a path and one line on why it cannot be read.
    """

    prepared = Signal()
    found = Signal(object)
    stepped = Signal(object)
    ended = Signal(object)
    settled = Signal()
    file_sorted = Signal(object, str)
    file_refused = Signal(object, str)
    _ordered = Signal(object)

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        gateway: Callable[[], Gateway] | None = None,
        instruments: Callable[[], OwnInstruments] | None = None,
    ) -> None:
        super().__init__(parent)
        self._gateway = gateway
        self._instruments = instruments
        self._thread: LoopThread | None = None
        self._leaving: list[LoopThread] = []
        self._ending: set[int] = set()  #: orders that were given up and have not ended
        self._number = 0
        self._is_closed = False
        self._search: Order | None = None
        self._check: Order | None = None
        self._given_up = QTimer(self)
        self._given_up.setSingleShot(True)
        self._given_up.setInterval(PATIENCE_MS)
        self._given_up.timeout.connect(self._give_up)

    @property
    def is_running(self) -> bool:
        """Whether a check is under way, a cancelled one included until it has ended."""
        return self._check is not None

    def prepare(self, modules: tuple[str, ...]) -> None:
        """Load these in the thread: a hundred rules take a quarter of a second."""
        self._send(Order(self._next(), Event(), modules=modules))

    def find(self, pythons: tuple[str, ...] = ()) -> None:
        """Look for Python environments; ``pythons`` are those added by hand."""
        if self._search is not None:
            self._search.cancel.set()
        self._search = self._send(Order(self._next(), Event(), pythons=pythons))

    def sort(self, paths: tuple[Path, ...]) -> None:
        """Tell what these files are. In a thread of their own: a drive that does not answer holds nothing else up."""
        if self._is_closed:
            return
        sorter = _Sorter(paths)
        queued = Qt.ConnectionType.QueuedConnection
        sorter.told.connect(self.file_sorted, queued)
        sorter.refused.connect(self.file_refused, queued)
        sorter.done.connect(self._on_sorted, queued)
        thread = LoopThread(sorter, "gpumon-files")
        thread.start()
        self._leaving.append(thread)

    def check(self, ask: Ask) -> None:
        """Begin a check. Raises RuntimeError while another one runs."""
        self._begin(Order(self._next(), Event(), ask=ask))

    def check_again(self, before: Result, subject: str | None) -> None:
        """Look at one subject of a result again, or (None) at everything. Raises as :meth:`check`."""
        self._begin(Order(self._next(), Event(), before=before, subject=subject))

    def cancel(self) -> None:
        """End the check that runs, if any; ``ended`` comes soon."""
        if self._check is not None and not self._check.cancel.is_set():
            self._check.cancel.set()
            self._given_up.start()

    def close(self) -> bool:
        """End everything; False when a thread does not end in time."""
        self._is_closed = True
        self._given_up.stop()
        for order in (self._search, self._check):
            if order is not None:
                order.cancel.set()
        self._search = self._check = None
        threads = [*self._leaving, *([self._thread] if self._thread is not None else [])]
        self._thread = None
        self._leaving = []
        for thread in threads:
            thread.request_stop()
        ended = [thread.stop(_END_S) for thread in threads]  # every one of them, whatever the first says
        return all(ended)

    def _begin(self, order: Order) -> None:
        if self._check is not None:
            raise RuntimeError("a check is under way")
        if self._search is not None:  # it waits for nothing but the versions
            self._search.cancel.set()
            self._search = None
        self._check = self._send(order)

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _send(self, order: Order) -> Order:
        if self._is_closed:
            return order
        if self._thread is None:
            worker = _Diagnoser(self._gateway, self._instruments)
            queued = Qt.ConnectionType.QueuedConnection
            self._ordered.connect(worker.work, queued)
            worker.prepared.connect(self.prepared, queued)
            worker.found.connect(self._on_found, queued)
            worker.stepped.connect(self._on_stepped, queued)
            worker.ended.connect(self._on_ended, queued)
            self._thread = LoopThread(worker, "gpumon-diagnosis")
            self._thread.start()
        self._ordered.emit(order)
        return order

    @Slot(int, object)
    def _on_found(self, number: int, environments: Environments) -> None:
        if self._search is not None and self._search.number == number:
            if environments.is_whole:
                self._search = None
            self.found.emit(environments)

    @Slot(int, object)
    def _on_stepped(self, number: int, step: Step) -> None:
        if self._check is not None and self._check.number == number:
            self.stepped.emit(step)

    @Slot(int, object)
    def _on_ended(self, number: int, outcome: Outcome) -> None:
        self._forget_ended()
        if number in self._ending:
            self._ending.discard(number)
            if not self._ending:
                self.settled.emit()
        if self._check is not None and self._check.number == number:
            is_cancelled = self._check.cancel.is_set()
            self._check = None
            self._given_up.stop()
            # It may have come to its end just before: what was cancelled stays cancelled.
            self.ended.emit(Outcome(before=outcome.before, subject=outcome.subject) if is_cancelled else outcome)

    @Slot()
    def _on_sorted(self) -> None:
        sender = self.sender()
        for thread in self._leaving:
            if thread.worker is sender:
                thread.request_stop()
        self._forget_ended()

    def _forget_ended(self) -> None:
        self._leaving = [thread for thread in self._leaving if thread.is_running]

    @Slot()
    def _give_up(self) -> None:
        """What runs does not end at once (a file is being read): it goes on to its end unseen, in a thread that ends
        with it; the next order gets a new one."""
        if self._check is None or self._thread is None:
            return
        order, self._check = self._check, None
        self._ordered.disconnect(self._thread.worker.work)  # type: ignore[attr-defined]
        self._thread.request_stop()
        self._leaving.append(self._thread)
        self._thread = None
        self._ending.add(order.number)
        self.ended.emit(Outcome(before=order.before, subject=order.subject, is_ending=True))
