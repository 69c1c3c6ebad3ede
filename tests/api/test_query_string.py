"""From the query string of `GET /search` to arguments, and from what a caller names to a repository."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.api.envelope import HttpError
from holdfast.api.options import MountedRepository
from holdfast.errors import ToolError
from holdfast.search.http_query import search_arguments
from holdfast.search.http_repositories import DEFAULT, chosen_repository
from holdfast.search.request import SearchRequest
from holdfast.search.request_fields import FIELDS


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        (b"q=a+b%20c", {"query": "a b c"}),
        (b"query=a&&", {"query": "a"}),
        (b"q=", {"query": ""}),
        (b"q", {"query": ""}),
        (b"q=a%3Db=c", {"query": "a=b=c"}),
        (b"q=a&lang=go&lang=c", {"query": "a", "lang": ["go", "c"]}),
        (b"q=a&top=-1", {"query": "a", "top": -1}),
        (b"q=a&top=1.0&context=1e3", {"query": "a", "top": "1.0", "context": "1e3"}),
        (b"q=a&modifiedSince=2", {"query": "a", "modifiedSince": 2.0}),
        (b"q=a&modifiedSince=1.0955937840898637e-234", {"query": "a", "modifiedSince": 1.0955937840898637e-234}),
        (b"q=a&modifiedSince=inf", {"query": "a", "modifiedSince": "inf"}),
        (b"q=a&modifiedSince=1e999", {"query": "a", "modifiedSince": "1e999"}),
        (b"q=a&ann=On&lint=0&case=maybe", {"query": "a", "ann": True, "lint": False, "case": "maybe"}),
        (b"q=a&meta=k%3Dv&meta=w", {"query": "a", "meta": ["k=v", "w"]}),
        (b"q=a&metaJson=%7B%7D", {"query": "a", "metaJson": "{}"}),
        (b"q=a&bogus=1", {"query": "a", "bogus": "1"}),
        (b"q=100%25&repo=x", {"query": "100%", "repoPath": "x"}),
    ],
)
def test_a_parameter_becomes_what_its_field_is(raw: bytes, arguments: dict[str, Any]) -> None:
    assert search_arguments(raw) == arguments


@pytest.mark.parametrize(
    "raw", [b"q=a&q=b", b"q=a&query=b", b"q=a&bogus=1&bogus=2", b"repo=a&repoPath=b", b"top=1&top=1"]
)
def test_a_parameter_that_is_there_twice_is_refused(raw: bytes) -> None:
    with pytest.raises(ToolError, match="more than once"):
        search_arguments(raw)


@given(st.binary(max_size=300))
def test_any_bytes_are_arguments_or_refused(raw: bytes) -> None:
    arguments: dict[str, Any] = {}
    with contextlib.suppress(ToolError):
        arguments = search_arguments(raw)

    assert all(isinstance(value, str | list | bool | int | float) for value in arguments.values())


def _as_texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(one).lower() if isinstance(one, bool) else str(one) for one in values]


@pytest.mark.parametrize("field", [field for field in FIELDS if field.kind != "conditions"], ids=lambda f: f.name)
def test_every_field_can_be_asked_for_by_its_example(field: Any) -> None:
    pairs = [(field.name, text) for text in _as_texts(field.example)]
    extra = [] if field.name == "query" else [("q", "x")]
    request = SearchRequest.from_arguments(search_arguments(urlencode([*extra, *pairs]).encode()))

    assert getattr(request, field.attribute) not in (None, ())


def chosen(served: list[MountedRepository], given: object) -> str:
    return asyncio.run(chosen_repository(served, given)).alias


@pytest.fixture
def served(tmp_path: Path) -> list[MountedRepository]:
    """Two repositories, one inside of the other, and ways that lead in and out."""
    outer = tmp_path / "outer"
    (outer / "inner" / "src").mkdir(parents=True)
    (tmp_path / "outer-2").mkdir()
    (tmp_path / "way-in").symlink_to(outer / "inner")
    (outer / "way-out").symlink_to(tmp_path / "outer-2")
    real = tmp_path.resolve()
    return [MountedRepository("one", str(real / "outer")), MountedRepository("two", str(real / "outer" / "inner"))]


def test_a_repository_is_chosen_by_alias_by_path_and_by_default(
    served: list[MountedRepository], tmp_path: Path
) -> None:
    assert chosen(served, DEFAULT) == "one"
    assert chosen(served, "two") == "two"
    assert chosen(served, served[1].root) == "two"
    assert chosen(served, f"{served[0].root}/missing/directory") == "one"
    assert chosen(served, f"{served[1].root}/src/../src/") == "two"
    assert chosen(served, str(tmp_path / "way-in" / "src")) == "two"


@pytest.mark.parametrize(
    "way", ["outer-2", "outer/way-out", "outer/../outer-2", "missing", "", "../../etc", "outer\0"]
)
def test_no_way_leads_out_of_what_is_served(served: list[MountedRepository], tmp_path: Path, way: str) -> None:
    with pytest.raises(HttpError) as refused:
        chosen(served, f"{tmp_path}/{way}")

    assert (refused.value.status, refused.value.problem.details) == (403, {})


@pytest.mark.parametrize("given", [None, 7, "", [], {"a": 1}])
def test_what_is_no_name_is_malformed(served: list[MountedRepository], given: object) -> None:
    with pytest.raises(HttpError) as refused:
        chosen(served, given)

    assert refused.value.status == 400
