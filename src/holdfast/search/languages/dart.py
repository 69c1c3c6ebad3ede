"""Dart: its definitions. Its grammar keeps heads and bodies apart, and annotations too."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_HEADS = "[(function_signature) (getter_signature) (setter_signature) (method_signature)]"
_NAMED = """[(function_signature name: (_) @name) (getter_signature name: (_) @name)
  (setter_signature name: (_) @name) (operator_signature (_) @name . (formal_parameter_list))
  (constructor_signature . (identifier) @name .  (formal_parameter_list))
  (constant_constructor_signature (identifier) @name . (formal_parameter_list))
  (constructor_signature (identifier) . (identifier) @name)
  (factory_constructor_signature (identifier) @name . (formal_parameter_list))
  (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))]"""

_QUERY = f"""
(class_definition name: (_) @name body: (_) @body) @def.class
(mixin_declaration (identifier) @name (class_body) @body) @def.trait
(extension_declaration name: (_) @name body: (_) @body) @def.impl
(extension_type_declaration name: (_) @name) @def.class
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(type_alias . (type_identifier) @name) @def.type
(type_alias "typedef" . (type_identifier) @name) @def.type
(program {_NAMED} @def.function)
(program {_HEADS} @_before . (function_body) @body @rest)
(method_signature {_NAMED}) @def.method
(_ (method_signature) @_before . (function_body) @body @rest)
(declaration {_NAMED}) @def.method
(lambda_expression parameters: {_NAMED} body: (_) @body) @def.function
(program (static_final_declaration_list (static_final_declaration . (identifier) @name)) @def.variable)
(program (initialized_identifier_list (initialized_identifier . (identifier) @name)) @def.variable)
(program [(const_builtin) (final_builtin)] @wrapper . [(type_identifier) (inferred_type)]? . (type_arguments)?
  . (static_final_declaration_list) @wrapped)
(program [(type_identifier) (inferred_type)] @wrapper . (type_arguments)? . (initialized_identifier_list) @wrapped)
(class_body (declaration (static_final_declaration_list (static_final_declaration . (identifier) @name)))
  @def.variable)
(superclass . (type_identifier) @base)
(mixins (type_identifier) @base)
(interfaces (type_identifier) @base)
(class_definition (abstract) @modifier)
[(method_signature "static" @modifier) (declaration "static" @modifier) (declaration "external" @modifier)]
((annotation) @wrapper . [(class_definition) (method_signature) (declaration) (function_signature)
  (getter_signature) (setter_signature) (enum_declaration) (annotation)] @wrapped)
[(comment) (documentation_comment)] @comment
"""


def _visibility(name: str, _modifiers: list[str]) -> str:
    return "private" if name.startswith("_") else "public"


LANGUAGE = definitions_only(
    "dart",
    packed("dart"),
    _QUERY,
    root="program",
    fields="visibility modifiers extends",
    visibility=_visibility,
    restart=rb"^(?:@\w[^\n]*\n){0,9}(?:(?:abstract|base|sealed|final) )?"
    rb"(?:class|mixin|extension|enum|typedef|const|void|[A-Z]\w*(?:<[^;\n]*>)?\??) ",
)
