"""A forge makes a commit visible: its branch and its pull request appear together, or neither of them does.

Repeating is part of the promise: whoever publishes the same commit for the same branch again is given the pull
request that is there, though nobody remembers having opened it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from holdfast.launch.publishing.mirror import Mirror

__all__ = ["Forge", "Proposal", "PullRequest"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pull request to be: the commit is in the mirror, on top of `base_ref`."""

    run_id: str
    branch: str
    commit_sha: str
    base_ref: str
    title: str
    body: str
    created_at: str
    draft: bool = False
    require_clean_base: bool = True


class PullRequest(NamedTuple):
    """A pull request that is there."""

    number: int
    url: str


class Forge(Protocol):
    """Where pull requests live."""

    def publish(self, mirror: Mirror, proposal: Proposal) -> PullRequest:
        """Open the pull request, or find the one that is there.

        Refusal BRANCH_EXISTS, BASE_MOVED or PUSH_REFUSED where that cannot be.
        """
        ...

    def pulls(self, mirror: Mirror) -> list[dict[str, Any]]:
        """All pull requests, by number."""
        ...
