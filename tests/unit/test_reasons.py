"""Every reason, state and source failure has words."""

from __future__ import annotations

import pytest

from gpumon_gui.core.model import DeviceState, SourceHealth, SourceState
from gpumon_gui.core.reasons import (
    DEVICE_STATE_TEXT,
    REASON_TEXT,
    SOURCE_STATE_TEXT,
    SOURCE_TEXT,
    health_text,
    missing_text,
)
from gpumon_gui.core.values import Missing, Reason


@pytest.mark.parametrize("reason", Reason)
def test_each_reason_has_words(reason: Reason) -> None:
    assert REASON_TEXT[reason]
    assert missing_text(Missing(reason)) == REASON_TEXT[reason]


def test_the_technical_word_follows_in_brackets() -> None:
    value = Missing(Reason.ERROR, "nvml", "NVML_ERROR_UNKNOWN")
    assert missing_text(value) == "reading failed (NVML_ERROR_UNKNOWN)"


@pytest.mark.parametrize("state", DeviceState)
def test_each_device_state_but_ok_has_words(state: DeviceState) -> None:
    assert bool(DEVICE_STATE_TEXT[state]) == (state is not DeviceState.OK)


@pytest.mark.parametrize("state", SourceState)
def test_each_source_state_has_words(state: SourceState) -> None:
    assert SOURCE_STATE_TEXT[state]


@pytest.mark.parametrize("code", SOURCE_TEXT)
def test_each_source_failure_is_a_sentence(code: str) -> None:
    assert SOURCE_TEXT[code].endswith(".")
    assert code == code.lower()


def test_health_is_told_with_its_technical_word() -> None:
    told = health_text(SourceHealth("nvml", SourceState.FAILED, "no-driver", "libnvidia-ml.so.1"))
    assert told.startswith("No NVIDIA driver was found.")
    assert told.endswith("(libnvidia-ml.so.1)")


def test_a_healthy_source_says_nothing() -> None:
    assert health_text(SourceHealth("nvml", SourceState.OK)) == ""


def test_an_unknown_code_still_shows_its_detail() -> None:
    assert health_text(SourceHealth("nvml", SourceState.FAILED, "not-in-this-version", "NVML 999")) == "NVML 999"
