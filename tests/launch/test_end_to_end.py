"""Whole runs on real libraries and on this repository: from `init` to a pull request whose tree builds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.launch.libraries import LIBRARIES, Library, clone_of_this_repository, fetched
from tests.launch.page_checks import broken_links, stating_lines, unfounded
from tests.launch.products import git, make_site

from holdfast.launch.service import RunService
from holdfast.launch.workspace import Workspace

pytestmark = [pytest.mark.xdist_group("launch-e2e"), pytest.mark.timeout(240)]

_PRODUCTS: tuple[Library | None, ...] = (*LIBRARIES, None)
_BASE = "https://launch.example"
_LEAST_PAGES = 9
_LEAST_LINES = 50


class Launched(NamedTuple):
    """A run that is ready for its pull request."""

    root: Path
    slug: str
    run_id: str
    report: dict[str, Any]
    evidence: dict[str, Any]

    @property
    def content(self) -> Path:
        return self.root / "runs" / "runs" / self.run_id / "work" / "site" / "content"


def holdfast(root: Path, *arguments: str) -> str:
    """What a command of `holdfast launch` prints; it must succeed."""
    environment = {**os.environ, "HOLDFAST_LAUNCH_DIR": str(root / "runs")}
    command = [sys.executable, "-m", "holdfast", "launch", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def built(site: Path, public: Path) -> Path:
    """The site as Hugo makes it, warnings being errors."""
    hugo = str(Path(sys.executable).with_name("hugo"))
    command = [hugo, "build", "--source", str(site), "--destination", str(public), "--panicOnWarning"]
    done = subprocess.run([*command, "--baseURL", _BASE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return public


@pytest.fixture(
    scope="module", params=_PRODUCTS, ids=[one.name if one else "this_repository" for one in _PRODUCTS]
)
def launched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Launched:
    library: Library | None = request.param
    slug = library.name if library else "holdfast"
    root = tmp_path_factory.mktemp(slug)
    if library:
        fetched(library, Path(request.config.cache.mkdir("launch-libraries")), root / slug)
    else:
        clone_of_this_repository(root / slug)
    make_site(root / "site")
    text = holdfast(root, "init", str(root / slug), str(root / "site"))
    assert "launch_tier" not in text
    (root / "run.yaml").write_text(text + ("" if library else "launch_tier: minimal\n"), encoding="utf-8")
    run_id = holdfast(root, "start", str(root / "run.yaml"), "--quiet").split()[0]
    with RunService(Workspace(root / "runs", f"sqlite:///{root / 'runs' / 'runs.sqlite'}")) as service:
        names = ("validation_report.json", "evidence_map.json")
        report, evidence = (json.loads(service.artifact(run_id, name)["content"]) for name in names)
    return Launched(root, slug, run_id, report, evidence)


def test_every_gate_passes_and_hugo_is_one_of_them(launched: Launched) -> None:
    gates = {gate["name"]: gate["status"] for gate in launched.report["gates"]}
    assert launched.report["ok"] is True
    assert {gates[name] for name in ("hugo_build", "internal_links", "markdown_lint", "truthlock")} == {"passed"}


def test_no_file_or_folder_of_the_run_is_open_to_other_users(launched: Launched) -> None:
    root = launched.root / "runs"
    found = [path for path in [root, *root.rglob("*")] if not path.is_symlink() and path.stat().st_mode & 0o077]

    assert {path.name for path in root.iterdir()} >= {"objects", "runs", "services"}
    assert found == []


def test_there_are_pages_in_every_section_and_none_has_a_sentence_as_its_address(launched: Launched) -> None:
    pages = sorted(launched.content.glob(f"*/{launched.slug}/**/*.md"))
    assert {page.relative_to(launched.content).parts[0] for page in pages} == {
        "products", "docs", "reference", "kb", "blog",
    }  # fmt: skip
    assert len(pages) >= _LEAST_PAGES
    assert [page.name for page in pages if len(page.stem) > 60] == []


def test_every_line_that_states_something_leads_to_lines_of_the_product_that_speak_of_it(
    launched: Launched,
) -> None:
    pages = sorted(launched.content.glob(f"*/{launched.slug}/**/*.md"))
    lines = [line for page in pages for line in stating_lines(page)]
    assert len(lines) >= _LEAST_LINES
    assert unfounded(iter(lines), launched.evidence, launched.root / launched.slug) == []


def test_no_residue_of_the_sources_is_on_a_page(launched: Launched) -> None:
    residue = (":param", ".. version", ">>> ", ":class:`", ":func:`", "&lt;sup", "\\`", "badge", "{{")
    found = [
        (page.name, line.text)
        for page in sorted(launched.content.glob(f"*/{launched.slug}/**/*.md"))
        for line in stating_lines(page)
        if any(word in line.text for word in residue)
    ]
    assert found == []


def test_the_pull_request_is_one_commit_whose_tree_builds_without_a_broken_link(
    launched: Launched, tmp_path: Path
) -> None:
    answer = json.loads(holdfast(launched.root, "open-pr", launched.run_id, "--json"))
    site, branch = launched.root / "site", f"launch/{launched.run_id}/{launched.slug}"
    assert answer["branch"] == branch
    assert git(site, "rev-list", f"HEAD..{branch}").split() == [answer["commit_sha"]]
    git(site, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), branch)
    public = built(tmp_path / "tree", tmp_path / "public")
    assert len(list(public.glob(f"*/{launched.slug}/**/index.html"))) >= _LEAST_PAGES
    assert broken_links(public, launched.slug, _BASE) == []
    assert (public / "products" / launched.slug / "index.html").is_file()
