"""Knows: that everything in a document that can be proved is proved, and watched only where there is a GPU.
Must not know: what the instruments are, how a proof is made."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Protocol

from gpumon_gui.diagnosis.collect import Progress
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.gateway import Gateway
from gpumon_gui.diagnosis.proof.run import Instruments, NoInstruments, Options, Target, prove, targets_of, with_proofs


class OwnInstruments(Instruments, Protocol):
    """Instruments that were made for this proof."""

    def close(self) -> None:
        """They are not needed any more."""
        ...


def proved(
    gateway: Gateway,
    document: Document,
    make_instruments: Callable[[], OwnInstruments],
    on_progress: Callable[[Progress], None] | None = None,
    cancel: Event | None = None,
    options: Options | None = None,
    wanted: Callable[[Target], bool] | None = None,
) -> Document:
    """The document with a proof of each framework that could be imported (and is ``wanted``)."""
    targets = tuple(target for target in targets_of(document) if wanted is None or wanted(target))
    stop = cancel or Event()
    if not targets or stop.is_set():
        return document
    if not any(target.gpus for target in targets):  # nothing to watch: the processor is all they have
        return with_proofs(document, prove(gateway, targets, NoInstruments(), options, on_progress, stop))
    instruments = make_instruments()
    try:
        return with_proofs(document, prove(gateway, targets, instruments, options, on_progress, stop))
    finally:
        instruments.close()
