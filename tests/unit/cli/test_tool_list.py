"""Listings of tools, also of servers whose definitions are nonsense."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.tool_list import describe_tools
from holdfast.client.peer import PeerInfo

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("title", "description", "inputSchema", "annotations", "_meta")
RULES = ("type", "enum", "const", "anyOf", "items", "$ref", "default", "description")


def listing(tool: dict[str, Any]) -> list[str]:
    return list(describe_tools(PeerInfo(name="shop", version="1"), [tool], {}))


@given(st.text(), st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_definition_can_be_listed_and_breaks_no_line(name: str, fields: dict[str, Any]) -> None:
    lines = listing({**fields, "name": name})

    assert lines[0] == "shop 1: 1 tool"
    assert not [line for line in lines if "\n" in line or "\x1b" in line]


@given(st.dictionaries(st.sampled_from(RULES), JSON))
def test_any_rule_of_an_argument_can_be_listed(rule: dict[str, Any]) -> None:
    lines = listing({"name": "tool", "inputSchema": {"properties": {"argument": rule}}})

    assert lines[3].startswith("    argument  ")


def test_types_are_told_in_few_words() -> None:
    properties = {
        "a": {"type": "array", "items": {"type": "string"}},
        "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "c": {"enum": ["x", 1]},
        "d": {"$ref": "#/$defs/Box"},
        "e": {},
    }
    lines = listing({"name": "tool", "inputSchema": {"properties": properties, "required": ["a"]}})
    told = [line.split("  ")[2:] for line in lines[3:8]]

    assert [" ".join(words[1:]).split(" ")[0] for words in told] == ["array", "integer|null", "x|1", "Box", "any"]
    assert "required" in lines[3]
