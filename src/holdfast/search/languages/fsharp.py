"""F#: its definitions. What is bound inside of a function is not told."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_TYPES = (
    ("record_type_defn", "struct"),
    ("union_type_defn", "type"),
    ("enum_type_defn", "enum"),
    ("anon_type_defn", "class"),
    ("interface_type_defn", "interface"),
    ("delegate_type_defn", "type"),
    ("type_abbrev_defn", "type"),
    ("type_extension", "impl"),
)
_OF_TYPES = "\n".join(
    f"(type_definition ({node} (type_name type_name: (_) @name)) @def.{kind})" for node, kind in _TYPES
)
_PLACES = ("file", "named_module", "module_defn", "namespace")
_FUNCTIONS = "\n".join(
    f"""({place} (declaration_expression (function_or_value_defn
  (function_declaration_left (identifier) @name) . body: (_) @body)) @def.function)
({place} (declaration_expression (function_or_value_defn (value_declaration_left
  . (identifier_pattern . (long_identifier_or_op [(identifier) (long_identifier)] @name))))) @def.variable)"""
    for place in _PLACES
)

_QUERY = f"""
(named_module name: (_) @name . (_) @body) @def.namespace
(namespace name: (_) @name) @def.namespace
(module_defn (identifier) @name) @def.namespace
(module_defn block: (_) @body)
{_OF_TYPES}
[(record_type_defn block: _ @body) (union_type_defn block: (_) @body) (anon_type_defn block: (_) @body)]
(type_definition . (_) @wrapped) @wrapper
{_FUNCTIONS}
(member_defn (method_or_prop_defn name: [(property_or_ident (identifier) @name .) (identifier) @name])) @def.method
(method_or_prop_defn "=" . (_) @body)
(member_defn (member_signature . (identifier) @name)) @def.method
(exception_definition exception_name: (_) @name) @def.type
(class_inherits_decl . (simple_type) @base)
(interface_implementation . (simple_type) @base)
[(function_declaration_left (access_modifier) @modifier) (value_declaration_left (access_modifier) @modifier)
 (method_or_prop_defn (access_modifier) @modifier) (member_defn "static" @modifier)]
[(line_comment) (block_comment)] @comment
"""


def _visibility(_name: str, modifiers: list[str]) -> str:
    return next((modifier for modifier in modifiers if modifier in ("private", "internal")), "public")


LANGUAGE = definitions_only(
    "fsharp",
    packed("fsharp"),
    _QUERY,
    root="file",
    fields="visibility modifiers extends",
    visibility=_visibility,
    trims=True,
    restart=rb"^(?:module|namespace|type|let|exception) ",
)
