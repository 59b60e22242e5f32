"""Somebody sets the clock: a process keeps its start in every sampler, and is still the one that may be ended."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import psutil
import pytest

from gpumon_gui.core import boot
from gpumon_gui.system.end_process import EndRequest, EndResult, end_process
from gpumon_gui.telemetry.host.procfs import Procfs
from gpumon_gui.telemetry.process import SamplerProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems keep the moment itself")

HOUR_S = 3600.0


@pytest.fixture
def earlier(monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """The boot time that was known before the clock was set forward by an hour."""
    first = boot.boot_now() - HOUR_S
    monkeypatch.setenv(boot.VARIABLE, str(first))
    boot.boot_first.cache_clear()
    yield first
    boot.boot_first.cache_clear()


def test_a_sampler_counts_from_what_was_known_first(earlier: float) -> None:
    assert boot.boot_first() == earlier
    began = psutil.Process().create_time() - HOUR_S
    assert Procfs("/proc").facts(os.getpid(), "python").started_utc_s == pytest.approx(began, abs=1.5)


def test_every_sampler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(boot.VARIABLE, raising=False)
    code = "import os, sys; sys.stderr.write(os.environ['GPUMON_BOOT'] + ';'); sys.stderr.flush(); input()"
    process = SamplerProcess(command=(sys.executable, "-c", code))
    try:
        while not process.tail().endswith(";"):
            threading.Event().wait(0.01)
        assert float(process.tail().removesuffix(";")) == boot.boot_first()
    finally:
        process.kill(20)


def test_the_process_of_the_list_is_ended_and_no_other(earlier: float) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        began = psutil.Process(process.pid).create_time()
        other = end_process(EndRequest(process.pid, began, "x"), threading.Event())
        same = end_process(EndRequest(process.pid, began - HOUR_S, "x"), threading.Event())
    assert (other.result, same.result) == (EndResult.RECYCLED, EndResult.ENDED)
