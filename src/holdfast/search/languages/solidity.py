"""Solidity: its definitions."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(contract_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(library_declaration name: (_) @name body: (_) @body) @def.object
(struct_declaration name: (_) @name body: (_) @body) @def.struct
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(user_defined_type_definition name: (_) @name) @def.type
(error_declaration name: (_) @name) @def.type
(event_definition name: (_) @name) @def.type
(function_definition name: (_) @name) @def.function
(function_definition body: (_) @body)
(modifier_definition name: (_) @name) @def.function
(modifier_definition body: (_) @body)
(constructor_definition "constructor" @name body: (_) @body) @def.function
(fallback_receive_definition ["receive" "fallback"] @name) @def.function
(fallback_receive_definition body: (_) @body)
(constant_variable_declaration name: (_) @name) @def.variable
(state_variable_declaration name: (_) @name) @def.variable
(inheritance_specifier ancestor: (_) @base)
[(function_definition [(visibility) (state_mutability) (virtual)] @modifier)
 (fallback_receive_definition [(visibility) (state_mutability)] @modifier)
 (state_variable_declaration (visibility) @modifier)
 (contract_declaration "abstract" @modifier)]
(comment) @comment
"""

_VISIBILITY = {"private": "private", "internal": "internal"}


def _visibility(_name: str, modifiers: list[str]) -> str:
    return next((_VISIBILITY[modifier] for modifier in modifiers if modifier in _VISIBILITY), "public")


LANGUAGE = definitions_only(
    "solidity",
    packed("solidity"),
    _QUERY,
    root="source_file",
    fields="visibility modifiers extends",
    visibility=_visibility,
    restart=rb"^(?:abstract contract|contract|interface|library|struct|enum|function|error|event|type) ",
)
