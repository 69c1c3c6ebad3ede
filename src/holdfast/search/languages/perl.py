"""Perl: its definitions."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(package_statement name: (_) @name) @def.namespace
(package_statement (block) @body)
(subroutine_declaration_statement name: (_) @name body: (_) @body) @def.function
(method_declaration_statement name: (_) @name body: (_) @body) @def.method
(class_statement name: (_) @name) @def.class
(class_statement (block) @body)
((use_statement module: (package) @_word (list_expression . (autoquoted_bareword) @name)) @def.variable
  (#eq? @_word "constant"))
((use_statement module: (package) @_word
  (anonymous_hash_expression (list_expression (autoquoted_bareword) @name))) @def.variable
  (#eq? @_word "constant"))
(source_file (expression_statement (assignment_expression
  left: (variable_declaration variable: (_ (varname) @name)))) @def.variable)
(source_file (expression_statement (variable_declaration variable: (_ (varname) @name))) @def.variable)
[(comment) (pod)] @comment
"""

# Of the documentation between the code, the commands are no words.
_SIGNS = re.compile(r"\A#![^\n]*\n?|^[ \t]*#+[ \t]?|^=\w+[ \t]*|[ \t\r]+$", re.MULTILINE)


def _visibility(name: str, _modifiers: list[str]) -> str:
    return "private" if name.rpartition("::")[2].startswith("_") else "public"


LANGUAGE = definitions_only(
    "perl",
    packed("perl"),
    _QUERY,
    root="source_file",
    fields="visibility",
    visibility=_visibility,
    comment_signs=_SIGNS,
    restart=rb"^(?:sub|package|class|method) ",
)
