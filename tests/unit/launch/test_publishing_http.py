"""The commit service over HTTP, and who asks it there: a token, a key, a limit, failures that say what helps."""

import contextlib
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.launch.publishing_requests import (
    PAGE,
    bundle_of,
    commit_request,
    make_bare_site,
    open_request,
    pull_numbers,
)

from holdfast.errors import ToolError
from holdfast.launch.http_client import Answer, Unreachable, call
from holdfast.launch.http_service import HttpFault, Reply, Request, application, running
from holdfast.launch.publishing.bare_forge import BareForge
from holdfast.launch.publishing.client import CommitClient, EmbeddedCommits, connect
from holdfast.launch.publishing.http import make_app
from holdfast.launch.publishing.mirror import opened
from holdfast.launch.publishing.service import CommitService

TOKEN = "t0ken-of-the-service"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    address, sha = make_bare_site(tmp_path_factory.mktemp("site") / "site.git")
    return Path(address), sha


@pytest.fixture
def site(template: tuple[Path, str], tmp_path: Path) -> tuple[str, str]:
    shutil.copytree(template[0], tmp_path / "site.git")
    return str(tmp_path / "site.git"), template[1]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    service = CommitService(tmp_path_factory.mktemp("service"), BareForge())
    with running(make_app(service, TOKEN, per_hour=10_000)) as address:
        yield address


def post(
    url: str, endpoint: str, request: dict[str, Any], *, key: str | None = None, token: str = TOKEN
) -> Answer:
    headers = {"Idempotency-Key": request["idempotency_key"] if key is None else key}
    return call("POST", f"{url}/v1/{endpoint}", json=request, token=token, headers=headers)


def test_first_answers_are_201_and_repeats_are_200_with_the_same_body(url: str, site: tuple[str, str]) -> None:
    first, again = (post(url, "commit", commit_request(*site)) for _ in range(2))
    assert (first.status, again.status) == (201, 200)
    assert first.body == again.body
    answers = [post(url, "open_pr", open_request(first.json(), site[0])) for _ in range(2)]
    assert [answer.status for answer in answers] == [201, 200]
    assert answers[0].json()["pr_number"] == 1
    query = f"{url}/v1/pulls?repo_url={site[0]}"
    assert [pull["number"] for pull in call("GET", query, token=TOKEN).json()["pulls"]] == [1]


def test_only_health_is_open_to_those_without_the_token(url: str, site: tuple[str, str]) -> None:
    assert call("GET", f"{url}/health").json()["status"] == "ok"
    refused = [
        post(url, "commit", commit_request(*site), token="other"),
        call("GET", f"{url}/v1/pulls?repo_url={site[0]}"),
        call("POST", f"{url}/v1/open_pr", json={}, headers={"Authorization": f"Basic {TOKEN}"}),
    ]
    assert [answer.status for answer in refused] == [401, 401, 401]
    assert all(TOKEN not in answer.body.decode() for answer in refused)
    told = failure(CommitClient(url, token="other"), commit_request(*site))
    assert "github_token_env" in str(told.hint)


@pytest.mark.parametrize("key", ["", "1", "not-a-uuid", "00000000-0000-4000-8000-000000000000", "ABC" * 12])
def test_the_header_must_be_the_key_of_the_body(url: str, site: tuple[str, str], key: str) -> None:
    answer = post(url, "commit", commit_request(*site), key=key)
    assert (answer.status, answer.json()["code"]) == (400, "INVALID_REQUEST")


