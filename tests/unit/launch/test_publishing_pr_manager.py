"""The worker that opens the pull request: its words, its record, and that a repeat changes nothing."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import git, run_config
from tests.launch.publishing_requests import PAGE, RUN, branches, bundle_of, make_bare_site, pull_numbers

from holdfast.errors import ToolError
from holdfast.launch.documents import encode, sha256
from holdfast.launch.http_service import Reply, application, running
from holdfast.launch.publishing import pr_manager
from holdfast.launch.publishing.bare_forge import BareForge
from holdfast.launch.publishing.http import make_app
from holdfast.launch.publishing.pr_text import changes_of, filled, pull_request_body
from holdfast.launch.publishing.service import CommitService
from holdfast.launch.work import Given, Workplace

CLAIM = "clm_0123456789abcdef"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    address, sha = make_bare_site(tmp_path_factory.mktemp("site") / "site.git")
    return Path(address), sha


@pytest.fixture
def site(template: tuple[Path, str], tmp_path: Path) -> tuple[str, str]:
    shutil.copytree(template[0], tmp_path / "site.git")
    return str(tmp_path / "site.git"), template[1]


def page(path: str, title: str) -> dict[str, Any]:
    return {
        "page_id": "docs/install", "section": "docs", "slug": "install", "output_path": path,
        "url_path": "/docs/tablekit/install/", "title": title, "purpose": "Install it",
        "page_role": "workflow_page", "template": "install",
        "required_headings": [], "required_claim_ids": [], "required_snippet_ids": [],
        "required_snippet_tags": [], "cross_links": [], "weight": 1,
    }  # fmt: skip


def artifacts(base: str) -> dict[str, Any]:
    facts = {
        "schema_version": "1.0", "product_name": "tablekit", "product_slug": "tablekit", "repo_url": "/product",
        "repo_sha": "a" * 40,
        "positioning": {"tagline": "Tables", "short_description": "Tables.", "claim_ids": []},
        "supported_platforms": [], "supported_formats": [], "workflows": [], "api_symbols": [],
        "example_inventory": [],
        "claims": [{"claim_id": CLAIM, "claim_text": "x", "claim_kind": "install", "truth_status": "fact"}],
        "claim_groups": {
            name: [] for name in (
                "key_features", "install_steps", "quickstart_steps", "workflow_claims", "limitations",
                "compatibility_notes",
            )
        },
        "api_surface_summary": {"modules": [], "classes": [], "functions": []},
    }  # fmt: skip
    gates = [
        {"name": "schema", "ok": True, "status": "passed"},
        {"name": "external_links", "ok": True, "status": "skipped", "reason": "not in | this profile"},
    ]
    return {
        "product_facts": facts,
        "page_plan": {
            "schema_version": "1.0", "product_slug": "tablekit", "launch_tier": "standard",
            "pages": [page(PAGE, "Install | *tablekit*")],
        },
        "validation_report": {
            "schema_version": "1.0", "ok": True, "profile": "local", "gates": gates, "issues": [],
        },
        "patch_bundle": bundle_of(base, {PAGE: "# Install\n", "content/docs/tablekit/b.md": "# B\n"}),
    }  # fmt: skip


def workplace(folder: Path, site: tuple[str, str], endpoint: str = "embedded:", **changes: Any) -> Workplace:
    """A place for the worker; `changes` replace artifacts."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out").mkdir(parents=True)
    given = {}
    for name, document in (artifacts(site[1]) | changes).items():
        content = encode(name, document)
        (folder / name).write_bytes(content)
        given[f"{name}.json"] = Given(folder / name, sha256(content), name)
    service = {
        "endpoint_url": endpoint, "github_token_env": "LAUNCH_TOKEN",
        "commit_message_template": "Launch {product_name} {0} {run_id.__class__}",
        "commit_body_template": "{run_id} {github_ref}",
    }  # fmt: skip
    config = run_config(Path("/product"), "a" * 40, Path(site[0]), site[1], commit_service=service)
    about = {"started_at": "2026-01-21T10:00:00.000000Z", "service_root": str(folder.parent / "services")}
    return Workplace(RUN, "pr_manager", "run", 1, config, folder, folder / "out", given, about)


def pr_of(place: Workplace) -> Any:
    pr_manager.work(place)
    place.given = {**place.given, "pr.json": Given(place.made["pr.json"].path, place.made["pr.json"].sha256, "pr")}
    return place.read("pr.json")


def test_the_record_says_what_was_opened_and_how_to_take_it_back(site: tuple[str, str], tmp_path: Path) -> None:
    pr = pr_of(workplace(tmp_path / "run", site))
    branch = f"launch/{RUN}/tablekit"
    assert branches(site[0]) == {branch: pr["commit_shas"][0]}
    assert (pr["branch_name"], pr["base_ref"], pr["pr_number"]) == (branch, site[1], 1)
    assert pr["pr_url"] == f"file://{site[0]}#pull/1"
    assert pr["affected_paths"] == ["content/docs/tablekit/b.md", PAGE]
    assert pr["validation_summary"] == {"ok": True, "profile": "local", "gates_passed": 1, "gates_total": 2}
    assert pr["commit_shas"][0] in pr["rollback_steps"][1]
    message = git(Path(site[0]), "show", "-s", "--format=%B", branch)
    assert message == f"Launch tablekit {{0}} {{run_id.__class__}}\n\n{RUN} {'a' * 40}"


