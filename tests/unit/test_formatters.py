"""How values are written, and that nothing missing is ever written as a number."""

from __future__ import annotations

import pytest

from gpumon_gui.core.metrics import METRICS, Unit
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.telemetry import provenance
from gpumon_gui.ui import formatters

GIB = 1 << 30


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("gpu_utilization", 0.87, "87 %"),
        ("gpu_utilization", 0.0, "0 %"),
        ("gpu_utilization", 1.0, "100 %"),
        ("memory_used_bytes", 61.2 * GIB, "61.2 GB"),
        ("memory_used_bytes", 5 * 1024 * 1024, "5 MB"),
        ("memory_used_bytes", 0, "0 MB"),
        ("temperature_c", 57, "57 °C"),
        ("power_w", 312.4, "312 W"),
        ("power_w", 4.25, "4.2 W"),
        ("clock_sm_mhz", 1980, "1,980 MHz"),
        ("pcie_rx_bytes_per_s", 16e9, "16 GB/s"),
        ("pcie_rx_bytes_per_s", 5.16e9, "5.2 GB/s"),
        ("pcie_rx_bytes_per_s", 999.7e6, "1.0 GB/s"),
        ("pcie_rx_bytes_per_s", 55e6, "55 MB/s"),
        ("pcie_rx_bytes_per_s", 12, "12 B/s"),
        ("pstate", 2, "P2"),
        ("throttle_reasons", 0, "none"),
        ("throttle_reasons", 0x24, "Power cap, Thermal slowdown (software)"),
        ("throttle_reasons", 0x1004, "Power cap, 0x1000"),
        ("driver_version", "580.159.04", "580.159.04"),
        ("mig_mode", "Enabled", "enabled"),
    ],
)
def test_written(metric: str, value: float | str, text: str) -> None:
    assert formatters.value_text(metric, Reading(value, "nvml")) == text


def test_every_metric_can_be_written_and_explained() -> None:
    for metric in METRICS.values():
        value = "x" if metric.unit is Unit.TEXT else max(metric.low, 1.0)
        assert formatters.value_text(metric.id, Reading(value, "nvml"))
        assert metric.label in formatters.value_tip(metric.id, Reading(value, "nvml"))


def test_missing_is_a_dash_with_its_reason() -> None:
    missing = Missing(Reason.DRIVER_MODEL, "nvml")
    assert formatters.value_text("power_w", missing) == "—"
    assert formatters.value_text("power_w", None) == "—"
    assert "not available in the WDDM driver model" in formatters.value_tip("power_w", missing)


def test_tip_names_the_counter() -> None:
    tip = formatters.value_tip("gpu_utilization", Reading(0.4, "nvml"))
    assert tip.endswith("Source: NVML, nvmlDeviceGetUtilizationRates: gpu")
    shared = formatters.value_tip("shared_used_bytes", Reading(1.0, "pdh"))
    assert r"\GPU Adapter Memory(*)\Shared Usage" in shared


@pytest.mark.parametrize(
    ("used", "total", "text"),
    [
        (Reading(4.2 * GIB, "a"), Reading(8 * GIB, "a"), "4.2 / 8.0 GB"),
        (Reading(0.05 * GIB, "a"), Reading(8 * GIB, "a"), "0.1 / 8.0 GB"),
        (Reading(4.2 * GIB, "a"), None, "4.2 GB"),
        (Missing(Reason.ASLEEP), Reading(8 * GIB, "a"), "— / 8.0 GB"),
        (Missing(Reason.ASLEEP), None, "—"),
    ],
)
def test_memory_pair(used: Value, total: Value | None, text: str) -> None:
    assert formatters.memory_pair(used, total) == text


def test_pair_writes_the_unit_once() -> None:
    assert formatters.pair(Reading(312.0, "a"), Reading(700.0, "a"), formatters.watts) == "312 / 700 W"
    assert formatters.pair(Missing(Reason.ERROR), Reading(700.0, "a"), formatters.watts) == "— / 700 W"
    assert formatters.pair(Reading(312.0, "a"), None, formatters.watts) == "312 W"
    assert formatters.pair(None, None, formatters.watts) == "—"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (12.4, "12 s"), (99, "99 s"), (100, "2 min"), (3600, "60 min"), (7200, "2 h")]
)
def test_duration(seconds: float, text: str) -> None:
    assert formatters.duration(seconds) == text


def test_span() -> None:
    assert [formatters.span(s) for s in (60, 300, 3600, 7200)] == ["60 seconds", "5 minutes", "1 hour", "2 hours"]


def test_provenance_names_only_metrics_of_the_catalogue() -> None:
    for source, table in provenance.COUNTERS.items():
        assert set(table) <= set(METRICS), source
    assert set(provenance.COUNTERS) == set(provenance.SOURCE_NAMES)
    assert provenance.counter("nobody", "power_w") == ""
