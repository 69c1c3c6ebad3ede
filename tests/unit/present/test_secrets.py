"""Where secrets stand in a schema, and text without them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.secrets import NO_SECRETS, REDACTED, Secrets, secret_places

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
        (schema(a={"type": "string", "format": "password"}), ()),
        (True, ()),
        (None, ()),
    ],
)
def test_places_are_found_wherever_a_schema_can_say_so(given_schema: Any, places: Any) -> None:
    assert secret_places(given_schema) == places


def test_values_are_taken_out_of_texts_and_documents() -> None:
    secrets = Secrets([("a",), ("list", "*")], {"a": 'x"y\nz', "list": ["abc", 1234], "b": "shown"})

    assert secrets.text('say x"y\nz and abcd, shown') == f"say {REDACTED} and {REDACTED}d, shown"
    assert secrets.value({"abc": [1234, "1234!", 12]}) == {REDACTED: [REDACTED, f"{REDACTED}!", 12]}
    assert secrets.encoded(b'{"t":"x\\"y\\nz","n":1}') == b'{"t":"[redacted]","n":1}'
    assert (secrets.covers("/a"), secrets.covers("/list/0/deeper"), secrets.covers("/b")) == (True, True, False)
    assert not NO_SECRETS


@given(st.text(min_size=3), st.text(), st.text())
def test_no_text_that_was_cleaned_holds_the_value(value: str, before: str, after: str) -> None:
    secrets = Secrets([("a",)], {"a": value})
    cleaned = secrets.text(f"{before}{value}{after}")
    assert value not in cleaned.replace(REDACTED, "") or value in REDACTED or value in before + after
