"""Haskell: its definitions; a signature and the clauses behind it are one."""

from holdfast.search.languages.rules.definitions import DASH_COMMENTS, definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(header module: (_) @name) @def.namespace
(declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @def.function)
(declarations (signature names: (binding_list . (variable) @name)) @def.function)
(declarations (function name: [(variable) @name (prefix_id (operator) @name)]) @def.function)
(declarations (function (infix operator: [(operator) @name (infix_id (variable) @name)])) @def.function)
(declarations (bind name: [(variable) @name (prefix_id (operator) @name)]) @def.function)
(declarations (signature) @_before . [(function) (bind)] @body)
(class_declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @def.function)
(class_declarations [(function name: (variable) @name) (bind name: (variable) @name)] @def.function)
(class_declarations (function (infix operator: (operator) @name)) @def.function)
(class_declarations (signature) @_before . [(function) (bind)] @body)
(instance_declarations [(function name: (variable) @name) (bind name: (variable) @name)] @def.function)
(instance_declarations (function (infix operator: (operator) @name)) @def.function)
[(function match: (_) @body) (bind match: (_) @body)]
(data_type name: (_) @name) @def.type
(data_type constructors: (_) @body)
(newtype name: (_) @name) @def.type
(newtype constructor: (_) @body)
[(type_synomym name: (_) @name) (type_family name: (_) @name) (data_family name: (_) @name)] @def.type
(class name: (_) @name) @def.interface
(class declarations: (_) @body)
(instance name: (_) @name) @def.impl
(instance declarations: (_) @body)
(foreign_import signature: (signature name: (_) @name)) @def.function
(pattern_synonym (equation synonym: [(apply . (constructor) @name) (constructor) @name])) @def.function
(pragma) @opaque
[(comment) (haddock)] @comment
"""

LANGUAGE = definitions_only(
    "haskell",
    packed("haskell"),
    _QUERY,
    root="haskell",
    comment_signs=DASH_COMMENTS,
    restart=rb"^(?:[a-z_][\w']* *::|data |newtype |type |class |instance )",
    joins=True,
)
