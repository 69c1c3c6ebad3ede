"""How a run asks the commit service: over HTTP, or in this process, with the same answers and the same failures.

A failure is COMMIT_SERVICE_ERROR; `retryable` says whether asking again may help, `details` has the service's own
status and code. What the fence of the service refuses is ALLOWED_PATHS_VIOLATION.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, Protocol

from holdfast.errors import ToolError
from holdfast.git.asking import GitStoppedError, never
from holdfast.launch.http_client import Answer, Unreachable, call
from holdfast.launch.publishing.forge_choice import ChosenForge, ForgeRule
from holdfast.launch.publishing.mirror import MirrorError
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.service import LARGEST_REQUEST, CommitService

__all__ = ["EMBEDDED", "CommitClient", "Commits", "EmbeddedCommits", "connect"]

EMBEDDED = "embedded:"
"""The address of the service in this process."""

_TRIES = 3
_PASSING = frozenset({502, 503, 504})
_LOOK_SECONDS = 0.05
_TOO_MANY = 429
_SHA = re.compile(r"[0-9a-f]{40}")
_ADDRESS = re.compile(r"(?:https?|ssh|file)://[^\s]{1,2000}\Z|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:\S{1,2000}\Z")
_LONGEST_MESSAGE = 500
_UNKNOWN = (401, 403)
_IDENTIFY = "put the token of the service into the variable that commit_service.github_token_env names"
_START = "start it with `holdfast launch commit-service`, or correct commit_service.endpoint_url in a new run"


class Commits(Protocol):
    """Whoever makes commits and pull requests."""

    def commit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The commit; ToolError where there is none."""
        ...

    def open_pr(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The pull request; ToolError where there is none."""
        ...


def connect(
    endpoint_url: str,
    root: Path,
    *,
    token: str | None = None,
    forges: Sequence[ForgeRule] = (),
    stop: Callable[[], bool] = never,
) -> Commits:
    """The service at the address; `embedded:` is one in this process that keeps its state below `root`.

    `token` is for a service elsewhere, which has forges of its own; `forges` are for the one in this process.
    """
    if endpoint_url == EMBEDDED:
        return EmbeddedCommits(root / "commits", forges, stop=stop)
    return CommitClient(endpoint_url, token=token, stop=stop)


class EmbeddedCommits:
    """The service in this process."""

    def __init__(self, root: Path, forges: Sequence[ForgeRule] = (), *, stop: Callable[[], bool] = never) -> None:
        self._service = CommitService(root, ChosenForge(forges, root / "limits"), stop=stop)

    def commit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The commit; ToolError where there is none."""
        return self._told(self._service.commit, request)

    def open_pr(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The pull request; ToolError where there is none."""
        return self._told(self._service.open_pr, request)

    def _told(
        self, ask: Callable[[Mapping[str, Any]], dict[str, Any]], request: Mapping[str, Any]
    ) -> dict[str, Any]:
        try:
            return ask(request)
        except Refusal as refusal:
            raise _failure(refusal.status, refusal.code, refusal.message, refusal.details) from refusal
        except GitStoppedError as error:
            raise ToolError("CANCELLED", "stopped while the commit service was at work") from error
        except (MirrorError, OSError, sqlite3.Error) as error:
            details = {"cause_class": type(error).__name__}
            raise _failure(500, "INTERNAL", "the files of the commit service cannot be used", details) from error


class CommitClient:
    """The service at an address. Trouble that passes is tried again a few times; a refusal is not."""

    def __init__(
        self,
        endpoint_url: str,
        *,
        token: str | None = None,
        stop: Callable[[], bool] = never,
        timeout: float = 60.0,
        pause: float = 0.5,
    ) -> None:
        self._base = endpoint_url.rstrip("/").removesuffix("/v1")
        self._token = token
        self._stop = stop
        self._timeout = timeout
        self._pause = pause

    def commit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The commit; ToolError where there is none."""
        document = self._asked("commit", request)
        paths, asked = (
            document.get("affected_paths"),
            {patch["path"] for patch in request["patch_bundle"]["patches"]},
        )
        is_ours = isinstance(paths, list) and all(isinstance(path, str) and path in asked for path in paths)
        if not _SHA.fullmatch(str(document.get("commit_sha"))) or not is_ours:
            raise _unusable()
        return document

    def open_pr(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The pull request; ToolError where there is none."""
        document = self._asked("open_pr", request)
        is_address = _ADDRESS.match(str(document.get("pr_url"))) is not None
        if not is_address or not isinstance(document.get("pr_number"), int | None):
            raise _unusable()
        return document

    def _asked(self, endpoint: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if len(json.dumps(request)) > LARGEST_REQUEST:  # the service would hang up while it is still being sent
            raise _failure(413, "REQUEST_TOO_LARGE", f"more than {LARGEST_REQUEST} bytes", {})
        answer = self._answer(f"{self._base}/v1/{endpoint}", request)
        try:
            document = answer.json()
        except Unreachable:
            document = None
        if not isinstance(document, dict):
            raise _unusable() if answer.status in (200, 201) else _failure(answer.status, "", "no document", {})
        if answer.status in (200, 201):
            return document
        details = document.get("details")
        raise _failure(
            answer.status, str(document.get("code", "")), str(document.get("message", "")),
            details if isinstance(details, dict) else {},
        )  # fmt: skip

    def _answer(self, url: str, request: Mapping[str, Any]) -> Answer:
        headers = {"Idempotency-Key": str(request["idempotency_key"])}
        for number in range(1, _TRIES + 1):
            try:
                answer = call("POST", url, json=request, token=self._token, headers=headers, timeout=self._timeout)
            except Unreachable as error:
                if error.reason == "address" or number == _TRIES:
                    details = {"reason": "unreachable", "why": error.reason}
                    raise ToolError(
                        "COMMIT_SERVICE_ERROR", f"the commit service cannot be reached: {error.message}",
                        details=details, retryable=error.reason != "address", hint=_START,
                    ) from error  # fmt: skip
            else:
                if answer.status not in _PASSING or number == _TRIES:
                    return answer
            self._wait(self._pause * number)
        raise AssertionError("the last try ends the loop")

    def _wait(self, seconds: float) -> None:
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            if self._stop():
                raise ToolError("CANCELLED", "stopped while the commit service was asked")
            Event().wait(min(left, _LOOK_SECONDS))


def _failure(status: int, code: str, message: str, details: Mapping[str, Any]) -> ToolError:
    told = {**details, "status": status, "code": code}
    remedy = told.pop("remedy", None)
    message = message[:_LONGEST_MESSAGE]
    if code == "PATH_NOT_ALLOWED":
        return ToolError("ALLOWED_PATHS_VIOLATION", message, details=told, retryable=False)
    is_passing = status >= 500 or status == _TOO_MANY
    verb = "failed" if is_passing else "refused"
    return ToolError(
        "COMMIT_SERVICE_ERROR", f"the commit service {verb}: {message}", details=told, retryable=is_passing,
        hint=_IDENTIFY if status in _UNKNOWN else str(remedy)[:_LONGEST_MESSAGE] if remedy else None,
    )  # fmt: skip


def _unusable() -> ToolError:
    return ToolError(
        "COMMIT_SERVICE_ERROR", "the commit service gave an answer that cannot be used",
        details={"reason": "bad_answer"}, retryable=False,
    )  # fmt: skip
