"""Who may ask: host names, origins, browsers of other sites, tokens. Against a real front on a real socket."""

from collections.abc import Iterator

import pytest
from tests.api.client import Client
from tests.api.conftest import Start
from tests.api.running_front import RunningFront, running_front

pytestmark = pytest.mark.xdist_group("api")

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningFront]:
    """A front with a token."""
    with running_front(tmp_path_factory.mktemp("guarded"), token=TOKEN) as front:
        yield front


def raw_get(front: Client, *headers: bytes, path: bytes = b"/health") -> bytes:
    head = b"".join(header + b"\r\n" for header in headers)
    return front.exchange(b"GET " + path + b" HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n")


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "localhost.", "[::1]", "127.9.9.9"])
def test_names_of_this_machine_are_ours(server: Client, name: str) -> None:
    assert server.get("/health", Host=f"{name}:{server.port}").status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "localhost", "localhost:1", "127.0.0.1.evil.example:{port}", "", "a b",
     "localhost:{port}@evil.example", "[::1", "user@localhost:{port}", "localhost:99999999", "ｌocalhost:{port}"],
)  # fmt: skip
def test_other_names_are_turned_away_as_rebound(server: Client, host: str) -> None:
    sent = host.format(port=server.port).encode()
    answer = raw_get(server, b"Host: " + sent)

    assert status(answer) == 403
    assert b'"code":"FORBIDDEN"' in answer


def test_a_missing_and_a_second_host_header_are_malformed(server: Client) -> None:
    ours = b"Host: 127.0.0.1:%d" % server.port

    assert status(raw_get(server)) == 400
    assert status(raw_get(server, ours, ours)) == 400
    assert status(raw_get(server, ours, b"Host: evil.example")) == 400


def test_allowed_host_names_are_ours_too(start: Start) -> None:
    front = start(allowedHosts=["search.example", "other.example:8443"])

    assert front.get("/health", Host="search.example").status == 200
    assert front.get("/health", Host="search.example:444").status == 200
    assert front.get("/health", Host="other.example:8443").status == 200
    assert front.get("/health", Host="other.example").status == 403


def test_an_origin_must_be_our_own(server: Client) -> None:
    own = f"http://127.0.0.1:{server.port}"

    assert server.get("/health", Origin=own).status == 200
    for foreign in (
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        own + ".evil.example",
        f"{own}/",
        "file://",
    ):
        got = server.get("/health", Origin=foreign)
        assert (got.status, got.json["code"]) == (403, "FORBIDDEN")
        assert "access-control-allow-origin" not in got.headers


def test_two_origins_are_none(server: Client) -> None:
    host = b"127.0.0.1:%d" % server.port

    assert (
        status(raw_get(server, b"Host: " + host, b"Origin: http://" + host, b"Origin: http://evil.example")) == 403
    )


def test_an_allowed_origin_is_echoed_on_successes_and_failures_alike(start: Start) -> None:
    front = start(corsOrigins=["https://app.example", "bare.example"], token=TOKEN)
    right = front.get("/health", Origin="https://app.example", Authorization=f"Bearer {TOKEN}")
    wrong = front.get("/health", Origin="http://bare.example")

    assert (right.status, wrong.status) == (200, 401)
    assert right.headers["access-control-allow-origin"] == "https://app.example"
    assert right.headers["access-control-expose-headers"] == "Retry-After, Mcp-Session-Id"
    assert wrong.headers["access-control-allow-origin"] == "http://bare.example"
    assert right.headers["vary"] == "Origin"
    assert front.get("/health", Origin="https://app.example.evil").status == 403


def test_a_preflight_is_answered_without_a_token_and_for_allowed_origins_only(start: Start) -> None:
    front = start(corsOrigins=["https://app.example"], token=TOKEN)
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
    allowed = front.request("OPTIONS", "/search", Origin="https://app.example", **asked)
    foreign = front.request("OPTIONS", "/search", Origin="https://evil.example", **asked)
    plain = front.request("OPTIONS", "/search")

    assert (allowed.status, allowed.body) == (204, b"")
    assert "Authorization" in allowed.headers["access-control-allow-headers"]
    assert foreign.status == 403
    assert plain.status == 204
    assert "access-control-allow-methods" not in plain.headers
    assert plain.headers["allow"] == "POST, GET, HEAD, OPTIONS"


def test_a_page_of_another_site_may_link_here_but_not_load_from_here(server: Client) -> None:
    loads = server.get("/search?q=a", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")
    links = server.get("/docs", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")

    assert (loads.status, links.status) == (403, 200)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN} {TOKEN}"},
        {"Authorization": "Bearer \xfc\xfe"},
        {"Cookie": f"token={TOKEN}"},
    ],
)
def test_without_exactly_the_right_token_nothing_is_told(guarded: RunningFront, headers: dict[str, str]) -> None:
    got = guarded.get("/health", **headers)

    assert (got.status, got.json["code"]) == (401, "UNAUTHORIZED")
    assert got.headers["www-authenticate"].startswith("Bearer")
    assert TOKEN.encode() not in got.body


def test_the_token_opens_every_path_and_its_scheme_may_be_written_anyhow(guarded: RunningFront) -> None:
    assert guarded.get("/health", Authorization=f"Bearer {TOKEN}").status == 200
    assert guarded.get("/status", Authorization=f"bearer  {TOKEN}").status == 200


def test_a_token_in_the_url_is_none_and_two_tokens_are_none(guarded: RunningFront) -> None:
    host = b"Host: 127.0.0.1:%d" % guarded.port
    right = b"Authorization: Bearer " + TOKEN.encode()

    assert guarded.get(f"/health?token={TOKEN}").status == 401
    assert status(raw_get(guarded, host, right, b"Authorization: Bearer other")) == 401
    assert status(raw_get(guarded, host, right, right)) == 401


def test_the_page_is_open_but_unknown_paths_are_not(guarded: RunningFront) -> None:
    assert guarded.get("/docs").status == 200
    assert guarded.get("/openapi.json").status == 401
    assert guarded.get("/nowhere").status == 401
    assert guarded.request("DELETE", "/search").status == 401


def test_the_token_is_never_written_anywhere(guarded: RunningFront) -> None:
    guarded.get("/health", Authorization=f"Bearer {TOKEN}")
    metrics = guarded.get("/metrics", Authorization=f"Bearer {TOKEN}")

    assert TOKEN.encode() not in metrics.body
    assert TOKEN not in guarded.stderr()
    assert TOKEN not in str(guarded.host.requests)
