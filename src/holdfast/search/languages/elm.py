"""Elm: its definitions; an annotation and the value behind it are one."""

from holdfast.search.languages.rules.definitions import DASH_COMMENTS, definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(module_declaration name: (_) @name) @def.namespace
(type_alias_declaration name: (_) @name typeExpression: (_) @body) @def.type
(type_declaration name: (_) @name (eq) @body) @def.type
(file (type_annotation name: (_) @name) @def.function)
(file (value_declaration functionDeclarationLeft: (function_declaration_left . (lower_case_identifier) @name))
  @def.function)
(file (type_annotation) @_before . (value_declaration) @body)
(file (value_declaration body: (_) @body))
(port_annotation name: (_) @name) @def.function
[(line_comment) (block_comment)] @comment
"""

LANGUAGE = definitions_only(
    "elm",
    packed("elm"),
    _QUERY,
    root="file",
    comment_signs=DASH_COMMENTS,
    restart=rb"^(?:type |port |[a-z]\w* +:)",
    joins=True,
)
