"""Make: the rules of a makefile, called by their targets, and its variables."""

from holdfast.search.languages.rules.definitions import definitions_only, packed
from holdfast.search.languages.rules.language import HASH_COMMENTS

__all__ = ["LANGUAGE"]

_QUERY = """
((rule (targets) @name) @def.function (#not-match? @name "^\\\\.[A-Z]"))
(rule (recipe) @body)
(makefile (variable_assignment name: (_) @name) @def.variable)
(define_directive name: (_) @name value: (_) @body) @def.function
(comment) @comment
"""

LANGUAGE = definitions_only(
    "makefile",
    packed("make"),
    _QUERY,
    root="makefile",
    comment_signs=HASH_COMMENTS,
    restart=rb"^[A-Za-z_][\w.-]*[ \t]*:(?!=)",
)
