"""GraphQL: the types of a schema, and the operations and fragments of a client."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(object_type_definition (name) @name) @def.type
(object_type_definition (fields_definition) @body)
(interface_type_definition (name) @name) @def.interface
(interface_type_definition (fields_definition) @body)
(input_object_type_definition (name) @name) @def.struct
(input_object_type_definition (input_fields_definition) @body)
(enum_type_definition (name) @name) @def.enum
(enum_type_definition (enum_values_definition) @body)
[(union_type_definition (name) @name) (scalar_type_definition (name) @name)] @def.type
(directive_definition (name) @name) @def.function
[(object_type_extension (name) @name) (interface_type_extension (name) @name)
 (input_object_type_extension (name) @name) (enum_type_extension (name) @name)] @def.impl
(operation_definition (name) @name (selection_set) @body) @def.function
(fragment_definition (fragment_name) @name (selection_set) @body) @def.function
(implements_interfaces (named_type) @base)
(description) @docstring
(comment) @comment
"""

LANGUAGE = definitions_only(
    "graphql",
    packed("graphql"),
    _QUERY,
    root="source_file",
    fields="extends",
    comment_signs=re.compile(r"^[ \t]*#+[ \t]?|[ \t\r]+$", re.MULTILINE),
    restart=rb"^(?:type|interface|input|enum|union|scalar|directive|extend|query|mutation|subscription|fragment) ",
)
