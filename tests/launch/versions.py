"""Two versions of a product on one site: a run, its pages merged, edits by people, a run of the next version."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.launch.products import commit_all, git, make_product, make_site, run_config
from tests.launch.tablekit_sources import TABLEKIT

from holdfast.launch.service import RunService
from holdfast.launch.workspace import Workspace

__all__ = ["SECTIONS", "Version", "Versions", "launch", "next_version", "pages_of", "two_versions"]

SECTIONS = ["docs", "kb"]
_CODE = "src/tablekit/__init__.py"
_README = {
    "tablekit requires Python 3.10 or newer.": "tablekit requires Python 3.11 or newer.",
    "by one or more key columns.": "by one or more key columns, in any order.",
    "- Joins hold the right table in memory.": "- Joins hold the smaller table in memory.",
    "files is not supported.": "files is not supported.\n- Reading XML files is not supported.",
    'print(len(joined))': 'print(joined.columns)',
}  # fmt: skip
_PYPROJECT = {
    '"1.4.0"': '"1.5.0"',
    ">=3.10": ">=3.11",
    '  "Programming Language :: Python :: 3.10",\n': "",
    '"python-dateutil>=2.8"': '"python-dateutil>=2.8", "colorama>=0.4"',
}


@dataclass(frozen=True)
class Version:
    """One run: its workspace, its id, what `open-pr` answered, and what it would write."""

    workspace: Workspace
    run_id: str
    config: dict[str, Any]
    answer: dict[str, Any]
    drafts: dict[str, str]
    documents: dict[str, Any]


@dataclass(frozen=True)
class Versions:
    """Both runs, each in a workspace of its own as if on another machine; `edited` is the site between them."""

    site: Path
    first: Version
    second: Version
    edited: dict[str, str]


def next_version() -> dict[str, bytes]:
    """The files of tablekit 1.5.0 that differ from 1.4.0."""
    files = {name: TABLEKIT[name].decode() for name in ("README.md", "pyproject.toml", "CHANGELOG.md", _CODE)}
    for old, new in _README.items():
        assert old in files["README.md"], old
        files["README.md"] = files["README.md"].replace(old, new)
    for old, new in _PYPROJECT.items():
        assert old in files["pyproject.toml"], old
        files["pyproject.toml"] = files["pyproject.toml"].replace(old, new)
    files[_CODE] = files[_CODE].replace("1.4.0", "1.5.0")
    news = "## 1.5.0 - 2024-08-01\n\n- Added `Table.columns`.\n\n## 1.4.0 -"
    files["CHANGELOG.md"] = files["CHANGELOG.md"].replace("## 1.4.0 -", news)
    return {path: text.encode() for path, text in files.items()}


def launch(folder: Path, config: Mapping[str, Any]) -> Version:
    """A whole run in a workspace of its own."""
    workspace = Workspace(folder, f"sqlite:///{folder / 'runs.sqlite'}")
    with RunService(workspace) as service:
        run, _ = service.start(dict(config), drive=False)
        done = service.engine.perform("drive", run.run_id)
        assert done == {"state": "READY_FOR_PR"}, (
            service.run(run.run_id).failure,
            service.open_issues(run.run_id),
        )
        answer = service.open_pr(run.run_id)
        names = service.store.artifacts(run.run_id)
        texts = {
            name: service.artifact(run.run_id, name)["content"] for name in names if name.startswith("drafts/")
        }
        told = ("page_plan.json", "patch_bundle.json", "update_report.json", "validation_report.json", "pr.json")
        documents = {
            name: json.loads(service.artifact(run.run_id, name)["content"]) for name in told if name in names
        }
    paths = {page["page_id"]: page["output_path"] for page in documents["page_plan.json"]["pages"]}
    drafts = {paths[name.removeprefix("drafts/").removesuffix(".md")]: text for name, text in texts.items()}
    return Version(workspace, run.run_id, dict(config), answer, drafts, documents)


def pages_of(site: Path, ref: str = "HEAD") -> dict[str, str]:
    """The product's files on the site at a commit, by path."""
    names = git(site, "ls-tree", "-r", "--name-only", ref, "content").split("\n")
    return {name: git(site, "show", f"{ref}:{name}") for name in names if "/tablekit/" in name}


def two_versions(folder: Path, edit: Callable[[Path], None]) -> Versions:
    """`edit` is given the site with the merged pages of the first version, and does what people do."""
    product, site = folder / "product", folder / "site"
    config = run_config(product, make_product(product), site, make_site(site), required_sections=SECTIONS)
    first = launch(folder / "one", config)
    git(site, "merge", "--quiet", "--no-ff", "--message", "Merge", first.answer["branch"])
    edit(site)
    edited = pages_of(site, commit_all(site, "By hand"))
    for path, content in next_version().items():
        (product / path).write_bytes(content)
    commits = {"github_ref": commit_all(product, "1.5.0"), "site_ref": git(site, "rev-parse", "HEAD")}
    return Versions(site, first, launch(folder / "two", config | commits), edited)
