"""VHDL: entities, their architectures, packages, and what these declare."""

from holdfast.search.languages.rules.definitions import DASH_COMMENTS, definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(entity_declaration name: (_) @name) @def.interface
(entity_declaration (entity_header) @body)
(architecture_body name: (_) @name entity: (_) @owner) @def.impl
(architecture_body (declarative_part) @body)
(architecture_body (concurrent_statement_part) @body)
(package_declaration name: (_) @name) @def.namespace
(package_body package: (_) @name) @def.namespace
[(package_declaration (declarative_part) @body) (package_body (declarative_part) @body)
 (function_body (sequence_of_statements) @body) (procedure_body (sequence_of_statements) @body)
 (process_statement (sequence_of_statements) @body)]
(configuration_declaration name: (_) @name) @def.object
(component_declaration name: (_) @name) @def.interface
(function_declaration designator: (_) @name) @def.function
(function_body designator: (_) @name) @def.function
(procedure_declaration designator: (_) @name) @def.function
(procedure_body designator: (_) @name) @def.function
(process_statement (label . (_) @name)) @def.function
(full_type_declaration name: (_) @name) @def.type
(subtype_declaration name: (_) @name) @def.type
(constant_declaration (identifier_list . (identifier) @name)) @def.variable
(comment) @comment
"""

LANGUAGE = definitions_only(
    "vhdl",
    packed("vhdl"),
    _QUERY,
    root="design_file",
    comment_signs=DASH_COMMENTS,
    restart=rb"(?i)^(?:entity|architecture|package|configuration|library) ",
)
