"""Checks of a contract that somebody wrote by hand."""

import pytest

from holdfast.contract.check import check_contract
from holdfast.contract.model import ToolContract
from holdfast.errors import ContractError
from holdfast.vocabulary.effects import deduplicated

SCHEMA = {
    "type": "object",
    "properties": {"key": {"enum": ["a", 1, None]}, "a/b": {"$ref": "#/$defs/Key"}, "free": {}},
    "$defs": {"Key": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
}


def contract(key: str) -> ToolContract:
    return ToolContract(name="pay", description="Pay.", input_schema=SCHEMA, effect=deduplicated(key))


@pytest.mark.parametrize("key", ["/arguments/key", "/arguments/a~1b"])
def test_a_key_of_text_or_whole_numbers_is_accepted(key: str) -> None:
    check_contract(contract(key))


@pytest.mark.parametrize("key", ["/arguments/free", "/arguments/a", "/arguments/key/x", "/arguments/~0"])
def test_a_key_that_is_free_or_nowhere_is_refused(key: str) -> None:
    with pytest.raises(ContractError, match="tool 'pay', parameter"):
        check_contract(contract(key))


def test_an_output_example_needs_an_output_schema() -> None:
    tool = ToolContract(name="pay", description="Pay.", input_schema={}, output_example=1)
    with pytest.raises(ContractError, match="no output schema"):
        check_contract(tool)
