"""Refusing arguments: everything that is wrong at once, in the form that every tool uses."""

from typing import Any

from holdfast.errors import ToolError
from holdfast.search.request_schema import Violation, violation
from holdfast.search.triage.fields import clean

__all__ = ["check_text", "not_found", "refuse_if", "wrong_argument"]


def wrong_argument(name: str, keyword: str, message: str, **params: Any) -> Violation:
    """One thing that is wrong with one argument."""
    return violation(f"/{name}", f"/properties/{name}", keyword, params, message, in_schema=False)


def check_text(name: str, value: object, most: int) -> list[Violation]:
    """What is wrong with an argument that must be a text of some length, with something in it."""
    if not isinstance(value, str):
        return [wrong_argument(name, "type", "must be a string", type="string")]
    if not clean(value, most):
        return [wrong_argument(name, "pattern", "must not be blank")]
    if len(value) > most:
        return [wrong_argument(name, "maxLength", f"must have at most {most} characters", limit=most)]
    try:
        value.encode()
    except UnicodeEncodeError:
        return [wrong_argument(name, "unicode", "must be valid Unicode")]
    return []


def refuse_if(found: list[Violation]) -> None:
    """Raise INVALID_REQUEST with everything that was found, if anything was."""
    if not found:
        return
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    raise ToolError(
        "INVALID_REQUEST",
        f"{first['instancePath']}: {first['message']}{more}",
        details={"violations": found},
        hint="correct the arguments that details.violations lists",
    )


def not_found(record_id: str, what: str) -> ToolError:
    """There is no such record."""
    return ToolError(
        "NOT_FOUND",
        f"there is no {what} {record_id}",
        details={"recordId": record_id},
        hint="use one of the recordIds that triage_ingest has answered with, or that `holdfast triage list` shows",
    )
