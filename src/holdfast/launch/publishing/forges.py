"""A forge makes a commit visible: as a branch and a pull request.

On plain git both appear together, or neither does. GitHub and Gitea have them apart: first the branch, then the
pull request. Repeating is part of the promise: whoever publishes the same commit for the same branch again goes on
from what is there, and is given the pull request that exists, though nobody remembers having opened it.
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

    def prepare(self, mirror: Mirror) -> None:
        """Tell the mirror how git gets to the site, before anything is fetched; Refusal where nobody may."""
        ...

    def publish(self, mirror: Mirror, proposal: Proposal) -> PullRequest:
        """Open the pull request, or find the one that is there.

        Refusal BRANCH_EXISTS, BASE_MOVED, PUSH_REFUSED, PULL_REQUEST_* or FORGE_* where that cannot be.
        """
        ...

    def pulls(self, mirror: Mirror) -> list[dict[str, Any]]:
        """All pull requests, by number."""
        ...
