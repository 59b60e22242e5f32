"""Knows: what argparse itself says of a command line, so that it is said in the user's language. Must not know: which
commands and options there are.
"""

from __future__ import annotations

import argparse
from typing import Final

from gpumon_gui.core.messages import N_, _

#: As they stand in the standard library (3.11); one that a later version words differently stays English.
WORDS: Final = (
    N_("usage: "),
    N_("positional arguments"),
    N_("options"),
    N_("show this help message and exit"),
    N_("argument %(argument_name)s: %(message)s"),
    N_("unrecognized arguments: %s"),
    N_("the following arguments are required: %s"),
    N_("one of the arguments %s is required"),
    N_("not allowed with argument %s"),
    N_("expected one argument"),
    N_("expected at least one argument"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("invalid %(type)s value: %(value)r"),
    N_("ambiguous option: %(option)s could match %(matches)s"),
    N_("ignored explicit argument %r"),
)


def translate() -> None:
    """Let argparse look its texts up where ours are: it asks a catalogue of its own, which nobody ships."""
    vars(argparse)["_"] = _
