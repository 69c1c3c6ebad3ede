"""Pull requests on GitHub and Gitea: the branch is pushed by git, the pull request is opened through REST.

Nothing here remembers what was done. Every call first looks at what there is: the pull request, then the branch,
so a repeat after a crash anywhere goes on from there. An answer that got lost on its way is looked for, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.git.acting import GitFailedError
from holdfast.git.asking import GitError
from holdfast.launch.forge_places import ForgePlace
from holdfast.launch.publishing.allowance import Allowance
from holdfast.launch.publishing.branches import (
    branch_reference,
    push_refused,
    refuse_moved_base,
    refuse_taken,
    taken,
)
from holdfast.launch.publishing.forge_dialects import DIALECTS, FoundPull, pull_in
from holdfast.launch.publishing.forge_refusals import is_no_branch_yet, is_there_already
from holdfast.launch.publishing.forge_token import ForgeToken
from holdfast.launch.publishing.forges import Proposal, PullRequest
from holdfast.launch.publishing.mirror import Mirror, Route
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.rest import DeniedError, Rest, UnsureError

__all__ = ["RestForge"]

_TRIES = 4
_MOST_PAGES = 40
_MOST_CLOCK_DIFFERENCE = 86400.0
_BRANCHES = "launch/"
_STATES = ("open", "merged", "closed")


class RestForge:
    """One repository on a forge."""

    def __init__(
        self,
        place: ForgePlace,
        token: ForgeToken,
        allowance: Allowance,
        *,
        pause: float = 0.5,
        timeout: float = 20.0,
    ) -> None:
        self._asked_for = place
        self._token = token
        self._allowance = allowance
        self._pause = pause
        self._timeout = timeout
        self._dialect = DIALECTS[place.kind]

    def prepare(self, mirror: Mirror) -> None:
        """Find the repository under the name that it has now, and give git the token for it."""
        with _refusals():
            self._arrived(mirror)

    def publish(self, mirror: Mirror, proposal: Proposal) -> PullRequest:
        """Open the pull request, or find the one that is there."""
        with _refusals():
            rest, place = self._arrived(mirror)
            found = self._found(rest, place, proposal)
            if found is not None:
                return _judged(found, proposal)
            reference = branch_reference(proposal.branch)
            remote = mirror.look(reference)
            refuse_taken(remote, proposal)
            refuse_moved_base(mirror, remote, proposal)
            if reference not in remote.references:
                _push(mirror, rest, proposal)
            return self._opened(rest, place, proposal, remote.default_branch)

    def pulls(self, mirror: Mirror) -> list[dict[str, Any]]:
        """The pull requests of runs, by number."""
        with _refusals():
            rest, place = self._arrived(mirror)
            pages = rest.pages(f"{place.path}/pulls", _MOST_PAGES, state="all", **self._dialect.page)
            listed = [pull for page in pages for pull in map(pull_in, page) if pull is not None]
        ours = [pull for pull in listed if pull.branch.startswith(_BRANCHES) and pull.is_from_here]
        return [
            {
                "number": pull.number, "state": pull.state, "title": pull.title, "draft": pull.is_draft,
                "branch": pull.branch, "target_branch": pull.target, "commit_sha": pull.commit_sha,
                "created_at": pull.created_at, "url": pull.url,
            }
            for pull in sorted(ours, key=lambda pull: pull.number)
        ]  # fmt: skip

    def _arrived(self, mirror: Mirror) -> tuple[Rest, ForgePlace]:
        asked_for, dialect, token = self._asked_for, self._dialect, self._token
        rest = Rest(
            asked_for.api, f"{asked_for.owner}/{asked_for.name}", token,
            {**dialect.headers, **token.header(dialect.scheme)},
            allowance=self._allowance, wait=mirror.wait, pause=self._pause, timeout=self._timeout,
        )  # fmt: skip
        about = rest.get(asked_for.path)
        if not isinstance(about, dict) or not isinstance(about.get("full_name"), str):
            raise Refusal(
                "REMOTE_UNREACHABLE", f"what answers at {asked_for.api} is not {dialect.name}",
                details={"api": asked_for.api}, remedy="correct commit_service.forge or forge_url in a new run",
            )  # fmt: skip
        if about.get("archived") is True or about.get("has_pull_requests") is False:
            why = "is archived" if about.get("archived") else "takes no pull requests"
            message = f"{about['full_name']} {why}"
            raise Refusal("FORGE_FORBIDDEN", message, remedy="change that in the repository's settings")
        place = asked_for.moved_to(about["full_name"])
        if place.takes_token:
            mirror.route = Route(place.address, token, token.for_git(place.address))
        return rest, place

    def _found(self, rest: Rest, place: ForgePlace, proposal: Proposal) -> FoundPull | None:
        """The pull request of the branch that counts most: an open one, then one that was merged."""
        found = []
        query = self._dialect.search(place.owner, proposal.branch)
        for page in rest.pages(f"{place.path}/pulls", _MOST_PAGES, **query):
            pulls = [pull for pull in map(pull_in, page) if pull is not None]
            found += [pull for pull in pulls if pull.branch == proposal.branch and pull.is_from_here]
            # The newest come first, and none is older than its run.
            if pulls and pulls[-1].is_older_than(proposal.created_at, _MOST_CLOCK_DIFFERENCE):
                break
        return min(found, key=lambda pull: (_STATES.index(pull.state), pull.number), default=None)

    def _opened(self, rest: Rest, place: ForgePlace, proposal: Proposal, target: str) -> PullRequest:
        document = self._dialect.proposed(proposal, target)
        problem = "it gave no pull request"
        for number in range(1, _TRIES + 1):
            try:
                made = pull_in(rest.post(f"{place.path}/pulls", document))
            except UnsureError as error:
                problem = str(error)
            except DeniedError as error:
                if not is_there_already(error.told) and not (is_no_branch_yet(error.told) and number < _TRIES):
                    raise
                problem = error.told.text
            else:
                if made is not None:
                    return PullRequest(made.number, made.url)
            found = self._found(rest, place, proposal)
            if found is not None:
                return _judged(found, proposal)
            rest.rest_a_while(number)
        raise Refusal(
            "REMOTE_UNREACHABLE", self._token.hidden(f"the forge did not open the pull request: {problem}"),
            details={"repository": f"{place.owner}/{place.name}"}, remedy="ask again: the branch is there",
        )  # fmt: skip


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except DeniedError as error:
        raise error.refusal from error


def _judged(found: FoundPull, proposal: Proposal) -> PullRequest:
    """The pull request, if it still is the one of this run."""
    about = {"pr_url": found.url, "pr_number": found.number}
    if found.state == "closed":
        raise Refusal(
            "PULL_REQUEST_CLOSED", f"pull request {found.number} of this run was closed and not merged",
            details=about, remedy="reopen it and ask again, or start a new run",
        )  # fmt: skip
    if found.state == "open" and found.commit_sha != proposal.commit_sha:
        refusal = taken(proposal, found.commit_sha)
        refusal.details |= about
        raise refusal
    return PullRequest(found.number, found.url)


def _push(mirror: Mirror, rest: Rest, proposal: Proposal) -> None:
    reference = branch_reference(proposal.branch)
    for number in range(1, _TRIES + 1):
        try:
            mirror.push_new({reference: proposal.commit_sha})
        except GitFailedError as error:
            if mirror.is_locked(error):
                raise mirror.unreachable(error) from error
            remote = mirror.look(reference)
            refuse_taken(remote, proposal)
            if reference in remote.references:
                return  # it was done, and only the answer got lost; or somebody else did the same
            if number == _TRIES:
                raise push_refused(mirror, error) from error
        except GitError as error:
            raise mirror.unreachable(error) from error
        else:
            return
        rest.rest_a_while(number)
