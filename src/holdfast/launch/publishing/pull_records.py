"""Pull requests as git references: which there are, and the document that tells of each."""

import json
import re
from collections.abc import Collection, Iterable
from typing import Any

from holdfast.contract.canonical import canonical_json
from holdfast.launch.publishing.commits import Signature, commit_of
from holdfast.launch.publishing.forges import Proposal
from holdfast.launch.publishing.mirror import Mirror, Remote

__all__ = ["PATTERNS", "Pulls", "head_reference", "record_reference", "store_record"]

PATTERNS = ("refs/pull/*/head", "refs/holdfast/pulls/*")
"""What a repository is asked for, to know its pull requests."""

_FILE = "pull.json"
_NUMBER = "([1-9][0-9]{0,8})"
_HEAD = re.compile(f"refs/pull/{_NUMBER}/head")
_RECORD = re.compile(f"refs/holdfast/pulls/{_NUMBER}")
_LARGEST = 1_000_000
_TEXTS = ("branch", "commit_sha", "base_ref", "title", "state")


def head_reference(number: int) -> str:
    """The commit of a pull request."""
    return f"refs/pull/{number}/head"


def record_reference(number: int) -> str:
    """The commit with the document of a pull request."""
    return f"refs/holdfast/pulls/{number}"


class Pulls:
    """The pull requests of a repository at one moment."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote
        self.heads = _numbered(remote, _HEAD)
        self.records = _numbered(remote, _RECORD)

    def numbers(self) -> set[int]:
        """The numbers that are taken."""
        return self.heads.keys() | self.records.keys()

    def is_whole(self, number: int) -> bool:
        """Whether everything of a pull request is there."""
        return number in self.heads and number in self.records

    def number_of(self, mirror: Mirror, proposal: Proposal) -> int:
        """The number under which this commit of this branch is there, perhaps not as a whole; 0 for none."""
        likely = {number for number, commit in self.heads.items() if commit == proposal.commit_sha}
        without_head = self.records.keys() - self.heads.keys()
        documents = self.documents(mirror, (likely & self.records.keys()) | without_head)
        for number, document in sorted(documents.items()):
            if (document["branch"], document["commit_sha"]) == (proposal.branch, proposal.commit_sha):
                return number
        return min(likely - self.records.keys(), default=0)

    def documents(self, mirror: Mirror, numbers: Collection[int]) -> dict[int, dict[str, Any]]:
        """What these pull requests say of themselves; one whose document is none is left out."""
        if not numbers:
            return {}
        ordered = sorted(numbers)
        mirror.fetch_references(*(record_reference(number) for number in ordered))
        found = _objects(mirror, [f"{self.records[number]}:{_FILE}" for number in ordered])
        read = {number: _document(content) for number, content in zip(ordered, found, strict=True)}
        return {number: document for number, document in read.items() if document is not None}


def store_record(mirror: Mirror, proposal: Proposal, number: int, target: str) -> str:
    """Make the commit with the document of a pull request to be; nobody sees it yet."""
    document = {
        "schema_version": "1.0",
        "number": number,
        "state": "open",
        "run_id": proposal.run_id,
        "title": proposal.title,
        "body": proposal.body,
        "draft": proposal.draft,
        "branch": proposal.branch,
        "target_branch": target,
        "base_ref": proposal.base_ref,
        "commit_sha": proposal.commit_sha,
        "created_at": proposal.created_at,
    }
    blob = mirror.git("hash-object", "-w", "--stdin", stdin=canonical_json(document)).decode().strip()
    tree = mirror.git("mktree", "-z", stdin=f"100644 blob {blob}\t{_FILE}\0".encode()).decode().strip()
    signature = Signature("Holdfast", "launch@holdfast.invalid", proposal.created_at)
    return commit_of(mirror, tree, "", f"Pull request {number}\n", signature)


def _numbered(remote: Remote, pattern: re.Pattern[str]) -> dict[int, str]:
    matches = ((pattern.fullmatch(name), value) for name, value in remote.references.items())
    return {int(match[1]): value for match, value in matches if match}


def _objects(mirror: Mirror, names: Iterable[str]) -> list[bytes]:
    """The files of these names, empty where there is none, or none that could be a document."""
    asked = "".join(f"{name}\n" for name in names).encode()
    lines = [line.split() for line in mirror.git("cat-file", "--batch-check", stdin=asked).splitlines()]
    usable = [line[1:2] == [b"blob"] and int(line[2]) <= _LARGEST for line in lines]
    chosen = b"".join(line[0] + b"\n" for line, is_usable in zip(lines, usable, strict=True) if is_usable)
    told = mirror.git("cat-file", "--batch", stdin=chosen)
    found = []
    for is_usable in usable:
        content = b""
        if is_usable:
            head, _, told = told.partition(b"\n")
            size = int(head.split()[2])
            content, told = told[:size], told[size + 1 :]
        found.append(content)
    return found


def _document(content: bytes) -> dict[str, Any] | None:
    """A document, whoever wrote it, if it has what others rely on."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not all(isinstance(document.get(name), str) for name in _TEXTS):
        return None
    return document
