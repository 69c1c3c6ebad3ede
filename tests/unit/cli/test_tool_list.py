"""Listings of tools, also of servers whose definitions are nonsense."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast import Deprecation, Server, effect, normalize
from holdfast.cli.tool_list import describe_tools
from holdfast.client.peer import PeerInfo

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("title", "description", "inputSchema", "annotations", "_meta")
RULES = (
    "type",
    "enum",
    "const",
    "anyOf",
    "items",
    "$ref",
    "default",
    "description",
    "properties",
    "minimum",
    "pattern",
)
ROOTS = ("properties", "required", "else", "dependentSchemas", "$defs")


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


@given(st.dictionaries(st.sampled_from(ROOTS), JSON))
def test_any_input_schema_can_be_listed(schema: dict[str, Any]) -> None:
    assert listing({"name": "tool", "inputSchema": schema})[2] == "tool"


def rows(schema: dict[str, Any]) -> list[str]:
    return [" ".join(line.split()) for line in listing({"name": "tool", "inputSchema": schema})[3:]]


def test_references_limits_and_the_fields_of_objects_are_shown() -> None:
    box = {
        "type": "object",
        "properties": {"width": {"type": "integer", "minimum": 1, "maximum": 10}},
        "required": ["width"],
    }
    properties = {
        "color": {"$ref": "#/$defs/Color"},
        "sku": {"type": "string", "pattern": "^A", "deprecated": True},
        "boxes": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Box"}}, {"type": "null"}]},
    }
    found = rows({"properties": properties, "$defs": {"Color": {"enum": ["red", "blue"]}, "Box": box}})

    assert found[:4] == [
        "color red|blue optional",
        "sku string pattern ^A optional deprecated",
        "boxes array of object|null optional",
        "boxes[].width integer >=1 <=10 required",
    ]


def test_a_schema_that_refers_to_itself_is_listed_one_level_deep() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "loop": {"$ref": "#/$defs/Loop"}}}
    definitions = {"Node": node, "Loop": {"$ref": "#/$defs/Loop"}}

    found = rows({"properties": {"node": {"$ref": "#/$defs/Node"}}, "$defs": definitions})

    assert found[:3] == ["node object optional", "node.next object optional", "node.loop Loop optional"]


def test_what_the_server_declares_is_shown_in_short() -> None:
    server = Server("shop", version="1.0.0")

    @server.tool(
        effect=effect.replay_safe(), read_only=True, timeout=5.0, aliases=("find",),
        normalize=normalize.aliases(article="sku"),
    )  # fmt: skip
    async def lookup(sku: str) -> str:
        """Look it up."""
        return sku

    @server.tool(deprecated=Deprecation("1.1.0", replacement="lookup"))
    async def old() -> str:
        """Old."""
        return ""

    told = describe_tools(PeerInfo(name="shop"), server.tool_definitions(), server.surface.by_name)
    lines = [" ".join(line.split()) for line in told]

    assert lines[4:8] == [
        "sku string required",
        "article string alias of sku",
        "effect: replay_safe, read-only",
        "timeout: 5 s",
    ]
    assert "alias of lookup, deprecated since 1.0.0: use lookup" in lines
    assert "deprecated since 1.1.0: use lookup" in lines
