"""Names that move: what a caller meets behind each of them counts, not where it is written."""

from typing import Any

import pytest
from tests.unit.contract.compare.surfaces import LOOKUP, compared, deep, tool_edit

from holdfast.contract.compare.diff import SurfaceDiff

OTHER = {**LOOKUP, "name": "search", "aliases": [], "description": "Search for words in everything there is."}


def tools(*listed: dict[str, Any]) -> Any:
    return deep("tools", list(listed))


def rules(diff: SurfaceDiff) -> dict[str, set[str]]:
    return {name: {item.rule for item in changes} for name, changes in diff.tools.items()}


def test_an_older_name_may_become_the_name() -> None:
    promoted = tools({**LOOKUP, "name": "find", "aliases": ["lookup"]})

    assert rules(compared(promoted)) == {"lookup": {"tool.renamed_with_alias"}}


def test_an_older_name_that_leads_elsewhere_is_compared_with_what_it_was() -> None:
    moved = tools({**LOOKUP, "aliases": []}, {**OTHER, "aliases": ["find"], "timeoutMs": 1})

    assert rules(compared(moved)) == {
        "lookup": {"limit.tightened", "text.description_changed"},
        "search": {"tool.added"},
    }


def test_an_older_name_that_becomes_another_tool_is_compared_with_what_it_was() -> None:
    split = tools({**LOOKUP, "aliases": []}, {**LOOKUP, "name": "find", "aliases": [], "timeoutMs": 1})
    diff = compared(split)

    assert rules(diff) == {"find": {"tool.added", "limit.tightened"}}
    assert diff.breaking


def test_two_tools_that_take_nothing_are_not_taken_for_each_other() -> None:
    nothing: dict[str, Any] = {"inputSchema": {"type": "object"}, "outputSchema": None, "aliases": []}
    old, new = ({**LOOKUP, **nothing, "name": name, "description": f"{name} it."} for name in ("stop", "start"))

    assert rules(compared(tools(new), tools(old))) == {"start": {"tool.added"}, "stop": {"tool.removed"}}


def test_a_removed_tool_is_shown_by_a_call_that_worked() -> None:
    (removed,) = compared(tools()).tools["lookup"]
    (bare,) = compared(tools(), tool_edit(examples=[])).tools["lookup"]

    assert removed.witness == {"name": "lookup", "arguments": {"sku": "A-1"}}
    assert bare.witness["name"] == "lookup"
    assert isinstance(bare.witness["arguments"]["sku"], str)


@pytest.mark.requirement("OURS-2-in-doubt")
@pytest.mark.parametrize("side", ["inputSchema", "outputSchema"])
def test_what_nobody_can_decide_counts_as_breaking(side: str) -> None:
    def with_pattern(pattern: str) -> Any:
        return tool_edit(
            **{side: {"type": "object", "properties": {"sku": {"type": "string", "pattern": pattern}}}}
        )

    diff = compared(with_pattern("^(?=.*b)(?!.*cc).*z$"), with_pattern("^(?=.*a)(?!.*dd).*z$"))

    (doubtful,) = diff.tools["lookup"]
    assert (doubtful.effect, doubtful.bump.value, doubtful.acknowledge) == ("unknown", "major", True)
    assert "could not be decided" in doubtful.message
    assert diff.breaking


def test_each_change_is_said_once_and_the_worst_first() -> None:
    diff = compared(tool_edit(timeoutMs=1, description="Other words.", errors=[], title=None))
    bumps = [item.bump.value for item in diff.tools["lookup"]]

    assert bumps == ["major", "major", "patch", "patch"]
    assert len({item.address for item in diff.changes}) == len(diff.changes)


def test_the_json_says_what_a_person_must_look_at() -> None:
    told = compared(tool_edit(description="Other words.")).to_json()

    assert told["acknowledge"] == ["text.description_changed@lookup/description"]
    assert [item["rule"] for item in told["violations"]] == ["version.reused", "version.reused"]
    assert told["surface"] == {"bump": "none", "changes": []}
