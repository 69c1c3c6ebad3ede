"""A small site to publish on, and what its commit service is asked; everything about them can be changed."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.launch.products import commit_all, git, make_repository

from holdfast.launch.identifiers import request_key

__all__ = [
    "PAGE",
    "RUN",
    "SITE_FILES",
    "branches",
    "bundle_of",
    "commit_request",
    "create",
    "make_bare_site",
    "open_request",
    "pull_numbers",
]

RUN = "r_2026-01-21T10-00-00Z_0a1b2c3d"
PAGE = "content/docs/tablekit/install.md"
SITE_FILES = {
    "hugo.toml": b"title = 'Site'\n",
    "content/docs/_index.md": b"---\ntitle: Docs\n---\n# Docs\n",
    "content/docs/tablekit/old.md": b"---\ntitle: Old\n---\n# Old\n\nText.\n",
    "static/logo.bin": b"\x00\x01\xff",
}


def make_bare_site(path: Path) -> tuple[str, str]:
    """A bare repository with a page, a link and a program; its address and its commit."""
    work = path.with_name(f"{path.name}-work")
    make_repository(work, SITE_FILES)
    (work / "content/docs/tablekit/run.sh").write_text("echo\n", encoding="utf-8")
    (work / "content/docs/tablekit/run.sh").chmod(0o755)
    os.symlink("../../..", work / "content/docs/tablekit/link")
    sha = commit_all(work, "with a link")
    git(path.parent, "clone", "--quiet", "--bare", str(work), str(path))
    return str(path), sha


def create(path: str, text: str, number: int = 1) -> dict[str, Any]:
    """A patch that creates a file."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "patch_id": f"patch_{number:03d}", "type": "create_file", "path": path, "content_hash": digest,
        "new_content": text,
    }  # fmt: skip


def bundle_of(base: str, files: Mapping[str, str]) -> dict[str, Any]:
    """A bundle that creates these files."""
    patches = [create(path, text, number) for number, (path, text) in enumerate(files.items(), 1)]
    return {"schema_version": "1.0", "base_ref": base, "patches": patches}


def commit_request(
    address: str, base: str, *, run: str = RUN, bundle: Mapping[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    """What a run asks to commit."""
    request: dict[str, Any] = {
        "schema_version": "1.0",
        "run_id": run,
        "idempotency_key": request_key(run, "commit"),
        "repo_url": address,
        "base_ref": base,
        "branch_name": f"launch/{run}/tablekit",
        "allowed_paths": ["content/docs/tablekit/"],
        "commit_message": "Launch tablekit",
        "commit_body": f"Run {run}.",
        "patch_bundle": bundle if bundle is not None else bundle_of(base, {PAGE: "# Install\n"}),
        "author_name": "Launch",
        "author_email": "launch@example.com",
        "created_at": "2026-01-21T10:00:00.000000Z",
    }
    return request | changes


def open_request(commit: Mapping[str, Any], address: str, **changes: Any) -> dict[str, Any]:
    """What a run asks to open, after it was given this commit."""
    request: dict[str, Any] = {
        "schema_version": "1.0",
        "run_id": commit["run_id"],
        "idempotency_key": request_key(commit["run_id"], "open_pr", commit["commit_sha"]),
        "repo_url": address,
        "base_ref": commit["base_ref"],
        "branch_name": commit["branch_name"],
        "commit_sha": commit["commit_sha"],
        "pr_title": "Launch tablekit",
        "pr_body": "What a reviewer reads.\n",
    }
    return request | changes


def branches(site: str | Path) -> dict[str, str]:
    """The branches of runs on a site, and their commits."""
    listed = git(Path(site), "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/launch")
    return dict(line.split(" ") for line in listed.splitlines())


def pull_numbers(site: str | Path) -> list[int]:
    """The numbers of the pull requests of a site, each of which is there as a whole."""
    listed = git(Path(site), "for-each-ref", "--format=%(refname)", "refs/pull", "refs/holdfast").splitlines()
    heads = sorted(int(name.split("/")[2]) for name in listed if name.startswith("refs/pull/"))
    records = sorted(int(name.split("/")[3]) for name in listed if name.startswith("refs/holdfast/"))
    assert heads == records
    return heads
