"""Rust: its definitions."""

from holdfast.search.languages.definitions import definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
(function_item name: (_) @name body: (_) @body) @def.function
(function_signature_item name: (_) @name ";" @body) @def.function
(struct_item name: (_) @name) @def.struct
(struct_item body: (field_declaration_list) @body)
(union_item name: (_) @name body: (_) @body) @def.struct
(enum_item name: (_) @name body: (_) @body) @def.enum
(trait_item name: (_) @name body: (_) @body) @def.trait
(trait_item bounds: (trait_bounds (_) @base))
(impl_item type: [(type_identifier) @name (generic_type type: (_) @name) (scoped_type_identifier) @name
  (reference_type type: (type_identifier) @name)] body: (_) @body) @def.impl
(impl_item trait: (_) @base)
(type_item name: (_) @name) @def.type
(macro_definition name: (_) @name (macro_rule) @body) @def.function
[(const_item name: (identifier) @name) (static_item name: (identifier) @name)] @def.variable

[(function_item (visibility_modifier) @modifier) (struct_item (visibility_modifier) @modifier)
 (union_item (visibility_modifier) @modifier) (enum_item (visibility_modifier) @modifier)
 (trait_item (visibility_modifier) @modifier) (type_item (visibility_modifier) @modifier)
 (const_item (visibility_modifier) @modifier) (static_item (visibility_modifier) @modifier)]
(function_modifiers ["async" "unsafe" "const"] @modifier)

((attribute_item) @wrapper . [(attribute_item) (function_item) (function_signature_item) (struct_item) (union_item)
  (enum_item) (trait_item) (impl_item) (type_item) (macro_definition) (const_item) (static_item)] @wrapped)
[(line_comment) (block_comment)] @comment
"""


def _visibility(_name: str, modifiers: list[str]) -> str:
    """What has no `pub` may still be as public as its trait, so nothing is said of it."""
    if "pub" in modifiers:
        return "public"
    return "internal" if any(modifier.startswith("pub(") for modifier in modifiers) else ""


LANGUAGE = definitions_only(
    "rust",
    "tree_sitter_rust:language",
    _QUERY,
    root="source_file",
    fields="visibility modifiers extends",
    visibility=_visibility,
    restart=rb"^(?:#\[[^\n]*\n){0,9}(?:pub|fn|struct|enum|trait|impl|mod|const|static|type|unsafe|async|macro_rules)\b",
)
