"""What a caller is told of arguments that do not fit."""

from typing import Any

import pytest

from holdfast.worker.validate import SchemaValidator

OPTIONAL = {"properties": {"line": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "0 is less than the minimum of 1"),
        ("x", '"x" is not of type "integer" or "x" is not of type "null"'),
    ],
)
def test_a_wrong_value_of_an_optional_argument_is_told_with_its_limit(value: Any, message: str) -> None:
    (violation,) = SchemaValidator(OPTIONAL).violations({"line": value})
    assert (violation["instancePath"], violation["keyword"], violation["message"]) == ("/line", "anyOf", message)
