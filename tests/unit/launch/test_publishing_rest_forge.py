"""Pull requests on GitHub and Gitea: a forge on this machine answers as theirs do, and fails as theirs do."""

import itertools
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.launch.forge_server import ForgeServer, Pull, forge_server
from tests.launch.products import git
from tests.launch.publishing_requests import (
    PAGE,
    RUN,
    branches,
    bundle_of,
    commit_request,
    make_bare_site,
    open_request,
)

from holdfast.errors import ToolError
from holdfast.launch.http_service import running
from holdfast.launch.publishing.bare_forge import BareForge
from holdfast.launch.publishing.client import CommitClient, connect
from holdfast.launch.publishing.forge_choice import ChosenForge, ForgeRule
from holdfast.launch.publishing.http import make_app
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.service import CommitService

TOKEN = "f0rge-t0ken-0123456789abcdef"
BRANCH = f"launch/{RUN}/tablekit"
both_kinds = pytest.mark.parametrize("forge", ["github", "gitea"], indirect=True)
_numbers = itertools.count(1)


@contextmanager
def a_directory() -> Iterator[Path]:
    """A directory in memory where there is one."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as directory:
        yield Path(directory)


class Site:
    """One repository on a forge, and services that publish on it."""

    def __init__(self, forge: ForgeServer, template: tuple[Path, str], folder: Path) -> None:
        self.forge = forge
        self.name = f"acme/site-{next(_numbers)}"
        shutil.copytree(template[0], forge.path(self.name))
        self.base = template[1]
        self.address = forge.address(self.name)
        self._folder = folder
        forge.asked.clear()
        forge.faults.clear()

    @property
    def rule(self) -> ForgeRule:
        return ForgeRule(self.forge.kind, "TEST_FORGE_TOKEN", self.forge.url)

    def service(self, name: str = "", *, timeout: float = 20.0) -> CommitService:
        """A service on a machine that knows nothing yet, unless it is one with a name."""
        root = self._folder / (name or f"service-{next(_numbers)}")
        return CommitService(root, ChosenForge([self.rule], root / "limits", pause=0.01, timeout=timeout))

    def published(self, service: CommitService | None = None, **changes: Any) -> dict[str, Any]:
        service = service or self.service()
        made = service.commit(commit_request(self.address, self.base))
        return service.open_pr(open_request(made, self.address, **changes))

    def refused(self, service: CommitService | None = None) -> Refusal:
        with pytest.raises(Refusal) as caught:
            self.published(service)
        assert TOKEN not in f"{caught.value}{caught.value.details}{caught.value.__cause__!r}"
        return caught.value

    @property
    def pulls(self) -> list[Pull]:
        return self.forge.pulls.get(self.name, [])

    @property
    def branches(self) -> dict[str, str]:
        return branches(self.forge.path(self.name))

    def assert_published_once(self, opened: dict[str, Any]) -> None:
        assert self.branches == {BRANCH: opened["commit_sha"]}
        assert [(pull.number, pull.head, pull.sha) for pull in self.pulls] == [
            (opened["pr_number"], BRANCH, opened["commit_sha"])
        ]


@pytest.fixture(scope="module")
def template() -> Iterator[tuple[Path, str]]:
    with a_directory() as root:
        address, sha = make_bare_site(root / "site.git")
        shutil.rmtree(root / "site.git" / "hooks")  # samples that would be copied for every test
        yield Path(address), sha


@pytest.fixture(scope="module")
def forge(request: pytest.FixtureRequest) -> Iterator[ForgeServer]:
    """GitHub, unless a test asks for both kinds."""
    with a_directory() as root, forge_server(getattr(request, "param", "github"), root, TOKEN) as server:
        yield server


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ForgeServer]:
    """Another host, which must not learn anything."""
    with a_directory() as root, forge_server("github", root, "another token") as server:
        yield server


@pytest.fixture
def site(
    forge: ForgeServer, template: tuple[Path, str], memory_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    monkeypatch.setenv("TEST_FORGE_TOKEN", TOKEN)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield Site(forge, template, memory_directory)
    assert forge.faults == []  # every fault that was scripted has happened
    forge.page_size, forge.remaining, forge.link_base = 100, None, ""


@both_kinds
def test_the_branch_is_pushed_and_the_pull_request_has_the_commit_of_every_other_forge(
    site: Site, template: tuple[Path, str], tmp_path: Path
) -> None:
    opened = site.published()
    plain = CommitService(tmp_path / "plain", BareForge()).commit(commit_request(str(template[0]), site.base))
    assert opened["commit_sha"] == plain["commit_sha"]
    site.assert_published_once(opened)
    (pull,) = site.pulls
    assert (pull.title, pull.body, pull.base) == ("Launch tablekit", "What a reviewer reads.\n", "main")
    kind = "pull" if site.forge.kind == "github" else "pulls"
    assert opened["pr_url"] == f"{site.forge.url}/{site.name}/{kind}/1"
    assert git(site.forge.path(site.name), "show", f"{BRANCH}:{PAGE}") == "# Install"
    assert_requests_are_as_documented(site.forge)


def assert_requests_are_as_documented(forge: ForgeServer) -> None:
    rest = [headers for _, path, headers in forge.asked if path.startswith(forge.api)]
    assert all(re.fullmatch(r"holdfast/\S+", headers["user-agent"]) for headers in rest)
    if forge.kind == "github":
        assert {headers["accept"] for headers in rest} == {"application/vnd.github+json"}
        assert {headers["x-github-api-version"] for headers in rest} == {"2022-11-28"}
    assert not any(TOKEN in path for _, path, _ in forge.asked)


@both_kinds
def test_a_draft_is_opened_as_one_with_a_title_that_forges_take(site: Site) -> None:
    site.published(draft=True, pr_title="x" * 300)
    prefix = "" if site.forge.kind == "github" else "WIP: "
    assert (site.pulls[0].draft, site.pulls[0].title) == (True, prefix + "x" * (249 - len(prefix)) + "…")


@both_kinds
def test_another_machine_that_repeats_a_run_is_given_the_same_pull_request(site: Site) -> None:
    service = site.service()
    first = site.published(service)
    assert site.published(service) == first
    assert site.published() == first
    site.assert_published_once(first)


LOST = {
    "the push, after": ("git-receive-pack", True),
    "the pull request, before": ("/pulls", False),
    "the pull request, after": ("/pulls", True),
}


@both_kinds
@pytest.mark.parametrize("when", LOST)
def test_an_answer_that_gets_lost_changes_nothing(site: Site, when: str) -> None:
    path, after = LOST[when]
    site.forge.fault("POST", path, drop=True, after=after)
    site.assert_published_once(site.published())


@pytest.mark.parametrize("after", [False, True])
def test_a_forge_that_fails_while_it_opens_has_one_pull_request_in_the_end(site: Site, after: bool) -> None:
    site.forge.fault("POST", "/pulls", status=502, after=after)
    site.forge.fault("GET", site.forge.api, status=503)
    site.assert_published_once(site.published())
    assert len(site.forge.requests("POST", "/pulls")) == (1 if after else 2)


@both_kinds
def test_two_who_publish_at_once_have_one_pull_request(site: Site) -> None:
    first = site.published()
    # The second one has looked before the first one was done: the list is empty for it once.
    site.forge.fault("GET", "/pulls?", status=200, body=[])
    assert site.published() == first
    assert len(site.forge.requests("POST", "/pulls")) == 2
    site.assert_published_once(first)


def test_a_branch_that_the_forge_has_not_noticed_yet_is_waited_for(site: Site) -> None:
    error = {"resource": "PullRequest", "field": "head", "code": "invalid"}
    site.forge.fault("POST", "/pulls", status=422, body={"message": "Validation Failed", "errors": [error]})
    site.assert_published_once(site.published())


def test_a_branch_of_another_commit_is_not_touched(site: Site) -> None:
    git(site.forge.path(site.name), "branch", BRANCH, site.base)
    refusal = site.refused()
    assert (refusal.code, refusal.status) == ("BRANCH_EXISTS", 409)
    assert (site.branches, site.pulls) == ({BRANCH: site.base}, [])


def test_a_pull_request_that_somebody_added_commits_to_is_named(site: Site) -> None:
    opened = site.published()
    site.pulls[0].sha = site.base
    refusal = site.refused()
    assert (refusal.code, refusal.details["pr_url"]) == ("BRANCH_EXISTS", opened["pr_url"])


@both_kinds
def test_a_merged_pull_request_whose_branch_is_gone_is_still_the_one_of_the_run(site: Site) -> None:
    first = site.published()
    site.pulls[0].merged, site.pulls[0].state = True, "closed"
    git(site.forge.path(site.name), "update-ref", "-d", f"refs/heads/{BRANCH}")
    assert site.published() == first
    assert (site.branches, len(site.pulls)) == ({}, 1)


def test_a_pull_request_that_was_closed_is_not_opened_again(site: Site) -> None:
    opened = site.published()
    site.pulls[0].state = "closed"
    refusal = site.refused()
    assert (refusal.code, refusal.status, refusal.details["pr_url"]) == (
        "PULL_REQUEST_CLOSED", 409, opened["pr_url"],
    )  # fmt: skip
    assert "reopen" in refusal.details["remedy"]
    site.pulls[0].state = "open"
    assert site.published() == opened


def test_a_pull_request_of_the_same_name_from_a_fork_is_not_ours(site: Site) -> None:
    site.forge.pulls[site.name] = [Pull(1, "x", "", BRANCH, "main", "f" * 40, fork="acme/fork")]
    opened = site.published()
    assert (opened["pr_number"], site.branches) == (2, {BRANCH: opened["commit_sha"]})


def test_a_base_that_was_rewritten_meanwhile_is_told_and_nothing_is_pushed(site: Site) -> None:
    service = site.service()
    made = service.commit(commit_request(site.address, site.base))
    path = site.forge.path(site.name)
    orphan = git(path, "commit-tree", f"{site.base}^{{tree}}", "-m", "rewritten")
    git(path, "update-ref", "refs/heads/main", orphan)
    with pytest.raises(Refusal) as caught:
        service.open_pr(open_request(made, site.address))
    assert (caught.value.code, site.branches, site.pulls) == ("BASE_MOVED", {}, [])


@both_kinds
def test_pull_requests_are_found_on_later_pages_and_on_our_host_alone(site: Site, elsewhere: ForgeServer) -> None:
    first = site.published()
    site.pulls[:0] = [Pull(7, "another", "", "launch/other/x", "main", "e" * 40)]
    site.pulls.extend(
        [Pull(n, f"later {n}", "", BRANCH, "main", "f" * 40, fork="acme/fork") for n in range(10, 15)]
    )
    site.forge.page_size = 2
    assert site.published() == first
    site.forge.link_base = elsewhere.url  # a forge that does not know its own name
    assert site.published() == first
    assert elsewhere.asked == []
    listed = site.service().pulls(site.address)
    assert [(pull["number"], pull["branch"]) for pull in listed] == [(1, BRANCH), (7, "launch/other/x")]


def test_only_as_many_pages_are_read_as_can_hold_the_pull_request(site: Site) -> None:
    old = [Pull(n, "old", "", f"topic-{n}", "main", "f" * 40, created_at="2020-01-01T00:00:00Z") for n in range(9)]
    site.forge.pulls[site.name], site.forge.page_size = old, 2
    site.published()
    assert len(site.forge.requests("GET", "/pulls?")) == 1


def test_a_renamed_repository_is_found_under_its_new_name(site: Site) -> None:
    new = f"{site.name}-new"
    site.forge.path(site.name).rename(site.forge.path(new))
    site.forge.renamed[site.name] = new
    opened = site.published()
    assert opened["repo_url"] == site.address
    assert f"/{new}/" in opened["pr_url"]
    assert branches(site.forge.path(new)) == {BRANCH: opened["commit_sha"]}


def test_a_redirect_to_another_host_is_refused_and_that_host_hears_nothing(
    site: Site, elsewhere: ForgeServer
) -> None:
    there = f"{elsewhere.url}/api/v3/repos/{site.name}"
    site.forge.fault("GET", "/repos/", status=301, headers={"Location": there}, body={"message": "Moved"})
    refusal = site.refused()
    assert (refusal.code, refusal.details["reason"]) == ("FORGE_NOT_FOUND", "redirected_elsewhere")
    assert elsewhere.asked == []
    assert "site_repo_url" in refusal.details["remedy"]


def test_git_follows_nobody_with_the_token(site: Site, elsewhere: ForgeServer) -> None:
    there = f"{elsewhere.url}/{site.name}.git/info/refs?service=git-upload-pack"
    for _ in range(2):  # what is fetched, and, since that failed, whether there is anything
        site.forge.fault("GET", "info/refs", status=302, headers={"Location": there})
    assert site.refused().code == "REMOTE_UNREACHABLE"
    assert elsewhere.asked == []


@pytest.mark.parametrize("location", ["", "http://[::1", "//x y/", "ftp://127.0.0.1/"])
def test_a_redirect_that_leads_nowhere_is_refused(site: Site, location: str) -> None:
    site.forge.fault("GET", "/repos/", status=307, headers={"Location": location})
    assert site.refused().code == "FORGE_NOT_FOUND"


def test_redirects_in_a_circle_end(site: Site) -> None:
    here = f"{site.forge.url}{site.forge.api}/repos/{site.name}"
    for _ in range(4):
        site.forge.fault("GET", "/repos/", status=302, headers={"Location": here})
    assert site.refused().code == "REMOTE_UNREACHABLE"


LIMITS = {
    "primary": (
        403,
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "99999999999"},
        "API rate limit exceeded",
    ),
    "secondary": (403, {"retry-after": "1800"}, "You have exceeded a secondary rate limit."),
    "in words": (403, {}, "You have exceeded a secondary rate limit. Please wait a few minutes."),
    "gitea": (429, {}, "Too Many Requests"),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_that_takes_long_is_told_with_its_moment_and_keeps_us_from_asking(site: Site, limit: str) -> None:
    status, headers, message = LIMITS[limit]
    site.forge.fault("GET", "/repos/", status=status, headers=headers, body={"message": message})
    refusal = site.refused(site.service("one"))
    assert (refusal.code, refusal.status) == ("FORGE_RATE_LIMITED", 429)
    assert refusal.details["retry_after_s"] >= 59
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", refusal.details["retry_at"])
    asked = len(site.forge.asked)
    assert site.refused(site.service("one")).code == "FORGE_RATE_LIMITED"
    assert len(site.forge.asked) == asked


def test_a_short_limit_is_waited_for(site: Site) -> None:
    site.forge.fault("GET", "/repos/", status=429, headers={"Retry-After": "0"}, body={"message": "slow down"})
    site.forge.fault("POST", "/pulls", status=403, headers={"Retry-After": "0"}, body={"message": "secondary"})
    site.assert_published_once(site.published())
    assert len(site.forge.requests("POST", "/pulls")) == 2


def test_the_last_request_that_is_allowed_is_used_and_the_next_one_waits(site: Site) -> None:
    site.forge.remaining = 3  # the repository twice, then the list; the next hour begins a second later
    site.assert_published_once(site.published())


DENIALS: dict[str, tuple[int, dict[str, str], dict[str, Any], str, str]] = {
    "bad credentials": (401, {}, {"message": "Bad credentials"}, "FORGE_TOKEN_REFUSED", "TEST_FORGE_TOKEN"),
    "missing scope": (
        403, {"x-accepted-github-permissions": "pull_requests=write"},
        {"message": "Resource not accessible by personal access token"}, "FORGE_FORBIDDEN", "Pull requests",
    ),
    "gitea scope": (
        403, {}, {"message": "token does not have at least one of required scope(s): [write:repository]"},
        "FORGE_FORBIDDEN", "write:repository",
    ),
    "single sign-on": (
        403, {"x-github-sso": "required; url=https://github.com/orgs/x/sso"}, {"message": "Resource protected"},
        "FORGE_FORBIDDEN", "single sign-on",
    ),
    "hidden": (404, {}, {"message": "Not Found"}, "FORGE_NOT_FOUND", "site_repo_url"),
    "archived": (423, {}, {"message": "Repo is archived"}, "FORGE_FORBIDDEN", "unarchive"),
    "no commits": (
        422, {}, {"message": "Validation Failed", "errors": [{"message": "No commits between main and x"}]},
        "NO_CHANGES", "",
    ),
    "drafts": (
        422, {}, {"message": "Draft pull requests are not supported in this repository."},
        "PULL_REQUEST_REFUSED", "read what it said",
    ),
    "an echo of the token": (422, {}, {"message": TOKEN, "errors": [TOKEN]}, "PULL_REQUEST_REFUSED", ""),
    "no words": (418, {}, {}, "PULL_REQUEST_REFUSED", ""),
}  # fmt: skip


@pytest.mark.parametrize("denial", DENIALS)
def test_what_a_forge_refuses_has_a_code_and_a_remedy(site: Site, denial: str) -> None:
    status, headers, body, code, remedy = DENIALS[denial]
    site.forge.fault("GET", "/repos/", status=status, headers=headers, body=body)
    refusal = site.refused()
    assert refusal.code == code
    assert remedy in refusal.details.get("remedy", "")


def test_a_forge_that_repeats_the_token_in_what_it_answers_spreads_it_no_further(site: Site) -> None:
    about = {"full_name": f"acme/{TOKEN}", "archived": True}
    site.forge.fault("GET", "/repos/", status=200, body=about)
    assert site.refused().code == "FORGE_FORBIDDEN"
    site.forge.fault("GET", "/repos/", status=403, headers={"X-Accepted-OAuth-Scopes": f"repo {TOKEN}"}, body={})
    assert site.refused().details["needs"] == "repo [redacted]"
    site.forge.fault("GET", "/repos/", status=301, headers={"Location": f"https://{TOKEN}.example/x"})
    assert site.refused().code == "FORGE_NOT_FOUND"
    made = {"number": 1, "html_url": f"https://forge.example/pull/1?by={TOKEN}"}
    site.forge.fault("POST", "/pulls", status=201, body=made, after=True)
    assert site.published()["pr_url"] == "https://forge.example/pull/1?by=[redacted]"


def test_an_address_with_a_password_in_it_is_no_address_of_a_pull_request(site: Site) -> None:
    made = {"number": 1, "html_url": "https://ann:secret@forge.example/pull/1"}
    site.forge.fault("POST", "/pulls", status=201, body=made, after=True)
    opened = site.published()
    assert "secret" not in str(opened)
    site.assert_published_once(opened)


def test_what_was_refused_once_is_done_when_it_no_longer_is(site: Site) -> None:
    site.forge.fault("POST", "/pulls", status=403, body={"message": "Resource not accessible by integration"})
    service = site.service()
    assert site.refused(service).code == "FORGE_FORBIDDEN"
    assert (len(site.branches), site.pulls) == (1, [])
    site.assert_published_once(site.published(service))


def test_a_token_that_is_wrong_missing_or_none_is_told_before_anything_is_fetched(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_FORGE_TOKEN", "wrong")
    assert site.refused().code == "FORGE_TOKEN_REFUSED"
    asked = len(site.forge.asked)
    for value in ("", "  ", "two words", "a\nb", "é"):
        monkeypatch.setenv("TEST_FORGE_TOKEN", value)
        refusal = site.refused()
        assert (refusal.code, refusal.details["variable"]) == ("FORGE_TOKEN_MISSING", "TEST_FORGE_TOKEN")
    assert len(site.forge.asked) == asked == 1


@both_kinds
def test_a_token_that_may_read_and_not_write_is_told(site: Site) -> None:
    site.forge.denied.add(site.name)
    refusal = site.refused()
    assert (refusal.code, "write contents" in refusal.details["remedy"]) == ("FORGE_FORBIDDEN", True)
    assert (site.branches, site.pulls) == ({}, [])


def test_a_site_that_refuses_the_push_says_why(site: Site) -> None:
    hook = site.forge.path(site.name) / "hooks" / "pre-receive"
    hook.parent.mkdir()
    hook.write_text(f'#!/bin/sh\necho "GH006: protected; {TOKEN}" >&2\nexit 1\n', "utf-8")
    hook.chmod(0o755)
    refusal = site.refused()
    assert (refusal.code, refusal.status) == ("PUSH_REFUSED", 409)
    assert "GH006: protected; [redacted]" in refusal.details["said"]
    assert site.pulls == []


def test_what_the_users_configuration_has_for_the_host_does_not_stand_in_the_way(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = f'[http "{site.forge.url}/acme/"]\n\textraHeader = Authorization: Basic b3RoZXI=\n'
    (tmp_path / ".gitconfig").write_text(
        about + "[credential]\n\thelper = !echo password=other >&2; false\n", "utf-8"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    site.assert_published_once(site.published())


def test_an_archived_repository_is_refused_before_anything_is_pushed(site: Site) -> None:
    site.forge.archived.add(site.name)
    assert site.refused().code == "FORGE_FORBIDDEN"


def test_answers_that_are_huge_slow_or_rubbish_end_in_a_refusal_or_a_repeat(site: Site) -> None:
    site.forge.fault("GET", "/repos/", size=17_000_000)
    assert site.refused().code == "REMOTE_UNREACHABLE"
    rubbish: list[Any] = [[], {"full_name": 7}, "x"]
    for body in rubbish:
        site.forge.fault("GET", "/repos/", status=200, body=body)
        assert site.refused().code == "REMOTE_UNREACHABLE"
    site.forge.fault("GET", "/pulls?", status=200, body={"no": "list"})
    assert site.refused().code == "REMOTE_UNREACHABLE"
    site.forge.fault("POST", "/pulls", status=201, body={"number": "1", "html_url": "javascript:x"}, after=True)
    site.assert_published_once(site.published())


def test_a_forge_that_does_not_answer_is_given_up(site: Site) -> None:
    release = threading.Event()
    for _ in range(4):
        site.forge.fault("GET", f"/repos/{site.name}", hold=release)
    try:
        assert site.refused(site.service(timeout=0.2)).code == "REMOTE_UNREACHABLE"
    finally:
        release.set()
        site.forge.faults.clear()  # on a busy machine not all of the tries got so far


def test_a_forge_that_stays_broken_is_given_up(site: Site) -> None:
    for _ in range(4):
        site.forge.fault("GET", "/repos/", status=500)
    refusal = site.refused()
    assert (refusal.code, refusal.status) == ("REMOTE_UNREACHABLE", 502)


def test_a_service_over_http_uses_its_own_tokens_and_gives_the_same(site: Site, tmp_path: Path) -> None:
    with running(make_app(site.service(), "t0ken-of-the-service")) as url:
        client = CommitClient(url, token="t0ken-of-the-service", pause=0.01)
        made = client.commit(commit_request(site.address, site.base))
        opened = client.open_pr(open_request(made, site.address))
        site.forge.fault("GET", "/repos/", status=429, headers={"Retry-After": "900"}, body={})
        with pytest.raises(ToolError) as caught:
            client.commit(commit_request(site.address, site.base, run="r_another_run"))
    assert (caught.value.retryable, caught.value.details["code"]) == (True, "FORGE_RATE_LIMITED")
    assert "ask again after" in str(caught.value.hint)
    embedded = connect("embedded:", tmp_path / "embedded", forges=[site.rule])
    assert embedded.commit(commit_request(site.address, site.base)) == made
    assert embedded.open_pr(open_request(made, site.address)) == opened
    site.assert_published_once(opened)


def made_certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that no authority has signed, with its key, in one file."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl makes the certificate, and is not here")
    folder.mkdir()
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "certificate.pem"]
    subprocess.run([program, *words.split(), *names], cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes((folder / "certificate.pem").read_bytes() + (folder / "key.pem").read_bytes())
    return both


def test_a_certificate_that_nobody_vouches_for_is_refused_and_one_of_our_own_authority_is_taken(
    template: tuple[Path, str], memory_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_FORGE_TOKEN", TOKEN)
    monkeypatch.setenv("HOME", str(memory_directory))
    certificate, other = made_certificate(memory_directory / "one"), made_certificate(memory_directory / "other")
    with forge_server("gitea", memory_directory / "forge", TOKEN, certificate=certificate) as forge:
        site = Site(forge, template, memory_directory)
        assert site.refused().code == "REMOTE_UNREACHABLE"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        wrong = f"[http]\n\tsslVerify = false\n\tsslCAInfo = {other}\n"
        (memory_directory / ".gitconfig").write_text(wrong, "utf-8")
        site.forge.asked.clear()
        assert site.refused().code == "REMOTE_UNREACHABLE"  # REST knows it, git does not, and must not mind
        assert not any("git-upload-pack" in path for _, path, _ in forge.asked)
        (memory_directory / ".gitconfig").write_text(f"[http]\n\tsslCAInfo = {certificate}\n", "utf-8")
        site.assert_published_once(site.published())


def test_the_fence_is_checked_for_forges_too(site: Site) -> None:
    bundle = bundle_of(site.base, {"layouts/x.html": "x\n"})
    with pytest.raises(Refusal) as caught:
        site.service().commit(commit_request(site.address, site.base, bundle=bundle))
    assert caught.value.code == "PATH_NOT_ALLOWED"
    assert site.branches == {}
