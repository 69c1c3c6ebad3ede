"""Objective-C: its definitions, with those of C. A method is called by the first part of its selector."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

# A function may give a pointer, and a pointer to one.
_NAMED = "(function_declarator declarator: (identifier) @name)"
_FUNCTION = f"""[{_NAMED} (pointer_declarator declarator: {_NAMED})
  (pointer_declarator declarator: (pointer_declarator declarator: {_NAMED}))]"""
_TYPE = """[(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator
    (_ declarator: (type_identifier) @name)))]"""

_QUERY = f"""
(class_interface . (identifier) @name) @def.class
(class_interface superclass: (_) @base)
(class_interface (parameterized_arguments (type_name (type_identifier) @base)))
(class_implementation . (identifier) @name) @def.impl
(protocol_declaration . (identifier) @name) @def.interface
(protocol_declaration (protocol_reference_list (identifier) @base))
[(class_interface [(property_declaration) (method_declaration) (instance_variables) "@end"] @body)
 (class_implementation [(instance_variables) (implementation_definition) "@end"] @body)
 (protocol_declaration [(property_declaration) (method_declaration) (qualified_protocol_interface_declaration)
   "@end"] @body)]
(method_declaration . (method_type) . (identifier) @name) @def.method
(method_definition . (method_type) . (identifier) @name (compound_statement) @body) @def.method
(function_definition declarator: {_FUNCTION} body: (_) @body) @def.function
(translation_unit (declaration declarator: {_FUNCTION}) @def.function)
(translation_unit (declaration declarator: (init_declarator
  declarator: [(identifier) @name (pointer_declarator (identifier) @name)])) @def.variable)
(struct_specifier name: (_) @name body: (_) @body) @def.struct
(enum_specifier name: (_) @name body: (_) @body) @def.enum
(type_definition type: (struct_specifier body: (_) @body) declarator: {_TYPE}) @def.struct
(type_definition type: (enum_specifier body: (_) @body) declarator: {_TYPE}) @def.enum
(type_definition declarator: {_TYPE}) @def.type
((type_definition type: (macro_type_specifier name: (identifier) @_macro (ERROR (identifier) @name))) @def.enum
  (#match? @_macro "^NS_"))
(preproc_def name: (_) @name value: (_)) @def.variable
(preproc_function_def name: (_) @name value: (_) @body) @def.function
[(function_definition (storage_class_specifier) @modifier)
 (translation_unit (declaration (storage_class_specifier) @modifier))]
(comment) @comment
"""


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "private" if "static" in modifiers else "public"


LANGUAGE = definitions_only(
    "objc",
    packed("objc"),
    _QUERY,
    root="translation_unit",
    fields="visibility modifiers extends",
    visibility=_visibility,
    restart=rb"^(?:@interface|@implementation|@protocol|#define|static|struct|enum|typedef|void|int|[A-Z]\w*) ",
)
