"""Knows: which facts hold what a program printed (a warning, an error, a start-up log), and reads them as logs.
Must not know: how logs are read, where the facts come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gpumon_gui.diagnosis.facts import Document, Signal
from gpumon_gui.diagnosis.logs.reader import LogFacts, read

#: Where → what is printed there, and by which framework.
_MACHINE: Final = (("driver", "nvidia_smi_error", ""),)
_ENVIRONMENT: Final = (
    ("torch", "warnings", "torch"),
    ("torch", "error", "torch"),
    ("tensorflow", "log", "tensorflow"),
    ("tensorflow", "error", "tensorflow"),
    ("jax", "error", "jax"),
    ("onnxruntime", "error", "onnxruntime"),
    ("cupy", "error", "cupy"),
)


def with_captured(document: Document) -> Document:
    """The document with the signals in its own texts; facts that it lacks are added where they are a machine's or a
    single environment's. Each signal's origin is the path of the text."""
    given = document.log_given
    environments = document.facts.get("environments", ())
    own = [
        tuple(signal for found in _read(environment, _ENVIRONMENT) for signal in found.signals)
        for environment in environments
    ]
    for found in _read(document.facts, (*_MACHINE, *_ENVIRONMENT)):
        document = found.merge_into(document)
    before = (*document.own_signals, *((),) * len(own))
    return replace(
        document,
        own_signals=tuple((*earlier, *signals) for earlier, signals in zip(before, own, strict=False)),
        log_given=given,
    )


def _read(facts: Mapping[str, Any], places: tuple[tuple[str, str, str], ...]) -> Iterator[LogFacts]:
    for section, key, framework in places:
        holder = facts.get(section)
        value = holder.get(key) if isinstance(holder, Mapping) else None
        texts = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
        text = "\n".join(line for line in texts if isinstance(line, str))
        if text.strip():
            found = read(text.encode("utf-8", "replace"), f"{section}.{key}")
            yield replace(found, signals=tuple(_attributed(signal, framework) for signal in found.signals))


def _attributed(signal: Signal, framework: str) -> Signal:
    """A text that one framework's probe caught is that framework's, unless it names another one."""
    return signal if signal.framework else replace(signal, framework=framework)
