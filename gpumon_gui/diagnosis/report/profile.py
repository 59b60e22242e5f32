"""Knows: what a report shows of a profile and of a memory snapshot: lines and tables. Must not know: their drawing.

A section is ``{"title", "lines", "tables": [{"title", "columns", "rows"}]}``, all texts, translated. Facts may come
from a file that somebody wrote by hand: what is not of the expected type is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpumon_gui.core.files import printable
from gpumon_gui.core.formatters import memory, percent
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.facts import UNKNOWN, View

_FRAMEWORK: Final = {"torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX"}
#: What the CPU did while a GPU was idle.
MEANWHILE: Final[dict[str, str]] = {
    "data_loader": N_("waiting for the data loader"),
    "compile": N_("compiling or loading kernels"),
    "synchronise": N_("waiting for the GPU (synchronising)"),
    "memory": N_("allocating or pinning memory"),
    "copy": N_("starting a copy"),
    "launch": N_("launching kernels"),
    "operator": N_("in operators of the framework"),
    "unrecorded": N_("not recorded (Python, other libraries)"),
}
_DIRECTION: Final[dict[str, str]] = {
    "htod": N_("computer to GPU"),
    "dtoh": N_("GPU to computer"),
    "dtod": N_("within and between GPUs"),
    "other": N_("other"),
}


def sections(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sections for what the facts hold; empty without a profile and a snapshot."""
    view = View("", facts)
    found = []
    if view.known("profile"):
        found.append(_profile(view))
    if view.known("memory_snapshot"):
        found.append(_snapshot(view))
    if found:
        found[-1]["lines"] += _left_out(view)
    return found


