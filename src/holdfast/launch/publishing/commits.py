"""One commit out of files, without a work tree and with an index of its own: the same input is the same commit."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from holdfast.launch.publishing.base_files import Entry
from holdfast.launch.publishing.mirror import Mirror, MirrorError
from holdfast.launch.publishing.refusal import Refusal

__all__ = ["Signature", "commit_of", "keep", "text_of", "tree_of"]

_NOTHING = "0" * 40
_PLAIN_FILE = "100644"
_CRUD = " .,:;<>\"\\'"  # git strips these from both ends of a name, and refuses one that is nothing else


@dataclass(frozen=True, slots=True)
class Signature:
    """Who signs a commit, as author and as committer, and when."""

    name: str
    email: str
    created_at: str

    def environment(self) -> dict[str, str]:
        """How git is told; Refusal INVALID_REQUEST where git could not write it down."""
        try:
            seconds = int(datetime.fromisoformat(self.created_at).timestamp())
        except (ValueError, OverflowError) as error:
            raise _unusable("created_at") from error
        if seconds < 0:
            raise _unusable("created_at")
        for field, text in (("author_name", self.name), ("author_email", self.email)):
            if not text.strip(_CRUD) or not text.isprintable():
                raise _unusable(field)
        values = {"NAME": self.name, "EMAIL": self.email, "DATE": f"@{seconds} +0000"}
        return {f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in values.items()}


def text_of(message: str, body: str) -> str:
    """The whole text of a commit: one line, and below it the rest."""
    subject = " ".join(message.split())
    rest = "\n".join(line.rstrip() for line in body.replace("\r\n", "\n").strip().split("\n"))
    if not subject or "\0" in subject + rest:
        raise _unusable("commit_message")
    return f"{subject}\n\n{rest}\n" if rest else f"{subject}\n"


def tree_of(mirror: Mirror, base: str, entries: Mapping[str, Entry], files: Mapping[str, bytes | None]) -> str:
    """The tree of the base with these files; what differs from the base is looked at once more at the end."""
    with mirror.workspace() as work:
        index = {"GIT_INDEX_FILE": str(work / "index")}
        mirror.git("read-tree", base, env=index)
        objects = _stored(mirror, work, files)
        lines = []
        for path in sorted(files):
            mode = entries[path].mode if path in entries else _PLAIN_FILE
            lines.append(f"{mode} {objects[path]}\t{path}\0" if path in objects else f"0 {_NOTHING}\t{path}\0")
        mirror.git("update-index", "-z", "--index-info", stdin="".join(lines).encode(), env=index)
        tree = mirror.git("write-tree", env=index).decode().strip()
    changed = mirror.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, tree)
    names = changed.decode("utf-8", "surrogateescape").split("\0")[:-1]
    if names != sorted(files, key=str.encode):
        raise MirrorError("the tree differs from its base in other files than those that were changed")
    return tree


def commit_of(mirror: Mirror, tree: str, parent: str, text: str, signature: Signature) -> str:
    """The commit; nobody sees it yet. Without a parent it begins a history of its own."""
    parents = ["-p", parent] if parent else []
    made = mirror.git("commit-tree", tree, *parents, stdin=text.encode(), env=signature.environment())
    return made.decode().strip()


def keep(mirror: Mirror, commit: str) -> None:
    """Make sure that the commit is not cleared away as something that nobody needs."""
    mirror.git("update-ref", f"refs/launch/{commit}", commit)


def _stored(mirror: Mirror, work: Path, files: Mapping[str, bytes | None]) -> dict[str, str]:
    """The objects of the files that stay."""
    contents = {path: content for path, content in files.items() if content is not None}
    for number, content in enumerate(contents.values()):
        (work / str(number)).write_bytes(content)
    asked = "".join(f"{work.name}/{number}\n" for number in range(len(contents))).encode()
    shas = mirror.git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=asked).decode().split()
    return dict(zip(contents, shas, strict=True))


def _unusable(field: str) -> Refusal:
    return Refusal("INVALID_REQUEST", f"{field} cannot be written into a commit", details={"field": field})
