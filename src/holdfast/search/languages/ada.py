"""Ada: its definitions, of specifications and of bodies."""

from holdfast.search.languages.rules.definitions import DASH_COMMENTS, definitions_only, packed

__all__ = ["LANGUAGE"]

_SPECIFICATION = "[(function_specification name: (_) @name) (procedure_specification name: (_) @name)]"

_QUERY = f"""
(package_declaration name: (_) @name) @def.namespace
(package_declaration name: (_) . (_) @body)
(package_body name: (_) @name) @def.namespace
(package_body (non_empty_declarative_part) @body)
(subprogram_declaration {_SPECIFICATION}) @def.function
(subprogram_body {_SPECIFICATION} . (_)? @body) @def.function
(expression_function_declaration {_SPECIFICATION}) @def.function
(generic_subprogram_declaration {_SPECIFICATION}) @def.function
(task_body . (identifier) @name) @def.class
[(task_type_declaration . (identifier) @name) (single_task_declaration . (identifier) @name)] @def.class
[(protected_type_declaration . (identifier) @name) (protected_body . (identifier) @name)] @def.class
(full_type_declaration . (identifier) @name (record_type_definition)) @def.struct
(full_type_declaration . (identifier) @name (derived_type_definition)) @def.struct
(full_type_declaration . (identifier) @name (enumeration_type_definition)) @def.enum
(full_type_declaration . (identifier) @name) @def.type
[(private_type_declaration . (identifier) @name) (subtype_declaration . (identifier) @name)
 (private_extension_declaration . (identifier) @name) (exception_declaration . (identifier) @name)] @def.type
(object_declaration . name: (identifier) @name "constant") @def.variable
(comment) @comment
"""

LANGUAGE = definitions_only(
    "ada",
    packed("ada"),
    _QUERY,
    root="compilation",
    comment_signs=DASH_COMMENTS,
    restart=rb"(?i)^(?:   )?(?:function|procedure|package|type|task|overriding) +\w+",
)
