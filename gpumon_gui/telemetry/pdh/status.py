"""Knows: PDH status codes and what each means for a reading. Must not know: how they are obtained.

Values and meanings: learn.microsoft.com, "Performance Data Helper Error Codes". Statuses are compared unsigned.
"""

from __future__ import annotations

from gpumon_gui.core.values import Reason

VALID_DATA = 0x00000000
NEW_DATA = 0x00000001  #: good as well: the value changed since the last look

NO_MACHINE = 0x800007D0
NO_INSTANCE = 0x800007D1
MORE_DATA = 0x800007D2
ITEM_NOT_VALIDATED = 0x800007D3
RETRY = 0x800007D4
NO_DATA = 0x800007D5  #: no instances now, or no right to read them
CALC_NEGATIVE_DENOMINATOR = 0x800007D6
CALC_NEGATIVE_TIMEBASE = 0x800007D7
CALC_NEGATIVE_VALUE = 0x800007D8
NO_OBJECT = 0xC0000BB8
NO_COUNTER = 0xC0000BB9
CSTATUS_INVALID_DATA = 0xC0000BBA
MEMORY_ALLOCATION_FAILURE = 0xC0000BBB
INVALID_HANDLE = 0xC0000BBC
INVALID_ARGUMENT = 0xC0000BBD
INSUFFICIENT_BUFFER = 0xC0000BC2
INVALID_DATA = 0xC0000BC6
CANNOT_READ_NAME_STRINGS = 0xC0000BC8
ACCESS_DENIED = 0xC0000BDB
QUERY_PERF_DATA_TIMEOUT = 0xC0000BFE

GOOD = frozenset({VALID_DATA, NEW_DATA})
#: The counter ran backwards.
BACKWARDS = frozenset({CALC_NEGATIVE_DENOMINATOR, CALC_NEGATIVE_TIMEBASE, CALC_NEGATIVE_VALUE})
#: No earlier value to compare with.
NO_BASELINE = frozenset({CSTATUS_INVALID_DATA, INVALID_DATA})
#: The query is of no use any more; a new one may be.
REOPEN = frozenset({MEMORY_ALLOCATION_FAILURE, INVALID_HANDLE, INVALID_ARGUMENT})
#: The counter set is not there: no WDDM 2 driver, old Windows, a session without GPU, a corrupt counter registry.
ABSENT = frozenset({NO_MACHINE, NO_OBJECT, NO_COUNTER, CANNOT_READ_NAME_STRINGS})

_REASONS: dict[int, Reason] = {
    **dict.fromkeys(BACKWARDS, Reason.IMPLAUSIBLE),
    **dict.fromkeys(NO_BASELINE, Reason.FIRST_SAMPLE),
    **dict.fromkeys(ABSENT, Reason.NOT_SUPPORTED),
    ITEM_NOT_VALIDATED: Reason.FIRST_SAMPLE,
    ACCESS_DENIED: Reason.NO_PERMISSION,
}


def reason_of(status: int) -> Reason:
    """Why a value with this status is missing."""
    return _REASONS.get(status, Reason.ERROR)


def hex_status(status: int) -> str:
    """The spelling users find with a search engine: ``0xC0000BB8``."""
    return f"0x{status:08X}"
