"""Knows: what every check gets to see. Must not know: any check."""

from __future__ import annotations

from gpumon_gui.diagnosis.script.code import Code
from gpumon_gui.diagnosis.script.reader import Script
from gpumon_gui.diagnosis.script.tf_code import TfCode
from gpumon_gui.diagnosis.script.torch_code import TorchCode


class Seen:
    """One script: its names and flow, and what PyTorch and TensorFlow do in it."""

    def __init__(self, script: Script) -> None:
        self.code = Code(script)
        self.torch = TorchCode(self.code)
        self.tensorflow = TfCode(self.code)
