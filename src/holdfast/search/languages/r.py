"""R: its definitions, with the classes and methods that are made by calls."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(binary_operator lhs: [(identifier) @name (string (string_content) @name)] operator: ["<-" "<<-" "="]
  rhs: (function_definition body: (_) @body)) @def.function
(program (binary_operator lhs: (identifier) @name operator: ["<-" "<<-" "="]) @def.variable)
((binary_operator lhs: (identifier) @name rhs: (call
  function: [(identifier) @_maker (namespace_operator rhs: (identifier) @_maker)] arguments: (_) @body)) @def.class
  (#any-of? @_maker "R6Class" "setRefClass"))
((call function: [(identifier) @_maker (namespace_operator rhs: (identifier) @_maker)] arguments: (arguments
  (argument value: (call arguments: (arguments
    (argument name: (identifier) @name value: (function_definition body: (_) @body)) @def.function)))))
  (#any-of? @_maker "R6Class" "setRefClass"))
((call function: (identifier) @_maker arguments: (arguments . (argument value: (string (string_content) @name))))
  @def.class (#eq? @_maker "setClass"))
((call function: (identifier) @_maker arguments: (arguments . (argument value: (string (string_content) @name))
  (argument value: (function_definition body: (_) @body)))) @def.function (#eq? @_maker "setGeneric"))
((call function: (identifier) @_maker arguments: (arguments . (argument value: (string (string_content) @name))
  . (comma) . (argument value: [(string (string_content) @owner)
    (call arguments: (arguments . (argument value: (string (string_content) @owner))))])
  (argument value: (function_definition body: (_) @body)))) @def.method (#eq? @_maker "setMethod"))
(comment) @comment
"""


def _visibility(name: str, _modifiers: list[str]) -> str:
    return "private" if name.startswith(".") else "public"


LANGUAGE = definitions_only(
    "r",
    packed("r"),
    _QUERY,
    root="program",
    fields="visibility",
    visibility=_visibility,
    comment_signs=re.compile(r"^[ \t]*#+[!']?[ \t]?|[ \t\r]+$", re.MULTILINE),
    restart=rb"^(?:[\w.]+|`[^`\n]+`|\"[^\"\n]+\") *(?:<-|=) *(?:function|\\) *\(",
)
