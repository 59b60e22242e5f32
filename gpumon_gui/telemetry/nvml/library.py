"""Knows: how NVML is loaded and called. Must not know: what is asked.

A thin layer over the C library: functions are found by name once, called with ctypes objects the caller owns, and
answer with NVML's return code (names: ``nvml.h``, ``nvmlReturn_t``). GPUMon does not call them through pynvml, which
keeps one global library, raises an exception for "not supported" and makes new buffers for each call.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from gpumon_gui.core.model import SourceState
from gpumon_gui.telemetry.base import SourceUnavailable

SUCCESS: Final = 0
UNINITIALIZED: Final = 1
NOT_SUPPORTED: Final = 3
NO_PERMISSION: Final = 4
NOT_FOUND: Final = 6
INSUFFICIENT_SIZE: Final = 7
DRIVER_NOT_LOADED: Final = 9
FUNCTION_NOT_FOUND: Final = 13
GPU_IS_LOST: Final = 15
RESET_REQUIRED: Final = 16
LIB_RM_VERSION_MISMATCH: Final = 18
ARGUMENT_VERSION_MISMATCH: Final = 25
GPU_NOT_FOUND: Final = 28

#: Codes after which no call of this session can work: NVML has to be started again.
SESSION_OVER: Final = frozenset({UNINITIALIZED, DRIVER_NOT_LOADED, LIB_RM_VERSION_MISMATCH})
#: Codes after which this one device cannot be read, the others can.
LOST: Final = frozenset({GPU_IS_LOST, GPU_NOT_FOUND, RESET_REQUIRED})
#: Codes that mean "this card or driver has no such figure"; they do not change while the driver runs.
NEVER: Final = frozenset({NOT_SUPPORTED, FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH})

#: NVML_INIT_FLAG_NO_ATTACH: do not initialise every GPU at once, only those asked for (``nvml.h``).
INIT_NO_ATTACH: Final = 2

Function = Callable[..., int]


_ERROR_WORDS: Final = (
    "SUCCESS", "UNINITIALIZED", "INVALID_ARGUMENT", "NOT_SUPPORTED", "NO_PERMISSION", "ALREADY_INITIALIZED",
    "NOT_FOUND", "INSUFFICIENT_SIZE", "INSUFFICIENT_POWER", "DRIVER_NOT_LOADED", "TIMEOUT", "IRQ_ISSUE",
    "LIBRARY_NOT_FOUND", "FUNCTION_NOT_FOUND", "CORRUPTED_INFOROM", "GPU_IS_LOST", "RESET_REQUIRED",
    "OPERATING_SYSTEM", "LIB_RM_VERSION_MISMATCH", "IN_USE", "MEMORY", "NO_DATA", "VGPU_ECC_NOT_SUPPORTED",
    "INSUFFICIENT_RESOURCES", "FREQ_NOT_SUPPORTED", "ARGUMENT_VERSION_MISMATCH", "DEPRECATED", "NOT_READY",
    "GPU_NOT_FOUND", "INVALID_STATE", "RESET_TYPE_NOT_SUPPORTED",
)  # fmt: skip
_UNKNOWN: Final = 999


class NvmlError(Exception):
    """A call failed. ``code`` is NVML's return code."""

    def __init__(self, function: str, code: int) -> None:
        super().__init__(f"{function}: {error_name(code)}")
        self.code = code


class DeviceLost(Exception):  # noqa: N818 - reads as a statement
    """This device is gone for the driver."""


def error_name(code: int) -> str:
    """``NVML_ERROR_GPU_IS_LOST`` for 15; the number when the code is unknown."""
    if code == _UNKNOWN:
        return "NVML_ERROR_UNKNOWN"
    return f"NVML_ERROR_{_ERROR_WORDS[code]}" if 0 < code < len(_ERROR_WORDS) else f"NVML error {code}"


class Library:
    """A loaded NVML. ``cdll`` is a ``ctypes.CDLL`` or anything that offers the same functions."""

    def __init__(self, cdll: Any, path: str) -> None:
        self._cdll = cdll
        self.path = path
        self._functions: dict[str, Function | None] = {}

    def find(self, symbol: str) -> Function | None:
        """The function, or None when this version of the library lacks it."""
        if symbol not in self._functions:
            try:
                self._functions[symbol] = getattr(self._cdll, symbol)
            except AttributeError:
                self._functions[symbol] = None
        return self._functions[symbol]

    def first(self, *symbols: str) -> tuple[str, Function] | None:
        """The first of several generations of a function that exists."""
        for symbol in symbols:
            function = self.find(symbol)
            if function is not None:
                return symbol, function
        return None

    def call(self, symbol: str, *arguments: Any) -> int:
        """The return code; FUNCTION_NOT_FOUND when the library lacks the function."""
        function = self.find(symbol)
        return FUNCTION_NOT_FOUND if function is None else function(*arguments)

    def require(self, symbol: str, *arguments: Any) -> None:
        """Call a function. Raises NvmlError unless it succeeds."""
        code = self.call(symbol, *arguments)
        if code != SUCCESS:
            raise NvmlError(symbol, code)

    def text(self, symbol: str, *arguments: Any, size: int = 96) -> str:
        """A text answer (buffer and size are appended to the arguments), rubbish bytes replaced. Raises NvmlError."""
        buffer = ctypes.create_string_buffer(size)
        self.require(symbol, *arguments, buffer, ctypes.c_uint(size))
        return decode(buffer.value)

    def uint(self, symbol: str, *arguments: Any) -> int:
        """An unsigned answer. Raises NvmlError."""
        out = ctypes.c_uint()
        self.require(symbol, *arguments, ctypes.byref(out))
        return out.value


def decode(raw: bytes) -> str:
    """Bytes from the driver as text. Broken UTF-8 is replaced, never an exception (driver 555.85 on WSL)."""
    return raw.decode("utf-8", "replace").strip()


def is_rubbish(text: str) -> bool:
    """Whether a text from the driver cannot be meant: empty, undecodable or with control characters."""
    return not text or "\N{REPLACEMENT CHARACTER}" in text or not text.isprintable()


def load(candidates: Iterable[str]) -> Library:
    """Load the first library that can be loaded. Raises SourceUnavailable.

    ``no-driver`` (state ABSENT) when none of the files exists, ``library-damaged`` when one exists but cannot be used.
    """
    damaged = ""
    for path in candidates:
        try:
            return Library(ctypes.CDLL(path), path)
        except OSError as error:
            if not _is_absent(error, path):
                damaged = damaged or (str(error) if path in str(error) else f"{path}: {error}")
    if damaged:
        raise SourceUnavailable("library-damaged", damaged)
    raise SourceUnavailable("no-driver", state=SourceState.ABSENT)


def _is_absent(error: OSError, path: str) -> bool:
    if sys.platform == "win32":
        # ctypes says the same of a missing file and of one that needs a missing file, without an error number.
        return not os.path.lexists(path)
    # The loader only gives a sentence, which begins with the file that was not found: another one is a library that
    # this one needs.
    return "No such file" in str(error) and str(error).startswith(path)
