"""The struct layouts of NVML against those of nvidia-ml-py, which NVIDIA keeps in step with nvml.h."""

from __future__ import annotations

import ctypes
from typing import Any

import pynvml
import pytest

from gpumon_gui.telemetry.nvml import layouts
from gpumon_gui.telemetry.nvml.library import error_name

PAIRS: tuple[tuple[Any, Any], ...] = (
    (layouts.Utilization, pynvml.c_nvmlUtilization_t),
    (layouts.Memory, pynvml.c_nvmlMemory_t),
    (layouts.MemoryV2, pynvml.c_nvmlMemory_v2_t),
    (layouts.Bar1Memory, pynvml.c_nvmlBAR1Memory_t),
    (layouts.PciInfo, pynvml.nvmlPciInfo_t),
    (layouts.ProcessUtilizationSample, pynvml.c_nvmlProcessUtilizationSample_t),
    (layouts.FieldValue, pynvml.c_nvmlFieldValue_t),
    (layouts.GpmMetric, pynvml.c_nvmlGpmMetric_t),
    (layouts.GpmMetricsGet, pynvml.c_nvmlGpmMetricsGet_t),
    (layouts.GpmSupport, pynvml.c_nvmlGpmSupport_t),
)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda struct: struct.__name__)
def test_layout(ours: Any, theirs: Any) -> None:
    assert ctypes.sizeof(ours) == ctypes.sizeof(theirs)
    places = {field[0]: (getattr(ours, field[0]).offset, getattr(ours, field[0]).size) for field in ours._fields_}
    expected = {
        field[0]: (getattr(theirs, field[0]).offset, getattr(theirs, field[0]).size) for field in theirs._fields_
    }
    assert places == expected


def test_versions() -> None:
    assert pynvml.nvmlMemory_v2 == layouts.MEMORY_V2_VERSION
    assert layouts.GPM_METRICS_GET_VERSION == pynvml.NVML_GPM_METRICS_GET_VERSION
    assert layouts.GPM_SUPPORT_VERSION == pynvml.NVML_GPM_SUPPORT_VERSION
    assert layouts.GPM_METRIC_MAX == pynvml.NVML_GPM_METRIC_MAX


def test_names_of_errors() -> None:
    known = {value: name for name, value in vars(pynvml).items() if name.startswith("NVML_ERROR_")}
    assert {code: error_name(code) for code in known} == known
    assert error_name(777) == "NVML error 777"
