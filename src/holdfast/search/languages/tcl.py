"""Tcl: its procedures and namespaces, and the variables that a script sets."""

from holdfast.search.languages.rules.definitions import definitions_only, packed
from holdfast.search.languages.rules.language import HASH_COMMENTS

__all__ = ["LANGUAGE"]

_QUERY = """
(procedure name: (_) @name body: (_) @body) @def.function
((namespace (word_list . (simple_word) @_word . (simple_word) @name . (braced_word) @body)) @def.namespace
  (#eq? @_word "eval"))
(source_file (set (id) @name) @def.variable)
(comment) @comment
"""

LANGUAGE = definitions_only(
    "tcl",
    packed("tcl"),
    _QUERY,
    root="source_file",
    comment_signs=HASH_COMMENTS,
    restart=rb"^(?:proc|namespace eval|oo::class) ",
)
