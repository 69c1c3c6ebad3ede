"""The failures that several steps of a download share: stopped, too large, and a disk that does not take it."""

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from holdfast.errors import ToolError

__all__ = ["cancelled", "not_stored", "storing", "too_large"]

_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def cancelled() -> ToolError:
    """The caller asked to stop."""
    return ToolError("CANCELLED", "the download was stopped; what was installed before is untouched")


def too_large(what: str, limit: int) -> ToolError:
    """More bytes than allowed."""
    message = f"{what} is larger than the {limit} bytes that are allowed"
    return ToolError("ARCHIVE_TOO_LARGE", message, details={"limitBytes": limit})


def not_stored(what: str, reason: str, details: Mapping[str, str] | None = None) -> ToolError:
    """The disk does not take it."""
    message, hint = f"{what} cannot be stored: {reason}", "make room or choose another directory"
    return ToolError("CAPABILITY_MISSING", message, details=dict(details or {}), hint=hint)


@contextmanager
def storing(what: str) -> Iterator[None]:
    """Tell an error of the file system inside as what it is: nothing of ours, and nothing unexpected."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        details = {"path": str(error.filename)} if error.filename else {}
        if error.errno in _NOT_ALLOWED:
            hint = "choose a directory that may be written to"
            raise ToolError(
                "FORBIDDEN", f"{what} cannot be stored: {reason}", details=details, hint=hint
            ) from error
        raise not_stored(what, reason, details) from error
