"""PHP: its definitions. Namespaces are left out of names, as packages are in other languages."""

from holdfast.search.languages.definitions import access, definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
(class_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(trait_declaration name: (_) @name body: (_) @body) @def.trait
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(function_definition name: (_) @name body: (_) @body) @def.function
(method_declaration name: (_) @name) @def.method
(method_declaration [body: (_) ";"] @body)
(const_declaration (const_element . (name) @name)) @def.variable

(base_clause [(name) (qualified_name)] @base)
(class_interface_clause [(name) (qualified_name)] @base)
(method_declaration [(visibility_modifier) (static_modifier) (abstract_modifier) (final_modifier)] @modifier)
(class_declaration [(abstract_modifier) (final_modifier) (readonly_modifier)] @modifier)
(const_declaration [(visibility_modifier) (final_modifier)] @modifier)
(comment) @comment
"""

# A file that is cut into pieces needs its opening tag again, which only the first piece has: so it never is.
LANGUAGE = definitions_only(
    "php",
    "tree_sitter_php:language_php",
    _QUERY,
    root="program",
    fields="visibility modifiers extends",
    visibility=access("public"),
)
