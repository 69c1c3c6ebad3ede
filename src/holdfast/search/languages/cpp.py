"""C++: its definitions. Namespaces are left out of names, as packages are in other languages."""

from holdfast.search.languages.c import C_QUERY, at_places, declared
from holdfast.search.languages.definitions import definitions_only

__all__ = ["LANGUAGE"]

_AROUND_FUNCTIONS = (
    "{}",
    "(pointer_declarator declarator: {})",
    "(pointer_declarator declarator: (pointer_declarator declarator: {}))",
    "(reference_declarator {})",
)
_FUNCTION = declared(
    "(function_declarator declarator: [(identifier) (field_identifier) (operator_name) (destructor_name)] @name)",
    _AROUND_FUNCTIONS,
)
_LAST = "[(identifier) (operator_name) (destructor_name)] @name"
_OWNER = "scope: [(namespace_identifier) @owner (template_type name: (_) @owner)]"
# A method that is defined outside of its class: Shop::close, shop::Shop<T>::close
_METHOD = declared(
    f"""(function_declarator declarator: [
      (qualified_identifier {_OWNER} name: {_LAST})
      (qualified_identifier name: (qualified_identifier {_OWNER} name: {_LAST}))
      (qualified_identifier name: (qualified_identifier name: (qualified_identifier {_OWNER} name: {_LAST})))])""",
    _AROUND_FUNCTIONS,
)
_IN_CLASSES = ("declaration", "field_declaration", "compound_statement", "template_declaration")
_CLASS = "name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body"
_CLASSES = at_places(
    f"""[(class_specifier {_CLASS}) @def.class
    [(struct_specifier {_CLASS}) (union_specifier {_CLASS})] @def.struct]""",
    _IN_CLASSES,
)

_QUERY = f"""
(function_definition declarator: {_FUNCTION}) @def.function
(function_definition declarator: {_METHOD}) @def.method
(function_definition declarator: (operator_cast "operator" @name)) @def.function
(declaration declarator: {_FUNCTION})
{at_places("(declaration declarator: (reference_declarator (function_declarator))) @def.function")}
{_CLASSES}
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(alias_declaration name: (_) @name) @def.type
(concept_definition name: (_) @name) @def.type

; class EXPORT Shop {{ ... }}, where a macro makes the class look like a function.
(function_definition type: (class_specifier !body) declarator: (identifier) @name) @def.class
(function_definition type: (struct_specifier !body) declarator: (identifier) @name) @def.struct

(template_declaration [(function_definition) (class_specifier) (struct_specifier) (union_specifier) (declaration)
  (alias_declaration) (concept_definition)] @wrapped) @wrapper
"""

LANGUAGE = definitions_only(
    "cpp",
    "tree_sitter_cpp:language",
    _QUERY + C_QUERY,
    root="translation_unit",
    fields="extends",
    # class EXPORT_API Shop : public Base
    misleading=rb"(?:(?<=class )|(?<=struct ))[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?"
    rb"(?= (?!final\b)\w+\s*(?:final\s*)?[:{])",
    restart=rb"^(?:#define |(?:static|extern|inline|class|struct|enum|union|typedef|using|namespace|template|const"
    rb"|constexpr|void|int|char|bool|auto|std::\w+)\b)",
)