def took(seconds: float) -> str:
    """``3.2 µs``, ``45 ms``, ``1.20 s``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            value = seconds / size
            return f"{value:.2f} {unit}" if value < 10 else f"{value:,.0f} {unit}"
    return f"{seconds * 1e6:.1f} µs"


def _profile(view: View) -> dict[str, Any]:
    by_cpu = view.text("profile.operators_by") == "cpu"
    tables = [
        _table(
            N_("Top operators by the CPU's time") if by_cpu else N_("Top operators by GPU time"),
            (N_("operator"), N_("count") if by_cpu else N_("kernels"), N_("time"), N_("share")),
            [_timed(row) for row in _rows(view, "profile.operators")],
        ),
        _table(
            N_("Top kernels"),
            (N_("kernel"), N_("count"), N_("time"), N_("share")),
            [_timed(row) for row in _rows(view, "profile.kernels")],
        ),
        _table(N_("What the CPU did while the GPU was idle"), (N_("CPU"), N_("share of the time")), _meanwhile(view)),
        _table(
            N_("Longest gaps"),
            (N_("at"), N_("length"), N_("GPU"), N_("the CPU meanwhile"), N_("event")),
            [_gap(row) for row in _rows(view, "profile.gaps")],
        ),
        _table(
            N_("Copies"),
            (N_("direction"), N_("count"), N_("size"), N_("time"), N_("from or to pageable memory")),
            [_copy(row) for row in _rows(view, "profile.copies")],
        ),
    ]
    title = _("Profile {file}").format(file=printable(view.text("profile.file") or ""))
    return {"title": title, "lines": _about(view), "tables": [table for table in tables if table["rows"]]}


def _about(view: View) -> list[str]:
    framework = view.text("profile.framework") or ""
    duration, events = view.number("profile.duration_s"), view.number("profile.event_count")
    lines = []
    if duration is not None and events is not None:
        text = _("{framework}: {duration} recorded, {count} events")
        name = _FRAMEWORK.get(framework, framework) or _("Framework not known")
        lines.append(text.format(framework=name, duration=took(duration), count=f"{events:,.0f}"))
    steps, step = view.number("profile.step_count"), view.number("profile.step_median_s")
    if steps is not None and step is not None:
        lines.append(_("Marked steps: {count}, median {length}").format(count=f"{steps:,.0f}", length=took(step)))
    devices = _rows(view, "profile.devices")
    for row in devices:
        busy, copying, idle = (_number(row, name) for name in ("busy_share", "copy_share", "idle_share"))
        text = _("GPU {index}: busy {busy}, waiting for copies {copying}, idle {idle}")
        name = _text(row, "name")
        index = f"{_number(row, 'index'):.0f}" + (f" ({name})" if name else "")
        lines.append(text.format(index=index, busy=percent(busy), copying=percent(copying), idle=percent(idle)))
        talking, alone = _number(row, "collective_share"), _number(row, "exposed_collective_share")
        if talking > 0:
            text = _("GPU {index}: communication {share} of the time, {alone} of it with nothing else running")
            lines.append(text.format(index=index, share=percent(talking), alone=percent(alone / talking)))
    if view.get("profile.kernel_count") == 0:
        lines.append(
            _("The profile holds no activity of a GPU: it was recorded without the GPU, or nothing ran there.")
        )
    kernels, median, rate = (
        view.number(f"profile.{name}") for name in ("kernel_count", "kernel_median_us", "kernels_per_s")
    )
    if kernels and median is not None and rate is not None:
        text = _("Kernels: {count}, {rate} per second, half of them shorter than {length}")
        lines.append(text.format(count=f"{kernels:,.0f}", rate=f"{rate:,.0f}", length=took(median / 1e6)))
    heavy, tensor = view.number("profile.heavy_share"), view.number("profile.heavy_tensor_core_share")
    if heavy is not None and tensor is not None:
        text = _("Matrix products and convolutions: {share} of the kernels' time, {tensor} of it on tensor cores")
        lines.append(text.format(share=percent(heavy), tensor=percent(tensor)))
    waits, waiting = view.number("profile.sync_count"), view.number("profile.sync_share")
    if waits and waiting is not None:
        text = _("The CPU waited for the GPU {count} times, {share} of the time ({items} times for .item())")
        items = view.number("profile.item_count") or 0
        lines.append(text.format(count=f"{waits:,.0f}", share=percent(waiting), items=f"{items:,.0f}"))
    damaged = view.number("profile.damaged_event_count")
    if damaged:
        lines.append(_("Events without a usable time, left out: {count}").format(count=f"{damaged:,.0f}"))
    gaps = view.number("profile.gap_count")
    if gaps:
        text = _("Gaps in the GPU's work of 10 µs and more: {count}, together {length}")
        length = took(view.number("profile.gap_seconds") or 0.0)
        lines.append(text.format(count=f"{gaps:,.0f}", length=length))
    return lines


def _left_out(view: View) -> list[str]:
    """What of a folder was not read."""
    rows = _rows(view, "profile_folder.skipped")
    lines = [_("Not read: {why}").format(why=why) for row in rows if (why := _text(row, "why"))]
    names = [name for row in rows if not _text(row, "why") and (name := _text(row, "file"))]
    if names:
        more = (view.number("profile_folder.skipped_count") or 0.0) - len(rows)
        text = _("Not read, since a newer one was: {files}")
        lines.append(text.format(files=_(", ").join(names)) + (f" (+{more:,.0f})" if more > 0 else ""))
    return lines


def _snapshot(view: View) -> dict[str, Any]:
    allocated = view.number("memory_snapshot.allocated_bytes") or 0.0
    tables = [
        _table(
            N_("Largest live allocations"),
            (N_("call site"), N_("blocks"), N_("size"), N_("share")),
            [_held(row, allocated) for row in _rows(view, "memory_snapshot.live")],
        ),
        _table(
            N_("Call sites whose memory only grows"),
            (N_("call site"), N_("blocks never given back"), N_("size"), N_("share")),
            [_held(row, allocated) for row in _rows(view, "memory_snapshot.growing")],
        ),
    ]
    lines = []
    for name, text in (
        ("reserved_bytes", N_("Taken from the driver (reserved): {size}")),
        ("allocated_bytes", N_("Given to tensors (allocated): {size}")),
        ("fragmented_bytes", N_("Free, but between blocks in use (fragmented): {size}")),
        ("largest_hole_bytes", N_("The largest of these holes: {size}")),
        ("releasable_bytes", N_("Free in whole segments (torch gives it back when memory is short): {size}")),
        ("out_of_memory.requested_bytes", N_("A request failed while this was recorded: {size}")),
    ):
        value = view.number(f"memory_snapshot.{name}")
        if value is not None:
            lines.append(_(text).format(size=memory(value)))
    title = _("Memory snapshot {file}").format(file=printable(view.text("memory_snapshot.file") or ""))
    return {"title": title, "lines": lines, "tables": [table for table in tables if table["rows"]]}


def _table(title: str, columns: tuple[str, ...], rows: list[list[str]]) -> dict[str, Any]:
    return {"title": _(title), "columns": [_(column) for column in columns], "rows": rows}


def _rows(view: View, path: str) -> list[Mapping[str, Any]]:
    return [row for row in view.items(path) if isinstance(row, Mapping)]


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return printable(value) if isinstance(value, str) else ""


def _timed(row: Mapping[str, Any]) -> list[str]:
    share = percent(_number(row, "share"), 1)
    return [_text(row, "name"), f"{_number(row, 'count'):,.0f}", took(_number(row, "seconds")), share]


def _meanwhile(view: View) -> list[list[str]]:
    shares = view.get("profile.idle_while")
    if shares is UNKNOWN or not isinstance(shares, Mapping):
        return []
    found = [(_number(shares, str(kind)), str(kind)) for kind in shares]
    return [
        [_(MEANWHILE.get(kind, kind)), percent(share, 1)] for share, kind in sorted(found, reverse=True) if share > 0
    ]


def _gap(row: Mapping[str, Any]) -> list[str]:
    kind = _text(row, "while")
    at, length = took(_number(row, "start_s")), took(_number(row, "seconds"))
    return [at, length, f"{_number(row, 'device'):.0f}", _(MEANWHILE.get(kind, kind)), _text(row, "event")]


def _copy(row: Mapping[str, Any]) -> list[str]:
    direction = _text(row, "direction")
    pageable = percent(_number(row, "pageable_share")) if "pageable_share" in row else ""
    size, time = memory(_number(row, "bytes")), took(_number(row, "seconds"))
    return [_(_DIRECTION.get(direction, direction)), f"{_number(row, 'count'):,.0f}", size, time, pageable]


def _held(row: Mapping[str, Any], allocated: float) -> list[str]:
    size = _number(row, "bytes")
    share = percent(size / allocated, 1) if allocated > 0 else ""
    site = _text(row, "site")
    return [_("not recorded") if site == "?" else site, f"{_number(row, 'count'):,.0f}", memory(size), share]
