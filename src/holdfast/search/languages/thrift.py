"""Thrift: structures, services and their functions, constants."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(const_definition (identifier) @name) @def.variable
(typedef_definition (typedef_identifier) @name) @def.type
(enum_definition . (identifier) @name "{" @body) @def.enum
(struct_definition . (identifier) @name "{" @body) @def.struct
(union_definition . (identifier) @name "{" @body) @def.struct
(exception_definition . (identifier) @name "{" @body) @def.class
(service_definition . (identifier) @name "{" @body) @def.interface
(function_definition (identifier) @name . (parameters)) @def.method
(comment) @comment
"""

LANGUAGE = definitions_only(
    "thrift",
    packed("thrift"),
    _QUERY,
    root="document",
    restart=rb"^(?:struct|union|exception|service|enum|typedef|const) ",
)
