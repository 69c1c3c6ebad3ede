"""Swift: its definitions."""

from holdfast.search.languages.definitions import access, definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
(class_declaration declaration_kind: ["class" "actor"] name: (_) @name body: (_) @body) @def.class
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @def.struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @def.enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @def.impl
(protocol_declaration name: (_) @name body: (_) @body) @def.interface
(function_declaration name: _ @name) @def.function
(function_declaration body: (_) @body)
(protocol_function_declaration name: (_) @name) @def.function
(init_declaration "init" @name) @def.function
(init_declaration body: (_) @body)
(deinit_declaration "deinit" @name body: (_) @body) @def.function
(subscript_declaration "subscript" @name) @def.function
(typealias_declaration name: (type_identifier) @name) @def.type
(source_file (property_declaration name: (pattern bound_identifier: (_) @name)) @def.variable)

(inheritance_specifier inherits_from: (_) @base)
[(class_declaration (modifiers [(visibility_modifier) (inheritance_modifier)] @modifier))
 (protocol_declaration (modifiers (visibility_modifier) @modifier))
 (function_declaration (modifiers [(visibility_modifier) (member_modifier) (property_modifier)
   (inheritance_modifier) (mutation_modifier)] @modifier))
 (init_declaration (modifiers [(visibility_modifier) (member_modifier)] @modifier))
 (typealias_declaration (modifiers (visibility_modifier) @modifier))
 (source_file (property_declaration (modifiers (visibility_modifier) @modifier)))]
[(comment) (multiline_comment)] @comment
"""

LANGUAGE = definitions_only(
    "swift",
    "tree_sitter_swift:language",
    _QUERY,
    root="source_file",
    fields="visibility modifiers extends",
    visibility=access("internal"),
    restart=rb"^(?:@[^\n]*\n){0,9}(?:(?:public|private|fileprivate|internal|open|final|class|struct|enum|protocol|extension|actor"
    rb"|func|let|var|typealias)\b)",
)
