"""Knows: how what the finders met becomes one list, each interpreter once. Must not know: where they look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from threading import Event

from gpumon_gui.diagnosis.environments import jupyter, on_path
from gpumon_gui.diagnosis.environments.base import (
    Candidate,
    Environment,
    Kind,
    Wanted,
    is_conda,
    is_venv,
    place_name,
    prefix_of,
    venv_setting,
)
from gpumon_gui.diagnosis.environments.table import ASKED_FOR, FINDERS
from gpumon_gui.diagnosis.gateway import FileKind, Gateway, is_windows, paths


def find_environments(gateway: Gateway, wanted: Wanted, cancel: Event | None = None) -> tuple[Environment, ...]:
    """All environments the user may mean; those asked for first. What the user named and is not there comes with its
    ``problem``."""
    candidates: list[Candidate] = []
    for name, finder in FINDERS:
        if cancel is not None and cancel.is_set():
            break
        if wanted.everywhere or name in ASKED_FOR:
            candidates += finder(gateway, wanted)
    found = merged(gateway, candidates)
    if wanted.everywhere:
        kernels = jupyter.find_in(
            gateway, [environment.prefix for environment in found if not environment.distribution]
        )
        found = merged(gateway, [*candidates, *kernels])
    return found


def merged(gateway: Gateway, candidates: Iterable[Candidate]) -> tuple[Environment, ...]:
    """Each interpreter once, in the order of discovery.

    A venv's python is a link to its base but not the same: the folder that makes it a venv counts. Otherwise the real
    file does, so that ``/usr/bin/python3`` and ``/bin/python3.11`` are one.
    """
    found: dict[tuple[str, str], Environment] = {}
    for candidate in candidates:
        environment = _environment(gateway, candidate)
        if environment is None:
            continue
        key = _identity(gateway, environment)
        known = found.get(key)
        found[key] = environment if known is None else _joined(known, environment)
    return tuple(found.values())


def _environment(gateway: Gateway, candidate: Candidate) -> Environment | None:
    asked = candidate.origin == "named"
    if candidate.distribution:
        return Environment(
            candidate.path,
            Kind.WSL,
            f"{candidate.distribution}: {candidate.path}",
            candidate.path,
            origins=(candidate.origin,),
            distribution=candidate.distribution,
        )
    info = gateway.info(candidate.path)
    prefix = prefix_of(gateway, candidate.path)
    if info is None or info.kind is not FileKind.FILE:
        if not asked:
            return None  # a registration or kernel that was left behind
        problem = "no-python" if info is not None and info.kind is FileKind.FOLDER else "not-found"
        kind = Kind.VENV if is_venv(gateway, prefix) else Kind.SYSTEM  # its Python was removed, the rest is there
        return Environment(candidate.path, kind, candidate.path, prefix, origins=(candidate.origin,), problem=problem)
    kind = _kind(gateway, candidate, prefix, info.real_path)
    return Environment(
        path=candidate.path,
        kind=kind,
        name=_name(gateway, kind, prefix, candidate.path),
        prefix=prefix,
        base=venv_setting(gateway, prefix, "home") if kind is Kind.VENV else "",
        origins=(candidate.origin,),
        on_path_as=(candidate.name,) if candidate.origin == on_path.ORIGIN and candidate.name else (),
        variables=candidate.variables,
    )


def _kind(gateway: Gateway, candidate: Candidate, prefix: str, real: str) -> Kind:
    if is_venv(gateway, prefix):
        return Kind.VENV
    if is_conda(gateway, prefix):
        return Kind.CONDA
    folded = f"{candidate.path}|{real}".replace("\\", "/").lower()
    if "/windowsapps/" in folded:
        return Kind.STORE
    if "/.pyenv/" in folded or "/pyenv-win/" in folded or candidate.origin == "pyenv":
        return Kind.PYENV
    if "/uv/python/" in folded:
        return Kind.UV
    return Kind.SYSTEM


def _name(gateway: Gateway, kind: Kind, prefix: str, path: str) -> str:
    if kind is Kind.VENV:
        prompt = venv_setting(gateway, prefix, "prompt").strip("()")
        return prompt or place_name(gateway, prefix)
    if kind is Kind.CONDA:
        # Only an installation has condabin; its own environment is called base.
        is_base = gateway.info(str(paths(gateway).join(prefix, "condabin"))) is not None
        return "base" if is_base else str(paths(gateway).basename(prefix))
    if kind in (Kind.PYENV, Kind.UV):
        return str(paths(gateway).basename(prefix))
    return path


def _identity(gateway: Gateway, environment: Environment) -> tuple[str, str]:
    def same(path: str) -> str:
        info = gateway.info(path)
        real = info.real_path if info is not None else path
        return str(paths(gateway).normcase(real)) if is_windows(gateway) else real

    if environment.distribution:
        return environment.distribution, environment.path
    if environment.kind in (Kind.VENV, Kind.CONDA):
        return "prefix", same(environment.prefix)
    if is_windows(gateway) and not environment.problem:
        # python.exe and pythonw.exe, python3.exe beside each other are one installation.
        return "prefix", same(environment.prefix)
    return "file", same(environment.path)


def _joined(known: Environment, more: Environment) -> Environment:
    def together(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*first, *second)))

    return replace(
        known,
        origins=together(known.origins, more.origins),
        on_path_as=together(known.on_path_as, more.on_path_as),
        variables=known.variables or more.variables,
    )
