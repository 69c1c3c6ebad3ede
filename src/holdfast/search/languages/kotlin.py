"""Kotlin: its definitions."""

from holdfast.search.languages.definitions import access, definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
(class_declaration "class" name: (_) @name (class_body) @body) @def.class
(class_declaration "class" name: (_) @name
  [(identifier) (type_parameters) (primary_constructor) (delegation_specifiers)] .) @def.class
(class_declaration "class" name: (_) @name .) @def.class
(class_declaration "interface" name: (_) @name) @def.interface
(class_declaration "interface" (class_body) @body)
(class_declaration name: (_) @name (enum_class_body) @body) @def.enum
(object_declaration name: (_) @name) @def.object
(object_declaration (class_body) @body)
(function_declaration name: (_) @name) @def.function
(function_declaration (function_body) @body)
(secondary_constructor "constructor" @name) @def.function
(secondary_constructor (block) @body)
(type_alias type: (_) @name) @def.type
(source_file (property_declaration (variable_declaration . (identifier) @name)) @def.variable)
(class_body (property_declaration (modifiers (property_modifier "const"))
  (variable_declaration . (identifier) @name)) @def.variable)

(delegation_specifier [(user_type) (constructor_invocation)] @base)
[(class_declaration (modifiers [(visibility_modifier) (inheritance_modifier) (class_modifier)] @modifier))
 (object_declaration (modifiers (visibility_modifier) @modifier))
 (function_declaration (modifiers [(visibility_modifier) (inheritance_modifier) (function_modifier)
   (member_modifier)] @modifier))
 (secondary_constructor (modifiers (visibility_modifier) @modifier))
 (type_alias (modifiers (visibility_modifier) @modifier))
 (source_file (property_declaration (modifiers [(visibility_modifier) (property_modifier)] @modifier)))]
[(line_comment) (block_comment)] @comment
"""


LANGUAGE = definitions_only(
    "kotlin",
    "tree_sitter_kotlin:language",
    _QUERY,
    root="source_file",
    fields="visibility modifiers extends",
    visibility=access("public"),
    restart=rb"^(?:@[^\n]*\n){0,9}(?:(?:public|private|internal|abstract|open|sealed|data|enum|class|interface|object|fun|val"
    rb"|var|const|typealias)\b)",
)
