"""Scala: its definitions."""

from holdfast.search.languages.definitions import access, definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
(class_definition name: (_) @name) @def.class
(class_definition body: (_) @body)
(object_definition name: (_) @name) @def.object
(object_definition body: (_) @body)
(package_object name: (_) @name body: (_) @body) @def.object
(trait_definition name: (_) @name) @def.trait
(trait_definition body: (_) @body)
(enum_definition name: (_) @name body: (_) @body) @def.enum
(function_definition name: (_) @name body: (_) @body) @def.function
(function_declaration name: (_) @name) @def.function
(type_definition name: (_) @name) @def.type
(given_definition name: (_) @name) @def.variable
(template_body
  [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)] @def.variable)
(compilation_unit
  [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)] @def.variable)

(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)
[(class_definition (modifiers [(access_modifier) "abstract" "final" "sealed" "implicit" "lazy"] @modifier))
 (object_definition (modifiers [(access_modifier) "final" "implicit"] @modifier))
 (trait_definition (modifiers [(access_modifier) "sealed"] @modifier))
 (function_definition (modifiers [(access_modifier) "final" "implicit" "override"] @modifier))
 (function_declaration (modifiers [(access_modifier)] @modifier))
 (type_definition (modifiers (access_modifier) @modifier))
 (val_definition (modifiers [(access_modifier) "final" "implicit" "lazy" "override"] @modifier))
 (var_definition (modifiers [(access_modifier) "override"] @modifier))]
[(comment) (block_comment)] @comment
"""


def _visibility(_name: str, modifiers: list[str]) -> str:
    return access("public")("", [modifier.partition("[")[0] for modifier in modifiers])


LANGUAGE = definitions_only(
    "scala",
    "tree_sitter_scala:language",
    _QUERY,
    root="compilation_unit",
    fields="visibility modifiers extends",
    visibility=_visibility,
    restart=rb"^(?:@[^\n]*\n){0,9}(?:(?:private|protected|abstract|final|sealed|implicit|case|class|object|trait|enum|def|val|type)\b)",
)
