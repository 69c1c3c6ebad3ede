"""C#: its definitions. Namespaces are left out of names, as packages are in other languages."""

from holdfast.search.languages.definitions import access, definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
(class_declaration name: (_) @name) @def.class
(class_declaration body: (_) @body)
(struct_declaration name: (_) @name) @def.struct
(struct_declaration body: (_) @body)
(record_declaration name: (_) @name) @def.class
(record_declaration body: (_) @body)
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(delegate_declaration name: (_) @name) @def.type
(method_declaration name: (_) @name) @def.method
(method_declaration [body: (_) ";"] @body)
(constructor_declaration name: (_) @name body: (_) @body) @def.method
(destructor_declaration name: (_) @name body: (_) @body) @def.method
(local_function_statement name: (_) @name body: (_) @body) @def.function
(operator_declaration operator: _ @name body: (_) @body) @def.method
(indexer_declaration "this" @name) @def.method
(property_declaration name: (_) @name) @def.variable
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @def.variable
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (_) @name))) @def.variable
(field_declaration (modifier "static") (modifier "readonly")
  (variable_declaration (variable_declarator name: (_) @name))) @def.variable

(base_list [(identifier) (generic_name) (qualified_name)] @base)
(base_list (primary_constructor_base_type type: (_) @base))
[(class_declaration (modifier) @modifier) (struct_declaration (modifier) @modifier)
 (record_declaration (modifier) @modifier) (interface_declaration (modifier) @modifier)
 (enum_declaration (modifier) @modifier) (delegate_declaration (modifier) @modifier)
 (method_declaration (modifier) @modifier) (constructor_declaration (modifier) @modifier)
 (local_function_statement (modifier) @modifier) (operator_declaration (modifier) @modifier)
 (indexer_declaration (modifier) @modifier) (property_declaration (modifier) @modifier)
 (event_field_declaration (modifier) @modifier)]
(field_declaration (modifier)? @modifier (modifier "const") @modifier)
(field_declaration (modifier)? @modifier (modifier "static") @modifier (modifier "readonly") @modifier)
(comment) @comment
"""

# What has no word for it is private in a class, public in an interface and internal elsewhere: nothing is said.
LANGUAGE = definitions_only(
    "csharp",
    "tree_sitter_c_sharp:language",
    _QUERY,
    root="compilation_unit",
    fields="visibility modifiers extends",
    visibility=access(""),
    restart=rb"^[ \t]*(?:public|internal|private|protected|static|abstract|sealed|namespace)\b",
)
