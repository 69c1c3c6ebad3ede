"""Pull requests on any git repository, with nothing but git: references, and a record as a document in a commit.

    refs/heads/launch/<run>/<slug>   the branch
    refs/pull/<n>/head               its commit, as most forges call it
    refs/holdfast/pulls/<n>          a commit with `pull.json`: title, body, branch, base

All three are created by one atomic push that expects none of them to be there. A push that was killed while the
other side wrote them may leave some; the repeat completes them under the same number.
"""

from pathlib import Path
from typing import Any

from holdfast.git.acting import GitFailedError
from holdfast.git.asking import GitError
from holdfast.launch.publishing.addresses import local_directory, shown, without_secrets
from holdfast.launch.publishing.forges import Proposal, PullRequest
from holdfast.launch.publishing.mirror import Mirror
from holdfast.launch.publishing.pull_records import (
    PATTERNS,
    Pulls,
    branch_reference,
    head_reference,
    record_reference,
    store_record,
)
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.stale_locks import locks_of, settle
from holdfast.observe.redaction import Redactor

__all__ = ["BareForge"]

_MOST_REFUSALS = 4
_MOST_TRIES = 200
_PAUSE_SECONDS = 0.02
_LONGEST_COMPLAINT = 500


class BareForge:
    """Pull requests as references of the site's own repository."""

    def publish(self, mirror: Mirror, proposal: Proposal) -> PullRequest:
        """Open the pull request, or find the one that is there."""
        refusals = 0
        for _ in range(_MOST_TRIES):
            pulls = _look(mirror, proposal)
            number = pulls.number_of(mirror, proposal)
            if not pulls.is_whole(number):
                _refuse_taken(pulls, proposal)
                _refuse_moved_base(mirror, pulls, proposal)
                # A number that was refused before may be held by somebody who does not let go.
                number = number or max(pulls.numbers(), default=0) + 1 + refusals
                try:
                    _push(mirror, pulls, proposal, number)
                except GitFailedError as error:
                    refusals = _after_refusal(mirror, proposal, number, refusals, error)
                    continue
                except GitError as error:
                    raise mirror.unreachable(error) from error
            return PullRequest(number, _url(mirror.address, number))
        raise Refusal("BUSY", "others open pull requests on this repository all the time")

    def pulls(self, mirror: Mirror) -> list[dict[str, Any]]:
        """All pull requests, by number; `merged` are those whose commit the default branch has."""
        pulls = Pulls(mirror.look(*PATTERNS))
        documents = pulls.documents(mirror, pulls.records)
        head = mirror.follow() if documents else ""
        found = []
        for number, document in sorted(documents.items()):
            commit = document["commit_sha"]
            is_merged = bool(head) and mirror.has(commit) and mirror.is_ancestor(commit, head)
            state = "merged" if is_merged else document["state"]
            found.append({**document, "number": number, "state": state, "url": _url(mirror.address, number)})
        return found


def _look(mirror: Mirror, proposal: Proposal) -> Pulls:
    return Pulls(mirror.look(branch_reference(proposal.branch), *PATTERNS))


def _refuse_taken(pulls: Pulls, proposal: Proposal) -> None:
    there = pulls.remote.references.get(branch_reference(proposal.branch), proposal.commit_sha)
    if there != proposal.commit_sha:
        raise Refusal(
            "BRANCH_EXISTS",
            f"the branch {proposal.branch} is there already, with another commit",
            details={"branch": proposal.branch, "commit_sha": there},
        )


def _refuse_moved_base(mirror: Mirror, pulls: Pulls, proposal: Proposal) -> None:
    if not proposal.require_clean_base:
        return
    head = pulls.remote.head
    if head and not mirror.has(head):
        head = mirror.follow()
    if not head or not mirror.is_ancestor(proposal.base_ref, head):
        raise Refusal(
            "BASE_MOVED",
            "the default branch of the site does not have the commit on which this one rests",
            details={"reason": "rewritten", "base_ref": proposal.base_ref, "head": head},
        )


def _push(mirror: Mirror, pulls: Pulls, proposal: Proposal, number: int) -> None:
    """Create whatever is missing of the pull request: all of it, or nothing."""
    wanted = {
        branch_reference(proposal.branch): proposal.commit_sha,
        head_reference(number): proposal.commit_sha,
    }
    if number not in pulls.records:
        target = pulls.remote.default_branch
        wanted[record_reference(number)] = store_record(mirror, proposal, number, target)
    missing = {name: commit for name, commit in wanted.items() if name not in pulls.remote.references}
    mirror.ask_site(
        "push", "--quiet", "--porcelain", "--atomic", "--no-verify", "--no-follow-tags", "--no-signed",
        "--recurse-submodules=no", *(f"--force-with-lease={name}:" for name in missing),
        "--", mirror.address, *(f"{commit}:{name}" for name, commit in missing.items()),
    )  # fmt: skip


def _after_refusal(mirror: Mirror, proposal: Proposal, number: int, refusals: int, error: GitFailedError) -> int:
    """How often the site has refused without a reason that can be seen; at the last time it is told why."""
    if number in _look(mirror, proposal).numbers():
        return 0  # somebody else was faster, or it was done and only the answer got lost
    references = [branch_reference(proposal.branch), head_reference(number), record_reference(number)]
    directory = local_directory(mirror.address)
    locks = locks_of(directory, references) if directory else []
    if locks:
        settle(locks)
        return refusals
    if refusals + 1 == _MOST_REFUSALS:
        told = Redactor().text(without_secrets(error.said.strip(), mirror.address))[:_LONGEST_COMPLAINT]
        raise Refusal(
            "PUSH_REFUSED",
            f"the repository of the site takes no pull request: {without_secrets(str(error), mirror.address)}",
            details={"repo_url": shown(mirror.address), "said": told},
        ) from error
    mirror.wait(_PAUSE_SECONDS * (refusals + 1))
    return refusals + 1


def _url(address: str, number: int) -> str:
    plain = shown(address)
    base = Path(plain).as_uri() if plain.startswith("/") else plain
    return f"{base}#pull/{number}"
