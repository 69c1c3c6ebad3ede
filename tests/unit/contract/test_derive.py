"""A whole tool from a function: what is published, and what is refused."""

import datetime as dt
import functools
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import jsonschema_rs
import pytest
from annotated_types import Ge
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from tests.rows import each_row
from tests.unit.contract.shapes import Colour, Item, Money

from holdfast.contract.derive import derive_tool
from holdfast.contract.model import Deprecation, ErrorSpec
from holdfast.errors import ContractError
from holdfast.present.dialects import Dialect
from holdfast.present.normalize import aliases, integers
from holdfast.vocabulary.effects import EffectKind, at_most_once, deduplicated, replay_safe


class Context:
    pass


async def lookup(sku: str, ctx: Context, limit: Annotated[int, Ge(1)] = 10, colour: Colour = Colour.RED) -> Money:
    """Return the stock of one article.

    Args:
        sku: The number of the article.
        limit: At most so many.
        ctx: Not an argument.
    """
    return Money(len(sku) + limit)


def test_the_published_schema_is_exactly_what_signature_and_docstring_say() -> None:
    tool = derive_tool(lookup, context_types=(Context,))
    assert tool.contract.description == "Return the stock of one article."
    assert (tool.is_async, tool.context_parameter, tool.function) == (True, "ctx", lookup)
    assert tool.contract.input_schema == {
        "type": "object",
        "properties": {
            "sku": {"type": "string", "description": "The number of the article."},
            "limit": {"type": "integer", "minimum": 1, "default": 10, "description": "At most so many."},
            "colour": {"$ref": "#/$defs/Colour", "default": "red"},
        },
        "required": ["sku"],
        "additionalProperties": False,
        "$defs": {"Colour": {"type": "string", "enum": ["red", "blue"], "description": "The colour of a box."}},
    }


def test_a_tool_that_declares_nothing_is_never_repeated() -> None:
    contract = derive_tool(lookup, context_types=(Context,)).contract
    assert contract.effect.kind is EffectKind.AT_MOST_ONCE
    assert contract.idempotency.startswith("No.")


def test_a_description_in_the_annotation_wins_over_the_docstring() -> None:
    def find(sku: Annotated[str, Field(description="From the type.")]) -> None:
        """Find.

        :param sku: From the docstring.
        """

    schema = derive_tool(find).contract.input_schema
    assert schema["properties"]["sku"]["description"] == "From the type."


def test_a_function_without_parameters_takes_an_empty_closed_object() -> None:
    def ping() -> None:
        """Ping."""

    contract = derive_tool(ping).contract
    assert contract.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert contract.output_schema == {"type": "object", "properties": {}}


def test_a_reserved_argument_is_published_and_refused_when_set() -> None:
    def find(sku: str) -> None:
        """Find."""

    schema = derive_tool(find, reserved=("cursor",)).contract.input_schema
    assert schema["properties"]["cursor"] == {"not": {}, "description": "Reserved; rejected when set."}
    assert jsonschema_rs.is_valid(schema, {"sku": "a"})
    assert not jsonschema_rs.is_valid(schema, {"sku": "a", "cursor": None})


def test_presentation_arguments_are_optional_words() -> None:
    def find(sku: str) -> None:
        """Find."""

    schema = derive_tool(find, presentation_arguments=True).contract.input_schema
    assert list(schema["properties"]) == ["sku", "render", "detail"]
    assert jsonschema_rs.is_valid(schema, {"sku": "a", "render": "json", "detail": "full"})
    assert not jsonschema_rs.is_valid(schema, {"sku": "a", "render": "xml"})


def test_what_normalization_accepts_is_in_the_published_schema() -> None:
    def find(sku: str, limit: int = 3) -> None:
        """Find."""

    spelling = aliases(article="sku") | integers("limit")
    tool = derive_tool(find, normalization=spelling, examples=[{"article": "a", "limit": "7"}])
    assert jsonschema_rs.is_valid(tool.contract.input_schema, {"article": "a", "limit": "7"})
    assert tool.bind(spelling.apply({"article": "a", "limit": "7"})) == {"sku": "a", "limit": 7}


def test_a_default_of_any_type_is_told_in_its_json_form() -> None:
    def find(tags: set[str] = {"b", "a"}, price: Money = Money(1)) -> None:  # noqa: B006, B008
        """Find."""

    properties = derive_tool(find).contract.input_schema["properties"]
    assert properties["tags"]["default"] == ["a", "b"]
    assert properties["price"] == {"$ref": "#/$defs/Money", "default": {"cents": 1, "currency": "EUR"}}


class Endless(BaseModel):
    limit: float = float("inf")


def test_a_default_that_json_cannot_say_is_left_out() -> None:
    def find(sku: str = object(), limits: Endless = Endless()) -> None:  # type: ignore[assignment]  # noqa: B008
        """Find."""

    schema = derive_tool(find).contract.input_schema
    assert schema["properties"] == {"sku": {"type": "string"}, "limits": {"$ref": "#/$defs/Endless"}}
    assert schema["$defs"]["Endless"]["properties"] == {"limit": {"type": "number"}}


