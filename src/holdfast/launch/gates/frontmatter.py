"""Gate: the front matter of a page has the keys that the pages of its section have, with values of their types."""

from collections.abc import Mapping
from typing import Any

from holdfast.launch.front_matter import type_of
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.schema import front_matter_for
from holdfast.launch.gates.view import Page, View

__all__ = ["GATE", "check"]

# A type that may stand where another is the habit: Hugo reads both alike.
_FITTING = {("integer", "number"), ("date", "string")}


def check(view: View) -> Checked:
    """Only pages that are planned, since only of these the section is known."""
    contracts = view.artifacts["frontmatter_contract.json"]["sections"]
    found: list[Finding] = []
    for page in view.pages:
        if page.plan is not None and page.problem is None and page.plan["section"] in contracts:
            found += _page(page, contracts[page.plan["section"]], front_matter_for(page, view))
    return Checked(found, notes=[f"pages: {len(view.pages)}"])


def _page(page: Page, contract: Mapping[str, Any], known: Mapping[str, Any]) -> list[Finding]:
    data = page.front.data
    defaults = contract.get("default_values", {})
    was = page.data_before
    wanted = [key for key in contract["required_keys"] if page.is_new or key in was]
    found = [_missing(page, key, known | defaults) for key in wanted if key not in data]
    for key, kind in sorted(contract["key_types"].items()):
        if key not in data or (key in was and was[key] == data[key]):
            continue
        given = type_of(data[key])
        if kind not in (given, "null") and (given, kind) not in _FITTING:
            found.append(_wrong_type(page, key, given, kind, known | defaults))
    if not found and page.front.format not in (contract["format"], "none") and page.is_new:
        found.append(_wrong_format(page, contract["format"]))
    return found


def _missing(page: Page, key: str, values: Mapping[str, Any]) -> Finding:
    can_be_set = key in values
    return Finding(
        "FRONT_MATTER_KEY_MISSING",
        f"The front matter has no `{key}`, which the other pages of the section have.",
        page.path,
        1,
        anchor=f"missing {key}",
        suggested_fix=f"Add `{key}`.",
        fix_rule="complete_frontmatter" if can_be_set else "",
        data={"key": key, "value": values[key]} if can_be_set else {"key": key},
    )


def _wrong_type(page: Page, key: str, given: str, kind: str, values: Mapping[str, Any]) -> Finding:
    can_be_set = key in values and type_of(values[key]) == kind
    return Finding(
        "FRONT_MATTER_TYPE_WRONG",
        f"The value of `{key}` in the front matter is of the type {given}; it should be of the type {kind}.",
        page.path,
        1,
        anchor=f"type {key}",
        suggested_fix=f"Give `{key}` a value of the type {kind}.",
        fix_rule="replace_frontmatter" if can_be_set else "",
        data={"key": key, "value": values[key]} if can_be_set else {"key": key},
    )


def _wrong_format(page: Page, wanted: str) -> Finding:
    return Finding(
        "FRONT_MATTER_FORMAT_OTHER",
        f"The front matter is {page.front.format.upper()}, and that of the other pages is {wanted.upper()}.",
        page.path,
        1,
        anchor="format",
        suggested_fix=f"Write the front matter as {wanted.upper()}.",
        fix_rule="replace_frontmatter",
        data={"values": dict(page.front.data), "format": wanted},
    )


GATE = Gate(
    "frontmatter",
    "frontmatter",
    check,
    everywhere(
        FRONT_MATTER_KEY_MISSING="error",
        FRONT_MATTER_TYPE_WRONG="error",
        FRONT_MATTER_FORMAT_OTHER="warn error error",
    ),
    seconds(60, 120),
    uses=("frontmatter_contract.json", "page_plan.json"),
)
