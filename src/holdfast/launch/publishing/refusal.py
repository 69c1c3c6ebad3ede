"""Why the commit service did not do what it was asked, as a code with its HTTP status. No HTTP happens here."""

from collections.abc import Mapping
from typing import Any

from holdfast.errors import HoldfastError

__all__ = ["STATUSES", "Refusal"]

STATUSES: Mapping[str, int] = {
    "INVALID_REQUEST": 400,
    "PATH_NOT_ALLOWED": 403,
    "COMMIT_NOT_FOUND": 404,
    "BASE_MOVED": 409,
    "BRANCH_EXISTS": 409,
    "IDEMPOTENCY_KEY_REUSED": 409,
    "NO_CHANGES": 409,
    "PATCH_CONFLICT": 409,
    "PUSH_REFUSED": 409,
    "PULL_REQUEST_CLOSED": 409,
    "PULL_REQUEST_REFUSED": 409,
    "REQUEST_TOO_LARGE": 413,
    "FORGE_TOKEN_MISSING": 424,
    "FORGE_TOKEN_REFUSED": 424,
    "FORGE_FORBIDDEN": 424,
    "FORGE_NOT_FOUND": 424,
    "FORGE_RATE_LIMITED": 429,
    "RATE_LIMITED": 429,
    "REMOTE_UNREACHABLE": 502,
    "BUSY": 503,
    "OUT_OF_TIME": 504,
}


class Refusal(HoldfastError):  # noqa: N818 - an answer, not a defect
    """The end of a request that changed nothing that anybody can see. What it tells holds no secret."""

    def __init__(
        self, code: str, message: str, *, details: Mapping[str, Any] | None = None, remedy: str = ""
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.status = STATUSES[code]
        self.message = message
        self.details = dict(details or {}) | ({"remedy": remedy} if remedy else {})
