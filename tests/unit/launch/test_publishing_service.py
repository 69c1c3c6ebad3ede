"""The commit service: what it commits, what it refuses, and that asking twice is asking once."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import commit_all, git
from tests.launch.publishing_requests import (
    PAGE,
    branches,
    bundle_of,
    commit_request,
    create,
    make_bare_site,
    open_request,
    pull_numbers,
)

from holdfast.launch.publishing.bare_forge import BareForge
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.service import CommitService


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("site")
    address, sha = make_bare_site(folder / "site.git")
    return Path(address), sha


@pytest.fixture
def site(template: tuple[Path, str], tmp_path: Path) -> tuple[str, str]:
    shutil.copytree(template[0], tmp_path / "site.git")
    return str(tmp_path / "site.git"), template[1]


@pytest.fixture
def service(tmp_path: Path) -> CommitService:
    return CommitService(tmp_path / "service", BareForge())


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> CommitService:
    """A service that is only asked for what it refuses."""
    return CommitService(tmp_path_factory.mktemp("service"), BareForge())


def refusal_of(service: CommitService, request: dict[str, Any]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        service.commit(request)
    return caught.value


def test_a_commit_has_the_files_of_the_bundle_on_top_of_the_base_and_nobody_sees_it(
    service: CommitService, site: tuple[str, str]
) -> None:
    address, base = site
    made = service.commit(commit_request(address, base))
    assert made["affected_paths"] == [PAGE]
    assert branches(address) == {}
    assert pull_numbers(address) == []


def test_opening_makes_branch_and_pull_request_with_the_commit(
    service: CommitService, site: tuple[str, str]
) -> None:
    address, base = site
    made = service.commit(commit_request(address, base))
    opened = service.open_pr(open_request(made, address))
    assert branches(address) == {made["branch_name"]: made["commit_sha"]}
    assert (opened["pr_number"], opened["pr_url"]) == (1, f"file://{address}#pull/1")
    assert git(Path(address), "show", f"{made['commit_sha']}:{PAGE}") == "# Install"
    assert git(Path(address), "rev-parse", f"{made['commit_sha']}^") == base
    shown = git(Path(address), "show", "-s", "--format=%an|%ae|%cn|%at|%ct|%B", made["commit_sha"])
    assert shown.startswith("Launch|launch@example.com|Launch|1768989600|1768989600|Launch tablekit\n\nRun r_2026")


def test_two_machines_make_the_same_commit(
    site: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, base = site
    one = CommitService(tmp_path / "one", BareForge()).commit(commit_request(address, base))
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[i18n]\ncommitEncoding=latin1\n[commit]\ngpgSign=true\n[core]\nautocrlf=true\n[user]\nname=X\n", "utf-8"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    two = CommitService(tmp_path / "two", BareForge()).commit(commit_request(f"file://{address}", base))
    assert one["commit_sha"] == two["commit_sha"]


def test_a_repeat_gives_the_first_answer_and_another_body_under_the_key_is_refused(
    service: CommitService, site: tuple[str, str]
) -> None:
    address, base = site
    first = service.answer("commit", commit_request(address, base))
    again = service.answer("commit", commit_request(address, base))
    assert (first.is_repeat, again.is_repeat) == (False, True)
    assert first.document == again.document
    assert (
        refusal_of(service, commit_request(address, base, commit_message="Other")).code == "IDEMPOTENCY_KEY_REUSED"
    )
    opened = service.open_pr(open_request(first.document, address))
    assert service.open_pr(open_request(first.document, address)) == opened
    assert pull_numbers(address) == [1]


def test_modes_stay_files_are_changed_and_deleted(service: CommitService, site: tuple[str, str]) -> None:
    address, base = site
    old, script = "content/docs/tablekit/old.md", "content/docs/tablekit/run.sh"
    patches = [
        {"patch_id": "patch_001", "type": "update_file_range", "path": script, "start_line": 1, "end_line": 1,
         "new_content": "echo 2\n", "content_hash": _sha256("echo 2\n"),
         "expected_before_hash": _sha256("echo\n")},
        {"patch_id": "patch_002", "type": "delete_file", "path": old, "content_hash": _sha256(""),
         "expected_before_hash": _sha256("---\ntitle: Old\n---\n# Old\n\nText.\n")},
    ]  # fmt: skip
    bundle = {"schema_version": "1.0", "base_ref": base, "patches": patches}
    made = service.commit(commit_request(address, base, bundle=bundle))
    service.open_pr(open_request(made, address))
    changed = git(Path(address), "diff-tree", "-r", "--no-renames", base, made["commit_sha"]).splitlines()
    assert [(line[:15], line.split("\t")[1]) for line in changed] == [
        (":100644 000000 ", old),
        (":100755 100755 ", script),
    ]


HOSTILE = {
    "traversal": "content/docs/tablekit/../../../x.md",
    "absolute": "/etc/x.md",
    "git folder": "content/docs/tablekit/.git/hooks/x",
    "git folder in capitals": "content/docs/tablekit/.GIT/config",
    "git short name": "content/docs/tablekit/GIT~1/config",
    "hidden character": "content/docs/tablekit/.g\u200cit/config",
    "backslash": "content\\docs\\tablekit\\x.md",
    "prefix": "content/docs/tablekitten/x.md",
    "outside": "layouts/x.html",
    "newline": "content/docs/tablekit/a\nb.md",
    "through a link": "content/docs/tablekit/link/hugo.toml",
    "a link itself": "content/docs/tablekit/link",
    "case of a file": "content/docs/tablekit/OLD.md",
    "case of a folder": "content/docs/Tablekit/x.md",
    "device": "content/docs/tablekit/con.md",
}


@pytest.mark.requirement("OURS-25-fence")
@pytest.mark.parametrize("path", HOSTILE.values(), ids=HOSTILE)
def test_a_path_that_leads_elsewhere_is_refused(
    shared: CommitService, template: tuple[Path, str], path: str
) -> None:
    address, base = str(template[0]), template[1]
    allowed = ["content/docs/tablekit/", "content/docs/Tablekit/"]
    bundle = bundle_of(base, {PAGE: "fine\n", path: "x\n"})
    refused = refusal_of(shared, commit_request(address, base, bundle=bundle, allowed_paths=allowed))
    assert (refused.code, refused.status) == ("PATH_NOT_ALLOWED", 403)
    assert refused.details["reason"] in ("outside_fence", "leads_elsewhere")


def test_two_new_files_that_differ_by_case_are_refused(shared: CommitService, template: tuple[Path, str]) -> None:
    base = template[1]
    bundle = bundle_of(base, {"content/docs/tablekit/new.md": "a\n", "content/docs/tablekit/NEW.md": "b\n"})
    assert refusal_of(shared, commit_request(str(template[0]), base, bundle=bundle)).status in (403, 409)


@pytest.mark.parametrize("text", ["a\0b", "\ud800"], ids=["NUL", "lone surrogate"])
def test_what_is_no_text_is_refused(shared: CommitService, template: tuple[Path, str], text: str) -> None:
    bundle = bundle_of(template[1], {PAGE: text})
    assert refusal_of(shared, commit_request(str(template[0]), template[1], bundle=bundle)).status in (
        400,
        403,
        409,
    )


def test_a_request_of_more_megabytes_than_allowed_is_refused_by_its_size(
    shared: CommitService, template: tuple[Path, str]
) -> None:
    bundle = bundle_of(template[1], {PAGE: "x" * 34_000_000})
    refused = refusal_of(shared, commit_request(str(template[0]), template[1], bundle=bundle))
    assert (refused.code, refused.status) == ("REQUEST_TOO_LARGE", 413)


def test_a_bundle_that_conflicts_or_changes_nothing_is_refused(
    shared: CommitService, template: tuple[Path, str]
) -> None:
    address, base = str(template[0]), template[1]
    old = "content/docs/tablekit/old.md"
    conflict = refusal_of(shared, commit_request(address, base, bundle=bundle_of(base, {old: "other\n"})))
    assert (conflict.code, conflict.status) == ("PATCH_CONFLICT", 409)
    assert conflict.details["conflicts"][0]["kind"] == "file_exists"
    same = bundle_of(base, {old: "---\ntitle: Old\n---\n# Old\n\nText.\n"})
    assert refusal_of(shared, commit_request(address, base, bundle=same)).code == "NO_CHANGES"
    assert refusal_of(shared, commit_request(address, base, bundle=bundle_of(base, {}))).code == "NO_CHANGES"


WRONG: dict[str, dict[str, Any]] = {
    "unknown field": {"colour": "red"},
    "key": {"idempotency_key": "1"},
    "short base": {"base_ref": "abc"},
    "no paths": {"allowed_paths": []},
    "odd path": {"allowed_paths": ["../"]},
    "branch of another run": {"branch_name": "launch/r_another_run/tablekit"},
    "branch elsewhere": {"branch_name": "main"},
    "no such day": {"created_at": "2026-02-31T10:00:00.000000Z"},
    "before the epoch": {"created_at": "1926-02-01T10:00:00.000000Z"},
    "author of dots": {"author_name": ".,"},
    "author with a bracket": {"author_name": "A <b>"},
    "blank message": {"commit_message": " \n "},
    "NUL in the message": {"commit_message": "a\0b"},
    "program as address": {"repo_url": "ext::sh -c true"},
    "option as address": {"repo_url": "--upload-pack=touch x"},
    "relative address": {"repo_url": "site.git"},
    "bundle": {"patch_bundle": {"patches": "all"}},
    "bundle of another base": {"patch_bundle": bundle_of("b" * 40, {PAGE: "x\n"})},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_a_request_that_makes_no_sense_is_refused(
    shared: CommitService, template: tuple[Path, str], changes: dict[str, Any]
) -> None:
    refused = refusal_of(shared, commit_request(str(template[0]), template[1], **changes))
    assert (refused.code, refused.status) == ("INVALID_REQUEST", 400)


def test_two_patches_of_one_id_are_refused(shared: CommitService, template: tuple[Path, str]) -> None:
    base = template[1]
    patches = [create(PAGE, "a\n"), create("content/docs/tablekit/b.md", "b\n")]
    bundle = {"schema_version": "1.0", "base_ref": base, "patches": patches}
    assert refusal_of(shared, commit_request(str(template[0]), base, bundle=bundle)).code == "INVALID_REQUEST"


def test_a_base_that_history_no_longer_has_is_refused_at_both_steps(
    service: CommitService, site: tuple[str, str]
) -> None:
    address, base = site
    made = service.commit(commit_request(address, base))
    tree = git(Path(address), "rev-parse", f"{base}^{{tree}}")
    git(Path(address), "update-ref", "refs/heads/main", git(Path(address), "commit-tree", tree, "-m", "rewritten"))
    with pytest.raises(Refusal) as caught:
        service.open_pr(open_request(made, address))
    assert (caught.value.code, caught.value.status) == ("BASE_MOVED", 409)
    key: dict[str, Any] = {"idempotency_key": "00000000-0000-4000-8000-000000000000"}
    assert refusal_of(service, commit_request(address, base, **key)).details["reason"] == "rewritten"
    careless = service.commit(commit_request(address, base, require_clean_base=False, **key))
    assert careless["commit_sha"] == made["commit_sha"]
    assert service.open_pr(open_request(made, address, require_clean_base=False))["pr_number"] == 1


def test_a_base_that_was_never_there_is_refused(shared: CommitService, template: tuple[Path, str]) -> None:
    request = commit_request(str(template[0]), "a" * 40, bundle=bundle_of("a" * 40, {PAGE: "x\n"}))
    refused = refusal_of(shared, request)
    assert (refused.code, refused.details["reason"]) == ("BASE_MOVED", "not_found")


def test_a_base_with_newer_commits_above_it_is_fine(
    service: CommitService, site: tuple[str, str], tmp_path: Path
) -> None:
    address, base = site
    git(tmp_path, "clone", "--quiet", address, "clone")
    (tmp_path / "clone" / "new.txt").write_text("x", "utf-8")
    commit_all(tmp_path / "clone")
    git(tmp_path / "clone", "push", "--quiet", "origin", "main")
    made = service.commit(commit_request(address, base))
    assert service.open_pr(open_request(made, address))["pr_number"] == 1


def test_a_repository_with_a_work_tree_gets_its_pull_request_too(
    service: CommitService, site: tuple[str, str], tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", site[0], "clone")
    address = str(tmp_path / "clone")
    made = service.commit(commit_request(address, site[1]))
    opened = service.open_pr(open_request(made, address))
    assert branches(address) == {made["branch_name"]: made["commit_sha"]}
    assert opened["pr_url"].endswith("clone#pull/1")
    assert git(tmp_path / "clone", "status", "--porcelain") == ""


def test_a_shallow_site_can_be_published_on(service: CommitService, site: tuple[str, str], tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "--depth=1", f"file://{site[0]}", "shallow.git")
    address = str(tmp_path / "shallow.git")
    made = service.commit(commit_request(address, site[1]))
    assert service.open_pr(open_request(made, address))["pr_number"] == 1


def test_only_commits_of_this_service_for_this_branch_are_published(
    service: CommitService, site: tuple[str, str]
) -> None:
    address, base = site
    made = service.commit(commit_request(address, base))
    for changes in (
        {"commit_sha": base},
        {"base_ref": "a" * 40},
        {"branch_name": f"launch/{made['run_id']}/other"},
    ):
        with pytest.raises(Refusal) as caught:
            service.open_pr(open_request(made, address, **changes))
        assert (caught.value.code, caught.value.status) == ("COMMIT_NOT_FOUND", 404)
    assert branches(address) == {}


def test_a_remote_that_is_not_there_is_told_without_its_secrets(service: CommitService) -> None:
    address = "http://robot:s3cr3t-t0ken@127.0.0.1:1/site.git?access=hidden1"
    refused = refusal_of(service, commit_request(address, "a" * 40, bundle=bundle_of("a" * 40, {})))
    assert (refused.code, refused.status) == ("REMOTE_UNREACHABLE", 502)
    for secret in ("s3cr3t-t0ken", "robot", "hidden1"):
        assert secret not in f"{refused}{refused.details}"
    too_long = refusal_of(service, commit_request(address + "x" * 2000, "a" * 40))
    assert "s3cr3t" not in f"{too_long}{too_long.details}"


def test_a_broken_mirror_is_made_anew_and_a_lost_commit_made_again(
    service: CommitService, site: tuple[str, str], tmp_path: Path
) -> None:
    address, base = site
    first = service.commit(commit_request(address, base))
    (mirror,) = (tmp_path / "service" / "mirrors").glob("*.git")
    shutil.rmtree(mirror / "objects")
    (mirror / "objects").mkdir()
    assert service.commit(commit_request(address, base)) == first
    assert service.open_pr(open_request(first, address))["pr_number"] == 1
    shutil.rmtree(mirror)
    assert service.answer("commit", commit_request(address, base)).is_repeat


def test_locks_that_a_killed_git_left_in_the_mirror_are_cleared_away(
    service: CommitService, site: tuple[str, str], tmp_path: Path
) -> None:
    address, base = site
    service.commit(commit_request(address, base))
    (mirror,) = (tmp_path / "service" / "mirrors").glob("*.git")
    for name in ("refs/site/head.lock", "packed-refs.lock"):
        (mirror / name).touch()
        os.utime(mirror / name, (1, 1))
    (mirror / "making-1").mkdir()
    key: dict[str, Any] = {"idempotency_key": "00000000-0000-4000-8000-000000000000"}
    service.commit(commit_request(address, base, **key))
    assert not list(mirror.rglob("*.lock"))
    assert not list(mirror.glob("making-*"))


def test_hooks_and_filters_of_the_site_do_not_run_here(
    service: CommitService, site: tuple[str, str], tmp_path: Path
) -> None:
    address, base = site
    marker = tmp_path / "ran"
    subprocess.run(["git", "-C", address, "config", "core.fsmonitor", f"touch {marker}"], check=True)
    subprocess.run(["git", "-C", address, "config", "uploadpack.packObjectsHook", f"touch {marker}"], check=True)
    service.commit(commit_request(address, base))
    assert not marker.exists()
