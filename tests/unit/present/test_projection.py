"""Projections: what the marks of a type show in each detail, and the schema that announces it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any, NotRequired

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from holdfast.contract.derive import DerivedTool, derive_tool
from holdfast.errors import ContractError
from holdfast.present.marks import reference, selector, shown, timestamp, title
from holdfast.present.projection import ProjectionBroken
from holdfast.present.render import DetailLevel


class Owner(BaseModel):
    login: Annotated[str, selector()]
    name: Annotated[str | None, title()] = None
    row: Annotated[int, shown(skip=True)] = 7


class Ticket(BaseModel):
    size: int
    key: Annotated[str, selector()]
    about: Annotated[str, title()]
    opened: Annotated[datetime, timestamp()]
    owner: Annotated[Owner | None, reference()] = None
    watchers: Annotated[list[Owner], reference()] = []
    log: Annotated[list[str], shown(full_only=True)] = []
    hint: Annotated[str, shown(concise_only=True)] = "ask for full detail"
    closed: Annotated[datetime | None, timestamp(), shown(skip_none=True)] = None
    row: Annotated[int, Field(alias="rowId"), shown(skip=True)] = 1


class Tree(BaseModel):
    name: Annotated[str, selector()]
    parent: Annotated["Tree | None", reference()] = None
    children: list["Tree"] = []
    secret: Annotated[str, shown(skip=True)] = "s"


@dataclass
class Point:
    x: int
    y: Annotated[int, shown(full_only=True)]


class Loose(TypedDict):
    a: int
    b: Annotated[NotRequired[int], shown(full_only=True)]


ADA = Owner(login="ada", name="Ada")
TICKET = Ticket(
    size=3,
    key="T-1",
    about="it rains",
    opened=datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2))),
    owner=ADA,
    watchers=[ADA, Owner(login="bob")],
    log=["opened"],
)


def tool_for(returns: Any) -> DerivedTool:
    def tool() -> Any: ...

    tool.__annotations__["return"] = returns
    return derive_tool(tool, description="A tool.")


def views(returns: Any, value: Any) -> dict[str, Any]:
    """The value in each detail; each checked against the one published schema."""
    tool = tool_for(returns)
    result = {detail.value: tool.shown(tool.dump(value), detail) for detail in DetailLevel}
    for view in result.values():
        jsonschema_rs.validate(tool.contract.output_schema or {}, view)
    return result


def test_each_detail_shows_its_fields_and_the_name_comes_first() -> None:
    seen = views(Ticket, TICKET)
    common = {"key": "T-1", "about": "it rains", "size": 3, "opened": "2025-12-31T23:30:00Z"}
    people = {
        "owner": {"slug": "ada", "title": "Ada"},
        "watchers": [{"slug": "ada", "title": "Ada"}, {"slug": "bob"}],
    }
    assert seen["concise"] == {**common, **people, "hint": "ask for full detail"}
    assert seen["full"] == {**common, **people, "log": ["opened"]}
    assert list(seen["full"])[:3] == ["key", "about", "size"]


def test_the_published_schema_tells_what_may_be_missing_and_nothing_of_what_is_hidden() -> None:
    schema = tool_for(Ticket).contract.output_schema
    assert schema is not None
    assert list(schema["properties"])[:2] == ["key", "about"]
    assert set(schema["required"]) == {"key", "about", "size", "opened"}
    assert schema["properties"]["closed"] == {"type": "string", "format": "date-time"}
    assert not {"rowId", "Owner", "x-holdfast-shown"} & set(repr(schema).replace("'", " ").split())


def test_marks_hold_at_every_depth_and_in_every_container() -> None:
    value = {"a": [{"T-1": TICKET}], "b": []}
    seen = views(dict[str, list[dict[str, Ticket]]], value)
    assert seen["full"]["a"][0]["T-1"]["log"] == ["opened"]
    assert "log" not in seen["concise"]["a"][0]["T-1"]


def test_a_type_that_holds_itself_is_shown_all_the_way_down() -> None:
    root = Tree(name="root", children=[Tree(name="leaf")])
    root.children[0].parent = Tree(name="root")
    seen = views(Tree, root)["full"]
    assert seen["children"] == [{"name": "leaf", "parent": {"slug": "root"}, "children": []}]
    assert "secret" not in repr(seen)


@pytest.mark.parametrize(
    ("returns", "value", "concise"),
    [
        (Point, Point(1, 2), {"x": 1}),
        (Loose, {"a": 1, "b": 2}, {"a": 1}),
        (list[Point], [Point(1, 2)], [{"x": 1}]),
    ],
)
def test_dataclasses_typed_dicts_and_lists_are_projected_like_models(
    returns: Any, value: Any, concise: Any
) -> None:
    seen = views(returns, value)
    assert seen["concise"] == concise
    assert seen["full"] != concise


def test_a_type_without_marks_is_passed_on_as_it_is() -> None:
    tool = tool_for(dict[str, int])
    payload = {"a": 1}
    assert tool.projection is None
    assert tool.shown(payload, DetailLevel.CONCISE) is payload


def test_members_of_a_union_are_projected_together() -> None:
    class Box(BaseModel):
        x: int
        z: Annotated[int, shown(skip=True)] = 1

    assert views(Point | Box | None, Box(x=1)) == {"concise": {"x": 1}, "full": {"x": 1}}
    assert views(Point | Box | None, None) == {"concise": None, "full": None}


def test_a_time_without_an_offset_ends_the_call_with_its_place() -> None:
    tool = tool_for(list[Ticket])
    naive = TICKET.model_copy(update={"opened": datetime(2026, 1, 1)})  # noqa: DTZ001 - that is the point
    with pytest.raises(ProjectionBroken, match="/0/opened: timestamp"):
        tool.shown(tool.dump([naive]), DetailLevel.FULL)


def test_marks_of_a_model_say_nothing_where_it_is_an_argument() -> None:
    def tool(ticket: Ticket) -> None:
        """A tool."""

    schema = derive_tool(tool).contract.input_schema
    assert "x-holdfast-shown" not in repr(schema)
    assert "rowId" in repr(schema)


@given(st.lists(st.builds(Point, st.integers(-9, 9), st.integers(-9, 9)), max_size=5), st.booleans())
def test_full_detail_has_everything_that_concise_detail_has(points: list[Point], nested: bool) -> None:
    seen = views(dict[str, list[Point]], {"points": points}) if nested else views(list[Point], points)
    concise, full = seen["concise"], seen["full"]
    rows = zip(concise["points"], full["points"], strict=True) if nested else zip(concise, full, strict=True)
    assert all(small.items() <= large.items() for small, large in rows)


FIELDS: list[tuple[Any, list[Any]]] = [
    (int, [1]),
    (Annotated[int, shown(full_only=True)], [2]),
    (Annotated[str, shown(concise_only=True)], ["c"]),
    (Annotated[str | None, shown(skip_none=True)], [None, "n"]),
    (Annotated[int | None, shown(skip_none=True, full_only=True)], [None, 3]),
    (Annotated[bool, shown(skip=True)], [True]),
    (Annotated[str, timestamp()], ["2026-01-01T00:00:00+01:00"]),
    (Annotated[Owner | None, reference()], [None, ADA]),
    (Annotated[list[Owner], reference(), shown(full_only=True)], [[], [ADA]]),
    (list[Point | None], [[], [Point(1, 2), None]]),
    (dict[str, Point], [{}, {"p": Point(1, 2)}]),
]


@given(st.lists(st.sampled_from(FIELDS), max_size=6), st.data())
def test_whatever_is_marked_both_details_fit_the_one_published_schema(
    fields: list[tuple[Any, list[Any]]], data: st.DataObject
) -> None:
    marked = broken(**{f"f{number}": annotation for number, (annotation, _) in enumerate(fields)})
    values = {f"f{number}": data.draw(st.sampled_from(some)) for number, (_, some) in enumerate(fields)}
    seen = views(list[marked], [marked(**values)])  # type: ignore[valid-type]
    assert set(seen["concise"][0]) | set(seen["full"][0]) <= set(values)


def broken(**fields: Any) -> type:
    return type("Broken", (BaseModel,), {"__annotations__": fields, "__module__": __name__})


class A(BaseModel):
    f: int


class B(BaseModel):
    f: Annotated[int, shown(skip=True)]


@pytest.mark.parametrize(
    ("returns", "reason"),
    [
        (broken(f=Annotated[int, shown(full_only=True), shown(concise_only=True)]), "contradict"),
        (broken(f=Annotated[int, shown(full_only=True), shown(full_only=True)]), "twice"),
        (broken(f=Annotated[str, selector(), shown(skip=True)]), "contradict"),
        (broken(f=Annotated[str, selector(), title()]), "contradict"),
        (broken(f=Annotated[str, selector()], g=Annotated[str, selector()]), "both the selector"),
        (broken(f=Annotated[str, title()]), "without a selector"),
        (broken(f=Annotated[int, selector()]), "text"),
        (broken(f=Annotated[str | None, selector()]), "text"),
        (broken(f=Annotated[int, timestamp()]), "timestamp"),
        (broken(f=Annotated[int, shown(skip_none=True)]), "never None"),
        (broken(f=Annotated[Point, reference()]), "without a selector"),
        (broken(f=Annotated[str, reference()]), "without a selector"),
        (broken(f=list[Annotated[int, shown(full_only=True)]]), "no field"),
        (Annotated[Ticket, shown(full_only=True)], "no field"),
        (A | B, "differently"),
    ],
)
def test_marks_that_cannot_be_kept_are_refused_when_the_tool_is_declared(returns: Any, reason: str) -> None:
    with pytest.raises(ContractError, match=reason):
        tool_for(returns)


@pytest.mark.parametrize("words", [{}, {"full_only": "yes"}, {"skip": True, "full_only": True}])
def test_a_mark_that_says_nothing_or_nonsense_is_refused_at_once(words: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        shown(**words)


def test_an_unknown_word_of_a_mark_is_an_error_of_python() -> None:
    with pytest.raises(TypeError, match="full"):
        shown(full=True)  # type: ignore[call-arg]


@pytest.mark.parametrize("mark", [shown, selector, title, timestamp, reference])
def test_a_mark_without_parentheses_is_refused_and_not_forgotten(mark: Any) -> None:
    with pytest.raises(ContractError, match=f"{mark.__name__} is used without parentheses"):
        tool_for(broken(f=Annotated[str, mark]))


def test_a_mark_on_an_argument_itself_is_refused() -> None:
    def tool(day: Annotated[str, shown(full_only=True)]) -> None:
        """A tool."""

    with pytest.raises(ContractError, match="argument"):
        derive_tool(tool)


def test_a_moment_with_its_zone_is_shown_in_utc() -> None:
    class Event(BaseModel):
        at: Annotated[datetime, timestamp()]

    assert views(Event, Event(at=datetime(2026, 5, 4, tzinfo=UTC)))["concise"] == {"at": "2026-05-04T00:00:00Z"}