def test_the_body_has_pages_evidence_gates_and_the_way_back(site: tuple[str, str], tmp_path: Path) -> None:
    body = pr_of(workplace(tmp_path / "run", site))["pr_body"]
    assert "| docs | Install \\| \\*tablekit\\* | `/docs/tablekit/install/` |" in body
    assert "- `content/docs/tablekit/b.md`: created" in body
    assert "Claims found in the repository: 1 (facts: 1, inferences: 0)." in body
    assert "| `external_links` | skipped | not in \\| this profile |" in body
    assert "1. Not merged yet: close the pull request" in body


def test_a_repeat_gives_the_same_record_and_one_pull_request(site: tuple[str, str], tmp_path: Path) -> None:
    first = workplace(tmp_path / "one", site)
    again = workplace(tmp_path / "two", site)
    assert pr_of(first) == pr_of(again)
    assert first.made["pr.json"].sha256 == again.made["pr.json"].sha256
    assert pull_numbers(site[0]) == [1]


def dies_at(step: str, text: str) -> None:
    if text == step:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("step", ["opening the pull request", "the pull request is open"])
def test_killed_after_a_step_the_repeat_gives_the_same_record(
    site: tuple[str, str], tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Workplace, "progress", lambda _, done, total, text: dies_at(step, text))
        child = os.fork()
        if child == 0:
            try:
                pr_manager.work(workplace(tmp_path / "run", site))
            finally:
                os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    pr = pr_of(workplace(tmp_path / "run", site))
    assert (branches(site[0]), pull_numbers(site[0])) == ({pr["branch_name"]: pr["commit_shas"][0]}, [1])


def test_opened_and_then_validated_again_it_is_the_same_pull_request(
    site: tuple[str, str], tmp_path: Path
) -> None:
    first = pr_of(workplace(tmp_path / "run", site))
    report = artifacts(site[1])["validation_report"] | {"profile": "ci"}
    again = pr_of(workplace(tmp_path / "run", site, validation_report=report))
    assert (again["pr_url"], again["commit_shas"]) == (first["pr_url"], first["commit_shas"])
    assert pull_numbers(site[0]) == [1]


def test_a_run_over_http_gives_the_record_of_one_in_process(
    site: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAUNCH_TOKEN", "t0ken")
    with running(make_app(CommitService(tmp_path / "service", BareForge()), "t0ken")) as url:
        over_http = pr_of(workplace(tmp_path / "one", site, url))
    assert over_http == pr_of(workplace(tmp_path / "two", site))


def failure(place: Workplace) -> ToolError:
    with pytest.raises(ToolError) as caught:
        pr_manager.work(place)
    assert place.made == {}
    return caught.value


def test_nothing_to_change_is_no_pull_request(site: tuple[str, str], tmp_path: Path) -> None:
    old = bundle_of(site[1], {"content/docs/tablekit/old.md": "---\ntitle: Old\n---\n# Old\n\nText.\n"})
    for bundle in (bundle_of(site[1], {}), old):
        told = failure(workplace(tmp_path / "run", site, patch_bundle=bundle))
        assert (told.code, told.details["reason"], told.retryable) == ("ILLEGAL_STATE", "no_changes", False)
    assert pull_numbers(site[0]) == []


def test_a_run_whose_gates_failed_is_not_published(site: tuple[str, str], tmp_path: Path) -> None:
    report = artifacts(site[1])["validation_report"] | {"ok": False}
    told = failure(workplace(tmp_path / "run", site, validation_report=report))
    assert (told.code, told.details["reason"]) == ("ILLEGAL_STATE", "not_validated")


def test_a_bundle_outside_the_fence_is_not_published(site: tuple[str, str], tmp_path: Path) -> None:
    told = failure(workplace(tmp_path / "run", site, patch_bundle=bundle_of(site[1], {"layouts/x.html": "x"})))
    assert (told.code, told.retryable) == ("ALLOWED_PATHS_VIOLATION", False)


def test_a_service_that_names_no_files_is_not_believed(site: tuple[str, str], tmp_path: Path) -> None:
    routes = [("POST", "/v1/commit", lambda _: Reply(200, {"commit_sha": "a" * 40, "affected_paths": []}))]
    with running(application(routes, token=None)) as url:
        told = failure(workplace(tmp_path / "run", site, url))
    assert told.code == "COMMIT_SERVICE_ERROR"


def test_templates_are_filled_once_and_with_known_names_only() -> None:
    values = {"product_name": "{run_id}", "run_id": "r_1"}
    assert filled("{product_name} {run_id} {other} {{run_id}} {product_name.x}", values) == (
        "{run_id} r_1 {other} {r_1} {product_name.x}"
    )


def test_a_file_is_created_updated_or_deleted() -> None:
    kinds = {
        "a": ["create_file", "update_by_anchor"],
        "b": ["update_by_anchor"],
        "c": ["update_by_anchor", "delete_file"],
    }
    patches = [{"path": path, "type": kind} for path, listed in kinds.items() for kind in listed]
    assert changes_of({"patches": patches}, "abc") == {"a": "created", "b": "updated", "c": "deleted"}


def test_a_body_of_very_many_pages_is_cut_at_a_line() -> None:
    values = {"product_name": "p", "github_repo_url": "u", "github_ref": "a" * 40, "run_id": RUN}
    plan = {"pages": [page(f"{number}-{'x' * 900}", "T") for number in range(1000)]}
    changes = {one["output_path"]: "created" for one in plan["pages"]}
    report = {"issues": [], "gates": [], "profile": "ci"}
    body = pull_request_body(values, plan, {"claims": []}, report, changes, ["Revert it."])
    assert len(body) <= 60_000
    assert body.endswith("\n(shortened: the rest is in the artifacts of the run)\n")
