"""Nix: what is bound by `let` and in sets, by its whole path."""

from holdfast.search.languages.rules.definitions import definitions_only, packed
from holdfast.search.languages.rules.language import HASH_COMMENTS

__all__ = ["LANGUAGE"]

_QUERY = """
(binding attrpath: (_) @name expression: (function_expression body: (_) @body)) @def.function
(let_expression (binding_set (binding attrpath: (_) @name) @def.variable))
(source_code expression: [(attrset_expression (binding_set (binding attrpath: (_) @name) @def.variable))
  (rec_attrset_expression (binding_set (binding attrpath: (_) @name) @def.variable))])
(function_expression body: [(attrset_expression (binding_set (binding attrpath: (_) @name) @def.variable))
  (rec_attrset_expression (binding_set (binding attrpath: (_) @name) @def.variable))])
(let_expression body: [(attrset_expression (binding_set (binding attrpath: (_) @name) @def.variable))
  (rec_attrset_expression (binding_set (binding attrpath: (_) @name) @def.variable))])
(comment) @comment
"""

LANGUAGE = definitions_only(
    "nix", packed("nix"), _QUERY, root="source_code", comment_signs=HASH_COMMENTS, restart=rb"^  [\w.]+ = "
)
