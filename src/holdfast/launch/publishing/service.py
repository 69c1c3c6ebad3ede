"""The commit service: one commit out of a bundle of patches, and its pull request. It knows no HTTP.

Nothing that the caller says about the site is believed: the base is fetched from the site's own repository, the
bundle is applied here once more, within the fence. Asking twice with one key gives one commit and one pull
request: answers are kept, and where one was lost (somebody pulled the plug between the effect and its record) the
request is done again and has the same result, for a commit is made of nothing but the request, and the forge finds
what it has published.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.contract.canonical import canonical_json
from holdfast.errors import ContractError
from holdfast.git.asking import never
from holdfast.launch.documents import sha256, violations
from holdfast.launch.publishing.addresses import checked, repository_id, shown, without_secrets
from holdfast.launch.publishing.base_files import applied_files, entries_of
from holdfast.launch.publishing.commits import Signature, commit_of, keep, text_of, tree_of
from holdfast.launch.publishing.forges import Forge, Proposal
from holdfast.launch.publishing.mirror import Mirror, MirrorError, opened
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.service_store import Answered, MadeCommit, ServiceStore

__all__ = ["LARGEST_REQUEST", "CommitService", "Outcome"]

LARGEST_REQUEST = 32 * 1024 * 1024
_MOST_TOLD = 20


class Outcome(NamedTuple):
    """An answer, and whether it had been given before."""

    document: dict[str, Any]
    is_repeat: bool


class CommitService:
    """Everything is kept below `root`; several services, also in several processes, may share it."""

    def __init__(self, root: Path, forge: Forge, *, stop: Callable[[], bool] = never) -> None:
        self._forge = forge
        self._stop = stop
        self._mirrors = root / "mirrors"
        self._store = ServiceStore(root / "commits.sqlite")

    def commit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Make the commit, which nobody sees yet; Refusal where it cannot be made."""
        return self.answer("commit", request).document

    def open_pr(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Publish a commit of this service as a branch and a pull request, both or neither."""
        return self.answer("open_pr", request).document

    def answer(self, endpoint: str, request: Mapping[str, Any]) -> Outcome:
        """Do what is asked (`commit` or `open_pr`), or give the answer that this key had before."""
        digest = _checked_request(endpoint, request)
        address = checked(request["repo_url"])
        try:
            return self._answer(endpoint, request, digest, address)
        except MirrorError:
            with opened(self._mirrors, address, stop=self._stop) as mirror:
                mirror.discard()
        return self._answer(endpoint, request, digest, address)

    def pulls(self, repo_url: str) -> list[dict[str, Any]]:
        """The pull requests of a repository, by number."""
        with opened(self._mirrors, checked(repo_url), stop=self._stop) as mirror:
            return self._forge.pulls(mirror)

    def _answer(self, endpoint: str, request: Mapping[str, Any], digest: str, address: str) -> Outcome:
        key, repository = request["idempotency_key"], repository_id(address)
        with opened(self._mirrors, address, stop=self._stop) as mirror:
            before = self._store.answered(endpoint, repository, key)
            if before is not None and before.body_sha256 != digest:
                raise Refusal(
                    "IDEMPOTENCY_KEY_REUSED", "this key was used for another request", details={"key": key}
                )
            if endpoint == "open_pr":
                return self._open_pr(mirror, request, repository, digest, before)
            return self._commit(mirror, request, repository, digest, before)

    def _commit(
        self, mirror: Mirror, request: Mapping[str, Any], repository: str, digest: str, before: Answered | None
    ) -> Outcome:
        if before is not None and mirror.has(before.document["commit_sha"]):
            return Outcome(before.document, is_repeat=True)
        self._forge.prepare(mirror)
        sha, paths = _made(mirror, request)
        document = {
            "schema_version": "1.0",
            **{
                name: request[name]
                for name in ("run_id", "idempotency_key", "base_ref", "branch_name", "created_at")
            },
            "repo_url": shown(request["repo_url"]),
            "commit_sha": sha,
            "affected_paths": paths,
        }
        names = ("branch_name", "run_id", "base_ref", "created_at")
        made = MadeCommit(sha, *(request[name] for name in names))
        self._store.keep_commit(repository, request["idempotency_key"], digest, document, made)
        return Outcome(document, is_repeat=before is not None)

    def _open_pr(
        self, mirror: Mirror, request: Mapping[str, Any], repository: str, digest: str, before: Answered | None
    ) -> Outcome:
        if before is not None:
            return Outcome(before.document, is_repeat=True)
        sha, branch = request["commit_sha"], request["branch_name"]
        made = self._store.made_commit(repository, sha, branch)
        if made is None or made.base_ref != request["base_ref"] or not mirror.has(sha):
            message = "this service has made no such commit on this base for this branch"
            raise Refusal("COMMIT_NOT_FOUND", message, details={"commit_sha": sha, "branch": branch})
        proposal = Proposal(
            run_id=request["run_id"], branch=branch, commit_sha=sha, base_ref=made.base_ref,
            title=" ".join(request["pr_title"].split()), body=request["pr_body"], created_at=made.created_at,
            draft=request.get("draft", False), require_clean_base=request.get("require_clean_base", True),
        )  # fmt: skip
        number, url = self._forge.publish(mirror, proposal)
        names = ("run_id", "idempotency_key", "base_ref", "branch_name", "commit_sha")
        document = {
            "schema_version": "1.0",
            **{name: request[name] for name in names},
            "repo_url": shown(request["repo_url"]),
            "pr_number": number,
            "pr_url": url,
        }
        self._store.keep_pull(repository, request["idempotency_key"], digest, document, proposal.title)
        return Outcome(document, is_repeat=False)


def _made(mirror: Mirror, request: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The commit that the request asks for, and the paths that it changes."""
    base = request["base_ref"]
    signature = Signature(request["author_name"], request["author_email"], request["created_at"])
    signature.environment()  # refuses before anything is fetched
    text = text_of(request["commit_message"], request["commit_body"])
    head = mirror.follow()
    if not mirror.fetch_commit(base):
        raise _moved("not_found", "the repository of the site does not have the commit of the base", base, head)
    if request.get("require_clean_base", True) and not (head and mirror.is_ancestor(base, head)):
        raise _moved(
            "rewritten", "the default branch of the site does not have the commit of the base", base, head
        )
    entries = entries_of(mirror, base)
    files = applied_files(mirror, entries, request["patch_bundle"], request["allowed_paths"])
    commit = commit_of(mirror, tree_of(mirror, base, entries, files), base, text, signature)
    keep(mirror, commit)
    return commit, sorted(files)


def _moved(reason: str, message: str, base: str, head: str) -> Refusal:
    return Refusal("BASE_MOVED", message, details={"reason": reason, "base_ref": base, "head": head})


def _checked_request(endpoint: str, request: Mapping[str, Any]) -> str:
    """The digest of a request that fits its schema; Refusal where it does not."""
    try:
        content = canonical_json(request)
    except ContractError as error:
        raise Refusal("INVALID_REQUEST", str(error)) from error
    if len(content) > LARGEST_REQUEST:
        limit = {"limit_bytes": LARGEST_REQUEST}
        raise Refusal("REQUEST_TOO_LARGE", f"the request is larger than {LARGEST_REQUEST} bytes", details=limit)
    address = str(request.get("repo_url", ""))
    _refuse_misfit(f"{endpoint}_request", request, "", address)
    if endpoint == "commit":
        _refuse_misfit("patch_bundle", request["patch_bundle"], "/patch_bundle", address)
        if request["patch_bundle"]["base_ref"] != request["base_ref"]:
            raise Refusal("INVALID_REQUEST", "the bundle was made for another base", details={"field": "base_ref"})
    if not request["branch_name"].startswith(f"launch/{request['run_id']}/"):
        raise Refusal("INVALID_REQUEST", "the branch is that of another run", details={"field": "branch_name"})
    return sha256(content)


def _refuse_misfit(schema: str, document: Any, where: str, address: str) -> None:
    found = violations(schema, document)[:_MOST_TOLD]
    if found:
        for one in found:
            one["instancePath"] = where + one["instancePath"]
            one["message"] = without_secrets(one["message"], address)
        message = f"the request does not fit its schema: {found[0]['instancePath'] or '/'}: {found[0]['message']}"
        raise Refusal("INVALID_REQUEST", message[:500], details={"violations": found})
