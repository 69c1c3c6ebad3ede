"""Where secrets stand in a schema, and text without them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.secrets import MOST_VISITS, NO_SECRETS, REDACTED, Secrets, secret_places

SECRET = {"type": "string", "writeOnly": True, "format": "password"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("given_schema", "places"),
    [
        (schema(a=SECRET, b={"type": "string"}), (("a",),)),
        (schema(a=schema(b=SECRET)), (("a", "b"),)),
        (schema(a={"type": "array", "items": SECRET}), (("a", "*"),)),
        (schema(a={"type": "object", "additionalProperties": SECRET}), (("a", "*"),)),
        (schema(a={"anyOf": [SECRET, {"type": "null"}]}), (("a",),)),
        ({**schema(a={"$ref": "#/$defs/L"}), "$defs": {"L": schema(p=SECRET)}}, (("a", "p"),)),
        ({**schema(a={"$ref": "#/$defs/L"}), "$defs": {"L": schema(l={"$ref": "#/$defs/L"})}}, ()),
        (schema(a={"type": "array", "prefixItems": [SECRET, {"type": "integer"}]}), (("a", "0"),)),
        (schema(a={"type": "array", "items": [{"type": "integer"}, SECRET]}), (("a", "1"),)),
        (schema(a={"type": "object", "patternProperties": {"^k": SECRET}}), (("a", "*"),)),
        (schema(a={"if": {"type": "string"}, "then": SECRET}), (("a",),)),
        ({"dependentSchemas": {"a": schema(b=SECRET)}}, (("b",),)),
        (schema(a={"type": "string", "format": "password"}), ()),
        (True, ()),
        (None, ()),
    ],
)
def test_places_are_found_wherever_a_schema_can_say_so(given_schema: Any, places: Any) -> None:
    assert secret_places(given_schema) == places


def nested(width: int, depth: int, leaf: Any) -> dict[str, Any]:
    """A small schema with width ** depth ways to its leaf, each of which is a place of its own."""
    parts: dict[str, Any] = {f"d{depth}": leaf}
    for level in range(depth):
        parts[f"d{level}"] = schema(**{f"p{n}": {"$ref": f"#/$defs/d{level + 1}"} for n in range(width)})
    return {**schema(a={"$ref": "#/$defs/d0"}), "$defs": parts}


class Counted(dict[str, Any]):
    """A part of a schema that counts how often it is looked at."""

    visits = 0

    def get(self, *words: Any) -> Any:
        Counted.visits += 1
        return super().get(*words)


@pytest.mark.parametrize("leaf", [{"type": "string"}, SECRET])
def test_a_schema_with_a_billion_places_costs_a_bounded_number_of_visits(leaf: Any) -> None:
    Counted.visits = 0
    bomb = nested(8, 10, leaf)
    bomb["$defs"] = {name: Counted(part) for name, part in bomb["$defs"].items()}

    places = secret_places(bomb)

    assert Counted.visits < 40 * MOST_VISITS
    assert bool(places) is (leaf is SECRET)
    assert all(place[0] == "a" for place in places)  # everything that was not visited counts as a secret


def test_many_ways_to_the_same_place_are_one_visit() -> None:
    parts: dict[str, Any] = {"d11": SECRET}
    for level in range(11):
        parts[f"d{level}"] = {"anyOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 10}
    assert secret_places({**schema(a={"$ref": "#/$defs/d8"}), "$defs": parts}) == (("a",),)


def test_values_are_taken_out_of_texts_and_documents() -> None:
    secrets = Secrets([("a",), ("list", "*")], {"a": 'x"y\nz', "list": ["abc", 1234], "b": "shown"})

    assert secrets.text('say x"y\nz and abcd, shown') == f"say {REDACTED} and {REDACTED}d, shown"
    assert secrets.value({"abc": [1234, "1234!", 12]}) == {REDACTED: [REDACTED, f"{REDACTED}!", 12]}
    assert (secrets.covers("/a"), secrets.covers("/list/0/deeper"), secrets.covers("/b")) == (True, True, False)
    assert not NO_SECRETS


def test_an_element_of_a_tuple_is_found_by_its_place() -> None:
    secrets = Secrets([("pair", "0")], {"pair": ["opensesame", "shown"]})
    assert secrets.text("opensesame shown") == f"{REDACTED} shown"


LONG = "opensesame-ABCDEFGHIJ-klmnopqrst-0123456789-UVWXYZ"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"input_value='{LONG[:25]}...{LONG[-24:]}', it", f"input_value='{REDACTED}...{REDACTED}', it"),
        (f"{LONG[:9]}{LONG[:9]} {LONG[-8:]}{LONG[-8:]}", f"{REDACTED}{REDACTED} {REDACTED}{REDACTED}"),
        (f"...{LONG[20:]}", f"...{REDACTED}"),
        (LONG[:7], LONG[:7]),
    ],
)
def test_what_others_have_cut_is_no_piece_of_it(text: str, told: str) -> None:
    assert Secrets([("a",)], {"a": LONG}).text(text) == told


def test_a_text_full_of_beginnings_is_gone_through_once() -> None:
    secrets = Secrets([("a",)], {"a": "a" * 8 + "b" * 30})
    cleaned = secrets.text("a" * 4_000_000)  # takes minutes where every find copies the text
    assert cleaned == REDACTED * 500_000


@pytest.mark.parametrize(
    ("value", "result", "kept"),
    [
        ('x"y\nz', {"content": [{"type": "text", "text": 'say x"y\nz'}]}, "say [redacted]"),
        ("text", {"content": [{"type": "text", "text": "a text"}]}, "a [redacted]"),
        ("content", {"content": [{"type": "text", "text": "content"}]}, REDACTED),
    ],
)
def test_a_stored_result_is_still_one(value: str, result: dict[str, Any], kept: str) -> None:
    cleaned = Secrets([("a",)], {"a": value}).result(json.dumps(result).encode())
    assert cleaned is not None
    assert json.loads(cleaned) == {"content": [{"type": "text", "text": kept}]}


def test_a_stored_result_holds_no_number_and_no_name_that_is_secret() -> None:
    secrets = Secrets([("pin",), ("key",), ("user",)], {"pin": 918273, "key": "opensesame", "user": "said"})
    own = {"n": 918273, "opensesame": [918273.5], "said": "opensesame"}
    cleaned = secrets.result(json.dumps({"resultType": "complete", "structuredContent": own}).encode())
    assert cleaned is not None
    assert json.loads(cleaned)["structuredContent"] == {"n": REDACTED, REDACTED: [918273.5], "said": REDACTED}
    untouched = b'{"content": [], "n": 1.00}'
    assert secrets.result(untouched) == untouched
    assert secrets.result(b"{") is None


@given(st.text(min_size=3), st.text(), st.text())
def test_no_text_that_was_cleaned_holds_the_value(value: str, before: str, after: str) -> None:
    secrets = Secrets([("a",)], {"a": value})
    cleaned = secrets.text(f"{before}{value}{after}")
    assert value not in cleaned.replace(REDACTED, "") or value in REDACTED or value in before + after
