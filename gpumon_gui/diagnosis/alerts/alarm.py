"""Knows: when something that holds is said, and when it is said again. Must not know: any kind, who is told."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.alerts import lost, silence
from gpumon_gui.diagnosis.alerts.alert import Alert, Limits, Sign, State
from gpumon_gui.diagnosis.alerts.table import KINDS, Kind

_log = logging.getLogger("gpumon.alerts")

#: The table holds what is told from samples.
_SILENCE = Kind(lost.KIND, lost.Lost, silence.TITLE, silence.TEXT)


class Alarm:
    """Feed every sample once, in order. Belongs to one thread.

    Said once while it holds; again only after it was over and the quiet time has passed. An event is said each time.
    Times are monotonic: a clock that is set back (a computer with two systems) must not make the quiet time longer.
    """

    def __init__(self, limits: Limits | None = None, kinds: Sequence[Kind] = KINDS) -> None:
        self._limits = limits or Limits()
        self._watches = [(kind, kind.make()) for kind in kinds]
        self._holds: set[tuple[str, str]] = set()
        self._said_s: dict[tuple[str, str], float] = {}
        self._silence = silence.Silence()

    def set_limits(self, limits: Limits) -> None:
        """What the user set now."""
        self._limits = limits

    def look(self, sample: Sample) -> tuple[Alert, ...]:
        """What is to be said after this sample. A kind that fails is logged and keeps quiet; the others go on."""
        alerts = []
        for kind, watch in self._watches:
            try:
                signs = tuple(watch.look(sample, self._limits))
            except Exception:  # noqa: BLE001 - one kind must not stop the others
                _log.exception("alert %s", kind.name)
                continue
            now = Instant(sample.monotonic_s, sample.utc_s)
            alerts += [alert for sign in signs if (alert := self._judge(kind, sign, now)) is not None]
        return tuple(alerts)

    def hear(self, now: Instant, silent: str | None) -> tuple[Alert, ...]:
        """What is to be said when it was looked whether readings come: at least each second while none do. ``silent``:
        a sentence on why none come; None: they do, or the user wants none."""
        sign = self._silence.well(now) if silent is None else self._silence.silent(silent, now)
        alert = None if sign is None else self._judge(_SILENCE, sign, now)
        return () if alert is None else (alert,)

    def _judge(self, kind: Kind, sign: Sign, now: Instant) -> Alert | None:
        key = (kind.name, sign.subject)
        if sign.state is State.OVER:
            self._holds.discard(key)
            return None
        if kind.name in self._limits.muted:
            return None
        if sign.state is State.HOLDS:
            if key in self._holds:
                return None
            if now.monotonic_s - self._said_s.get(key, float("-inf")) < self._limits.quiet_s:
                return None  # said when the quiet time is over, if it still holds
            self._holds.add(key)
            self._said_s[key] = now.monotonic_s
        return Alert(
            kind.name, sign.subject, now.utc_s, kind.title, kind.text, sign.values, sign.device, sign.pid, sign.seconds
        )
