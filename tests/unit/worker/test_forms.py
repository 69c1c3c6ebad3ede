"""Forms: what of a model becomes a field, what is refused, and what of an answer is believed."""

import enum
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field
from tests.contract.official_schemas import assert_valid

from holdfast import question
from holdfast.errors import ContractError, IncapableError
from holdfast.worker.forms import UnreadableError, form_of


class Size(enum.Enum):
    """How large."""

    SMALL = "s"
    LARGE = "l"


class Everything(BaseModel):
    """One field of each kind."""

    name: Annotated[str, Field(min_length=2, max_length=9, pattern="^[a-z]+$", description="Who")]
    born: date
    age: Annotated[int, Field(ge=0, le=150)] = 30
    score: float = 95.5
    sure: bool = False
    size: Size = Size.SMALL
    color: Annotated[Literal["r", "g"], question.titles(r="Red", g="Green")] = "r"
    tags: list[Literal["a", "b"]] = []
    flavors: Annotated[list[Literal["v", "c"]], question.titles({"v": "Vanilla"})] = []
    note: str | None = None


@dataclass
class Point:
    """A place."""

    x: float
    y: float = 0.0


def test_every_kind_of_field_becomes_what_the_protocol_has_for_it() -> None:
    fields = form_of(Everything).schema["properties"]
    assert fields["name"] == {
        "type": "string",
        "title": "Name",
        "description": "Who",
        "minLength": 2,
        "maxLength": 9,
    }
    assert fields["born"]["format"] == "date"
    assert fields["age"] == {"type": "integer", "title": "Age", "default": 30, "minimum": 0, "maximum": 150}
    assert (fields["score"]["default"], fields["sure"]["default"]) == (95.5, False)
    assert fields["size"]["enum"] == ["s", "l"]
    assert fields["size"]["default"] == "s"
    assert fields["color"]["oneOf"] == [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
    assert "enum" not in fields["color"]
    assert fields["tags"]["items"] == {"type": "string", "enum": ["a", "b"]}
    assert fields["flavors"]["items"] == {
        "anyOf": [{"const": "v", "title": "Vanilla"}, {"const": "c", "title": "c"}]
    }
    assert fields["note"] == {"type": "string", "title": "Note"}
    assert form_of(Everything).schema["required"] == ["name", "born"]


@pytest.mark.parametrize("wanted", [Everything, Point, bool, int, Literal["a", "b"], Size])
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_forms_are_valid_at_the_revisions_that_have_all_kinds_of_fields(wanted: Any, revision: str) -> None:
    params = {"message": "?", "requestedSchema": form_of(wanted).requested(has_choices=True)}
    assert_valid(revision, "ElicitRequestFormParams", params)


def test_where_a_revision_knows_no_titles_and_defaults_there_are_none() -> None:
    class Older(BaseModel):
        color: Annotated[Literal["r", "g"], question.titles(r="Red", g="Green")] = "r"
        sure: bool = True

    schema = form_of(Older).requested(has_choices=False)
    assert schema["properties"]["color"]["enum"] == ["r", "g"]
    assert schema["properties"]["color"]["enumNames"] == ["Red", "Green"]
    assert not {"oneOf", "default"} & set(schema["properties"]["color"])
    assert schema["properties"]["sure"]["default"] is True
    message = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}}
    assert_valid("2025-06-18", "ElicitRequest", message)


def test_several_choices_cannot_be_asked_where_the_revision_has_none() -> None:
    with pytest.raises(IncapableError, match="tags"):
        form_of(Everything).requested(has_choices=False)


def test_an_answer_becomes_an_object_of_the_model() -> None:
    answer = form_of(Everything).read({"name": "ann", "born": "2001-02-03", "size": "l", "tags": ["a"], "more": 1})
    assert answer == Everything(name="ann", born=date(2001, 2, 3), size=Size.LARGE, tags=["a"])
    assert form_of(Point).read({"x": 1}) == Point(1.0, 0.0)
    assert form_of(bool).read({"value": True}) is True


def test_a_strict_model_takes_what_its_form_asks_for() -> None:
    class Stay(BaseModel):
        model_config = ConfigDict(strict=True)
        begins: date
        size: Size

    stay = form_of(Stay).read({"begins": "2024-02-29", "size": Size.SMALL.value})
    assert stay == Stay(begins=date(2024, 2, 29), size=Size.SMALL)


def test_a_schema_of_ones_own_gives_a_mapping_with_its_defaults() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "integer", "default": 3}}, "required": ["a"]}
    assert form_of(schema).read({"a": "x"}) == {"a": "x", "b": 3}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "without its fields"),
        ([], "without its fields"),
        ({}, "name"),
        ({"name": 5, "born": "2001-02-03"}, "/name"),
        ({"name": "UPPER", "born": "2001-02-03"}, "/name"),
        ({"name": "ann", "born": "no date"}, "/born"),
        ({"name": "ann", "born": "2001-02-03", "age": 151}, "/age"),
        ({"name": "ann", "born": "2001-02-03", "color": "blue"}, "/color"),
        ({"name": "ann", "born": "2001-02-03", "tags": ["z"]}, "/tags"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_its_place(content: Any, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        form_of(Everything).read(content)


@pytest.mark.parametrize(
    "field",
    [
        {"type": "object"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array"},
        {"enum": [1, 2]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {},
        True,
    ],
)
def test_what_no_client_can_show_is_refused_when_the_form_is_made(field: Any) -> None:
    with pytest.raises(ContractError, match="the form field 'odd'"):
        form_of({"properties": {"odd": field}})


@pytest.mark.parametrize("wanted", [{}, {"properties": []}, BaseModel.__init__, lambda: 0])
def test_what_is_no_form_at_all_is_refused(wanted: Any) -> None:
    with pytest.raises(ContractError):
        form_of(wanted)
