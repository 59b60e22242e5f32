"""Knows: the structs NVML reads and writes, as ``nvml.h`` (13.3) lays them out. Must not know: who calls.

pynvml has them too, and the tests hold these against it. It is not loaded here: it takes 3 MB and 16 ms of the
sampler, and its structs format themselves at every access, which costs more than the calls.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_char_p, c_double, c_int, c_int64, c_uint, c_uint32, c_ulonglong, c_ushort, c_void_p

#: ``nvmlMemory_v2``: size of the struct and, in the top byte, its version.
MEMORY_V2_VERSION = 40 | 2 << 24
GPM_METRICS_GET_VERSION = 1
GPM_SUPPORT_VERSION = 1
#: NVML_GPM_METRIC_MAX. Drivers touch ``numMetrics`` entries only, whatever the maximum of their own header is.
GPM_METRIC_MAX = 477


class Utilization(ctypes.Structure):
    """``nvmlUtilization_t``."""

    _fields_ = (("gpu", c_uint), ("memory", c_uint))


class Memory(ctypes.Structure):
    """``nvmlMemory_t``, version 1: ``used`` includes what the driver reserves."""

    _fields_ = (("total", c_ulonglong), ("free", c_ulonglong), ("used", c_ulonglong))


class MemoryV2(ctypes.Structure):
    """``nvmlMemory_v2_t``."""

    _fields_ = (
        ("version", c_uint),
        ("total", c_ulonglong),
        ("reserved", c_ulonglong),
        ("free", c_ulonglong),
        ("used", c_ulonglong),
    )


class Bar1Memory(ctypes.Structure):
    """``nvmlBAR1Memory_t``."""

    _fields_ = (("bar1Total", c_ulonglong), ("bar1Free", c_ulonglong), ("bar1Used", c_ulonglong))


class PciInfo(ctypes.Structure):
    """``nvmlPciInfo_t``, version 3."""

    _fields_ = (
        ("busIdLegacy", c_char * 16),
        ("domain", c_uint),
        ("bus", c_uint),
        ("device", c_uint),
        ("pciDeviceId", c_uint),
        ("pciSubSystemId", c_uint),
        ("busId", c_char * 32),
    )


class ProcessUtilizationSample(ctypes.Structure):
    """``nvmlProcessUtilizationSample_t``: percent, time stamp in microseconds of the driver's clock."""

    _fields_ = (
        ("pid", c_uint),
        ("timeStamp", c_ulonglong),
        ("smUtil", c_uint),
        ("memUtil", c_uint),
        ("encUtil", c_uint),
        ("decUtil", c_uint),
    )


class _Number(ctypes.Union):
    """``nvmlValue_t``. ``unsigned long`` is as wide as on the system NVML was built for."""

    _fields_ = (
        ("dVal", c_double),
        ("uiVal", c_uint),
        ("ulVal", ctypes.c_ulong),
        ("ullVal", c_ulonglong),
        ("sllVal", ctypes.c_longlong),
        ("siVal", c_int),
        ("usVal", c_ushort),
    )


class FieldValue(ctypes.Structure):
    """``nvmlFieldValue_t``."""

    _fields_ = (
        ("fieldId", c_uint32),
        ("scopeId", c_uint32),
        ("timestamp", c_int64),
        ("latencyUsec", c_int64),
        ("valueType", c_uint),
        ("nvmlReturn", c_uint),
        ("value", _Number),
    )


class _MetricInfo(ctypes.Structure):
    _fields_ = (("shortName", c_char_p), ("longName", c_char_p), ("unit", c_char_p))


class GpmMetric(ctypes.Structure):
    """``nvmlGpmMetric_t``."""

    _fields_ = (
        ("metricId", c_uint),
        ("nvmlReturn", c_uint),
        ("value", c_double),
        ("metricInfo", _MetricInfo),
    )


class GpmMetricsGet(ctypes.Structure):
    """``nvmlGpmMetricsGet_t``; the samples are opaque pointers."""

    _fields_ = (
        ("version", c_uint),
        ("numMetrics", c_uint),
        ("sample1", c_void_p),
        ("sample2", c_void_p),
        ("metrics", GpmMetric * GPM_METRIC_MAX),
    )


class GpmSupport(ctypes.Structure):
    """``nvmlGpmSupport_t``."""

    _fields_ = (("version", c_uint), ("isSupportedDevice", c_uint))
