"""Prisma: the models and enums of a schema, and what it is generated for."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(model_block (identifier) @name "{" @body) @def.struct
(enum_block (identifier) @name "{" @body) @def.enum
(key_value_block (identifier) @name) @def.object
[(comment) (document_comment)] @comment
"""

LANGUAGE = definitions_only(
    "prisma",
    packed("prisma"),
    _QUERY,
    root="source_file",
    restart=rb"^(?:model|enum|type|view|datasource|generator) ",
)
