"""The branch of a run on the site: what keeps it from being created there, whatever the forge is."""

from holdfast.git.acting import GitFailedError
from holdfast.launch.publishing.addresses import shown
from holdfast.launch.publishing.forges import Proposal
from holdfast.launch.publishing.mirror import Mirror, Remote
from holdfast.launch.publishing.refusal import Refusal
from holdfast.observe.redaction import Redactor

__all__ = ["branch_reference", "push_refused", "refuse_moved_base", "refuse_taken", "taken"]

_LONGEST_COMPLAINT = 500


def branch_reference(branch: str) -> str:
    """The branch itself."""
    return f"refs/heads/{branch}"


def refuse_taken(remote: Remote, proposal: Proposal) -> None:
    """Refusal BRANCH_EXISTS where the branch is there with another commit."""
    there = remote.references.get(branch_reference(proposal.branch), proposal.commit_sha)
    if there != proposal.commit_sha:
        raise taken(proposal, there)


def taken(proposal: Proposal, there: str) -> Refusal:
    """The refusal of a branch that has this commit, and not ours."""
    return Refusal(
        "BRANCH_EXISTS",
        f"the branch {proposal.branch} is there already, with another commit",
        details={"branch": proposal.branch, "commit_sha": there},
    )


def refuse_moved_base(mirror: Mirror, remote: Remote, proposal: Proposal) -> None:
    """Refusal BASE_MOVED where the default branch no longer has the commit on which ours rests."""
    if not proposal.require_clean_base:
        return
    head = remote.head
    if head and not mirror.has(head):
        head = mirror.follow()
    if not head or not mirror.is_ancestor(proposal.base_ref, head):
        raise Refusal(
            "BASE_MOVED",
            "the default branch of the site does not have the commit on which this one rests",
            details={"reason": "rewritten", "base_ref": proposal.base_ref, "head": head},
        )


def push_refused(mirror: Mirror, error: GitFailedError) -> Refusal:
    """The refusal of a push that the site does not take, with what it said."""
    told = Redactor().text(mirror.told(error.said.strip()))[:_LONGEST_COMPLAINT]
    return Refusal(
        "PUSH_REFUSED",
        f"the repository of the site takes no pull request: {mirror.told(str(error))}",
        details={"repo_url": shown(mirror.address), "said": told},
    )
