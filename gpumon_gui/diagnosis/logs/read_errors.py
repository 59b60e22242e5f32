"""Knows: error numbers of CUDA and Windows and names of missing library files, wherever a program prints them.
Must not know: what causes them.

Kinds: ``cuda-error-<number>`` (a driver API or run-time number, read from the number, the constant's name or CUDA's
own English text), ``winerror-<number>``, ``library-missing`` (values ``library``, ``name``, ``version``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gpumon_gui.diagnosis.logs.block import Block, Fact, Found, Printed

#: Numbers (cuda.h, driver_types.h; both APIs share them from CUDA 10.1 on) → names after CUDA_ERROR_ and cudaError,
#: and the text of cudaGetErrorString / cuGetErrorString.
_ERRORS: Final[tuple[tuple[int, str, str], ...]] = (
    (2, "OUT_OF_MEMORY|MemoryAllocation", "out of memory"),
    (3, "NOT_INITIALIZED|InitializationError", "initialization error"),
    (34, "STUB_LIBRARY|StubLibrary", "CUDA driver is a stub library"),
    (35, "InsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"),
    (
        46,
        "DEVICE_UNAVAILABLE|DevicesUnavailable",
        "(?:all )?CUDA-capable device\\(?s?\\)? (?:are|is/are) busy or unavailable",
    ),
    (100, "NO_DEVICE|NoDevice", "no CUDA-capable device is detected"),
    (101, "INVALID_DEVICE|InvalidDevice", "invalid device ordinal"),
    (209, "NO_BINARY_FOR_GPU|NoKernelImageForDevice", "no kernel image is available for execution on the device"),
    (214, "ECC_UNCORRECTABLE|ECCUncorrectable", "uncorrectable ECC error encountered"),
    (
        222,
        "UNSUPPORTED_PTX_VERSION|UnsupportedPtxVersion",
        "the provided PTX was compiled with an unsupported toolchain",
    ),
    (304, "OPERATING_SYSTEM|OperatingSystem", "OS call failed or operation not supported on this OS"),
    (700, "ILLEGAL_ADDRESS|IllegalAddress", "an illegal memory access was encountered"),
    (710, "ASSERT|Assert", "device-side assert triggered"),
    (719, "LAUNCH_FAILED|LaunchFailure", "unspecified launch failure"),
    (802, "SYSTEM_NOT_READY|SystemNotReady", "system not yet initialized"),
    (
        803,
        "SYSTEM_DRIVER_MISMATCH|SystemDriverMismatch",
        "system has unsupported display driver / cuda driver combination",
    ),
    (
        804,
        "COMPAT_NOT_SUPPORTED_ON_DEVICE|CompatNotSupportedOnDevice",
        "forward compatibility was attempted on non supported HW",
    ),
    (999, "UNKNOWN|Unknown", "unknown error"),
)
_BY_NAME: Final = tuple(
    (number, re.compile(rf"\bCUDA_ERROR_(?:{names})\b|\bcudaError(?:{names})\b", re.I)) for number, names, _ in _ERRORS
)
_BY_TEXT: Final = tuple(
    (number, re.compile(text, re.IGNORECASE)) for number, _, text in _ERRORS if number not in (2, 3, 999)
)
#: Texts that are common words: only right behind CUDA's name.
_BY_WEAK_TEXT: Final = tuple(
    (
        number,
        re.compile(
            rf"\bCUDA (?:runtime |driver )?(?:error|failure)?\W{{0,3}}(?:\(?\d*\)?\W{{0,3}})?{text}", re.IGNORECASE
        ),
    )
    for number, _, text in _ERRORS
    if number in (2, 3, 999)
)
_RIGHT_BEHIND: Final = re.compile(
    r"\binit(?:ialization)? failure(?: with error)?: ?(?P<init>\d{1,3})\b|"
    r"\bCUDA (?:runtime |driver )?(?:error|failure)\W{0,3}(?P<number>\d{1,3})\b",
    re.IGNORECASE,
)
_BY_NUMBER: Final = re.compile(
    r"(?:cudaGetDeviceCount|cuInit|cudaSetDevice|cuda_?(?:runtime|driver)?\.?(?:error|failure)"
    r"|CUDA(?: runtime| driver)? (?:error|failure)).{0,200}?"
    r"(?:\bError (?:code:? ?)?|\berror ?(?:code)?[ :=(]*|\bfailure |\()(?P<number>\d{1,3})\b",
    re.IGNORECASE,
)
_WHERE: Final = re.compile(
    r"cudaGetDeviceCount|cuInit\b|cuda_init|init(?:ialization)? failure|failed call to|CUDA driver initialization",
    re.IGNORECASE,
)
_HINTS: Final = (
    "cuda_error_",
    "cudaerror",
    "cudagetdevicecount",
    "cuda error",
    "cuda failure",
    "cuda runtime error",
    "cuda driver error",
    "cuda unknown error",
    "cuinit",
    "cuda-capable device",
    "cuda driver version is insufficient",
    "system not yet initialized",
    "unsupported display driver",
    "forward compatibility was attempted",
    "unspecified launch failure",
    "device-side assert",
    "uncorrectable ecc",
    "no kernel image is available",
    "operation not supported on this os",
    "driver is a stub library",
    "init failure: ",
    "initialization failure with error",
)

#: Access, memory, loading of libraries, commit limit: the others say nothing about a GPU.
_WINDOWS_ERRORS: Final = frozenset({2, 5, 8, 14, 87, 126, 127, 182, 193, 206, 577, 998, 1114, 1450, 1455, 4551})
_WINERROR: Final = re.compile(
    r"WinError (?P<number>\d+)|\berror code (?P<code>126|127|193|1114|1455)\b"
    r"|(?<=[Ee]rror )(?P<bare>126|127|1114|1455)\b",
    re.IGNORECASE,
)
_DLL: Final = re.compile(r"\.(?:dll|pyd)\b", re.IGNORECASE)
_BARE_PATH: Final = re.compile(r"[^\s\"'<>|*?]*$")

_SHARED: Final = r"lib[\w+-]+\.so(?:\.\d+)*"
_MISSING: Final = re.compile(
    rf"(?P<a>{_SHARED}): cannot open shared object file"
    rf"|Could not load (?:dynamic )?library [\"']?(?P<b>{_SHARED}|[\w.-]+\.dll)"
    rf"|Could not locate (?P<c>[\w.-]+\.dll)"
    rf"|Unable to load any of \{{(?P<d>{_SHARED}|[\w.-]+\.dll)"
    rf"|depends on \"(?P<e>[\w.-]+\.dll)\" which is missing"
    rf"|Could not find (?:module )?'(?P<f>[^']*?[\w.-]+\.dll)'"
    rf"|[Ll]ibrary (?P<g>{_SHARED}|[\w.-]+\.dll) (?:is|was) not found",
    re.IGNORECASE,
)
_STEM: Final = re.compile(
    r"(?:lib)?(?P<name>[A-Za-z_+-]+?)(?:64|32)?(?:_(?P<dll>\d+))?(?:\.dll|\.so(?:\.(?P<so>[\d.]+))?)$", re.IGNORECASE
)


def library_version(file: str) -> tuple[str, str]:
    """Name and version in a library's file name: libcudart.so.11.0 → cudart, 11.0; cudart64_101.dll → cudart, 10.1."""
    match = _STEM.match(file)
    if match is None:
        return file, ""
    digits = match["dll"]
    if digits is None:
        return match["name"], match["so"] or ""
    return match["name"], digits if len(digits) < 3 else f"{digits[:-1]}.{digits[-1]}"


