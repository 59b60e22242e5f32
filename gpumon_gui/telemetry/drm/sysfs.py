"""Knows: how a one-value kernel file is read, and what each failure means. Must not know: which files there are."""

from __future__ import annotations

import errno
import os

from gpumon_gui.core.values import Missing, Reason

SOURCE = "drm"

#: errno → reason. ENODATA, EOPNOTSUPP and EINVAL are how hwmon and amdgpu say "this chip has no such sensor"; ENODEV
#: and ENXIO come from the files of a card that was pulled out.
_REASONS = {
    errno.ENOENT: Reason.NOT_SUPPORTED,
    errno.ENOTDIR: Reason.NOT_SUPPORTED,
    errno.ENODATA: Reason.NOT_SUPPORTED,
    errno.EOPNOTSUPP: Reason.NOT_SUPPORTED,
    errno.EINVAL: Reason.NOT_SUPPORTED,
    errno.EACCES: Reason.NO_PERMISSION,
    errno.EPERM: Reason.NO_PERMISSION,
    errno.ENODEV: Reason.DEVICE_LOST,
    errno.ENXIO: Reason.DEVICE_LOST,
}


def missing(error: OSError) -> Missing:
    """Why a file gave nothing; the detail is errno's name."""
    code = error.errno or 0
    return Missing(_REASONS.get(code, Reason.ERROR), SOURCE, errno.errorcode.get(code, str(code)))


def read_bytes(path: str) -> bytes:
    """A whole small file. Raises OSError. Plain system calls: this runs some dozens of times per tick."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.read(fd, 65536)
        while data and (more := os.read(fd, 65536)):
            data += more
        return data
    finally:
        os.close(fd)


def read_text(path: str) -> str | Missing:
    """The file's text without surrounding white space, or why there is none; an empty file is an error."""
    try:
        text = read_bytes(path).decode("utf-8", "replace").strip()
    except OSError as error:
        return missing(error)
    return text or Missing(Reason.ERROR, SOURCE, f"{os.path.basename(path)}: empty")


def read_word(path: str) -> str:
    """The file's text, or an empty string when there is none for whatever reason."""
    text = read_text(path)
    return text if isinstance(text, str) else ""


def unreadable(path: str, text: str) -> Missing:
    """The file has a text that is not of the agreed form."""
    return Missing(Reason.ERROR, SOURCE, f"{os.path.basename(path)}: {text[:40]!r}")


def names(path: str) -> list[str]:
    """Entries of a folder, sorted; none when it cannot be listed. Listing a sysfs folder asks no driver."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
