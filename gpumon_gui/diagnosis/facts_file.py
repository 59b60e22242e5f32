"""Knows: a facts document as a file or JSON value, and which types its keys have. Must not know: rules, probes.

The schema is ``gpumon-facts/1``. Every key is optional, unknown keys are kept and ignored, and version fields may hold
prose ("3.8 (conda)"). ``null`` stands for "there is none" wherever a single value is expected. A report
(``gpumon-report/1``) is read by the facts inside it. Texts that programs printed (``torch.warnings``,
``tensorflow.log`` …) become signals as a log's do.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import cannot_read, check_regular_file, printable, shown
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.facts import SCHEMA, UNTRUSTED_KEYS, Document
from gpumon_gui.diagnosis.logs.captured import with_captured

_REPORT_SCHEMA: Final = "gpumon-report/1"
#: A facts document of a big machine is some 100 kB; what is far beyond is another file, and would hold a window up.
_MAX_BYTES: Final = 5_000_000
#: Facts have five levels; what is far beyond could not be written into a report.
_MAX_LEVELS: Final = 100

_TEXT = N_("expected a text")
_NUMBER = N_("expected a number")
_COUNT = N_("expected a whole number, not negative")
_FLAG = N_("expected true or false")
_FLAG_OR_TEXT = N_("expected true, false or a text")
_TEXTS = N_("expected a list of strings")
_OBJECT = N_("expected an object")
_LIST = N_("expected a list of objects")
_NAMED_TEXTS = N_("expected an object of names and texts")
_TOO_DEEP = N_("nested too deeply")

#: Raises _Wrong with the path below its own and what was expected.
_Check = Callable[[Any], None]


class _Wrong(Exception):  # noqa: N818
    """``path`` grows from the inside out."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected
        self.path = ""

    def under(self, name: str) -> _Wrong:
        """The same, seen from one level further out."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        self.path = f"{name}{joint}{self.path}"
        return self


def _writable(value: Any, level: int = 0) -> None:
    """Under any key: no number that JSON does not have (NaN, Infinity), no nesting beyond reason."""
    if level > _MAX_LEVELS:
        raise _Wrong(_TOO_DEEP)
    if isinstance(value, int | float) and not isinstance(value, bool) and not _is_number(value):
        raise _Wrong(_NUMBER)
    inner: Iterable[tuple[str, Any]] = ()
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list):
        inner = ((f"[{index}]", entry) for index, entry in enumerate(value))
    for name, entry in inner:
        try:
            _writable(entry, level + 1)
        except _Wrong as wrong:
            # Of a hundred levels the first one says enough.
            raise (wrong if level and wrong.expected == _TOO_DEEP else wrong.under(name)) from None


def _single(expected: str, fits: Callable[[Any], bool]) -> _Check:
    def check(value: Any) -> None:
        if value is not None and not fits(value):
            raise _Wrong(expected)

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and _is_number(value) and value >= 0


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


_text = _single(_TEXT, lambda value: isinstance(value, str))
_number = _single(_NUMBER, _is_number)
_count = _single(_COUNT, _is_count)
_flag = _single(_FLAG, lambda value: isinstance(value, bool))
_flag_or_text = _single(_FLAG_OR_TEXT, lambda value: isinstance(value, bool | str))
_texts = _single(_TEXTS, _is_texts)


def _object(**keys: _Check) -> _Check:
    def check(value: Any) -> None:
        if not isinstance(value, Mapping):
            raise _Wrong(_OBJECT)
        for name, entry in value.items():
            if name in keys:
                try:
                    keys[name](entry)
                except _Wrong as wrong:
                    raise wrong.under(name) from None

    return check


def _objects(**keys: _Check) -> _Check:
    one = _object(**keys)

    def check(value: Any) -> None:
        if not isinstance(value, list):
            raise _Wrong(_LIST)
        for index, entry in enumerate(value):
            try:
                one(entry)
            except _Wrong as wrong:
                raise wrong.under(f"[{index}]") from None

    return check


def _named_texts(value: Any) -> None:
    if not isinstance(value, Mapping):
        raise _Wrong(_NAMED_TEXTS)
    for name, entry in value.items():
        try:
            _text(entry)
        except _Wrong as wrong:
            raise wrong.under(name) from None


_ENVIRONMENT: Final[Mapping[str, _Check]] = {
    "interpreter": _object(
        path=_text, version=_text, kind=_text, bits=_count, free_threaded=_flag, install_source=_text
    ),
    "packages": _named_texts,
    "torch": _object(
        version=_text,
        cuda_build=_text,
        hip_build=_text,
        cudnn_build=_text,
        cudnn_version=_text,
        arch_list=_texts,
        cuda_available=_flag,
        device_count=_count,
        error=_text,
        warnings=_texts,
    ),
    "tensorflow": _object(
        version=_text,
        built_with_cuda=_flag,
        cuda_build=_text,
        cudnn_build=_text,
        gpu_count=_count,
        error=_text,
        log=_text,
    ),
    "onnxruntime": _object(
        version=_text,
        available_providers=_texts,
        session_providers=_texts,
        preloaded_session_providers=_texts,
        error=_text,
    ),
    "jax": _object(version=_text, backend=_text, device_count=_count, error=_text),
    "cupy": _object(version=_text, error=_text),
}

_DOCUMENT: Final = _object(
    os=_object(
        family=_text,
        name=_text,
        version=_text,
        kernel=_text,
        wsl=_flag,
        container=_flag_or_text,
        resumed_from_suspend=_flag,
        secure_boot=_flag,
    ),
    host=_object(cpu=_text, cpu_count=_count, memory_total_bytes=_number, laptop=_flag),
    gpus=_objects(
        name=_text,
        vendor=_text,
        compute_capability=_text,
        memory_total_bytes=_number,
        memory_total_gib=_number,
        memory_used_bytes=_number,
        driver_model=_text,
        mig_mode=_text,
        vgpu=_flag,
        vgpu_license_status=_text,
        power_state=_text,
    ),
    gpu_count=_count,
    driver=_object(
        version=_text,
        cuda_version=_text,
        nvidia_smi_works=_flag,
        nvidia_smi_path=_text,
        nvidia_smi_on_path=_flag,
        nvidia_smi_error=_text,
        library_version=_text,
        kernel_module_version=_text,
        kernel_module_loaded=_flag,
    ),
    toolkit=_object(
        cuda_version=_text,
        nvcc_version=_text,
        cuda_path=_text,
        cuda_bin_on_path=_flag,
        cudnn_version=_text,
        cudnn_copies=_objects(version=_text, path=_text),
        zlibwapi_found=_flag,
    ),
    environment=_named_texts,
    environments=_objects(**_ENVIRONMENT),
    training=_object(framework=_text, batch_size=_number, num_workers=_number, precision=_text, wrapper=_text),
    **_ENVIRONMENT,
)


def load(path: Path) -> Document:
    """The document in a file. Raises UnreadableInput naming the file, and the place in it."""
    where = shown(path)
    check_regular_file(path)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UnreadableInput(_("{path}: too large for a facts document.").format(path=where))
        text = _decoded(path.read_bytes())
    except OSError as error:
        raise UnreadableInput(cannot_read(path, error)) from error
    except UnicodeDecodeError as error:
        raise UnreadableInput(_("{path}: not a text file.").format(path=where)) from error
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableInput(
            _("{path}:{line}:{column}: not JSON: {detail}").format(
                path=where, line=error.lineno, column=error.colno, detail=error.msg
            )
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(_("{path}: not a facts document.").format(path=where)) from error
    try:
        return parse(value)
    except UnreadableInput as error:
        raise UnreadableInput(f"{where}: {error}") from error


def parse(value: Any) -> Document:
    """The document in a JSON value: validated, without what people said. Raises UnreadableInput naming the key."""
    if isinstance(value, Mapping) and value.get("schema") == _REPORT_SCHEMA and isinstance(value.get("facts"), Mapping):
        value = {"schema": SCHEMA, **value["facts"]}
    if not isinstance(value, Mapping):
        raise UnreadableInput(_("a facts document is a JSON object"))
    if value.get("schema") != SCHEMA:
        raise UnreadableInput(_('schema: expected "{schema}"').format(schema=SCHEMA))
    try:
        _writable(value)
        _DOCUMENT(value)
    except _Wrong as wrong:
        raise UnreadableInput(f"{printable(wrong.path)}: {_(wrong.expected)}") from None
    facts = {key: _trusted(entry) if key == "environments" else entry for key, entry in value.items()}
    return with_captured(
        Document({key: facts[key] for key in facts if key not in (*UNTRUSTED_KEYS, "schema", "given")})
    )


def fits(path: str, value: Any) -> bool:
    """Whether a value has the type that the schema asks for at this path of one environment (``torch.cuda_build``).
    Paths it does not know take anything that a report can hold."""
    section, _dot, name = path.partition(".")
    check = _ENVIRONMENT.get(section)
    try:
        _writable(value)
        if check is not None:
            check({name: value} if name else value)
    except _Wrong:
        return False
    return True


def _trusted(environments: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {key: entry for key, entry in environment.items() if key not in UNTRUSTED_KEYS} for environment in environments
    ]


def _decoded(data: bytes) -> str:
    """UTF-8 with or without mark, or UTF-16 with one: what PowerShell's ``>`` writes."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")