def _read_cuda(lines: Sequence[str]) -> Found | None:
    line = lines[0]
    numbers = {number for number, regex in (*_BY_NAME, *_BY_TEXT, *_BY_WEAK_TEXT) if regex.search(line)}
    if not numbers:
        match = _RIGHT_BEHIND.search(line) or _BY_NUMBER.search(line)
        number = int(next((text for text in match.groupdict().values() if text), 0)) if match else 0
        if number == 0:
            return None
        numbers = {number}
    where = _WHERE.search(line)
    values: dict[str, object] = {"at_start": where is not None}
    return Found((), tuple(Printed(f"cuda-error-{number}", {**values, "number": number}) for number in sorted(numbers)))


def _read_winerror(lines: Sequence[str]) -> Found | None:
    text = " ".join(lines)
    match = _WINERROR.search(lines[0])
    if match is None:
        return None
    number = int((match["number"] or match["code"] or match["bare"])[:6])
    if number not in _WINDOWS_ERRORS:
        return None
    values: dict[str, object] = {"number": number}
    path = _dll_in(text)
    if path:
        values |= {"library": re.split(r"[/\\]", path)[-1], "path": path}
    windows = (Fact("os.family", "windows"),) if match["number"] else ()
    return Found(windows, (Printed(f"winerror-{number}", values),))


def _dll_in(text: str) -> str:
    """The first DLL that a text names, with its path; one in quotation marks may contain spaces."""
    match = _DLL.search(text)
    if match is None:
        return ""
    before = text[max(0, match.start() - 300) : match.start()]
    quote = text[match.end() : match.end() + 1]
    if quote and quote in "\"'" and quote in before:
        return before[before.rindex(quote) + 1 :] + match.group()
    bare = _BARE_PATH.search(before)
    return (bare.group() if bare else "") + match.group()


def _read_missing(lines: Sequence[str]) -> Found | None:
    signals = []
    for match in _MISSING.finditer(lines[0]):
        path = next(text for text in match.groups() if text)
        file = re.split(r"[/\\]", path)[-1]
        name, version = library_version(file)
        signals.append(Printed("library-missing", {"library": file, "name": name, "version": version}))
    facts = (
        (Fact("os.family", "windows"),) if any(str(one.values["library"]).endswith(".dll") for one in signals) else ()
    )
    return Found(facts, tuple(signals)) if signals else None


BLOCKS: Final = (
    Block("cuda-error", _HINTS, _read_cuda),
    Block(
        "winerror",
        ("winerror", "error code ", "error 126", "error 127", "error 1114", "error 1455"),
        _read_winerror,
        lines=2,
    ),
    Block(
        "library-missing",
        (
            "cannot open shared object file",
            "could not load dynamic library",
            "could not load library",
            "could not locate ",
            "unable to load any of {",
            "which is missing",
            ".dll'",
            "is not found",
            "was not found",
        ),
        _read_missing,
    ),
)
