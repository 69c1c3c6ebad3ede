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
from holdfast.launch.publishing.addresses import local_directory, shown
from holdfast.launch.publishing.branches import branch_reference, push_refused, refuse_moved_base, refuse_taken
from holdfast.launch.publishing.forges import Proposal, PullRequest
from holdfast.launch.publishing.mirror import Mirror
from holdfast.launch.publishing.pull_records import (
    PATTERNS,
    Pulls,
    head_reference,
    record_reference,
    store_record,
)
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.stale_locks import locks_of, settle

__all__ = ["BareForge"]

_MOST_REFUSALS = 4
_MOST_TRIES = 200
_PAUSE_SECONDS = 0.02


class BareForge:
    """Pull requests as references of the site's own repository."""

    def prepare(self, mirror: Mirror) -> None:
        """Git finds the site by itself, with what the user's own configuration holds."""

    def publish(self, mirror: Mirror, proposal: Proposal) -> PullRequest:
        """Open the pull request, or find the one that is there."""
        refusals = 0
        for _ in range(_MOST_TRIES):
            pulls = _look(mirror, proposal)
            number = pulls.number_of(mirror, proposal)
            if not pulls.is_whole(number):
                refuse_taken(pulls.remote, proposal)
                refuse_moved_base(mirror, pulls.remote, proposal)
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
    mirror.push_new(missing)


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
        raise push_refused(mirror, error) from error
    mirror.wait(_PAUSE_SECONDS * (refusals + 1))
    return refusals + 1


def _url(address: str, number: int) -> str:
    plain = shown(address)
    base = Path(plain).as_uri() if plain.startswith("/") else plain
    return f"{base}#pull/{number}"
