"""Knows: GPU Performance Monitoring (Hopper and newer): two samples make an interval. Must not know: the sweep.

``nvml.h``: nvmlGpmQueryDeviceSupport, nvmlGpmSampleAlloc/Get/Free, nvmlGpmMetricsGet. Taking a sample costs 0.1-0.3 ms,
computing the metrics about 4 ms on an H200. A single metric can be NaN or carry an error of its own: missing.
"""

from __future__ import annotations

import ctypes
from typing import Any

from gpumon_gui.core.values import Missing, Reason, Value, checked
from gpumon_gui.telemetry.nvml.getters import GPM_METRICS
from gpumon_gui.telemetry.nvml.layouts import GPM_METRICS_GET_VERSION, GPM_SUPPORT_VERSION, GpmMetricsGet, GpmSupport
from gpumon_gui.telemetry.nvml.library import NEVER, SUCCESS, Library, error_name

SOURCE = "nvml"


class Gpm:
    """The GPM metrics of one device, between this call and the one before.

    ``instance`` is the GPU instance id when the device is a MIG instance (then ``handle`` is the parent card's).
    """

    def __init__(self, library: Library, handle: Any, instance: int | None = None) -> None:
        self._library = library
        self._handle = handle
        self._instance = instance
        self._samples: list[Any] = []
        self._request = GpmMetricsGet()
        self._request.version = GPM_METRICS_GET_VERSION
        self._request.numMetrics = len(GPM_METRICS)
        self._has_previous = False

    @staticmethod
    def supported(library: Library, handle: Any) -> bool:
        """Whether the driver says this device has GPM."""
        support = GpmSupport()
        support.version = GPM_SUPPORT_VERSION
        code = library.call("nvmlGpmQueryDeviceSupport", handle, ctypes.byref(support))
        return code == SUCCESS and bool(support.isSupportedDevice)

    def read(self, values: dict[str, Value]) -> None:
        """Add the metrics of the interval since the last call; the first call gives Missing(FIRST_SAMPLE)."""
        code = self._take()
        if code != SUCCESS:
            self._has_previous = False
            self._fill(values, Reason.NOT_SUPPORTED if code in NEVER else Reason.ERROR, error_name(code))
            return
        if not self._has_previous:
            self._has_previous = True
            self._fill(values, Reason.FIRST_SAMPLE)
            return
        request = self._request
        request.sample1, request.sample2 = (sample.value for sample in self._samples)
        for index, wanted in enumerate(GPM_METRICS):
            request.metrics[index].metricId = wanted.gpm_id
        code = self._library.call("nvmlGpmMetricsGet", ctypes.byref(request))
        if code != SUCCESS:
            self._fill(values, Reason.ERROR, error_name(code))
            return
        for index, wanted in enumerate(GPM_METRICS):
            answer = request.metrics[index]
            if answer.nvmlReturn != SUCCESS:
                reason = Reason.NOT_SUPPORTED if answer.nvmlReturn in NEVER else Reason.ERROR
                values[wanted.metric] = Missing(reason, SOURCE, error_name(answer.nvmlReturn))
            else:
                values[wanted.metric] = checked(wanted.metric, answer.value * wanted.scale, SOURCE)

    def forget(self) -> None:
        """The next call is a first one: an interval that nobody looked at says nothing about now."""
        self._has_previous = False

    def close(self) -> None:
        """Give the two sample buffers back."""
        for sample in self._samples:
            self._library.call("nvmlGpmSampleFree", sample)
        self._samples = []
        self._has_previous = False

    def _take(self) -> int:
        """Take a sample; afterwards ``_samples`` is [older, newer]."""
        if not self._samples:
            for _ in range(2):
                sample = ctypes.c_void_p()
                code = self._library.call("nvmlGpmSampleAlloc", ctypes.byref(sample))
                if code != SUCCESS:
                    self.close()
                    return code
                self._samples.append(sample)
        self._samples.reverse()
        if self._instance is None:
            return self._library.call("nvmlGpmSampleGet", self._handle, self._samples[1])
        return self._library.call("nvmlGpmMigSampleGet", self._handle, ctypes.c_uint(self._instance), self._samples[1])

    def _fill(self, values: dict[str, Value], reason: Reason, detail: str = "") -> None:
        for wanted in GPM_METRICS:
            values[wanted.metric] = Missing(reason, SOURCE, detail)
