"""The same three hundred requests on every surface: command line, MCP in its three modes, and HTTP.

Payloads are the same but for the time that they took. Errors are the same: those that the tool itself tells word
for word, and those of the schema in their code and in every place and rule that they name.
"""

import http.client
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from tests.mcp.command_words import command_words, typed, typed_here
from tests.mcp.official_client import Answer, connected
from tests.mcp.parity_requests import GOOD, REQUESTS, filled
from tests.mcp.search_place import SearchPlace, make_place

pytestmark = pytest.mark.xdist_group("parity")

BOUND = 30.0
PROGRAMS = 8  # requests that are also typed into a program of its own; the rest into the command in this process

Request = dict[str, Any]


class Outcome(NamedTuple):
    """What a surface made of a request; the whole payload where every surface has to say it in the same words."""

    code: str | None
    violations: frozenset[tuple[str, str]]
    payload: Any

    @classmethod
    def of(cls, payload: dict[str, Any], *, schema: bool) -> "Outcome":
        """`schema`: it is an error that the schema told, in words of each surface's own."""
        found = payload.get("violations") or payload.get("details") or ()
        places = frozenset((one["instancePath"], one["keyword"]) for one in found)
        code = payload["code"] if schema or payload.get("ok") is False else None
        return cls(code, places, None if schema else timeless(payload))


class Recorded(NamedTuple):
    """What the surfaces said to all requests, in their order."""

    native: list[Answer]
    sdk: list[Answer]
    legacy: list[Answer]
    http: list[dict[str, Any]]


def timeless(payload: Any) -> Any:
    """Without what tells when it was, or how long it took."""
    if isinstance(payload, list):
        return [timeless(one) for one in payload]
    if not isinstance(payload, dict):
        return payload
    return {key: timeless(value) for key, value in payload.items() if key not in ("elapsedMs", "ts", "durationMs")}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SearchPlace:
    return make_place(tmp_path_factory.mktemp("parity"))


@pytest.fixture(scope="module")
def requests(place: SearchPlace) -> list[Request]:
    places = {"repo": str(place.repo), "bare": str(place.bare), "workspace": str(place.workspace)}
    return [filled(request, places) for request in REQUESTS]


@pytest.fixture(scope="module")
def recorded(place: SearchPlace, requests: list[Request]) -> Iterator[Recorded]:
    calls: list[tuple[str, Any]] = [("search", request) for request in requests]
    http_options = ("--http", "127.0.0.1:0", "--http-paths", "--workspace", str(place.workspace))
    with connected(place, "native", *http_options, hosted=True) as native:
        said = native.call_all(calls), posted(place, requests)
    with connected(place, "sdk") as sdk, connected(place, "legacy") as legacy:
        yield Recorded(said[0], sdk.call_all(calls), legacy.call_all(calls), said[1])


def posted(place: SearchPlace, requests: list[Request]) -> list[dict[str, Any]]:
    """What HTTP says: of a success the payload of the search, of an error the whole envelope."""
    (port,) = re.findall(r"HTTP on http://127\.0\.0\.1:([0-9]+) ", place.stderr("native").read_text())
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=BOUND)
    answers = []
    for request in requests:
        connection.request("POST", "/search", json.dumps(request), {"Content-Type": "application/json"})
        envelope = json.loads(connection.getresponse().read())
        answers.append(envelope["result"]["search"] if envelope["ok"] else envelope)
    connection.close()
    return answers


def expected(answer: Answer) -> Outcome:
    """What all others are held to."""
    return Outcome.of(answer.payload, schema=answer.error is not None)


def typed_form(outcome: Outcome) -> Outcome:
    """As a command tells it: only a server has versions to tell of in `_meta`."""
    payload = outcome.payload
    return outcome._replace(payload=payload and {key: payload[key] for key in payload if key != "_meta"})


def differing(requests: list[Request], one: list[Outcome], other: list[Outcome | None]) -> list[Any]:
    """The requests that were answered differently, with both answers; None stands for no answer to compare."""
    told = zip(requests, one, other, strict=True)
    return [(request, first, second) for request, first, second in told if second is not None and first != second]


def test_the_requests_find_something_and_fail_in_every_way(recorded: Recorded) -> None:
    good, bad = recorded.native[: len(GOOD)], recorded.native[len(GOOD) :]
    assert (len(good) + len(bad), len(bad) >= 60) == (300, True)
    assert {answer.code for answer in good} == {None, "NO_INDEX"}, "the portable index alone is not there"
    assert sum(answer.code is None and hits(answer) > 0 for answer in good) > 110
    assert {answer.code for answer in bad} == {"INVALID_REQUEST", "NO_INDEX"}
    assert [answer.code for answer in bad[-3:]] == ["NO_INDEX"] * 3


@pytest.mark.requirement("S1-8-parity")
@pytest.mark.parametrize("mode", ["sdk", "legacy"])
def test_every_mode_of_mcp_answers_the_same(recorded: Recorded, requests: list[Request], mode: str) -> None:
    native = [expected(answer) for answer in recorded.native]
    other = [expected(answer) for answer in getattr(recorded, mode)]
    assert differing(requests, native, [*other]) == []


@pytest.mark.requirement("S1-8-parity")
def test_http_answers_what_mcp_answers(recorded: Recorded, requests: list[Request]) -> None:
    native = [expected(answer) for answer in recorded.native]
    is_schema = [answer.error is not None for answer in recorded.native]
    over_http = [Outcome.of(said, schema=schema) for said, schema in zip(recorded.http, is_schema, strict=True)]
    assert differing(requests, native, [*over_http]) == []


@pytest.mark.requirement("S1-8-parity")
def test_the_command_line_answers_what_mcp_answers(
    recorded: Recorded, requests: list[Request], place: SearchPlace
) -> None:
    outcomes: list[Outcome | None] = []
    for request, answer in zip(requests, recorded.native, strict=True):
        words = command_words(request, place)
        code, said = (2, None) if words is None else typed_here(words)
        assert code == (2 if answer.is_error else 0 if hits(answer) else 1), request
        outcomes.append(None if said is None else Outcome.of(said, schema=answer.error is not None))
    assert differing(requests, [typed_form(expected(answer)) for answer in recorded.native], outcomes) == []
    assert sum(one is not None and one.code is not None for one in outcomes) >= 40, "errors that can be typed"
    assert sum(one is None for one in outcomes) <= 25


@pytest.mark.requirement("S1-8-parity")
def test_the_command_as_a_program_answers_the_same(
    recorded: Recorded, requests: list[Request], place: SearchPlace
) -> None:
    told = list(zip(requests, recorded.native, strict=True))
    for request, answer in told[:: len(told) // PROGRAMS]:
        words = command_words(request, place)
        said = None if words is None else typed(words, place)[1]
        if said is not None:
            assert Outcome.of(said, schema=answer.error is not None) == typed_form(expected(answer)), request


def hits(answer: Answer) -> int:
    """How many things were found."""
    return sum(len(answer.payload[mode]) for mode in ("code", "prose", "extractedProse", "records"))


def test_a_request_that_cannot_be_typed_is_one_that_no_shell_can_say(
    place: SearchPlace, requests: list[Request]
) -> None:
    untyped = [request for request in requests if command_words(request, place) is None]
    assert len(untyped) <= 20
    assert all(request in requests[len(GOOD) :] for request in untyped), "every good request can be typed"
