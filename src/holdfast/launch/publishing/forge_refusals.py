"""What it means when a forge says no, and what helps: the documented shapes of GitHub and Gitea. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.launch.publishing.refusal import Refusal

__all__ = ["Told", "is_no_branch_yet", "is_there_already", "refusal_of", "told_by"]

_LONGEST = 500
_MOST_ERRORS = 10
_THERE = re.compile(r"pull request already exists", re.IGNORECASE)
_NOTHING = re.compile(r"no commits between|there are no changes between|no changes between", re.IGNORECASE)
_CONFLICT, _UNPROCESSABLE = 409, 422


class Told(NamedTuple):
    """What a forge said: `errors` are `field: what is wrong with it`."""

    status: int
    message: str
    errors: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it on one line."""
        whole = "; ".join(part for part in (self.message, *self.errors) if part)
        return " ".join(whole.split())[:_LONGEST] or f"status {self.status}"


def told_by(status: int, body: bytes) -> Told:
    """What an answer says in words; a page of HTML says nothing."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return Told(status, "")
    if not isinstance(document, dict):
        return Told(status, "")
    errors = document.get("errors")
    listed = errors[:_MOST_ERRORS] if isinstance(errors, list) else []
    return Told(status, _text(document.get("message")), tuple(filter(None, map(_error, listed))))


def is_there_already(told: Told) -> bool:
    """Whether a pull request was refused because there is one."""
    return told.status in (_CONFLICT, _UNPROCESSABLE) and _THERE.search(told.text) is not None


def is_no_branch_yet(told: Told) -> bool:
    """Whether the forge has not yet noticed the branch that git has just pushed."""
    return told.status == _UNPROCESSABLE and any(
        re.match(r"(?:head|head_sha|head_ref)\b", error) for error in told.errors
    )


def refusal_of(told: Told, headers: Mapping[str, str], repository: str, variable: str) -> Refusal:
    """Why the forge did not do it; `variable` is where the token came from."""
    details: dict[str, Any] = {"repository": repository, "forge_status": told.status, "said": told.text}
    if told.status == 401:
        return Refusal(
            "FORGE_TOKEN_REFUSED", f"the forge does not know the token: {told.text}", details=details,
            remedy=f"put a token that is valid, and not expired, into {variable}",
        )  # fmt: skip
    if told.status in (404, 410, 451):
        return Refusal(
            "FORGE_NOT_FOUND", f"there is no repository {repository}, or the token may not see it",
            details=details, remedy=f"check site_repo_url, and that the token in {variable} has access to it",
        )  # fmt: skip
    if told.status == 423:
        return Refusal(
            "FORGE_FORBIDDEN", f"{repository} is archived: {told.text}", details=details,
            remedy="unarchive the repository, or publish on another one",
        )  # fmt: skip
    if told.status == 403:
        return _forbidden(told, headers, repository, variable, details)
    if told.status in (_CONFLICT, _UNPROCESSABLE) and _NOTHING.search(told.text):
        return Refusal("NO_CHANGES", f"the site already has what would be proposed: {told.text}", details=details)
    return Refusal(
        "PULL_REQUEST_REFUSED", f"the forge refused the pull request: {told.text}", details=details,
        remedy="read what it said; the branch is there, and asking again goes on from it",
    )  # fmt: skip


def _forbidden(
    told: Told, headers: Mapping[str, str], repository: str, variable: str, details: dict[str, Any]
) -> Refusal:
    remedy = (
        f"give the token in {variable} the right to write contents and pull requests of {repository}"
        " (GitHub: Contents and Pull requests, or the scope repo; Gitea: write:repository)"
    )
    if headers.get("x-github-sso", "").startswith("required"):
        remedy = f"authorize the token in {variable} for the organization's single sign-on"
    needed = headers.get("x-accepted-github-permissions") or headers.get("x-accepted-oauth-scopes")
    if needed:
        details = details | {"needs": needed[:_LONGEST]}
    message = f"the token may not do this on {repository}: {told.text}"
    return Refusal("FORGE_FORBIDDEN", message, details=details, remedy=remedy)


def _error(one: Any) -> str:
    if not isinstance(one, dict):
        return _text(one)
    said = _text(one.get("message")) or _text(one.get("code"))
    field = _text(one.get("field"))
    return f"{field}: {said}" if field else said


def _text(value: Any) -> str:
    return " ".join(value.split())[:_LONGEST] if isinstance(value, str) else ""
