"""Knows: a remarkable moment in the history. Must not know: who noticed it, how it is drawn."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKey

#: A text from anywhere must not grow the file.
LONGEST_TEXT = 1000
_MOST_PARAMETERS = 32


class MarkerKind(StrEnum):
    """What sort of moment."""

    ALERT = "alert"
    VERDICT = "verdict"
    RUN_ENDED = "run_ended"


@dataclass(frozen=True, slots=True)
class Marker:
    """A moment, or with ``end_utc_s`` a span. ``code`` says exactly what (an alert's or rule's code), ``subject`` of
    whom (a process, an environment), ``device`` of which card (None: the machine).

    ``text`` is an untranslated message (``N_``) with named placeholders, ``parameters`` fills them; ``tone`` is
    ``good``, ``info``, ``attention`` or ``bad``.
    """

    utc_s: float
    kind: MarkerKind
    code: str
    text: str
    parameters: tuple[tuple[str, str], ...] = ()
    subject: str = ""
    device: DeviceKey | None = None
    tone: str = "info"
    end_utc_s: float | None = None

    def sentence(self) -> str:
        """The text in the user's language; as it stands when the placeholders do not fit."""
        text = _(self.text)
        try:
            return text.format(**dict(self.parameters))
        except (KeyError, IndexError, ValueError, AttributeError):
            return text


def packed(parameters: tuple[tuple[str, str], ...]) -> str:
    """Parameters as one text for the file."""
    kept = {name: value[:LONGEST_TEXT] for name, value in parameters[:_MOST_PARAMETERS]}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def unpacked(text: str) -> tuple[tuple[str, str], ...]:
    """Parameters from the file; none when they are damaged."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return tuple((str(k), str(v)) for k, v in found.items()) if isinstance(found, dict) else ()


def kind_of(text: str) -> MarkerKind:
    """The kind from the file; an alert when a newer program wrote another."""
    return MarkerKind(text) if text in set(MarkerKind) else MarkerKind.ALERT
