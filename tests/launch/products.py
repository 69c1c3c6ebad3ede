"""A product and a website as git repositories with fixed dates, and the configuration of a run on both."""

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.launch.site_sources import site_files
from tests.launch.tablekit_sources import TABLEKIT

__all__ = ["SECTIONS", "commit_all", "git", "make_product", "make_repository", "make_site", "run_config"]

SECTIONS = ("products", "docs", "reference", "kb", "blog")
_NOBODY = {"NAME": "Ana Example", "EMAIL": "ana@example.com", "DATE": "2024-05-01T12:00:00+00:00"}


def git(root: Path, *arguments: str, stdin: bytes | None = None) -> str:
    """What git prints, with fixed people and dates and no configuration of this machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    people = {f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in _NOBODY.items()}
    done = subprocess.run(
        ["git", "-C", str(root), "-c", "init.defaultBranch=main", "-c", "core.autocrlf=false", *arguments],
        env=kept | people | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        input=stdin, check=True, capture_output=True,
    )  # fmt: skip
    return os.fsdecode(done.stdout).strip()


def make_repository(path: Path, files: Mapping[str, bytes]) -> str:
    """A repository with these files in one commit; its sha. What many tests ask for is made once and copied."""
    made, sha = _made(tuple(files.items()))
    shutil.copytree(made, path, symlinks=True)
    return sha


@functools.cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="holdfast-repositories-", ignore_cleanup_errors=True)


@functools.lru_cache(maxsize=32)
def _made(files: tuple[tuple[str, bytes], ...]) -> tuple[Path, str]:
    path = Path(tempfile.mkdtemp(dir=_folder().name)) / "made"
    path.mkdir()
    git(path, "init", "--quiet")
    for name, content in files:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path, commit_all(path, "first")


def commit_all(path: Path, message: str = "change") -> str:
    """Commit whatever is in the work tree; the sha."""
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(path, "rev-parse", "HEAD")


def make_product(path: Path) -> str:
    """A small but realistic Python library, `tablekit`; its sha."""
    return make_repository(path, TABLEKIT)


def make_site(path: Path, pages: int = 6) -> str:
    """A plain Hugo site with layouts, five sections and some pages of another product; its sha."""
    return make_repository(path, site_files(pages))


def run_config(product: Path, product_sha: str, site: Path, site_sha: str, **changes: Any) -> dict[str, Any]:
    """A whole configuration for a run of tablekit on the site; `changes` replace fields at the top."""
    config: dict[str, Any] = {
        "schema_version": "1.0",
        "product_slug": "tablekit",
        "product_name": "tablekit",
        "family": "tables",
        "github_repo_url": str(product.absolute()),
        "github_ref": product_sha,
        "site_repo_url": str(site.absolute()),
        "site_ref": site_sha,
        "required_sections": list(SECTIONS),
        "site_layout": {
            "content_root": "content",
            "subdomain_roots": {section: f"content/{section}" for section in SECTIONS},
            "localization": {"mode_by_section": dict.fromkeys(SECTIONS, "none")},
        },
        "allowed_paths": [f"content/{section}/tablekit/" for section in SECTIONS],
        "llm": {"api_base_url": "none:", "model": "none", "decoding": {"temperature": 0}},
        "mcp": {"enabled": True, "listen_host": "127.0.0.1", "listen_port": 0},
        "telemetry": {"endpoint_url": "embedded:", "project": "launch-tests"},
        "commit_service": {
            "endpoint_url": "embedded:",
            "github_token_env": "LAUNCH_TOKEN",
            "commit_message_template": "Launch {product_name}",
            "commit_body_template": "Run {run_id}.",
        },
        "templates_version": "1",
        "ruleset_version": "1",
        "allow_inference": False,
        "max_fix_attempts": 3,
        "budgets": {
            "max_runtime_s": 600,
            "max_llm_calls": 0,
            "max_llm_tokens": 0,
            "max_file_writes": 200,
            "max_patch_attempts": 50,
            "max_lines_per_file": 2000,
            "max_files_changed": 200,
        },
        "target_platform": "python",
        "locale": "en",
    }
    return config | changes
