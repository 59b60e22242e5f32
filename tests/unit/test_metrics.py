"""The catalogue of figures is complete: nothing in it can reach the user without a name, a unit and bounds."""

from __future__ import annotations

import math

import pytest

from gpumon_gui.core.metrics import (
    DEVICE_METRICS,
    HOST_METRICS,
    METRICS,
    PROCESS_METRICS,
    THROTTLE_REASONS,
    Kind,
    Metric,
    Unit,
)

ALL = (*DEVICE_METRICS, *PROCESS_METRICS, *HOST_METRICS)
SUFFIX = {
    "_bytes": Unit.BYTES,
    "_bytes_per_s": Unit.BYTES_PER_S,
    "_c": Unit.CELSIUS,
    "_w": Unit.WATT,
    "_j": Unit.JOULE,
    "_mhz": Unit.MEGAHERTZ,
    "_ratio": Unit.RATIO,
    "_utilization": Unit.RATIO,
    "_activity": Unit.RATIO,
}


def test_ids_are_unique() -> None:
    assert len(METRICS) == len(ALL)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.id)
def test_each_metric_is_fully_described(metric: Metric) -> None:
    assert metric.label
    assert metric.label == metric.label.strip()
    if metric.help:
        assert metric.help.endswith(".")
    if metric.unit is Unit.TEXT:
        assert metric.kind is Kind.STATIC
        return
    assert metric.low < metric.high
    assert metric.kind is Kind.COUNTER or math.isfinite(metric.high), "only a counter grows without bound"
    for suffix, unit in SUFFIX.items():
        if metric.id.endswith(suffix):
            assert metric.unit is unit, f"{suffix} says {unit}"


@pytest.mark.parametrize("metric", [m for m in ALL if m.kind is Kind.COUNTER], ids=lambda metric: metric.id)
def test_each_counter_has_a_gauge_for_its_speed(metric: Metric) -> None:
    rate = METRICS[metric.rate]
    assert rate.kind is Kind.GAUGE
    assert {Unit.BYTES: Unit.BYTES_PER_S, Unit.JOULE: Unit.WATT}[metric.unit] is rate.unit


def test_only_counters_name_a_rate() -> None:
    assert all(metric.kind is Kind.COUNTER for metric in ALL if metric.rate or metric.wraps_at)


def test_process_metrics_say_so_and_others_do_not() -> None:
    assert all(metric.id.startswith("process_") for metric in PROCESS_METRICS)
    assert not any(metric.id.startswith("process_") for metric in (*DEVICE_METRICS, *HOST_METRICS))


def test_throttle_bits_are_single_and_named() -> None:
    bits = [bit for bit, _name in THROTTLE_REASONS]
    assert len(set(bits)) == len(bits)
    assert all(bit.bit_count() == 1 for bit in bits)
    assert all(name for _bit, name in THROTTLE_REASONS)