class WithStatus(BaseModel):
    status: str


def plain(sku: str) -> Money:
    """Plain."""
    return Money(len(sku))


def nested(item: Item) -> Money:
    """Nested."""
    return item.price


def render_one(render: str) -> None:
    """Render."""


def untyped_part(sku: str, options: dict[str, Any]) -> None:
    """Untyped."""


def returns_any() -> Any:
    """Anything."""


def returns_status() -> WithStatus | None:
    """Status."""


def wrong_default(limit: int = None) -> None:  # type: ignore[assignment]  # noqa: RUF013
    """Wrong."""


def low_default(limit: Annotated[int, Ge(1)] = 0) -> None:
    """Low."""


def hidden(sku: Annotated[str, SkipJsonSchema()]) -> None:
    """Hidden."""


def dated(day: dt.date) -> None:
    """Dated."""


def undocumented(sku: str) -> None: ...


REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str, str]] = [
    (untyped_part, {}, "parameter 'options': is or contains something untyped", "pydantic.JsonValue"),
    (returns_any, {}, "the return type is or contains something untyped", "pydantic.JsonValue"),
    (returns_status, {}, "field 'status'", "rename the field"),
    (wrong_default, {}, "parameter 'limit': the default None", "int | None = None"),
    (low_default, {}, "parameter 'limit': the default 0", "correct the default"),
    (hidden, {}, "hidden from the schema", "publish it"),
    (dated, {"examples": [{"day": "2024-02-30"}]}, "example 1 is refused by the types", "must be a call"),
    (undocumented, {}, "no description", "docstring"),
    (render_one, {"presentation_arguments": True}, "parameter 'render'", "another name"),
    (plain, {"reserved": ("sku",)}, "parameter 'sku': is reserved and in use", "rename it"),
    (plain, {"reserved": ("render",), "presentation_arguments": True}, "reserved and in use", "rename it"),
    (plain, {"reserved": ("a",), "normalization": aliases(a="sku")}, "another name of a parameter", "choose"),
    (plain, {"normalization": aliases(a="nothing")}, "normalization: 'nothing' is not a field", "parameters"),
    (plain, {"examples": [{"sku": 5}]}, "example 1 does not fit the input schema at /sku", "must be a call"),
    (plain, {"examples": [{"sku": "a"}, {}]}, "example 2 does not fit", "correct the example"),
    (plain, {"examples": ["a"]}, "example 1 is 'a'", "dict of arguments"),
    (nested, {"examples": [{"item": {"sku": "a", "price": {"cents": 1, "x": 1}}}]}, "at /item/price", "correct"),
    (plain, {"examples": [{"sku": b"a"}]}, "examples is not a JSON value", "use only"),
    (plain, {"output_example": {"cents": float("nan")}}, "output_example is not a JSON value", "use only"),
    (plain, {"description": "\ud800"}, "description is not a JSON value", "use only"),
    (plain, {"output_example": {"cents": "1"}}, "output_example does not fit the output schema at /cents", "JSON"),
    (plain, {"effect": deduplicated("/arguments/key")}, "points at no argument", "sku"),
    (plain, {"effect": deduplicated("/arguments/sku/x")}, "points at no argument", "none"),
    (plain, {"effect": deduplicated("/arguments/c"), "reserved": ("c",)}, "points at no argument", "sku"),
    (nested, {"effect": deduplicated("/arguments/item")}, "neither text nor a whole number", "str or int"),
    (plain, {"effect": deduplicated("/arguments/sku"), "normalization": aliases(a="sku")}, "another name", "drop"),
    (plain, {"read_only": True, "effect": at_most_once()}, "read-only", "replay_safe()"),
    (plain, {"errors": ("NOPE",)}, "'NOPE' is not known", 'ErrorSpec("NOPE"'),
    (plain, {"errors": 5}, "errors is 5", "tuple of codes"),
    (plain, {"errors": ("TOOL_TIMEOUT",)}, "'TOOL_TIMEOUT' is not for tools", "a code of your own"),
    (plain, {"name": 5}, "name is 5", "leave it out"),
    (plain, {"description": 5}, "description is 5", "docstring"),
    (plain, {"session_state": "stateless"}, "session_state is 'stateless'", "SessionState.STATELESS"),
    (plain, {"deprecated": "1.0.0"}, "deprecated is '1.0.0'", 'Deprecation("1.0.0"'),
    (plain, {"normalization": "integers"}, "normalization is 'integers'", "normalize.integers"),
    (plain, {"reserved": "cursor"}, "reserved is the text 'cursor'", '("cursor",)'),
    (plain, {"reserved": (5,)}, "reserved is (5,)", "tuple of names"),
    (plain, {"aliases": 5}, "aliases is 5", "tuple of names"),
    (plain, {"examples": {"sku": "a"}}, "examples is {'sku': 'a'}", "list of calls"),
    (plain, {"isolate": "yes"}, "isolate is 'yes'", "True or False"),
    (plain, {"title": "\ud800"}, "title is not a JSON value", "use only"),
    (plain, {"security": "\ud800"}, "security is not a JSON value", "use only"),
    (plain, {"errors": (ErrorSpec("A", "\ud800", "r"),)}, "errors is not a JSON value", "use only"),
    (plain, {"deprecated": Deprecation("1.0.0", "\ud800")}, "deprecated is not a JSON value", "use only"),
    (plain, {"name": "a/b"}, "cannot name a tool", "A-Z"),
    (plain, {"version": "1"}, "'1' is not a SemVer version", "1.0.0"),
]


