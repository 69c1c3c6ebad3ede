"""Shell scripts, read as bash: their functions and the variables of the script itself."""

import re

from holdfast.search.languages.definitions import definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
(function_definition name: (_) @name body: (_) @body) @def.function
(program (variable_assignment name: (variable_name) @name) @def.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @def.variable)
(comment) @comment
"""

# The line that names the interpreter says nothing about the script.
_SIGNS = re.compile(r"\A#![^\n]*\n?|^[ \t]*#+[ \t]?|[ \t\r]+$", re.MULTILINE)

LANGUAGE = definitions_only(
    "shell",
    "tree_sitter_bash:language",
    _QUERY,
    root="program",
    comment_signs=_SIGNS,
    restart=rb"^(?:function\s+[\w:.-]+|[\w:.-]+[ \t]*\(\))",
)
