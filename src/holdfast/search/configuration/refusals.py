"""What is wrong with a file that a person wrote, as one typed error: all of it, and the first thing in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.configuration.jsonc import JsoncError
from holdfast.search.request_schema import MAX_VIOLATIONS, Violation, violation

__all__ = ["as_warnings", "guess", "is_refused", "pointer", "printable", "refused", "syntax_violation"]

_LONGEST_SHOWN = 60
_CODES = {
    "additionalProperties": "configuration_unknown_key",
    "file": "configuration_unreadable",
    "noEffect": "configuration_no_effect",
    "refused": "configuration_refused",
    "syntax": "configuration_unreadable",
}


def pointer(names: Sequence[str | int]) -> str:
    """The JSON Pointer of a place."""
    return "".join(f"/{printable(str(name)).replace('~', '~0').replace('/', '~1')}" for name in names)


def printable(text: str) -> str:
    """A name from a file as it can stand in a message: one line, and not long."""
    clipped = text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
    return "".join(character if character.isprintable() else "?" for character in clipped)


def guess(name: str, known: Sequence[str], already: int) -> str:
    """`; did you mean 'x'?` where a known name is like this one; not for what comes behind the last one shown."""
    import difflib

    if already >= MAX_VIOLATIONS:
        return ""
    close = difflib.get_close_matches(name[:_LONGEST_SHOWN], known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def syntax_violation(error: JsoncError, params: Mapping[str, Any]) -> Violation:
    """A text that is no JSONC."""
    place = {"line": error.line, "column": error.column}
    return violation("", "", "syntax", {**params, **place}, f"is not valid JSON: {error}")


def refused(violations: Sequence[Violation], *, hint: str) -> ToolError:
    """INVALID_REQUEST with all violations, of which `params.file` says where they stand."""
    first = violations[0]
    place = f"{first['instancePath']}: " if first["instancePath"] else ""
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    return ToolError(
        "INVALID_REQUEST",
        f"{first['params']['file']}: {place}{first['message']}{more}",
        details={
            "violations": [{**item, "params": dict(item["params"])} for item in violations[:MAX_VIOLATIONS]],
            "violationCount": len(violations),
        },
        hint=hint,
    )


def as_warnings(violations: Sequence[Violation]) -> list[dict[str, str]]:
    """A warning for each violation, for a file that counts in spite of them: what is wrong in it is left out."""
    warnings = []
    for item in violations[:MAX_VIOLATIONS]:
        code = _CODES.get(item["keyword"], "configuration_invalid_value")
        place = f"{item['instancePath']}: " if item["instancePath"] else ""
        remedy = item["params"].get("remedy")
        end = " (the whole file is left out)" if code == "configuration_unreadable" else " (left out)"
        message = f"{item['params']['file']}: {place}{item['message']}{f'; {remedy}' if remedy else end}"
        warnings.append({"code": code, "message": message})
    more = len(violations) - len(warnings)
    if more:
        file = violations[0]["params"]["file"]
        warnings.append({"code": "configuration_invalid_value", "message": f"{file}: and {more} more (left out)"})
    return warnings


def is_refused(error: ToolError) -> bool:
    """Whether an error says that such a file is wrong, and not that the question is."""
    violations = error.details.get("violations") or ()
    return error.code == "INVALID_REQUEST" and any("file" in item["params"] for item in violations)
