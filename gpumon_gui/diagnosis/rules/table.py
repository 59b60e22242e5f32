"""Knows: which rules there are. Must not know: what they look for.

One line per rule, sorted by code; a test compares it with the files of this folder.
"""

from __future__ import annotations

from gpumon_gui.diagnosis.rule import Rule
from gpumon_gui.diagnosis.rules import torch_cpu_only_build

RULES: tuple[Rule, ...] = (torch_cpu_only_build.RULE,)
