"""The inventory of the product: every file of the commit, what it is, and why some are not looked at.

Taken from what is committed and not from the work tree, so that nothing on this machine has a say in it, and no
link is followed.
"""

import hashlib
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.launch.scouting.cloning import empty_repository, shown_address
from holdfast.launch.scouting.file_kinds import LARGE, PROSE, is_generated, is_text, language_of, line_count
from holdfast.launch.scouting.manifests import is_manifest, manifests_among
from holdfast.launch.scouting.objects import Entry, entries, ignored_names, read_blobs
from holdfast.launch.scouting.phantoms import linked_documents, phantom_paths
from holdfast.launch.scouting.profile import repo_profile
from holdfast.launch.scouting.roots import doc_entrypoints, example_paths, is_below, is_root_document, roots_of
from holdfast.launch.scouting.selecting import Selection
from holdfast.launch.secret_scan import find_secrets, redact_secrets

__all__ = ["take_inventory"]

_LONGEST_PATH = 1000
_MOST_REDACTED = 500
_MOST_KEPT = 64 << 20  # characters of prose and manifests that are held to look for phantoms


def take_inventory(root: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """repo_inventory.json of the clone at `root`; ToolError INVALID_INPUT where there is no file at all."""
    committed = entries(root, config["github_ref"])
    if not committed:
        raise empty_repository("product")
    looking = _Looking(root, config)
    looking.take(committed)
    by_hand = {one["path"]: one["size"] for one in looking.files if _is_by_hand(one)}
    paths = sorted(by_hand)
    ingestion = config.get("ingestion", {})
    roots = roots_of(paths, config.get("repo_hints", {}), ingestion.get("example_directories", ()))
    beside = (*roots.tests, *roots.examples)
    links = _led_to(root, committed, by_hand)
    documents = doc_entrypoints(paths, roots.docs, links)
    if linked := _linked_by_readme(
        documents, looking.texts, [path for path in paths if not is_below(path, beside)]
    ):
        documents = doc_entrypoints(paths, roots.docs, links, linked)
    manifests = {
        path: text for path, text in looking.texts.items() if path in by_hand and not is_below(path, beside)
    }
    readme = next((looking.texts.get(one["path"], "") for one in documents if one["kind"] == "readme"), "")
    is_looking = ingestion.get("detect_phantom_paths", True)
    names = {entry.name.decode("utf-8", "replace") for entry in committed}
    said = {one["path"]: looking.texts.get(one["path"], "") for one in documents} if is_looking else {}
    redacted = sorted(looking.redacted, key=lambda one: (one["path"], one["line"], one["kind"]))[:_MOST_REDACTED]
    return ({"redacted": redacted} if redacted else {}) | {
        "schema_version": "1.0",
        "repo_url": shown_address(config["github_repo_url"]),
        "repo_sha": config["github_ref"],
        "fingerprint": _fingerprint(committed),
        "file_count": len(looking.files),
        "repo_profile": repo_profile(by_hand, manifests_among(manifests), roots, config, readme),
        "paths": sorted(looking.files, key=lambda one: one["path"]),
        "source_roots": roots.source,
        "docs_roots": roots.docs,
        "example_roots": roots.examples,
        "test_roots": roots.tests,
        "doc_entrypoints": documents,
        "example_paths": example_paths(paths, roots.examples),
        "binary_assets": sorted(one["path"] for one in looking.files if one["kind"] == "binary"),
        "phantom_paths": phantom_paths(said, names),
        "skipped": sorted(looking.skipped, key=lambda one: (one["path"], one["reason"])),
    }


def _led_to(root: Path, committed: Sequence[Entry], paths: Mapping[str, int]) -> dict[str, str]:
    """Where a README or the like at the root is a link to another of these files: the name, and that file.

    The link is read from the commit and followed nowhere: what it says is a name in the list of files, or nothing.
    """
    links = [one for one in committed if one.is_link and one.size <= _LONGEST_PATH]
    wanted = [one for one in links if is_root_document(one.name.decode("utf-8", "replace"))]
    led = {
        entry.name.decode("utf-8", "replace"): posixpath.normpath(content.decode("utf-8", "replace"))
        for entry, content in read_blobs(root, wanted)
    }
    return {name: target for name, target in led.items() if target in paths}


def _linked_by_readme(
    documents: Sequence[Mapping[str, str]], texts: Mapping[str, str], paths: Sequence[str]
) -> frozenset[str]:
    """The documents that the README sends its readers to, wherever they lie."""
    readme = next((one["path"] for one in documents if one["kind"] == "readme"), "")
    prose = {path: texts[path] for path in paths if language_of(path) in PROSE and path in texts}
    return frozenset(linked_documents(readme, prose))


def _is_by_hand(file: Mapping[str, Any]) -> bool:
    return file["kind"] == "text" and not file.get("generated", False)


class _Looking:
    """One look at the files of a commit."""

    def __init__(self, root: Path, config: Mapping[str, Any]) -> None:
        ingestion = config.get("ingestion", {})
        self.files: list[dict[str, Any]] = []
        self.skipped: list[dict[str, str]] = []
        self.texts: dict[str, str] = {}
        self.redacted: list[dict[str, Any]] = []
        self._root = root
        self._selection = Selection(ingestion)
        self._keeps_binary = ingestion.get("record_binary_files", True)
        self._mode = ingestion.get("gitignore_mode", "respect")
        self._ignored = ignored_names(root) if self._mode != "ignore" else frozenset()
        self._kept = 0

    def take(self, committed: Sequence[Entry]) -> None:
        """List all files; those of a readable size are read."""
        for entry, content in read_blobs(self._root, [entry for entry in committed if self._is_read(entry)]):
            self._read(entry, content)

    def _is_read(self, entry: Entry) -> bool:
        """Whether the file is to be read; if not, all that is said of it has been said."""
        path = _decoded(entry.name)
        shown = path or entry.name.decode("utf-8", "backslashreplace").encode("unicode_escape").decode("ascii")
        named = redact_secrets(shown)
        shown, is_secret = named[:_LONGEST_PATH], named != shown
        reason = "its name holds what looks like a secret" if is_secret else self._why_not(entry, path)
        if reason:
            self.skipped.append({"path": shown, "reason": reason})
            return False
        kind = (
            "undecodable" if not path
            else "submodule" if entry.is_submodule
            else "symlink" if entry.is_link
            else "large" if entry.size > LARGE
            else ""
        )  # fmt: skip
        if not kind:
            return True
        self.files.append({"path": shown, "size": entry.size, "kind": kind})
        told = {
            "undecodable": "its name is no plain text in UTF-8",
            "submodule": "it is another repository",
            "symlink": "links are not followed",
            "large": f"it has more than {LARGE} bytes",
        }
        self.skipped.append({"path": shown, "reason": told[kind]})
        return False

    def _why_not(self, entry: Entry, path: str) -> str:
        if self._mode == "strict" and entry.name in self._ignored:
            return "a .gitignore names it"
        return self._selection.why_not(path) if path else ""

    def _read(self, entry: Entry, content: bytes) -> None:
        path = entry.name.decode("utf-8")
        if not is_text(content):
            if self._keeps_binary:
                self.files.append({"path": path, "size": entry.size, "kind": "binary"})
            return
        language = language_of(path)
        made: dict[str, Any] = {"path": path, "size": entry.size, "kind": "text", "lines": line_count(content)}
        made |= {"language": language} if language else {}
        text = content.decode("utf-8").removeprefix("\ufeff")
        if entry.name in self._ignored or is_generated(path, content):
            made["generated"] = True
        else:
            self.redacted += [{"path": path, **secret._asdict()} for secret in find_secrets(text)]
        self.files.append(made)
        if (language in PROSE or is_manifest(path)) and self._kept + len(content) <= _MOST_KEPT:
            self._kept += len(content)
            self.texts[path] = redact_secrets(text)


def _decoded(name: bytes) -> str:
    """The name as text; "" where it is none that a page or a report could name."""
    try:
        path = name.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return path if path.isprintable() and len(path) <= _LONGEST_PATH else ""


def _fingerprint(committed: Sequence[Entry]) -> str:
    digest = hashlib.sha256()
    for entry in committed:
        digest.update(f"{entry.mode} {entry.sha} ".encode("ascii") + entry.name + b"\0")
    return digest.hexdigest()
