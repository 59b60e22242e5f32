"""Knows: kinds of arguments that several commands have. Must not know: any command."""

from __future__ import annotations

import argparse
import math

from gpumon_gui.core.messages import _


def between(text: str, low: float, high: float) -> float:
    """A number within bounds. Raises argparse.ArgumentTypeError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        message = _("“{text}” is not a number between {low} and {high}")
        raise argparse.ArgumentTypeError(message.format(text=text, low=f"{low:g}", high=f"{high:g}"))
    return number
