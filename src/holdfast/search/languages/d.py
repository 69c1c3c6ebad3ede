"""D: its definitions."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(module_declaration (module_fqn) @name) @def.namespace
(manifest_constant (manifest_declarator . (identifier) @name)) @def.variable
(enum_declaration (identifier) @name) @def.enum
(alias_declaration (alias_initializer . (identifier) @name)) @def.type
(struct_declaration (identifier) @name) @def.struct
(union_declaration (identifier) @name) @def.struct
(interface_declaration (identifier) @name) @def.interface
(class_declaration (identifier) @name) @def.class
(template_declaration . (template) . (identifier) @name) @def.type
(mixin_template_declaration (template_declaration (identifier) @name)) @def.type
[(struct_declaration (aggregate_body) @body) (union_declaration (aggregate_body) @body)
 (interface_declaration (aggregate_body) @body) (class_declaration (aggregate_body) @body)]
(function_declaration (identifier) @name . [(template_parameters) (parameters)]) @def.function
(function_declaration (function_body) @body)
(constructor (this) @name) @def.method
(constructor (function_body) @body)
(destructor (this) @name (function_body) @body) @def.method
(base_class (_) @base)
(comment) @comment
"""

LANGUAGE = definitions_only(
    "d",
    packed("d"),
    _QUERY,
    root="source_file",
    fields="extends",
    restart=rb"^(?:public|private|static|final|abstract|auto|enum|struct|class|interface|union|template|void) ",
)
