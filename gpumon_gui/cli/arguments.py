"""Knows: kinds of arguments that several commands have. Must not know: any command."""

from __future__ import annotations

import argparse
import math
from typing import Any

from gpumon_gui.core.messages import _


class Once(argparse.Action):
    """An option that is refused when it is given again: of two values argparse would drop the first."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, _("it can be given only once"))
        setattr(namespace, self.dest, values)


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