def test_refusals_keep_their_status_and_code_on_the_wire(url: str, site: tuple[str, str]) -> None:
    address, base = site
    outside = post(url, "commit", commit_request(address, base, bundle=bundle_of(base, {"x.md": "x\n"})))
    conflict = post(
        url, "commit", commit_request(address, base, bundle=bundle_of(base, {"content/docs/tablekit/old.md": ""}))
    )
    post(url, "commit", commit_request(address, base))
    reused = post(url, "commit", commit_request(address, base, commit_message="Other"))
    gone = post(url, "commit", commit_request("/nowhere/site.git", base))
    told = [(answer.status, answer.json()["code"]) for answer in (outside, conflict, reused, gone)]
    assert told == [
        (403, "PATH_NOT_ALLOWED"), (409, "PATCH_CONFLICT"), (409, "IDEMPOTENCY_KEY_REUSED"),
        (502, "REMOTE_UNREACHABLE"),
    ]  # fmt: skip
    assert set(outside.json()) == {"schema_version", "code", "message", "details"}


def test_bodies_that_are_no_requests_are_refused(url: str) -> None:
    key = "00000000-0000-4000-8000-000000000000"
    bodies: list[Any] = [[], "x", None, {"idempotency_key": key}, {"idempotency_key": key, "repo_url": 7}]
    for body in bodies:
        answer = call("POST", f"{url}/v1/commit", json=body, token=TOKEN, headers={"Idempotency-Key": key})
        assert answer.status in (400, 415), body
    assert call("GET", f"{url}/v1/pulls", token=TOKEN).status == 400
    assert call("GET", f"{url}/v1/pulls?repo_url=ext::sh", token=TOKEN).status == 400


def test_a_body_that_is_too_large_is_refused(url: str, site: tuple[str, str]) -> None:
    request = commit_request(*site, bundle=bundle_of(site[1], {PAGE: "x" * 40_000_000}))
    told = failure(CommitClient(url, token=TOKEN), request)
    assert (told.code, told.retryable, told.details["status"]) == ("COMMIT_SERVICE_ERROR", False, 413)
    with contextlib.suppress(Unreachable):  # it may hang up while it is still being sent
        assert post(url, "commit", request).status == 413
    assert post(url, "commit", commit_request(*site)).status == 201


def test_more_requests_than_an_hour_allows_are_refused_until_it_is_over(
    tmp_path: Path, site: tuple[str, str]
) -> None:
    now = [0.0]
    app = make_app(CommitService(tmp_path / "s", BareForge()), TOKEN, per_hour=2, clock=lambda: now[0])
    with running(app) as url:
        answers = [post(url, "commit", commit_request(*site)) for _ in range(3)]
        assert [answer.status for answer in answers] == [201, 200, 429]
        assert (answers[2].json()["code"], answers[2].headers["retry-after"]) == ("RATE_LIMITED", "3601")
        with pytest.raises(ToolError) as caught:
            CommitClient(url, token=TOKEN).commit(commit_request(*site))
        assert caught.value.retryable
        now[0] = 3600.0
        assert post(url, "commit", commit_request(*site)).status == 200


def test_the_client_and_the_service_in_this_process_give_the_same(
    url: str, site: tuple[str, str], tmp_path: Path
) -> None:
    over_http = connect(url + "/v1/", tmp_path, token=TOKEN)
    embedded = connect("embedded:", tmp_path / "embedded")
    assert isinstance(embedded, EmbeddedCommits)
    made = over_http.commit(commit_request(*site))
    assert embedded.commit(commit_request(*site)) == made
    pull = over_http.open_pr(open_request(made, site[0]))
    assert embedded.open_pr(open_request(made, site[0])) == pull
    assert pull_numbers(site[0]) == [1]


