"""PowerShell: its definitions."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(function_statement (function_name) @name (script_block) @body) @def.function
(class_statement . (simple_name) @name "{" @body) @def.class
(class_statement ":" (simple_name) @base)
(class_method_definition (simple_name) @name) @def.method
(class_method_definition (script_block) @body)
(class_method_definition (class_attribute) @modifier)
(enum_statement . (simple_name) @name "{" @body) @def.enum
(program (statement_list (pipeline (assignment_expression (left_assignment_expression) @name)) @def.variable))
(comment) @comment
"""

_VARIABLE = re.compile(r"(?:\[[^\]]*\]\s*)*\$(?:\w+:)?(\w+)\Z")


def _naming(written: str) -> str:
    """`$Script:Limit` is called Limit; what is assigned to an attribute of something is no definition."""
    if "$" not in written:
        return written
    found = _VARIABLE.match(written)
    return found[1] if found else ""


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "private" if "hidden" in modifiers else "public"


LANGUAGE = definitions_only(
    "powershell",
    packed("powershell"),
    _QUERY,
    root="program",
    fields="visibility modifiers extends",
    visibility=_visibility,
    comment_signs=re.compile(r"^[ \t]*(?:<#|#>|#+)[ \t]?|[ \t]*+(?:#>)?[ \t\r]*+$", re.MULTILINE),
    restart=rb"(?i)^(?:function|filter|class|enum) ",
    naming=_naming,
)
