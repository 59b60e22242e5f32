"""Knows: a number with its source, or the reason why there is none. Must not know: how either is drawn.

Missing is never zero: nothing here has a default of 0, and :func:`checked` is the one door through which a raw number
becomes a reading.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from gpumon_gui.core.metrics import METRICS, Unit


class Reason(StrEnum):
    """Why a value is missing. The texts shown for them live in ``core.reasons``."""

    NOT_SUPPORTED = "not_supported"  #: this device or driver does not offer it
    NOT_OFFERED_IN_VM = "not_offered_in_vm"  #: a guest with a partitioned or virtual GPU
    NO_PERMISSION = "no_permission"
    DRIVER_MODEL = "driver_model"  #: Windows (WDDM) manages this itself
    MIG = "mig"  #: undefined while the card is split
    ASLEEP = "asleep"  #: the GPU sleeps and was not woken
    DEVICE_LOST = "device_lost"
    NOT_ANSWERING = "not_answering"  #: a driver call has not returned
    SOURCE_GONE = "source_gone"  #: the whole source went away
    IMPLAUSIBLE = "implausible"  #: the driver gave a value that cannot be
    FIRST_SAMPLE = "first_sample"  #: needs two samples
    NOT_READ = "not_read"  #: not asked for in this sample
    ERROR = "error"  #: anything else; the detail says what


class Reading(NamedTuple):
    """A number (or text) and the source that gave it."""

    value: float | int | str
    source: str


class Missing(NamedTuple):
    """No value, and why. ``detail`` is the technical word (an error name), never a sentence to translate."""

    reason: Reason
    source: str = ""
    detail: str = ""


Value: TypeAlias = Reading | Missing

NOT_READ = Missing(Reason.NOT_READ)

# "No value" patterns that drivers and NVIDIA DCGM hand out as if they were numbers: all-ones of 32 and 64 bits, and
# DCGM's blanks (dcgm_structs.h: INT32_BLANK 0x7ffffff0, INT64_BLANK 0x7ffffffffffffff0, FP64_BLANK 2^47; each is
# followed by three more codes: not found, not supported, not permissioned).
_BLANKS: frozenset[int] = frozenset(
    (
        0xFFFFFFFF,
        0xFFFFFFFFFFFFFFFF,
        *range(0x7FFFFFF0, 0x7FFFFFF4),
        *range(0x7FFFFFFFFFFFFFF0, 0x8000000000000000),
        *range(140737488355328, 140737488355332),
    )
)


def is_blank(raw: float) -> bool:
    """Whether a number is one of the agreed patterns for "no value"."""
    return raw in _BLANKS


def checked(metric_id: str, raw: float, source: str) -> Value:
    """A raw number in canonical units as a reading, or ``Missing(IMPLAUSIBLE)`` outside the metric's bounds.

    Never clamps. NaN, infinities and "no value" patterns are always implausible, negative numbers where the metric's
    bounds say so. Raises KeyError for an id that is not in the catalogue.
    """
    metric = METRICS[metric_id]
    if metric.low <= raw <= metric.high and not (
        raw >= 0x7FFFFFF0 and metric.unit is not Unit.BITMASK and (raw == math.inf or is_blank(raw))
    ):
        return Reading(raw, source)
    return Missing(Reason.IMPLAUSIBLE, source, "NaN" if math.isnan(raw) else f"{raw:g}")


def number(value: Value | None) -> float | None:
    """The number inside, or None when it is missing or text."""
    if isinstance(value, Reading) and not isinstance(value.value, str):
        return value.value
    return None


def text(value: Value | None) -> str | None:
    """The text inside, or None when it is missing."""
    return str(value.value) if isinstance(value, Reading) else None
