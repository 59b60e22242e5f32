"""Knows: how a part of a diagnosis is looked at again and put back into the whole. Must not know: any rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpumon_gui.diagnosis.ask import Ask
from gpumon_gui.diagnosis.facts import MACHINE, Document
from gpumon_gui.diagnosis.given import Given
from gpumon_gui.diagnosis.probes.base import merged


def narrowed(ask: Ask, document: Document, subject: str) -> Ask:
    """What to ask to judge the findings of one subject again: its environment with the machine, or the machine with
    one interpreter that works (the driver is asked through it). What was given is read again unless it belongs to
    another environment: it may be about the machine."""
    if not ask.machine:
        return ask
    by_path = {environment.path: environment for environment in ask.environments}
    wanted = [subject]
    if subject == MACHINE:
        first = next((path for path in _paths(document) if path in by_path), None)
        needed = (first, None if ask.given.is_empty else ask.runs_in)
        wanted = list(dict.fromkeys(path for path in needed if path is not None))
    environments = tuple(by_path[path] for path in wanted if path in by_path)
    is_given = subject in (MACHINE, ask.runs_in) or subject not in by_path or ask.runs_in not in by_path
    return replace(
        ask,
        environments=environments,
        given=ask.given if is_given else Given(),
        proving=ask.proving if subject in by_path else None,
    )


def spliced(old: Document, new: Document) -> Document:
    """``old`` with everything that ``new`` knows in its place: the machine's facts, and the environments by the path
    of their interpreters. A proof is kept where the new document made none."""
    environments = [dict(facts) for facts in old.facts.get("environments", ())]
    signals = _own_signals(old)
    origins = dict(old.origins)
    places = {_path(facts): index for index, facts in enumerate(environments)}
    for number, facts in enumerate(new.facts.get("environments", ())):
        index = places.get(_path(facts))
        if index is None:
            index = len(environments)
            environments.append({})
            signals.append(())
        prefix = f"environments.{index}."
        kept = _proofs(environments[index], facts)
        environments[index] = {**facts, **kept}
        signals[index] = _own_signals(new)[number]
        was = {path: origin for path, origin in origins.items() if path.startswith(prefix)}
        origins = {path: origin for path, origin in origins.items() if path not in was}
        proofs = [f"{prefix}{name}.proof" for name in kept]
        origins |= {path: was[path] for path in proofs if path in was}
        origins |= {
            f"{prefix}{path.removeprefix(f'environments.{number}.')}": origin
            for path, origin in new.origins.items()
            if path.startswith(f"environments.{number}.")
        }
    machine = {key: value for key, value in new.facts.items() if key != "environments"}
    if isinstance(old.facts.get("process"), Mapping):  # told by an environment that was perhaps not looked at now
        machine["process"] = merged(machine.get("process", {}), old.facts["process"])
    if "given" in old.facts:  # as long as it was not read again
        machine.setdefault("given", old.facts["given"])
    facts = {**machine, **({"environments": environments} if environments else {})}
    origins = {path: origin for path, origin in origins.items() if path.startswith("environments.")}
    origins |= {path: origin for path, origin in new.origins.items() if not path.startswith("environments.")}
    log_given = old.log_given or new.log_given
    return replace(new, facts=facts, origins=origins, own_signals=tuple(signals), log_given=log_given)


def _proofs(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Of the frameworks that are as they were: what was proved before still holds."""
    kept = {}
    for name, section in new.items():
        before = old.get(name)
        if not isinstance(before, Mapping) or not isinstance(section, Mapping):
            continue
        is_proved_before = "proof" in before and "proof" not in section
        if is_proved_before and before.get("version") == section.get("version"):
            kept[name] = {**section, "proof": before["proof"]}
    return kept


def _own_signals(document: Document) -> list[tuple[Any, ...]]:
    count = len(document.facts.get("environments", ()))
    found: list[tuple[Any, ...]] = list(document.own_signals[:count])
    return found + [()] * (count - len(found))


def _path(facts: Mapping[str, Any]) -> str | None:
    interpreter = facts.get("interpreter")
    return interpreter.get("path") if isinstance(interpreter, Mapping) else None


def _paths(document: Document) -> list[str]:
    """Of the interpreters that work, in the order of the document."""
    found = []
    for facts in document.facts.get("environments", ()):
        interpreter = facts.get("interpreter")
        if isinstance(interpreter, Mapping) and interpreter.get("path") and not interpreter.get("problem"):
            found.append(str(interpreter["path"]))
    return found
