"""Ruby: its definitions."""

from holdfast.search.languages.definitions import definitions_only
from holdfast.search.languages.language import HASH_COMMENTS

__all__ = ["LANGUAGE"]

_QUERY = """
(class name: [(constant) @name (scope_resolution scope: (_) @owner name: (_) @name)]) @def.class
(class body: (_) @body)
(class superclass: (superclass (_) @base))
(module name: [(constant) @name (scope_resolution scope: (_) @owner name: (_) @name)]) @def.namespace
(module body: (_) @body)
(method name: (_) @name) @def.function
(method body: (_) @body)
(singleton_method name: (_) @name) @def.function
(module body: (body_statement [(method) (singleton_method)] @def.method))
(singleton_method body: (_) @body)
(assignment left: (constant) @name) @def.variable
(comment) @comment
"""

LANGUAGE = definitions_only(
    "ruby",
    "tree_sitter_ruby:language",
    _QUERY,
    root="program",
    fields="extends",
    comment_signs=HASH_COMMENTS,
    restart=rb"^(?:class|module|def) ",
)
