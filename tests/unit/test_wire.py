"""Messages between window and sampler as bytes: whole, in pieces, damaged."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.telemetry import wire

SAMPLE = Sample(7, 1.0, 2.0, 1.0)
STREAM = wire.hello("1.2", 42) + wire.frame(SAMPLE) + wire.fault("Traceback: 坏了 \udcff") + wire.bye()


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_messages_arrive_whole_however_the_pipe_cuts_them(cuts: list[int]) -> None:
    splitter = wire.Splitter()
    edges = [0, *sorted(cuts), len(STREAM)]
    found = [part for start, end in pairwise(edges) for part in splitter.feed(STREAM[start:end])]
    messages = [wire.parse(kind, body) for kind, body in found]
    assert messages == [
        wire.Hello("1.2", 42),
        wire.Frame(SAMPLE),
        wire.Fault("Traceback: 坏了 \\udcff"),
        wire.Bye(),
    ]


def test_a_demand_survives_the_way() -> None:
    wanted = Demand(interval_s=float("inf"), details=False, processes=True, cpu_processes=False, pids=(4711, 12))
    [(kind, body)] = wire.Splitter().feed(wire.demand(wanted))
    assert kind == wire.DEMAND
    assert wire.parse_demand(body) == wanted


@pytest.mark.parametrize(
    "junk",
    [b"x", b"hello world", b"GPN", b"GPM?", b"GPMS\xff\xff\xff\xff", b"\0" * 100],
    ids=lambda junk: repr(junk[:4]),
)
def test_anything_else_is_damage_and_nothing_is_read_after_it(junk: bytes) -> None:
    splitter = wire.Splitter()
    assert [kind for kind, _body in splitter.feed(wire.bye() + junk)] == [wire.BYE]
    assert splitter.damage
    assert splitter.feed(wire.bye()) == []


def test_the_beginning_of_a_message_is_no_damage() -> None:
    splitter = wire.Splitter()
    for byte in wire.frame(SAMPLE)[:-1]:
        assert splitter.feed(bytes([byte])) == []
        assert not splitter.damage


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (wire.FRAME, b"\xc1"),
        (wire.FRAME, b"\x80"),
        (wire.HELLO, b"\x80"),
        (wire.FAULT, b"\x01"),
        (wire.STOP, b""),
    ],
)
def test_a_body_that_is_not_one_is_damage(kind: bytes, body: bytes) -> None:
    with pytest.raises(wire.DamagedStream):
        wire.parse(kind, body)


@pytest.mark.parametrize("body", [b"\x01", b"\x80\x80", b"\x81\xabinterval_s\xa3abc"])
def test_a_demand_that_is_not_one_is_damage(body: bytes) -> None:
    with pytest.raises(wire.DamagedStream):
        wire.parse_demand(body)


def test_a_long_traceback_keeps_its_end() -> None:
    [(kind, body)] = wire.Splitter().feed(wire.fault("x" * 1_000_000 + "the end"))
    fault = wire.parse(kind, body)
    assert isinstance(fault, wire.Fault)
    assert fault.text.endswith("the end")
    assert len(fault.text) < 20_000
