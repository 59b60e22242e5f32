"""Knows: how PyTorch (Kineto) and TensorFlow or JAX write their traces as Chrome's JSON. Must not know: what follows.

Kineto names the kind of an event in ``cat``, the GPU in ``args.device`` and ties a kernel to its operator by
``args["External id"]``. TensorFlow's trace viewer gives each GPU a process (``/device:GPU:0``) and each stream a thread
(``Stream #13``), named by metadata events; derived rows ("TensorFlow Ops", "Steps") repeat the same time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from gpumon_gui.diagnosis.profiles.collect import Totals
from gpumon_gui.diagnosis.profiles.host import PYTHON, Doing, doing
from gpumon_gui.diagnosis.profiles.json_events import TraceReader
from gpumon_gui.diagnosis.profiles.opening import Bounded

_KERNELS: Final = frozenset({"kernel", "gpu_memset"})
#: Categories of Kineto's host side, old spelling and new.
_OPERATORS: Final = frozenset({"cpu_op", "operator"})
_HOST: Final = frozenset({"runtime", "driver", "user_annotation", "python_function"})
#: Calls of ``cuda_runtime``, ``hip_driver`` …
_CALLS: Final = ("_runtime", "_driver")
#: Nobody else calls the kinds of its events so.
_OF_KINETO: Final = _KERNELS | _OPERATORS | {"gpu_memcpy", "user_annotation", "gpu_user_annotation", "python_function"}
_STEP: Final = re.compile(r"ProfilerStep#?\d*$")
_DIRECTIONS: Final = {
    "htod": "htod",
    "h2d": "htod",
    "dtoh": "dtoh",
    "d2h": "dtoh",
    "dtod": "dtod",
    "d2d": "dtod",
    "ptop": "dtod",
    "p2p": "dtod",
}
_DIRECTION: Final = re.compile(r"htod|h2d|dtoh|d2h|dtod|d2d|ptop|p2p", re.IGNORECASE)
_DETAIL: Final = re.compile(r"(kind|kind_src|kind_dst|size):(\w+)")
_GPU_PROCESS: Final = re.compile(r"/device:GPU:(\d+)")
_OPERATOR: Final = re.compile(r"[\w./\[\]-]+:[A-Z_]\w*$")
_MAX_ROWS: Final = 100_000


def read(source: Bounded, path: Path, totals: Totals) -> dict[str, Any]:
    """Add a trace's events; returns ``format``, ``framework`` where the format says it, ``rank`` … Raises
    UnreadableInput."""
    reader = TraceReader(source, path)
    parts = _Parts(totals)
    parts.take(reader.events())
    about: dict[str, Any] = {"format": "kineto" if parts.kineto else "trace-viewer"}
    if parts.kineto:
        about["framework"] = "torch"
    _describe(reader.header, totals, about)
    return about


class _Parts:
    """Sorts events by what they are."""

    def __init__(self, totals: Totals) -> None:
        self._totals = totals
        self._processes: dict[Any, str] = {}
        self._threads: dict[Any, str] = {}
        self.kineto = False

    def take(self, events: Iterable[dict[str, Any]]) -> None:
        totals = self._totals
        for event in events:
            phase = event.get("ph")
            if phase == "M":
                self._metadata(event)
                continue
            if phase != "X":
                if phase is None and event:
                    totals.events += 1
                    totals.damaged += 1
                continue
            start, length, name = event.get("ts"), event.get("dur", 0), event.get("name")
            if not isinstance(start, int | float) or not isinstance(length, int | float) or not isinstance(name, str):
                totals.events += 1
                totals.damaged += 1
                continue
            try:
                start, length = float(start), float(length)
            except OverflowError:  # an integer of hundreds of digits
                start = length = float("nan")
            category = event.get("cat")
            args = event.get("args")
            if not isinstance(args, Mapping):
                args = {}
            if isinstance(category, str) and category:
                self._kineto(category.lower(), event, name, start, length, args)
            else:
                self._viewer(event, name, start, length, args)

    def _metadata(self, event: dict[str, Any]) -> None:
        args = event.get("args")
        name = args.get("name") if isinstance(args, Mapping) else None
        pid, tid = event.get("pid"), event.get("tid")
        if not isinstance(name, str) or isinstance(pid, list | dict) or isinstance(tid, list | dict):
            return
        if len(self._processes) + len(self._threads) > _MAX_ROWS:
            return
        if event.get("name") == "process_name":
            self._processes[pid] = name
        elif event.get("name") == "thread_name":
            self._threads[pid, tid] = name

    def _kineto(
        self, category: str, event: dict[str, Any], name: str, start: float, length: float, args: Mapping[str, Any]
    ) -> None:
        totals = self._totals
        self.kineto = self.kineto or category in _OF_KINETO or category.endswith(_CALLS)
        if category in _OPERATORS:
            totals.host(name, start, length, _thread(event), link=_link(args), operator=True)
        elif category in _KERNELS:
            totals.kernel(_device(args, event), name, start, length, link=_link(args))
        elif category == "gpu_memcpy":
            size = args.get("bytes", 0)
            totals.copy(
                _device(args, event), _direction(name), start, length,
                size=size if isinstance(size, int) else 0, pinned=_pinned(name),
            )  # fmt: skip
        elif category in _HOST or category.endswith(_CALLS):
            if category == "user_annotation" and _STEP.match(name):
                totals.step(start, length)
            elif category == "python_function":
                # Frames last as long as what they call: only those of the data loader tell something.
                if doing(name) is not Doing.OPERATOR:
                    totals.host(name, start, length, _thread(event), link=None, operator=False)
            elif category != "user_annotation" or "DataLoader" in name:
                totals.host(name, start, length, _thread(event), link=None, operator=False)

    def _viewer(self, event: dict[str, Any], name: str, start: float, length: float, args: Mapping[str, Any]) -> None:
        totals = self._totals
        pid, tid = _thread(event)
        process, thread = self._processes.get(pid, ""), self._threads.get((pid, tid), "")
        gpu = _GPU_PROCESS.search(process)
        if gpu is None and "step_num" in args:
            totals.step(start, length)
        elif gpu is None and not name.startswith(PYTHON):
            long = args.get("long_name")
            called = long if isinstance(long, str) and is_operator(long) else name
            totals.host(called, start, length, (pid, tid), link=None, operator=is_operator(called))
        elif gpu is not None and "Stream" in thread:
            device_event(totals, int(gpu.group(1)[:6]), name, start, length, args)


def is_operator(name: str) -> bool:
    """Whether a host event of TensorFlow is an operator (``dense/MatMul:_FusedMatMul``), no part of its machinery."""
    return _OPERATOR.match(name) is not None


def device_event(totals: Totals, device: int, name: str, start: float, length: float, args: Mapping[str, Any]) -> None:
    """One event of a stream as TensorFlow and JAX describe it: ``memcpy_details``, ``tf_op``, ``hlo_op``."""
    details = args.get("memcpy_details")
    if isinstance(details, str) or name.startswith("Memcpy"):
        found = _DETAIL.findall(details) if isinstance(details, str) else []
        kinds = {value.lower() for key, value in found if key.startswith("kind")}
        size = next((int(value[:18]) for key, value in found if key == "size" and value.isdecimal()), 0)
        pinned = False if "pageable" in kinds else True if "pinned" in kinds else None
        totals.copy(device, _direction(name), start, length, size=size, pinned=pinned)
        return
    operator = next((value for key in ("tf_op", "hlo_op", "name") if isinstance(value := args.get(key), str)), "")
    totals.says_tensorflow = totals.says_tensorflow or ("tf_op" in args and is_operator(operator))
    totals.kernel(device, name, start, length, link=None, operator=operator.partition(":")[0])


def _thread(event: Mapping[str, Any]) -> tuple[Any, Any]:
    pid, tid = event.get("pid"), event.get("tid")
    return (str(pid) if isinstance(pid, list | dict) else pid, str(tid) if isinstance(tid, list | dict) else tid)


def _link(args: Mapping[str, Any]) -> int | None:
    value = args.get("External id", args.get("external id"))
    return value if isinstance(value, int) and 0 <= value < 1 << 62 else None


def _device(args: Mapping[str, Any], event: Mapping[str, Any]) -> int:
    value = args.get("device", event.get("pid"))
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0


def _direction(name: str) -> str:
    match = _DIRECTION.search(name)
    return "other" if match is None else _DIRECTIONS[match.group(0).lower()]


def _pinned(name: str) -> bool | None:
    """``Memcpy HtoD (Pageable -> Device)``."""
    if "Pageable" in name:
        return False
    return True if "Pinned" in name else None


def _describe(header: Mapping[str, Any], totals: Totals, about: dict[str, Any]) -> None:
    """GPUs and ranks, from what stands before the events."""
    properties = header.get("deviceProperties")
    for entry in properties if isinstance(properties, list) else []:
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), int) and isinstance(entry.get("name"), str):
            about.setdefault("gpus_listed", []).append(entry["name"][:100])
            if entry["id"] in totals.devices:
                device = totals.devices[entry["id"]]
                device.name = entry["name"][:100]
                major, minor = entry.get("computeMajor"), entry.get("computeMinor")
                if isinstance(major, int) and isinstance(minor, int):
                    device.capability = (major, minor)
    del about.get("gpus_listed", [])[64:]
    distributed = header.get("distributedInfo")
    if isinstance(distributed, Mapping):
        for name in ("rank", "world_size"):
            if isinstance(distributed.get(name), int):
                about[name] = distributed[name]
        if isinstance(distributed.get("backend"), str):
            about["backend"] = distributed["backend"][:100]
