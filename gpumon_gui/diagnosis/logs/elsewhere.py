"""Knows: what tells that a log is not of this machine as it is now. Must not know: rules, how it is said.

Only what cannot be otherwise counts: a container, WSL and a part of a card (MIG, vGPU) show less of the machine than
there is, and a card whose driver does not answer has no reliable name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gpumon_gui.core.formatters import memory
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.hardware import vendor
from gpumon_gui.diagnosis.out_of_memory import numbers_of

#: CUDA states up to some percent less than the driver: what error correction and the driver itself take.
_SAME_SIZE: Final = 0.1
_NOT_NAME: Final = re.compile(r"nvidia|geforce|graphics|\(tm\)|\(r\)|[^a-z0-9]", re.IGNORECASE)
_FAMILIES: Final = {"windows": "Windows", "linux": "Linux", "macos": "macOS"}


def differences(here: Mapping[str, Any], log: Document) -> list[dict[str, str]]:
    """``what`` (``gpu``, ``gpu_memory``, ``driver``, ``system``) is different, as names and figures: ``there`` (in the
    log) and ``here`` (empty: none). ``here`` are this machine's facts."""
    found = (_system(here, log.facts), _gpus(here, log), _driver(here, log.facts))
    return [one for one in found if one is not None]


def is_of_another(found: Iterable[Mapping[str, str]]) -> bool:
    """Whether these differences say that it is another machine's; a driver alone may have been renewed since."""
    return any(one["what"] != "driver" for one in found)


def _system(here: Mapping[str, Any], log: Mapping[str, Any]) -> dict[str, str] | None:
    own, other = _section(here, "os"), _section(log, "os")
    was, now = other.get("family"), own.get("family")
    if was not in _FAMILIES or now not in _FAMILIES or was == now or own.get("wsl") is True:
        return None
    if now != "linux" and was == "linux":
        return None  # WSL or a container on this machine
    return {"what": "system", "there": _FAMILIES[was], "here": _FAMILIES[now]}


def _gpus(here: Mapping[str, Any], log: Document) -> dict[str, str] | None:
    if "gpus" not in here:
        return None
    every = _list(here, "gpus")
    own = [gpu for gpu in every if vendor(gpu) in ("nvidia", None)]
    driver = _section(here, "driver")
    if own and driver.get("nvidia_smi_works") is not True:
        return None
    if not own and (driver.get("version") or driver.get("kernel_module_loaded") is True or _shows_less(here)):
        return None  # traces of a card that was lost, or only a part of a machine
    names = _names(own)
    named = _names([gpu for gpu in _list(log.facts, "gpus") if vendor(gpu) == "nvidia"])
    if named and not any(_is_same(name, other) for name in names for other in named):
        return {"what": "gpu", "there": _joined(named), "here": _joined(names or _names(every))}
    return _memory(own or every, every, log)


def _memory(
    own: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]], log: Document
) -> dict[str, str] | None:
    """The card's size in an out-of-memory message, which may be of any maker's: PyTorch says the same of AMD's and
    Intel's. ``own`` must be known."""
    if any(gpu.get("mig_mode") not in (None, "Disabled", "disabled", "N/A") or gpu.get("vgpu") for gpu in own):
        return None
    known = _sizes(every)
    told = [numbers.total for signal in log.signals if (numbers := numbers_of(signal)) is not None]
    if len(_sizes(own)) < len(own) or not told:
        return None
    if any(abs(size - total) <= _SAME_SIZE * size for size in known for total in told):
        return None
    return {"what": "gpu_memory", "there": memory(told[0]), "here": _joined([memory(size) for size in known])}


def _driver(here: Mapping[str, Any], log: Mapping[str, Any]) -> dict[str, str] | None:
    was, now = (_section(facts, "driver").get("version") for facts in (log, here))
    if not isinstance(was, str) or not isinstance(now, str) or was == now:
        return None
    return {"what": "driver", "there": was, "here": now}


def _shows_less(here: Mapping[str, Any]) -> bool:
    system = _section(here, "os")
    return system.get("wsl") is True or system.get("container") not in (None, False, "")


def _is_same(name: str, other: str) -> bool:
    """One of them may be cut short, or be a chip's with the product's name in it."""
    left, right = (_NOT_NAME.sub("", each).lower() for each in (name, other))
    return not left or not right or left in right or right in left


def _names(gpus: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(gpu["name"]) for gpu in gpus if gpu.get("name")]


def _sizes(gpus: Sequence[Mapping[str, Any]]) -> list[float]:
    sizes = [gpu.get("memory_total_bytes") for gpu in gpus]
    return [float(size) for size in sizes if isinstance(size, int | float)]


def _joined(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _section(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = facts.get(name)
    return found if isinstance(found, Mapping) else {}


def _list(facts: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = facts.get(name)
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list | tuple) else []
