"""Julia: its definitions. A string right above one is its documentation."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

# What is defined may be called `f`, `Base.f` or `(+)`, and have types before or behind its parameters.
_CALLED = """(call_expression . [(identifier) @name (operator) @name
  (field_expression value: (_) @owner (identifier) @name .)
  (parametrized_type_expression . (identifier) @name)])"""
_HEAD = f"""[{_CALLED} (where_expression . {_CALLED}) (typed_expression . {_CALLED})
  (where_expression . (typed_expression . {_CALLED}))]"""
_TYPE = """(type_head [(identifier) @name (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)]
    (operator) (_) @base)])"""

_QUERY = f"""
(module_definition name: (_) @name) @def.namespace
(module_definition (block) @body)
(function_definition (signature {_HEAD})) @def.function
(function_definition (signature . (identifier) @name)) @def.function
(function_definition (block) @body)
(macro_definition (signature {_CALLED})) @def.function
(macro_definition (block) @body)
(assignment . {_HEAD} . (operator) . (_) @body) @def.function
(assignment . (identifier) @name . (operator) . (arrow_function_expression) @body) @def.function
(struct_definition {_TYPE}) @def.struct
(struct_definition (block) @body)
[(abstract_definition {_TYPE}) (primitive_definition {_TYPE})] @def.type
(const_statement (assignment . (identifier) @name)) @def.variable
((macrocall_expression (macro_identifier (identifier) @_word) (macro_argument_list . (identifier) @name)) @def.enum
  (#eq? @_word "enum"))
(struct_definition "mutable" @modifier)
[(line_comment) (block_comment)] @comment
((string_literal) @comment
  . [(function_definition) (assignment) (struct_definition) (abstract_definition) (module_definition)
  (macro_definition) (const_statement) (macrocall_expression)])
"""

_SIGNS = re.compile(r"^[ \t]*#+=?[ \t]?|\A\"{1,3}\n?|\"{1,3}\Z|[ \t]*+(?:=#)?[ \t\r]*+$", re.MULTILINE)

LANGUAGE = definitions_only(
    "julia",
    packed("julia"),
    _QUERY,
    root="source_file",
    fields="modifiers extends",
    comment_signs=_SIGNS,
    restart=rb"^(?:function|struct|mutable struct|abstract type|macro|module|const) ",
)
