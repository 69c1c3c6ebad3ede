"""CMake: functions and macros, targets, and the variables that a file sets for others."""

from holdfast.search.languages.rules.definitions import definitions_only, packed
from holdfast.search.languages.rules.language import HASH_COMMENTS

__all__ = ["LANGUAGE"]


def _called(words: str, kind: str, inside: str = "{}") -> str:
    command = f"(normal_command (identifier) @_word (argument_list . (argument) @name)) @def.{kind}"
    return f"""({inside.format(command)} (#match? @_word "^(?i:{words})$") (#not-match? @name "[$]"))"""


_QUERY = f"""
(function_def (function_command (argument_list . (argument) @name))) @def.function
(function_def (body) @body)
(macro_def (macro_command (argument_list . (argument) @name))) @def.function
(macro_def (body) @body)
{_called("project", "namespace")}
{_called("add_library|add_executable|add_custom_target", "object")}
{_called("set|option", "variable", "(source_file {})")}
[(line_comment) (bracket_comment)] @comment
"""

LANGUAGE = definitions_only(
    "cmake",
    packed("cmake"),
    _QUERY,
    root="source_file",
    comment_signs=HASH_COMMENTS,
    restart=rb"(?i)^(?:function|macro|add_library|add_executable|set)[ \t]*\(",
)
