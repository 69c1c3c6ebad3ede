"""In what GitHub and Gitea differ: saying who asks, pages of lists, what a pull request is made of. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from holdfast.launch.publishing.forges import Proposal
from holdfast.version import __version__

__all__ = ["DIALECTS", "Dialect", "FoundPull", "pull_in"]

_LONGEST_TITLE = 250  # GitHub takes 256 characters, Gitea 255
_LONGEST_URL = 2000


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of forge is spoken to."""

    name: str
    scheme: str
    headers: Mapping[str, str]
    page: Mapping[str, str | int]
    finds_by_head: bool
    draft_prefix: str = field(default="")

    def search(self, owner: str, branch: str) -> dict[str, str | int]:
        """The query of a list in which the pull requests of the branch are, the newest first."""
        query = {"state": "all", **self.page}
        return query | ({"head": f"{owner}:{branch}"} if self.finds_by_head else {})

    def proposed(self, proposal: Proposal, target: str) -> dict[str, Any]:
        """The document that asks for a pull request."""
        title = (self.draft_prefix if proposal.draft else "") + proposal.title
        if len(title) > _LONGEST_TITLE:
            title = title[: _LONGEST_TITLE - 1] + "…"
        document = {"title": title, "head": proposal.branch, "base": target, "body": proposal.body}
        # Gitea knows a draft by its title.
        return document | ({"draft": True} if proposal.draft and not self.draft_prefix else {})


_AGENT = {"User-Agent": f"holdfast/{__version__}"}
DIALECTS: Mapping[str, Dialect] = {
    "github": Dialect(
        "GitHub",
        "Bearer",
        {**_AGENT, "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
        {"per_page": 100},
        finds_by_head=True,
    ),
    "gitea": Dialect("Gitea", "token", _AGENT, {"limit": 50}, finds_by_head=False, draft_prefix="WIP: "),
}


@dataclass(frozen=True, slots=True)
class FoundPull:
    """A pull request as a forge tells it; `state` is open, merged or closed."""

    number: int
    url: str
    state: str
    title: str
    branch: str
    target: str
    commit_sha: str
    is_draft: bool
    is_from_here: bool
    created_at: str

    def is_older_than(self, moment: str, seconds: float) -> bool:
        """Whether it was there so long before the moment; a date that cannot be read is none."""
        try:
            age = datetime.fromisoformat(moment) - datetime.fromisoformat(self.created_at)
        except (ValueError, TypeError):
            return False
        return age.total_seconds() > seconds


def pull_in(document: Any) -> FoundPull | None:
    """The pull request that a document is; None where it lacks what others rely on."""
    if not isinstance(document, dict):
        return None
    number, url = document.get("number"), document.get("html_url")
    head, base = _object(document.get("head")), _object(document.get("base"))
    if type(number) is not int or number < 1 or not _is_web(url):
        return None
    is_merged = bool(document.get("merged") or document.get("merged_at"))
    state = "merged" if is_merged else "closed" if document.get("state") == "closed" else "open"
    # Gitea gives `refs/pull/7/head` as the reference of a branch that was deleted, and its name as the label.
    reference, label = _text(head.get("ref")), _text(head.get("label")).rpartition(":")[2]
    branch = label if reference.startswith("refs/") else reference
    ours, theirs = _object(base.get("repo")).get("full_name"), _object(head.get("repo")).get("full_name")
    return FoundPull(
        number, str(url), state, _text(document.get("title")), branch, _text(base.get("ref")),
        _text(head.get("sha")), is_draft=document.get("draft") is True,
        is_from_here=ours == theirs, created_at=_text(document.get("created_at")),
    )  # fmt: skip


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_web(url: Any) -> bool:
    """Whether it is an address for people: it is written into records, so it holds nobody's password."""
    if not isinstance(url, str) or len(url) > _LONGEST_URL or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("https", "http") and bool(parts.hostname) and "@" not in parts.netloc
