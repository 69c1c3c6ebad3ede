"""What changed in the form of a failure, where a surface or a tool publishes a schema for it.

A failure is an answer, so its schema is compared like that of an answer; only that a field of it that is gone, or
goes by another name, always breaks the programs that handle failures.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.places import escaped, properties
from holdfast.contract.compare.schema_changes import answer_changes
from holdfast.contract.inclusion.bump import Bump

__all__ = ["envelope_changes"]

_ROOT = "/errorSchema"
# How the name of a rule about properties begins -> the rule about fields of failures.
_FIELDS = {
    "object.property_renamed": "error.envelope_field_renamed",
    "object.property_removed": "error.envelope_field_removed",
    "object.required_property_removed": "error.envelope_field_removed",
    "object.property_became_optional": "error.envelope_field_now_optional",
    "object.optional_property_added": "error.envelope_field_added",
    "object.required_property_added": "error.envelope_field_added",
}


def envelope_changes(old: Any, new: Any, *, strict: bool) -> Iterator[Change]:
    """Every change of the schema of failures; None is no schema."""
    if old == new:
        return
    if old is None or new is None:
        rule = "error.schema_added" if old is None else "error.schema_removed"
        yield change(rule, _ROOT, "schema of failures", strict=strict)
        return
    renamed = _renamed(old, new)
    for item in answer_changes(old, new, _ROOT, strict=strict):
        name = item.path.removeprefix(f"{_ROOT}/")
        if name in renamed.values():
            continue  # told at the name that it had
        if name in renamed:
            what = f"{name} -> {renamed[name]}"
            yield change("error.envelope_field_renamed", item.path, what, strict=strict, witness=item.witness)
            continue
        rule = next((found for start, found in _FIELDS.items() if item.rule.startswith(start)), "")
        if not rule and item.bump is Bump.MAJOR and item.effect != "unknown":
            rule = "error.envelope_field_retyped"
        yield change(rule, item.path, item.message, strict=strict, witness=item.witness) if rule else item


def _renamed(old: Any, new: Any) -> dict[str, str]:
    """Old name -> new name of fields that are the same but for their name."""
    before, after = properties(old), properties(new)
    come = [name for name in after if name not in before]
    found: dict[str, str] = {}
    for name in sorted(before.keys() - after.keys()):
        twin = next((other for other in come if after[other] == before[name]), None)
        if twin is not None:
            come.remove(twin)
            found[escaped(name)] = escaped(twin)
    return found