def failure(commits: Any, request: dict[str, Any]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        commits.commit(request)
    return caught.value


@pytest.mark.parametrize("kind", ["http", "embedded"])
def test_failures_say_whether_asking_again_may_help(
    kind: str, url: str, site: tuple[str, str], tmp_path: Path
) -> None:
    commits = CommitClient(url, token=TOKEN, pause=0.01) if kind == "http" else connect("embedded:", tmp_path)
    address, base = site
    outside = failure(commits, commit_request(address, base, bundle=bundle_of(base, {"x.md": "x\n"})))
    assert (outside.code, outside.retryable, outside.details["status"]) == ("ALLOWED_PATHS_VIOLATION", False, 403)
    moved = failure(commits, commit_request(address, "a" * 40, bundle=bundle_of("a" * 40, {PAGE: "x\n"})))
    assert (moved.code, moved.retryable) == ("COMMIT_SERVICE_ERROR", False)
    assert (moved.details["status"], moved.details["code"]) == (409, "BASE_MOVED")
    gone = failure(commits, commit_request("https://u:s3cr3t@127.0.0.1:1/site.git", base))
    assert (gone.code, gone.retryable, gone.details["status"]) == ("COMMIT_SERVICE_ERROR", True, 502)
    assert "s3cr3t" not in f"{gone}{gone.details}"


def test_trouble_that_passes_is_tried_again_and_a_refusal_is_not(site: tuple[str, str]) -> None:
    statuses = [503, 502, 201]
    asked: list[str] = []

    def commit(request: Request) -> Reply:
        asked.append(request.headers["idempotency-key"])
        status = statuses[len(asked) - 1]
        if status >= 400:
            raise HttpFault(status, "BUSY", "not now")
        return Reply(status, {"commit_sha": "a" * 40, "affected_paths": [PAGE]})

    with running(application([("POST", "/v1/commit", commit)], token=TOKEN)) as url:
        client = CommitClient(url, token=TOKEN, pause=0.01)
        assert client.commit(commit_request(*site))["commit_sha"] == "a" * 40
        assert len(asked) == 3
        assert len(set(asked)) == 1
        asked.clear()
        statuses[:] = [504, 504, 504, 201]
        assert (failure(client, commit_request(*site)).retryable, len(asked)) == (True, 3)
        asked.clear()
        statuses[:] = [409]
        assert (failure(client, commit_request(*site)).retryable, len(asked)) == (False, 1)


@pytest.mark.parametrize(
    "document", [[], {}, {"commit_sha": "x", "affected_paths": []}, {"commit_sha": "a" * 40}], ids=str
)
def test_an_answer_that_cannot_be_used_is_a_failure(site: tuple[str, str], document: Any) -> None:
    routes = [("POST", "/v1/commit", lambda _: Reply(200, document))]
    with running(application(routes, token=None)) as url:
        told = failure(CommitClient(url), commit_request(*site))
    assert (told.code, told.details["reason"]) == ("COMMIT_SERVICE_ERROR", "bad_answer")


def test_a_service_that_is_not_there_is_a_failure_worth_repeating(site: tuple[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = failure(CommitClient(f"http://127.0.0.1:{port}", token=TOKEN, pause=0.01), commit_request(*site))
    assert (told.code, told.retryable, told.details["reason"]) == ("COMMIT_SERVICE_ERROR", True, "unreachable")
    assert TOKEN not in f"{told}{told.details}"
    assert "holdfast launch commit-service" in str(told.hint)
    assert failure(CommitClient("gopher://x"), commit_request(*site)).retryable is False


def test_a_stop_ends_the_waiting_between_tries(site: tuple[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = CommitClient(f"http://127.0.0.1:{port}", stop=lambda: True, pause=60.0)
    assert failure(client, commit_request(*site)).code == "CANCELLED"


def test_a_service_whose_directory_cannot_be_used_is_a_failure_of_its_own(
    site: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "commits").write_text("a file", "utf-8")
    told = failure(connect("embedded:", tmp_path), commit_request(*site))
    assert (told.code, told.retryable, told.details["cause_class"]) == (
        "COMMIT_SERVICE_ERROR", True, "NotADirectoryError",
    )  # fmt: skip


def test_a_stop_ends_the_service_in_this_process_too(site: tuple[str, str], tmp_path: Path) -> None:
    commits = connect("embedded:", tmp_path, stop=lambda: True)
    with opened(tmp_path / "commits" / "mirrors", site[0]):
        assert failure(commits, commit_request(*site)).code == "CANCELLED"
