"""Lua: its definitions."""

import re

from holdfast.search.languages.definitions import definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
(function_declaration name: (identifier) @name) @def.function
(function_declaration name: (dot_index_expression table: (_) @owner field: (_) @name)) @def.function
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name)) @def.method
(function_declaration body: (_) @body)
(function_declaration "end" @body)
(function_declaration "local" @modifier)
(assignment_statement (variable_list name: [(identifier) @name
  (dot_index_expression table: (_) @owner field: (_) @name)])
  (expression_list value: (function_definition))) @def.function
(variable_declaration (assignment_statement) @wrapped) @wrapper
(chunk (variable_declaration "local" @modifier (assignment_statement)))
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @def.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @def.variable)
(comment) @comment
"""

_SIGNS = re.compile(r"^[ \t]*--+(?:\[=*\[)?[ \t]?|(?:\]=*\])?[ \t\r]*$", re.MULTILINE)


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "private" if "local" in modifiers else "public"


LANGUAGE = definitions_only(
    "lua",
    "tree_sitter_lua:language",
    _QUERY,
    root="chunk",
    fields="visibility modifiers",
    visibility=_visibility,
    comment_signs=_SIGNS,
    restart=rb"^(?:local function|function|local \w+ *=) ?",
)
