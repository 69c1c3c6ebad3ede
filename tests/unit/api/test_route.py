"""Routes are found by path and method, and what is accepted is weighed as HTTP says."""

from typing import Any

import pytest

from holdfast.api.envelope import HttpError, Reply, Stamp
from holdfast.api.exchange import Exchange
from holdfast.api.front import Front
from holdfast.api.route import Route, RouteTable


async def handler(_: Front, __: Exchange) -> Reply:
    raise AssertionError("not called here")


def exchange(method: str, path: str, *headers: tuple[bytes, bytes], query: bytes = b"") -> Exchange:
    async def nothing(*_: Any) -> Any:
        raise AssertionError("nothing is read or written")

    scope = {"method": method, "path": path, "query_string": query, "headers": list(headers)}
    return Exchange(scope, nothing, nothing, Stamp("1", "2"))


TABLE = RouteTable(
    [
        Route("GET", "/a", handler, takes_query=True),
        Route("POST", "/a", handler),
        Route("GET", "/open", handler, is_open=True),
    ]
)


def test_head_finds_what_get_finds() -> None:
    assert TABLE.find(exchange("HEAD", "/a")) is TABLE.find(exchange("GET", "/a"))


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/b", 404), ("PUT", "/a", 405), ("POST", "/open", 405)]
)
def test_what_is_not_there_is_told_with_its_status(method: str, path: str, status: int) -> None:
    with pytest.raises(HttpError) as refused:
        TABLE.find(exchange(method, path))

    assert refused.value.status == status


@pytest.mark.parametrize(("method", "path", "hint"), [("POST", "/a", "the body"), ("GET", "/open", "Leave out")])
def test_a_query_string_that_nobody_would_read_is_refused(method: str, path: str, hint: str) -> None:
    TABLE.find(exchange("GET", "/a", query=b"x=1"))
    with pytest.raises(HttpError) as refused:
        TABLE.find(exchange(method, path, query=b"x=1"))

    assert (refused.value.status, refused.value.problem.code) == (400, "INVALID_REQUEST")
    assert hint in str(refused.value.problem.hint)


def test_metrics_and_openness_know_only_paths_of_the_table() -> None:
    assert (TABLE.label("/a"), TABLE.label("/evil")) == ("/a", "other")
    assert (TABLE.is_open("/open"), TABLE.is_open("/a"), TABLE.is_open("/evil")) == (True, False, False)
    assert TABLE.allowed("/evil") == []


def test_a_route_that_is_there_twice_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError, match="twice"):
        RouteTable([Route("GET", "/a", handler), Route("GET", "/a", handler)])


@pytest.mark.parametrize(
    ("accept", "is_accepted"),
    [
        ("", True), ("*/*", True), ("application/*", True), ("APPLICATION/JSON", True), ("text/html", False),
        ("text/html, */*;q=0.1", True), ("application/json;q=0", False), ("application/json; q=0.0, */*", False),
        ("application/*;q=0, application/json", True), ("*/*;q=x", False), (",,;;", False),
    ],
)  # fmt: skip
def test_the_most_specific_range_decides(accept: str, is_accepted: bool) -> None:
    asked = exchange("GET", "/a", (b"accept", accept.encode()))

    if is_accepted:
        assert TABLE.find(asked).path == "/a"
    else:
        with pytest.raises(HttpError) as refused:
            TABLE.find(asked)
        assert refused.value.status == 406