@each_row(("function", "declared", "said", "remedy"), REFUSED)
def test_a_tool_that_cannot_be_promised_is_refused_with_what_to_write(
    function: Callable[..., Any], declared: dict[str, Any], said: str, remedy: str
) -> None:
    with pytest.raises(ContractError) as caught:
        derive_tool(function, **declared)
    assert said in caught.value.message
    assert caught.value.message.startswith("tool '")
    assert remedy in caught.value.remedy
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.count("Traceback") == 1, "the errors of the libraries beneath tell the author nothing"


nameless: Callable[..., Any] = lambda: None  # noqa: E731


class Shop:
    def count(self) -> None:
        """Count."""


def inner_function() -> Callable[..., Any]:
    def inner() -> None:
        """Inner."""

    return inner


@pytest.mark.parametrize(
    "function",
    [nameless, inner_function(), functools.partial(plain, "a"), Shop().count],
    ids=["lambda", "local", "partial", "bound method"],
)
def test_a_function_that_another_process_cannot_import_is_not_isolated(function: Callable[..., Any]) -> None:
    with pytest.raises(ContractError) as caught:
        derive_tool(function, name="shop", isolate=True)
    assert caught.value.message.startswith("tool 'shop': isolate=True")
    assert caught.value.remedy == "define it at the top level of its module"


def test_a_function_at_the_top_level_of_its_module_can_be_isolated() -> None:
    assert derive_tool(plain, isolate=True).contract.isolate


def test_a_field_that_one_dialect_uses_is_free_in_another() -> None:
    def state() -> WithStatus:
        """State."""
        return WithStatus(status="open")

    assert derive_tool(state, dialect=Dialect.LAUNCH).contract.output_schema is not None


@pytest.mark.parametrize("key", ["/arguments/sku", "/arguments/item/price/cents"])
def test_a_deduplication_key_may_lie_deep_inside_an_argument(key: str) -> None:
    def order(sku: str | None, item: Item) -> None:
        """Order."""

    assert derive_tool(order, effect=deduplicated(key)).contract.effect.key == key


def test_errors_of_the_tools_own_are_kept_with_their_words() -> None:
    own = ErrorSpec("OUT_OF_STOCK", "None left.", "Come back.", retryable=True)
    contract = derive_tool(plain, errors=("NOT_FOUND", own), effect=replay_safe(), read_only=True).contract
    assert [spec.code for spec in contract.errors] == ["NOT_FOUND", "OUT_OF_STOCK"]
    assert contract.errors[1] is own


DERIVE_ALL = """
from holdfast.contract.derive import derive_tool
from holdfast.contract.surface import Surface
from holdfast.contract.snapshot import write_snapshot
from tests.unit.contract.shapes import PLAIN, moments
import sys
surface = Surface(name="all", version="1.0.0", tools=tuple(derive_tool(f).contract for f in (*PLAIN, moments)))
sys.stdout.buffer.write(write_snapshot(surface))
"""


def test_the_same_functions_give_the_same_bytes_under_every_hash_seed() -> None:
    root = Path(__file__).parents[3]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", DERIVE_ALL],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert b'"records"' in outputs[0]


OWN_SCHEMA = {
    "type": "object",
    "properties": {"async": {"type": "boolean", "description": "A word that no parameter can be called."}},
    "additionalProperties": False,
}


def whole(arguments: dict[str, Any]) -> Money:
    """Take the arguments as they come."""
    return Money(len(arguments))


def test_a_schema_of_the_author_is_published_and_the_arguments_come_whole() -> None:
    derived = derive_tool(whole, input_schema=OWN_SCHEMA)
    assert derived.contract.input_schema == OWN_SCHEMA
    assert derived.bind({"async": True}) == {"arguments": {"async": True}}


def test_a_schema_of_the_author_must_be_closed() -> None:
    with pytest.raises(ContractError, match="open"):
        derive_tool(whole, input_schema={"type": "object"})


def test_a_schema_of_the_author_goes_with_one_parameter() -> None:
    with pytest.raises(ContractError, match="2 parameters"):
        derive_tool(pair, input_schema=OWN_SCHEMA)


def pair(one: str, other: str) -> Money:
    """Take two."""
    return Money(len(one + other))
