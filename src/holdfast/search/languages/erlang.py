"""Erlang: its definitions; the clauses of a function are one, with its specification."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(module_attribute name: (_) @name) @def.namespace
(source_file (spec) @wrapper . (fun_decl) @wrapped)
(fun_decl clause: (function_clause name: (_) @name)) @def.function
(fun_decl clause: (function_clause body: (_) @body))
(pp_define lhs: (macro_lhs name: (_) @name !args)) @def.variable
(pp_define lhs: (macro_lhs name: (_) @name args: (_))) @def.function
(record_decl name: (_) @name) @def.struct
[(type_alias name: (type_name name: (_) @name)) (opaque name: (type_name name: (_) @name))
 (callback fun: (_) @name)] @def.type
(comment) @comment
"""

LANGUAGE = definitions_only(
    "erlang",
    packed("erlang"),
    _QUERY,
    root="source_file",
    comment_signs=re.compile(r"^[ \t]*%+!?[ \t]?|[ \t\r]+$", re.MULTILINE),
    restart=rb"^(?:-(?:record|define|spec|type)\b|[a-z]\w*\()",
    joins=True,
)
