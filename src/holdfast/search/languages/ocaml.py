"""OCaml: its definitions. Signatures in a module are its own; what is bound inside of a function is not told."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE", "OCAML_COMMENTS", "SIGNATURES"]

OCAML_COMMENTS = re.compile(r"^[ \t]*(?:\(\*+|\*)?[ \t]?|[ \t]*+(?:\*+\))?[ \t\r]*+$", re.MULTILINE)

# What implementations and interfaces have in common.
SIGNATURES = """
(exception_definition (constructor_declaration (constructor_name) @name)) @def.type
(type_definition (type_binding name: (_) @name) @def.type)
(type_definition . (type_binding) @wrapped) @wrapper
(type_definition "and" @wrapper . (type_binding) @wrapped)
(type_definition (type_binding body: (_) @body))
(module_definition (module_binding (module_name) @name) @def.namespace)
(module_definition . (module_binding) @wrapped) @wrapper
(module_binding body: (_) @body)
(module_type_definition (module_type_name) @name) @def.interface
(module_type_definition body: (_) @body)
(value_specification (value_name) @name) @def.function
(value_specification (parenthesized_operator (_) @name)) @def.function
(external (value_name) @name) @def.function
(class_definition (class_binding (class_name) @name) @def.class)
(class_definition . (class_binding) @wrapped) @wrapper
(class_type_definition (class_type_binding (class_type_name) @name) @def.interface)
(class_type_definition . (class_type_binding) @wrapped) @wrapper
(class_binding body: (_) @body)
(class_type_binding body: (_) @body)
(inheritance_definition (class_path) @base)
(comment) @comment
"""


def _at_the_top(pattern: str) -> str:
    places = ("compilation_unit", "structure")
    return "[" + " ".join(f"({place} (value_definition {pattern}))" for place in places) + "]"


_QUERY = f"""
{SIGNATURES}
{
    _at_the_top('''(let_binding pattern: [(value_name) @name (parenthesized_operator (_) @name)] (parameter)
  body: (_) @body) @def.function''')
}
{
    _at_the_top('''(let_binding pattern: (value_name) @name
  body: [(fun_expression) (function_expression)] @body) @def.function''')
}
{_at_the_top("(let_binding pattern: (value_name) @name) @def.variable")}
(value_definition "and" @wrapper . (let_binding) @wrapped)
[(compilation_unit (value_definition . (let_binding) @wrapped) @wrapper)
 (structure (value_definition . (let_binding) @wrapped) @wrapper)]
(method_definition (method_name) @name) @def.method
(method_definition body: (_) @body)
(method_definition "private" @modifier)
"""


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "private" if "private" in modifiers else "public"


LANGUAGE = definitions_only(
    "ocaml",
    packed("ocaml"),
    _QUERY,
    root="compilation_unit",
    fields="visibility modifiers extends",
    visibility=_visibility,
    comment_signs=OCAML_COMMENTS,
    restart=rb"^(?:let|type|module|exception|class|external) ",
)
